// SPDX-License-Identifier: Apache-2.0
// Times and checks both ways to distribute the coefficients of the nanopowder simulation, on 1 to 40 ranks.
#include "nanopowder/problem.hpp"

#include "common/end_job.hpp"
#include "common/program.hpp"
#include "common/statistics.hpp"

#include <getopt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

namespace {

using namespace nanopowder;

// Sums of thousands of numbers in single precision: 2e-7 is what was seen.
constexpr double tolerance = 1e-6;

constexpr const char*
    usage = "usage: causeway run -n RANKS nanopowder [options]     RANKS is at most 40\n"
            "  --steps N          steps of a timed run (default 20)\n"
            "  --rounds N         timed runs of each version, taken in turn (default 3)\n"
            "  --version NAME     baseline, causeway or all (default)\n"
            "  --verify           compare with the same steps on the host in double precision (at most 5)\n"
            "  --platform NAME    part of the OpenCL platform's name (default: the first with a device)\n"
            "  --device INDEX     device of the platform (default: rank modulo the number of devices)\n";

struct options {
    int steps = 20, rounds = 3;
    std::string version = "all", platform;
    std::optional<std::size_t> device;
    bool verify = false, help = false;
};

options parse(int argc, char** argv) {
    const option names[] = {{"steps", required_argument, nullptr, 's'},    {"rounds", required_argument, nullptr, 'r'},
                            {"version", required_argument, nullptr, 'v'},  {"verify", no_argument, nullptr, 'c'},
                            {"platform", required_argument, nullptr, 'p'}, {"device", required_argument, nullptr, 'd'},
                            {"help", no_argument, nullptr, 'h'},           {}};
    options parsed;
    opterr = 0;
    for (int name; (name = getopt_long(argc, argv, "", names, nullptr)) != -1;) switch (name) {
        case 's': parsed.steps = apps::number<int>(optarg, 1); break;
        case 'r': parsed.rounds = apps::number<int>(optarg, 1); break;
        case 'v': parsed.version = optarg; break;
        case 'c': parsed.verify = true; break;
        case 'p': parsed.platform = optarg; break;
        case 'd': parsed.device = apps::number<std::size_t>(optarg, 0); break;
        case 'h': parsed.help = true; break;
        default: throw std::invalid_argument(std::string("unknown or incomplete option: ") + argv[optind - 1]);
        }
    if (optind != argc) throw std::invalid_argument(std::string("unexpected argument: ") + argv[optind]);
    if (parsed.version != "all" && parsed.version != "baseline" && parsed.version != "causeway")
        throw std::invalid_argument("no version \"" + parsed.version + "\"");
    return parsed;
}

/// A version with what its runs have shown so far.
struct contender {
    const char* name;
    std::unique_ptr<simulation> way;
    std::vector<double> seconds;
    double lost = 0;  // of either metal, relative to what has nucleated; the largest of all runs
    double error = 0; // relative to the host's population
    double growth = 0; // particles are so many times as large as when they nucleated, on average
};

/// Seconds of the slowest rank.
double timed_run(problem& problem, contender& contender, int steps) {
    problem.reset();
    const auto start = std::chrono::steady_clock::now();
    contender.way->run(steps);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, problem.communicator());
    if (problem.rank() == 0) {
        const metals there = volume_of(problem.population()), supplied = problem.supplied();
        const double lost = std::max(std::abs(there.first / supplied.first - 1),
                                     std::abs(there.second / supplied.second - 1));
        contender.lost = std::isnan(lost) ? INFINITY : std::max(contender.lost, lost);
        const auto& population = problem.population();
        contender.growth = (there.first + there.second) / std::accumulate(population.begin(), population.end(), 0.0);
    }
    return seconds;
}

/// Of particles, relative to the largest class.
double largest_difference(const std::vector<float>& population, const std::vector<double>& expected) {
    double largest = 0, scale = 0;
    for (std::size_t at = 0; at < population.size(); ++at) {
        const double difference = std::abs(population[at] - expected[at]);
        largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
        scale = std::max(scale, expected[at]);
    }
    return largest / scale;
}

/// Whether no metal was lost, and the host's populations were found.
bool benchmark(const options& options) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const auto devices = apps::devices_of(options.platform);
    const cl_device_id device = apps::device_of(options.platform,
                                                options.device.value_or(std::size_t(rank) % devices.size()));
    problem problem(MPI_COMM_WORLD, device);

    std::vector<contender> contenders;
    if (options.version != "causeway") contenders.push_back({"baseline", make_baseline(problem), {}});
    if (options.version != "baseline") contenders.push_back({"causeway", make_causeway(problem), {}});

    // The verified run warms up as well.
    const int verified_steps = std::min(options.steps, 5);
    std::vector<double> expected;
    if (options.verify && rank == 0) expected = simulate_on_host(verified_steps);
    for (contender& contender : contenders) {
        timed_run(problem, contender, verified_steps);
        if (!expected.empty()) contender.error = largest_difference(problem.population(), expected);
    }
    // One kernel computes the same from the same coefficients, however they came.
    bool agree = true;
    std::vector<float> population;
    for (int round = 0; round < options.rounds; ++round)
        for (contender& contender : contenders) {
            contender.seconds.push_back(timed_run(problem, contender, options.steps));
            if (population.empty()) population = problem.population();
            agree = agree && problem.population() == population;
        }

    int right = agree && std::ranges::all_of(contenders, [](const contender& each) {
                    return each.lost <= tolerance && each.error <= tolerance;
                });
    MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("nanopowder: %zu classes, %.1f MB of coefficients a step, %d rank%s, %d steps, %s\n", classes,
                    double(problem::table_bytes) / 1e6, ranks, ranks == 1 ? "" : "s", options.steps,
                    apps::device_name(device).c_str());
        std::printf("%-9s %9s  %-19s %10s %11s %9s %7s\n", "version", "seconds", "(quartiles)", "ms a step",
                    "metal lost", "error", "growth");
        for (const contender& contender : contenders) {
            const auto seconds = apps::quartiles_of(contender.seconds);
            char range[32], error[16] = "-";
            std::snprintf(range, sizeof range, "(%.3f - %.3f)", seconds.lower, seconds.upper);
            if (options.verify) std::snprintf(error, sizeof error, "%.1e", contender.error);
            std::printf("%-9s %9.3f  %-19s %10.2f %11.1e %9s %7.2f\n", contender.name, seconds.median, range,
                        seconds.median / options.steps * 1e3, contender.lost, error, contender.growth);
        }
        if (right == 0) std::printf("VERIFICATION FAILED\n");
    }
    return right == 1;
}

} // namespace

int main(int argc, char** argv) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    int code = 0;
    try {
        if (provided < MPI_THREAD_MULTIPLE) throw std::runtime_error("this MPI does not offer MPI_THREAD_MULTIPLE");
        const options options = parse(argc, argv);
        if (options.help) {
            if (rank == 0) std::printf("%s", usage);
        } else {
            code = benchmark(options) ? 0 : 1;
        }
    } catch (const std::invalid_argument& error) {
        if (rank == 0) std::fprintf(stderr, "nanopowder: %s\n%s", error.what(), usage);
        code = 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "nanopowder: rank %d: %s\n", rank, error.what());
        apps::end_job(1);
    }
    MPI_Finalize();
    return code;
}
