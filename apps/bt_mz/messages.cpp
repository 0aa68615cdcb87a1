// SPDX-License-Identifier: Apache-2.0
// Boundary values go from device to device as MPI messages that are commands; what needs no values of others is solved
// meanwhile.
#include "bt_mz/version.hpp"

#include <CL/cl_data_transfer.h>

namespace bt_mz {

namespace {

class messages : public device_version {
  public:
    explicit messages(solver& solver)
        : device_version(solver),
          // communication begin
          m_exchanges(apps::create_out_of_order_queue(solver.context(), solver.queue())),
          m_out(apps::create_buffer(solver.context(), (solver.plan().values + 1) * sizeof(double))),
          m_in(apps::create_buffer(solver.context(), (solver.plan().values + 1) * sizeof(double)))
    // communication end
    {}

    void step() override {
        // communication begin
        const apps::event packed = m_solver.enqueue_pack(m_out.get(), 0);
        apps::check(clFlush(m_solver.queue()), "clFlush");
        cl_event there = packed.get();
        std::vector<apps::event> exchanged;
        std::vector<cl_event> all;
        for (const auto& part : m_solver.plan().parts) {
            const std::size_t bytes = part.values * sizeof(double);
            cl_event one = nullptr;
            apps::check(clEnqueueSendrecvBuffer(m_exchanges.get(), m_out.get(), m_in.get(), CL_FALSE,
                                                part.out * sizeof(double), bytes, part.peer, 0,
                                                part.in * sizeof(double), bytes, part.peer, 0, MPI_COMM_WORLD, 1,
                                                &there, &one),
                        "clEnqueueSendrecvBuffer");
            exchanged.emplace_back(one);
            all.push_back(one);
        }
        // communication end
        m_solver.enqueue_solve(step_part::early);
        // communication begin
        m_solver.enqueue_unpack(m_in.get(), 0, all);
        // communication end
        m_solver.enqueue_solve(step_part::late);
        // The host stays one step ahead of the device.
        // communication begin
        for (const auto& each : m_last) apps::wait_for({each.get()}, "exchanging boundary values");
        m_last = std::move(exchanged);
        // communication end
    }

  private:
    // communication begin
    apps::queue m_exchanges;
    apps::buffer m_out, m_in;
    std::vector<apps::event> m_last;
    // communication end
};

} // namespace

std::unique_ptr<version> make_messages(solver& solver) { return std::make_unique<messages>(solver); }

} // namespace bt_mz
