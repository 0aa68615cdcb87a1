// SPDX-License-Identifier: Apache-2.0
// The coagulation on a device, and the population on rank 0.
#include "nanopowder/problem.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace nanopowder {

namespace {

// A work-item has a class and looks for the collisions that lead to it, so none writes what another does. Of the
// smaller particle all compositions are tried; the larger one's then lie within a range, as it has most of the
// product.
constexpr const char* kernel_source = R"(
struct product { int larger, smaller; float weight; };

kernel void coagulate(global const float *restrict table, global const float *restrict now,
                      global float *restrict next, global const struct product *restrict products,
                      global const int *restrict begin, global const float *restrict volumes,
                      float time_step)
{
    const int size = get_global_id(1), composition = get_global_id(0);
    const int index = size * COMPOSITIONS + composition;
    float gain = 0;
    for (int at = begin[size]; at < begin[size + 1]; ++at) {
        const struct product made = products[at];
        const float weight = volumes[made.larger] / (volumes[made.larger] + volumes[made.smaller]);
        const float reach = 1 / weight;
        float sum = 0;
        for (int other = 0; other < COMPOSITIONS; ++other) {
            const float smaller = now[made.smaller * COMPOSITIONS + other];
            if (smaller == 0)
                continue;
            const float middle = (composition - (1 - weight) * other) * reach;
            const int last = min(COMPOSITIONS - 1, convert_int_rtn(middle + reach));
            for (int one = max(0, convert_int_rtp(middle - reach)); one <= last; ++one) {
                const int larger = made.larger * COMPOSITIONS + one;
                const float share = 1 - fabs(weight * one + (1 - weight) * other - composition);
                sum += max(share, 0.0f) * smaller * now[larger]
                    * table[larger * CLASSES + made.smaller * COMPOSITIONS + other];
            }
        }
        gain += made.weight * sum;
    }
    // Size by size: a sum of thousands would lose what the small ones add.
    float loss = 0;
    for (int other = 0; other < CLASSES; other += COMPOSITIONS) {
        float sum = 0;
        for (int each = other; each < other + COMPOSITIONS; ++each)
            sum += table[index * CLASSES + each] * now[each];
        loss += sum;
    }
    next[(composition - get_global_offset(0)) * get_global_size(1) + size] = now[index] + time_step * (gain - now[index] * loss);
}
)";

template <class Value> apps::buffer make_constant(cl_context context, const std::vector<Value>& values) {
    cl_int code = CL_SUCCESS;
    apps::buffer made(clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(Value),
                                     const_cast<Value*>(values.data()), &code));
    apps::check(code, "clCreateBuffer");
    return made;
}

} // namespace

problem::problem(MPI_Comm communicator, cl_device_id device) : m_communicator(communicator), m_population(classes) {
    MPI_Comm_rank(communicator, &m_rank);
    MPI_Comm_size(communicator, &m_ranks);
    if (m_ranks > compositions)
        throw std::invalid_argument(std::to_string(m_ranks) + " ranks are more than the " +
                                    std::to_string(compositions) + " compositions");
    m_own.resize(std::size_t(begin_of(m_rank + 1) - begin_of(m_rank)) * sizes);
    if (m_rank == 0) {
        m_host_table.resize(table_entries);
        m_gathered.resize(classes);
        for (int rank = 0; rank < m_ranks; ++rank) {
            m_displacements.push_back(begin_of(rank) * sizes);
            m_counts.push_back(begin_of(rank + 1) * sizes - m_displacements.back());
        }
    }

    m_context = apps::create_context(device);
    m_queue = apps::create_in_order_queue(m_context.get(), device);
    m_program = apps::build_program(m_context.get(), device, kernel_source,
                                    "-D COMPOSITIONS=" + std::to_string(compositions) +
                                        " -D CLASSES=" + std::to_string(classes));
    m_table = apps::create_buffer(m_context.get(), table_bytes);
    m_now = apps::create_buffer(m_context.get(), classes * sizeof(float));
    m_next = apps::create_buffer(m_context.get(), m_own.size() * sizeof(float));
    const products products = products_of_collisions();
    m_products = make_constant(m_context.get(), products.all);
    m_begin = make_constant(m_context.get(), products.begin);
    std::vector<float> volumes(sizes);
    for (int size = 0; size < sizes; ++size) volumes[std::size_t(size)] = float(volume(size));
    m_volumes = make_constant(m_context.get(), volumes);
    m_kernel = apps::create_kernel(m_program.get(), "coagulate");
    apps::set_arguments(m_kernel.get(), m_table.get(), m_now.get(), m_next.get(), m_products.get(), m_begin.get(),
                        m_volumes.get(), time_step);
}

void problem::reset() {
    std::ranges::fill(m_population, 0.0F);
    m_supplied = {};
    // What an earlier run has left there would hide a transfer that does nothing.
    const float nothing = std::numeric_limits<float>::quiet_NaN();
    apps::check(clEnqueueFillBuffer(m_queue.get(), m_table.get(), &nothing, sizeof nothing, 0, table_bytes, 0, nullptr,
                                    nullptr),
                "clearing the coefficients");
    apps::check(clFinish(m_queue.get()), "clFinish");
    MPI_Barrier(m_communicator);
}

const float* problem::prepare_table(int step) {
    m_coefficients.fill(step, m_host_table.data());
    return m_host_table.data();
}

void problem::begin_step(int step) {
    if (m_rank == 0) {
        const std::vector<double> born = nucleated(step);
        for (int composition = 0; composition < compositions; ++composition) {
            const double number = born[std::size_t(composition)];
            m_population[std::size_t(composition)] += float(number);
            m_supplied.first += share(composition) * number;
            m_supplied.second += (1 - share(composition)) * number;
        }
    }
    MPI_Bcast(m_population.data(), int(classes), MPI_FLOAT, 0, m_communicator);
    apps::check(clEnqueueWriteBuffer(m_queue.get(), m_now.get(), CL_TRUE, 0, classes * sizeof(float),
                                     m_population.data(), 0, nullptr, nullptr),
                "writing the population");
}

apps::event problem::enqueue_coagulation(cl_event table_there) {
    const std::size_t first[] = {std::size_t(begin_of(m_rank)), 0},
                      global[] = {m_own.size() / sizes, std::size_t(sizes)};
    apps::check(clEnqueueNDRangeKernel(m_queue.get(), m_kernel.get(), 2, first, global, nullptr, table_there ? 1 : 0,
                                       table_there ? &table_there : nullptr, nullptr),
                "clEnqueueNDRangeKernel");
    cl_event complete = nullptr;
    apps::check(clEnqueueReadBuffer(m_queue.get(), m_next.get(), CL_FALSE, 0, m_own.size() * sizeof(float),
                                    m_own.data(), 0, nullptr, &complete),
                "reading the population");
    apps::check(clFlush(m_queue.get()), "clFlush");
    return apps::event(complete);
}

void problem::end_step(cl_event coagulated) {
    apps::wait_for({coagulated}, "coagulation");
    MPI_Gatherv(m_own.data(), int(m_own.size()), MPI_FLOAT, m_gathered.data(), m_counts.data(), m_displacements.data(),
                MPI_FLOAT, 0, m_communicator);
    // Ranks have all sizes of some compositions.
    for (std::size_t at = 0; m_rank == 0 && at < classes; ++at)
        m_population[at % sizes * compositions + at / sizes] = m_gathered[at];
}

} // namespace nanopowder
