// SPDX-License-Identifier: Apache-2.0
// Puts records behind one another.
#include "trace/part_recorder.hpp"

#include <algorithm>
#include <cstring>

namespace causeway::trace {

namespace {

/// Texts that are remembered; messages of failures may all differ.
constexpr std::size_t most_texts = 1000, longest_text = 4000;

std::int64_t nanoseconds(time_point when) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
}

} // namespace

void part_recorder::put(record::kind what, const void* first, std::size_t first_bytes, const void* rest,
                        std::size_t rest_bytes) {
    const auto bytes = (first_bytes + rest_bytes + 7) / 8 * 8;
    const auto needed = sizeof(record::head) + bytes;
    if (m_chunk == nullptr || m_used + needed > record::chunk_bytes) {
        if (m_full) return;
        part::give_back(std::exchange(m_chunk, nullptr));
        m_chunk = m_part.take_chunk(m_number);
        m_full = m_chunk == nullptr;
        if (m_full) return;
        m_used = sizeof(record::chunk_header);
    }
    auto* const target = m_chunk + m_used;
    std::memcpy(target + sizeof(record::head), first, first_bytes);
    if (rest_bytes != 0) std::memcpy(target + sizeof(record::head) + first_bytes, rest, rest_bytes);
    const record::head head{static_cast<std::uint32_t>(bytes), what};
    std::uint64_t word = 0;
    std::memcpy(&word, &head, sizeof word);
    // Whoever reads the file while this process writes it, or after it was killed, sees whole records only.
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(target), word, __ATOMIC_RELEASE);
    m_used += needed;
}

template <class Record> void part_recorder::put(record::kind what, const Record& value) {
    put(what, &value, sizeof value, nullptr, 0);
}

std::uint32_t part_recorder::tell(std::string_view text) {
    text = text.substr(0, longest_text);
    const record::text told{++m_last_text, static_cast<std::uint32_t>(text.size())};
    put(record::kind::text, &told, sizeof told, text.data(), text.size());
    return told.number;
}

std::uint32_t part_recorder::number_of(std::string_view text) {
    if (text.empty()) return 0;
    const auto found = m_texts.find(text);
    if (found != m_texts.end()) return found->second;
    const auto number = tell(text);
    try {
        if (m_texts.size() < most_texts) m_texts.emplace(text, number);
    } catch (const std::bad_alloc&) { // then it is told again
        return number;
    }
    return number;
}

std::uint32_t part_recorder::number_of_resource(std::string_view resource) {
    if (resource.empty()) return 0;
    auto& known = m_resources[(reinterpret_cast<std::uintptr_t>(resource.data()) >> 5) % m_resources.size()];
    if (known.first != resource.data()) known = {resource.data(), number_of(resource)};
    return known.number;
}

void part_recorder::block_over(const transfer::block_span& what) {
    put(record::kind::block, record::block{.transfer = what.transfer,
                                           .offset = what.offset,
                                           .bytes = what.bytes,
                                           .begin = nanoseconds(what.begin),
                                           .end = nanoseconds(what.end),
                                           .resource = number_of_resource(what.resource),
                                           .flow = static_cast<std::uint16_t>(what.flow),
                                           .what = static_cast<std::uint8_t>(what.what),
                                           .failed = static_cast<std::uint8_t>(what.failed)});
}

void part_recorder::transfer_over(const transfer::transfer_span& what) {
    put(record::kind::transfer, record::transfer{.transfer = what.transfer,
                                                 .bytes = what.bytes,
                                                 .moved = what.moved,
                                                 .block_bytes = what.chosen.block_bytes,
                                                 .message = what.message.number,
                                                 .queued = nanoseconds(what.queued),
                                                 .submitted = nanoseconds(what.submitted),
                                                 .started = nanoseconds(what.started),
                                                 .ended = nanoseconds(what.ended),
                                                 .expected_seconds = what.expected_seconds.value_or(0),
                                                 .limit_seconds = what.limit_seconds.value_or(0),
                                                 .source = number_of(what.source),
                                                 .target = number_of(what.target),
                                                 .strategy = number_of(what.chosen.strategy),
                                                 .error = what.error          ? tell(what.error.message)
                                                          : what.is_pending() ? number_of(what.partner)
                                                                              : 0,
                                                 .depth = what.chosen.depth,
                                                 .io_threads = what.chosen.io_threads,
                                                 .status = what.error.status,
                                                 .message_rank = what.message.job_rank,
                                                 .flow = what.flow,
                                                 .reason = static_cast<std::uint32_t>(what.chosen.why)});
}

void part_recorder::put_command(record::kind kind, std::uint64_t transfer, const transfer::command_span& what) {
    put(kind, record::command{.number = what.number,
                              .queue = what.queue,
                              .transfer = transfer,
                              .queued = what.queued,
                              .submitted = what.submitted,
                              .started = what.started,
                              .ended = what.ended,
                              .seen = nanoseconds(what.seen),
                              .resource = number_of_resource(what.resource),
                              .name = number_of(what.name)});
}

void part_recorder::call_over(const host_call& what) {
    put(record::kind::call, record::call{.begin = what.begin,
                                         .end = what.end,
                                         .bytes = what.bytes,
                                         .kind = number_of(what.kind),
                                         .name = number_of(what.name)});
}

void part_recorder::command_over(const transfer::command_span& what) { put_command(record::kind::command, 0, what); }

void part_recorder::waited_for(std::uint64_t transfer, const transfer::command_span& what) {
    put_command(record::kind::wait_for_command, transfer, what);
}

void part_recorder::waited_for(std::uint64_t transfer, std::uint64_t other) {
    put(record::kind::wait_for_transfer, record::wait{transfer, other});
}

void part_recorder::command_waits(std::uint64_t number, std::uint64_t transfer) {
    put(record::kind::command_wait, record::command_wait{number, transfer});
}

void part_recorder::firing_over(const transfer::firing_span& what) {
    put(record::kind::firing, record::firing{.number = what.number,
                                             .started = what.started,
                                             .ended = what.ended,
                                             .graph = number_of(what.graph),
                                             .actor = number_of(what.actor),
                                             .resource = number_of(what.resource)});
}

void part_recorder::clock_seen(const transfer::clock_sample& what) {
    put(record::kind::clock, record::clock{.device = what.device,
                                           .before = nanoseconds(what.before),
                                           .after = nanoseconds(what.after),
                                           .resource = number_of(what.resource)});
}

void part_recorder::peer_seen(const transfer::peer_clock& what) {
    put(record::kind::peer,
        record::peer{.least = what.least, .most = what.most, .when = nanoseconds(what.when), .rank = what.job_rank});
}

void part_recorder::level_is(transfer::level what, std::uint64_t value) {
    put(record::kind::level,
        record::level{.value = value, .when = nanoseconds(now()), .what = static_cast<std::uint32_t>(what)});
}

} // namespace causeway::trace
