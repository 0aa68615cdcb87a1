// SPDX-License-Identifier: Apache-2.0
// Windows of devices between processes: which of ours others have open, and which of theirs we have.
#pragma once

#include "bridge/windows.hpp"
#include "comm/descriptor_post.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace causeway::endpoints {

/// Ranks are those of the job, and of this node. Before the first block goes into a window of another process, that one has
/// offered it and this one has opened it; until then messages take other ways. So nothing has to be undone under way.
/// Engine's thread only.
class device_exchange {
  public:
    /// A window that is told of.
    struct offer {
        std::uint64_t key = 0, bytes = 0;
        bridge::device_uuid device{};
    };

    /// `windows` may be null: then there are none.
    explicit device_exchange(bridge::windows* windows) : m_windows(windows) {}

    /// From now on descriptors can be handed out.
    void use(std::unique_ptr<comm::descriptor_post> post) { m_post = std::move(post); }

    /// `rank` has said that its device can fill windows.
    void can_fill(int rank) { m_fillers.insert(rank); }
    /// Whether messages of `rank` may come through windows, as far as is known.
    [[nodiscard]] bool may_fill(int rank) const;

    /// Of our window that `first` lies in: whether `rank` has it open.
    [[nodiscard]] bool is_open(int rank, const std::byte* first) const;
    /// Hands that window to `rank`, once: what to tell it, if there is anything to tell.
    [[nodiscard]] std::optional<offer> hand_out(int rank, const std::byte* first);
    /// The answer.
    void answered(int rank, std::uint64_t key, bool is_open);
    /// `device` of `rank`, which has our window open, reaches it.
    void filled_by(int rank, std::uint64_t key, const bridge::device_uuid& device);
    /// Of our window that `first` lies in: whether `rank` has said so.
    [[nodiscard]] bool is_filled_by(int rank, const bridge::device_uuid& device, const std::byte* first) const;
    /// Our windows that are gone, with those who have them open.
    [[nodiscard]] std::vector<std::pair<int, std::uint64_t>> retired();

    /// Our window and the place in it of a block.
    [[nodiscard]] std::pair<std::uint64_t, std::size_t> address_of(const std::byte* block) const;

    /// Opens what `rank` offers; empty, or why that did not go well.
    [[nodiscard]] std::string open(int rank, const offer& window);
    /// A window of `rank` that is open here; null if it is not.
    [[nodiscard]] std::shared_ptr<bridge::known_window> find(int rank, std::uint64_t key) const;
    /// The first device that has such windows and `suits`.
    [[nodiscard]] std::optional<bridge::device_uuid>
    find_device(int rank, const std::function<bool(const bridge::device_uuid&)>& suits) const;
    /// Such windows that our `device` reaches, each told once.
    [[nodiscard]] std::vector<std::uint64_t> newly_filled_by(const bridge::device_uuid& device, int rank);
    /// The ranks of which windows are open here.
    [[nodiscard]] std::set<int> owners() const;
    /// `rank` says that its window is gone.
    void close(int rank, std::uint64_t key) { m_theirs.erase({rank, key}); }

    /// The process is gone.
    void forget(int rank);

  private:
    enum class state { offered, open, refused };
    struct handed_out {
        std::weak_ptr<bridge::known_window> window;
        state is = state::offered;
        std::set<bridge::device_uuid> fillers; // devices of the rank that has it open
    };
    struct opened {
        std::shared_ptr<bridge::known_window> window;
        std::set<bridge::device_uuid> shown; // our devices that its rank knows to reach it
    };
    using place = std::pair<int, std::uint64_t>; // rank and key
    [[nodiscard]] const handed_out* ours(int rank, const std::byte* first) const;

    bridge::windows* m_windows;
    std::unique_ptr<comm::descriptor_post> m_post;
    std::set<int> m_fillers;
    std::map<place, handed_out> m_ours;
    std::map<place, opened> m_theirs;
};

} // namespace causeway::endpoints
