// SPDX-License-Identifier: Apache-2.0
// Himeno with communication as OpenCL commands: events order everything, the host thread only keeps ahead.
#include "himeno/solver.hpp"

#include <CL/cl_data_transfer.h>

#include <utility>

namespace himeno {

namespace {

// Takizawa et al. 2015, Listing 4, without the clFinish at the end of each iteration. Exchanges have an out-of-order
// queue of their own, where only events order them: the queues of the kernels then carry nothing but kernels.
class causeway : public solver {
  public:
    explicit causeway(problem& problem)
        : m_problem(problem),
          // communication begin
          m_exchanges(apps::create_out_of_order_queue(problem.context(), problem.queue(0)))
          // communication end
    {}

    void run(int iterations) override {
        const half first = first_half(m_problem);
        commands last;
        for (int iteration = 0; iteration < iterations; ++iteration) {
            commands now;
            now.first = m_problem.enqueue_jacobi(m_problem.queue(0), first, iteration,
                                                 {last.second.get(), last.late.get()});
            // communication begin
            now.early = enqueue_exchange(other(first), m_problem.pressure(iteration), last.second.get());
            // communication end
            now.second = m_problem.enqueue_jacobi(m_problem.queue(1), other(first), iteration,
                                                  {last.first.get(), now.early.get()});
            // communication begin
            now.late = enqueue_exchange(first, m_problem.pressure(iteration + 1), now.first.get());
            // communication end
            apps::check(clFlush(m_problem.queue(0)), "clFlush");
            apps::check(clFlush(m_problem.queue(1)), "clFlush");
            // The host stays one iteration ahead of the device, and learns here of an exchange that failed.
            last.wait();
            last = std::move(now);
        }
        last.wait();
    }

  private:
    /// The commands of one iteration.
    struct commands {
        apps::event first, second;
        // communication begin
        apps::event early, late;
        // communication end

        void wait() const {
            apps::wait_for({first.get(), second.get()}, "computing a half");
            // communication begin
            apps::wait_for({early.get(), late.get()}, "exchanging a halo");
            // communication end
        }
    };

    // communication begin
    apps::event enqueue_exchange(half h, cl_mem pressure, cl_event computed) {
        const halo& halo = m_problem.halo(h);
        if (halo.neighbour == MPI_PROC_NULL) return {};
        cl_event exchanged = nullptr;
        apps::check(clEnqueueSendrecvBuffer(m_exchanges.get(), pressure, pressure, CL_FALSE, halo.send_offset,
                                            m_problem.plane_bytes(), halo.neighbour, 0, halo.receive_offset,
                                            m_problem.plane_bytes(), halo.neighbour, 0, m_problem.communicator(),
                                            computed ? 1 : 0, computed ? &computed : nullptr, &exchanged),
                    "clEnqueueSendrecvBuffer");
        return apps::event(exchanged);
    }
    // communication end

    problem& m_problem;
    // communication begin
    apps::queue m_exchanges;
    // communication end
};

} // namespace

std::unique_ptr<solver> make_causeway(problem& problem) { return std::make_unique<causeway>(problem); }

} // namespace himeno
