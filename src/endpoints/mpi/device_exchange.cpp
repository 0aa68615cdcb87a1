// SPDX-License-Identifier: Apache-2.0
// Offers, opens and retires windows of devices.
#include "endpoints/mpi/device_exchange.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

namespace causeway::endpoints {

using delivery = comm::node_post::delivery;

namespace {

constexpr unsigned messages_of_unlinked = 4;

} // namespace

void device_exchange::look() {
    if (!m_post || m_windows == nullptr || m_windows->bridge() == nullptr) return; // read once there are links here
    // One that reads nothing for long holds up nobody else.
    for (auto each = m_unsent.begin(); each != m_unsent.end();) {
        auto& [rank, notes] = *each;
        while (!notes.empty() && send(rank, notes.front()) != delivery::later) notes.pop_front();
        each = notes.empty() ? m_unsent.erase(each) : std::next(each);
    }
    while (auto taken = m_post->take()) {
        note got;
        if (taken->text.size() != sizeof got) continue; // nothing of ours
        std::memcpy(&got, taken->text.data(), sizeof got);
        take(taken->from, got, std::move(taken->enclosed));
    }
}

void device_exchange::take(int from, const note& what, descriptor shared) {
    const window_key where{from, what.key};
    const auto ours = m_ours.find(where);
    switch (what.about) {
    case subject::offer: {
        const auto why_not = open(from, what, std::move(shared));
        send_or_keep(from, {.about = why_not.empty() ? subject::opened : subject::refused, .key = what.key});
        if (!why_not.empty())
            m_windows->tell("messages to rank " + std::to_string(from) +
                            " of the job go without its device's windows: " + why_not);
        return;
    }
    case subject::opened:
        if (ours != m_ours.end()) ours->second.is = state::open;
        return;
    case subject::refused:
        if (ours != m_ours.end()) ours->second.is = state::refused;
        m_windows->tell("messages of rank " + std::to_string(from) +
                        " of the job come without this device's windows: it cannot open them, and says why");
        return;
    case subject::fills:
        if (ours == m_ours.end()) return;
        ours->second.fillers.insert(what.device);
        ours->second.is = state::open;
        return;
    case subject::retired: m_theirs.erase(where); return;
    }
}

std::string device_exchange::open(int owner, const note& offered, descriptor shared) {
    if (shared.get() < 0) return "its descriptor has not come";
    try {
        m_theirs[{owner, offered.key}] = {
            m_windows->open(offered.device, offered.key, std::move(shared), static_cast<std::size_t>(offered.bytes)),
            {}};
        return "";
    } catch (const std::exception& error) {
        m_theirs.erase({owner, offered.key});
        return error.what();
    }
}

delivery device_exchange::send(int rank, const note& what, int descriptor) const {
    return m_post->send(rank, std::as_bytes(std::span(&what, 1)), descriptor);
}

void device_exchange::send_or_keep(int rank, const note& what) {
    // Behind what it could not take before.
    if (m_unsent.count(rank) != 0 || send(rank, what) == delivery::later) m_unsent[rank].push_back(what);
}

bool device_exchange::may_fill(int rank) const {
    if (m_windows == nullptr || m_windows->bridge() == nullptr || m_fillers.count(rank) == 0) return false;
    bool is_useless = false;
    for (auto each = m_ours.lower_bound({rank, 0}); each != m_ours.end() && each->first.first == rank; ++each) {
        if (each->second.is == state::open) return true;
        is_useless |= each->second.is == state::refused || each->second.is == state::unlinked;
    }
    return !is_useless;
}

bool device_exchange::is_filled_by(int rank, const bridge::device_uuid& device, const std::byte* first) {
    const auto window = m_windows->at(first);
    if (!window) return false;
    const auto found = m_ours.find({rank, window->key()});
    if (found == m_ours.end() || found->second.is != state::open) return false;
    auto& given = found->second;
    if (given.fillers.count(device) != 0) return true;
    // Whoever has a link says so with the first message after it has opened the window.
    if (given.fillers.empty() && ++given.unfilled == messages_of_unlinked) {
        given.is = state::unlinked;
        m_windows->tell("messages of rank " + std::to_string(rank) +
                        " of the job come without this device's windows: "
                        "no direct link leads to it from the device they come from");
    }
    return false;
}

void device_exchange::offer(int rank, const std::byte* first) {
    const auto window = m_windows->at(first);
    if (!m_post || rank == m_own_rank || rank < 0 || !window || m_unreached.count(rank) != 0) return;
    if (m_ours.count({rank, window->key()}) != 0) return;
    const note what{.key = window->key(), .bytes = window->bytes(), .device = window->device()};
    try {
        const auto result = send(rank, what, window->shared().get());
        if (result == delivery::done) m_ours[{rank, window->key()}] = {window};
        if (result != delivery::never) return; // not taken now: the next message tries again
        m_unreached.insert(rank);
        m_windows->tell("messages of rank " + std::to_string(rank) +
                        " of the job come without this device's windows: "
                        "no socket of its is reached (another container?)");
    } catch (const transfer_error&) {
        // No descriptor to be had just now.
    }
}

void device_exchange::retire() {
    std::vector<window_key> gone;
    std::erase_if(m_ours, [&](const auto& each) {
        if (!each.second.window.expired()) return false;
        if (each.second.is != state::refused) gone.push_back(each.first);
        return true;
    });
    for (const auto& [rank, key] : gone) send_or_keep(rank, {.about = subject::retired, .key = key});
}

std::pair<std::uint64_t, std::size_t> device_exchange::address_of(const std::byte* block) const {
    const auto window = m_windows->at(block);
    return {window->key(), static_cast<std::size_t>(block - window->address())};
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

void device_exchange::show_filler(const bridge::device_uuid& device, int rank) {
    for (auto each = m_theirs.lower_bound({rank, 0}); each != m_theirs.end() && each->first.first == rank; ++each) {
        auto& [window, shown] = each->second;
        if (shown.count(device) != 0) continue;
        const bool is_reached = window->device() == device || m_windows->bridge()->reaches(device, window->device());
        if (!is_reached) continue;
        shown.insert(device);
        send_or_keep(rank, {.about = subject::fills, .key = each->first.second, .device = device});
    }
}

std::set<int> device_exchange::owners() const {
    std::set<int> ranks;
    for (const auto& [where, window] : m_theirs) ranks.insert(where.first);
    return ranks;
}

void device_exchange::forget(int rank) {
    m_fillers.erase(rank);
    m_unreached.erase(rank);
    std::erase_if(m_ours, [&](const auto& each) { return each.first.first == rank; });
    std::erase_if(m_theirs, [&](const auto& each) { return each.first.first == rank; });
    m_unsent.erase(rank);
}

} // namespace causeway::endpoints
