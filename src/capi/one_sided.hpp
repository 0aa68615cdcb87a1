// SPDX-License-Identifier: Apache-2.0
// What the one-sided commands share.
#pragma once

#include "endpoints/symmetric/symmetric_endpoint.hpp"
#include "runtime/enqueue.hpp"
#include "runtime/guard.hpp"
#include "runtime/symmetric_heap.hpp"

#include <causeway/symmetric.h>

#include <cstddef>
#include <memory>
#include <optional>

namespace causeway::capi {

using namespace core;

/// The queue and heap that every one-sided command checks first.
struct checked_command {
    checked_queue queue;
    std::shared_ptr<symmetric_heap> heap;
};
[[nodiscard]] checked_command check_command(cl_command_queue queue);

[[nodiscard]] endpoints::heap_signal check_signal(const symmetric_heap& heap, const uint64_t* signal, uint64_t value,
                                                  cl_signal_operation operation);
[[nodiscard]] endpoints::awaited_word check_word(const symmetric_heap& heap, const void* word, size_t bytes,
                                                 cl_comparison how, uint64_t value);
[[nodiscard]] endpoints::heap_atomic check_atomic(const symmetric_heap& heap, cl_atomic_operation operation,
                                                  size_t word_bytes, const void* word, uint64_t operand,
                                                  uint64_t compared, int pe);

/// Call only with a wait list that has been checked.
[[nodiscard]] cl_int enqueue_flows(cl_command_type type, const checked_command& checked, symmetric_heap::flows flows,
                                   cl_bool blocking, const event_arguments& events);
[[nodiscard]] cl_int enqueue_flow(cl_command_type type, const checked_command& checked,
                                  std::unique_ptr<transfer::endpoint> source,
                                  std::unique_ptr<transfer::endpoint> target, size_t bytes, cl_bool blocking,
                                  const event_arguments& events);
/// A command without bytes. Checks the wait list.
[[nodiscard]] cl_int enqueue_wait(cl_command_type type, const checked_command& checked,
                                  std::unique_ptr<transfer::endpoint> source, const char* name, cl_bool blocking,
                                  const event_arguments& events);

/// Makes a collective call of `times` meetings, as guard() does. If it throws, nothing was enqueued: this PE then takes
/// part only to say why, as the others would wait for it, or take its next call for this one.
template <class Call> cl_int take_part(const char* name, int times, Call call) {
    return guard([&] {
        try {
            return call();
        } catch (...) {
            if (const auto heap = symmetric_heap::of_process_if_any())
                heap->refuse_collective(name, times, current_failure());
            throw;
        }
    });
}

inline constexpr endpoints::meeting_purpose barrier_purpose{.name = "a barrier", .number = 5};

} // namespace causeway::capi
