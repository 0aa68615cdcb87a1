// SPDX-License-Identifier: Apache-2.0
// An OpenSHMEM program: boundary values are put between symmetric heaps in the devices' memory, by calls of the host.
#include "bt_mz/device_heap.hpp"
#include "bt_mz/version.hpp"

#include <shmem.h>

namespace bt_mz {

namespace {

class openshmem : public device_version {
  public:
    openshmem(solver& solver, inbox& inbox)
        : device_version(solver),
          // communication begin
          m_inbox(inbox)
    // communication end
    {}

    void step() override {
        // communication begin
        double* const in = m_inbox.begin_step();
        const auto out = location_of(m_inbox.outgoing());
        const apps::event packed = m_solver.enqueue_pack(out.buffer, out.first_value);
        apps::check(clFlush(m_solver.queue()), "clFlush");
        // communication end
        m_solver.enqueue_solve(step_part::early);
        // communication begin
        apps::wait_for({packed.get()}, "packing boundary values");
        for (const auto& part : m_solver.plan().parts)
            shmem_putmem_signal(in + part.there, m_inbox.outgoing() + part.out, part.values * sizeof(double),
                                m_inbox.signal(), 1, SHMEM_SIGNAL_ADD, part.peer);
        shmem_signal_wait_until(m_inbox.signal(), SHMEM_CMP_GE, m_inbox.all_arrived());
        const auto arrived = location_of(in);
        m_solver.enqueue_unpack(arrived.buffer, arrived.first_value);
        // communication end
        m_solver.enqueue_solve(step_part::late);
    }

  private:
    // communication begin
    inbox& m_inbox;
    // communication end
};

} // namespace

std::unique_ptr<version> make_openshmem(solver& solver, inbox& inbox) {
    return std::make_unique<openshmem>(solver, inbox);
}

} // namespace bt_mz
