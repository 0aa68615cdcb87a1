// SPDX-License-Identifier: Apache-2.0
// Times transfers beside the naive code and the limit of the machine, and checks every byte.
#include "machine.hpp"
#include "setup.hpp"

#include <getopt.h>

#ifdef CAUSEWAY_BENCHMARKS_JSON
#include <nlohmann/json.hpp>

#include <fstream>
#endif

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>

namespace {

using namespace benchmarks;

constexpr const char* usage =
    "usage: transfers_benchmark [options]\n"
    "       mpirun -n 2 transfers_benchmark [options]\n"
    "  --routes LIST      one process: file, enqueue; two ranks: ranks, latency (default: all)\n"
    "  --sizes LIST       bytes of a transfer, with K, M, G (default 1M,16M,256M; between ranks also 8,64K)\n"
    "  --blocks LIST      force these block sizes, beside the library's choice\n"
    "  --rounds N         runs of each way, taken in turn (default 7; ten times as many for small sizes)\n"
    "  --directory PATH   where files are made (default: the system's temporary directory)\n"
    "  --platform NAME    part of the OpenCL platform's name (default: the first with a device)\n"
    "  --device INDEX     device of the platform (default: rank modulo the number of devices)\n"
    "  --commit TEXT      the commit that is measured, for the heading\n"
    "  --json FILE        write all figures as JSON too\n";

constexpr std::array one_process_routes = {"file", "enqueue"};
constexpr std::array two_rank_routes = {"ranks", "latency"};
constexpr std::size_t largest_size = 2047 * mib; // MPI counts are int

struct options {
    settings wanted{.blocks = {0}, .directory = std::filesystem::temp_directory_path()};
    std::string platform, commit, json;
    std::optional<std::size_t> device;
    bool help = false;
};

std::size_t number(std::string_view text, std::size_t least, std::size_t most) {
    std::size_t value = 0;
    const auto [stop, error] = std::from_chars(text.begin(), text.end(), value);
    if (error != std::errc{} || stop != text.end() || value < least || value > most)
        throw std::invalid_argument("not a number from " + std::to_string(least) + " to " + std::to_string(most) +
                                    ": " + std::string(text));
    return value;
}

std::size_t size_from(std::string_view text) {
    std::size_t unit = 1;
    if (text.ends_with('K')) unit = kib;
    if (text.ends_with('M')) unit = mib;
    if (text.ends_with('G')) unit = 1024 * mib;
    return unit * number(text.substr(0, text.size() - (unit > 1 ? 1 : 0)), 1, largest_size / unit);
}

std::vector<std::string> split(std::string_view list) {
    std::vector<std::string> parts;
    for (;;) {
        const auto comma = list.find(',');
        parts.emplace_back(list.substr(0, comma));
        if (comma == std::string_view::npos) return parts;
        list.remove_prefix(comma + 1);
    }
}

options parse(int argc, char** argv) {
    const option names[] = {{"routes", required_argument, nullptr, 'r'},
                            {"sizes", required_argument, nullptr, 's'},
                            {"blocks", required_argument, nullptr, 'b'},
                            {"rounds", required_argument, nullptr, 'n'},
                            {"directory", required_argument, nullptr, 'o'},
                            {"platform", required_argument, nullptr, 'p'},
                            {"device", required_argument, nullptr, 'd'},
                            {"commit", required_argument, nullptr, 'c'},
                            {"json", required_argument, nullptr, 'j'},
                            {"help", no_argument, nullptr, 'h'},
                            {}};
    options parsed;
    opterr = 0;
    for (int name; (name = getopt_long(argc, argv, "", names, nullptr)) != -1;)
        switch (name) {
        case 'r': parsed.wanted.routes = split(optarg); break;
        case 's':
            for (const auto& each : split(optarg)) parsed.wanted.sizes.push_back(size_from(each));
            break;
        case 'b':
            for (const auto& each : split(optarg)) parsed.wanted.blocks.push_back(size_from(each));
            break;
        case 'n': parsed.wanted.rounds = int(number(optarg, 1, 1000)); break;
        case 'o': parsed.wanted.directory = optarg; break;
        case 'p': parsed.platform = optarg; break;
        case 'd': parsed.device = number(optarg, 0, 1000); break;
        case 'c': parsed.commit = optarg; break;
        case 'j': parsed.json = optarg; break;
        case 'h': parsed.help = true; break;
        default: throw std::invalid_argument(std::string("unknown or incomplete option: ") + argv[optind - 1]);
        }
    if (optind != argc) throw std::invalid_argument(std::string("unexpected argument: ") + argv[optind]);
#ifndef CAUSEWAY_BENCHMARKS_JSON
    if (!parsed.json.empty())
        throw std::invalid_argument("--json is not built in: it needs nlohmann/json (Debian nlohmann-json3-dev)");
#endif
    return parsed;
}

void check_routes(const settings& wanted, int ranks) {
    if (ranks > 2)
        throw std::invalid_argument("runs in one process or on two ranks, not on " + std::to_string(ranks));
    const auto& possible = ranks == 1 ? one_process_routes : two_rank_routes;
    for (const auto& each : wanted.routes)
        if (std::ranges::find(possible, each) == possible.end())
            throw std::invalid_argument("no route \"" + each +
                                        (ranks == 1 ? "\" in one process" : "\" on two ranks"));
}

#ifdef CAUSEWAY_BENCHMARKS_JSON
void write_json(const std::string& path, const facts& machine, const std::vector<line>& lines) {
    using nlohmann::ordered_json;
    ordered_json all;
    for (const auto& [name, value] : machine) all["machine"][name] = value;
    all["lines"] = ordered_json::array();
    for (const auto& each : lines) {
        ordered_json one{{"route", each.route}, {"bytes", each.bytes}, {"way", each.way}};
        if (!each.plan.empty()) one["plan"] = each.plan;
        const auto& seconds = each.seconds;
        one["seconds"] = {{"lower", seconds.lower}, {"median", seconds.median}, {"upper", seconds.upper}};
        if (each.times_naive) one["times_naive"] = *each.times_naive;
        if (each.over_limit_seconds) one["over_limit_seconds"] = *each.over_limit_seconds;
        if (each.percent_of_limit) one["percent_of_limit"] = *each.percent_of_limit;
        one["is_limit"] = each.is_limit;
        all["lines"].push_back(std::move(one));
    }
    std::ofstream file(path);
    file << all.dump(1) << '\n';
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
}
#endif

void benchmark(const options& options) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_routes(options.wanted, ranks);
    const auto devices = apps::devices_of(options.platform);
    const std::size_t index = options.device.value_or(std::size_t(rank) % devices.size());
    if (index >= devices.size())
        throw std::invalid_argument("the platform has no device " + std::to_string(index));
    const place where(devices[index]);

    const auto machine = machine_facts(where.device, options.wanted.directory.string(), options.commit);
    if (rank == 0) {
        for (const auto& [name, value] : machine) std::printf("%-10s %s\n", name.c_str(), value.c_str());
        std::printf("%-10s medians of at least %d runs, taken in turn, all data checked\n\n", "figures",
                    options.wanted.rounds);
        std::fflush(stdout);
    }

    std::vector<line> all;
    const auto add = [&](const std::vector<line>& lines) { all.insert(all.end(), lines.begin(), lines.end()); };
    if (ranks == 1) {
        if (options.wanted.wants("file")) add(file_routes(where, options.wanted));
        if (options.wanted.wants("enqueue")) add(enqueue_cost(where, options.wanted));
    } else {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (options.wanted.wants("ranks")) add(rank_routes(where, options.wanted, comm));
        if (options.wanted.wants("latency")) add(message_latency(where, options.wanted, comm));
        MPI_Comm_free(&comm);
    }
    if (rank != 0) return;
    std::printf("limit: the slowest of the lines marked so; "
                "for messages below 1 MiB, which do not overlap, their sum\n");
#ifdef CAUSEWAY_BENCHMARKS_JSON
    if (!options.json.empty()) write_json(options.json, machine, all);
#endif
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
            benchmark(options);
        }
    } catch (const std::invalid_argument& error) {
        if (rank == 0) std::fprintf(stderr, "transfers_benchmark: %s\n%s", error.what(), usage);
        code = 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "transfers_benchmark: rank %d: %s\n", rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return code;
}
