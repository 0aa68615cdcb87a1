// SPDX-License-Identifier: Apache-2.0
// Himeno with communication hidden by hand: two queues, page-locked staging, a host thread that drives it all.
#include "himeno/solver.hpp"

#include <utility>

namespace himeno {

namespace {

// Takizawa et al. 2015, Listing 2, with what an expert adds: receives are posted early, the boundary is copied out
// right behind its kernel, and events stand in for every clFinish, so that the device always has the next kernel.
class hand_optimised : public solver {
  public:
    explicit hand_optimised(problem& problem)
        : m_problem(problem)
        // communication begin
          ,
          m_early(problem, problem.queue(1), other(first_half(problem))),
          m_late(problem, problem.queue(0), first_half(problem))
        // communication end
    {}

    void run(int iterations) override {
        const half first = first_half(m_problem);
        apps::event first_computed, second_computed;
        for (int iteration = 0; iteration < iterations; ++iteration) {
            auto first_event = m_problem.enqueue_jacobi(m_problem.queue(0), first, iteration, {second_computed.get()});
            // communication begin
            m_early.copy_out(m_problem.pressure(iteration));
            m_late.copy_out(m_problem.pressure(iteration + 1));
            m_early.receive();
            m_late.receive();
            m_early.send_and_copy_in(m_problem.pressure(iteration));
            // communication end
            auto second_event = m_problem.enqueue_jacobi(m_problem.queue(1), other(first), iteration,
                                                         {first_computed.get()});
            apps::check(clFlush(m_problem.queue(1)), "clFlush");
            // communication begin
            m_late.send_and_copy_in(m_problem.pressure(iteration + 1));
            // communication end
            first_computed = std::move(first_event);
            second_computed = std::move(second_event);
        }
        apps::check(clFinish(m_problem.queue(0)), "clFinish");
        apps::check(clFinish(m_problem.queue(1)), "clFinish");
    }

  private:
    // communication begin
    class exchange {
      public:
        exchange(const problem& problem, cl_command_queue queue, half h)
            : m_halo(problem.halo(h)), m_bytes(problem.plane_bytes()), m_communicator(problem.communicator()),
              m_queue(queue), m_outgoing(problem.context(), queue, m_bytes),
              m_incoming(problem.context(), queue, m_bytes) {}

        void copy_out(cl_mem pressure) {
            if (m_halo.neighbour != MPI_PROC_NULL) {
                cl_event copied = nullptr;
                apps::check(clEnqueueReadBuffer(m_queue, pressure, CL_FALSE, m_halo.send_offset, m_bytes,
                                                m_outgoing.data(), 0, nullptr, &copied),
                            "reading a halo");
                m_copied_out.reset(copied);
            }
            apps::check(clFlush(m_queue), "clFlush");
        }

        void receive() {
            if (m_halo.neighbour == MPI_PROC_NULL) return;
            // The plane of the iteration before must have left the staging memory.
            apps::wait_for({m_copied_in.get()}, "writing a halo");
            MPI_Irecv(m_incoming.data(), int(m_bytes), MPI_BYTE, m_halo.neighbour, 0, m_communicator, &m_requests[0]);
        }

        void send_and_copy_in(cl_mem pressure) {
            if (m_halo.neighbour == MPI_PROC_NULL) return;
            apps::wait_for({m_copied_out.get()}, "reading a halo");
            MPI_Isend(m_outgoing.data(), int(m_bytes), MPI_BYTE, m_halo.neighbour, 0, m_communicator, &m_requests[1]);
            MPI_Waitall(2, m_requests, MPI_STATUSES_IGNORE);
            cl_event copied = nullptr;
            apps::check(clEnqueueWriteBuffer(m_queue, pressure, CL_FALSE, m_halo.receive_offset, m_bytes,
                                             m_incoming.data(), 0, nullptr, &copied),
                        "writing a halo");
            m_copied_in.reset(copied);
            apps::check(clFlush(m_queue), "clFlush");
        }

      private:
        halo m_halo;
        std::size_t m_bytes;
        MPI_Comm m_communicator;
        cl_command_queue m_queue;
        apps::pinned_memory m_outgoing, m_incoming;
        apps::event m_copied_out, m_copied_in;
        MPI_Request m_requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    };
    // communication end

    problem& m_problem;
    // communication begin
    exchange m_early, m_late;
    // communication end
};

} // namespace

std::unique_ptr<solver> make_hand_optimised(problem& problem) { return std::make_unique<hand_optimised>(problem); }

} // namespace himeno
