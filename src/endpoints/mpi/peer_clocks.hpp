// SPDX-License-Identifier: Apache-2.0
// Estimates how the clocks of other ranks differ from ours, from the headers of the protocol: sends nothing itself.
#pragma once

#include "transfer/recorder.hpp"

#include <cstdint>
#include <map>

namespace causeway::endpoints {

/// Every header carries its time of sending and the least time that a header took the other way. The quickest header of
/// each direction bounds the clocks' difference from one side; the error is at most half the interval. Clocks drift, so
/// an estimate covers a few seconds. Times are in nanoseconds. Engine's thread only.
class peer_clocks {
  public:
    explicit peer_clocks(transfer::recorder& to) : m_to(to) {}

    [[nodiscard]] std::int64_t now() const;
    /// The value for wire_header::least_transit to that rank; 0 if nothing came from it lately.
    [[nodiscard]] std::int64_t least_transit(int job_rank) const;
    /// A header of a rank has come.
    void add(int job_rank, std::int64_t sent_at, std::int64_t least_transit);

  private:
    /// Nanoseconds of the quickest header from and to a rank: arrival by one clock minus sending by the other.
    struct estimate {
        std::int64_t from = 0, to = 0; ///< 0: none yet
        std::int64_t begun = 0;
    };
    [[nodiscard]] static bool holds(const estimate& known, std::int64_t now);

    transfer::recorder& m_to;
    std::map<int, estimate> m_peers; // by rank of the job
};

} // namespace causeway::endpoints
