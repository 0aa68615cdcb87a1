// SPDX-License-Identifier: Apache-2.0
#include "bt_mz/problem.hpp"

#include "bt_mz/host_equations.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

namespace bt_mz {

namespace {

// Sizes and verification values of BT-MZ and of BT, as NPB 3 has them.
const problem_class classes[] = {
    {'S',
     2,
     2,
     24,
     24,
     6,
     60,
     1e-2,
     3.0,
     {0.1047687395830e+04, 0.9419911314792e+02, 0.2124737403068e+03, 0.1422173591794e+03, 0.1135441572375e+04},
     {0.1775416062982e+03, 0.1875540250835e+02, 0.3863334844506e+02, 0.2634713890362e+02, 0.1965566269675e+03}},
    {'W',
     4,
     4,
     64,
     64,
     8,
     200,
     0.8e-3,
     4.5,
     {0.5562611195402e+05, 0.5151404119932e+04, 0.1080453907954e+05, 0.6576058591929e+04, 0.4528609293561e+05},
     {0.7185154786403e+04, 0.7040472738068e+03, 0.1437035074443e+04, 0.8570666307849e+03, 0.5991235147368e+04}},
    {'A',
     4,
     4,
     128,
     128,
     16,
     200,
     0.8e-3,
     4.5,
     {0.5536703889522e+05, 0.5077835038405e+04, 0.1067391361067e+05, 0.6441179694972e+04, 0.4371926324069e+05},
     {0.6716797714343e+04, 0.6512687902160e+03, 0.1332930740128e+04, 0.7848302089180e+03, 0.5429053878818e+04}},
    {'B',
     8,
     8,
     304,
     208,
     17,
     200,
     3e-4,
     4.5,
     {0.4461388343844e+06, 0.3799759138035e+05, 0.8383296623970e+05, 0.5301970201273e+05, 0.3618106851311e+06},
     {0.4496733567600e+05, 0.3892068540524e+04, 0.8763825844217e+04, 0.5599040091792e+04, 0.4082652045598e+05}},
    {'C',
     16,
     16,
     480,
     320,
     28,
     200,
     1e-4,
     4.5,
     {0.3457703287806e+07, 0.3213621375929e+06, 0.7002579656870e+06, 0.4517459627471e+06, 0.2818715870791e+07},
     {0.2059106993570e+06, 0.1680761129461e+05, 0.4080731640795e+05, 0.2836541076778e+05, 0.2136807610771e+06}},
    {'D',
     32,
     32,
     1632,
     1216,
     34,
     250,
     2e-5,
     4.5,
     {0.4250417034981e+08, 0.4293882192175e+07, 0.9121841878270e+07, 0.6201357771439e+07, 0.3474801891304e+08},
     {0.9462418484583e+06, 0.7884728947105e+05, 0.1902874461259e+06, 0.1361858029909e+06, 0.9816489456253e+06}},
    {'S',
     1,
     1,
     12,
     12,
     12,
     60,
     1e-2,
     1.0,
     {1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02, 2.6436421275166801e-02,
      1.9211784131744430e-01},
     {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05, 7.3821238632439731e-05,
      8.9269630987491446e-04}},
    {'W',
     1,
     1,
     24,
     24,
     24,
     200,
     0.8e-3,
     1.0,
     {0.1125590409344e+03, 0.1180007595731e+02, 0.2710329767846e+02, 0.2469174937669e+02, 0.2638427874317e+03},
     {0.4419655736008e+01, 0.4638531260002e+00, 0.1011551749967e+01, 0.9235878729944e+00, 0.1018045837718e+02}},
    {'A',
     1,
     1,
     64,
     64,
     64,
     200,
     0.8e-3,
     1.0,
     {1.0806346714637264e+02, 1.1319730901220813e+01, 2.5974354511582465e+01, 2.3665622544678910e+01,
      2.5278963211748344e+02},
     {4.2348416040525025e+00, 4.4390282496995698e-01, 9.6692480136345650e-01, 8.8302063039765474e-01,
      9.7379901770829278e+00}},
    {'B',
     1,
     1,
     102,
     102,
     102,
     200,
     3e-4,
     1.0,
     {1.4233597229287254e+03, 9.9330522590150238e+01, 3.5646025644535285e+02, 3.2485447959084092e+02,
      3.2707541254659363e+03},
     {5.2969847140936856e+01, 4.4632896115670668e+00, 1.3122573342210174e+01, 1.2006925323559144e+01,
      1.2459576151035986e+02}},
    {'C',
     1,
     1,
     162,
     162,
     162,
     200,
     1e-4,
     1.0,
     {0.62398116551764615e+04, 0.50793239190423964e+03, 0.15423530093013596e+04, 0.13302387929291190e+04,
      0.11604087428436455e+05},
     {0.16462008369091265e+03, 0.11497107903824313e+02, 0.41207446207461508e+02, 0.37087651059694167e+02,
      0.36211053051841265e+03}},
};

/// Lengths of `count` zones that grow geometrically by `ratio` in all, and are `points` together.
std::vector<int> zone_lengths(int points, int count, double ratio) {
    std::vector<int> lengths;
    if (count == 1) return {points};
    const double growth = std::pow(ratio, 1.0 / (count - 1));
    const double smallest = points * (growth - 1) / (std::pow(growth, count) - 1);
    int before = 0;
    for (int i = 1; i <= count; ++i) {
        // 0.45 rather than a half keeps the lengths from shrinking.
        const int end = int(smallest * (std::pow(growth, i) - 1) / (growth - 1) + 0.45);
        lengths.push_back(end - before);
        before = end;
    }
    return lengths;
}

/// The longest time of a rank; infinite if one has nothing.
double longest_time(const std::vector<zone>& zones, const std::vector<int>& owners, std::span<const double> speeds) {
    std::vector<double> times(speeds.size(), 0.0);
    for (std::size_t z = 0; z < zones.size(); ++z) {
        const auto owner = std::size_t(owners[z]);
        times[owner] += zones[z].load() / speeds[owner];
    }
    const auto [least, most] = std::ranges::minmax(times);
    return least > 0 ? most : std::numeric_limits<double>::infinity();
}

/// Rows of zones to and fro, cut into runs: neighbours stay together, but runs are as even as the zones at their ends.
std::vector<int> deal_runs(const std::vector<zone>& zones, int x_zones, std::span<const double> speeds) {
    std::vector<int> owners(zones.size());
    const double all = std::accumulate(zones.begin(), zones.end(), 0.0,
                                       [](double sum, const zone& each) { return sum + each.load(); });
    const double together = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    double before = 0, end = all * speeds[0] / together; // of the rank's run
    std::size_t rank = 0;
    for (std::size_t step = 0; step < zones.size(); ++step) {
        const std::size_t row = step / std::size_t(x_zones), column = step % std::size_t(x_zones);
        const std::size_t z = row * std::size_t(x_zones) + (row % 2 ? std::size_t(x_zones) - 1 - column : column);
        while (before + zones[z].load() / 2.0 >= end && rank + 1 < speeds.size())
            end += all * speeds[++rank] / together;
        owners[z] = int(rank);
        before += zones[z].load();
    }
    return owners;
}

/// The largest zone that is left to the rank that would end first with it; the last ones to ranks that have none.
std::vector<int> deal_largest_first(const std::vector<zone>& zones, std::span<const double> speeds) {
    std::vector<int> owners(zones.size());
    std::vector<std::size_t> by_size(zones.size());
    std::iota(by_size.begin(), by_size.end(), std::size_t{0});
    std::ranges::stable_sort(by_size, [&](auto a, auto b) { return zones[a].load() > zones[b].load(); });
    std::vector<double> loads(speeds.size(), 0.0);
    std::size_t left = zones.size();
    for (const auto z : by_size) {
        const bool only_empty = left-- <= std::size_t(std::ranges::count(loads, 0.0));
        const auto end = [&](std::size_t rank) {
            return only_empty && loads[rank] > 0 ? std::numeric_limits<double>::infinity()
                                                 : (loads[rank] + zones[z].load()) / speeds[rank];
        };
        std::size_t first = 0;
        for (std::size_t rank = 1; rank < speeds.size(); ++rank)
            if (end(rank) < end(first)) first = rank;
        loads[first] += zones[z].load();
        owners[z] = int(first);
    }
    return owners;
}

five exact(double x, double y, double z) {
    // RNR-94-007, table of the coefficients of the exact solution: 1, x, y, z, x², y², z², and so on.
    static constexpr double coefficients[5][13] = {
        {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
        {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
        {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
        {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
        {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
    };
    const double at[3] = {x, y, z};
    five value;
    for (std::size_t m = 0; m < 5; ++m) {
        value[m] = coefficients[m][0];
        for (std::size_t d = 0; d < 3; ++d) {
            double power = at[d];
            for (std::size_t p = 0; p < 4; ++p, power *= at[d]) value[m] += coefficients[m][1 + p * 3 + d] * power;
        }
    }
    return value;
}

/// Calls action(zone) for the rank's zones, on all processors that it may use. Throws what an action threw first.
template <class Action> void for_zones(const mesh& mesh, int rank, Action action) {
    const auto own = mesh.zones_of(rank);
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> failed = false;
    std::exception_ptr thrown;
    std::vector<std::jthread> threads(std::min<std::size_t>(std::thread::hardware_concurrency(), own.size()));
    for (auto& each : threads)
        each = std::jthread([&] {
            try {
                for (std::size_t at; !failed && (at = next++) < own.size();) action(mesh.zones()[std::size_t(own[at])]);
            } catch (...) {
                if (!failed.exchange(true)) thrown = std::current_exception();
            }
        });
    threads.clear(); // waits for them
    if (thrown) std::rethrow_exception(thrown);
}

std::size_t index_of(order order, std::size_t component, int point, int points) {
    return order == order::points_side_by_side ? component * std::size_t(points) + std::size_t(point)
                                               : std::size_t(point) * 5 + component;
}

/// Calls action(i, j, k, point) for each point of the zone.
template <class Action> void for_points(const zone& of, Action action) {
    for (int k = 0; k < of.nz; ++k)
        for (int j = 0; j < of.ny; ++j)
            for (int i = 0; i < of.nx; ++i) action(i, j, k, (k * of.ny + j) * of.nx + i);
}

bool is_inner(const zone& of, int i, int j, int k) {
    return i > 0 && i < of.nx - 1 && j > 0 && j < of.ny - 1 && k > 0 && k < of.nz - 1;
}

/// Blends the exact values on the faces x, y, z = 0 and 1 of the unit cube.
five blended(double x, double y, double z) {
    const five face[6] = {exact(0, y, z), exact(1, y, z), exact(x, 0, z),
                          exact(x, 1, z), exact(x, y, 0), exact(x, y, 1)};
    five value;
    for (std::size_t m = 0; m < 5; ++m) {
        const double px = x * face[1][m] + (1 - x) * face[0][m], py = y * face[3][m] + (1 - y) * face[2][m],
                     pz = z * face[5][m] + (1 - z) * face[4][m];
        value[m] = px + py + pz - px * py - px * pz - py * pz + px * py * pz;
    }
    return value;
}

} // namespace

const problem_class& class_of(char name, bool one_zone) {
    for (const auto& each : classes)
        if (each.name == name && each.one_zone() == one_zone) return each;
    refuse_class(std::string(1, name));
}

void refuse_class(const std::string& name) {
    throw std::invalid_argument("no class \"" + name + "\": S, W, A, B, C, and D of many zones");
}

mesh::mesh(const problem_class& of, std::span<const double> speeds) : m_kind(&of), m_ranks(int(speeds.size())) {
    if (m_ranks > of.x_zones * of.y_zones)
        throw std::invalid_argument(std::string("more ranks than zones: class ") + of.name + " has " +
                                    std::to_string(of.x_zones * of.y_zones));
    const auto x = zone_lengths(of.x_points, of.x_zones, of.ratio), y = zone_lengths(of.y_points, of.y_zones, of.ratio);
    for (int j = 0; j < of.y_zones; ++j)
        for (int i = 0; i < of.x_zones; ++i) {
            const auto at = [&](int column, int row) {
                return (row + of.y_zones) % of.y_zones * of.x_zones + (column + of.x_zones) % of.x_zones;
            };
            m_zones.push_back({x[std::size_t(i)],
                               y[std::size_t(j)],
                               of.z_points,
                               0,
                               0,
                               {at(i - 1, j), at(i + 1, j), at(i, j - 1), at(i, j + 1)}});
        }
    const auto runs = deal_runs(m_zones, of.x_zones, speeds), even = deal_largest_first(m_zones, speeds);
    const bool together = longest_time(m_zones, runs, speeds) <= 1.05 * longest_time(m_zones, even, speeds);
    std::vector<std::size_t> used(speeds.size(), 0);
    for (std::size_t z = 0; z < m_zones.size(); ++z) {
        auto& each = m_zones[z];
        each.owner = together ? runs[z] : even[z];
        each.first = used[std::size_t(each.owner)];
        used[std::size_t(each.owner)] += std::size_t(each.points());
    }
    // The zones are as long as if they were equal, and 1.
    m_per_step = {double(of.x_points - 1) / of.x_zones, double(of.y_points - 1) / of.y_zones, double(of.z_points - 1)};
}

bool mesh::deals_as(const mesh& other) const {
    return std::ranges::equal(m_zones, other.m_zones, {}, &zone::owner, &zone::owner);
}

std::vector<int> mesh::zones_of(int rank) const {
    std::vector<int> found;
    for (std::size_t z = 0; z < m_zones.size(); ++z)
        if (m_zones[z].owner == rank) found.push_back(int(z));
    return found;
}

std::size_t mesh::points_of(int rank) const {
    std::size_t sum = 0;
    for (const int z : zones_of(rank)) sum += std::size_t(m_zones[std::size_t(z)].points());
    return sum;
}

double mesh::load_of(int rank) const {
    double sum = 0;
    for (const int z : zones_of(rank)) sum += m_zones[std::size_t(z)].load();
    return sum;
}

double mesh::imbalance() const {
    double most = 0, all = 0;
    for (int rank = 0; rank < m_ranks; ++rank) {
        most = std::max(most, load_of(rank));
        all += load_of(rank);
    }
    return most * m_ranks / all;
}

exchange_plan plan_exchange(const mesh& mesh, int rank, order order) {
    if (mesh.kind().one_zone()) return {};
    const auto& zones = mesh.zones();
    const auto ranks = std::size_t(mesh.ranks());
    const auto values_of = [&](int z, int side) {
        const auto& of = zones[std::size_t(z)];
        return std::size_t(side == west || side == east ? of.ny - 2 : of.nx - 2) * std::size_t(of.nz - 2) * 5;
    };
    // counts[from][to]; everybody computes all of them, and so knows where its values go in the others' buffers.
    std::vector<std::vector<std::size_t>> counts(ranks, std::vector<std::size_t>(ranks, 0));
    for (std::size_t z = 0; z < zones.size(); ++z)
        for (int s = 0; s < sides; ++s)
            counts[std::size_t(zones[std::size_t(zones[z].neighbours[std::size_t(s)])].owner)]
                  [std::size_t(zones[z].owner)] += values_of(int(z), s);
    const auto own = std::size_t(rank);
    exchange_plan plan;
    std::vector<std::size_t> out_of(ranks), in_of(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
        std::size_t sum = 0;
        for (std::size_t p = 0; p < ranks; ++p) {
            if (p == r) continue;
            if (r == own) out_of[p] = in_of[p] = sum; // as much comes as goes
            sum += counts[r][p];
        }
        plan.most_values = std::max(plan.most_values, sum);
        if (r == own) plan.values = sum;
    }
    for (std::size_t p = 0; p < ranks; ++p) {
        if (p == own || counts[own][p] == 0) continue;
        std::size_t there = 0;
        for (std::size_t q = 0; q < own; ++q)
            if (q != p) there += counts[q][p];
        plan.parts.push_back({int(p), out_of[p], in_of[p], there, counts[own][p]});
    }

    const int by_point = order == order::points_side_by_side ? 1 : 5;
    // The values of a side: of its inner points for who takes them, of its boundary for who gets them.
    const auto in_field = [&](int z, int side, bool boundary) {
        const auto& of = zones[std::size_t(z)];
        face_copy half{};
        const int low = boundary ? 0 : 1, along = side == west || side == east ? of.nx : 1;
        const int high_x = of.nx - 1 - low, high_y = of.ny - 1 - low;
        const int first = side == west    ? of.nx * of.ny + of.nx + low
                          : side == east  ? of.nx * of.ny + of.nx + high_x
                          : side == south ? of.nx * of.ny + low * of.nx + 1
                                          : of.nx * of.ny + high_y * of.nx + 1;
        half.from = int(of.first) * 5 + first * by_point;
        half.from_along = along * by_point;
        half.from_up = of.nx * of.ny * by_point;
        half.from_component = order == order::points_side_by_side ? of.points() : 1;
        half.along = (side == west || side == east ? of.ny : of.nx) - 2;
        half.up = of.nz - 2;
        return half;
    };
    const auto joined = [](const face_copy& from, const face_copy& to) {
        face_copy both = from;
        both.to = to.from, both.to_along = to.from_along, both.to_up = to.from_up,
        both.to_component = to.from_component;
        return both;
    };
    const auto in_buffer = [](std::size_t first, const face_copy& like) {
        face_copy half = like;
        half.from = int(first);
        half.from_along = 1, half.from_up = like.along, half.from_component = like.along * like.up;
        return half;
    };
    constexpr std::array<int, sides> opposite = {east, west, north, south};
    for (std::size_t z = 0; z < zones.size(); ++z)
        for (int s = 0; s < sides; ++s) {
            const int source = zones[z].neighbours[std::size_t(s)];
            const auto from_owner = std::size_t(zones[std::size_t(source)].owner),
                       to_owner = std::size_t(zones[z].owner);
            if (from_owner != own && to_owner != own) continue;
            const auto from = in_field(source, opposite[std::size_t(s)], false), to = in_field(int(z), s, true);
            if (from_owner == to_owner) {
                plan.local.push_back(joined(from, to));
            } else if (from_owner == own) {
                plan.outgoing.push_back(joined(from, in_buffer(out_of[to_owner], from)));
                out_of[to_owner] += values_of(int(z), s);
            } else {
                plan.incoming.push_back(joined(in_buffer(in_of[from_owner], to), to));
                in_of[from_owner] += values_of(int(z), s);
            }
        }
    return plan;
}

std::vector<double> initial_field(const mesh& mesh, int rank, order order) {
    std::vector<double> field(mesh.points_of(rank) * 5);
    const auto& per = mesh.per_step();
    for_zones(mesh, rank, [&](const zone& of) {
        for_points(of, [&](int i, int j, int k, int point) {
            const double x = i / per[0], y = j / per[1], zeta = k / per[2];
            // Where faces meet, the one along z goes before that along y, and that before the one along x.
            const five value = k == 0           ? exact(x, y, 0)
                               : k == of.nz - 1 ? exact(x, y, 1)
                               : j == of.ny - 1 ? exact(x, 1, zeta)
                               : j == 0         ? exact(x, 0, zeta)
                               : i == of.nx - 1 ? exact(1, y, zeta)
                               : i == 0         ? exact(0, y, zeta)
                                                : blended(x, y, zeta);
            for (std::size_t m = 0; m < 5; ++m) field[of.first * 5 + index_of(order, m, point, of.points())] = value[m];
        });
    });
    return field;
}

std::vector<double> forcing_terms(const mesh& mesh, int rank, order order) {
    std::vector<double> forcing(mesh.points_of(rank) * 5, 0.0);
    const auto& per = mesh.per_step();
    for_zones(mesh, rank, [&](const zone& of) {
        std::vector<double> steady(std::size_t(of.points()) * 5);
        for_points(of, [&](int i, int j, int k, int point) {
            const five value = exact(i / per[0], j / per[1], k / per[2]);
            for (std::size_t m = 0; m < 5; ++m) steady[m * std::size_t(of.points()) + std::size_t(point)] = value[m];
        });
        for_points(of, [&](int i, int j, int k, int point) {
            if (!is_inner(of, i, j, k)) return;
            double sum[5];
            space_derivatives(sum, steady.data(), i, j, k, of.nx, of.ny, of.nz, per[0], per[1], per[2]);
            for (std::size_t m = 0; m < 5; ++m)
                forcing[of.first * 5 + index_of(order, m, point, of.points())] = -sum[m];
        });
    });
    return forcing;
}

norms norms_of(const mesh& mesh, int rank, order order, std::span<const double> field,
               std::span<const double> forcing) {
    std::vector<norms> of_zones(mesh.zones().size());
    const auto& per = mesh.per_step();
    for_zones(mesh, rank, [&](const zone& of) {
        const auto at = [&](std::size_t component, int point) {
            return of.first * 5 + index_of(order, component, point, of.points());
        };
        std::vector<double> u(std::size_t(of.points()) * 5);
        for_points(of, [&](int, int, int, int point) {
            for (std::size_t m = 0; m < 5; ++m)
                u[m * std::size_t(of.points()) + std::size_t(point)] = field[at(m, point)];
        });
        norms squares;
        for_points(of, [&](int i, int j, int k, int point) {
            const five wanted = exact(i / per[0], j / per[1], k / per[2]);
            double sum[5] = {};
            const bool inner = is_inner(of, i, j, k);
            if (inner) space_derivatives(sum, u.data(), i, j, k, of.nx, of.ny, of.nz, per[0], per[1], per[2]);
            for (std::size_t m = 0; m < 5; ++m) {
                const double error = field[at(m, point)] - wanted[m];
                squares.error[m] += error * error;
                if (!inner) continue;
                const double residual = sum[m] + forcing[at(m, point)];
                squares.residual[m] += residual * residual;
            }
        });
        const double inner_points = double(of.nx - 2) * (of.ny - 2) * (of.nz - 2);
        auto& found = of_zones[std::size_t(&of - mesh.zones().data())];
        for (std::size_t m = 0; m < 5; ++m) {
            found.residual[m] = std::sqrt(squares.residual[m] / inner_points);
            found.error[m] = std::sqrt(squares.error[m] / inner_points);
        }
    });
    // In one order, whichever thread was first.
    norms all;
    for (const auto& each : of_zones)
        for (std::size_t m = 0; m < 5; ++m) {
            all.residual[m] += each.residual[m];
            all.error[m] += each.error[m];
        }
    return all;
}

double difference(const problem_class& kind, const norms& found) {
    double largest = 0;
    for (std::size_t m = 0; m < 5; ++m)
        for (const double each : {found.residual[m] / kind.residual[m] - 1, found.error[m] / kind.error[m] - 1})
            largest = std::isnan(each) ? std::numeric_limits<double>::infinity() : std::max(largest, std::abs(each));
    return largest;
}

} // namespace bt_mz
