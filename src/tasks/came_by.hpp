// SPDX-License-Identifier: Apache-2.0
// How tasks reach workers, for records and timelines.
#pragma once

#include <array>
#include <cstdint>

namespace causeway::tasks {

/// From the worker's own deque, from its group's inbox, from another member of the group, from another group.
enum class came_by : std::uint8_t { own_queue, deal, steal, far_steal };

/// In records and timelines.
inline constexpr std::array<const char*, 4> came_by_words = {"own", "dealt", "stolen", "stolen-far"};

/// Stands for a worker where a thread was none.
inline constexpr std::uint32_t no_worker = ~0u;

} // namespace causeway::tasks
