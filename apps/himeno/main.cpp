// SPDX-License-Identifier: Apache-2.0
// Times and verifies the three ways of solving the Himeno problem, on any number of ranks.
#include "common/end_job.hpp"
#include "common/program.hpp"
#include "common/statistics.hpp"
#include "communication_lines.hpp"
#include "himeno/solver.hpp"

#include <getopt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

using namespace himeno;

constexpr double tolerance = 1e-5;

constexpr const char*
    usage = "usage: causeway run -n RANKS himeno [options]\n"
            "  --size XS|S|M|L|XL          grid (default S)\n"
            "  --iterations N              iterations of a timed run (default 50)\n"
            "  --rounds N                  timed runs of each version, taken in turn (default 5)\n"
            "  --version NAME              serial, hand, causeway or all (default)\n"
            "  --verify                    compare with the same iterations on the host\n"
            "  --reference-iterations N    iterations to verify (default: as timed; at most 10 for L, 3 for XL)\n"
            "  --platform NAME             part of the OpenCL platform's name (default: the first with a device)\n"
            "  --device INDEX              device of the platform (default: rank modulo the number of devices)\n";

struct options {
    grid size = grid_named("S");
    int iterations = 50, rounds = 5;
    std::string version = "all", platform;
    std::optional<int> device, reference_iterations;
    bool verify = false, help = false;

    [[nodiscard]] int verified_iterations() const {
        const std::string_view name = size.name;
        const int affordable = name == "XL" ? 3 : name == "L" ? 10 : iterations;
        return reference_iterations.value_or(std::min(iterations, affordable));
    }
};

options parse(int argc, char** argv) {
    const option names[] = {
        {"size", required_argument, nullptr, 's'},     {"iterations", required_argument, nullptr, 'i'},
        {"rounds", required_argument, nullptr, 'r'},   {"version", required_argument, nullptr, 'v'},
        {"verify", no_argument, nullptr, 'c'},         {"reference-iterations", required_argument, nullptr, 'n'},
        {"platform", required_argument, nullptr, 'p'}, {"device", required_argument, nullptr, 'd'},
        {"help", no_argument, nullptr, 'h'},           {}};
    options parsed;
    opterr = 0;
    for (int name; (name = getopt_long(argc, argv, "", names, nullptr)) != -1;) switch (name) {
        case 's': parsed.size = grid_named(optarg); break;
        case 'i': parsed.iterations = apps::number<int>(optarg, 1); break;
        case 'r': parsed.rounds = apps::number<int>(optarg, 1); break;
        case 'v': parsed.version = optarg; break;
        case 'c': parsed.verify = true; break;
        case 'n': parsed.reference_iterations = apps::number<int>(optarg, 1); break;
        case 'p': parsed.platform = optarg; break;
        case 'd': parsed.device = apps::number<int>(optarg, 0); break;
        case 'h': parsed.help = true; break;
        default: throw std::invalid_argument(std::string("unknown or incomplete option: ") + argv[optind - 1]);
        }
    if (optind != argc) throw std::invalid_argument(std::string("unexpected argument: ") + argv[optind]);
    if (parsed.version != "all" && parsed.version != "serial" && parsed.version != "hand" &&
        parsed.version != "causeway")
        throw std::invalid_argument("no version \"" + parsed.version + "\"");
    return parsed;
}

cl_device_id choose_device(const options& options, int rank) {
    if (options.device) return apps::device_of(options.platform, std::size_t(*options.device));
    const auto devices = apps::devices_of(options.platform);
    return devices[std::size_t(rank) % devices.size()];
}

/// A version of the solver with what its runs have shown so far.
struct contender {
    const char* name;
    int lines;
    std::unique_ptr<solver> way;
    std::vector<double> seconds;
    double gosa = 0;
    double error = 0; // relative, the largest of all verified runs
    bool verified = true;
};

/// Seconds of the slowest rank for one run from the initial data.
double timed_run(problem& problem, solver& way, int iterations) {
    problem.reset();
    MPI_Barrier(problem.communicator());
    const auto start = std::chrono::steady_clock::now();
    way.run(iterations);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, problem.communicator());
    return seconds;
}

double relative_error(double value, double expected) {
    const double error = std::abs(value - expected) / std::abs(expected);
    return std::isnan(error) ? INFINITY : error;
}

double largest_difference(const std::vector<float>& one, const std::vector<float>& two) {
    double largest = 0;
    for (std::size_t cell = 0; cell < one.size(); ++cell) {
        const double difference = std::abs(double(one[cell]) - two[cell]);
        largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
    }
    return largest;
}

/// Compares gosa, and on grids up to M every pressure, after the run that `problem` has just seen.
void verify(problem& problem, contender& contender, int iterations, const reference_result& reference) {
    double error = relative_error(problem.gosa(), reference.gosa);
    if (problem.size().planes <= 128) {
        const auto pressure = problem.gather_pressure(iterations);
        if (problem.rank() == 0) // pressures reach 1: this is relative too
            error = std::max(error, largest_difference(pressure, reference.pressure));
    }
    contender.error = std::max(contender.error, error);
    contender.verified = contender.verified && error <= tolerance;
}

double spread(const apps::quartiles& times) { return times.upper - times.lower; }

/// What a run takes beyond its kernels alone, as a share of its exchanges alone, is communication that shows; the rest
/// is hidden. Kernels alone and exchanges alone are the serial version's parts, timed in the same round. From 0 to 1;
/// nothing if runs or kernels alone vary more than exchanges take, for then it would tell of that noise.
std::optional<double> hidden_share(const contender& contender, const std::vector<double>& computation,
                                   const std::vector<double>& communication) {
    const double noise = std::max(spread(apps::quartiles_of(contender.seconds)),
                                  spread(apps::quartiles_of(computation)));
    if (noise > apps::quartiles_of(communication).median) return std::nullopt;
    std::vector<double> shares;
    for (std::size_t round = 0; round < contender.seconds.size(); ++round)
        shares.push_back(1 - (contender.seconds[round] - computation[round]) / communication[round]);
    return std::clamp(apps::quartiles_of(shares).median, 0.0, 1.0);
}

void print_table(const problem& problem, const options& options, const std::vector<contender>& contenders,
                 const std::vector<double>& computation, const std::vector<double>& communication, int ranks) {
    const auto kernels = apps::quartiles_of(computation);
    const auto exchanges = apps::quartiles_of(communication);
    std::printf("computation alone %.3f ms, communication alone %.3f ms per iteration\n\n",
                kernels.median / options.iterations * 1e3, exchanges.median / options.iterations * 1e3);
    std::printf("%-9s %10s  %-23s %-13s %-9s %7s %6s\n", "version", "MFLOPS", "(quartiles)", "gosa", "error", "hidden",
                "lines");
    for (const contender& contender : contenders) {
        const auto seconds = apps::quartiles_of(contender.seconds);
        const double megaflops = problem.size().flops_per_iteration() * options.iterations / 1e6;
        char range[48], error[16] = "-", hidden[16] = "-";
        std::snprintf(range, sizeof(range), "(%.0f - %.0f)", megaflops / seconds.upper, megaflops / seconds.lower);
        if (options.verify) std::snprintf(error, sizeof(error), "%.1e", contender.error);
        const auto share = hidden_share(contender, computation, communication);
        if (ranks > 1 && share) std::snprintf(hidden, sizeof(hidden), "%.0f %%", 100 * *share);
        std::printf("%-9s %10.0f  %-23s %-13.6e %-9s %7s %6d%s\n", contender.name, megaflops / seconds.median, range,
                    contender.gosa, error, hidden, contender.lines, contender.verified ? "" : "  WRONG");
    }
    std::printf("\nhidden: share of communication behind computation; - if runs vary more than communication takes\n"
                "lines: lines of communication code\n");
}

/// Whether every version was right.
bool benchmark(const options& options) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const cl_device_id device = choose_device(options, rank);
    problem problem(options.size, MPI_COMM_WORLD, device);
    const int verified_iterations = options.verified_iterations();

    if (rank == 0) {
        std::printf("Himeno %s (%d x %d x %d), %d rank%s, %d iterations, %d round%s, %s\n", options.size.name,
                    options.size.planes, options.size.rows, options.size.columns, ranks, ranks == 1 ? "" : "s",
                    options.iterations, options.rounds, options.rounds == 1 ? "" : "s",
                    apps::device_name(device).c_str());
        if (options.verify)
            std::printf("verified after %d iterations against the host, tolerance %.0e\n", verified_iterations,
                        tolerance);
        std::fflush(stdout);
    }

    reference_result reference;
    if (options.verify) {
        if (rank == 0) reference = solve_on_host(options.size, verified_iterations);
        MPI_Bcast(&reference.gosa, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }

    const auto wanted = [&](const char* name) { return options.version == "all" || options.version == name; };
    std::vector<contender> contenders;
    if (wanted("serial")) contenders.push_back({"serial", communication_lines::serial, make_serial(problem)});
    if (wanted("hand"))
        contenders.push_back({"hand", communication_lines::hand_optimised, make_hand_optimised(problem)});
    if (wanted("causeway")) contenders.push_back({"causeway", communication_lines::causeway, make_causeway(problem)});
    const auto computation = make_serial(problem, parts::computation);
    const auto communication = make_serial(problem, parts::communication);

    // The verified run warms up as well.
    for (contender& contender : contenders) {
        timed_run(problem, *contender.way, verified_iterations);
        if (options.verify) verify(problem, contender, verified_iterations, reference);
    }

    std::vector<double> computation_seconds, communication_seconds;
    for (int round = 0; round < options.rounds; ++round) {
        computation_seconds.push_back(timed_run(problem, *computation, options.iterations));
        communication_seconds.push_back(timed_run(problem, *communication, options.iterations));
        for (contender& contender : contenders) {
            contender.seconds.push_back(timed_run(problem, *contender.way, options.iterations));
            contender.gosa = problem.gosa();
            if (options.verify && verified_iterations == options.iterations)
                verify(problem, contender, options.iterations, reference);
        }
    }

    int right = std::ranges::all_of(contenders, &contender::verified) ? 1 : 0;
    MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        print_table(problem, options, contenders, computation_seconds, communication_seconds, ranks);
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
        if (rank == 0) std::fprintf(stderr, "himeno: %s\n%s", error.what(), usage);
        code = 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "himeno: rank %d: %s\n", rank, error.what());
        apps::end_job(1);
    }
    MPI_Finalize();
    return code;
}
