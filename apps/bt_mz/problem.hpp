// SPDX-License-Identifier: Apache-2.0
// BT-MZ: classes, zones, the rank that solves each, and the check of the results. NAS-03-010 describes it.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace bt_mz {

using five = std::array<double, 5>;

struct problem_class {
    char name;
    int x_zones, y_zones;
    int x_points, y_points, z_points; ///< of all zones together
    int steps;
    double dt;
    double ratio; ///< of the largest to the smallest zone, along either direction
    five residual, error; ///< published: sums over the zones of root mean squares after all steps

    /// BT itself: boundary values stay as they are.
    [[nodiscard]] bool one_zone() const { return x_zones * y_zones == 1; }
};

/// A class of BT (`one_zone`) or of BT-MZ. Throws std::invalid_argument if there is none of that name.
const problem_class& class_of(char name, bool one_zone);
/// Throws what class_of() throws.
[[noreturn]] void refuse_class(const std::string& name);

enum side { west, east, south, north };
inline constexpr int sides = 4;

struct zone {
    int nx, ny, nz;
    int owner;         ///< a rank
    std::size_t first; ///< index of the zone's first point among those of its owner
    std::array<int, sides> neighbours;

    [[nodiscard]] int points() const { return nx * ny * nz; }
    /// A step's load: the inner points. Small zones have fewer of them among their points.
    [[nodiscard]] int load() const { return (nx - 2) * (ny - 2) * (nz - 2); }
};

/// The zones of a class, dealt to ranks such that loads are nearly equal and neighbours often have one owner.
class mesh {
  public:
    /// Each rank's load is in proportion to its speed, in any unit. Throws std::invalid_argument if there are more
    /// ranks than zones.
    mesh(const problem_class& of, std::span<const double> speeds);
    /// Ranks of equal speed.
    mesh(const problem_class& of, int ranks) : mesh(of, std::vector<double>(std::size_t(ranks), 1.0)) {}

    [[nodiscard]] const problem_class& kind() const { return *m_kind; }
    [[nodiscard]] int ranks() const { return m_ranks; }
    /// Whether each zone has the same owner in `other`, a mesh of the same class.
    [[nodiscard]] bool deals_as(const mesh& other) const;
    [[nodiscard]] const std::vector<zone>& zones() const { return m_zones; }
    [[nodiscard]] std::vector<int> zones_of(int rank) const;
    [[nodiscard]] std::size_t points_of(int rank) const;
    [[nodiscard]] double load_of(int rank) const;
    /// The largest load of a rank over the mean of all ranks.
    [[nodiscard]] double imbalance() const;
    /// Steps for each unit of length, along each direction.
    [[nodiscard]] const std::array<double, 3>& per_step() const { return m_per_step; }

  private:
    const problem_class* m_kind;
    int m_ranks;
    std::vector<zone> m_zones;
    std::array<double, 3> m_per_step;
};

/// Copies the values of a boundary. The value of `component` at (a, b) comes from index `from` + a * from_along + b *
/// from_up + component * from_component. It goes to the index that is formed in the same way from `to`. kernels.cl has
/// the same structure.
struct face_copy {
    int from, from_along, from_up, from_component;
    int to, to_along, to_up, to_component;
    int along, up;
};

/// The exchange with one other rank. The parts of all peers lie side by side in one outgoing and one incoming buffer;
/// offsets and counts are in values.
struct exchange_part {
    int peer;
    std::size_t out, in; ///< in this rank's buffers
    std::size_t there; ///< offset of the outgoing values in the peer's incoming buffer
    std::size_t values; ///< each way
};

struct exchange_plan {
    std::vector<face_copy> local, outgoing, incoming; ///< within the field; from it to a buffer; from a buffer to it
    std::vector<exchange_part> parts;
    std::size_t values = 0; ///< in either buffer
    std::size_t most_values = 0; ///< on the rank that exchanges most
};

/// How values of points lie in memory; equations.h has the index.
enum class order { points_side_by_side, components_side_by_side };

exchange_plan plan_exchange(const mesh& mesh, int rank, order order);

/// The fields of all zones of `rank`, one behind the other: 5 values for each point.
std::vector<double> initial_field(const mesh& mesh, int rank, order order);
/// The forcing terms that make the exact solution steady.
std::vector<double> forcing_terms(const mesh& mesh, int rank, order order);

struct norms {
    five residual{}, error{};
};
/// Sums of the norms over the zones of `rank`.
norms norms_of(const mesh& mesh, int rank, order order, std::span<const double> field, std::span<const double> forcing);
/// The largest relative difference from what is published; infinity if there is a NaN.
double difference(const problem_class& kind, const norms& found);
inline constexpr double tolerance = 1e-8;

} // namespace bt_mz
