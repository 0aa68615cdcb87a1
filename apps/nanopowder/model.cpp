// SPDX-License-Identifier: Apache-2.0
// Collisions, nucleation and the reference. The shape of Shigeta and Watanabe 2010; the constants are round numbers.
#include "nanopowder/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace nanopowder {

namespace {

double temperature(int step) { return 300 + 2700 * std::exp(-step / 300.0); }

/// Whether two particles that meet stay together: less where metals differ and the gas is cold.
double sticking(int one, int other, double kelvin) {
    return 1 - 0.5 * std::abs(share(one) - share(other)) * std::exp(-kelvin / 1500);
}

} // namespace

double volume(int size) { return std::exp2(size / 4.0); }

products products_of_collisions() {
    std::array<std::vector<product>, sizes> by_target;
    for (std::int32_t larger = 0; larger < sizes; ++larger)
        for (std::int32_t smaller = 0; smaller <= larger; ++smaller) {
            const double together = volume(larger) + volume(smaller);
            // All pairs of compositions are counted: of two alike sizes each collision twice.
            const double collisions = larger == smaller ? 0.5 : 1;
            if (together >= volume(sizes - 1)) {
                by_target[sizes - 1].push_back({larger, smaller, float(collisions * together / volume(sizes - 1))});
                continue;
            }
            int below = larger;
            while (volume(below + 1) <= together) ++below;
            const double upper = (together - volume(below)) / (volume(below + 1) - volume(below));
            by_target[std::size_t(below)].push_back({larger, smaller, float(collisions * (1 - upper))});
            by_target[std::size_t(below) + 1].push_back({larger, smaller, float(collisions * upper)});
        }
    products found;
    found.begin.push_back(0);
    for (const auto& of_target : by_target) {
        found.all.insert(found.all.end(), of_target.begin(), of_target.end());
        found.begin.push_back(std::int32_t(found.all.size()));
    }
    return found;
}

coefficients::coefficients() : m_geometry(std::size_t(sizes) * sizes) {
    for (int one = 0; one < sizes; ++one)
        for (int other = 0; other < sizes; ++other) {
            const double reach = std::cbrt(volume(one)) + std::cbrt(volume(other));
            const double speed = std::sqrt(1 / volume(one) + 1 / volume(other));
            m_geometry[std::size_t(one * sizes + other)] = float(reach * reach * speed / (4 * std::sqrt(2.0)));
        }
}

void coefficients::fill(int step, float* table) const {
    const double kelvin = temperature(step);
    std::array<float, std::size_t(compositions) * compositions> by_composition;
    for (int one = 0; one < compositions; ++one)
        for (int other = 0; other < compositions; ++other)
            by_composition[std::size_t(one * compositions + other)] = float(std::sqrt(kelvin / 3000) *
                                                                            sticking(one, other, kelvin));
    for (int size = 0; size < sizes; ++size)
        for (int one = 0; one < compositions; ++one)
            for (int other_size = 0; other_size < sizes; ++other_size) {
                const float geometry = m_geometry[std::size_t(size * sizes + other_size)];
                const float* row = &by_composition[std::size_t(one * compositions)];
                for (int other = 0; other < compositions; ++other) *table++ = geometry * row[other];
            }
}

std::vector<double> nucleated(int step) {
    // The vapour of the first metal condenses first.
    const double centre = 0.7 - 0.4 * (1 - std::exp(-step / 100.0));
    std::vector<double> made(compositions);
    double sum = 0;
    for (int composition = 0; composition < compositions; ++composition)
        sum += made[std::size_t(composition)] = std::exp(-50 * std::pow(share(composition) - centre, 2));
    for (double& each : made) each *= std::exp(-step / 200.0) / sum;
    return made;
}

metals volume_of(const std::vector<float>& population) {
    metals found{};
    for (int size = 0; size < sizes; ++size)
        for (int composition = 0; composition < compositions; ++composition) {
            const double all = volume(size) * population[std::size_t(size * compositions + composition)];
            found.first += share(composition) * all;
            found.second += (1 - share(composition)) * all;
        }
    return found;
}

std::vector<double> simulate_on_host(int steps) {
    const coefficients coefficients;
    const products products = products_of_collisions();
    std::vector<float> table(table_entries);
    std::vector<double> population(classes);
    for (int step = 0; step < steps; ++step) {
        coefficients.fill(step, table.data());
        const std::vector<double> born = nucleated(step);
        for (std::size_t composition = 0; composition < born.size(); ++composition)
            population[composition] += born[composition];
        std::vector<double> change(classes);
        for (std::size_t one = 0; one < classes; ++one)
            for (std::size_t other = 0; other < classes; ++other)
                change[one] -= table[one * classes + other] * population[one] * population[other];
        for (std::size_t target = 0; target < std::size_t(sizes); ++target)
            for (auto at = products.begin[target]; at < products.begin[target + 1]; ++at) {
                const product& product = products.all[std::size_t(at)];
                const double weight = volume(product.larger) / (volume(product.larger) + volume(product.smaller));
                for (int one = 0; one < compositions; ++one)
                    for (int other = 0; other < compositions; ++other) {
                        const std::size_t p = std::size_t(product.larger * compositions + one);
                        const std::size_t q = std::size_t(product.smaller * compositions + other);
                        const double made = product.weight * table[p * classes + q] * population[p] * population[q];
                        const double composition = weight * one + (1 - weight) * other;
                        const int below = std::min(int(composition), compositions - 2);
                        const std::size_t into = target * compositions + std::size_t(below);
                        change[into] += made * (1 - (composition - below));
                        change[into + 1] += made * (composition - below);
                    }
            }
        for (std::size_t each = 0; each < classes; ++each) population[each] += double(time_step) * change[each];
    }
    return population;
}

} // namespace nanopowder
