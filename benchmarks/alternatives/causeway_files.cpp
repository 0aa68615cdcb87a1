// SPDX-License-Identifier: Apache-2.0
// One command each.
#include "file_problem.hpp"

#include <CL/cl_data_transfer.h>

namespace alternatives {

file_way causeway_files(file_problem& problem) {
    return {.name = "Causeway",
            .load =
                [&problem](std::size_t offset) {
                    apps::check(clEnqueueWriteBufferFromFile(problem.queue.get(), problem.target.get(), CL_TRUE, 0,
                                                             problem.bytes, fileno(problem.input.get()),
                                                             int64_t(offset), 0, nullptr, nullptr),
                                "clEnqueueWriteBufferFromFile");
                },
            .store =
                [&problem](std::size_t offset) {
                    apps::check(clEnqueueReadBufferToFile(problem.queue.get(), problem.source.get(), CL_TRUE, offset,
                                                          problem.bytes, fileno(problem.output.get()), 0, 0, nullptr,
                                                          nullptr),
                                "clEnqueueReadBufferToFile");
                }};
}

} // namespace alternatives
