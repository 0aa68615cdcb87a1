// SPDX-License-Identifier: Apache-2.0
// One line is one event, so that a part is added by writing over the last line.
#include "trace/collection.hpp"

#include "base/error.hpp"
#include "trace/timeline.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace causeway::trace {

namespace {

using nlohmann::json;

constexpr std::string_view rank_mark = R"({"ph":"M","name":"causeway_rank")";
constexpr std::string_view tail = "\n]}\n";
constexpr std::int64_t second = 1'000'000'000;

/// An open file; errors name it.
class open_file {
  public:
    open_file(std::string path, int flags) : m_path(std::move(path)), m_number(::open(m_path.c_str(), flags | O_CLOEXEC, 0644)) {}
    ~open_file() {
        if (m_number >= 0) ::close(m_number);
    }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;

    [[nodiscard]] bool is_open() const { return m_number >= 0; }
    [[nodiscard]] bool lock(int how) const { return ::flock(m_number, how) == 0; }
    [[nodiscard]] std::string read() const {
        std::string bytes;
        const auto size = ::lseek(m_number, 0, SEEK_END);
        if (size < 0) refuse("reading");
        bytes.resize(static_cast<std::size_t>(size));
        std::size_t done = 0;
        while (done < bytes.size()) {
            const auto now = ::pread(m_number, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
            if (now < 0 && errno == EINTR) continue;
            if (now < 0) refuse("reading");
            if (now == 0) break;
            done += static_cast<std::size_t>(now);
        }
        bytes.resize(done);
        return bytes;
    }
    /// Puts `bytes` at `offset`, and ends the file there.
    void end_with(std::size_t offset, std::string_view bytes) const {
        if (::ftruncate(m_number, static_cast<off_t>(offset)) != 0) refuse("writing");
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
        throw transfer_error(status::io_error, std::string(what) + " the timeline " + m_path + ": " + errno_text(reason),
                             reason);
    }

  private:
    std::string m_path;
    int m_number;
};

/// The parts that lie beside `timeline`.
std::vector<std::string> parts_of(const std::string& timeline) {
    namespace fs = std::filesystem;
    const fs::path whole(timeline);
    const auto folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
    const auto prefix = whole.filename().string() + ".";
    std::vector<std::string> found;
    std::error_code ignored;
    for (const auto& each : fs::directory_iterator(folder, ignored)) {
        const auto name = each.path().filename().string();
        if (name.starts_with(prefix) && name.ends_with(".part")) found.push_back(each.path().string());
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

/// Those beside `timeline`. What was left by a process that was killed before it had written anything is removed.
std::vector<left_part> left_parts(const std::string& timeline) {
    std::vector<left_part> found;
    for (auto& path : parts_of(timeline)) {
        // To be written, or NFS would not lock it.
        auto file = std::make_unique<open_file>(path, O_RDWR);
        if (!file->is_open() || !file->lock(LOCK_EX | LOCK_NB)) continue;
        if (const auto header = read_header(path)) {
            found.push_back({std::move(path), std::move(file), *header});
        } else {
            ::unlink(path.c_str());
        }
    }
    return found;
}

/// A rank whose events are in the file: its clock, and how it was compared with the others'.
struct known_rank {
    int rank = 0;
    std::uint64_t node = 0;
    std::int64_t begun = 0, begun_since_1970 = 0;
    clock_line to_reference;
};

class collection {
  public:
    explicit collection(const std::string& timeline) : m_file(timeline, O_RDWR | O_CREAT) {
        if (!m_file.is_open()) m_file.refuse("opening");
        // Another rank that adds its part ends soon, or dies and lets go.
        while (!m_file.lock(LOCK_EX))
            if (errno != EINTR) break;
        m_text = m_file.read();
        if (!m_text.ends_with(tail)) m_text.clear(); // of something else, or cut off
        std::size_t at = m_text.find(rank_mark);
        for (; at != std::string::npos; at = m_text.find(rank_mark, at + 1)) {
            auto line = m_text.substr(at, m_text.find('\n', at) - at);
            if (line.ends_with(',')) line.pop_back();
            note(json::parse(line, nullptr, false));
        }
        m_end = m_text.size();
    }

    [[nodiscard]] const std::string& job() const { return m_job; }
    /// Of the rank that began last; 0 if there is none.
    [[nodiscard]] std::int64_t begun_since_1970() const {
        std::int64_t latest = 0;
        for (const auto& each : m_ranks) latest = std::max(latest, each.begun_since_1970);
        return latest;
    }

    void begin(const record::file_header& who) {
        m_job = who.job;
        m_ranks.clear();
        m_text = R"({"displayTimeUnit":"ns","otherData":{"made_by":)" + json("causeway " + std::string(who.version)).dump() +
                 R"(,"job":)" + json(who.job).dump() + "},\"traceEvents\":[" + std::string(tail);
        m_end = 0;
    }

    void add(const part_content& part) {
        const auto& who = part.header;
        clock_line line = line_of(part);
        json about{{"rank", who.rank}, {"ranks", who.ranks}, {"host", who.host}, {"process", who.process},
                   {"direct_links", who.links},
                   {"node", std::to_string(who.node)}, {"job", who.job}, {"begun", who.begun},
                   {"begun_since_1970", who.begun_since_1970}, {"ended", who.ended != 0},
                   {"cut", who.is_cut != 0}, {"clock", m_compared},
                   {"clock_difference_ns", line.difference_at(who.begun)}, {"clock_uncertainty_ns", line.uncertainty()},
                   {"commands_without_times", commands_without_times(part)}};
        auto added = std::string(m_text.ends_with("[" + std::string(tail)) ? "\n" : ",\n");
        const auto kept = m_text.size() - tail.size();
        added += std::string(rank_mark) + R"(,"pid":)" + std::to_string(who.rank) + R"(,"tid":0,"args":)" + about.dump() + "}";
        added += ",\n" + trace_events(part, line);
        m_text.resize(kept);
        m_text += added;
        m_text += tail;
        m_end = std::min(m_end, kept);
        m_ranks.push_back({who.rank, who.node, who.begun, who.begun_since_1970, line});
    }

    void write() {
        m_file.end_with(m_end, std::string_view(m_text).substr(m_end));
        m_end = m_text.size();
    }

  private:
    void note(const json& told) {
        if (!told.is_object() || !told.contains("args")) return;
        const auto& args = told["args"];
        m_job = args.value("job", "");
        known_rank known{args.value("rank", 0), std::stoull(args.value("node", "0")), args.value("begun", std::int64_t{0}),
                         args.value("begun_since_1970", std::int64_t{0}), {}};
        const auto difference = args.value("clock_difference_ns", std::int64_t{0});
        if (difference != 0) known.to_reference.add(known.begun, difference, difference);
        m_ranks.push_back(std::move(known));
    }

    static std::size_t commands_without_times(const part_content& part) {
        return static_cast<std::size_t>(std::count_if(part.waits_for_commands.begin(), part.waits_for_commands.end(),
                                                      [](const auto& each) { return each.ended == 0; }));
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

    open_file m_file;
    std::string m_text, m_job;
    std::size_t m_end = 0; // of what is in the file and stays
    std::vector<known_rank> m_ranks;
    const char* m_compared = "";
};

/// Adds what dead ranks of the job have left. Parts of other jobs belong to a timeline that is replaced.
std::size_t take(const std::vector<left_part>& left, collection& all) {
    std::size_t added = 0;
    for (const auto& each : left) {
        if (each.header.job != all.job()) continue;
        all.add(read_part(each.path));
        ++added;
    }
    all.write();
    for (const auto& each : left) ::unlink(each.path.c_str());
    return added;
}

} // namespace

void add_part(const std::string& timeline, const std::string& part) {
    collection all(timeline);
    const auto own = read_part(part);
    if (own.header.job != all.job()) all.begin(own.header);
    all.add(own);
    all.write();
    ::unlink(part.c_str());
    (void)take(left_parts(timeline), all);
}

std::size_t add_left_parts(const std::string& timeline) {
    const auto left = left_parts(timeline);
    if (left.empty()) return 0;
    const auto& newest = std::max_element(left.begin(), left.end(), [](const auto& a, const auto& b) {
                             return a.header.begun_since_1970 < b.header.begun_since_1970;
                         })->header;
    collection all(timeline);
    // A job of which no rank came to its end has not replaced the timeline of the one before.
    if (all.begun_since_1970() < newest.begun_since_1970 && all.job() != newest.job) all.begin(newest);
    return take(left, all);
}

} // namespace causeway::trace
