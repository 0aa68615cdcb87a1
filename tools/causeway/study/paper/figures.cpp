// SPDX-License-Identifier: Apache-2.0
// The points of one series are measured in turn: what else the machine does meets all of them.
#include "study/paper/figures.hpp"

#include "study/paper/kernels.hpp"
#include "study/paper/openmp.hpp"
#include "study/paper/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <stdexcept>

namespace paper {

namespace {

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// The lower quartile: what else the machine does only makes times longer.
double quick_time(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 4];
}

std::vector<double> every_other(const std::vector<double>& times, std::size_t from) {
    std::vector<double> some;
    for (auto i = from; i < times.size(); i += 2) some.push_back(times[i]);
    return some;
}

struct point {
    std::string x;
    std::function<void()> once;
    std::vector<double> times = {};
};

/// Rows of one series; values are throughputs relative to the first point.
void measure(std::vector<point>& points, const effort& spent, const std::string& figure, const std::string& device,
             const std::string& series, rows& all) {
    for (auto& each : points) each.once(); // warms up, and compiles
    const auto begin = now();
    const auto limit = spent.seconds * static_cast<double>(points.size());
    const int least = spent.is_hasty() ? 3 : 6; // three for each half
    for (int round = 0; round < least || (round < 200 && now() - begin < limit); ++round)
        for (auto& each : points) {
            const auto from = now();
            each.once();
            each.times.push_back(now() - from);
        }
    const auto speed = [&points](const point& of, const auto& part) {
        const auto base = quick_time(part(points.front().times)), seconds = quick_time(part(of.times));
        return seconds > 0 ? base / seconds : 0;
    };
    const auto whole = [](const std::vector<double>& times) { return times; };
    const auto even = [](const std::vector<double>& times) { return every_other(times, 0); };
    const auto odd = [](const std::vector<double>& times) { return every_other(times, 1); };
    for (const auto& each : points)
        all.push_back({figure,
                       device,
                       series,
                       each.x,
                       quick_time(each.times),
                       speed(each, whole),
                       {speed(each, even), speed(each, odd)}});
}

} // namespace

void measure_calls(cl_platform_id platform, cl_device_id raw, const effort& spent, rows& all) {
    static int build_number = 0;
    std::set<std::string> seen;
    // Each application as a program of its own would run it, once, with a source that no driver has kept; then from the
    // binary that came of it.
    for (const auto& of : applications()) {
        // One size of each kernel is enough: the others compile as long.
        if (of.name == "ILP" || of.name == "Chain" || spent.leaves_out(of) || !seen.insert(of.kernel).second) continue;
        std::string name;
        const auto salt = "-D SALT=" + std::to_string(static_cast<long long>(now() * 1e6)) +
                          std::to_string(build_number++);
        std::vector<unsigned char> kept;
        for (const bool is_warm : {false, true}) {
            const auto begin = now();
            device on(platform, raw);
            name = on.name();
            const auto made = now();
            if (is_warm)
                on.build_from(kept, of.kernel, salt);
            else
                (void)on.build(of.kernel, salt);
            const auto built = now();
            const auto once = on.launch(of, of.global, of.local, salt);
            const auto ready = now();
            once(); // PoCL compiles for this size here
            const auto first = now();
            once();
            const auto over = now();
            if (!is_warm) kept = on.binary_of(of.kernel, salt); // with what a first launch has compiled
            const auto kernel = over - first, compiled = built - made + std::max(0., first - ready - kernel);
            const auto whole = made - begin + compiled + (ready - built) + kernel;
            const auto add = [&](const char* what, double seconds) {
                all.push_back({is_warm ? "3-7 kept" : "3-7", name, of.name, what, seconds, seconds / whole});
            };
            add("context and queue", made - begin);
            add("compilation", compiled);
            add("buffers and data", ready - built);
            add("kernel", kernel);
        }
    }
}

void measure_scheduling(device& on, const effort& spent, rows& all) {
    std::map<std::string, std::vector<point>> points;
    std::vector<const scheduled*> order;
    const auto each_one = schedule(applications());
    for (const auto& one : each_one) {
        if (spent.leaves_out(one.of) && one.is_of_items()) continue;
        std::size_t items = 1;
        for (const auto each : one.local) items *= each;
        if (items > on.largest_group(one.of, one.options)) continue;
        auto& series = points[one.figure + one.of.name];
        if (series.empty()) order.push_back(&one);
        series.push_back({one.x, on.launch(one.of, one.global, one.local, one.options)});
    }
    for (const auto* one : order)
        measure(points[one->figure + one->of.name], spent, one->figure, on.name(), one->of.name, all);
}

namespace {

/// Of the eight ways of one application, those that differ in one thing alone: figures 22, 26 and 27.
void compare_memory(const rows& ways, rows& all) {
    struct pair {
        const char *figure, *better, *base;
    };
    for (const auto& [figure, better, base] :
         {pair{"22", ", map", ", copy"}, pair{"26", "read-only/write-only, ", "read-write, "},
          pair{"27", "host, ", "device, "}})
        for (const auto& each : ways) {
            const auto at = each.x.find(better);
            if (at == std::string::npos) continue;
            const std::string word = better;
            auto other = each.x, rest = each.x;
            other.replace(at, word.size(), base);
            rest.erase(at, word.size());
            const auto found = std::find_if(ways.begin(), ways.end(), [&](const row& one) { return one.x == other; });
            if (found != ways.end() && each.seconds > 0)
                all.push_back({figure, each.device, each.series, rest, each.seconds, found->seconds / each.seconds});
        }
}

} // namespace

void measure_memory(device& on, const effort& spent, rows& all) {
    for (const auto& of : applications()) {
        if (of.name == "ILP" || of.name == "Chain" || spent.leaves_out(of)) continue;
        struct option {
            access how;
            allocation where;
            transfer by;
            double in = 0, out = 0;
            std::vector<double> ins = {}, outs = {};
        };
        std::vector<option> options;
        options.reserve(8); // the points keep addresses in it
        std::vector<point> points;
        for (const auto how : {access::narrow, access::read_write})
            for (const auto where : {allocation::device, allocation::host})
                for (const auto by : {transfer::copy, transfer::map}) {
                    auto& one = options.emplace_back(option{how, where, by});
                    const std::string text = std::string(how == access::narrow ? "read-only/write-only"
                                                                               : "read-write") +
                                             ", " + (where == allocation::device ? "device" : "host") + ", " +
                                             (by == transfer::copy ? "copy" : "map");
                    const auto once = on.cycle(of, how, where, by, &one.in, &one.out);
                    points.push_back({text, [once, &one] {
                                          once();
                                          one.ins.push_back(one.in);
                                          one.outs.push_back(one.out);
                                      }});
                }
        rows found;
        measure(points, spent, "22, 26, 27", on.name(), of.name, found);
        all.insert(all.end(), found.begin(), found.end());
        compare_memory(found, all);
        for (std::size_t i = 0; i + 1 < options.size(); i += 2) { // copy, then map
            const auto in = quick_time(options[i].ins), out = quick_time(options[i].outs),
                       in_map = quick_time(options[i + 1].ins), out_map = quick_time(options[i + 1].outs);
            const auto figure_in = is_parboil(of) ? "25 in" : "23", figure_out = is_parboil(of) ? "25 out" : "24";
            all.push_back({figure_in, on.name(), of.name, points[i + 1].x, in_map, in_map > 0 ? in / in_map : 0});
            all.push_back({figure_out, on.name(), of.name, points[i + 1].x, out_map, out_map > 0 ? out / out_map : 0});
        }
    }
}

namespace {

/// What openmp.cpp is compiled for.
bool has_openmp_vectors() {
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
           __builtin_cpu_supports("bmi2") != 0;
#else
    return true;
#endif
}

} // namespace

namespace {

/// Functions and the order of sums differ; counts may not.
bool agree(const application& of, const std::vector<float>& ours, const std::vector<float>& theirs) {
    if (of.kernel == "histogram256")
        return ours.size() == theirs.size() &&
               std::memcmp(ours.data(), theirs.data(), ours.size() * sizeof(float)) == 0;
    float largest = 0, worst = 0;
    for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
        largest = std::max(largest, std::abs(ours[i]));
        worst = std::max(worst, std::isfinite(theirs[i]) ? std::abs(ours[i] - theirs[i]) : INFINITY);
    }
    return ours.size() == theirs.size() && worst <= 1e-3F * largest;
}

} // namespace

void measure_vectors(device& on, const effort& spent, rows& all) {
    if (!has_openmp_vectors()) return;
    for (const auto& of : applications()) {
        std::vector<std::vector<float>> inputs;
        std::vector<float> output;
        for (const auto& each : of.arguments) {
            const auto values = contents(each.bytes / sizeof(float));
            if (each.what == argument::sort::input || each.what == argument::sort::atoms) inputs.push_back(values);
            if (each.what == argument::sort::output) output = values;
        }
        inputs.resize(2);
        const auto run = [&] { openmp::run(of.kernel, inputs[0], inputs[1], output, of.number, of.count); };
        run();
        if (!agree(of, output, on.result(of, ""))) {
            std::fprintf(stderr, "causeway study --paper: %s gives other results with OpenMP, and has no figure 28\n",
                         of.name.c_str());
            continue;
        }
        std::vector<point> points;
        points.push_back({"OpenMP", run});
        points.push_back({"OpenCL", on.launch(of, of.global, of.local, "")});
        measure(points, spent, of.name == "Chain" ? "algorithm 1" : "28", on.name(), of.name, all);
    }
}

void measure_affinity(const effort& spent, rows& all) {
    if (!has_openmp_vectors() || openmp::threads() < 2) return;
    // What fits into the private caches of a core, and what does not.
    for (const std::size_t n : {std::size_t{20'000}, std::size_t{60'000}, std::size_t{2'000'000}}) {
        std::vector<float> a(n, 1), b(n, 2), c(n), d(n);
        std::array<std::vector<double>, 2> times;
        const auto begin = now();
        for (int round = 0; round < 5 || (round < 2000 && now() - begin < 4 * spent.seconds); ++round)
            for (const bool misaligned : {false, true})
                times[misaligned ? 1 : 0].push_back(openmp::second_loop(a, b, c, d, misaligned));
        const auto aligned = quick_time(times[0]), misaligned = quick_time(times[1]);
        all.push_back({"table 7", "OpenMP, " + std::to_string(openmp::threads()) + " threads",
                       std::to_string(n) + " elements", "aligned", aligned, 1});
        all.push_back({"table 7", "OpenMP, " + std::to_string(openmp::threads()) + " threads",
                       std::to_string(n) + " elements", "misaligned", misaligned,
                       misaligned > 0 ? aligned / misaligned : 0});
    }
}

namespace {

std::string number(double value, const char* unit) {
    char text[48];
    std::snprintf(text, sizeof text, "%.2f%s", value, unit);
    return text;
}

class judge {
  public:
    judge(std::string device, const rows& all) : m_device(std::move(device)), m_all(all) {}

    std::vector<double> values(const std::string& figure, const std::function<bool(const row&)>& wanted) const {
        std::vector<double> found;
        for (const auto& each : m_all)
            if (each.figure == figure && (each.device == m_device || figure == "table 7") && wanted(each))
                found.push_back(each.value);
        return found;
    }
    double middle(const std::string& figure, const std::function<bool(const row&)>& wanted) const {
        return median(values(figure, wanted));
    }
    /// The median over series of their best value.
    double best(const std::string& figure) const {
        std::map<std::string, std::vector<measured_twice>> series;
        for (const auto& each : m_all)
            if (each.figure == figure && each.device == m_device) series[each.series].push_back(each.halves);
        std::vector<double> found;
        for (const auto& [name, ways] : series) found.push_back(best_as_confirmed(ways));
        return median(found);
    }

  private:
    std::string m_device;
    const rows& m_all;
};

} // namespace

std::vector<verdict> verdicts(const std::string& device, bool is_cpu, const rows& all) {
    const judge by(device, all);
    const auto word = [](bool holds) { return holds ? "holds" : "holds no more"; };
    const auto x_is = [](const std::string& x) { return [x](const row& each) { return each.x == x; }; };
    std::vector<verdict> found;
    const auto kernel = by.middle("3-7", x_is("kernel")), compiled = by.middle("3-7", x_is("compilation"));
    found.push_back({"API calls cost more than kernels in short programs", word(kernel < 0.5),
                     "kernels take " + number(100 * kernel, " %") + " of the median program"});
    const auto kept = by.middle("3-7 kept", x_is("compilation"));
    const auto seconds = [&](const char* figure) {
        std::vector<double> times;
        for (const auto& each : all)
            if (each.figure == figure && each.device == device && each.x == "compilation")
                times.push_back(each.seconds);
        return median(times);
    };
    found.push_back({"compilation is a large part, and keeping binaries removes it",
                     word(compiled > 0.2 && seconds("3-7 kept") < 0.3 * seconds("3-7")),
                     number(100 * compiled, " %") + " of the median program, " + number(1e3 * seconds("3-7"), " ms") +
                         "; from its binary " + number(1e3 * seconds("3-7 kept"), " ms") + " (" +
                         number(100 * kept, " %") + ")"});
    const auto more = by.best("8"), thousand = by.middle("8", x_is("1000"));
    found.push_back({is_cpu ? "more work per item helps" : "more work per item hurts GPUs",
                     word(is_cpu ? more > 1.1 : thousand < 0.9),
                     "the best of 1 to 1000: " + number(more, " x") + "; 1000: " + number(thousand, " x")});
    const auto ilp = by.best("13");
    found.push_back(
        {is_cpu ? "instruction-level parallelism helps" : "instruction-level parallelism does not matter on GPUs",
         word(is_cpu ? ilp > 1.1 : ilp < 1.1), "the best of 1 to 8 chains: " + number(ilp, " x")});
    // Figure 14's first size is NULL or the program's; the smallest has one item.
    const auto large = by.best("14"),
               one = by.middle("14", [](const row& each) { return each.x == "1" || each.x == "1x1"; });
    found.push_back({"larger groups help, and NULL is not the best", word(large > 1.05 && one < large),
                     "the best is " + number(large, " x") + " of NULL or 16x16; groups of one " + number(one, " x")});
    std::vector<double> maps, large_maps, flags, allocations;
    std::map<std::string, double> times;
    for (const auto& each : all)
        if (each.figure == "22, 26, 27" && each.device == device) times[each.series + "|" + each.x] = each.seconds;
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
    const auto is_near_one = [](double value) { return value > 0.95 && value < 1.05; };
    const bool is_all_same = is_near_one(median(flags)) && is_near_one(median(allocations));
    const bool wins_large = median(large_maps) > 1.02, wins_small = median(maps) > 1.02;
    found.push_back({"mapping beats copying; flags and allocation do not matter",
                     wins_large && wins_small && is_all_same ? "holds"
                     : wins_large || wins_small              ? "holds in part"
                                                             : "holds no more",
                     "map for copy " + number(median(large_maps), " x") + " with a million elements and more, " +
                         number(median(maps), " x") + " with fewer; read-only/write-only " +
                         number(median(flags), " x") + ", host memory " + number(median(allocations), " x")});
    const auto opencl = by.values("28", x_is("OpenCL")), chains = by.values("algorithm 1", x_is("OpenCL"));
    const auto affinity = by.middle("table 7", x_is("misaligned"));
    if (is_cpu) {
        const bool differs = !opencl.empty() &&
                             (!is_near_one(median(opencl)) || (!chains.empty() && !is_near_one(chains[0])));
        const bool gains = affinity > 0 && affinity < 0.95;
        found.push_back({"OpenCL and OpenMP vectorise differently; affinity is worth some 15 %",
                         differs && gains   ? "holds"
                         : differs || gains ? "holds in part"
                                            : "holds no more",
                         "OpenCL " + number(median(opencl), " x") + " of OpenMP, dependent chains " +
                             number(chains.empty() ? 0 : chains[0], " x") +
                             (affinity > 0 ? "; misaligned threads " + number(affinity, " x")
                                           : "; one processor, so no affinity")});
    }
    return found;
}

} // namespace paper
