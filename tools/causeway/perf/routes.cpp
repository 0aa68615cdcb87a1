// SPDX-License-Identifier: Apache-2.0
// The table of routes, and the choice among them.
#include "perf/routes.hpp"

#include "words.hpp"

#include <algorithm>
#include <array>

namespace perf {

namespace {

const std::array table = {
    route{"file-read", 1, "file in the page cache -> device"},
    route{"file-read-in-a-row", 1, "as file-read, one of four in a row behind another one"},
    route{"file-write", 1, "device -> existing file in the page cache"},
    route{"file-read-stream", 1, "as file-read, from a FILE*"},
    route{"file-write-stream", 1, "as file-write, to a FILE*"},
    route{"file-write-growing", 1, "device -> file that is empty and grows"},
    route{"file-read-cold", 1, "file on disk and not in the page cache -> device"},
    route{"file-write-disk", 1, "device -> file, until its bytes are on disk (fdatasync)"},
    route{"peer-one-context", 1, "device -> another device of the same context"},
    route{"peer-two-contexts", 1, "device -> device of another context"},
    route{"peer-two-vendors", 1, "device -> device of another OpenCL platform"},
    route{"kernel-file", 1, "file in the page cache -> device, beside a kernel that takes as long"},
    route{"kernel-file-blocking", 1, "as kernel-file, by a blocking call in an in-order queue"},
    route{"enqueue", 1, "what the call that enqueues a transfer costs the calling thread"},
    route{"rank-blocking/same-device", 2, "device -> device between two ranks that share a device, by blocking calls"},
    route{"rank-blocking/two-devices", 2, "the same between two devices"},
    route{"rank-one-way/same-device", 2, "device -> device between two ranks that share a device"},
    route{"rank-one-way/two-devices", 2, "device -> device between two ranks, each with its own"},
    route{"rank-both-ways/same-device", 2, "both ranks send and receive at once; bytes of one way"},
    route{"rank-both-ways/two-devices", 2, "the same between two devices"},
    route{"rank-host-to-device", 2, "host memory (MPI_Send, MPI_CL_MEM) -> device of the other rank"},
    route{"rank-device-to-host", 2, "device -> host memory (MPI_Recv, MPI_CL_MEM) of the other rank"},
    route{"rank-many-small/same-device", 2, "256 messages under way at once, up to 4 KiB; time of one"},
    route{"rank-many-small/two-devices", 2, "the same between two devices"},
    route{"rank-64-at-once/same-device", 2, "64 transfers under way at once, 64 KiB to 16 MiB; time of one"},
    route{"rank-64-at-once/two-devices", 2, "the same between two devices"},
    route{"rank-latency/same-device", 2, "8 bytes, back to back: from the wait event to the status read as complete"},
    route{"rank-latency/two-devices", 2, "the same between two devices"},
    route{"rank-latency-chain/same-device", 2, "8 bytes, each message waits for the event of the one before"},
    route{"rank-latency-chain/two-devices", 2, "the same between two devices"},
    route{"rank-latency-enqueue/same-device", 2, "8 bytes, from the call that enqueues them"},
    route{"rank-latency-enqueue/two-devices", 2, "the same between two devices"},
    route{"rank-latency-idle/same-device", 2, "8 bytes, the first message after 300 ms without any"},
    route{"rank-latency-idle/two-devices", 2, "the same between two devices"},
    route{"rank-kernel/same-device", 2, "both ranks send and receive at once, beside a kernel that takes as long"},
    route{"rank-kernel/two-devices", 2, "the same between two devices"},
    route{"one-sided-put/same-device", 2, "device -> heap of another rank on the same device, which calls nothing"},
    route{"one-sided-put/two-devices", 2, "the same between two devices"},
    route{"one-sided-get/same-device", 2, "heap of another rank on the same device -> device"},
    route{"one-sided-get/two-devices", 2, "the same between two devices"},
    route{"one-sided-signal/same-device", 2, "put with signal, until the other rank's wait is over"},
    route{"one-sided-signal/two-devices", 2, "the same between two devices"},
    route{"one-sided-atomic/same-device", 2, "adding to a word of another rank's heap, with the old value"},
    route{"one-sided-atomic/two-devices", 2, "the same between two devices"},
};

/// `word` is the name, or its beginning up to a "-" or "/".
bool begins(const std::string& name, const std::string& word) {
    return name.starts_with(word) &&
           (name.size() == word.size() || name[word.size()] == '-' || name[word.size()] == '/');
}

std::string how_to_run(int ranks) {
    return ranks == 1 ? "runs in one process: causeway perf, without mpirun"
                      : "needs two ranks: causeway run -n 2 causeway perf";
}

} // namespace

std::span<const route> all_routes() { return table; }

std::vector<std::string> choose_routes(const std::vector<std::string>& wanted, int ranks) {
    if (ranks > 2)
        throw causeway_tool::usage_error("measures in one process or between two ranks, not " + std::to_string(ranks) +
                                         ": causeway run -n 2 causeway perf");
    std::vector<std::string> chosen;
    if (wanted.empty()) {
        for (const auto& each : table)
            if (each.ranks == ranks) chosen.push_back(each.name);
        return chosen;
    }
    for (const auto& word : wanted) {
        const bool exact = std::ranges::find(table, word, &route::name) != table.end();
        const route* found = nullptr;
        for (const auto& each : table) {
            if (exact ? each.name != word : !begins(each.name, word)) continue;
            found = &each;
            if (each.ranks == ranks) chosen.push_back(each.name);
        }
        if (found == nullptr) {
            std::vector<std::string> words;
            for (const auto& each : table) {
                words.push_back(each.name);
                words.push_back(each.name.substr(0, each.name.find('/')));
            }
            throw causeway_tool::usage_error("no route " + word + causeway_tool::suggestion(word, words) +
                                             " (causeway perf --list names them)");
        }
        if (found->ranks != ranks) throw causeway_tool::usage_error("route " + word + " " + how_to_run(found->ranks));
    }
    return chosen;
}

std::vector<std::string> first_routes(int ranks) {
    constexpr std::array<std::string_view, 10> first = {
        "file-read",    "file-write",     "peer-two-contexts",   "kernel-file", "enqueue",
        "rank-one-way", "rank-both-ways", "rank-host-to-device", "rank-kernel", "rank-latency-chain"};
    auto routes = choose_routes({}, ranks);
    std::erase_if(routes, [&](const std::string& name) {
        return std::ranges::find(first, name.substr(0, name.find('/'))) == first.end();
    });
    return routes;
}

void run_routes(session& session, const devices& on) {
    int ranks = 1;
    MPI_Comm_size(session.comm(), &ranks);
    if (ranks == 1) {
        file_routes(session, on);
        peer_routes(session, on);
        kernel_file_routes(session, on);
        enqueue_route(session, on);
        return;
    }
    const bench_device shared(on.first());
    const auto between_devices = [&](const bench_device& where, const std::string& suffix) {
        rank_latency_routes(session, where, suffix);
        rank_routes(session, where, suffix);
        rank_crowd_routes(session, where, suffix);
        rank_kernel_route(session, where, suffix);
        one_sided_routes(session, where, suffix);
    };
    between_devices(shared, "/same-device");
    rank_host_routes(session, shared);
    if (on.second() != nullptr) {
        std::optional<bench_device> own;
        if (session.rank() == 1) own.emplace(on.second());
        between_devices(own ? *own : shared, "/two-devices");
    } else {
        session.note(std::string("routes between two devices left out: ") +
                     (on.forced ? "--device names one" : "the platform has one"));
    }
}

} // namespace perf
