// SPDX-License-Identifier: Apache-2.0
// Boundary values are put into the others' device memory, with signals; what needs no values of others is solved
// meanwhile.
#include "bt_mz/device_heap.hpp"
#include "bt_mz/version.hpp"

#include <causeway/symmetric.h>

namespace bt_mz {

namespace {

class one_sided : public device_version {
  public:
    one_sided(solver& solver, inbox& inbox)
        : device_version(solver),
          // communication begin
          m_inbox(inbox), m_puts(apps::create_out_of_order_queue(solver.context(), solver.queue()))
    // communication end
    {}

    void step() override {
        // communication begin
        double* const in = m_inbox.begin_step();
        const auto out = location_of(m_inbox.outgoing());
        const apps::event packed = m_solver.enqueue_pack(out.buffer, out.first_value);
        apps::check(clFlush(m_solver.queue()), "clFlush");
        cl_event there = packed.get(), one = nullptr;
        std::vector<apps::event> exchanged;
        std::vector<cl_event> all;
        for (const auto& part : m_solver.plan().parts) {
            apps::check(clEnqueuePutSignal(m_puts.get(), out.buffer, CL_FALSE,
                                           (out.first_value + part.out) * sizeof(double), part.values * sizeof(double),
                                           in + part.there, m_inbox.signal(), 1, CL_SIGNAL_ADD, part.peer, 1, &there,
                                           &one),
                        "clEnqueuePutSignal");
            exchanged.emplace_back(one);
            all.push_back(one);
        }
        if (!all.empty()) {
            apps::check(clEnqueueSignalWait(m_puts.get(), CL_FALSE, m_inbox.signal(), CL_COMPARE_GE,
                                            m_inbox.all_arrived(), 0, nullptr, &one),
                        "clEnqueueSignalWait");
            exchanged.emplace_back(one);
            all.push_back(one);
        }
        // communication end
        m_solver.enqueue_solve(step_part::early);
        // communication begin
        const auto arrived = location_of(in);
        m_solver.enqueue_unpack(arrived.buffer, arrived.first_value, all);
        // communication end
        m_solver.enqueue_solve(step_part::late);
        // The host stays one step ahead of the device.
        // communication begin
        for (const auto& each : m_last) apps::wait_for({each.get()}, "putting boundary values");
        m_last = std::move(exchanged);
        // communication end
    }

  private:
    // communication begin
    inbox& m_inbox;
    apps::queue m_puts;
    std::vector<apps::event> m_last;
    // communication end
};

} // namespace

std::unique_ptr<version> make_one_sided(solver& solver, inbox& inbox) {
    return std::make_unique<one_sided>(solver, inbox);
}

} // namespace bt_mz
