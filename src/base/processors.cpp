// SPDX-License-Identifier: Apache-2.0
// Asks for the affinity, and reads what cgroups say.
#include "base/processors.hpp"

#include "base/cgroup.hpp"
#include "base/launch.hpp"
#include "base/whole_file.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>

namespace causeway::processors {

namespace {

namespace fs = std::filesystem;

unsigned of_machine() { return static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))); }

unsigned of_affinity() {
    // The kernel refuses a set that is smaller than its own.
    constexpr int most = 1 << 16;
    for (int count = CPU_SETSIZE; count <= most; count *= 2) {
        const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(count),
                                                                   [](cpu_set_t* one) { CPU_FREE(one); });
        const auto bytes = CPU_ALLOC_SIZE(count);
        if (set != nullptr && ::sched_getaffinity(0, bytes, set.get()) == 0)
            return static_cast<unsigned>(std::max(1, CPU_COUNT_S(bytes, set.get())));
    }
    return of_machine();
}

std::optional<double> number_of(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

/// "max 100000" is no quota, "150000 100000" one and a half processors.
std::optional<double> quota_of(std::string_view line) {
    const auto space = line.find(' ');
    const auto time = number_of(line.substr(0, space));
    const auto period = space == std::string_view::npos ? std::nullopt : number_of(line.substr(space + 1));
    return time && period && *time > 0 && *period > 0 ? std::optional(*time / *period) : std::nullopt;
}

double find_quota(const fs::path& root) {
    auto least = bounds{}.quota;
    cgroup::for_each_folder(root, "cpu", [&least](const fs::path& folder) {
        for (const auto& line : {first_line_of(folder / "cpu.max"), first_line_of(folder / "cpu.cfs_quota_us") + " " +
                                                                        first_line_of(folder / "cpu.cfs_period_us")})
            least = std::min(least, quota_of(line).value_or(least));
    });
    return least;
}

unsigned find_there(const fs::path& root) {
    auto least = of_machine();
    cgroup::for_each_folder(root, "cpuset", [&least](const fs::path& folder) {
        for (const char* const name : {"cpuset.cpus.effective", "cpuset.effective_cpus"})
            if (const auto count = count_of(first_line_of(folder / name)); count > 0) least = std::min(least, count);
    });
    return least;
}

} // namespace

unsigned count_of(std::string_view list) {
    unsigned count = 0;
    const char *at = list.data(), *const end = at + list.size();
    while (at < end) {
        unsigned first = 0;
        auto read = std::from_chars(at, end, first);
        if (read.ec != std::errc()) return 0;
        auto last = first;
        if (read.ptr < end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
        if (read.ec != std::errc() || last < first) return 0;
        count += last - first + 1;
        if (read.ptr < end && *read.ptr != ',') return 0;
        at = std::min(read.ptr + 1, end);
    }
    return count;
}

unsigned part_of_rank(const bounds& known) {
    const auto ranks = std::max(1U, known.ranks);
    // A rank that may use only some of what is there was bound to them: alone, or with others of its socket, say.
    const bool is_bound = known.affinity < known.there;
    const auto share = std::max(1U, (is_bound ? known.there : known.affinity) / ranks);
    const auto own = std::min(known.affinity, share);
    const auto time = std::min(known.quota / ranks, static_cast<double>(own));
    return std::max(1U, static_cast<unsigned>(time));
}

bounds find_bounds(const fs::path& root) {
    return {of_affinity(), find_there(root), find_quota(root),
            static_cast<unsigned>(std::max(1, launch::local_ranks()))};
}

} // namespace causeway::processors
