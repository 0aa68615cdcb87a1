// SPDX-License-Identifier: Apache-2.0
// What the programs share: a PE with its device, and the times of rounds.
#pragma once

#include <CL/cl_data_transfer.h>
#include <causeway/buffer.h>
#include <causeway/symmetric.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace one_sided {

inline void check(int code, const char* what) {
    if (code != CL_SUCCESS)
        throw std::runtime_error(std::string(what) + ": " + std::to_string(code) + ", " +
                                 causeway_error_last_message());
}

/// In an in-order queue.
struct pe {
    cl_device_id device = nullptr;
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;
    int own = 0, all = 1;
    std::size_t heap_bytes = 0;

    [[nodiscard]] cl_mem make_buffer(std::size_t bytes, const void* contents = nullptr) const {
        cl_int code = CL_SUCCESS;
        cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
        check(code, "clCreateBuffer");
        if (contents != nullptr)
            check(clEnqueueWriteBuffer(queue, made, CL_TRUE, 0, bytes, contents, 0, nullptr, nullptr),
                  "clEnqueueWriteBuffer");
        return made;
    }
    /// In memory that links reach, where there are any.
    [[nodiscard]] cl_mem make_linked_buffer(std::size_t bytes, const void* contents) const {
        cl_int code = CL_SUCCESS;
        cl_mem made = causeway_buffer_create(context, device, CL_MEM_READ_WRITE, bytes, &code);
        check(code, "causeway_buffer_create");
        check(clEnqueueWriteBuffer(queue, made, CL_TRUE, 0, bytes, contents, 0, nullptr, nullptr),
              "clEnqueueWriteBuffer");
        return made;
    }
    template <class Value> [[nodiscard]] Value* allocate(std::size_t count) const {
        auto* const made = static_cast<Value*>(causeway_symmetric_calloc(count, sizeof(Value)));
        if (made == nullptr) throw std::runtime_error(causeway_error_last_message());
        return made;
    }
};

/// Seconds that `action` takes.
template <class Action> double timed(Action action) {
    const auto begin = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

inline double median(std::vector<double> all) {
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
    return all[all.size() / 2];
}

/// Each prints its times on PE 0 and says whether the data were right.
bool latency(const pe& here, int rounds);
bool bandwidth(const pe& here, int rounds);
bool updates(const pe& here, int rounds);
bool transpose(const pe& here, int rounds);
bool collectives(const pe& here, int rounds);
bool halo(const pe& here, int rounds);

} // namespace one_sided
