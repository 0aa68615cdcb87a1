// SPDX-License-Identifier: Apache-2.0
// Kernels as OpenACC directives, and one-sided communication on symmetric device memory: boundary values are put from
// one device's heap to another's.
#include "bt_mz/directives.h"

#include "bt_mz/version.hpp"

#include <causeway/symmetric.h>

#include <chrono>

namespace bt_mz {

namespace {

class directives : public version {
  public:
    directives(solver& solver, inbox& inbox)
        : m_solver(solver), m_tables(solver.tables()), m_plan(solver.plan()),
          m_initial(initial_field(solver.zones(), solver.rank(), order::points_side_by_side)), m_field(m_initial),
          m_forcing(forcing_terms(solver.zones(), solver.rank(), order::points_side_by_side)),
          m_right(m_initial.size(), 0.0), m_work(m_initial.size() * 5),
          // communication begin
          m_inbox(inbox)
    // communication end
    {
        bt_mz_enter(tables(), int(m_tables.zones.size()), int(m_tables.tiles.size()), fields(), points());
        for (auto* faces : {&m_plan.local, &m_plan.outgoing, &m_plan.incoming}) {
            if (faces->empty()) faces->emplace_back();
            bt_mz_enter_faces(&faces->front().from, int(faces->size()));
        }
        // communication begin
        for (double* each : {m_inbox.half(0), m_inbox.half(1), m_inbox.outgoing()}) {
            std::size_t offset = 0;
            cl_int code = CL_SUCCESS;
            const cl_mem heap = causeway_symmetric_buffer(each, &offset, &code);
            apps::check(code, "causeway_symmetric_buffer");
            bt_mz_map(each, heap, offset, m_inbox.bytes());
        }
        // communication end
    }
    ~directives() override {
        // communication begin
        for (double* each : {m_inbox.half(0), m_inbox.half(1), m_inbox.outgoing()}) bt_mz_unmap(each);
        // communication end
        for (auto* faces : {&m_plan.local, &m_plan.outgoing, &m_plan.incoming})
            bt_mz_leave_faces(&faces->front().from, int(faces->size()));
        bt_mz_leave(tables(), int(m_tables.zones.size()), int(m_tables.tiles.size()), fields(), points());
    }

    void reset() override {
        m_field = m_initial;
        bt_mz_update_device(m_field.data(), points());
        m_seconds = 0;
    }

    void step() override {
        // communication begin
        double* const in = m_inbox.begin_step();
        copy_faces(m_tables.outgoing, m_plan.outgoing, m_field.data(), m_inbox.outgoing());
        bt_mz_wait();
        for (const auto& part : m_plan.parts)
            apps::check(causeway_symmetric_put_signal(in + part.there, m_inbox.outgoing() + part.out,
                                                      part.values * sizeof(double), m_inbox.own_signal(), 1,
                                                      CL_SIGNAL_ADD, part.peer),
                        "causeway_symmetric_put_signal");
        // communication end
        copy_faces(m_tables.local, m_plan.local, m_field.data(), m_field.data());
        const auto inner = now();
        solve(zone_set::inner);
        // communication begin
        for (const auto& part : m_plan.parts)
            apps::check(causeway_symmetric_wait(m_inbox.signal_of(part.peer), sizeof(std::uint64_t), CL_COMPARE_GE,
                                                m_inbox.steps()),
                        "causeway_symmetric_wait");
        // communication end
        bt_mz_wait();
        if (m_tables.of[int(zone_set::inner)].points.count > 0) m_seconds += now() - inner;
        // communication begin
        copy_faces(m_tables.incoming, m_plan.incoming, in, m_field.data());
        bt_mz_wait();
        // communication end
        const auto outer = now();
        solve(zone_set::outer);
        bt_mz_wait();
        m_seconds += now() - outer;
    }

    void finish() override {}
    /// Inner zones count until they are solved and the others' values have come.
    double solve_seconds() override { return m_seconds; }
    std::vector<double> field() override {
        bt_mz_update_host(m_field.data(), points());
        return m_field;
    }
    [[nodiscard]] order order_of_values() const override { return order::points_side_by_side; }

  private:
    static double now() {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    static bt_mz_tiles tiles(const tile_range& range) { return {range.first, int(range.count)}; }
    bt_mz_tables tables() {
        return {m_tables.zones.front().data(), m_tables.tiles.front().data(), int(m_tables.group)};
    }
    bt_mz_fields fields() { return {m_field.data(), m_forcing.data(), m_right.data(), m_work.data()}; }
    [[nodiscard]] std::size_t points() const { return m_initial.size() / 5; }

    void copy_faces(const tile_range& over, const std::vector<face_copy>& faces, const double* from, double* to) {
        if (over.count > 0) bt_mz_copy_faces(tables(), tiles(over), &faces.front().from, from, to);
    }

    void solve(zone_set which) {
        const auto& over = m_tables.of[int(which)];
        if (over.points.count == 0) return;
        const auto& per = m_solver.zones().per_step();
        const double dt = m_solver.zones().kind().dt;
        bt_mz_right_hand_side(tables(), tiles(over.points), fields(), dt, per[0], per[1], per[2]);
        bt_mz_solve_x(tables(), tiles(over.lines[0]), fields(), dt, per[0]);
        bt_mz_solve_y(tables(), tiles(over.lines[1]), fields(), dt, per[1]);
        bt_mz_solve_z(tables(), tiles(over.lines[2]), fields(), dt, per[2]);
    }

    solver& m_solver; // whose queue idles meanwhile
    tile_tables m_tables;
    exchange_plan m_plan;
    std::vector<double> m_initial, m_field, m_forcing, m_right, m_work;
    // communication begin
    inbox& m_inbox;
    // communication end
    double m_seconds = 0;
};

} // namespace

std::unique_ptr<version> make_directives(solver& solver, inbox& inbox) {
    return std::make_unique<directives>(solver, inbox);
}

} // namespace bt_mz
