// SPDX-License-Identifier: Apache-2.0
// The physics, on the host: classes of particles of a binary alloy, how fast they collide, what they become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nanopowder {

/// Particles are counted in classes of volume and composition; class (s, c) has the index s * compositions + c. The
/// table of coefficients for each two of them has 42 MB (Takizawa et al. 2015, section 5.3.3).
constexpr int sizes = 81, compositions = 40;
constexpr std::size_t classes = std::size_t(sizes) * compositions;
constexpr std::size_t table_entries = classes * classes;

/// Volume of a particle of size class `size`, in monomers: from 1 to 2^20.
[[nodiscard]] double volume(int size);
/// Share of the first metal, from 0 to 1.
[[nodiscard]] constexpr double share(int composition) { return double(composition) / (compositions - 1); }

/// What two sizes become: some of the class `target`, in `weight` particles for each collision.
struct product {
    std::int32_t larger, smaller; // larger >= smaller
    float weight;
};

/// For each size the collisions that lead to it. Products between two sizes go to both, so that their number and
/// volume stay; those beyond the largest become as many of it as have their volume. `begin[s]` to `begin[s + 1]` are
/// those of size s.
struct products {
    std::vector<product> all;
    std::vector<std::int32_t> begin;
};
[[nodiscard]] products products_of_collisions();

/// Time between steps, in units of the monomers' first collisions.
constexpr float time_step = 0.02F;

/// The coefficients of each step, as the gas cools. The host's work.
class coefficients {
  public:
    coefficients();
    /// Collisions per time of each two particles at `step`; table_entries values.
    void fill(int step, float* table) const;

  private:
    std::vector<float> m_geometry; // by sizes: free molecules (Friedlander)
};

/// New particles of the smallest size at `step`, by composition: nucleation. The host's work too.
[[nodiscard]] std::vector<double> nucleated(int step);

/// Volume of each metal in `population`.
struct metals {
    double first, second;
};
[[nodiscard]] metals volume_of(const std::vector<float>& population);

/// The same steps in double precision, collision by collision.
std::vector<double> simulate_on_host(int steps);

} // namespace nanopowder
