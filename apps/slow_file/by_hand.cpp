// SPDX-License-Identifier: Apache-2.0
// Reads a chunk, writes it to the device, computes, and so on: what most programs do.
#include "slow_file/problem.hpp"

#include <stdexcept>

namespace slow_file {

void by_hand(problem& of, std::FILE* input) {
    std::vector<std::byte> host(chunk_bytes);
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        // communication begin
        if (std::fread(host.data(), 1, host.size(), input) != host.size()) throw std::runtime_error("the file ended");
        apps::check(clEnqueueWriteBuffer(of.transfers(), of.buffer_of(chunk), CL_TRUE, 0, host.size(), host.data(), 0,
                                         nullptr, nullptr),
                    "clEnqueueWriteBuffer");
        // communication end
        of.enqueue_kernel(chunk, nullptr, nullptr);
        apps::check(clFinish(of.kernels()), "clFinish");
    }
}

} // namespace slow_file
