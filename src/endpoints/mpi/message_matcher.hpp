// SPDX-License-Identifier: Apache-2.0
// Matches announced messages with receives as MPI does: by source and tag, in order.
#pragma once

#include "bridge/device_bridge.hpp"
#include "comm/port.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace causeway::endpoints {

using comm::any_source;
inline constexpr int any_tag = -1;

/// A message that a sender has announced, with its bytes if they came along.
struct message {
    int source = 0;
    int tag = 0; ///< not any_tag
    std::size_t bytes = 0;
    std::size_t block_bytes = 0;    ///< the sender's choice, if not eager
    std::uint64_t sender = 0;       ///< number of the send at its source, if not eager
    bool window = false;            ///< the sender can fill memory of this process, if not eager
    bool has_device = false;        ///< the sender is a device, `device`
    bool device_window = false;     ///< that device is going to fill windows that it has open
    bridge::device_uuid device{};   ///< the sender's
    std::vector<std::byte> payload; ///< of an eager message
    bool eager = false;
    const char* fault = nullptr;    ///< what is wrong with its header: the receive that it matches fails
    std::uint64_t arrival = 0;      ///< position among all messages; set by the matcher
};

/// A receive that waits for its message.
class receiver {
  public:
    virtual void matched(message&& found) = 0;
    /// The sender withdraws the message that a gated receive has matched early. False if it is too late.
    virtual bool withdrawn() { return false; }

  protected:
    ~receiver() = default;
};

/// Finds waiting messages by source and tag, wildcards included.
class message_index {
  public:
    explicit message_index(std::pmr::memory_resource& pool) : m_keys(&pool) {}
    void insert(const message& which);
    void erase(const message& which);
    /// The arrival of the oldest message from `source` with `tag`. Both may be wildcards; any_tag does not match the
    /// library's own tags, below 0.
    [[nodiscard]] std::optional<std::uint64_t> oldest(int source, int tag) const;
    /// The first source from `first` on that has messages.
    [[nodiscard]] std::optional<int> source_from(int first) const;

  private:
    using key = std::tuple<int, int, std::uint64_t>; // source or any_source, tag or any_tag, arrival
    template <class Do> static void for_keys(const message& of, Do&& act);
    std::pmr::set<key> m_keys;
};

/// One for each communicator. A message goes to the first receive, in order of enqueue, that it fits. A receive is
/// gated until its transfer may start. If the first one that fits is gated, the message waits for it. A later receive
/// that fits this message gets neither it nor a later one of the same source. A gated receive may take its message
/// early, but keeps its turn until its gate opens: if it ends before that, the message goes to the next receive that
/// fits.
///
/// Each call looks only at receives and messages that may match because of it, found by source and tag. Engine's thread
/// only.
class message_matcher {
  public:
    /// A receive was enqueued, gated.
    void enter(receiver& who, int source, int tag);
    /// A gated receive takes its message early. It may be matched before the call returns.
    void open_early(receiver& who);
    /// The gate of a receive opened. It may be matched before the call returns, if it is not yet.
    void open(receiver& who);
    /// A receive that was matched early ends without `found`, which keeps its position and may match others.
    void put_back(receiver& who, message&& found);
    /// The receive ends unmatched; its messages go to others.
    void leave(receiver& who);

    /// Messages of one source must come in the order in which they were sent.
    void arrived(message&& announced);
    /// The sender withdraws an announced message. False if it is matched already.
    bool withdrawn(int source, std::uint64_t sender);

    /// Drops announced messages of ranks other than `own`, whose bytes will never come.
    void forget_announced(int own);

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
    using entries = std::pmr::map<std::uint64_t, entry>; // in order of enqueue
    using messages = std::pmr::map<std::uint64_t, message>; // in order of arrival

    /// A change after which receives and messages may match: a message went, a receive went, or a receive opened.
    struct change {
        enum class of { message, receive, opening } what;
        int source, tag;
        std::uint64_t position; // of the receive
    };

    [[nodiscard]] entries::iterator entry_of(const receiver& who);
    [[nodiscard]] entries::iterator first_fit(const message& which);
    /// Whether an older message of the same source that `to` fits as well waits for another receive.
    [[nodiscard]] bool would_overtake(const message& which, const entry& to) const;
    [[nodiscard]] bool can_have(entries::iterator fit, const message& which) const;
    void give(entries::iterator fit, message&& found);
    void keep(message&& waiting);
    [[nodiscard]] message take(messages::iterator waiting);
    void remove(entries::iterator receive);
    /// Forgets the message that `receive` has matched early.
    void drop_early(entry& receive);

    /// Follows up m_changes. A receiver that is matched may call this matcher; the outermost call follows that up, too.
    void settle();
    void follow(const change& up);
    /// Gives the message with that arrival to its receive, if that may have it now; with `only_to`, only to that one.
    bool try_message(std::optional<std::uint64_t> arrival, std::optional<std::uint64_t> only_to = {});
    void try_receive(entries::iterator receive);
    void try_behind(const change& gone);

    std::pmr::unsynchronized_pool_resource m_pool;
    entries m_receives{&m_pool};
    std::pmr::set<std::tuple<int, int, std::uint64_t>> m_patterns{&m_pool}; // source, tag, position in m_receives
    std::pmr::map<const receiver*, std::uint64_t> m_position_of{&m_pool}; // in m_receives
    std::uint64_t m_entered = 0;
    messages m_messages{&m_pool};
    message_index m_waiting{m_pool}, m_early{m_pool};
    // Announced messages, waiting or matched early: from source, number of the send and arrival to the position of the
    // receive, or 0.
    std::pmr::map<std::tuple<int, std::uint64_t, std::uint64_t>, std::uint64_t> m_announced{&m_pool};
    std::uint64_t m_arrivals = 0;
    std::vector<change> m_changes;
    bool m_is_settling = false;
};

} // namespace causeway::endpoints
