// SPDX-License-Identifier: Apache-2.0
// Himeno with every computation and every transfer one after the other.
#include "himeno/solver.hpp"

namespace himeno {

namespace {

class serial : public solver {
  public:
    serial(problem& problem, parts parts)
        : m_problem(problem), m_parts(parts)
        // communication begin
          ,
          m_outgoing(problem.context(), problem.queue(0), problem.plane_bytes()),
          m_incoming(problem.context(), problem.queue(0), problem.plane_bytes())
        // communication end
    {}

    void run(int iterations) override {
        const cl_command_queue queue = m_problem.queue(0);
        for (int iteration = 0; iteration < iterations; ++iteration) {
            if (m_parts != parts::communication) {
                m_problem.enqueue_jacobi(queue, half::a, iteration);
                m_problem.enqueue_jacobi(queue, half::b, iteration);
            }
            // communication begin
            if (m_parts != parts::computation) {
                exchange(other(first_half(m_problem)), m_problem.pressure(iteration + 1));
                exchange(first_half(m_problem), m_problem.pressure(iteration + 1));
            }
            // communication end
        }
        apps::check(clFinish(queue), "clFinish");
    }

  private:
    // communication begin
    void exchange(half h, cl_mem pressure) {
        const halo& halo = m_problem.halo(h);
        if (halo.neighbour == MPI_PROC_NULL) return;
        apps::check(clEnqueueReadBuffer(m_problem.queue(0), pressure, CL_TRUE, halo.send_offset,
                                        m_problem.plane_bytes(), m_outgoing.data(), 0, nullptr, nullptr),
                    "reading a halo");
        MPI_Sendrecv(m_outgoing.data(), int(m_problem.plane_bytes()), MPI_BYTE, halo.neighbour, 0, m_incoming.data(),
                     int(m_problem.plane_bytes()), MPI_BYTE, halo.neighbour, 0, m_problem.communicator(),
                     MPI_STATUS_IGNORE);
        apps::check(clEnqueueWriteBuffer(m_problem.queue(0), pressure, CL_TRUE, halo.receive_offset,
                                         m_problem.plane_bytes(), m_incoming.data(), 0, nullptr, nullptr),
                    "writing a halo");
    }
    // communication end

    problem& m_problem;
    parts m_parts;
    // communication begin
    apps::pinned_memory m_outgoing, m_incoming;
    // communication end
};

} // namespace

std::unique_ptr<solver> make_serial(problem& problem, parts parts) { return std::make_unique<serial>(problem, parts); }

} // namespace himeno
