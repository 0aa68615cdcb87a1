// SPDX-License-Identifier: Apache-2.0
// What one would use instead of the library, in turn with it, on the same data. One process: files. Two ranks: between
// their devices.
#include "common/end_job.hpp"
#include "common/statistics.hpp"
#include "file_problem.hpp"
#include "ranks.hpp"

#include <CLI/CLI.hpp>

#define CAUSEWAY_NO_MPI_MACROS
#include <CL/cl_data_transfer.h>

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <optional>
#include <thread>

namespace {

using namespace alternatives;

struct settings {
    std::vector<std::size_t> sizes = {64 * mib, 256 * mib, 1024 * mib};
    int rounds = 7;
    unsigned threads = std::clamp(std::thread::hardware_concurrency() / 2, 2u, 8u);
    std::filesystem::path directory = std::filesystem::temp_directory_path();
    std::string platform, cufile;
};

/// Reads the command line; the code to leave with, if it says to.
std::optional<int> parse(settings& wanted, int argc, char** argv) {
    CLI::App program(
        "Moves the same bytes with the library and with what one would use instead, and compares the times.");
    program.add_option("--sizes", wanted.sizes, "of a transfer: 64M,1G")
        ->delimiter(',')
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(mib, 2047 * mib)); // an MPI message is counted by an int
    program.add_option("--rounds", wanted.rounds, "of all ways")->check(CLI::PositiveNumber);
    program.add_option("--threads", wanted.threads, "that buffer by hand beside one another, or call cuFile")
        ->check(CLI::Range(2, 256));
    program.add_option("--directory", wanted.directory, "where files are made")->check(CLI::ExistingDirectory);
    program.add_option("--platform", wanted.platform, "part of its name; the first if left out");
    program.add_option("--cufile", wanted.cufile, "the library libcufile.so.0, where it is in no usual place");
    CLI11_PARSE(program, argc, argv);
    return {};
}

/// Of a name, its best variant.
struct result {
    const way* what = nullptr;
    apps::quartiles seconds{};
};

void print(const char* route, std::size_t bytes, const std::vector<way>& ways,
           const std::vector<std::vector<double>>& samples) {
    std::vector<result> best;
    for (std::size_t i = 0; i < ways.size(); ++i) {
        const result found{&ways[i], samples[i].empty() ? apps::quartiles{} : apps::quartiles_of(samples[i])};
        const auto same = std::ranges::find_if(best, [&](const auto& each) { return each.what->name == ways[i].name; });
        if (same == best.end()) {
            best.push_back(found);
        } else if (found.seconds.median < same->seconds.median) {
            *same = found;
        }
    }
    for (const auto& each : best) {
        std::printf("%-16s %5zu MiB  ", route, bytes / mib);
        const auto name = each.what->variant.empty() ? each.what->name : each.what->name + ", " + each.what->variant;
        if (each.what->missing.empty()) {
            const auto& seconds = each.seconds;
            std::printf("%-58s %9.2f ms (%.2f to %.2f) %7.2f GB/s %6.2f\n", name.c_str(), 1e3 * seconds.median,
                        1e3 * seconds.lower, 1e3 * seconds.upper, 1e-9 * double(bytes) / seconds.median,
                        seconds.median / best.front().seconds.median);
        } else {
            std::printf("%-58s not here: %s\n", name.c_str(), each.what->missing.c_str());
        }
    }
    std::fflush(stdout);
}

/// The library's way is the first. All ranks do it, the first one prints.
void compare(const char* route, std::size_t bytes, const std::vector<way>& ways, int rounds, bool prints) {
    std::vector<std::vector<double>> samples(ways.size());
    for (int round = -3; round < rounds; ++round) // three to warm up: with the first two, ranks open what their devices
                                                  // meet in
        for (std::size_t i = 0; i < ways.size(); ++i) {
            if (!ways[i].missing.empty()) continue;
            try {
                const double seconds = ways[i].run();
                ways[i].check();
                if (round >= 0) samples[i].push_back(seconds);
            } catch (const std::exception& error) {
                throw std::runtime_error(std::string(route) + ", " + ways[i].name + ": " + error.what());
            }
        }
    if (prints) print(route, bytes, ways, samples);
}

void compare_files(const settings& wanted, cl_device_id device, std::size_t bytes) {
    file_problem problem(device, bytes, wanted.directory);
    std::vector<file_way> files;
    files.push_back(causeway_files(problem));
    files.push_back(plain_files(problem));
    for (const auto threads : {1u, wanted.threads})
        for (const auto block : blocks_by_hand)
            if (threads * block < bytes) files.push_back(double_buffered_files(problem, threads, block));
    for (const auto threads : {1u, wanted.threads}) files.push_back(cufile_files(problem, threads, wanted.cufile));

    std::size_t transfers = 0;
    std::vector<std::byte> found(bytes);
    const auto offset = [&] { return test_data::offset_of(transfers); };
    const auto check = [&] { verify(found.data(), problem.data.whole() + offset(), bytes); };
    std::vector<way> loads, stores;
    for (const auto& each : files) {
        loads.push_back({each.name, each.variant,
                         [&] {
                             ++transfers;
                             return seconds_of([&] { each.load(offset()); });
                         },
                         [&] {
                             if (each.fetch) {
                                 each.fetch(found.data());
                             } else {
                                 apps::check(clEnqueueReadBuffer(problem.queue.get(), problem.target.get(), CL_TRUE, 0,
                                                                 bytes, found.data(), 0, nullptr, nullptr),
                                             "clEnqueueReadBuffer");
                             }
                             check();
                         },
                         each.missing});
        stores.push_back({each.name, each.variant,
                          [&] {
                              ++transfers;
                              return seconds_of([&] { each.store(offset()); });
                          },
                          [&] {
                              read_all(fileno(problem.output.get()), found.data(), bytes, 0);
                              check();
                          },
                          each.missing});
    }
    compare("file to device", bytes, loads, wanted.rounds, true);
    compare("device to file", bytes, stores, wanted.rounds, true);
}

void compare_all(const settings& wanted, int rank, int ranks) {
    if (ranks > 2) throw std::runtime_error("takes one process, for files, or two ranks (causeway run -n 2)");
    const auto devices = apps::devices_of(wanted.platform);
    const auto device = devices[std::size_t(rank) % devices.size()];
    if (rank == 0) {
        std::printf("%s%s, median of %d rounds (quartiles); the last column: times as long as Causeway takes\n",
                    apps::device_name(device).c_str(), ranks == 2 && devices.size() > 1 ? " and another" : "",
                    wanted.rounds);
        if (ranks == 1) std::printf("files in %s, in the page cache\n", wanted.directory.c_str());
    }
    for (const auto bytes : wanted.sizes) {
        if (ranks == 1) {
            compare_files(wanted, device, bytes);
        } else {
            compare("rank to rank", bytes, rank_ways(device, bytes), wanted.rounds, rank == 0);
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    settings wanted;
    if (const auto code = parse(wanted, argc, argv)) return *code;
    int provided = 0, rank = 0, ranks = 1, code = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    try {
        compare_all(wanted, rank, ranks);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "alternatives: %s\n", error.what());
        if (ranks > 1) apps::end_job(2);
        code = 2;
    }
    MPI_Finalize();
    return code;
}
