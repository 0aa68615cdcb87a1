// SPDX-License-Identifier: Apache-2.0
// Programs on symmetric device memory, each verified, and timed beside MPI.
#include "pe.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace one_sided;

namespace {

pe make_pe(int rank) {
    pe made;
    cl_uint count = 0;
    check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
    std::vector<cl_platform_id> platforms(count);
    check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    std::vector<cl_device_id> devices;
    for (auto* const platform : platforms) {
        cl_uint here = 0;
        if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &here) != CL_SUCCESS) continue;
        const auto before = devices.size();
        devices.resize(before + here);
        check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, here, devices.data() + before, nullptr), "clGetDeviceIDs");
    }
    if (devices.empty()) throw std::runtime_error("no OpenCL device");
    made.device = devices[static_cast<std::size_t>(rank) % devices.size()];
    cl_int code = CL_SUCCESS;
    made.context = clCreateContext(nullptr, 1, &made.device, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    made.queue = clCreateCommandQueue(made.context, made.device, 0, &code);
    check(code, "clCreateCommandQueue");
    return made;
}

constexpr std::array<std::pair<const char*, bool (*)(const pe&, int)>, 6> programs = {{{"latency", latency},
                                                                                       {"bandwidth", bandwidth},
                                                                                       {"updates", updates},
                                                                                       {"transpose", transpose},
                                                                                       {"collectives", collectives},
                                                                                       {"halo", halo}}};
constexpr const char*
    usage = "usage: causeway run -n RANKS one_sided [--rounds N] [--heap MIB] [PROGRAM]...\n"
            "  PROGRAM       latency, bandwidth, updates, transpose, collectives or halo (default: all)\n"
            "  --rounds N    timed rounds of each way, taken in turn (default: 11)\n"
            "  --heap MIB    of symmetric memory for each rank, 64 at least (default: 64)\n";

struct wanted {
    int rounds = 11;
    std::size_t heap_bytes = std::size_t{64} << 20;
    std::vector<const decltype(programs)::value_type*> names;
    bool help = false;
};

int number(const std::string& text, int least, const std::string& option) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least)
        throw std::invalid_argument(option + " takes a number of at least " + std::to_string(least) + ", not \"" +
                                    text + "\"");
    return value;
}

wanted read(const std::vector<std::string>& words) {
    wanted made;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto value = [&] {
            if (i + 1 == words.size()) throw std::invalid_argument(words[i] + " takes a number");
            return words[++i];
        };
        if (words[i] == "--help") {
            made.help = true;
        } else if (words[i] == "--rounds") {
            made.rounds = number(value(), 1, "--rounds");
        } else if (words[i] == "--heap") {
            made.heap_bytes = static_cast<std::size_t>(number(value(), 64, "--heap")) << 20;
        } else {
            const auto* const found = std::find_if(programs.begin(), programs.end(),
                                                   [&](const auto& each) { return words[i] == each.first; });
            if (found == programs.end()) throw std::invalid_argument("no program or option \"" + words[i] + "\"");
            made.names.push_back(found);
        }
    }
    if (made.names.empty())
        for (const auto& each : programs) made.names.push_back(&each);
    return made;
}

bool run(const char* name, bool (*program)(const pe&, int), const pe& here, int rounds) {
    const bool right = program(here, rounds);
    int everywhere = right ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (here.own == 0) std::printf("%s: %s\n", name, everywhere != 0 ? "data right" : "DATA WRONG");
    return everywhere != 0;
}

} // namespace

int main(int count, char** words) {
    int provided = 0, rank = 0;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    wanted options;
    try {
        options = read({words + 1, words + count});
    } catch (const std::invalid_argument& error) {
        if (rank == 0) std::fprintf(stderr, "one_sided: %s\n%s", error.what(), usage);
        MPI_Finalize();
        return 2;
    }
    if (options.help) {
        if (rank == 0) std::printf("%s", usage);
        MPI_Finalize();
        return EXIT_SUCCESS;
    }
    bool right = true;
    try {
        auto here = make_pe(rank);
        here.heap_bytes = options.heap_bytes;
        check(causeway_symmetric_init(here.context, here.device, MPI_COMM_WORLD, here.heap_bytes),
              "causeway_symmetric_init");
        here.own = causeway_symmetric_pe();
        here.all = causeway_symmetric_pes();
        for (const auto* const each : options.names)
            right = run(each->first, each->second, here, options.rounds) && right;
        check(causeway_symmetric_finalize(), "causeway_symmetric_finalize");
        clReleaseCommandQueue(here.queue);
        clReleaseContext(here.context);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "PE %d: %s\n", rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
