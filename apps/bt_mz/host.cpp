// SPDX-License-Identifier: Apache-2.0
// Without a device: each rank is one thread. What speed-ups count from.
#include "bt_mz/version.hpp"

#include "bt_mz/host_equations.hpp"

#include <algorithm>

namespace bt_mz {

namespace {

class host : public version {
  public:
    host(const mesh& mesh, int rank)
        : m_mesh(mesh), m_rank(rank),
          // communication begin
          m_exchange(plan_exchange(mesh, rank, order::points_side_by_side)),
          // communication end
          m_initial(initial_field(mesh, rank, order::points_side_by_side)),
          m_forcing(forcing_terms(mesh, rank, order::points_side_by_side)), m_right(m_initial.size(), 0.0) {
        std::size_t most = 0;
        for (const int z : mesh.zones_of(rank))
            most = std::max(most, std::size_t(mesh.zones()[std::size_t(z)].points()));
        m_work.resize(most * 25);
    }

    void reset() override { m_field = m_initial; }

    void step() override {
        // communication begin
        m_exchange.run(m_field);
        // communication end
        step_without_exchange();
    }
    void step_without_exchange() override {
        for (const int z : m_mesh.zones_of(m_rank)) solve(m_mesh.zones()[std::size_t(z)]);
    }

    void finish() override {}
    std::vector<double> field() override { return m_field; }
    [[nodiscard]] order order_of_values() const override { return order::points_side_by_side; }

  private:
    void solve(const zone& zone) {
        const auto& per = m_mesh.per_step();
        const double dt = m_mesh.kind().dt;
        const int nx = zone.nx, ny = zone.ny, nz = zone.nz, points = zone.points();
        double *const u = &m_field[zone.first * 5], *const right = &m_right[zone.first * 5];
        const double* const forcing = &m_forcing[zone.first * 5];
        for (int k = 1; k < nz - 1; ++k)
            for (int j = 1; j < ny - 1; ++j)
                for (int i = 1; i < nx - 1; ++i) {
                    double sum[5];
                    space_derivatives(sum, u, i, j, k, nx, ny, nz, per[0], per[1], per[2]);
                    const int at = (k * ny + j) * nx + i;
                    for (int m = 0; m < 5; ++m) right[AT(m, at, points)] = dt * (forcing[AT(m, at, points)] + sum[m]);
                }
        // One line at a time, so that its blocks stay in the cache.
        for (int k = 1; k < nz - 1; ++k)
            for (int j = 1; j < ny - 1; ++j)
                solve_line(0, u, right, m_work.data(), (k * ny + j) * nx, 1, nx, points, 0, 1, dt, per[0], 0);
        for (int k = 1; k < nz - 1; ++k)
            for (int i = 1; i < nx - 1; ++i)
                solve_line(1, u, right, m_work.data(), k * ny * nx + i, nx, ny, points, 0, 1, dt, per[1], 0);
        for (int j = 1; j < ny - 1; ++j)
            for (int i = 1; i < nx - 1; ++i)
                solve_line(2, u, right, m_work.data(), j * nx + i, nx * ny, nz, points, 0, 1, dt, per[2], 1);
    }

    const mesh& m_mesh;
    int m_rank;
    // communication begin
    host_exchange m_exchange;
    // communication end
    std::vector<double> m_initial, m_forcing, m_field, m_right, m_work;
};

} // namespace

std::unique_ptr<version> make_host(const mesh& mesh, int rank) { return std::make_unique<host>(mesh, rank); }

} // namespace bt_mz
