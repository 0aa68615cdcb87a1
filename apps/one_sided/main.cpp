// SPDX-License-Identifier: Apache-2.0
// Programs on symmetric device memory. Usage: one_sided [--rounds N] [--heap MIB]
// [latency|bandwidth|updates|transpose|collectives|halo]...
#include "pe.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

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

bool run(const std::string& name, const pe& here, int rounds) {
    const auto program = name == "latency"       ? latency
                         : name == "bandwidth"   ? bandwidth
                         : name == "updates"     ? updates
                         : name == "transpose"   ? transpose
                         : name == "collectives" ? collectives
                         : name == "halo"        ? halo
                                                 : nullptr;
    if (program == nullptr)
        throw std::runtime_error("there is no program " + name +
                                 ": latency, bandwidth, updates, transpose, collectives, halo");
    bool right = program(here, rounds);
    int everywhere = right ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (here.own == 0) std::printf("%s: %s\n", name.c_str(), everywhere != 0 ? "data right" : "DATA WRONG");
    return everywhere != 0;
}

} // namespace

int main(int count, char** words) {
    int provided = 0, rank = 0;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int rounds = 11, heap_mib = 64;
    std::vector<std::string> names;
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(words[i], "--rounds") == 0 && i + 1 < count) {
            rounds = std::max(1, std::atoi(words[++i]));
        } else if (std::strcmp(words[i], "--heap") == 0 && i + 1 < count) {
            heap_mib = std::max(64, std::atoi(words[++i]));
        } else {
            names.emplace_back(words[i]);
        }
    }
    if (names.empty()) names = {"latency", "bandwidth", "updates", "transpose", "collectives", "halo"};
    bool right = true;
    try {
        auto here = make_pe(rank);
        here.heap_bytes = static_cast<std::size_t>(heap_mib) << 20;
        check(causeway_symmetric_init(here.context, here.device, MPI_COMM_WORLD, here.heap_bytes),
              "causeway_symmetric_init");
        here.own = causeway_symmetric_pe();
        here.all = causeway_symmetric_pes();
        for (const auto& name : names) right = run(name, here, rounds) && right;
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
