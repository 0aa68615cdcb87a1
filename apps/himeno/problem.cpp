// SPDX-License-Identifier: Apache-2.0
// The Himeno problem on a device: decomposition, buffers, kernels, gosa.
#include "himeno/problem.hpp"

#include "common/linked_buffer.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace himeno {

namespace {

// A work-item walks down SLAB planes of one row position; neighbours in dimension 0 are neighbours in memory.
// The two fused operations are the only ones that a compiler's freedom to contract could change (the other products
// are by 1 or 0), so every device gives the host's pressures bit by bit.
constexpr const char* kernel_source = R"(
__kernel void jacobi(
    __global const float *restrict p, __global float *restrict next,
    __global const float *restrict a0, __global const float *restrict a1, __global const float *restrict a2,
    __global const float *restrict a3, __global const float *restrict b0, __global const float *restrict b1,
    __global const float *restrict b2, __global const float *restrict c0, __global const float *restrict c1,
    __global const float *restrict c2, __global const float *restrict wrk1, __global const float *restrict bnd,
    __global float *restrict residuals, int first_plane, int last_plane, int first_slab, float relaxation)
{
    const int k = get_global_id(0), j = get_global_id(1), slab = get_global_id(2);
    if (k == 0 || k >= COLUMNS - 1 || j == 0 || j >= ROWS - 1)
        return;
    const int begin = first_plane + slab * SLAB;
    const int end = min(begin + SLAB, last_plane);
    float sum = 0;
    for (int i = begin; i < end; ++i) {
        const int x = (i * ROWS + j) * COLUMNS + k;
        const float s0 = a0[x] * p[x + PLANE] + a1[x] * p[x + COLUMNS] + a2[x] * p[x + 1]
            + b0[x] * (p[x + PLANE + COLUMNS] - p[x + PLANE - COLUMNS] - p[x - PLANE + COLUMNS]
                       + p[x - PLANE - COLUMNS])
            + b1[x] * (p[x + COLUMNS + 1] - p[x - COLUMNS + 1] - p[x + COLUMNS - 1] + p[x - COLUMNS - 1])
            + b2[x] * (p[x + PLANE + 1] - p[x - PLANE + 1] - p[x + PLANE - 1] + p[x - PLANE - 1])
            + c0[x] * p[x - PLANE] + c1[x] * p[x - COLUMNS] + c2[x] * p[x - 1] + wrk1[x];
        const float ss = fma(s0, a3[x], -p[x]) * bnd[x];
        sum += ss * ss;
        next[x] = fma(relaxation, ss, p[x]);
    }
    residuals[((first_slab + slab) * ROWS + j) * COLUMNS + k] = sum;
}
)";

constexpr std::array<float, 12> coefficient_values{1, 1, 1, 1.0F / 6, 0, 0, 0, 1, 1, 1, 0, 1};

constexpr std::array<grid, 5> official_grids{
    {{"XS", 32, 32, 64}, {"S", 64, 64, 128}, {"M", 128, 128, 256}, {"L", 256, 256, 512}, {"XL", 512, 512, 1024}}};

int slabs_for(int planes, int planes_per_slab) { return (planes + planes_per_slab - 1) / planes_per_slab; }

} // namespace

grid grid_named(const std::string& name) {
    for (const grid& candidate : official_grids)
        if (name == candidate.name) return candidate;
    throw std::invalid_argument("no size \"" + name + "\": XS, S, M, L or XL");
}

float initial_pressure(const grid& grid, int plane) {
    return float(plane * plane) / float((grid.planes - 1) * (grid.planes - 1));
}

problem::problem(const grid& grid, MPI_Comm communicator, cl_device_id device)
    : m_grid(grid), m_communicator(communicator) {
    MPI_Comm_rank(communicator, &m_rank);
    MPI_Comm_size(communicator, &m_ranks);

    const int inner = grid.planes - 2;
    m_planes = inner / m_ranks + (m_rank < inner % m_ranks ? 1 : 0);
    m_first_plane = 1 + m_rank * (inner / m_ranks) + std::min(m_rank, inner % m_ranks);
    if (inner / m_ranks < 2) throw std::invalid_argument("too many ranks: each needs at least two planes");

    // On a CPU a work-item per cell lets the compiler vectorise across work-items; a GPU needs fewer, longer ones.
    const bool cpu = (apps::device_type(device) & CL_DEVICE_TYPE_CPU) != 0;
    m_planes_per_slab = cpu ? 1 : 4;
    const int upper = m_planes / 2;
    const int upper_slabs = slabs_for(upper, m_planes_per_slab);
    const int lower_slabs = slabs_for(m_planes - upper, m_planes_per_slab);
    m_parts[0] = {1, 1 + upper, 0, upper_slabs};
    m_parts[1] = {1 + upper, 1 + m_planes, upper_slabs, lower_slabs};
    m_halos[0] = {m_rank > 0 ? m_rank - 1 : MPI_PROC_NULL, plane_bytes(), 0};
    m_halos[1] = {m_rank + 1 < m_ranks ? m_rank + 1 : MPI_PROC_NULL, m_planes * plane_bytes(),
                  (m_planes + 1) * plane_bytes()};

    m_context = apps::create_context(device);
    for (auto& queue : m_queues) queue = apps::create_in_order_queue(m_context.get(), device);
    const std::size_t bytes = (m_planes + 2) * plane_bytes();
    for (auto& pressure : m_pressure)
        pressure = apps::create_linked_buffer(m_context.get(), device, bytes); // neighbours reach its halos
    for (float value : coefficient_values) {
        m_coefficients.push_back(apps::create_buffer(m_context.get(), bytes));
        fill(m_coefficients.back().get(), value, 0, bytes / sizeof(float));
    }
    const std::size_t sums = (upper_slabs + lower_slabs) * grid.cells_per_plane();
    m_residuals = apps::create_buffer(m_context.get(), sums * sizeof(float));
    fill(m_residuals.get(), 0, 0, sums);

    m_program = apps::build_program(
        m_context.get(), device, kernel_source,
        "-D ROWS=" + std::to_string(grid.rows) + " -D COLUMNS=" + std::to_string(grid.columns) +
            " -D PLANE=" + std::to_string(grid.cells_per_plane()) + " -D SLAB=" + std::to_string(m_planes_per_slab));
    for (int parity : {0, 1})
        for (half h : {half::a, half::b}) {
            auto& kernel = m_kernels[parity][h == half::a ? 0 : 1];
            kernel = apps::create_kernel(m_program.get(), "jacobi");
            std::array<cl_mem, coefficient_values.size()> c{};
            std::ranges::transform(m_coefficients, c.begin(), [](const auto& buffer) { return buffer.get(); });
            apps::set_arguments(kernel.get(), pressure(parity), pressure(parity + 1), c[0], c[1], c[2], c[3], c[4],
                                c[5], c[6], c[7], c[8], c[9], c[10], c[11], m_residuals.get(),
                                cl_int(part_of(h).first_plane), cl_int(part_of(h).last_plane),
                                cl_int(part_of(h).first_slab), relaxation);
        }

    std::size_t limit = 0;
    apps::check(clGetKernelWorkGroupInfo(m_kernels[0][0].get(), device, CL_KERNEL_WORK_GROUP_SIZE, sizeof(limit),
                                         &limit, nullptr),
                "clGetKernelWorkGroupInfo");
    // All official extents are powers of two, and so divide by these.
    const std::size_t columns = std::bit_floor(std::min<std::size_t>(limit, cpu ? grid.columns : 64));
    const std::size_t rows = std::bit_floor(std::min<std::size_t>(limit / columns, cpu ? 8 : 4));
    m_local_size = {columns, rows, 1};
    reset();
}

void problem::fill(cl_mem target, float value, std::size_t first_cell, std::size_t cells) {
    apps::check(clEnqueueFillBuffer(queue(0), target, &value, sizeof(value), first_cell * sizeof(float),
                                    cells * sizeof(float), 0, nullptr, nullptr),
                "clEnqueueFillBuffer");
}

void problem::reset() {
    const std::size_t cells = m_grid.cells_per_plane();
    for (int parity : {0, 1})
        for (int plane = 0; plane < m_planes + 2; ++plane)
            fill(pressure(parity), initial_pressure(m_grid, m_first_plane - 1 + plane), plane * cells, cells);
    apps::check(clFinish(queue(0)), "clFinish");
}

apps::event problem::enqueue_jacobi(cl_command_queue queue, half h, int iteration,
                                    std::initializer_list<cl_event> wait_list) {
    const std::array<std::size_t, 3> global{std::size_t(m_grid.columns), std::size_t(m_grid.rows),
                                            std::size_t(part_of(h).slabs)};
    // A null event stands for a command of an iteration that never was.
    std::array<cl_event, 4> events{};
    const auto end = std::ranges::copy_if(wait_list, events.begin(), [](cl_event e) { return e != nullptr; }).out;
    const auto count = cl_uint(end - events.begin());
    cl_event completed = nullptr;
    apps::check(clEnqueueNDRangeKernel(queue, m_kernels[iteration % 2][h == half::a ? 0 : 1].get(), 3, nullptr,
                                       global.data(), m_local_size.data(), count, count ? events.data() : nullptr,
                                       &completed),
                "clEnqueueNDRangeKernel");
    return apps::event(completed);
}

double problem::gosa() {
    const std::size_t sums = (m_parts[0].slabs + m_parts[1].slabs) * m_grid.cells_per_plane();
    std::vector<float> residuals(sums);
    apps::check(clEnqueueReadBuffer(queue(0), m_residuals.get(), CL_TRUE, 0, sums * sizeof(float), residuals.data(), 0,
                                    nullptr, nullptr),
                "reading the residuals");
    double mine = 0;
    for (float residual : residuals) mine += residual;
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, m_communicator);
    return all;
}

std::vector<float> problem::gather_pressure(int iteration) {
    const std::size_t cells = m_grid.cells_per_plane();
    // The end ranks also hold the grid's first and last plane, which never change.
    const int first = m_rank == 0 ? 0 : 1;
    const int last = m_rank == m_ranks - 1 ? m_planes + 2 : m_planes + 1;
    std::vector<float> mine((last - first) * cells);
    apps::check(clEnqueueReadBuffer(queue(0), pressure(iteration), CL_TRUE, first * plane_bytes(),
                                    mine.size() * sizeof(float), mine.data(), 0, nullptr, nullptr),
                "reading the pressure");

    MPI_Datatype plane = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(int(cells), MPI_FLOAT, &plane);
    MPI_Type_commit(&plane);
    const int planes = last - first;
    std::vector<int> counts(m_ranks), offsets(m_ranks);
    MPI_Gather(&planes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, m_communicator);
    for (int rank = 1; rank < m_ranks; ++rank) offsets[rank] = offsets[rank - 1] + counts[rank - 1];
    std::vector<float> all(m_rank == 0 ? cells * m_grid.planes : 0);
    MPI_Gatherv(mine.data(), planes, plane, all.data(), counts.data(), offsets.data(), plane, 0, m_communicator);
    MPI_Type_free(&plane);
    return all;
}

} // namespace himeno
