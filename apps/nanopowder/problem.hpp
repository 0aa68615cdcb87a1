// SPDX-License-Identifier: Apache-2.0
// A rank's part of the simulation on its device, for every way to bring the coefficients there.
#pragma once

#include "nanopowder/model.hpp"

#include "common/opencl.hpp"

#include <mpi.h>

#include <memory>
#include <vector>

namespace nanopowder {

/// Each rank computes all sizes of some compositions; the numbers of compositions of two ranks differ by one at most.
/// Not thread-safe.
class problem {
  public:
    /// Throws std::invalid_argument if there are more ranks than compositions.
    problem(MPI_Comm communicator, cl_device_id device);

    static constexpr std::size_t table_bytes = table_entries * sizeof(float);

    /// An empty reactor, and no coefficients on the device. Collective.
    void reset();

    /// Rank 0: the coefficients of `step`, in memory that stays as it is until the next call.
    const float* prepare_table(int step);
    /// Adds what has nucleated and brings the population to every device. Collective.
    void begin_step(int step);
    /// Enqueues coagulation with the coefficients in table(), after the event `table_there` if not null.
    apps::event enqueue_coagulation(cl_event table_there = nullptr);
    /// Gathers the result of `coagulated` on rank 0. Collective.
    void end_step(cl_event coagulated);

    /// Rank 0: particles of each class.
    [[nodiscard]] const std::vector<float>& population() const { return m_population; }
    /// Rank 0: what has nucleated so far.
    [[nodiscard]] metals supplied() const { return m_supplied; }

    [[nodiscard]] cl_mem table() const { return m_table.get(); }
    [[nodiscard]] cl_context context() const { return m_context.get(); }
    /// In-order queue of the kernels.
    [[nodiscard]] cl_command_queue queue() const { return m_queue.get(); }
    [[nodiscard]] MPI_Comm communicator() const { return m_communicator; }
    [[nodiscard]] int rank() const { return m_rank; }
    [[nodiscard]] int ranks() const { return m_ranks; }

  private:
    /// The first composition of a rank.
    [[nodiscard]] int begin_of(int rank) const { return compositions * rank / m_ranks; }

    MPI_Comm m_communicator;
    int m_rank = 0, m_ranks = 1;
    apps::context m_context;
    apps::queue m_queue;
    apps::program m_program;
    apps::kernel m_kernel;
    apps::buffer m_table, m_now, m_next, m_products, m_begin, m_volumes;
    coefficients m_coefficients;
    std::vector<float> m_host_table; // rank 0
    std::vector<float> m_population, m_own, m_gathered; // m_own, m_gathered: composition by composition
    std::vector<int> m_counts, m_displacements;         // rank 0: of each rank in m_gathered
    metals m_supplied{};
};

/// A way to simulate; each lies in a file of its own.
class simulation {
  public:
    virtual ~simulation() = default;
    /// Runs `steps` from the problem's reset. Collective.
    virtual void run(int steps) = 0;
};

std::unique_ptr<simulation> make_baseline(problem& problem);
std::unique_ptr<simulation> make_causeway(problem& problem);

} // namespace nanopowder
