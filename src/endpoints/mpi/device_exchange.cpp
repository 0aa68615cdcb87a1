// SPDX-License-Identifier: Apache-2.0
// Hands out and opens windows of devices.
#include "endpoints/mpi/device_exchange.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace causeway::endpoints {

bool device_exchange::may_fill(int rank) const {
    if (m_windows == nullptr || m_windows->bridge() == nullptr || m_fillers.count(rank) == 0) return false;
    bool is_refused = false;
    for (auto each = m_ours.lower_bound({rank, 0}); each != m_ours.end() && each->first.first == rank; ++each) {
        if (each->second.is == state::open) return true;
        is_refused |= each->second.is == state::refused;
    }
    return !is_refused;
}

const device_exchange::handed_out* device_exchange::ours(int rank, const std::byte* first) const {
    const auto window = m_windows->at(first);
    if (!window) return nullptr;
    const auto found = m_ours.find({rank, window->key()});
    return found != m_ours.end() ? &found->second : nullptr;
}

bool device_exchange::is_open(int rank, const std::byte* first) const {
    const auto* const known = ours(rank, first);
    return known != nullptr && known->is == state::open;
}

std::optional<device_exchange::offer> device_exchange::hand_out(int rank, const std::byte* first) {
    if (!m_post || ours(rank, first) != nullptr) return {};
    const auto window = m_windows->at(first);
    if (!window || !m_post->send(rank, window->key(), window->shared().get())) return {};
    m_ours[{rank, window->key()}] = {window};
    return offer{window->key(), window->bytes(), window->device()};
}

void device_exchange::answered(int rank, std::uint64_t key, bool is_open) {
    const auto found = m_ours.find({rank, key});
    if (found != m_ours.end()) found->second.is = is_open ? state::open : state::refused;
}

void device_exchange::filled_by(int rank, std::uint64_t key, const bridge::device_uuid& device) {
    const auto found = m_ours.find({rank, key});
    if (found != m_ours.end()) found->second.fillers.insert(device);
}

bool device_exchange::is_filled_by(int rank, const bridge::device_uuid& device, const std::byte* first) const {
    const auto* const known = ours(rank, first);
    return known != nullptr && known->is == state::open && known->fillers.count(device) != 0;
}

std::vector<std::pair<int, std::uint64_t>> device_exchange::retired() {
    std::vector<place> gone;
    std::erase_if(m_ours, [&](const auto& each) {
        if (!each.second.window.expired()) return false;
        if (each.second.is != state::refused) gone.push_back(each.first);
        return true;
    });
    return gone;
}

std::pair<std::uint64_t, std::size_t> device_exchange::address_of(const std::byte* block) const {
    const auto window = m_windows->at(block);
    return {window->key(), static_cast<std::size_t>(block - window->address())};
}

std::string device_exchange::open(int rank, const offer& window) {
    if (!m_post || m_windows == nullptr || m_windows->bridge() == nullptr) return "there are no direct links here";
    bridge::descriptor shared(m_post->take(window.key));
    if (shared.get() < 0) return "its descriptor has not come";
    try {
        m_theirs[{rank, window.key}] = {
            m_windows->open(window.device, window.key, std::move(shared), static_cast<std::size_t>(window.bytes)), {}};
        return "";
    } catch (const transfer_error& error) {
        m_theirs.erase({rank, window.key});
        return error.what();
    }
}

std::shared_ptr<bridge::known_window> device_exchange::find(int rank, std::uint64_t key) const {
    const auto found = m_theirs.find({rank, key});
    return found != m_theirs.end() ? found->second.window : nullptr;
}

std::optional<bridge::device_uuid>
device_exchange::find_device(int rank, const std::function<bool(const bridge::device_uuid&)>& suits) const {
    for (auto each = m_theirs.lower_bound({rank, 0}); each != m_theirs.end() && each->first.first == rank; ++each)
        if (const auto& device = each->second.window->device(); suits(device)) return device;
    return {};
}

std::vector<std::uint64_t> device_exchange::newly_filled_by(const bridge::device_uuid& device, int rank) {
    std::vector<std::uint64_t> found;
    for (auto each = m_theirs.lower_bound({rank, 0}); each != m_theirs.end() && each->first.first == rank; ++each) {
        auto& [window, shown] = each->second;
        const bool is_reached = window->device() == device || m_windows->bridge()->reaches(device, window->device());
        if (is_reached && shown.insert(device).second) found.push_back(each->first.second);
    }
    return found;
}

std::set<int> device_exchange::owners() const {
    std::set<int> ranks;
    for (const auto& [where, window] : m_theirs) ranks.insert(where.first);
    return ranks;
}

void device_exchange::forget(int rank) {
    m_fillers.erase(rank);
    std::erase_if(m_ours, [&](const auto& each) { return each.first.first == rank; });
    std::erase_if(m_theirs, [&](const auto& each) { return each.first.first == rank; });
}

} // namespace causeway::endpoints
