// SPDX-License-Identifier: Apache-2.0
// Himeno with communication as OpenCL commands: events order everything, the host thread only keeps ahead.
#include "himeno/solver.hpp"

#include <CL/cl_data_transfer.h>

#include <utility>

namespace himeno {

namespace {

// Takizawa et al. 2015, Listing 4, without the clFinish at the end of each iteration: kernels of one half wait for
// those of the other. Kernels name the exchange before them, so that a failed one reaches them and then the host.
class causeway : public solver {
public:
    explicit causeway(problem &problem) : m_problem(problem) {}

    void run(int iterations) override
    {
        const half first = first_half(m_problem);
        apps::event first_computed, second_computed;
        apps::event exchanged; // the halo of the first half, for its next kernel
        for (int iteration = 0; iteration < iterations; ++iteration) {
            auto first_event = m_problem.enqueue_jacobi(m_problem.queue(0), first, iteration,
                                                        {second_computed.get(), exchanged.get()});
            // communication begin
            auto early = enqueue_exchange(m_problem.queue(1), other(first), m_problem.pressure(iteration));
            // communication end
            auto second_event = m_problem.enqueue_jacobi(m_problem.queue(1), other(first), iteration,
                                                         {first_computed.get(), early.get()});
            // communication begin
            exchanged = enqueue_exchange(m_problem.queue(0), first, m_problem.pressure(iteration + 1));
            // communication end
            apps::check(clFlush(m_problem.queue(0)), "clFlush");
            apps::check(clFlush(m_problem.queue(1)), "clFlush");
            // Bounds the commands in flight: the host stays one iteration ahead of the device.
            if (const cl_event before = second_computed.get())
                apps::check(clWaitForEvents(1, &before), "clWaitForEvents");
            first_computed = std::move(first_event);
            second_computed = std::move(second_event);
        }
        const cl_event last[] = {first_computed.get(), second_computed.get(), exchanged.get()};
        apps::check(iterations > 0 ? clWaitForEvents(3, last) : CL_SUCCESS, "clWaitForEvents");
    }

private:
    // communication begin
    apps::event enqueue_exchange(cl_command_queue queue, half h, cl_mem pressure)
    {
        const halo &halo = m_problem.halo(h);
        cl_event exchanged = nullptr;
        apps::check(clEnqueueSendrecvBuffer(queue, pressure, pressure, CL_FALSE, halo.send_offset,
                                            m_problem.plane_bytes(), halo.neighbour, 0, halo.receive_offset,
                                            m_problem.plane_bytes(), halo.neighbour, 0, m_problem.communicator(), 0,
                                            nullptr, &exchanged),
                    "clEnqueueSendrecvBuffer");
        return apps::event(exchanged);
    }
    // communication end

    problem &m_problem;
};

} // namespace

std::unique_ptr<solver> make_causeway(problem &problem) { return std::make_unique<causeway>(problem); }

} // namespace himeno
