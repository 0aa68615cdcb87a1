// SPDX-License-Identifier: Apache-2.0
// Reads are commands: the next chunk comes while the kernel computes on this one.
#include "slow_file/problem.hpp"

#define CL_DATA_TRANSFER_NO_MPI
#include <CL/cl_data_transfer.h>

namespace slow_file {

void by_causeway(problem& of, std::FILE* input) {
    std::array<apps::event, 2> computed;
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        cl_event loaded = nullptr, done = nullptr;
        // communication begin
        const cl_event free = computed[chunk % 2].get();
        apps::check(clEnqueueWriteBufferFromStdioFile(of.transfers(), of.buffer_of(chunk), CL_FALSE, 0, chunk_bytes,
                                                      input, free ? 1 : 0, free ? &free : nullptr, &loaded),
                    "clEnqueueWriteBufferFromStdioFile");
        // communication end
        const apps::event read(loaded);
        of.enqueue_kernel(chunk, loaded, &done);
        computed[chunk % 2].reset(done);
    }
    apps::wait_for({computed[0].get(), computed[1].get()}, "the last kernels");
}

} // namespace slow_file
