// SPDX-License-Identifier: Apache-2.0
// From records to one file of trace events, whatever happens to the processes that write them.
#include "trace/collection.hpp"
#include "trace/part.hpp"
#include "trace/part_content.hpp"
#include "trace/part_recorder.hpp"
#include "base/error.hpp"
#include "unit/allocations.hpp"
#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

using namespace unit;
using namespace causeway;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

/// Called once, before the next lock is taken: what another process does just then.
std::function<void()> before_lock;
/// As on a file system without locks.
bool has_locks = true;

} // namespace

/// In place of the system's: an exclusive lock needs a file that can be written, as on NFS.
extern "C" int flock(int file, int how) noexcept {
    if (before_lock) std::exchange(before_lock, nullptr)();
    if (!has_locks) {
        errno = ENOLCK;
        return -1;
    }
    if ((how & LOCK_EX) != 0 && (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        errno = EBADF;
        return -1;
    }
    return static_cast<int>(syscall(SYS_flock, file, how));
}

namespace {

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

trace::identity rank_of(int rank, std::string job = "job", std::uint64_t node = 1) {
    return {.rank = rank, .ranks = 2, .node = node, .job = std::move(job), .version = "0"};
}

/// A transfer of a millisecond with one block, as the engine tells of it.
void record_transfer(trace::part_recorder& to, fake_clock& clock, std::uint64_t number,
                     message_identity message = {}, std::string target = "rank 1", std::optional<double> limit = {}) {
    const auto begun = clock.now();
    clock.advance(1ms);
    to.block_over({.transfer = number, .what = activity::copy_out, .place = "a device", .bytes = 64, .begin = begun + 100us,
                   .end = begun + 200us});
    transfer_span told{.transfer = number, .source = "device buffer", .target = std::move(target), .bytes = 64, .moved = 64,
                       .message = message, .queued = begun, .submitted = begun, .started = begun + 50us,
                       .ended = clock.now()};
    told.chosen.strategy = "pinned";
    told.limit_seconds = limit;
    to.transfer_over(told);
}

/// The part of a process that has made one transfer.
std::unique_ptr<trace::part> part_of(const folder& where, const trace::identity& who, message_identity message = {},
                                     std::string target = "rank 1") {
    fake_clock clock;
    auto part = std::make_unique<trace::part>(where.timeline, who, 1 << 20);
    trace::part_recorder to(*part, clock);
    record_transfer(to, clock, 1, message, target);
    to.waited_for(2, 1);
    record_transfer(to, clock, 2);
    part->end();
    return part;
}

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// By this process, from whatever file, as the system counts; nothing if it does not.
std::optional<std::uint64_t> bytes_read() {
    std::ifstream counts("/proc/self/io");
    std::string name;
    std::uint64_t value = 0;
    while (counts >> name >> value)
        if (name == "rchar:") return value;
    return {};
}

/// Of the lines that say who each process is.
std::vector<int> processes_of(const json& whole) {
    std::vector<int> found;
    for (const auto& each : whole.at("traceEvents"))
        if (each.at("name") == "causeway_rank") found.push_back(each.at("pid"));
    return found;
}

std::vector<json> events_of(const json& whole, const char* phase, const char* category) {
    std::vector<json> found;
    for (const auto& each : whole.at("traceEvents"))
        if (each.at("ph") == phase && each.value("cat", "") == category) found.push_back(each);
    return found;
}

/// Runs `action` in a process of its own that is killed at its end.
template <class Action> void in_a_killed_process(Action action) {
    const auto child = fork();
    if (child == 0) {
        action();
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
}

} // namespace

TEST(timeline, has_what_was_recorded) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        record_transfer(to, clock, 1);
        to.waited_for(2, 1);
        record_transfer(to, clock, 2);
        to.level_is(level::transfers_running, 1);
    }
    part.end();
    trace::add_part(where.timeline, part.path());
    const auto whole = where.read();
    const auto transfers = events_of(whole, "X", "transfer");
    ASSERT_EQ(transfers.size(), 2u);
    EXPECT_EQ(transfers[0].at("name"), "device buffer -> rank 1");
    EXPECT_DOUBLE_EQ(transfers[0].at("dur"), 950);
    EXPECT_DOUBLE_EQ(transfers[0].at("args").at("waited_us"), 50);
    EXPECT_EQ(transfers[0].at("args").at("strategy"), "pinned");
    ASSERT_EQ(events_of(whole, "X", "block").size(), 2u);
    const auto from = events_of(whole, "s", "waits for"), to = events_of(whole, "f", "waits for");
    ASSERT_EQ(from.size(), 1u);
    ASSERT_EQ(to.size(), 1u);
    EXPECT_EQ(from[0].at("id"), to[0].at("id"));
    EXPECT_LE(from[0].at("ts").get<double>(), to[0].at("ts").get<double>());
    EXPECT_EQ(where.files(), 1u) << "the part is left behind";
}

TEST(timeline, has_the_limit_of_each_transfer_of_which_it_is_known) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        record_transfer(to, clock, 1, {}, "rank 1", 0.0005);
        record_transfer(to, clock, 2);
    }
    trace::add_part(where.timeline, part.path());
    const auto transfers = events_of(where.read(), "X", "transfer");
    ASSERT_EQ(transfers.size(), 2u);
    EXPECT_DOUBLE_EQ(transfers[0].at("args").at("limit_us"), 500);
    EXPECT_FALSE(transfers[1].at("args").contains("limit_us"));
}

TEST(timeline, has_each_level_when_it_changed) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        for (const std::uint64_t requests : {3, 5, 0}) {
            to.level_is(level::mpi_requests, requests);
            clock.advance(1ms);
        }
        to.level_is(level::staging_bytes, 4096);
    }
    trace::add_part(where.timeline, part.path());
    std::map<std::string, std::vector<std::pair<double, int>>> levels;
    for (const auto& each : events_of(where.read(), "C", ""))
        levels[each.at("name")].emplace_back(each.at("ts"), each.at("args").at("value"));
    ASSERT_EQ(levels.size(), 2u);
    const auto& requests = levels.at("MPI requests");
    ASSERT_EQ(requests.size(), 3u);
    const int expected[] = {3, 5, 0};
    for (std::size_t i = 0; i < requests.size(); ++i) {
        EXPECT_EQ(requests[i].second, expected[i]);
        EXPECT_NEAR(requests[i].first - requests[0].first, 1000.0 * static_cast<double>(i), 0.002);
    }
    EXPECT_EQ(levels.at("staging memory").at(0).second, 4096);
}

TEST(timeline, gives_slices_that_overlap_lanes_of_their_own) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        for (int i = 0; i < 4; ++i)
            to.block_over({.what = activity::read, .place = "files", .bytes = 1, .begin = clock.now() + i * 10us,
                           .end = clock.now() + i * 10us + (i == 0 ? 100us : 15us)});
    }
    trace::add_part(where.timeline, part.path());
    std::map<int, double> end_of_lane;
    for (const auto& each : events_of(where.read(), "X", "block")) {
        const double begin = each.at("ts");
        EXPECT_GE(begin, end_of_lane[each.at("tid")]);
        end_of_lane[each.at("tid")] = begin + each.at("dur").get<double>();
    }
    EXPECT_EQ(end_of_lane.size(), 3u);
}

TEST(timeline, needs_no_lane_for_each_transfer_that_waits) {
    const folder where;
    fake_clock clock;
    const auto enqueued = clock.now();
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        for (std::uint64_t number = 1; number <= 50; ++number) {
            clock.advance(1ms);
            const auto started = clock.now();
            clock.advance(1ms);
            to.transfer_over({.transfer = number, .source = "a", .target = "b", .queued = enqueued, .submitted = enqueued,
                              .started = started, .ended = clock.now()});
        }
    }
    trace::add_part(where.timeline, part.path());
    const auto whole = where.read();
    const auto transfers = events_of(whole, "X", "transfer"), waits = events_of(whole, "X", "wait");
    ASSERT_EQ(transfers.size(), 50u);
    ASSERT_EQ(waits.size(), 50u);
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        EXPECT_EQ(transfers[i].at("tid"), transfers[0].at("tid"));
        EXPECT_EQ(waits[i].at("tid"), transfers[0].at("tid"));
        EXPECT_DOUBLE_EQ(waits[i].at("dur"), 1000) << "a wait shows where another transfer does not run";
        EXPECT_DOUBLE_EQ(transfers[i].at("args").at("waited_us"), 1000 + 2000 * static_cast<double>(i));
    }
}

TEST(timeline, joins_the_ranks_of_a_job_and_their_messages) {
    const folder where;
    fake_clock clock;
    for (const int rank : {0, 1}) {
        trace::part part(where.timeline, rank_of(rank), 1 << 20);
        {
            trace::part_recorder to(part, clock);
            record_transfer(to, clock, 1, {.job_rank = 0, .number = 9}, rank == 0 ? "rank 1" : "device buffer");
        }
        trace::add_part(where.timeline, part.path());
    }
    const auto whole = where.read();
    const auto sent = events_of(whole, "s", "message"), received = events_of(whole, "f", "message");
    ASSERT_EQ(sent.size(), 1u);
    ASSERT_EQ(received.size(), 1u);
    EXPECT_EQ(sent[0].at("id"), received[0].at("id"));
    EXPECT_EQ(sent[0].at("pid"), 0);
    EXPECT_EQ(received[0].at("pid"), 1);
}

TEST(timeline, keeps_what_a_killed_rank_has_recorded) {
    const folder where;
    fake_clock clock;
    in_a_killed_process([&] {
        auto& part = *new trace::part(where.timeline, rank_of(1), 1 << 20);
        auto& to = *new trace::part_recorder(part, clock);
        record_transfer(to, clock, 1);
        record_transfer(to, clock, 2);
    });
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        record_transfer(to, clock, 1);
    }
    part.end();
    trace::add_part(where.timeline, part.path());
    EXPECT_EQ(events_of(where.read(), "X", "transfer").size(), 3u);
    EXPECT_EQ(where.files(), 1u);
}

TEST(timeline, is_made_of_what_killed_ranks_left_when_none_came_to_its_end) {
    const folder where;
    fake_clock clock;
    EXPECT_EQ(trace::add_left_parts(where.timeline), 0u);
    in_a_killed_process([&] {
        auto& part = *new trace::part(where.timeline, rank_of(1), 1 << 20);
        record_transfer(*new trace::part_recorder(part, clock), clock, 1);
    });
    EXPECT_EQ(trace::add_left_parts(where.timeline), 1u);
    EXPECT_EQ(events_of(where.read(), "X", "transfer").size(), 1u);
    EXPECT_EQ(trace::add_left_parts(where.timeline), 0u);
}

TEST(timeline, is_made_although_a_rank_was_killed_before_it_recorded_anything) {
    const folder where;
    fake_clock clock;
    std::ofstream(where.timeline + ".host.1.part").flush();
    EXPECT_EQ(trace::add_left_parts(where.timeline), 0u);
    EXPECT_EQ(where.files(), 0u) << "an empty part stays";
    std::ofstream(where.timeline + ".host.1.part").flush();
    in_a_killed_process([&] {
        auto& part = *new trace::part(where.timeline, rank_of(1), 1 << 20);
        record_transfer(*new trace::part_recorder(part, clock), clock, 1);
    });
    EXPECT_EQ(trace::add_left_parts(where.timeline), 1u);
    EXPECT_EQ(events_of(where.read(), "X", "transfer").size(), 1u);
    EXPECT_EQ(where.files(), 1u);
}

TEST(timeline, is_not_lost_to_whom_collects_it_before_its_process_has_locked_it) {
    const folder where;
    fake_clock clock;
    before_lock = [&] { (void)trace::add_left_parts(where.timeline); };
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    {
        trace::part_recorder to(part, clock);
        record_transfer(to, clock, 1);
    }
    trace::add_part(where.timeline, part.path());
    EXPECT_EQ(events_of(where.read(), "X", "transfer").size(), 1u);
    EXPECT_EQ(where.files(), 1u);
}

TEST(timeline, keeps_what_an_earlier_process_of_the_same_number_has_left) {
    const folder where;
    fake_clock clock;
    for (const int rank : {0, 1}) {
        trace::part left(where.timeline, rank_of(rank), 1 << 20);
        trace::part_recorder to(left, clock);
        record_transfer(to, clock, 1);
    }
    EXPECT_EQ(trace::add_left_parts(where.timeline), 2u);
    EXPECT_EQ(events_of(where.read(), "X", "transfer").size(), 2u);
}

TEST(timeline, of_a_rank_that_lives_is_left_to_it) {
    const folder where;
    fake_clock clock;
    const trace::part living(where.timeline, rank_of(0), 1 << 20);
    EXPECT_EQ(trace::add_left_parts(where.timeline), 0u);
    EXPECT_TRUE(std::filesystem::exists(living.path()));
}

TEST(timeline, of_another_job_is_replaced_with_what_it_left) {
    const folder where;
    fake_clock clock;
    in_a_killed_process([&] {
        auto& part = *new trace::part(where.timeline, rank_of(1, "old"), 1 << 20);
        record_transfer(*new trace::part_recorder(part, clock), clock, 1);
    });
    for (const char* const job : {"old", "new"}) {
        trace::part part(where.timeline, rank_of(0, job), 1 << 20);
        record_transfer(*std::make_unique<trace::part_recorder>(part, clock), clock, 1);
        trace::add_part(where.timeline, part.path());
    }
    EXPECT_EQ(where.read().at("otherData").at("job"), "new");
    EXPECT_EQ(events_of(where.read(), "X", "transfer").size(), 1u);
    EXPECT_EQ(where.files(), 1u);
}

TEST(timeline, keeps_all_ranks_when_one_is_killed_while_it_adds_its_part) {
    const folder where;
    for (const int rank : {0, 1}) trace::add_part(where.timeline, part_of(where, rank_of(rank))->path());
    const auto before = bytes_of(where.timeline);
    const auto last = part_of(where, rank_of(2));
    const auto recorded = bytes_of(last->path());
    trace::add_part(where.timeline, last->path());
    const auto whole = bytes_of(where.timeline);
    // Behind the tail first; then, as an earlier version did and a copy that was cut off is, without any tail.
    const auto events_end = before.rfind(",\n");
    for (const bool has_tail : {true, false})
        for (std::size_t size = has_tail ? before.size() : before.size() + 1; size < whole.size(); size += 97) {
            auto torn = whole.substr(0, size);
            if (has_tail) torn.replace(events_end, before.size() - events_end, before, events_end);
            write_bytes(where.timeline, torn);
            write_bytes(last->path(), recorded);
            trace::add_part(where.timeline, last->path());
            EXPECT_EQ(bytes_of(where.timeline), whole) << size << " bytes were written, tail: " << has_tail;
        }
    // He was killed before he could remove his part.
    write_bytes(last->path(), recorded);
    EXPECT_EQ(trace::add_left_parts(where.timeline), 0u) << "it is there twice";
    EXPECT_EQ(where.files(), 1u);
    EXPECT_EQ(bytes_of(where.timeline), whole);
}

TEST(timeline, loses_nothing_on_a_full_disk) {
    const folder where;
    trace::add_part(where.timeline, part_of(where, rank_of(0))->path());
    const auto before = bytes_of(where.timeline);
    const auto part = part_of(where, rank_of(1));
    rlimit limits{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limits), 0);
    const auto on_excess = signal(SIGXFSZ, SIG_IGN);
    for (const std::size_t room : {0, 1, 500, 1500}) {
        const rlimit full{before.size() + room, limits.rlim_max};
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
        EXPECT_THROW(trace::add_part(where.timeline, part->path()), transfer_error) << room;
        setrlimit(RLIMIT_FSIZE, &limits);
        EXPECT_EQ(bytes_of(where.timeline), before) << room;
    }
    signal(SIGXFSZ, on_excess);
    trace::add_part(where.timeline, part->path());
    EXPECT_EQ(processes_of(where.read()), (std::vector{0, 1}));
}

TEST(timeline, is_made_afterwards_where_files_cannot_be_locked) {
    const folder where;
    has_locks = false;
    std::vector<std::unique_ptr<trace::part>> parts;
    for (const int rank : {0, 1}) {
        parts.push_back(part_of(where, rank_of(rank)));
        try {
            trace::add_part(where.timeline, parts.back()->path());
            ADD_FAILURE() << "ranks may write at once";
        } catch (const transfer_error& refused) {
            EXPECT_NE(std::string(refused.what()).find("locking the timeline " + where.timeline), std::string::npos) << refused.what();
        }
    }
    fake_clock clock;
    const trace::part living(where.timeline, rank_of(2), 1 << 20);
    EXPECT_EQ(trace::add_left_parts(where.timeline), 2u);
    has_locks = true;
    EXPECT_EQ(processes_of(where.read()).size(), 2u);
    EXPECT_TRUE(std::filesystem::exists(living.path())) << "a rank that lives has lost its part";
}

TEST(timeline, keeps_programs_of_one_rank_apart) {
    const folder where;
    for (int program = 0; program < 2; ++program)
        for (const int rank : {0, 1})
            trace::add_part(where.timeline, part_of(where, rank_of(rank), {.job_rank = 0, .number = 9},
                                                    rank == 0 ? "rank 1" : "device buffer")->path());
    const auto whole = where.read();
    EXPECT_EQ(processes_of(whole), (std::vector{0, 1, 2, 3}));
    std::map<std::string, std::multiset<std::string>> ends;
    std::set<std::string> names;
    for (const auto& each : whole.at("traceEvents")) {
        const std::string phase = each.at("ph");
        if (phase == "s" || phase == "f") ends[each.at("cat").get<std::string>() + each.at("id").get<std::string>()].insert(phase);
        if (each.at("name") == "process_name") names.insert(each.at("args").at("name"));
    }
    EXPECT_EQ(ends.size(), 2u + 4u);
    for (const auto& [id, phases] : ends) EXPECT_EQ(phases, (std::multiset<std::string>{"f", "s"})) << id;
    EXPECT_EQ(names.size(), 4u - 2u + 2u) << "programs of one rank have one name";
}

TEST(timeline, joins_ranks_whose_launcher_has_not_told_them_their_job) {
    const folder where;
    const auto guessed = [](int rank, const char* job) {
        auto who = rank_of(rank, job);
        who.is_job_guessed = true;
        return who;
    };
    trace::add_part(where.timeline, part_of(where, guessed(0, "launcher-1"))->path());
    trace::add_part(where.timeline, part_of(where, guessed(1, "launcher-2"))->path());
    EXPECT_EQ(processes_of(where.read()), (std::vector{0, 1}));
    // What is there twice is another job, and one that has been told its name is what it says.
    trace::add_part(where.timeline, part_of(where, guessed(0, "launcher-3"))->path());
    EXPECT_EQ(processes_of(where.read()), (std::vector{0}));
    trace::add_part(where.timeline, part_of(where, rank_of(1, "told"))->path());
    EXPECT_EQ(processes_of(where.read()), (std::vector{1}));
}

TEST(timeline, is_not_read_again_by_each_rank) {
    const folder where;
    fake_clock clock;
    {
        trace::part large(where.timeline, rank_of(0), 64 << 20);
        {
            trace::part_recorder to(large, clock);
            for (std::uint64_t number = 1; number <= 5000; ++number) record_transfer(to, clock, number);
        }
        trace::add_part(where.timeline, large.path());
    }
    ASSERT_GT(std::filesystem::file_size(where.timeline), 1u << 20);
    const auto next = part_of(where, rank_of(1));
    const auto before = bytes_read();
    if (!before) GTEST_SKIP() << "this system does not count what a process reads";
    trace::add_part(where.timeline, next->path());
    // The part itself has a chunk of 256 KiB.
    EXPECT_LT(*bytes_read() - *before, 1u << 20);
    EXPECT_EQ(processes_of(where.read()), (std::vector{0, 1}));
}

TEST(timeline, moves_ranks_of_other_nodes_by_what_their_messages_tell) {
    const folder where;
    fake_clock clock;
    std::vector<double> begins;
    for (const int rank : {0, 1}) {
        trace::part part(where.timeline, rank_of(rank, "job", static_cast<std::uint64_t>(rank)), 1 << 20);
        {
            trace::part_recorder to(part, clock);
            // Its clock is 5 ms behind that of rank 0, to 20 us.
            if (rank == 1) to.peer_seen({.job_rank = 0, .least = 4980000, .most = 5020000, .when = clock.now()});
            record_transfer(to, clock, 1);
        }
        trace::add_part(where.timeline, part.path());
    }
    for (const auto& each : events_of(where.read(), "X", "transfer")) begins.push_back(each.at("ts"));
    ASSERT_EQ(begins.size(), 2u);
    EXPECT_NEAR(begins[1] - begins[0], 1000 + 5000, 0.01);
}

TEST(timeline, ends_at_its_size_and_says_so) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), trace::record::header_bytes + trace::record::chunk_bytes);
    {
        trace::part_recorder to(part, clock);
        for (std::uint64_t i = 0; i < 5000; ++i) record_transfer(to, clock, i);
    }
    trace::add_part(where.timeline, part.path());
    const auto whole = where.read();
    EXPECT_TRUE(whole.at("traceEvents").at(0).at("args").at("cut"));
    EXPECT_GT(events_of(whole, "X", "transfer").size(), 500u);
}

TEST(timeline, tells_by_what_devices_reach_each_other) {
    const folder where;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    part.set_links("is being started, which takes a while");
    part.set_links("none: no driver");
    trace::add_part(where.timeline, part.path());
    EXPECT_EQ(where.read().at("traceEvents").at(0).at("args").at("direct_links"), "none: no driver");
}

TEST(timeline, shows_commands_once_by_the_clock_of_the_host) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    const auto host = [&] { return static_cast<std::uint64_t>(clock.now().time_since_epoch().count()); };
    {
        trace::part_recorder to(part, clock);
        constexpr std::uint64_t behind = 1000000000; // the device's clock
        to.clock_seen({.place = "a device", .device = host() - behind, .before = clock.now() - 2us, .after = clock.now() + 2us});
        const command_span kernel{.number = 1, .queue = 5, .place = "a device", .name = "jacobi", .queued = host() - behind,
                                  .started = host() - behind + 1000, .ended = host() - behind + 9000, .seen = clock.now() + 20us};
        to.command_over(kernel);
        to.waited_for(1, kernel);
        to.waited_for(1, command_span{.queue = 6, .name = "kernel"}); // its queue does not profile
        record_transfer(to, clock, 1);
    }
    trace::add_part(where.timeline, part.path());
    const auto whole = where.read();
    const auto kernels = events_of(whole, "X", "command");
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].at("name"), "jacobi");
    const auto transfer = events_of(whole, "X", "transfer").at(0);
    EXPECT_NEAR(transfer.at("ts").get<double>() - kernels[0].at("ts").get<double>(), 50 - 1, 0.01);
    EXPECT_EQ(events_of(whole, "s", "waits for").size(), 1u);
    EXPECT_EQ(whole.at("traceEvents").at(0).at("args").at("commands_without_times"), 1);
}

TEST(timeline, is_recorded_without_memory_of_its_own_for_each_block) {
    if (!counts_allocations()) GTEST_SKIP() << "a sanitizer has its own operator new";
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    trace::part_recorder to(part, clock);
    const block_span block{.transfer = 1, .what = activity::read, .place = "files", .bytes = 1, .begin = clock.now(),
                           .end = clock.now()};
    to.block_over(block);
    const auto before = allocations();
    for (int i = 0; i < 5000; ++i) to.block_over(block);
    EXPECT_EQ(allocations(), before);
}

TEST(timeline, that_cannot_be_made_says_why) {
    try {
        const trace::part part("/nonexistent/t.json", rank_of(0), 1 << 20);
        FAIL() << "it was made";
    } catch (const transfer_error& error) {
        EXPECT_NE(std::string(error.what()).find("/nonexistent/t.json"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("No such file"), std::string::npos) << error.what();
    }
}
