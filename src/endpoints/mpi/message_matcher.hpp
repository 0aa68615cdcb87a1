// SPDX-License-Identifier: Apache-2.0
// Matches announced messages with receives as MPI does: by source and tag, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

namespace causeway::endpoints {

inline constexpr int any_source = -1;
inline constexpr int any_tag = -1;

/// A message that a sender has announced, with its bytes if they came along.
struct message {
    int source = 0;
    int tag = 0;
    std::size_t bytes = 0;
    std::size_t block_bytes = 0;    ///< the sender's, if the bytes did not come along
    std::uint64_t sender = 0;       ///< number of the send at its source, likewise
    std::vector<std::byte> payload; ///< of an eager message
    bool eager = false;
};

/// A receive that waits for its message.
class receiver {
  public:
    virtual void matched(message&& found) = 0;

  protected:
    ~receiver() = default;
};

/// One for each communicator. A message goes to the first receive, in order of enqueue, that it fits. If that one is
/// still gated the message waits for it; a later receive that fits too does not get it.
class message_matcher {
  public:
    /// A receive was enqueued, gated.
    void enter(receiver& who, int source, int tag);
    /// The gate of a receive opened. It may be matched before the call returns.
    void open(receiver& who);
    /// The receive ends unmatched; its messages go to others.
    void leave(receiver& who);

    /// Messages of one source must come in the order in which they were sent.
    void arrived(message&& announced);
    /// The sender takes an announced message back. False if it is matched already.
    bool withdrawn(int source, std::uint64_t sender);

    [[nodiscard]] std::size_t waiting_messages() const { return m_messages.size(); }
    [[nodiscard]] std::size_t waiting_receives() const { return m_receives.size(); }

  private:
    struct entry {
        receiver* who;
        int source, tag;
        bool open;
    };

    [[nodiscard]] std::list<entry>::iterator first_fit(const message& which);
    void match_waiting();

    std::list<entry> m_receives;
    std::list<message> m_messages;
};

} // namespace causeway::endpoints
