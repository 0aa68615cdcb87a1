// SPDX-License-Identifier: Apache-2.0
// One thing after the other, as it is written first.
#include "file_problem.hpp"

#include <sys/types.h>

#include <stdexcept>

namespace alternatives {

file_way plain_files(file_problem& problem) {
    return {.name = "fread, fwrite and blocking copies",
            .load =
                [&problem](std::size_t offset) {
                    auto* const file = problem.input.get();
                    if (fseeko(file, off_t(offset), SEEK_SET) != 0 ||
                        std::fread(problem.memory.data(), 1, problem.bytes, file) != problem.bytes)
                        throw std::runtime_error("fread failed");
                    apps::check(clEnqueueWriteBuffer(problem.queue.get(), problem.target.get(), CL_TRUE, 0,
                                                     problem.bytes, problem.memory.data(), 0, nullptr, nullptr),
                                "clEnqueueWriteBuffer");
                },
            .store =
                [&problem](std::size_t offset) {
                    apps::check(clEnqueueReadBuffer(problem.queue.get(), problem.source.get(), CL_TRUE, offset,
                                                    problem.bytes, problem.memory.data(), 0, nullptr, nullptr),
                                "clEnqueueReadBuffer");
                    auto* const file = problem.output.get();
                    if (fseeko(file, 0, SEEK_SET) != 0 ||
                        std::fwrite(problem.memory.data(), 1, problem.bytes, file) != problem.bytes ||
                        std::fflush(file) != 0)
                        throw std::runtime_error("fwrite failed");
                }};
}

} // namespace alternatives
