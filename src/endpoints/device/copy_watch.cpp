// SPDX-License-Identifier: Apache-2.0
// Polls the events of copies under way: cheaper and faster than a callback while they are few and short.
#include "endpoints/device/copy_watch.hpp"

#include "base/error.hpp"
#include "cl/calls.hpp"
#include "endpoints/device/event_gate.hpp"

#include <algorithm>
#include <utility>

namespace causeway::endpoints {

namespace {

/// As a gate is polled before a callback is asked for.
constexpr auto longest_polled = std::chrono::milliseconds(1);
constexpr std::uint64_t nobodys_command = 0;
/// A small copy may be over before its queue has to be flushed.
constexpr std::size_t largest_small = std::size_t{64} << 10;
constexpr auto longest_unflushed = std::chrono::microseconds(20);

} // namespace

std::string buffer_text(const char* what, std::size_t offset, std::size_t bytes) {
    return std::string(what) + " " + bytes_text(bytes) + " at " + bytes_text(offset) + " of the buffer";
}

void copy_watch::add(const cl::queue& queue, cl::event running, std::size_t offset, std::size_t bytes, const char* what,
                     transfer::step& done, small_copy small, bool starts_unflushed) {
    auto to = std::find_if(m_lines.begin(), m_lines.end(), [&](const line& each) { return each.queue == queue.get(); });
    if (to == m_lines.end()) to = m_lines.emplace(to, queue.get(), starts_unflushed);
    to->is_flushed = false;
    to->is_large |= bytes > largest_small;
    if (!to->copies.empty()) small.timing.reset(); // it waits for those
    to->copies.push_back({std::move(running), offset, bytes, what, &done, std::move(small), {}, false});
}

void copy_watch::add_at_once(const cl::queue& queue, cl::event running, std::size_t offset, std::size_t bytes,
                             const char* what, transfer::step& done) {
    const bool is_flushed = clFlush(queue.get()) == CL_SUCCESS;
    add(queue, std::move(running), offset, bytes, what, done);
    if (is_flushed)
        std::find_if(m_lines.begin(), m_lines.end(), [&](const line& each) {
            return each.queue == queue.get();
        })->flushed();
}

bool copy_watch::poll(time_point now) {
    m_looked_before = std::exchange(m_looked, now);
    const auto first = m_ended.size();
    for (auto& each : m_lines) {
        while (!each.copies.empty()) {
            auto* const running = each.copies.front().running.get();
            auto status = cl::status_of(running);
            // It may be the question that failed: a copy under way still uses its block, and a map its range.
            if (status < CL_COMPLETE && clWaitForEvents(1, &running) == CL_SUCCESS) status = CL_COMPLETE;
            if (status > CL_COMPLETE) {
                auto& next = each.copies.front();
                if (!next.seen) next.seen = now;
                if (m_engine && now - *next.seen >= longest_polled && !std::exchange(next.is_armed, true))
                    wake_when_complete(running, m_engine, nobodys_command);
                break;
            }
            m_ended.emplace_back(std::move(each.copies.front()), status);
            each.copies.pop_front();
        }
    }
    std::erase_if(m_lines, [](const line& each) { return each.copies.empty(); });
    // Steps that finish add copies.
    for (auto i = first; i < m_ended.size(); ++i) {
        const auto& [what, status] = m_ended[i];
        if (status == CL_COMPLETE && what.small.timing) what.small.timing->ended(now);
        if (status == CL_COMPLETE) {
            what.done->finish({what.bytes, {}});
        } else {
            what.done->finish(
                {0, {status, 0, 0, buffer_text(what.what, what.offset, what.bytes) + ": " + cl::code_text(status)}});
        }
    }
    return m_ended.size() > first;
}

void copy_watch::settle(time_point now) {
    for (auto& each : m_lines) {
        if (each.is_flushed) continue;
        if (!each.unflushed_since) each.unflushed_since = now;
        if (each.starts_unflushed && !each.is_large && now - *each.unflushed_since < longest_unflushed) continue;
        // A command that is enqueued uses its memory, flushed or not: only its event tells when that is over.
        if (clFlush(each.queue) != CL_SUCCESS) (void)clFlush(each.queue);
        each.flushed();
    }
    m_ended.clear();
}

} // namespace causeway::endpoints
