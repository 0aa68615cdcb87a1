// SPDX-License-Identifier: Apache-2.0
// The paper's programs on this machine: each under each policy, interleaved, with the median and the quartiles.
#include "tasks/problem.hpp"

#include <causeway/tasks_simulator.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace task_problems;

struct named_problem {
    const char* name;
    std::unique_ptr<problem> (*make)(const options&);
    causeway_distribution advised;
};
constexpr std::array<named_problem, 6> problems = {{
    {"map", make_map, CAUSEWAY_DISTRIBUTION_COARSE},
    {"reduction", make_reduction, CAUSEWAY_DISTRIBUTION_FINE},
    {"vecmul", make_vecmul, CAUSEWAY_DISTRIBUTION_COARSE},
    {"matmul", make_matmul, CAUSEWAY_DISTRIBUTION_COARSE},
    {"jacobi", make_jacobi, CAUSEWAY_DISTRIBUTION_FINE},
    {"sparselu", make_sparselu, CAUSEWAY_DISTRIBUTION_COARSE},
}};
constexpr std::array<std::pair<const char*, causeway_task_policy>, 4> policies = {{
    {"work-stealing", CAUSEWAY_TASK_POLICY_WORK_STEALING},
    {"central", CAUSEWAY_TASK_POLICY_CENTRAL_QUEUE},
    {"locality", CAUSEWAY_TASK_POLICY_LOCALITY},
    {"locality-paper", CAUSEWAY_TASK_POLICY_LOCALITY_PAPER},
}};
constexpr std::array<std::pair<const char*, causeway_distribution>, 4> distributions = {{
    {"standard", CAUSEWAY_DISTRIBUTION_STANDARD},
    {"fine", CAUSEWAY_DISTRIBUTION_FINE},
    {"coarse", CAUSEWAY_DISTRIBUTION_COARSE},
    {"local", CAUSEWAY_DISTRIBUTION_LOCAL},
}};

[[noreturn]] void usage(const std::string& why) {
    const bool is_wrong = !why.empty();
    if (is_wrong) std::fprintf(stderr, "task_problems: %s\n", why.c_str());
    std::fputs(
        "usage: task_problems [--small] [--threads N] [--rounds N] [--seconds N] [--distribution NAME] [--policy "
        "NAME]\n"
        "                     [--record FOLDER] [--model N]... [PROBLEM]...\n"
        "problems: map reduction vecmul matmul jacobi sparselu; without --small with the paper's inputs for nodes "
        "(vecmul,\n"
        "  of which it gives none: 96 vectors of 768 KiB)\n"
        "distributions: standard fine coarse local\n"
        "policies: work-stealing central locality locality-paper, all if none is named\n"
        "--model: a run recorded on one thread is replayed on N modelled cores, and run on N threads; may be repeated\n"
        "--record: one more run of each under the first policy, as FOLDER/PROBLEM.tasks\n",
        is_wrong ? stderr : stdout);
    std::exit(is_wrong ? 2 : 0);
}

std::size_t policy_named(const std::string& name) {
    for (std::size_t each = 0; each < policies.size(); ++each)
        if (name == policies[each].first) return each;
    usage("no policy " + name);
}

double seconds_of(problem& one, causeway::task_pool& pool) {
    one.reset();
    const auto begin = std::chrono::steady_clock::now();
    causeway::task_group group(pool);
    one.spawn(group);
    group.wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double record(problem& one, causeway::task_pool& pool, const std::string& path) {
    if (causeway_task_record_begin(pool.get()) == CAUSEWAY_TASKS_SUCCESS) {
        const double seconds = seconds_of(one, pool);
        if (causeway_task_record_end(pool.get(), path.c_str()) == CAUSEWAY_TASKS_SUCCESS) return seconds;
    }
    throw std::runtime_error(causeway_tasks_last_error());
}

/// The simulator's one-node case beside real runs: what one worker recorded, on more of this machine's cores.
void compare_with_model(const named_problem& of, problem& one, const std::vector<unsigned>& counts, unsigned rounds) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("task_problems." + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()));
    {
        causeway::task_pool pool({.policy = CAUSEWAY_TASK_POLICY_WORK_STEALING, .threads = 1});
        double shortest = seconds_of(one, pool); // memory is there
        // Of several the one that least came between; of a long one the first.
        for (unsigned round = 0; round == 0 || (round < rounds && shortest < 1); ++round) {
            const auto next = path.string() + ".next";
            const double seconds = record(one, pool, next);
            if (round > 0 && seconds >= shortest) continue;
            shortest = seconds;
            std::filesystem::rename(next, path);
        }
        std::filesystem::remove(path.string() + ".next");
    }
    for (const auto threads : counts) {
        causeway::task_pool pool({.policy = CAUSEWAY_TASK_POLICY_WORK_STEALING, .threads = threads});
        std::vector<double> times;
        for (unsigned round = 0; round < rounds; ++round) times.push_back(seconds_of(one, pool));
        std::sort(times.begin(), times.end());
        causeway_simulation asked{};
        asked.machine = "this";
        asked.program = path.c_str();
        asked.policy = "work-stealing";
        asked.cores = threads;
        causeway_simulation_result modelled{};
        if (causeway_tasks_simulate(&asked, &modelled) != CAUSEWAY_TASKS_SUCCESS)
            throw std::runtime_error(causeway_tasks_last_error());
        std::printf("%-10s %7u %10.3f %10.3f %12.3f %8.2f\n", of.name, threads, 1e3 * times[times.size() / 2],
                    1e3 * times.front(), 1e3 * modelled.seconds, modelled.seconds / times.front());
        std::fflush(stdout);
    }
    std::filesystem::remove(path);
}

int act(int argc, char** argv) {
    options with;
    bool advised = true;
    unsigned threads = 0, rounds = 5;
    double most_seconds = 1e9;
    std::vector<std::string_view> wanted;
    std::vector<std::size_t> under;
    std::vector<unsigned> modelled_counts;
    std::string records;
    for (int each = 1; each < argc; ++each) {
        const std::string_view word = argv[each];
        const auto value = [&]() -> std::string {
            if (++each == argc) usage(std::string(word) + " wants a value");
            return argv[each];
        };
        if (word == "--help") {
            usage({});
        } else if (word == "--small") {
            with.small = true;
        } else if (word == "--threads" || word == "--rounds") {
            const auto text = value();
            (word == "--threads" ? threads : rounds) = static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 10));
        } else if (word == "--seconds") {
            most_seconds = std::strtod(value().c_str(), nullptr);
        } else if (word == "--model") {
            const auto count = static_cast<unsigned>(std::strtoul(value().c_str(), nullptr, 10));
            if (count == 0 || count > 4096) usage("--model is a number of cores");
            modelled_counts.push_back(count);
        } else if (word == "--policy") {
            under.push_back(policy_named(value()));
        } else if (word == "--record") {
            records = value();
        } else if (word == "--distribution") {
            const auto text = value();
            const auto known = std::find_if(distributions.begin(), distributions.end(),
                                            [&](const auto& one) { return text == one.first; });
            if (known == distributions.end()) usage("no distribution " + text);
            with.distribution = known->second;
            advised = false;
        } else if (std::none_of(problems.begin(), problems.end(), [&](const auto& one) { return word == one.name; })) {
            usage("no problem or option " + std::string(word));
        } else {
            wanted.push_back(word);
        }
    }
    if (rounds == 0) usage("--rounds is a number above 0");
    if (under.empty()) under = {0, 1, 2, 3};

    if (modelled_counts.empty())
        std::printf("%-10s %-15s %10s %10s %10s %12s   nodes %u\n", "problem", "policy", "median ms", "quartiles", "",
                    "of the first", causeway_node_count());
    else
        std::printf("%-10s %7s %10s %10s %12s %8s\n", "problem", "threads", "median ms", "shortest", "modelled ms",
                    "ratio");
    std::fflush(stdout);
    bool right = true;
    for (const auto& one : problems) {
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), one.name) == wanted.end()) continue;
        if (advised) with.distribution = one.advised;
        const auto made = one.make(with);
        if (!modelled_counts.empty()) {
            compare_with_model(one, *made, modelled_counts, rounds);
            continue;
        }
        std::array<std::vector<double>, policies.size()> times;
        const auto begin = std::chrono::steady_clock::now();
        const auto passed = [&] { return std::chrono::steady_clock::now() - begin; };
        for (unsigned round = 0; round < rounds; ++round) {
            if (round > 0 && passed() > std::chrono::duration<double>(most_seconds)) break;
            for (const auto each : under) {
                causeway::task_pool pool({.policy = policies[each].second, .threads = threads});
                times[each].push_back(seconds_of(*made, pool));
                if (round == 0 && !made->is_right()) {
                    std::fprintf(stderr, "task_problems: %s under %s: not what a serial run gives\n", one.name,
                                 policies[each].first);
                    right = false;
                }
            }
        }
        double first = 0;
        for (const auto each : under) {
            auto& its = times[each];
            std::sort(its.begin(), its.end());
            const double median = its[its.size() / 2];
            if (first == 0) first = median;
            std::printf("%-10s %-15s %10.3f %10.3f %10.3f %12.3f\n", one.name, policies[each].first, 1e3 * median,
                        1e3 * its[its.size() / 4], 1e3 * its[its.size() * 3 / 4], first / median);
        }
        std::fflush(stdout);
        if (records.empty()) continue;
        causeway::task_pool pool({.policy = policies[under.front()].second, .threads = threads});
        (void)record(*made, pool, records + "/" + one.name + ".tasks");
    }
    return right ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return act(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "task_problems: %s\n", error.what());
        return 1;
    }
}
