// SPDX-License-Identifier: Apache-2.0
// Functions that libcauseway calls in the platform of a cluster, through cluster_calls, where they are documented.
#pragma once

#include "base/cluster_calls.hpp"

namespace causeway::platform {

[[nodiscard]] bool owns_queue(void* queue);
[[nodiscard]] bool owns_event(void* event);
[[nodiscard]] int enqueue_transfer(const cluster_transfer& given);
[[nodiscard]] int copy_between_queues(const cluster_copy& given);
void when_over_here(void* event, std::function<void(void* driver_event)> act);
[[nodiscard]] int transfer_info(void* handle, const std::function<int(void*, std::size_t, void*, std::size_t*)>& ask,
                                std::size_t size, void* value, std::size_t* size_ret);

} // namespace causeway::platform
