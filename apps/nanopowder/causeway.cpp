// SPDX-License-Identifier: Apache-2.0
// Coefficients from the host of rank 0 to the device of each rank, its own included, as commands.
#include "nanopowder/problem.hpp"

#include <CL/cl_data_transfer.h>

namespace nanopowder {

namespace {

class causeway : public simulation {
  public:
    explicit causeway(problem& problem)
        : m_problem(problem)
        // communication begin
          ,
          m_receives(apps::create_out_of_order_queue(problem.context(), problem.queue()))
        // communication end
    {}

    void run(int steps) override {
        for (int step = 0; step < steps; ++step) {
            // communication begin
            cl_event event = nullptr;
            apps::check(clEnqueueRecvBuffer(m_receives.get(), m_problem.table(), CL_FALSE, 0, problem::table_bytes, 0,
                                            0, m_problem.communicator(), 0, nullptr, &event),
                        "clEnqueueRecvBuffer");
            const apps::event received(event);
            // communication end
            m_problem.begin_step(step);
            const apps::event coagulated = m_problem.enqueue_coagulation(received.get());
            const float* table = m_problem.rank() == 0 ? m_problem.prepare_table(step) : nullptr;
            // communication begin
            std::vector<MPI_Request> sent;
            for (int rank = 0; table && rank < m_problem.ranks(); ++rank)
                MPI_Isend(table, int(problem::table_bytes), MPI_CL_MEM, rank, 0, m_problem.communicator(),
                          &sent.emplace_back());
            MPI_Waitall(int(sent.size()), sent.data(), MPI_STATUSES_IGNORE);
            // communication end
            m_problem.end_step(coagulated.get());
        }
    }

  private:
    problem& m_problem;
    // communication begin
    apps::queue m_receives;
    // communication end
};

} // namespace

std::unique_ptr<simulation> make_causeway(problem& problem) { return std::make_unique<causeway>(problem); }

} // namespace nanopowder
