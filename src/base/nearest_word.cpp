// SPDX-License-Identifier: Apache-2.0
// Edit distance.
#include "base/nearest_word.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace causeway {

namespace {

/// Insertions, deletions, changes, and neighbours that changed places.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last, last(b.size() + 1), now(b.size() + 1);
    std::iota(last.begin(), last.end(), 0U);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = std::min(now[j], before_last[j - 2] + 1);
        }
        before_last = std::exchange(last, now);
    }
    return last.back();
}

} // namespace

std::string nearest_word(std::string_view wrong, std::span<const std::string> known) {
    std::string best;
    std::size_t least = std::max<std::size_t>(wrong.size() / 2, 1) + 1;
    for (const auto& each : known)
        if (const auto found = distance(wrong, each); found < least) {
            least = found;
            best = each;
        }
    return best;
}

} // namespace causeway
