// SPDX-License-Identifier: Apache-2.0
// What processes record, and what becomes of it, in a folder of the test.
#pragma once

#include "trace/part.hpp"
#include "trace/part_recorder.hpp"
#include "unit/transfer/fakes.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace unit {

using namespace std::chrono_literals;
using nlohmann::json;

struct folder {
    folder() {
        std::string name = "/tmp/causeway-timeline-XXXXXX";
        path = mkdtemp(name.data());
        timeline = path / "t.json";
    }
    ~folder() { std::filesystem::remove_all(path); }
    [[nodiscard]] json read() const { return json::parse(std::ifstream(timeline)); }
    [[nodiscard]] std::size_t files() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
    }
    std::filesystem::path path;
    std::string timeline;
};

inline trace::identity rank_of(int rank, std::string job = "job", std::uint64_t node = 1) {
    return {.rank = rank, .ranks = 2, .node = node, .job = std::move(job), .version = "0"};
}

/// A transfer of a millisecond with one block, as the engine tells of it.
inline void record_transfer(trace::part_recorder& to, fake_clock& clock, std::uint64_t number,
                            message_identity message = {}, std::string target = "rank 1",
                            std::optional<double> limit = {}) {
    const auto begun = clock.now();
    clock.advance(1ms);
    to.block_over({.transfer = number,
                   .what = activity::copy_out,
                   .resource = "a device",
                   .bytes = 64,
                   .begin = begun + 100us,
                   .end = begun + 200us});
    transfer_span told{.transfer = number,
                       .source = "device buffer",
                       .target = std::move(target),
                       .bytes = 64,
                       .moved = 64,
                       .message = message,
                       .queued = begun,
                       .submitted = begun,
                       .started = begun + 50us,
                       .ended = clock.now()};
    told.chosen.strategy = "pinned";
    told.limit_seconds = limit;
    to.transfer_over(told);
}

/// The part of a process that has made one transfer.
inline std::unique_ptr<trace::part> part_of(const folder& where, const trace::identity& who,
                                            message_identity message = {}, std::string target = "rank 1") {
    fake_clock clock;
    auto part = std::make_unique<trace::part>(where.timeline, who, 1 << 20);
    trace::part_recorder to(*part, clock);
    record_transfer(to, clock, 1, message, target);
    to.waited_for(2, 1);
    record_transfer(to, clock, 2);
    part->end();
    return part;
}

inline std::vector<json> events_of(const json& whole, const char* phase, const char* category) {
    std::vector<json> found;
    for (const auto& each : whole.at("traceEvents"))
        if (each.at("ph") == phase && each.value("cat", "") == category) found.push_back(each);
    return found;
}

} // namespace unit
