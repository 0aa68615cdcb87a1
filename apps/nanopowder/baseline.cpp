// SPDX-License-Identifier: Apache-2.0
// Coefficients by MPI to the hosts, and from there to the devices.
#include "nanopowder/problem.hpp"

namespace nanopowder {

namespace {

class baseline : public simulation {
  public:
    explicit baseline(problem& problem)
        : m_problem(problem)
        // communication begin
          ,
          m_memory(problem.context(), problem.queue(), problem::table_bytes)
        // communication end
    {}

    void run(int steps) override {
        for (int step = 0; step < steps; ++step) {
            m_problem.begin_step(step);
            const float* table = m_problem.rank() == 0 ? m_problem.prepare_table(step) : nullptr;
            // communication begin
            std::vector<MPI_Request> sent;
            for (int rank = 1; table && rank < m_problem.ranks(); ++rank)
                MPI_Isend(table, int(table_entries), MPI_FLOAT, rank, 0, m_problem.communicator(),
                          &sent.emplace_back());
            if (!table)
                MPI_Recv(m_memory.data(), int(table_entries), MPI_FLOAT, 0, 0, m_problem.communicator(),
                         MPI_STATUS_IGNORE);
            apps::check(clEnqueueWriteBuffer(m_problem.queue(), m_problem.table(), CL_FALSE, 0, problem::table_bytes,
                                             table ? table : m_memory.data(), 0, nullptr, nullptr),
                        "writing coefficients");
            // communication end
            const apps::event coagulated = m_problem.enqueue_coagulation();
            // communication begin
            MPI_Waitall(int(sent.size()), sent.data(), MPI_STATUSES_IGNORE);
            // communication end
            m_problem.end_step(coagulated.get());
        }
    }

  private:
    problem& m_problem;
    // communication begin
    apps::pinned_memory m_memory;
    // communication end
};

} // namespace

std::unique_ptr<simulation> make_baseline(problem& problem) { return std::make_unique<baseline>(problem); }

} // namespace nanopowder
