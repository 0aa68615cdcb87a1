// SPDX-License-Identifier: Apache-2.0
// Queries answered by the driver of another rank.
#pragma once

#include "platform/cluster.hpp"

#include <string>

namespace causeway::platform {

/// Rank `root` calls `ask(size, value, size_ret)`, and every rank of `job` returns its result. Collective. If `job`
/// asks no other ranks, this rank calls `ask` itself.
template <class Ask> cl_int answer_of(const cluster& job, int root, const answer& to, Ask ask) {
    if (!job.asks_ranks()) return to.from(ask);
    struct {
        cl_int code = CL_SUCCESS;
        size_t size = 0;
    } found;
    std::string bytes;
    if (root == job.rank()) {
        found.code = guard([&]() -> cl_int {
            check(ask(size_t{0}, static_cast<void*>(nullptr), &found.size));
            if (found.size == 0) return CL_SUCCESS;
            bytes.resize(found.size);
            return ask(found.size, static_cast<void*>(bytes.data()), static_cast<size_t*>(nullptr));
        });
    }
    found = job.from(root, found);
    if (found.code != CL_SUCCESS) return found.code;
    bytes.resize(found.size);
    if (found.size != 0) job.calls().broadcast(root, bytes.data(), bytes.size());
    return to.bytes(bytes.data(), bytes.size());
}

} // namespace causeway::platform
