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
        const bool is_too_large = items > on.largest_group(one.of, one.options);
        if (is_too_large && !one.is_of_items()) continue;
        auto& series = points[one.figure + one.of.name];
        if (series.empty()) order.push_back(&one);
        series.push_back({one.x, on.launch(one.of, one.global, is_too_large ? shape{} : one.local, one.options)});
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
    // The first two fit into the private caches of a core, the last does not.
    for (const int share : {10'000, 30'000, 500'000}) {
        const auto n = static_cast<std::size_t>(share) * static_cast<std::size_t>(openmp::threads());
        const auto series = std::to_string(share) + " elements a thread";
        std::vector<float> a(n, 1), b(n, 2), c(n), d(n);
        std::array<std::vector<double>, 2> times;
        const auto begin = now();
        for (int round = 0; round < 5 || (round < 2000 && now() - begin < 4 * spent.seconds); ++round)
            for (const bool misaligned : {false, true})
                times[misaligned ? 1 : 0].push_back(openmp::second_loop(a, b, c, d, misaligned));
        const auto aligned = quick_time(times[0]), misaligned = quick_time(times[1]);
        all.push_back(
            {"table 7", "OpenMP, " + std::to_string(openmp::threads()) + " threads", series, "aligned", aligned, 1});
        all.push_back({"table 7", "OpenMP, " + std::to_string(openmp::threads()) + " threads", series, "misaligned",
                       misaligned, misaligned > 0 ? aligned / misaligned : 0});
    }
}

} // namespace paper
