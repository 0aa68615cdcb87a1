// SPDX-License-Identifier: Apache-2.0
// Addresses of a record are those of the process that it is of; the simulator gives each allocation a place of its own.
#include "tasks/simulator/record_file.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

namespace causeway::tasks::simulator {

namespace {

constexpr const char* first_line = "causeway tasks 1";
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

} // namespace

void write_record(const std::string& path, const std::vector<recorded_task>& tasks, const address_map& addresses) {
    std::ofstream file(path);
    const auto failed = [&] {
        return transfer_error(status::io_error, "writing the record " + path + ": " + errno_text(errno), errno);
    };
    if (!file) throw failed();
    file << first_line << '\n';
    std::map<std::uintptr_t, const layout*> allocations;
    for (const auto& task : tasks)
        for (const auto& each : task.regions)
            if (const auto* const known = addresses.find(each.begin)) allocations.emplace(known->begin, known);
    for (const auto& [begin, its] : allocations)
        file << "allocation " << begin << ' ' << its->bytes << ' ' << words[static_cast<std::size_t>(its->how)] << '\n';
    for (const auto& task : tasks) {
        file << "task " << (task.parent == recorded_task::none ? -1 : std::int64_t{task.parent}) << ' ' << task.group
             << ' ' << task.begin << ' ' << task.end << ' ' << task.others << ' ' << task.worker << '\n';
        for (const auto& each : task.regions)
            file << "region " << each.begin << ' ' << each.bytes << ' ' << static_cast<int>(each.how) << ' '
                 << each.most_used << '\n';
    }
    if (!file.flush()) throw failed();
}

record_content read_record(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw transfer_error(status::io_error, "the record " + path + ": " + errno_text(errno), errno);
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
            std::int64_t parent = 0, begin = 0, end = 0, others = 0;
            std::uint32_t group = 0;
            unsigned worker = 0;
            if (!(in >> parent >> group >> begin >> end >> others >> worker) || end < begin)
                throw refuse(
                    "a task has a parent, a group, a begin, an end after it, the time of others, and a worker");
            const auto self = static_cast<std::uint32_t>(read.replay.tasks.size());
            if (parent >= static_cast<std::int64_t>(self)) throw refuse("the task's parent comes behind it");
            if (group > self) throw refuse("groups are numbered in the order in which tasks name them");
            auto& made = read.replay.tasks.emplace_back();
            made.parent = parent < 0 ? none : static_cast<std::uint32_t>(parent);
            made.group = group;
            made.its.seconds = static_cast<double>(std::max<std::int64_t>(0, end - begin - others)) * 1e-9;
            if (parent >= 0) read.replay.tasks[static_cast<std::size_t>(parent)].waits_for_children = true;
            read.slices.push_back(
                {self, worker, static_cast<double>(begin) * 1e-9, static_cast<double>(end) * 1e-9, 0});
        } else if (kind == "region") {
            std::uintptr_t begin = 0;
            std::uint64_t bytes = 0;
            int how = 0, most_used = 0;
            if (!(in >> begin >> bytes >> how >> most_used) || how < 0 || how > 3 || read.replay.tasks.empty())
                throw refuse("a region has a begin, bytes, an access from 0 to 3, and 1 if it is used most; it comes "
                             "behind its task");
            read.replay.tasks.back().regions.push_back(
                {moved.find(begin).value_or(begin), bytes, static_cast<access>(how), most_used != 0});
        } else {
            throw refuse("no such line: " + kind);
        }
    }
    return read;
}

} // namespace causeway::tasks::simulator
