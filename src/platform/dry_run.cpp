// SPDX-License-Identifier: Apache-2.0
// The table of calls of ranks that are not there.
#include "platform/dry_run.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace causeway::platform {

namespace {

imagined_job the_job; // the table's functions know no object

/// Takes a number, and what stands behind it if anything has to.
template <class Number> bool take(std::string_view& text, Number& number, char behind) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (behind == '\0') return text.empty();
    if (text.empty() || text.front() != behind) return false;
    text.remove_prefix(1);
    return true;
}

} // namespace

std::optional<imagined_job> read_dry_run(std::string_view text) {
    imagined_job job;
    const bool has_rank = text.find(':') != std::string_view::npos;
    if (!take(text, job.ranks, 'x') || !take(text, job.devices, has_rank ? ':' : '\0')) return std::nullopt;
    if (has_rank && !take(text, job.rank, '\0')) return std::nullopt;
    if (job.ranks < 1 || job.devices < 1 || job.rank < 0 || job.rank >= job.ranks) return std::nullopt;
    return job;
}

cluster_calls calls_of_dry_run(const imagined_job& job) {
    the_job = job;
    cluster_calls calls;
    calls.rank = job.rank;
    calls.ranks = job.ranks;
    calls.exit_begins = calls.before_end = [] {};
    calls.all_gather = [](const void* mine, std::size_t bytes, void* all) {
        for (int rank = 0; rank < the_job.ranks; ++rank)
            std::memcpy(static_cast<char*>(all) + static_cast<std::size_t>(rank) * bytes, mine, bytes);
    };
    calls.broadcast = [](int, void*, std::size_t) {};
    calls.combine = [](std::uint64_t*, std::size_t) {};
    calls.send = [](int, int, const void*, std::size_t, message_over over, void* data) { over(data, true); };
    calls.receive = [](int, int, void* bytes, std::size_t size, message_over over, void* data) {
        std::memset(bytes, 0, size);
        over(data, true);
    };
    calls.send_buffer = [](void*, void*, std::size_t, int, int, unsigned, void* const*, void**) { return 0; };
    calls.receive_buffer = calls.send_buffer;
    calls.give_up = [](const char* why) {
        std::fprintf(stderr, "causeway: dry run: %s\n", why);
        std::_Exit(1);
    };
    return calls;
}

} // namespace causeway::platform
