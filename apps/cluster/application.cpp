// SPDX-License-Identifier: Apache-2.0
// Input and comparisons of the applications.
#include "cluster/application.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

namespace cluster {

float random_number(unsigned sequence, std::size_t index, float low, float high) {
    // The finaliser of SplitMix64, on a counter: any element without those before it.
    std::uint64_t bits = (std::uint64_t(sequence) << 48) + index + 1;
    bits *= 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    bits ^= bits >> 31;
    return low + (high - low) * float(bits >> 40) * 0x1p-24f;
}

std::vector<float> random_numbers(unsigned sequence, std::size_t count, float low, float high) {
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = random_number(sequence, i, low, high);
    return numbers;
}

void comparison::add(double computed, double expected, double tolerance) {
    ++m_count;
    const double difference = std::abs(computed - expected) / tolerance;
    // What is no number is worse than any number.
    if (difference <= m_worst) return;
    m_worst = std::isnan(difference) ? INFINITY : difference;
    m_computed = computed;
    m_expected = expected;
}

std::string comparison::verdict(const std::string& what) const {
    char text[256];
    std::snprintf(text, sizeof text, "%zu %s", m_count, what.c_str());
    if (m_worst <= 1) {
        std::string verdict = text;
        std::snprintf(text, sizeof text, "; the worst differs by %.2g of what rounding explains", m_worst);
        return verdict + text;
    }
    std::snprintf(text, sizeof text, "%s: %.9g computed, %.9g expected, %.3g times what rounding explains",
                  what.c_str(), m_computed, m_expected, m_worst);
    throw std::runtime_error(text);
}

} // namespace cluster
