// SPDX-License-Identifier: Apache-2.0
// Times and verifies the ways to solve BT-MZ, and says which share of the time the exchange took.
#include "bt_mz/capacity.hpp"
#include "bt_mz/device_heap.hpp"
#include "bt_mz/version.hpp"
#ifdef BT_MZ_DIRECTIVES
#include "bt_mz/directives.h"
#endif

#include "common/end_job.hpp"
#include "common/program.hpp"
#include "common/statistics.hpp"

#include <getopt.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace bt_mz;

constexpr const char* usage =
    "usage: causeway run -n RANKS bt_mz [options]\n"
    "  --class NAME        S (default), W, A, B, C or D\n"
    "  --one-zone          BT itself: one zone, so one rank and no exchange; S, W, A, B or C\n"
    "  --versions LIST     of host, staged, messages, one_sided, openshmem"
#ifdef BT_MZ_DIRECTIVES
    ", directives"
#endif
    "\n"
    "                      (default: staged,messages,one_sided)\n"
    "  --steps N           (default: the class's, whose results are published; after other numbers of steps, each\n"
    "                      version's result is compared with the first one's)\n"
    "  --rounds N          timed runs of each version, taken in turn (default 1)\n"
    "  --deal-again N      deal the zones again by ranks' times, at most N times (default 0: by inner points)\n"
    "  --kernels NAME      whole, split, coalesced, preloaded or fused (default); not with host"
#ifdef BT_MZ_DIRECTIVES
    ", directives"
#endif
    "\n"
    "  --move-fields       the fields go to the device and back for each kernel; not with host"
#ifdef BT_MZ_DIRECTIVES
    ", directives"
#endif
    "\n"
    "  --platform NAME     part of the OpenCL platform's name (default: the first with a device)\n"
    "  --device INDEX      device of the platform (default: rank modulo the number of devices)\n";

struct options {
    char kind = 'S';
    std::vector<std::string> versions = {"staged", "messages", "one_sided"};
    int steps = 0, rounds = 1, deals = 0;
    std::optional<kernels> code;
    residency fields = residency::stays;
    std::string platform;
    std::optional<std::size_t> device;
    bool one_zone = false, help = false;
};

constexpr std::string_view all_versions[] = {
    "host",       "staged", "messages", "one_sided", "openshmem",
#ifdef BT_MZ_DIRECTIVES
    "directives",
#endif
};

/// Throws std::invalid_argument if the versions do not exist, or an option changes nothing for one.
void check_versions(const options& options) {
    const auto refuse = [](const std::string& option, const std::string& version, const char* why) {
        throw std::invalid_argument(option + " changes nothing for the version " + version + ", " + why);
    };
    if (options.versions.empty()) throw std::invalid_argument("no versions");
    for (const std::string& name : options.versions) {
        if (std::ranges::find(all_versions, name) == std::end(all_versions))
            throw std::invalid_argument("no version \"" + name + "\" in this build");
        if (name != "host" && name != "directives") continue;
        if (options.code) refuse("--kernels", name, "which has its own code");
        if (options.fields == residency::moves) refuse("--move-fields", name, "whose fields stay where they are");
    }
    if (options.versions != std::vector<std::string>{"host"}) return;
    if (options.deals > 0) refuse("--deal-again", "host", "whose steps are not measured");
    if (!options.platform.empty()) refuse("--platform", "host", "which has no device");
    if (options.device) refuse("--device", "host", "which has no device");
}

options parse(int argc, char** argv) {
    const option names[] = {{"class", required_argument, nullptr, 'c'},
                            {"versions", required_argument, nullptr, 'v'},
                            {"steps", required_argument, nullptr, 's'},
                            {"rounds", required_argument, nullptr, 'r'},
                            {"deal-again", required_argument, nullptr, 'a'},
                            {"kernels", required_argument, nullptr, 'k'},
                            {"move-fields", no_argument, nullptr, 'm'},
                            {"platform", required_argument, nullptr, 'p'},
                            {"device", required_argument, nullptr, 'd'},
                            {"one-zone", no_argument, nullptr, '1'},
                            {"help", no_argument, nullptr, 'h'},
                            {}};
    options parsed;
    opterr = 0;
    for (int name; (name = getopt_long(argc, argv, "", names, nullptr)) != -1;) switch (name) {
        case 'c':
            if (std::string_view(optarg).size() != 1) refuse_class(optarg);
            parsed.kind = optarg[0];
            break;
        case '1': parsed.one_zone = true; break;
        case 'v': {
            parsed.versions.clear();
            std::istringstream list(optarg);
            for (std::string each; std::getline(list, each, ',');) {
                if (std::ranges::count(parsed.versions, each) > 0)
                    throw std::invalid_argument(each + " is named twice");
                parsed.versions.push_back(each);
            }
            break;
        }
        case 's': parsed.steps = apps::number<int>(optarg, 1); break;
        case 'r': parsed.rounds = apps::number<int>(optarg, 1); break;
        case 'a': parsed.deals = apps::number<int>(optarg, 0); break;
        case 'k': parsed.code = kernels_named(optarg); break;
        case 'm': parsed.fields = residency::moves; break;
        case 'p': parsed.platform = optarg; break;
        case 'd': parsed.device = apps::number<std::size_t>(optarg, 0); break;
        case 'h': parsed.help = true; break;
        default: throw std::invalid_argument(std::string("unknown or incomplete option: ") + argv[optind - 1]);
        }
    check_versions(parsed);
    if (optind != argc) throw std::invalid_argument(std::string("unexpected argument: ") + argv[optind]);
    return parsed;
}

/// Seconds of this rank, and of all processors that worked for it.
struct cost {
    double seconds, processor_seconds;
};

/// What a step cost in each block.
struct block_costs {
    std::vector<double> seconds{}, processor_seconds{};
};

/// A version with what its runs have shown so far.
struct contender {
    std::string name;
    std::unique_ptr<version> way;
    std::vector<double> seconds{}, processor_seconds{}; ///< of each run: of the slowest rank; of all ranks
    block_costs with{}, without{}; ///< an exchange; of this rank
    std::vector<norms> found{}; ///< of each round
};

/// Of this process.
double processor_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto of = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; };
    return of(used.ru_utime) + of(used.ru_stime);
}

double over_ranks(double value, MPI_Op operation) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    return value;
}

/// From a common begin until this rank's steps are done.
cost timed_steps(version& way, void (version::*step)(), int steps) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double used = processor_seconds();
    const auto begin = std::chrono::steady_clock::now();
    for (int count = 0; count < steps; ++count) (way.*step)();
    way.finish();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    return {elapsed.count(), processor_seconds() - used};
}

/// Blocks with and without an exchange in turn, and each of the two first in every other pair: what changes slowly on
/// the machine meets both. About as many steps in all as a run has. They change the field.
void time_blocks(contender& of, int steps) {
    const int pairs = std::min(4, steps), length = std::max(1, steps / (2 * pairs));
    for (int pair = 0; pair < pairs; ++pair) {
        const bool first = of.with.seconds.size() % 2 == 0;
        for (const bool exchanges : {first, !first}) {
            const cost block = timed_steps(*of.way, exchanges ? &version::step : &version::step_without_exchange,
                                           length);
            block_costs& its = exchanges ? of.with : of.without;
            its.seconds.push_back(block.seconds / length);
            its.processor_seconds.push_back(block.processor_seconds / length);
        }
    }
}

double median_of(const std::vector<double>& values) { return apps::quartiles_of(values).median; }

/// The longest less the shortest, as a part of the median.
double spread_of(const std::vector<double>& values) {
    const auto [least, most] = std::ranges::minmax(values);
    return (most - least) / median_of(values);
}

/// Parts of a step with an exchange, on average of the ranks: exchanging and waiting; and what of it unequal loads
/// cost.
struct shares {
    double exchange, uneven;
};

/// Collective. A rank's own median comes first: a block that was disturbed on one rank counts for none.
shares shares_of(const contender& of, int ranks) {
    const double with = over_ranks(median_of(of.with.seconds), MPI_MAX), without = median_of(of.without.seconds);
    const double mean = over_ranks(without, MPI_SUM) / ranks;
    return {1 - mean / with, (over_ranks(without, MPI_MAX) - mean) / with};
}

/// What a run needs, in the order in which it is made.
struct setting {
    mesh zones;
    int rank;
    cl_device_id device = nullptr;
    std::size_t device_index = 0;
    std::unique_ptr<solver> on_device{};
    std::unique_ptr<device_heap> heap{};
    std::unique_ptr<inbox> for_commands{}, for_shmem{};
    std::vector<contender> contenders{};
};

apps::context choose_device(setting& made, const options& options, [[maybe_unused]] bool for_directives) {
    const auto devices = apps::devices_of(options.platform);
    const std::size_t index = options.device.value_or(std::size_t(made.rank) % devices.size());
    made.device_index = index;
    const auto wanted = apps::device_of(options.platform, index);
#ifdef BT_MZ_DIRECTIVES
    if (for_directives) {
        // OpenACC counts over all platforms. Most machines have one: then this number is right at once.
        const int offered = bt_mz_devices();
        for (int count = 0; count < offered && made.device != wanted; ++count) {
            bt_mz_select_device(int((index + std::size_t(count)) % std::size_t(offered)));
            made.device = static_cast<cl_device_id>(bt_mz_opencl_device());
        }
        if (made.device != wanted) throw std::runtime_error("OpenACC does not offer " + apps::device_name(wanted));
        apps::context context(static_cast<cl_context>(bt_mz_opencl_context()));
        if (!context) throw std::runtime_error("OpenACC has no OpenCL device");
        apps::check(clRetainContext(context.get()), "clRetainContext");
        return context;
    }
#endif
    made.device = wanted;
    return apps::create_context(wanted);
}

/// On the device of the solver and of the directives, if they run: these have fields and blocks of their own.
memory_need need_of(std::size_t points, kernels code, bool with_directives) {
    const kernels more = with_directives ? kernels::fused : kernels::none;
    return {points * (solver::bytes_of_point(code) + solver::bytes_of_point(more)),
            points * std::max(solver::largest_of_point(code), solver::largest_of_point(more))};
}

bool asked(const options& options, const char* version) { return std::ranges::count(options.versions, version) > 0; }

void make_solver(setting& made, const options& options, mesh zones) {
    made.on_device.reset(); // it refers to the mesh
    made.zones = std::move(zones);
    auto context = choose_device(made, options, asked(options, "directives"));
    const bool only_directives = options.versions == std::vector<std::string>{"directives"} && options.deals == 0;
    const kernels code = only_directives ? kernels::none : options.code.value_or(kernels::fused);
    check_device(context.get(), made.device, made.device_index,
                 need_of(made.zones.points_of(made.rank), code, asked(options, "directives")));
    made.on_device = std::make_unique<solver>(made.zones, made.rank, std::move(context), made.device, code,
                                              options.fields);
}

/// Of each rank: seconds of a step without an exchange, the least of three blocks. Collective.
std::vector<double> seconds_of_ranks(setting& made) {
    constexpr int steps = 8;
    double least = std::numeric_limits<double>::infinity();
    for (int block = 0; block < 4; ++block) {
        MPI_Barrier(MPI_COMM_WORLD);
        const auto begin = std::chrono::steady_clock::now();
        for (int step = 0; step < steps; ++step) made.on_device->enqueue_solve_alone();
        apps::check(clFinish(made.on_device->queue()), "clFinish");
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
        if (block > 0) least = std::min(least, elapsed.count() / steps); // the first one warms up
    }
    std::vector<double> all(std::size_t(made.zones.ranks()));
    MPI_Allgather(&least, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
    return all;
}

/// Deals zones in proportion to the loads that the ranks solved per second: a point of a short line may take another
/// time than one of a long line, and a device another than its neighbour. Keeps the deal whose slowest rank was
/// fastest. A deal that does not change ends it.
void deal_by_time(setting& made, const options& options) {
    mesh best = made.zones;
    double shortest = std::numeric_limits<double>::infinity();
    for (int deals = 0;; ++deals) {
        const auto seconds = seconds_of_ranks(made);
        const double longest = std::ranges::max(seconds);
        if (longest < shortest) {
            shortest = longest;
            best = made.zones;
        }
        if (deals == options.deals) break;
        std::vector<double> speeds;
        for (int rank = 0; rank < made.zones.ranks(); ++rank)
            speeds.push_back(made.zones.load_of(rank) / seconds[std::size_t(rank)]);
        mesh next(made.zones.kind(), speeds);
        if (next.deals_as(made.zones)) break;
        make_solver(made, options, std::move(next));
    }
    if (!best.deals_as(made.zones)) make_solver(made, options, std::move(best));
}

void set_up(setting& made, const options& options) {
    if (options.versions != std::vector<std::string>{"host"}) {
        make_solver(made, options, made.zones);
        if (options.deals > 0) deal_by_time(made, options);
        const bool commands = asked(options, "one_sided");
        const bool shmem = asked(options, "openshmem") || asked(options, "directives");
        const auto& plan = made.on_device->plan();
        // communication begin
        if (commands || shmem)
            made.heap = std::make_unique<device_heap>(made.on_device->context(), made.device,
                                                      std::size_t(commands + shmem) * inbox::heap_bytes(plan));
        if (commands) made.for_commands = std::make_unique<symmetric_inbox>(plan);
        if (shmem) made.for_shmem = std::make_unique<shmem_inbox>(plan);
        // communication end
    }
    for (const auto& name : options.versions) {
        std::unique_ptr<version> way;
        if (name == "host") way = make_host(made.zones, made.rank);
        if (name == "staged") way = make_staged(*made.on_device);
        if (name == "messages") way = make_messages(*made.on_device);
        if (name == "one_sided") way = make_one_sided(*made.on_device, *made.for_commands);
        if (name == "openshmem") way = make_openshmem(*made.on_device, *made.for_shmem);
#ifdef BT_MZ_DIRECTIVES
        if (name == "directives") way = make_directives(*made.on_device, *made.for_shmem);
#endif
        made.contenders.push_back({name, std::move(way)});
    }
}

void measure(setting& made, int steps, int rounds) {
    // One for all: versions with an order of their own refuse --kernels.
    const order order = made.contenders.front().way->order_of_values();
    const std::vector<double> of_host = made.on_device ? std::vector<double>()
                                                       : forcing_terms(made.zones, made.rank, order);
    const std::vector<double>& forcing = made.on_device ? made.on_device->forcing() : of_host;
    for (contender& each : made.contenders) { // as the benchmark has it: touches all code
        each.way->reset();
        timed_steps(*each.way, &version::step, 1);
    }
    for (int round = 0; round < rounds; ++round)
        for (contender& each : made.contenders) {
            each.way->reset();
            const cost run = timed_steps(*each.way, &version::step, steps);
            each.seconds.push_back(over_ranks(run.seconds, MPI_MAX));
            each.processor_seconds.push_back(over_ranks(run.processor_seconds, MPI_SUM));
            auto& found = each.found.emplace_back(norms_of(made.zones, made.rank, order, each.way->field(), forcing));
            time_blocks(each, steps);
            MPI_Allreduce(MPI_IN_PLACE, found.residual.data(), 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            MPI_Allreduce(MPI_IN_PLACE, found.error.data(), 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
}

/// As in "3 to 5 zones each".
std::string zones_of_ranks(const mesh& zones) {
    std::size_t least = zones.zones().size(), most = 0;
    for (int rank = 0; rank < zones.ranks(); ++rank) {
        const std::size_t count = zones.zones_of(rank).size();
        least = std::min(least, count);
        most = std::max(most, count);
    }
    const std::string range = least == most ? "" : std::to_string(least) + " to ";
    return range + std::to_string(most) + (most == 1 ? " zone each" : " zones each");
}

/// Whether all versions found what is published, or, after fewer steps, the same.
bool benchmark(const options& options) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (options.deals > 0 && ranks == 1)
        throw std::invalid_argument("--deal-again changes nothing for one rank, which has all zones");
    const auto& kind = class_of(options.kind, options.one_zone);
    const int steps = options.steps > 0 ? options.steps : kind.steps;

    setting made{mesh(kind, ranks), rank}; // outlives a failure: its end would wait for ranks that wait for this one
    try {
        set_up(made, options);
        measure(made, steps, options.rounds);
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "bt_mz: rank %d: no memory on the host for the rank's %zu points\n", rank,
                     made.zones.points_of(rank));
        apps::end_job(1);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bt_mz: rank %d: %s\n", rank, error.what());
        apps::end_job(1);
    }
    const auto& contenders = made.contenders;

    auto wanted = kind;
    if (steps != kind.steps) {
        wanted.residual = contenders.front().found.front().residual;
        wanted.error = contenders.front().found.front().error;
    }
    const bool is_checked = steps == kind.steps || contenders.size() > 1 || options.rounds > 1;
    bool right = true;
    if (rank == 0)
        std::printf("bt_mz: class %c, %d zone%s of %zu points, %d step%s, %d rank%s, the largest load is %.3f of the "
                    "mean (%s); %s\n"
                    "%-11s %10s %12s %10s %8s %13s %10s %8s %11s\n",
                    kind.name, kind.x_zones * kind.y_zones, kind.one_zone() ? "" : "s",
                    std::size_t(kind.x_points) * std::size_t(kind.y_points) * std::size_t(kind.z_points), steps,
                    steps == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s", made.zones.imbalance(),
                    zones_of_ranks(made.zones).c_str(), made.device ? apps::device_name(made.device).c_str() : "host",
                    "version", "seconds", "ms a step", "exchange", "uneven", "processor ms", "without", "spread",
                    "difference");
    for (const contender& each : contenders) {
        double far = 0; // of the worst round
        bool is_right = true;
        for (const norms& one : each.found) {
            const double its = difference(wanted, one);
            is_right = is_right && its <= tolerance;
            if (!(its <= far)) far = its;
        }
        right = right && is_right;
        char difference[32] = "unchecked";
        if (is_checked) std::snprintf(difference, sizeof difference, "%.1e", far);
        const double seconds = median_of(each.seconds);
        const auto [exchange, uneven] = shares_of(each, ranks);
        const double processors_without = over_ranks(median_of(each.without.processor_seconds), MPI_SUM);
        if (rank == 0)
            std::printf("%-11s %10.3f %12.3f %9.1f%% %7.1f%% %13.3f %10.3f %7.1f%% %11s%s\n", each.name.c_str(),
                        seconds, seconds / steps * 1e3, exchange * 100, uneven * 100,
                        median_of(each.processor_seconds) / steps * 1e3, processors_without * 1e3,
                        spread_of(each.seconds) * 100, difference, is_right ? "" : " WRONG");
    }
    if (rank == 0 && !right) std::printf("VERIFICATION FAILED\n");
    return right;
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
        if (rank == 0) std::fprintf(stderr, "bt_mz: %s\n%s", error.what(), usage);
        code = 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bt_mz: rank %d: %s\n", rank, error.what());
        apps::end_job(1);
    }
    MPI_Finalize();
    return code;
}
