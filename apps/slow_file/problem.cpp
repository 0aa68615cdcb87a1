// SPDX-License-Identifier: Apache-2.0
// The device, its kernel, and the check of what that has made.
#include "slow_file/problem.hpp"

#include <algorithm>
#include <chrono>

namespace slow_file {

namespace {

constexpr std::size_t words = chunk_bytes / sizeof(cl_uint);

constexpr const char* source = R"(
kernel void stir(global const uint *chunk, global uint *result, uint first, uint passes)
{
    uint word = chunk[get_global_id(0)];
    for (uint pass = 0; pass < passes; ++pass)
        word = word * 1664525u + 1013904223u;
    result[first + get_global_id(0)] = word;
}
)";

constexpr std::uint32_t mixed(std::uint32_t word, std::uint32_t passes) {
    for (std::uint32_t pass = 0; pass < passes; ++pass) word = word * 1664525U + 1013904223U;
    return word;
}

} // namespace

problem::problem(cl_device_id device)
    : m_context(apps::create_context(device)), m_kernels(apps::create_in_order_queue(m_context.get(), device)),
      // In order, each transfer would come behind a marker, which PoCL runs behind the kernel that is there before it.
      m_transfers(apps::create_out_of_order_queue(m_context.get(), m_kernels.get())),
      m_program(apps::build_program(m_context.get(), device, source, "")),
      m_kernel(apps::create_kernel(m_program.get(), "stir")),
      m_results(apps::create_buffer(m_context.get(), chunks * chunk_bytes)) {
    for (auto& each : m_buffers) each = apps::create_buffer(m_context.get(), chunk_bytes);
    forget();
}

void problem::enqueue_kernel(std::size_t chunk, cl_event after, cl_event* computed) {
    apps::set_arguments(m_kernel.get(), buffer_of(chunk), m_results.get(), cl_uint(chunk * words), m_passes);
    apps::check(clEnqueueNDRangeKernel(kernels(), m_kernel.get(), 1, nullptr, &words, nullptr, after ? 1 : 0,
                                       after ? &after : nullptr, computed),
                "clEnqueueNDRangeKernel");
    apps::check(clFlush(kernels()), "clFlush");
}

void problem::take(double seconds) {
    using clock = std::chrono::steady_clock;
    const auto launch = [&] {
        const auto begun = clock::now();
        enqueue_kernel(0, nullptr, nullptr);
        apps::check(clFinish(kernels()), "clFinish");
        return std::chrono::duration<double>(clock::now() - begun).count();
    };
    const auto shortest = [&] { return std::min({launch(), launch(), launch()}); };
    double took = shortest();
    for (; took < seconds / 4; took = shortest()) m_passes *= 2;
    m_passes = std::max(1U, cl_uint(m_passes * (seconds / took)));
}

void problem::forget() {
    const cl_uint zero = 0;
    apps::check(clEnqueueFillBuffer(kernels(), m_results.get(), &zero, sizeof zero, 0, chunks * chunk_bytes, 0, nullptr,
                                    nullptr),
                "clEnqueueFillBuffer");
    for (const auto& each : m_buffers)
        apps::check(clEnqueueFillBuffer(kernels(), each.get(), &zero, sizeof zero, 0, chunk_bytes, 0, nullptr, nullptr),
                    "clEnqueueFillBuffer");
    apps::check(clFinish(kernels()), "clFinish");
}

bool problem::is_right() {
    std::vector<cl_uint> all(chunks * words);
    apps::check(clEnqueueReadBuffer(kernels(), m_results.get(), CL_TRUE, 0, all.size() * sizeof(cl_uint), all.data(), 0,
                                    nullptr, nullptr),
                "clEnqueueReadBuffer");
    constexpr std::size_t step = 65521; // in no ratio to chunks
    for (std::size_t index = 0; index < all.size(); index += step)
        if (all[index] != mixed(word_of_file(index), m_passes)) return false;
    return true;
}

} // namespace slow_file
