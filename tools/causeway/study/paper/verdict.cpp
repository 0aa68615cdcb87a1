// SPDX-License-Identifier: Apache-2.0
#include "study/paper/verdict.hpp"

#include "study/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

namespace paper {

namespace {

// docs/study.md names these limits.
constexpr double small_part = 0.5, large_part = 0.2, removed = 0.3; // of a program's run; of the time to compile
constexpr double helps = 1.1, hurts = 0.9; // speed relative to the base
constexpr double beats_null = 1.05, beats_copy = 1.02, alike = 0.05;

using study::median;

std::string number(double value, const char* unit) {
    char text[48];
    std::snprintf(text, sizeof text, "%.2f%s", value, unit);
    return text;
}

const char* word_of(bool one, bool other) {
    if (one && other) return "holds";
    return one || other ? "holds in part" : "holds no more";
}
const char* word_of(bool holds) { return word_of(holds, holds); }

bool is_near_one(double value) { return value > 1 - alike && value < 1 + alike; }
bool differs(double value) { return value < hurts || value > helps; }

using condition = std::function<bool(const row&)>;
condition x_is(const std::string& x) {
    return [x](const row& each) { return each.x == x; };
}

/// The rows of one device, and those of table 7, which belong to no device.
class evidence {
  public:
    evidence(std::string device, const rows& all) : m_device(std::move(device)), m_all(all) {}

    [[nodiscard]] std::vector<row> of(const std::string& figure) const {
        std::vector<row> found;
        for (const auto& each : m_all)
            if (each.figure == figure && (each.device == m_device || figure == "table 7")) found.push_back(each);
        return found;
    }
    [[nodiscard]] std::vector<double> values(const std::string& figure, const condition& wanted) const {
        std::vector<double> found;
        for (const auto& each : of(figure))
            if (wanted(each)) found.push_back(each.value);
        return found;
    }
    [[nodiscard]] double middle(const std::string& figure, const condition& wanted) const {
        return median(values(figure, wanted));
    }
    [[nodiscard]] double middle_seconds(const std::string& figure, const condition& wanted) const {
        std::vector<double> found;
        for (const auto& each : of(figure))
            if (wanted(each)) found.push_back(each.seconds);
        return median(found);
    }
    /// The median over series of their best value.
    [[nodiscard]] double best(const std::string& figure) const {
        std::map<std::string, std::vector<measured_twice>> series;
        for (const auto& each : of(figure)) series[each.series].push_back(each.halves);
        std::vector<double> found;
        for (const auto& [name, ways] : series) found.push_back(best_as_confirmed(ways));
        return median(found);
    }

  private:
    std::string m_device;
    const rows& m_all;
};

verdict on_calls(const evidence& by) {
    const auto kernel = by.middle("3-7", x_is("kernel"));
    return {"API calls cost more than kernels in short programs", word_of(kernel < small_part),
            "kernels take " + number(100 * kernel, " %") + " of the median program"};
}

verdict on_compilation(const evidence& by) {
    const auto is_compiling = x_is("compilation");
    const auto share = by.middle("3-7", is_compiling), kept = by.middle("3-7 kept", is_compiling),
               seconds = by.middle_seconds("3-7", is_compiling), again = by.middle_seconds("3-7 kept", is_compiling);
    return {"compilation is a large part, and keeping binaries removes it",
            word_of(share > large_part, again < removed * seconds),
            number(100 * share, " %") + " of the median program, " + number(1e3 * seconds, " ms") +
                "; from its binary " + number(1e3 * again, " ms") + " (" + number(100 * kept, " %") + ")"};
}

verdict on_items(const evidence& by, bool is_cpu) {
    const auto best = by.best("8"), thousand = by.middle("8", x_is("1000"));
    const auto parboil = by.best("11"), four = by.middle("11", x_is("4"));
    const auto figure = "the best of 1 to 1000: " + number(best, " x") + ", 1000: " + number(thousand, " x") +
                        "; Parboil's kernels, the best of 1 to 4: " + number(parboil, " x") +
                        ", 4: " + number(four, " x");
    if (is_cpu) return {"more work per item helps", word_of(best > helps, parboil > helps), figure};
    return {"more work per item hurts GPUs", word_of(thousand < hurts, four < hurts), figure};
}

verdict on_parallel_instructions(const evidence& by, bool is_cpu) {
    const auto best = by.best("13");
    return {is_cpu ? "instruction-level parallelism helps" : "instruction-level parallelism does not matter on GPUs",
            word_of((best > helps) == is_cpu), "the best of 1 to 8 chains: " + number(best, " x")};
}

verdict on_groups(const evidence& by) {
    // Figure 14's first size is NULL or the program's; the smallest has one item.
    const auto best = by.best("14"),
               one = by.middle("14", [](const row& each) { return each.x == "1" || each.x == "1x1"; });
    return {"larger groups help, and NULL is not the best", word_of(one<hurts * best, best> beats_null),
            "groups of one " + number(one, " x") + " of NULL or 16x16, the best size " + number(best, " x")};
}

verdict on_memory(const evidence& by) {
    std::vector<double> maps, large_maps, flags, allocations;
    std::map<std::string, double> times;
    for (const auto& each : by.of("22, 26, 27")) times[each.series + "|" + each.x] = each.seconds;
    for (const auto& each : times) {
        const std::string& key = each.first;
        const double time = each.second;
        const auto with = [&](const std::string& from, const std::string& to) {
            auto other = key;
            const auto at = other.find(from);
            if (at == std::string::npos) return 0.;
            const auto found = times.find(other.replace(at, from.size(), to));
            return found != times.end() ? found->second : 0.;
        };
        const auto is_large = is_of_many_elements(key.substr(0, key.find('|')));
        if (const auto map = with(", copy", ", map"); map > 0) (is_large ? large_maps : maps).push_back(time / map);
        if (const auto narrow = with("|read-write", "|read-only/write-only"); narrow > 0)
            flags.push_back(time / narrow);
        if (const auto host = with(", device,", ", host,"); host > 0) allocations.push_back(time / host);
    }
    const bool is_all_same = is_near_one(median(flags)) && is_near_one(median(allocations));
    const bool wins_large = median(large_maps) > beats_copy, wins_small = median(maps) > beats_copy;
    return {"mapping beats copying; flags and allocation do not matter",
            wins_large && wins_small && is_all_same ? "holds" : word_of(wins_large || wins_small, false),
            "map for copy " + number(median(large_maps), " x") + " with a million elements and more, " +
                number(median(maps), " x") + " with fewer; read-only/write-only " + number(median(flags), " x") +
                ", host memory " + number(median(allocations), " x")};
}

verdict on_vectors_and_affinity(const evidence& by) {
    const auto opencl = by.values("28", x_is("OpenCL")), chains = by.values("algorithm 1", x_is("OpenCL"));
    const auto different = std::count_if(opencl.begin(), opencl.end(), differs);
    const auto [least, most] = std::minmax_element(opencl.begin(), opencl.end());
    // The first two sizes of table 7 fit into a core's caches; the last is there to show what they are worth.
    const auto misaligned = by.of("table 7");
    std::vector<double> in_caches;
    for (const auto& each : misaligned)
        if (each.x == "misaligned" && each.series != misaligned.back().series) in_caches.push_back(each.value);
    double affinity = 0;
    for (const auto each : in_caches) affinity += each / static_cast<double>(in_caches.size());
    const bool gains = affinity > 0 && affinity < 1 - alike;
    const auto many = 2 * static_cast<std::size_t>(different) > opencl.size();
    return {"OpenCL and OpenMP vectorise differently; affinity is worth some 15 %",
            word_of(many || (!chains.empty() && differs(chains.front())), gains),
            (opencl.empty()
                 ? "no OpenMP"
                 : "OpenCL " + number(*least, " to ") + number(*most, " x") + " of OpenMP, " +
                       std::to_string(different) + " of " + std::to_string(opencl.size()) +
                       " kernels differ; dependent chains " + number(chains.empty() ? 0 : chains.front(), " x")) +
                (affinity > 0 ? "; misaligned threads " + number(affinity, " x") : "; one processor, so no affinity")};
}

} // namespace

bool is_of_many_elements(const std::string& application) {
    const auto last = application.substr(application.rfind(' ') + 1); // the whole name where it is one word
    return std::strtoull(last.c_str(), nullptr, 10) >= 1'000'000;
}

double best_as_confirmed(const std::vector<measured_twice>& ways) {
    const auto best = std::max_element(ways.begin(), ways.end(),
                                       [](const auto& a, const auto& b) { return a.first < b.first; });
    return best == ways.end() ? 0 : best->second;
}

std::vector<verdict> verdicts(const std::string& device, bool is_cpu, const rows& all) {
    const evidence by(device, all);
    std::vector<verdict> found{on_calls(by),         on_compilation(by),
                               on_items(by, is_cpu), on_parallel_instructions(by, is_cpu),
                               on_groups(by),        on_memory(by)};
    if (is_cpu) found.push_back(on_vectors_and_affinity(by));
    return found;
}

std::vector<verdict> verdicts_of_all(const std::vector<judgement>& devices) {
    std::vector<verdict> all;
    for (const auto& [device, verdicts] : devices)
        for (std::size_t i = 0; i < verdicts.size(); ++i) {
            const auto& each = verdicts[i];
            if (i == all.size()) all.push_back({each.finding, each.word, ""});
            if (all[i].word != each.word) all[i].word = "differs by driver";
            all[i].figure += (all[i].figure.empty() ? "" : "; ") + device + ": " + each.word;
        }
    return all;
}

} // namespace paper
