// SPDX-License-Identifier: Apache-2.0
// The Himeno benchmark as every solver sees it: size, decomposition, device objects, kernels, result, reference.
#pragma once

#include "common/opencl.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace himeno {

/// An official size. Planes are the slowest dimension (mimax), columns the fastest (mkmax).
struct grid {
    const char* name;
    int planes, rows, columns;

    [[nodiscard]] std::size_t cells_per_plane() const { return std::size_t(rows) * columns; }
    /// 34 floating-point operations per inner cell and iteration, as the benchmark counts them.
    [[nodiscard]] double flops_per_iteration() const { return 34.0 * (planes - 2.0) * (rows - 2.0) * (columns - 2.0); }
};

/// The grid called XS, S, M, L or XL. Throws std::invalid_argument for another name.
grid grid_named(const std::string& name);

constexpr float relaxation = 0.8F;

/// The pressure that the benchmark starts from; it depends on the plane alone.
float initial_pressure(const grid& grid, int plane);

/// A rank's domain is cut across its planes: A has the upper ones and the top halo, B the lower ones and the bottom
/// halo (Takizawa et al. 2015, Figure 1).
enum class half { a, b };

constexpr half other(half h) { return h == half::a ? half::b : half::a; }

/// Which plane of the pressure goes to a neighbour, and where the neighbour's plane belongs, in bytes.
struct halo {
    int neighbour; // MPI_PROC_NULL at the end of the domain
    std::size_t send_offset, receive_offset;
};

/// One rank's part of the problem on one device. Not thread-safe.
class problem {
  public:
    /// Throws std::invalid_argument if a rank would get fewer than two planes.
    problem(const grid& grid, MPI_Comm communicator, cl_device_id device);

    /// Puts the initial data into both pressure buffers; returns when they are there.
    void reset();

    /// The kernel that computes the half `h` of the pressure of iteration `iteration` + 1 from that of `iteration`.
    apps::event enqueue_jacobi(cl_command_queue queue, half h, int iteration,
                               std::initializer_list<cl_event> wait_list = {});

    /// The pressure after `iteration` iterations; two buffers take turns.
    [[nodiscard]] cl_mem pressure(int iteration) const { return m_pressure[iteration % 2].get(); }

    [[nodiscard]] const himeno::halo& halo(half h) const { return m_halos[h == half::a ? 0 : 1]; }
    [[nodiscard]] std::size_t plane_bytes() const { return m_grid.cells_per_plane() * sizeof(float); }

    [[nodiscard]] const himeno::grid& size() const { return m_grid; }
    [[nodiscard]] MPI_Comm communicator() const { return m_communicator; }
    [[nodiscard]] int rank() const { return m_rank; }
    [[nodiscard]] cl_context context() const { return m_context.get(); }
    /// Two in-order queues of the device.
    [[nodiscard]] cl_command_queue queue(int index) const { return m_queues[index].get(); }

    /// Sum over all ranks of the squared residuals of the last iteration. Collective.
    [[nodiscard]] double gosa();
    /// The whole grid's pressure after `iteration` iterations on rank 0, nothing elsewhere. Collective.
    [[nodiscard]] std::vector<float> gather_pressure(int iteration);

  private:
    struct part {
        int first_plane, last_plane; // local planes, the last one excluded
        int first_slab, slabs; // slabs of planes that one work-item walks through
    };

    void fill(cl_mem target, float value, std::size_t first_cell, std::size_t cells);
    [[nodiscard]] const part& part_of(half h) const { return m_parts[h == half::a ? 0 : 1]; }

    himeno::grid m_grid;
    MPI_Comm m_communicator;
    int m_rank = 0, m_ranks = 1;
    int m_first_plane = 1; // of the grid, this rank's first inner one
    int m_planes = 0; // this rank's inner planes; local plane 0 and m_planes + 1 are halo
    int m_planes_per_slab = 1;
    std::array<part, 2> m_parts;
    std::array<himeno::halo, 2> m_halos;

    apps::context m_context;
    std::array<apps::queue, 2> m_queues;
    std::array<apps::buffer, 2> m_pressure;
    std::vector<apps::buffer> m_coefficients; // a[4], b[3], c[3], wrk1, bnd: read from memory, as the benchmark does
    apps::buffer m_residuals; // one sum per row position and slab
    apps::program m_program;
    std::array<std::array<apps::kernel, 2>, 2> m_kernels; // by parity of the iteration and half, arguments bound once
    std::array<std::size_t, 3> m_local_size{};
};

struct reference_result {
    double gosa;
    std::vector<float> pressure;
};

/// The same iterations on the host in plain C++, sums of squares in double precision.
reference_result solve_on_host(const grid& grid, int iterations);

} // namespace himeno
