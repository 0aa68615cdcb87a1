// SPDX-License-Identifier: Apache-2.0
// Point-to-point messages as the transfer protocol needs them; MPI behind it, or a fake.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace causeway::comm {

inline constexpr int any_source = -1;
inline constexpr int no_rank = -1;

/// How the other end of messages was lost. What is out of reach may live, and bytes that it has sent may still come.
enum class loss { process_ended, out_of_reach };

/// The result of a message operation.
struct arrival {
    int source = no_rank;
    int tag = 0;
    std::size_t bytes = 0;
    bool cancelled = false;
    bool too_long = false; ///< an error: the message was longer than the receive, and its end is lost
    failure error;
};

/// Hears once, on the engine's thread, that an operation is over. Its owner keeps it alive until then.
class operation {
  public:
    virtual void over(const arrival& result) = 0;

  protected:
    ~operation() = default;
};

/// Engine's thread only. A space is a communicator that transfers use; both ends number its ranks alike.
class port {
  public:
    virtual ~port() = default;

    /// Messages between two ranks with one tag arrive in the order in which they were sent. At most 1 GiB each.
    virtual void send(int space, int destination, int tag, std::span<const std::byte> bytes, operation& done) = 0;
    /// `source` may be any_source. A longer message is an error.
    virtual void receive(int space, int source, int tag, std::span<std::byte> bytes, operation& done) = 0;
    /// Cancels a receive that no message has matched: it is over before the call returns. A receive that was matched
    /// ends as if this had not been called.
    virtual void cancel_receive(operation& done) = 0;
    /// Forgets a send to a rank that is gone; it will never be over.
    virtual void abandon(operation& done) = 0;

    /// Calls over() of operations that have ended. True if there was one.
    virtual bool poll() = 0;
    [[nodiscard]] virtual bool busy() const = 0;
    /// Operations under way.
    [[nodiscard]] virtual std::size_t requests() const { return 0; }

    /// Tags up to this one may be used.
    [[nodiscard]] virtual int largest_tag() const = 0;
    /// How many ranks `space` has to talk to, and which of them is the caller; no_rank if none is.
    [[nodiscard]] virtual int ranks(int space) const = 0;
    [[nodiscard]] virtual int own_rank(int space) const = 0;
    /// The rank in the job of a rank in a space, or no_rank.
    [[nodiscard]] virtual int job_rank(int space, int rank) const = 0;
    /// The library behind it and its version; empty if its figures should not be kept. Lives as long as the process.
    [[nodiscard]] virtual std::string_view library() const { return {}; }
};

} // namespace causeway::comm
