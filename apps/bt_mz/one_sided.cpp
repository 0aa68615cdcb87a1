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
        const apps::event taken = m_solver.enqueue_take(m_out.get(), raw(m_last));
        apps::check(clFlush(m_solver.queue()), "clFlush");
        cl_event there = taken.get(), one = nullptr;
        std::vector<apps::event> put, arrived;
        for (const auto& part : m_solver.plan().parts) {
            apps::check(clEnqueuePutSignal(m_puts.get(), m_out.get(), CL_FALSE, part.out * sizeof(double),
                                           part.values * sizeof(double), in + part.there, m_inbox.own_signal(), 1,
                                           CL_SIGNAL_ADD, part.peer, 1, &there, &one),
                        "clEnqueuePutSignal");
            put.emplace_back(one);
            apps::check(clEnqueueSignalWait(m_puts.get(), CL_FALSE, m_inbox.signal_of(part.peer), CL_COMPARE_GE,
                                            m_inbox.steps(), 0, nullptr, &one),
                        "clEnqueueSignalWait");
            arrived.emplace_back(one);
        }
        // communication end
        m_solver.enqueue_solve(step_part::early);
        // communication begin
        std::size_t offset = 0;
        cl_int code = CL_SUCCESS;
        const cl_mem heap = causeway_symmetric_buffer(in, &offset, &code);
        apps::check(code, "causeway_symmetric_buffer");
        m_solver.enqueue_place(heap, offset / sizeof(double), raw(arrived));
        // communication end
        m_solver.enqueue_solve(step_part::late);
        // The host stays one step ahead of the device.
        for (const auto& each : m_last) apps::wait_for({each.get()}, "putting boundary values");
        m_last = std::move(put);
    }

  private:
    // communication begin
    static std::vector<cl_event> raw(const std::vector<apps::event>& events) {
        std::vector<cl_event> handles;
        for (const auto& each : events) handles.push_back(each.get());
        return handles;
    }

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
