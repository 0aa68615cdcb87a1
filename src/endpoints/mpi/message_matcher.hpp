// SPDX-License-Identifier: Apache-2.0
// Matches announced messages with receives as MPI does: by source and tag, in order.
#pragma once

#include "bridge/device_bridge.hpp"
#include "comm/port.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <memory_resource>
#include <vector>

namespace causeway::endpoints {

using comm::any_source;
inline constexpr int any_tag = -1;

/// A message that a sender has announced, with its bytes if they came along.
struct message {
    int source = 0;
    int tag = 0;
    std::size_t bytes = 0;
    std::size_t block_bytes = 0;    ///< the sender's, if the bytes did not come along
    std::uint64_t sender = 0;       ///< number of the send at its source, likewise
    bool window = false;            ///< the sender can fill memory of this process, likewise
    bool has_device = false;        ///< it comes from `device`,
    bool device_window = false;     ///< its device will fill windows that it has open, likewise,
    bridge::device_uuid device{};   ///< if they are this device's
    std::vector<std::byte> payload; ///< of an eager message
    bool eager = false;
    std::uint64_t arrival = 0;      ///< place among all messages; the matcher's
};

/// A receive that waits for its message.
class receiver {
  public:
    virtual void matched(message&& found) = 0;
    /// The sender takes back the message that a gated receive has matched. False if it is too late for that.
    virtual bool withdrawn() { return false; }

  protected:
    ~receiver() = default;
};

/// One for each communicator. A message goes to the first receive, in order of enqueue, that it fits. If that one is
/// still gated the message waits for it; a later receive that fits too gets neither it nor a later message of the same
/// source. A gated receive may have its message early; until its gate opens it keeps its place, so that the message can
/// still go to the next one.
class message_matcher {
  public:
    /// A receive was enqueued, gated.
    void enter(receiver& who, int source, int tag);
    /// A gated receive takes its message early. It may be matched before the call returns.
    void open_early(receiver& who);
    /// The gate of a receive opened. It may be matched before the call returns, if it is not yet.
    void open(receiver& who);
    /// A receive that was matched early ends; its message goes to others, as if it had stayed where it was.
    void put_back(receiver& who, message&& found);
    /// The receive ends unmatched; its messages go to others.
    void leave(receiver& who);

    /// Messages of one source must come in the order in which they were sent.
    void arrived(message&& announced);
    /// The sender takes an announced message back. False if it is matched already.
    bool withdrawn(int source, std::uint64_t sender);

    /// Announced messages of other ranks than `own` are never answered.
    void forget_announced(int own) {
        std::erase_if(m_messages, [&](const message& each) { return !each.eager && each.source != own; });
    }

    [[nodiscard]] std::size_t waiting_messages() const { return m_messages.size(); }
    [[nodiscard]] std::size_t waiting_receives() const { return m_receives.size(); }

  private:
    enum class state { gated, early, matched_early, open };
    struct entry {
        receiver* who;
        int source, tag;
        state now;
        message early = {}; // what was matched early, without its bytes
    };
    using entries = std::pmr::list<entry>;

    [[nodiscard]] static bool fits(const message& which, const entry& to);
    [[nodiscard]] entries::iterator entry_of(const receiver& who);
    [[nodiscard]] entries::iterator first_fit(const message& which);
    /// Whether an older message of the same source that `to` fits as well waits for another receive.
    [[nodiscard]] bool would_overtake(const message& which, const entry& to) const;
    [[nodiscard]] bool can_have(entries::iterator fit, const message& which) const;
    void give(entries::iterator fit, message&& found);
    void match_waiting();

    std::pmr::unsynchronized_pool_resource m_places; // of the receives
    entries m_receives{&m_places};
    std::list<message> m_messages;
    std::uint64_t m_arrivals = 0;
};

} // namespace causeway::endpoints
