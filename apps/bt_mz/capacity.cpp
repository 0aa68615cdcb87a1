// SPDX-License-Identifier: Apache-2.0
#include "bt_mz/capacity.hpp"

#include <mpi.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace bt_mz {

namespace {

/// As all ranks of a node tell each other. Equal names are one memory.
struct claim {
    std::array<unsigned char, 16> device;
    unsigned long long bytes;
};

std::array<unsigned char, 16> name_of(cl_device_id device, std::size_t index) {
    constexpr cl_device_info device_uuid = 0x106A; // CL_DEVICE_UUID_KHR
    std::array<unsigned char, 16> name{};
    // Processors have the memory of their node, however many devices they are.
    if (apps::device_type(device) & CL_DEVICE_TYPE_CPU) return name;
    if (clGetDeviceInfo(device, device_uuid, name.size(), name.data(), nullptr) != CL_SUCCESS) {
        name = {};
        name[0] = static_cast<unsigned char>(index + 1);
    }
    return name;
}

struct claims {
    int ranks = 0;
    std::size_t bytes = 0;
};

/// Of the ranks of this node that have the device. Collective.
claims claims_on(cl_device_id device, std::size_t index, std::size_t bytes) {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int ranks = 1;
    MPI_Comm_size(node, &ranks);
    const claim own{name_of(device, index), bytes};
    std::vector<claim> all(static_cast<std::size_t>(ranks));
    MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, node);
    MPI_Comm_free(&node);
    claims found;
    for (const claim& each : all) {
        if (each.device != own.device) continue;
        ++found.ranks;
        found.bytes += each.bytes;
    }
    return found;
}

std::string in_mib(std::size_t bytes) { return std::to_string((bytes + (1 << 20) - 1) >> 20) + " MiB"; }

template <class Value> Value ask(cl_device_id device, cl_device_info what) {
    Value value = 0;
    apps::check(clGetDeviceInfo(device, what, sizeof value, &value, nullptr), "clGetDeviceInfo");
    return value;
}

} // namespace

void check_device(cl_context context, cl_device_id device, std::size_t index, memory_need need) {
    const claims claimed = claims_on(device, index, need.bytes);
    const std::string name = apps::device_name(device);
    if (ask<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) == 0)
        throw std::runtime_error(name + " has no double precision");
    const auto has = ask<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    if (claimed.bytes > has) {
        const std::string whose = claimed.ranks == 1
                                      ? std::string("this rank")
                                      : "the " + std::to_string(claimed.ranks) + " ranks that share the device";
        throw std::runtime_error("the fields of " + whose + " take " + in_mib(claimed.bytes) + ", and " + name +
                                 " has " + std::to_string(has >> 20) + " MiB");
    }
    // NVIDIA's OpenCL gives more than it says, so that only asking tells.
    const auto largest = ask<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    if (need.largest_buffer <= largest) return;
    cl_int code = CL_SUCCESS;
    const apps::buffer tried(clCreateBuffer(context, CL_MEM_READ_WRITE, need.largest_buffer, nullptr, &code));
    if (code != CL_SUCCESS)
        throw std::runtime_error("the largest buffer of this rank takes " + in_mib(need.largest_buffer) + ", and " +
                                 name + " gives at most " + std::to_string(largest >> 20) + " MiB in one");
}

} // namespace bt_mz
