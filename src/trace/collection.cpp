// SPDX-License-Identifier: Apache-2.0
// One line is one event, so that a part is added by writing over the last lines.
#include "trace/collection.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/whole_file.hpp"
#include "trace/file_limit.hpp"
#include "trace/json_text.hpp"
#include "trace/timeline.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace causeway::trace {

namespace {

using nlohmann::json;

constexpr std::string_view first_words = R"({"displayTimeUnit":"ns","otherData":{"made_by":"causeway )";
constexpr std::string_view rank_mark = R"({"ph":"M","name":"causeway_rank")";
constexpr std::string_view end_mark = R"({"ph":"M","name":"causeway_end")";
constexpr std::string_view tail = "\n]}\n";
/// More than the line with end_mark and the tail take.
constexpr std::size_t longest_end = 256;
constexpr std::int64_t second = 1'000'000'000;
/// Ranks of one job begin within this time of one another, by the clocks of different nodes.
constexpr std::int64_t longest_start = 10 * second;

/// An open file; errors name it. Opening never waits, and only the user may open what it makes.
class open_file {
  public:
    open_file(std::string path, int flags)
        : m_path(std::move(path)),
          m_number(above_standard(::open(m_path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600))) {}
    ~open_file() {
        if (m_number >= 0) ::close(m_number);
    }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;

    [[nodiscard]] bool is_open() const { return m_number >= 0; }
    [[nodiscard]] int number() const { return m_number; }
    [[nodiscard]] const std::string& path() const { return m_path; }
    /// After it was given another name.
    void name(std::string path) { m_path = std::move(path); }
    /// Waits for others while they write, and for `patience` after that. False, and errno, which is EWOULDBLOCK if
    /// others have it.
    [[nodiscard]] bool lock(std::chrono::milliseconds patience) const {
        constexpr auto between = std::chrono::milliseconds(5);
        auto seen = last_change();
        for (auto waited = std::chrono::milliseconds(0);; waited += between) {
            if (::flock(m_number, LOCK_EX | LOCK_NB) == 0) return true;
            if (errno != EWOULDBLOCK && errno != EINTR) return false;
            if (waited >= patience) {
                errno = EWOULDBLOCK;
                return false;
            }
            std::this_thread::sleep_for(between);
            if (const auto now = last_change(); std::exchange(seen, now) != now) waited = {};
        }
    }
    [[nodiscard]] bool is_regular() const {
        struct stat facts{};
        return ::fstat(m_number, &facts) == 0 && S_ISREG(facts.st_mode);
    }
    [[nodiscard]] bool is_own() const {
        struct stat facts{};
        return ::fstat(m_number, &facts) == 0 && facts.st_uid == ::geteuid();
    }
    /// Whether another file has taken its name, or none has it any more.
    [[nodiscard]] bool is_replaced() const {
        struct stat own{}, named{};
        if (::fstat(m_number, &own) != 0) return false;
        if (::stat(m_path.c_str(), &named) != 0) return errno == ENOENT;
        return own.st_ino != named.st_ino || own.st_dev != named.st_dev;
    }
    void take_rights_of(const open_file& other) const {
        struct stat facts{};
        if (::fstat(other.m_number, &facts) != 0) return;
        const int not_ours = ::fchown(m_number, static_cast<uid_t>(-1), facts.st_gid);
        (void)not_ours; // the group of another user's file
        (void)::fchmod(m_number, facts.st_mode & 07777);
    }
    [[nodiscard]] std::size_t size() const {
        const auto size = ::lseek(m_number, 0, SEEK_END);
        if (size < 0) refuse("reading");
        return static_cast<std::size_t>(size);
    }
    /// Less if the file ends before.
    [[nodiscard]] std::string read(std::size_t offset, std::size_t size) const {
        std::string bytes(size, '\0');
        std::size_t done = 0;
        while (done < size) {
            const auto now = ::pread(m_number, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
            if (now < 0 && errno == EINTR) continue;
            if (now < 0) refuse("reading");
            if (now == 0) break;
            done += static_cast<std::size_t>(now);
        }
        bytes.resize(done);
        return bytes;
    }
    void cut(std::size_t size) const {
        if (::ftruncate(m_number, static_cast<off_t>(size)) != 0) refuse("writing");
    }
    void write(std::size_t offset, std::string_view bytes) const {
        if (!may_reach(offset + bytes.size())) {
            errno = EFBIG;
            refuse("writing");
        }
        while (!bytes.empty()) {
            const auto now = ::pwrite(m_number, bytes.data(), bytes.size(), static_cast<off_t>(offset));
            if (now < 0 && errno == EINTR) continue;
            if (now <= 0) refuse("writing");
            offset += static_cast<std::size_t>(now);
            bytes.remove_prefix(static_cast<std::size_t>(now));
        }
    }
    [[noreturn]] void refuse(const char* what) const {
        const int reason = errno;
        throw transfer_error(status::io_error,
                             std::string(what) + " the timeline " + m_path + ": " + errno_text(reason), reason);
    }

  private:
    [[nodiscard]] std::tuple<off_t, time_t, long> last_change() const {
        struct stat facts{};
        (void)::fstat(m_number, &facts);
        return {facts.st_size, facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec};
    }

    std::string m_path;
    int m_number;
};

/// Where links lead to. Those of other users are not followed: they would choose which file is written.
std::string behind_links(const std::string& timeline) {
    namespace fs = std::filesystem;
    constexpr int most_links = 40; // as the kernel
    const auto whole = fs::absolute(timeline);
    std::deque<fs::path> left(whole.begin(), whole.end());
    fs::path done("/");
    for (int links = 0; !left.empty();) {
        const auto part = left.front();
        left.pop_front();
        if (part.empty() || part == ".") continue;
        if (part == "..") {
            done = done.parent_path();
            continue;
        }
        const auto next = done / part;
        struct stat facts{};
        if (::lstat(next.c_str(), &facts) != 0 || !S_ISLNK(facts.st_mode)) {
            done = next;
            continue;
        }
        if (facts.st_uid != ::geteuid() && facts.st_uid != 0)
            throw transfer_error(status::io_error, "the way to the timeline " + timeline +
                                                       " has another user's link, " + next.string() +
                                                       ", which is not followed");
        if (++links > most_links)
            throw transfer_error(status::io_error, "the timeline " + timeline + " is behind more than " +
                                                       std::to_string(most_links) + " links");
        std::error_code ignored;
        const auto target = fs::read_symlink(next, ignored);
        left.insert(left.begin(), target.begin(), target.end());
    }
    return done.string();
}

/// What is not ours stays: a name that was mistyped may be that of the program. An empty file is anyone's.
void require_timeline(const open_file& file, const std::string& path) {
    if (!file.is_regular()) throw transfer_error(status::io_error, "the timeline " + path + " is no regular file");
    const auto begin = file.read(0, first_words.size());
    if (!first_words.starts_with(begin)) // all of one that was cut off may be less
        throw transfer_error(status::io_error, "the file " + path +
                                                   " is there and is no timeline of Causeway; "
                                                   "remove it, or name another");
}

/// The parts that lie beside `timeline`.
std::vector<std::string> parts_of(const std::string& timeline) {
    namespace fs = std::filesystem;
    const fs::path whole(timeline);
    const auto folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
    const auto prefix = whole.filename().string() + ".";
    std::vector<std::string> found;
    for (const auto& each : files_in(folder)) {
        const auto name = each.filename().string();
        if (name.starts_with(prefix) && name.ends_with(".part")) found.push_back(each.string());
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// What a process that is gone has left. It is locked as long as this lives, so that nobody else takes it.
struct left_part {
    std::string path;
    std::unique_ptr<open_file> file;
    record::file_header header;
};

/// Whether the process of a part is gone, where no lock tells: by its own word, or by that of its host.
bool is_over(const record::file_header& who) {
    if (who.ended != 0) return true;
    utsname here{};
    (void)::uname(&here);
    return who.host == std::string_view(here.nodename) && ::kill(static_cast<pid_t>(who.process), 0) != 0 &&
           errno == ESRCH;
}

/// Left by a process that was killed before it had written anything. Other files may have such a name, too.
bool is_blank(const open_file& file) {
    return file.read(0, sizeof record::magic).find_first_not_of('\0') == std::string::npos;
}

/// Those beside `timeline`. What has nothing in it is removed.
std::vector<left_part> left_parts(const std::string& timeline) {
    std::vector<left_part> found;
    for (auto& path : parts_of(timeline)) {
        // To be written, or NFS would not lock it.
        auto file = std::make_unique<open_file>(path, O_RDWR | O_NOFOLLOW);
        if (!file->is_open() || !file->is_regular() || !file->is_own()) continue;
        const bool is_locked = file->lock({});
        if (!is_locked && errno == EWOULDBLOCK) continue;
        const auto header = read_header(file->number());
        if (header && (is_locked || is_over(*header))) {
            found.push_back({std::move(path), std::move(file), *header});
        } else if (!header && is_locked && is_blank(*file)) {
            ::unlink(path.c_str());
        }
    }
    return found;
}

/// A process whose events are in the file: its clock, and how it was compared with the others'.
struct known_rank {
    int rank = 0, ranks = 1, shown_as = 0;
    std::uint64_t node = 0;
    std::int64_t process = 0, begun = 0, begun_since_1970 = 0;
    bool has_messages = false;
    clock_line to_reference;
};

/// For the other ranks of the node, and those that exchanged messages with it.
json json_of(const clock_line& line) {
    auto points = json::array();
    for (const auto& each : line.points()) points.push_back({each.when, each.least, each.most});
    return points;
}

/// What to do where the file system has no locks.
enum class without_lock { refuse, go_on };

/// Behind a link, what it leads to. Another rank that adds its part ends soon, or dies and lets go.
std::unique_ptr<open_file> open_timeline(const std::string& timeline, without_lock then,
                                         std::chrono::milliseconds patience) {
    const auto path = behind_links(timeline);
    for (;;) {
        auto file = std::make_unique<open_file>(path, O_RDWR | O_CREAT | O_NOFOLLOW);
        if (!file->is_open()) file->refuse("opening");
        require_timeline(*file, timeline);
        if (!file->lock(patience)) {
            if (errno == EWOULDBLOCK)
                throw transfer_error(status::io_error,
                                     "locking the timeline " + timeline +
                                         ": another process holds a lock on it, and has not "
                                         "written to it for " +
                                         std::to_string(patience.count()) + " ms",
                                     errno);
            if (then == without_lock::refuse) file->refuse("locking");
        }
        if (!file->is_replaced()) return file;
    }
}

/*
 * The file: a head; for each process a line that says who it is, then one for each event; a line that says where that
 * of the last process is, as that one says where the one before is, so that only these are read again; the tail. What
 * is added is written behind the tail first and over it last: a file that was cut off before is whole up to there.
 * What replaces the timeline of another job is written beside it and takes its name when it is whole.
 */
class collection {
  public:
    collection(const std::string& timeline, without_lock then, std::chrono::milliseconds patience)
        : m_file(open_timeline(timeline, then, patience)) {
        require_timeline(*m_file, timeline);
        m_size = m_file->size();
        const auto from = m_size - std::min(m_size, longest_end);
        if (!find_end(m_file->read(from, m_size - from), from)) recover();
        read_ranks();
    }

    /// Where no launcher says which job it is, ranks on different nodes have different names for it. Those that began
    /// at one time, none of them twice, are of one job.
    [[nodiscard]] bool has(const record::file_header& who) const {
        if (who.job == m_job) return true;
        return !m_ranks.empty() && m_is_job_guessed && who.is_job_guessed != 0 && who.ranks > 1 &&
               std::all_of(m_ranks.begin(), m_ranks.end(), [&](const known_rank& other) {
                   return other.ranks == who.ranks && other.rank != who.rank &&
                          std::abs(other.begun_since_1970 - who.begun_since_1970) < longest_start;
               });
    }
    /// Of the rank that began last; 0 if there is none.
    [[nodiscard]] std::int64_t begun_since_1970() const {
        std::int64_t latest = 0;
        for (const auto& each : m_ranks) latest = std::max(latest, each.begun_since_1970);
        return latest;
    }

    /// The first part replaces what is there.
    void begin(const record::file_header& who) {
        m_job = who.job;
        m_is_job_guessed = who.is_job_guessed != 0;
        m_ranks.clear();
        m_replaces = m_size > 0;
        m_size = m_end = m_last_rank = 0;
        const auto version = json_text(std::string(who.version));
        m_head = std::string(first_words) + version.substr(1) + R"(,"job":)" + json_text(who.job) +
                 "},\"traceEvents\":[";
    }

    /// Whether it was not there yet.
    bool add(const part_content& part) {
        const auto& who = part.header;
        // Whoever wrote it was killed before it could remove the part.
        if (std::any_of(m_ranks.begin(), m_ranks.end(), [&](const known_rank& other) {
                return other.node == who.node && other.process == who.process && other.begun == who.begun;
            }))
            return false;
        const auto line = line_of(part);
        const auto process = process_of(who);
        const bool has_messages = std::any_of(part.transfers.begin(), part.transfers.end(),
                                              [](const auto& each) { return each.message != 0; });
        const json about{{"rank", who.rank},
                         {"ranks", who.ranks},
                         {"host", who.host},
                         {"process", who.process},
                         {"direct_links", who.links},
                         {"node", std::to_string(who.node)},
                         {"job", who.job},
                         {"job_guessed", who.is_job_guessed != 0},
                         {"begun", who.begun},
                         {"begun_since_1970", who.begun_since_1970},
                         {"ended", who.ended != 0},
                         {"cut", who.is_cut != 0},
                         {"clock", m_compared},
                         {"clock_points", json_of(line)},
                         {"clock_uncertainty_ns", line.uncertainty()},
                         {"has_messages", has_messages},
                         {"commands_without_times", commands_without_times(part)},
                         {"rank_before", m_last_rank}};
        auto added = m_head + (m_ranks.empty() ? "\n" : ",\n");
        const auto rank_at = m_end + added.size();
        const auto pid = R"(,"pid":)" + std::to_string(process.number) + R"(,"tid":0,"args":)";
        added += std::string(rank_mark) + pid + json_text(about) + "},\n" + trace_events(part, line, process);
        const auto end = m_end + added.size();
        added += ",\n" + std::string(end_mark) + pid + json_text({{"last_rank", rank_at}}) + "}" + std::string(tail);
        write(added);
        m_end = end;
        m_last_rank = rank_at;
        m_head.clear();
        m_ranks.push_back({who.rank, who.ranks, process.number, who.node, who.process, who.begun, who.begun_since_1970,
                           has_messages, line});
        return true;
    }

  private:
    /// Looks for the last lines in `text`, which lies at `from` and reaches to m_size; whether they are there.
    bool find_end(std::string_view text, std::size_t from) {
        const auto at = text.rfind(end_mark);
        if (!text.ends_with(tail) || at == std::string_view::npos || at < 2) return false;
        const auto told = json::parse(text.substr(at, text.size() - tail.size() - at), nullptr, false);
        if (!told.is_object()) return false;
        m_last_rank = told.value("/args/last_rank"_json_pointer, std::size_t{0});
        m_end = from + at - std::string_view(",\n").size();
        return true;
    }

    /// Somebody was killed while he wrote, and his part is still there.
    void recover() {
        const auto whole = m_file->read(0, m_size);
        if (const auto last = whole.rfind(tail); last != std::string::npos) {
            m_size = last + tail.size();
            if (find_end(std::string_view(whole).substr(0, m_size), 0)) return;
        }
        m_size = m_end = 0;
        // Without any tail all is kept but for the last process, which may not be whole.
        const auto torn = whole.rfind(rank_mark);
        const auto before = torn == std::string::npos || torn == 0 ? std::string::npos
                                                                   : whole.rfind(rank_mark, torn - 1);
        if (before == std::string::npos) return;
        m_last_rank = before;
        m_size = m_end = torn - std::string_view(",\n").size();
    }

    void read_ranks() {
        for (auto at = m_last_rank; at != 0;) {
            const auto line = line_at(at);
            const auto told = json::parse(std::string_view(line).substr(0, line.rfind('}') + 1), nullptr, false);
            if (!told.is_object() || !told.contains("args")) break;
            try {
                note(told);
                const auto before = told["args"].value("rank_before", std::size_t{0});
                at = before < at ? before : 0;
            } catch (const std::exception&) { // of a type that nothing of ours writes, or a number that is none
                throw transfer_error(status::io_error, "the timeline " + m_file->path() + " is damaged at byte " +
                                                           std::to_string(at) + "; remove it, or name another");
            }
        }
        std::reverse(m_ranks.begin(), m_ranks.end());
    }

    [[nodiscard]] std::string line_at(std::size_t offset) const {
        constexpr std::size_t some = 4096;
        std::string line;
        for (auto end = std::string::npos; end == std::string::npos && offset < m_size; offset += some) {
            line += m_file->read(offset, std::min(some, m_size - offset));
            end = line.find('\n');
            if (end != std::string::npos) line.resize(end);
        }
        return line;
    }

    void note(const json& told) {
        const auto& args = told["args"];
        m_job = args.value("job", "");
        m_is_job_guessed = args.value("job_guessed", false);
        known_rank known{args.value("rank", 0),
                         args.value("ranks", 1),
                         told.value("pid", 0),
                         std::stoull(args.value("node", "0")),
                         args.value("process", std::int64_t{0}),
                         args.value("begun", std::int64_t{0}),
                         args.value("begun_since_1970", std::int64_t{0}),
                         args.value("has_messages", false),
                         {}};
        constexpr int most = 1 << 30;
        if (known.ranks <= 0 || known.ranks > most || known.shown_as < 0 || known.shown_as > most)
            throw std::out_of_range("rank");
        for (const auto& each : args.value("clock_points", json::array()))
            known.to_reference.add(each.at(0), each.at(1), each.at(2));
        m_ranks.push_back(std::move(known));
    }

    /// From the end of the events on. A disk that is full leaves the file as it was.
    void write(std::string_view added) {
        if (m_replaces) {
            replace(added);
            return;
        }
        m_file->cut(m_size);
        const auto over_tail = m_size - m_end;
        try {
            m_file->write(m_size, added.substr(over_tail));
        } catch (const transfer_error&) {
            m_file->cut(m_size);
            throw;
        }
        m_file->write(m_end, added.substr(0, over_tail));
        m_size = m_end + added.size();
    }

    void replace(std::string_view whole) {
        // One that was killed here has left such a file.
        const auto beside = m_file->path() + ".new";
        auto file = std::make_unique<open_file>(beside, O_RDWR | O_CREAT | O_NOFOLLOW);
        if (!file->is_open()) {
            if (!may_only_write_in_place(errno)) file->refuse("opening");
            write_in_place(whole);
            return;
        }
        if (!file->is_regular())
            throw transfer_error(status::io_error, "writing a timeline: " + beside + " is no regular file");
        if (!file->is_own())
            throw transfer_error(status::io_error, "writing a timeline: " + beside + " is another user's");
        require_timeline(*file, beside);
        // Whoever opens it by its later name waits; that of what it replaces is held until then.
        (void)file->lock(lock_patience);
        try {
            file->cut(0);
            file->take_rights_of(*m_file);
            file->write(0, whole);
            if (::rename(beside.c_str(), m_file->path().c_str()) != 0) {
                if (!may_only_write_in_place(errno)) file->refuse("naming");
                ::unlink(beside.c_str());
                write_in_place(whole);
                return;
            }
        } catch (const transfer_error&) {
            ::unlink(beside.c_str());
            throw;
        }
        file->name(m_file->path());
        m_file = std::move(file);
        m_size = whole.size();
        m_replaces = false;
    }

    /// A folder that takes no new files, another user's file in a folder like /tmp, a file that is mounted by itself.
    static bool may_only_write_in_place(int reason) {
        return reason == EACCES || reason == EPERM || reason == EROFS || reason == EBUSY;
    }
    void write_in_place(std::string_view whole) {
        m_file->cut(0);
        m_size = 0;
        m_file->write(0, whole);
        m_size = whole.size();
        m_replaces = false;
    }

    /// A mark without times, as NVIDIA's driver has them, stands for a command before it in its queue, if those are
    /// seen.
    static std::size_t commands_without_times(const part_content& part) {
        std::set<std::uint64_t> seen;
        for (const auto* told : {&part.commands, &part.waits_for_commands})
            for (const auto& each : *told)
                if (each.ended != 0) seen.insert(each.queue);
        return static_cast<std::size_t>(
            std::count_if(part.waits_for_commands.begin(), part.waits_for_commands.end(), [&](const auto& each) {
                return each.ended == 0 && (part.text(each.name) != "marker" || !seen.contains(each.queue));
            }));
    }

    /// The rank; for a further program of the rank (`sh -c './prepare && ./solve'`) a number that nobody has.
    [[nodiscard]] timeline_process process_of(const record::file_header& who) const {
        timeline_process process{who.rank, 0};
        const auto is_taken = [&](const known_rank& other) { return other.shown_as == process.number; };
        while (std::any_of(m_ranks.begin(), m_ranks.end(), is_taken)) process.number += std::max(who.ranks, 1);
        for (const auto& other : m_ranks)
            if (other.rank == who.rank && other.has_messages) ++process.programs_before;
        return process;
    }

    /// The first rank's clock is the reference. Ranks of its node have the same; of others, what their messages tell
    /// counts, else the time of day.
    clock_line line_of(const part_content& part) {
        const auto& who = part.header;
        m_compared = "reference";
        clock_line line;
        if (m_ranks.empty()) return line;
        m_compared = "of one node";
        for (const auto& other : m_ranks)
            if (other.node == who.node) return other.to_reference;
        m_compared = "by messages";
        for (const auto& other : m_ranks) {
            for (const auto& seen : part.peers) {
                if (seen.rank != other.rank) continue;
                const auto beyond = other.to_reference.difference_at(seen.when + seen.least);
                line.add(seen.when, seen.least + beyond, seen.most + beyond);
            }
            if (!line.empty()) return line;
        }
        m_compared = "by the time of day";
        const auto& first = m_ranks.front();
        const auto difference = (who.begun_since_1970 - who.begun) - (first.begun_since_1970 - first.begun) +
                                first.to_reference.difference_at(first.begun);
        line.add(who.begun, difference - second / 1000, difference + second / 1000);
        return line;
    }

    std::unique_ptr<open_file> m_file;
    std::string m_job, m_head; // m_head: what comes before the first rank
    bool m_is_job_guessed = false;
    bool m_replaces = false; // what is there is of another job, until the first rank is written
    std::size_t m_end = 0, m_size = 0; // of the events; of all, but for what was cut off while it was added
    std::size_t m_last_rank = 0; // where its line begins
    std::vector<known_rank> m_ranks;
    const char* m_compared = "";
};

/// Adds what dead ranks of the job have left. Parts of other jobs belong to a timeline that is replaced.
std::size_t take(const std::vector<left_part>& left, collection& all) {
    std::size_t added = 0;
    for (const auto& each : left) {
        try {
            if (all.has(each.header) && all.add(read_part(each.file->number(), each.path))) ++added;
        } catch (const transfer_error&) { // the disk is full
            throw;
        } catch (const std::exception& error) {
            warn_once(each.path + " is damaged, and stays where it is: " + error.what());
            continue;
        }
        ::unlink(each.path.c_str());
    }
    return added;
}

} // namespace

void check_timeline(const std::string& timeline) {
    const open_file file(behind_links(timeline), O_RDONLY | O_NOFOLLOW);
    if (!file.is_open() && errno == ENOENT) return;
    if (!file.is_open()) file.refuse("opening");
    require_timeline(file, timeline);
}

void add_part(const std::string& timeline, const std::string& part, std::chrono::milliseconds patience) {
    collection all(timeline, without_lock::refuse, patience);
    const open_file recorded(part, O_RDONLY | O_NOFOLLOW);
    if (!recorded.is_open()) recorded.refuse("reading a part of");
    const auto own = read_part(recorded.number(), part);
    if (!all.has(own.header)) all.begin(own.header);
    (void)all.add(own);
    ::unlink(part.c_str());
    try {
        (void)take(left_parts(timeline), all);
    } catch (const std::exception&) { // what is left stays for the next, and does not concern this rank
        return;
    }
}

std::size_t add_left_parts(const std::string& timeline, std::chrono::milliseconds patience) {
    auto left = left_parts(timeline);
    if (left.empty()) return 0;
    std::sort(left.begin(), left.end(),
              [](const auto& a, const auto& b) { return a.header.begun_since_1970 > b.header.begun_since_1970; });
    const auto& newest = left.front().header;
    collection all(timeline, without_lock::go_on, patience);
    // A job of which no rank came to its end has not replaced the timeline of the one before.
    if (all.begun_since_1970() < newest.begun_since_1970 && !all.has(newest)) all.begin(newest);
    return take(left, all);
}

} // namespace causeway::trace
