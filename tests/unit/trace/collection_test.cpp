// SPDX-License-Identifier: Apache-2.0
// The parts of all ranks in one file, whatever happens to the processes that write them.
#include "support/cases.hpp"
#include "trace/clock_line.hpp"
#include "trace/collection.hpp"
#include "trace/part.hpp"
#include "trace/part_recorder.hpp"
#include "base/error.hpp"
#include "unit/stranger.hpp"
#include "unit/trace/parts.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string_view>

using namespace unit;
using namespace causeway;

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

TEST(timeline, leaves_files_alone_that_no_process_has_left) {
    const folder where;
    write_bytes(where.timeline + ".notes.part", "mine");
    write_bytes(where.timeline + ".more-notes.part", "mine, and longer than any header begins");
    write_bytes(where.timeline + ".host.1.part", std::string(64, '\0')); // killed while it made room
    trace::add_part(where.timeline, part_of(where, rank_of(0))->path());
    EXPECT_EQ(trace::add_left_parts(where.timeline), 0u);
    EXPECT_EQ(bytes_of(where.timeline + ".notes.part"), "mine");
    EXPECT_EQ(where.files(), 3u);
}

TEST(timeline, has_names_that_are_no_utf8) {
    const folder where;
    fake_clock clock;
    trace::part part(where.timeline, rank_of(0), 1 << 20);
    record_transfer(*std::make_unique<trace::part_recorder>(part, clock), clock, 1, {}, "file caf\xe9.dat");
    trace::add_part(where.timeline, part.path());
    EXPECT_EQ(events_of(where.read(), "X", "transfer").at(0).at("name"), "device buffer -> file caf\xef\xbf\xbd.dat");
}

TEST(timeline, has_a_rank_although_what_another_left_is_not_understood) {
    const folder where;
    fake_clock clock;
    in_a_killed_process([&] {
        auto& part = *new trace::part(where.timeline, rank_of(1), 1 << 20);
        transfer_span told{.transfer = 1, .source = "a", .target = "b", .ended = clock.now()};
        told.chosen = {.strategy = "pinned", .why = static_cast<transfer::plan::reason>(9)}; // of another version
        (new trace::part_recorder(part, clock))->transfer_over(told);
    });
    trace::add_part(where.timeline, part_of(where, rank_of(0))->path());
    EXPECT_EQ(processes_of(where.read()), std::vector{0});
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

TEST(timeline, never_replaces_what_is_none) {
    const folder where;
    const auto part = part_of(where, rank_of(0));
    for (const std::string other : {"\x7f"
                                    "ELF",
                                    "{}", R"({"displayTimeUnit":"ns","otherData":{"made_by":"somebody"}})"}) {
        write_bytes(where.timeline, other);
        EXPECT_THROW(trace::check_timeline(where.timeline), transfer_error) << other;
        EXPECT_THROW(trace::add_part(where.timeline, part->path()), transfer_error) << other;
        EXPECT_EQ(bytes_of(where.timeline), other);
        EXPECT_TRUE(std::filesystem::exists(part->path()));
    }
    write_bytes(where.timeline, "");
    trace::check_timeline(where.timeline);
    trace::add_part(where.timeline, part->path());
    trace::check_timeline(where.timeline);
    EXPECT_EQ(events_of(where.read(), "X", "transfer").size(), 2u);
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

TEST(timeline, of_another_job_stays_on_a_full_disk) {
    const folder where;
    trace::add_part(where.timeline, part_of(where, rank_of(0, "old"))->path());
    std::filesystem::permissions(where.timeline, std::filesystem::perms(0600));
    std::filesystem::create_symlink("t.json", where.path / "link");
    const auto before = bytes_of(where.timeline);
    trace::part part(where.timeline, rank_of(0, "new"), 1 << 20);
    {
        fake_clock clock;
        trace::part_recorder to(part, clock);
        for (std::uint64_t number = 1; number <= 100; ++number) record_transfer(to, clock, number);
    }
    rlimit limits{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limits), 0);
    const auto on_excess = signal(SIGXFSZ, SIG_IGN);
    for (const std::size_t room : {std::size_t{0}, std::size_t{100}, before.size(), before.size() + 1500}) {
        const rlimit full{room, limits.rlim_max};
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
        EXPECT_THROW(trace::add_part(where.timeline, part.path()), transfer_error) << room;
        setrlimit(RLIMIT_FSIZE, &limits);
        EXPECT_EQ(bytes_of(where.timeline), before) << room;
        EXPECT_EQ(where.files(), 3u) << "what did not fit stays, or the part does not";
    }
    signal(SIGXFSZ, on_excess);
    // Killed while he wrote.
    write_bytes(where.timeline + ".new", before.substr(0, before.size() / 2));
    trace::add_part(where.path / "link", part.path());
    EXPECT_EQ(events_of(where.read(), "X", "transfer").size(), 100u);
    EXPECT_EQ(where.files(), 2u);
    EXPECT_TRUE(std::filesystem::is_symlink(where.path / "link"));
    EXPECT_EQ(std::filesystem::status(where.timeline).permissions(), std::filesystem::perms(0600));
}

TEST(timeline, that_replaced_another_is_seen_by_a_rank_that_waited_for_that) {
    const folder where;
    trace::add_part(where.timeline, part_of(where, rank_of(0, "old"))->path());
    const auto first = part_of(where, rank_of(0, "new")), second = part_of(where, rank_of(1, "new"));
    before_lock = [&] { trace::add_part(where.timeline, first->path()); };
    trace::add_part(where.timeline, second->path());
    EXPECT_EQ(processes_of(where.read()), (std::vector{0, 1}));
}

TEST(timeline, that_was_removed_while_a_rank_waited_for_it_is_made_anew) {
    const folder where;
    trace::add_part(where.timeline, part_of(where, rank_of(0, "old"))->path());
    const auto part = part_of(where, rank_of(0, "new"));
    before_lock = [&] { std::filesystem::remove(where.timeline); };
    trace::add_part(where.timeline, part->path());
    EXPECT_EQ(processes_of(where.read()), std::vector{0});
}

TEST(timeline, does_not_follow_a_link_in_the_place_of_its_new_content) {
    const folder where;
    trace::add_part(where.timeline, part_of(where, rank_of(0, "old"))->path());
    const auto before = bytes_of(where.timeline), other = (where.path / "other.json").string();
    std::filesystem::copy(where.timeline, other);
    std::filesystem::create_symlink(other, where.timeline + ".new");
    const auto part = part_of(where, rank_of(0, "new"));
    EXPECT_THROW(trace::add_part(where.timeline, part->path()), transfer_error);
    EXPECT_EQ(bytes_of(other), before);
    EXPECT_EQ(bytes_of(where.timeline), before);
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
            EXPECT_NE(std::string(refused.what()).find("locking the timeline " + where.timeline), std::string::npos)
                << refused.what();
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
                                                    rank == 0 ? "rank 1" : "device buffer")
                                                ->path());
    const auto whole = where.read();
    EXPECT_EQ(processes_of(whole), (std::vector{0, 1, 2, 3}));
    std::map<std::string, std::multiset<std::string>> ends;
    std::set<std::string> names;
    for (const auto& each : whole.at("traceEvents")) {
        const std::string phase = each.at("ph");
        if (phase == "s" || phase == "f")
            ends[each.at("cat").get<std::string>() + each.at("id").get<std::string>()].insert(phase);
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

TEST(timeline, moves_all_ranks_of_a_node_along_one_line) {
    const folder where;
    std::vector<double> begins;
    for (const int rank : {0, 1, 2}) {
        fake_clock clock;
        trace::part part(where.timeline, rank_of(rank, "job", rank == 0 ? 0 : 1), 1 << 20);
        {
            trace::part_recorder to(part, clock);
            const auto begun = clock.now();
            clock.advance(1s);
            record_transfer(to, clock, 1);
            // The clock of its node loses 4 ms in 2 s.
            if (rank == 1) to.peer_seen({.job_rank = 0, .least = 5000000, .most = 5000000, .when = begun});
            if (rank == 1) to.peer_seen({.job_rank = 0, .least = 9000000, .most = 9000000, .when = begun + 2s});
        }
        trace::add_part(where.timeline, part.path());
    }
    for (const auto& each : events_of(where.read(), "X", "transfer")) begins.push_back(each.at("ts"));
    ASSERT_EQ(begins.size(), 3u);
    EXPECT_NEAR(begins[1] - begins[0], 7000, 1);
    EXPECT_DOUBLE_EQ(begins[2], begins[1]);
}

TEST(timeline, of_a_long_job_is_not_longer_for_each_second_in_which_clocks_were_compared) {
    trace::clock_line line;
    for (std::int64_t seconds = 0; seconds < 10000; ++seconds) {
        const auto when = seconds * 1000000000;
        line.add(when, when / 1000 - seconds % 3, when / 1000 + seconds % 3);
    }
    EXPECT_LE(line.points().size(), 128u);
    EXPECT_EQ(line.uncertainty(), 0) << "it has not kept what was known best";
    EXPECT_NEAR(static_cast<double>(line.difference_at(5000500000000)), 5000500000, 2);
}

namespace {

/// Records, and dies.
void leave_part(const folder& where, int rank) {
    fake_clock clock;
    in_a_killed_process([&] {
        auto& part = *new trace::part(where.timeline, rank_of(rank), 1 << 20);
        record_transfer(*new trace::part_recorder(part, clock), clock, 1);
    });
}

std::string only_part_of(const folder& where) {
    for (const auto& each : std::filesystem::directory_iterator(where.path))
        if (each.path().extension() == ".part") return each.path().string();
    return "";
}

unsigned rights_of(const std::string& path) {
    struct stat facts{};
    EXPECT_EQ(stat(path.c_str(), &facts), 0) << path;
    return facts.st_mode & 07777;
}

} // namespace

TEST(timeline, does_not_wait_for_pipes_links_and_folders_that_have_names_of_parts) {
    const folder where;
    ASSERT_EQ(mkfifo((where.timeline + ".host.1.part").c_str(), 0600), 0);
    std::filesystem::create_symlink("/dev/zero", where.timeline + ".host.2.part");
    std::filesystem::create_directory(where.timeline + ".host.3.part");
    trace::add_part(where.timeline, part_of(where, rank_of(0))->path());
    EXPECT_EQ(trace::add_left_parts(where.timeline), 0u);
    EXPECT_EQ(processes_of(where.read()), std::vector{0});
    EXPECT_EQ(where.files(), 4u) << "they stay";
}

TEST(timeline, that_is_a_pipe_is_refused_at_once) {
    const folder where;
    const auto part = part_of(where, rank_of(0));
    ASSERT_EQ(mkfifo(where.timeline.c_str(), 0600), 0);
    EXPECT_THROW(trace::check_timeline(where.timeline), transfer_error);
    EXPECT_THROW(trace::add_part(where.timeline, part->path()), transfer_error);
}

TEST(timeline, that_somebody_keeps_locked_is_given_up) {
    const folder where;
    trace::add_part(where.timeline, part_of(where, rank_of(0))->path());
    const int reader = open(where.timeline.c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(syscall(SYS_flock, reader, LOCK_SH), 0);
    const auto part = part_of(where, rank_of(1));
    try {
        trace::add_part(where.timeline, part->path(), 20ms);
        ADD_FAILURE() << "it is locked";
    } catch (const transfer_error& refused) {
        EXPECT_NE(std::string(refused.what()).find("another process holds a lock on it"), std::string::npos)
            << refused.what();
    }
    part_of(where, rank_of(1)); // left
    EXPECT_THROW((void)trace::add_left_parts(where.timeline, 20ms), transfer_error);
    close(reader);
    trace::add_part(where.timeline, part->path());
    EXPECT_GE(processes_of(where.read()).size(), 2u);
}

TEST(timeline, is_for_its_user_alone_unless_its_file_was_there) {
    const folder where;
    const auto part = part_of(where, rank_of(0));
    EXPECT_EQ(rights_of(part->path()), 0600u);
    trace::add_part(where.timeline, part->path());
    EXPECT_EQ(rights_of(where.timeline), 0600u);
    ASSERT_EQ(chmod(where.timeline.c_str(), 0644), 0);
    trace::add_part(where.timeline, part_of(where, rank_of(0, "next"))->path()); // replaces it
    EXPECT_EQ(rights_of(where.timeline), 0644u);
}

TEST(timeline, is_not_written_behind_another_users_link) {
    if (!may_change_user()) GTEST_SKIP() << "only root can become another user";
    const folder where;
    const auto mine = (where.path / "mine").string();
    std::filesystem::create_symlink(mine, where.timeline);
    const auto part = part_of(where, rank_of(0));
    ASSERT_EQ(lchown(where.timeline.c_str(), stranger::user, stranger::user), 0);
    EXPECT_THROW(trace::check_timeline(where.timeline), transfer_error);
    EXPECT_THROW(trace::add_part(where.timeline, part->path()), transfer_error);
    EXPECT_FALSE(std::filesystem::exists(mine));
    ASSERT_EQ(lchown(where.timeline.c_str(), geteuid(), getegid()), 0);
    trace::add_part(where.timeline, part->path());
    EXPECT_TRUE(std::filesystem::exists(mine));
}

TEST(timeline, does_not_take_parts_of_other_users) {
    if (!may_change_user()) GTEST_SKIP() << "only root can become another user";
    const folder where;
    leave_part(where, 1);
    ASSERT_EQ(chown(only_part_of(where).c_str(), stranger::user, stranger::user), 0);
    trace::add_part(where.timeline, part_of(where, rank_of(0))->path());
    EXPECT_EQ(trace::add_left_parts(where.timeline), 0u);
    EXPECT_EQ(processes_of(where.read()), std::vector{0});
}

/// The file is what any process may have left: some bytes of it are others.
TEST(timeline, takes_whole_parts_beside_damaged_ones_whatever_these_hold) {
    const folder model;
    leave_part(model, 1);
    const auto whole = bytes_of(only_part_of(model));
    for (unsigned seed = 1; seed <= support::cases(300); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const folder where;
        auto damaged = whole;
        const auto used = seed % 2 == 0 ? damaged.size() : std::size_t{8192}; // where the records are
        for (auto changes = 1 + random() % 30; changes > 0; --changes)
            damaged[sizeof trace::record::magic +
                    random() %
                        (std::min(used, damaged.size()) - sizeof trace::record::magic)] = static_cast<char>(random());
        if (seed % 10 == 0) damaged.resize(random() % damaged.size());
        write_bytes(where.timeline + ".aaa.1.part", damaged);
        leave_part(where, 0);
        EXPECT_GE(trace::add_left_parts(where.timeline), 1u);
        const auto events = where.read();
        EXPECT_GE(processes_of(events).size(), 1u);
        trace::add_part(where.timeline, part_of(where, rank_of(3))->path());
    }
}

TEST(timeline, that_is_damaged_is_refused_or_mended_and_never_waited_for) {
    const folder model;
    trace::add_part(model.timeline, part_of(model, rank_of(0))->path());
    trace::add_part(model.timeline, part_of(model, rank_of(1))->path());
    const auto whole = bytes_of(model.timeline);
    for (unsigned seed = 1; seed <= support::cases(300); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const folder where;
        auto damaged = whole;
        for (auto changes = 1 + random() % 20; changes > 0; --changes)
            damaged[random() % damaged.size()] = static_cast<char>(random());
        if (seed % 5 == 0) damaged.resize(random() % damaged.size());
        write_bytes(where.timeline, damaged);
        const auto part = part_of(where, rank_of(2));
        try {
            trace::add_part(where.timeline, part->path());
        } catch (const transfer_error&) {
            EXPECT_TRUE(std::filesystem::exists(part->path())) << "what was recorded is lost";
        }
    }
}

TEST(timeline, part_that_finds_no_room_leaves_no_file) {
    const folder where;
    rlimit limits{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limits), 0);
    const rlimit small{100, limits.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0); // SIGXFSZ would end the test
    EXPECT_THROW(trace::part(where.timeline, rank_of(0), 1 << 20), transfer_error);
    setrlimit(RLIMIT_FSIZE, &limits);
    EXPECT_EQ(where.files(), 0u);
}

TEST(timeline, that_ends_at_the_limit_of_file_sizes_says_so) {
    const folder where;
    trace::part part(where.timeline, rank_of(0), 1 << 30);
    rlimit limits{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limits), 0);
    const rlimit small{trace::record::header_bytes + trace::record::chunk_bytes / 2, limits.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    testing::internal::CaptureStderr();
    auto* const none = part.take_chunk(1);
    const auto told = testing::internal::GetCapturedStderr();
    setrlimit(RLIMIT_FSIZE, &limits);
    EXPECT_EQ(none, nullptr);
    EXPECT_NE(told.find("limit of file sizes"), std::string::npos) << told;
}
