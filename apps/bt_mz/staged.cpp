// SPDX-License-Identifier: Apache-2.0
// The paper's structure (Listing 1.9): the field comes to the host, messages go, and the field returns to the device.
#include "bt_mz/version.hpp"

namespace bt_mz {

namespace {

class staged : public device_version {
  public:
    explicit staged(solver& solver)
        : device_version(solver),
          // communication begin
          m_exchange(solver.plan()), m_bytes(solver.zones().points_of(solver.rank()) * 5 * sizeof(double)),
          m_field(solver.context(), solver.queue(), m_bytes)
    // communication end
    {}

    void step() override {
        // communication begin
        apps::check(clEnqueueReadBuffer(m_solver.queue(), m_solver.field(), CL_TRUE, 0, m_bytes, m_field.data(), 0,
                                        nullptr, nullptr),
                    "clEnqueueReadBuffer");
        m_exchange.run({static_cast<double*>(m_field.data()), m_bytes / sizeof(double)});
        apps::check(clEnqueueWriteBuffer(m_solver.queue(), m_solver.field(), CL_TRUE, 0, m_bytes, m_field.data(), 0,
                                         nullptr, nullptr),
                    "clEnqueueWriteBuffer");
        // communication end
        m_solver.enqueue_solve(step_part::whole);
    }
    void step_without_exchange() override { m_solver.enqueue_solve(step_part::whole); }

  private:
    // communication begin
    host_exchange m_exchange;
    std::size_t m_bytes;
    apps::pinned_memory m_field;
    // communication end
};

} // namespace

std::unique_ptr<version> make_staged(solver& solver) { return std::make_unique<staged>(solver); }

} // namespace bt_mz
