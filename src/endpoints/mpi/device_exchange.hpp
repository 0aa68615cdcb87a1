// SPDX-License-Identifier: Apache-2.0
// Shares windows of devices between processes: which of ours others have open, and which of theirs we have open.
#pragma once

#include "bridge/windows.hpp"
#include "comm/node_post.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace causeway::endpoints {

/// Ranks are those of the job, on this node. One process offers a window; the other opens it and says which of its
/// devices can fill it. Messages that begin before that never change to the window. Notes about windows do not go
/// through MPI, because a window outlives the communicator that it was first used in. Engine's thread only.
class device_exchange {
  public:
    /// `windows` may be null: then there are none.
    explicit device_exchange(bridge::windows* windows) : m_windows(windows) {}

    /// From now on notes reach the others by `post`. This process is rank `own_rank`.
    void use(std::unique_ptr<comm::node_post> post, int own_rank) {
        m_post = std::move(post);
        m_own_rank = own_rank;
    }
    /// Keeps the key of the sockets of `rank`, which is on this node.
    void know(int rank, const comm::socket_key& key) {
        if (m_post && key) m_post->know(rank, key);
    }

    /// Takes the notes of others, and sends again those that they could not take before.
    void look();

    /// A message of `rank` comes from `device`, which can fill windows.
    void comes_from(int rank, const bridge::device_uuid& device) {
        m_fillers.insert(rank);
        if (m_windows != nullptr && rank != m_own_rank) m_windows->used_elsewhere(device);
    }
    /// Whether messages of `rank` may come through windows, as far as is known.
    [[nodiscard]] bool may_fill(int rank) const;

    /// A message has come from `device` of `rank`: whether that device fills our window that `first` lies in.
    [[nodiscard]] bool is_filled_by(int rank, const bridge::device_uuid& device, const std::byte* first);
    /// Offers that window to `rank`, unless that was done before.
    void offer(int rank, const std::byte* first);
    /// Tells others to close windows that are gone here.
    void retire();
    /// The key of our window that `block` lies in, and the block's offset there.
    [[nodiscard]] std::pair<std::uint64_t, std::size_t> address_of(const std::byte* block) const;

    /// A window of `rank` that is open here; null if it is not.
    [[nodiscard]] std::shared_ptr<bridge::known_window> find(int rank, std::uint64_t key) const;
    /// The first device with a window of `rank` open here for which `suits` is true.
    [[nodiscard]] std::optional<bridge::device_uuid>
    find_device(int rank, const std::function<bool(const bridge::device_uuid&)>& suits) const;
    /// Tells `rank` which of its windows our `device` can fill, each once.
    void show_filler(const bridge::device_uuid& device, int rank);

    /// The ranks whose windows this process has open.
    [[nodiscard]] std::set<int> owners() const;
    /// Whether others have windows of ours open, or we have theirs.
    [[nodiscard]] bool is_in_use() const { return !m_ours.empty() || !m_theirs.empty() || !m_unsent.empty(); }
    /// The process of `rank` is gone: forgets all windows shared with it.
    void forget(int rank);

  private:
    enum class state { offered, open, refused, unlinked };
    struct handed_out {
        std::weak_ptr<bridge::known_window> window;
        state is = state::offered;
        std::set<bridge::device_uuid> fillers; // devices of the other rank that can fill it
        unsigned unfilled = 0; // messages that found it open, but no device to fill it
    };
    struct opened {
        std::shared_ptr<bridge::known_window> window;
        std::set<bridge::device_uuid> shown; // our devices that can fill it, as its owner was told
    };
    using window_key = std::pair<int, std::uint64_t>; // rank and key

    /// What a note tells of a window, in the order of its life.
    enum class subject : std::uint32_t { offer, opened, refused, fills, retired };
    struct note {
        subject about = subject::offer;
        std::uint32_t unused = 0; // no padding: all bytes are sent
        std::uint64_t key = 0;
        std::uint64_t bytes = 0; // of an offer
        bridge::device_uuid device{}; // the window's; of `fills`, the one that does
    };

    void take(int from, const note& what, descriptor shared);
    /// Opens a window that `owner` offers. Returns why that failed; empty if it did not.
    [[nodiscard]] std::string open(int owner, const note& offered, descriptor shared);
    void send_or_keep(int rank, const note& what);
    [[nodiscard]] comm::node_post::delivery send(int rank, const note& what, int descriptor = -1) const;

    bridge::windows* m_windows;
    std::unique_ptr<comm::node_post> m_post;
    int m_own_rank = -1;
    std::set<int> m_fillers, m_unreached;
    std::map<window_key, handed_out> m_ours;
    std::map<window_key, opened> m_theirs;
    std::map<int, std::deque<note>> m_unsent; // by rank; none of them is empty
};

} // namespace causeway::endpoints
