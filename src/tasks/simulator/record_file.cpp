// SPDX-License-Identifier: Apache-2.0
// Addresses of a record are those of the process that it is of; the simulator gives each allocation a place of its own.
#include "tasks/simulator/record_file.hpp"

#include "base/error.hpp"
#include "base/whole_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>

namespace causeway::tasks::simulator {

namespace {

constexpr const char* first_line = "causeway tasks 2";
constexpr std::array<const char*, 5> words = {"standard", "fine", "coarse", "local", "plugin"};

/// Where the simulator puts what a record has, by the record's address.
class moved_addresses {
  public:
    void add(program& to, std::uintptr_t begin, std::uint64_t bytes, distribution how) {
        m_known[begin] = {bytes, to.allocate(bytes, how)};
    }
    /// Null if no allocation has it.
    [[nodiscard]] std::optional<std::uintptr_t> find(std::uintptr_t address) const {
        auto after = m_known.upper_bound(address);
        if (after == m_known.begin()) return std::nullopt;
        const auto& [begin, its] = *std::prev(after);
        if (address - begin >= its.first) return std::nullopt;
        return its.second + (address - begin);
    }

  private:
    std::map<std::uintptr_t, std::pair<std::uint64_t, std::uintptr_t>> m_known;
};

/// Of the bytes whose node is known, those on other nodes; -1 if there are none.
double remote_part(const recorded_task& task, const address_map& addresses, unsigned node, std::size_t nodes) {
    std::vector<std::uint64_t> bytes(nodes);
    for (const auto& each : task.regions) (void)addresses.count(each, bytes.data());
    const auto all = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
    return all == 0 ? -1 : 1 - static_cast<double>(bytes[node]) / static_cast<double>(all);
}

} // namespace

void write_record(const std::string& path, const std::vector<recorded_task>& tasks, const address_map& addresses,
                  std::span<const unsigned> node_of_worker, std::size_t nodes) {
    std::ostringstream file;
    file << first_line << '\n';
    std::map<std::uintptr_t, extent> allocations;
    for (const auto& task : tasks)
        for (const auto& each : task.regions)
            if (extent known; addresses.find(each.begin, known)) allocations.emplace(known.begin, known);
    for (const auto& [begin, its] : allocations)
        file << "allocation " << begin << ' ' << its.bytes << ' ' << words[static_cast<std::size_t>(its.how)] << '\n';
    for (const auto& task : tasks) {
        file << "task " << (task.parent == recorded_task::none ? -1 : std::int64_t{task.parent}) << ' ' << task.group
             << ' ' << task.begin << ' ' << task.end << ' ' << task.others << ' ' << task.worker << ' '
             << (task.ready == 0 ? task.begin : task.ready) << ' '
             << (task.from == no_worker ? -1 : std::int64_t{task.from}) << ' '
             << came_by_words[static_cast<std::size_t>(task.way)] << ' '
             << remote_part(task, addresses, node_of_worker[task.worker], nodes) << '\n';
        for (const auto& each : task.regions)
            file << "region " << each.begin << ' ' << each.bytes << ' ' << static_cast<int>(each.how) << ' '
                 << each.most_used << '\n';
    }
    if (!write_file(path, file.view()))
        throw transfer_error(status::io_error, "writing the record " + path + ": " + errno_text(errno), errno);
}

record_content read_record(const std::string& path) {
    const auto whole = read_file(path);
    if (!whole) throw transfer_error(status::io_error, "the record " + path + ": " + errno_text(errno), errno);
    std::istringstream file(*whole);
    std::size_t number = 1;
    const auto refuse = [&](const std::string& why) -> transfer_error {
        return {status::invalid_value, "the record " + path + ", line " + std::to_string(number) + ": " + why};
    };
    std::string line;
    if (!std::getline(file, line) || line != first_line)
        throw refuse(std::string("it does not begin with \"") + first_line + '"');
    record_content read;
    read.replay.name = path;
    moved_addresses moved;
    while (std::getline(file, line)) {
        ++number;
        std::istringstream in(line);
        std::string kind;
        in >> kind;
        if (kind == "allocation") {
            std::uintptr_t begin = 0;
            std::uint64_t bytes = 0;
            std::string word;
            if (!(in >> begin >> bytes >> word)) throw refuse("an allocation has a begin, bytes and a distribution");
            moved.add(read.replay, begin, bytes, distribution_of(word).value_or(distribution::fine));
        } else if (kind == "task") {
            std::int64_t parent = 0, begin = 0, end = 0, others = 0, ready = 0, from = 0;
            std::uint32_t group = 0;
            unsigned worker = 0;
            double remote = 0;
            std::string way;
            if (!(in >> parent >> group >> begin >> end >> others >> worker >> ready >> from >> way >> remote) ||
                end < begin)
                throw refuse(
                    "a task has a parent, a group, a begin, an end after it, the time of others, a worker, the "
                    "time when it was ready, by whom, how it came, and its remote part");
            const auto known = std::find(came_by_words.begin(), came_by_words.end(), way);
            if (known == came_by_words.end()) throw refuse("no way of a task: " + way);
            const auto self = static_cast<std::uint32_t>(read.replay.tasks.size());
            if (parent >= static_cast<std::int64_t>(self)) throw refuse("the task's parent comes behind it");
            if (group > self) throw refuse("groups are numbered in the order in which tasks name them");
            auto& made = read.replay.tasks.emplace_back();
            made.parent = parent < 0 ? none : static_cast<std::uint32_t>(parent);
            made.group = group;
            made.its.seconds = static_cast<double>(std::max<std::int64_t>(0, end - begin - others)) * 1e-9;
            if (parent >= 0) read.replay.tasks[static_cast<std::size_t>(parent)].waits_for_children = true;
            read.slices.push_back({self, worker, static_cast<double>(begin) * 1e-9, static_cast<double>(end) * 1e-9,
                                   remote, static_cast<double>(ready) * 1e-9,
                                   from < 0 ? no_worker : static_cast<std::uint32_t>(from),
                                   static_cast<came_by>(known - came_by_words.begin())});
        } else if (kind == "region") {
            std::uintptr_t begin = 0;
            std::uint64_t bytes = 0;
            int how = 0, most_used = 0;
            if (!(in >> begin >> bytes >> how >> most_used) || how < 0 || how > 3 || read.replay.tasks.empty())
                throw refuse("a region has a begin, bytes, an access from 0 to 3, and 1 if it is used most; it comes "
                             "behind its task");
            if (bytes > std::numeric_limits<std::uintptr_t>::max() - begin)
                throw refuse("the region ends behind the last address");
            read.replay.tasks.back().regions.push_back(
                {moved.find(begin).value_or(begin), bytes, static_cast<access>(how), most_used != 0});
        } else {
            throw refuse("no such line: " + kind);
        }
    }
    return read;
}

} // namespace causeway::tasks::simulator
