// SPDX-License-Identifier: Apache-2.0
// Boundary values are put into the others' device memory, with signals; what needs no values of others is solved
// meanwhile.
#include "bt_mz/version.hpp"

#include <causeway/symmetric.h>

namespace bt_mz {

namespace {

class one_sided : public device_version {
  public:
    one_sided(solver& solver, inbox& inbox)
        : device_version(solver),
          // communication begin
          m_inbox(inbox), m_puts(apps::create_out_of_order_queue(solver.context(), solver.queue())),
          m_out(apps::create_buffer(solver.context(), (solver.plan().values + 1) * sizeof(double)))
    // communication end
    {}

    void step() override {
        // communication begin
        double* const in = m_inbox.begin_step();
        const apps::event taken = m_solver.enqueue_pack(m_out.get());
        apps::check(clFlush(m_solver.queue()), "clFlush");
        cl_event there = taken.get(), one = nullptr;
        std::vector<apps::event> exchanged;
        std::vector<cl_event> all;
        for (const auto& part : m_solver.plan().parts) {
            apps::check(clEnqueuePutSignal(m_puts.get(), m_out.get(), CL_FALSE, part.out * sizeof(double),
                                           part.values * sizeof(double), in + part.there, m_inbox.signal(), 1,
                                           CL_SIGNAL_ADD, part.peer, 1, &there, &one),
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
        std::size_t offset = 0;
        cl_int code = CL_SUCCESS;
        const cl_mem heap = causeway_symmetric_buffer(in, &offset, &code);
        apps::check(code, "causeway_symmetric_buffer");
        m_solver.enqueue_unpack(heap, offset / sizeof(double), all);
        // communication end
        m_solver.enqueue_solve(step_part::late);
        // The host stays one step ahead of the device.
        for (const auto& each : m_last) apps::wait_for({each.get()}, "putting boundary values");
        m_last = std::move(exchanged);
    }

  private:
    // communication begin
    inbox& m_inbox;
    apps::queue m_puts;
    apps::buffer m_out;
    // communication end
    std::vector<apps::event> m_last;
};

} // namespace

std::unique_ptr<version> make_one_sided(solver& solver, inbox& inbox) {
    return std::make_unique<one_sided>(solver, inbox);
}

} // namespace bt_mz
