// SPDX-License-Identifier: Apache-2.0
// Another rank as an endpoint: the target of a send, the source of a receive.
#pragma once

#include "endpoints/mpi/messenger.hpp"
#include "transfer/endpoint.hpp"
#include "transfer/ordered_gate.hpp"

#include <atomic>
#include <memory>

namespace causeway::endpoints {

/// The services outlive the endpoint.
struct rank_services {
    messenger& messages;
    transfer::ordered_gate& turns;
};

/// Source and tag of the message that a receive matched. Set before its transfer completes; any thread reads.
struct matched_envelope {
    std::atomic<int> source{0}, tag{0};
};

/// Sends on one (space, rank, tag) take effect in the order of enqueue.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_send_endpoint(rank_services services, int space, int rank,
                                                                     int tag);

/// `source` and `tag` may be wildcards. `envelope` may be null.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_receive_endpoint(rank_services services, int space, int source,
                                                                        int tag,
                                                                        std::shared_ptr<matched_envelope> envelope);

/// A source without bytes that opens when an operation of the port is over; open() calls `begin` to start it.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_operation_endpoint(messenger& messages,
                                                                          std::function<void(comm::operation&)> begin);

} // namespace causeway::endpoints
