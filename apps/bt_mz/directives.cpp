// SPDX-License-Identifier: Apache-2.0
// Kernels as OpenACC directives, and OpenSHMEM on symmetric device memory: boundary values are put from one device's
// heap to another's.
#include "bt_mz/directives.h"

#include "bt_mz/device_heap.hpp"
#include "bt_mz/version.hpp"

#include <shmem.h>

namespace bt_mz {

namespace {

class directives : public version {
  public:
    directives(solver& solver, inbox& inbox)
        : m_solver(solver), m_tables(solver.tables()),
          m_plan(plan_exchange(solver.zones(), solver.rank(), order::points_side_by_side)), m_leaving(m_plan.outgoing),
          m_initial(solver.initial_values()), m_field(m_initial), m_forcing(solver.forcing()),
          m_right(m_initial.size(), 0.0), m_work(std::make_unique_for_overwrite<double[]>(m_initial.size() * 5)),
          // communication begin
          m_inbox(inbox)
    // communication end
    {
        bt_mz_enter(tables(), int(m_tables.boxes.size()), int(m_tables.tiles.size()), fields(), points());
        m_leaving.insert(m_leaving.end(), m_plan.local.begin(), m_plan.local.end());
        for (auto* faces : {&m_leaving, &m_plan.incoming}) {
            if (faces->empty()) faces->emplace_back();
            bt_mz_enter_faces(&faces->front().from, int(faces->size()));
        }
        // communication begin
        for (double* each : {m_inbox.half(0), m_inbox.half(1), m_inbox.outgoing()}) {
            const auto location = location_of(each);
            bt_mz_map(each, location.buffer, location.first_value * sizeof(double), m_inbox.bytes());
        }
        // communication end
    }
    ~directives() override {
        // communication begin
        for (double* each : {m_inbox.half(0), m_inbox.half(1), m_inbox.outgoing()}) bt_mz_unmap(each);
        // communication end
        for (auto* faces : {&m_leaving, &m_plan.incoming}) bt_mz_leave_faces(&faces->front().from, int(faces->size()));
        bt_mz_leave(tables(), int(m_tables.boxes.size()), int(m_tables.tiles.size()), fields(), points());
    }

    void reset() override {
        m_field = m_initial;
        bt_mz_update_device(m_field.data(), points());
    }

    void step() override {
        // communication begin
        double* const in = m_inbox.begin_step();
        bt_mz_let_wait(taking, solving);
        copy_faces(m_tables.outgoing, m_leaving, m_field.data(), m_inbox.outgoing(), taking);
        // communication end
        copy_faces(m_tables.local, m_leaving, m_field.data(), m_field.data(), solving);
        // The late rows need the local faces, too, and nothing of the early part.
        bt_mz_let_wait(placing, solving);
        solve(step_part::early);
        // communication begin
        bt_mz_wait(taking);
        for (const auto& part : m_plan.parts)
            shmem_putmem_signal(in + part.there, m_inbox.outgoing() + part.out, part.values * sizeof(double),
                                m_inbox.signal(), 1, SHMEM_SIGNAL_ADD, part.peer);
        shmem_signal_wait_until(m_inbox.signal(), SHMEM_CMP_GE, m_inbox.all_arrived());
        copy_faces(m_tables.incoming, m_plan.incoming, in, m_field.data(), placing);
        // communication end
        solve(step_part::late);
    }

    void step_without_exchange() override {
        bt_mz_let_wait(placing, solving);
        solve(step_part::early);
        solve(step_part::late);
    }

    void finish() override { bt_mz_wait(solving); }
    std::vector<double> field() override {
        bt_mz_update_host(m_field.data(), points());
        return m_field;
    }
    [[nodiscard]] order order_of_values() const override { return order::points_side_by_side; }

  private:
    static constexpr int solving = 1, taking = 2, placing = 3; // queues
    static bt_mz_tiles tiles(const tile_range& range) { return {range.first, int(range.count)}; }
    bt_mz_tables tables() {
        return {m_tables.boxes.front().data(), m_tables.tiles.front().data(), int(m_tables.group)};
    }
    bt_mz_fields fields() { return {m_field.data(), m_forcing.data(), m_right.data(), m_work.get()}; }
    [[nodiscard]] std::size_t points() const { return m_initial.size() / 5; }

    void copy_faces(const tile_range& over, const std::vector<face_copy>& faces, const double* from, double* to,
                    int queue) {
        if (over.count > 0) bt_mz_copy_faces(tables(), tiles(over), &faces.front().from, from, to, queue);
    }

    void solve(step_part which) {
        const auto& over = m_tables.of[int(which)];
        const auto& per = m_solver.zones().per_step();
        const double dt = m_solver.zones().kind().dt;
        const int queue = which == step_part::late ? placing : solving;
        if (over.points.count > 0) {
            bt_mz_right_hand_side(tables(), tiles(over.points), fields(), dt, per[0], per[1], per[2], queue);
            bt_mz_solve_x(tables(), tiles(over.lines), fields(), dt, per[0], queue);
        }
        if (which == step_part::early) return;
        bt_mz_let_wait(solving, placing);
        bt_mz_solve_y(tables(), tiles(m_tables.y_lines), fields(), dt, per[1]);
        bt_mz_solve_z(tables(), tiles(m_tables.z_lines), fields(), dt, per[2]);
    }

    solver& m_solver; // whose queue idles meanwhile
    tile_tables m_tables;
    exchange_plan m_plan;
    std::vector<face_copy> m_leaving; // outgoing, then local
    const std::vector<double>& m_initial; // the solver's
    std::vector<double> m_field, m_forcing, m_right;
    std::unique_ptr<double[]> m_work; // of the device; the host names it
    // communication begin
    inbox& m_inbox;
    // communication end
};

} // namespace

std::unique_ptr<version> make_directives(solver& solver, inbox& inbox) {
    return std::make_unique<directives>(solver, inbox);
}

} // namespace bt_mz
