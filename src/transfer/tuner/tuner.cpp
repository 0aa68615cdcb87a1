// SPDX-License-Identifier: Apache-2.0
// Keeps the models of all stages, and shows corrections to those who plan once they matter.
#include "transfer/tuner/tuner.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace causeway::transfer {

namespace {

/// A plan is chosen anew when a figure it rests on has moved this far: choosing costs more than planning.
constexpr double matters = 1.08;
/// Samples of a stage that nobody has measured, before it gets a model.
constexpr std::size_t first_samples = 8;

bool differ(double one, double other) { return std::max(one, other) > matters * std::min(one, other); }

bool differ(const stage_model& one, const stage_model& other) {
    for (std::size_t i = 0; i < stage_model::points; ++i)
        if (differ(one.seconds_at[i], other.seconds_at[i])) return true;
    return differ(one.share(64e3), other.share(64e3)) || differ(one.share(4e6), other.share(4e6));
}

} // namespace

std::int64_t seconds_since_1970() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(since).count();
}

bool is_younger(const known_stage& one, const known_stage& other) {
    return std::pair(one.measured, one.seen) > std::pair(other.measured, other.seen);
}

std::optional<stage_model> tuner::find(std::string_view resource, operation what) const {
    const std::lock_guard lock(m_mutex);
    const auto found = m_stages.find(std::pair(resource, what));
    if (found == m_stages.end() || !found->second.is_published) return {};
    return found->second.published;
}

void tuner::publish(entry& which) {
    if (which.is_published && !differ(which.model, which.published)) return;
    which.published = which.model;
    which.is_published = true;
    m_version.fetch_add(1, std::memory_order_release);
}

void tuner::measured(std::string_view resource, operation what, const stage_model& model) {
    if (resource.empty()) return; // nobody would find it again
    const std::lock_guard lock(m_mutex);
    auto& entry = m_stages[{std::string(resource), what}];
    entry.model = model;
    entry.measured = entry.seen = today();
    entry.first.clear();
    m_changed = true;
    publish(entry);
}

void tuner::learn(std::string_view resource, operation what, const stage_sample& seen) {
    const std::lock_guard lock(m_mutex);
    auto found = m_stages.find(std::pair(resource, what));
    if (found == m_stages.end()) found = m_stages.emplace(key(resource, what), entry{}).first;
    auto& entry = found->second;
    if (entry.is_published) {
        correct(entry.model, seen);
    } else {
        entry.first.push_back(seen);
        std::size_t alone = 0;
        double least = std::numeric_limits<double>::max(), most = 0;
        for (const auto& each : entry.first) {
            if (each.company > 1) continue;
            ++alone;
            least = std::min(least, each.bytes);
            most = std::max(most, each.bytes);
        }
        // One size does not tell latency from bandwidth.
        const bool shows_line = alone >= first_samples && least * 8 <= most;
        if (!shows_line) {
            if (entry.first.size() >= 4 * first_samples) entry.first.erase(entry.first.begin());
            return;
        }
        entry.model = fit(what, entry.first);
        entry.first.clear();
    }
    entry.seen = today();
    m_changed = true;
    publish(entry);
}

void tuner::restore(const std::vector<known_stage>& kept) {
    const std::lock_guard lock(m_mutex);
    for (const auto& each : kept) {
        auto& entry = m_stages[{each.resource, each.what}];
        if (entry.is_published && !is_younger(each, {.seen = entry.seen, .measured = entry.measured})) continue;
        entry.model = each.model;
        entry.measured = each.measured;
        entry.seen = each.seen;
        entry.first.clear();
        publish(entry);
    }
}

std::vector<known_stage> tuner::all() const {
    std::vector<known_stage> found;
    const std::lock_guard lock(m_mutex);
    for (const auto& [key, entry] : m_stages)
        if (entry.is_published) found.push_back({key.first, key.second, entry.model, entry.seen, entry.measured});
    return found;
}

void tuner::clear() {
    const std::lock_guard lock(m_mutex);
    m_stages.clear();
    m_changed = false;
    m_version.fetch_add(1, std::memory_order_release);
}

bool tuner::take_changed() {
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_changed, false);
}

} // namespace causeway::transfer
