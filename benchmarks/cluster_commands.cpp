// SPDX-License-Identifier: Apache-2.0
// What commands cost a host program on the platform of a cluster, real (causeway run --cluster) or imagined
// (CAUSEWAY_DRY_RUN): the microbenchmark of SnuCL-D's figure 6 (a 16-byte buffer of each device is copied to all
// others by its device), and single commands for a device of another rank. Each line is of one rank.

#include <CL/cl.h>
#include <CL/cl_cluster.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using seconds = std::chrono::duration<double>;
constexpr std::size_t bytes = 16;

void check(cl_int code, const char* what) {
    if (code != CL_SUCCESS) throw std::runtime_error(std::string(what) + " gave " + std::to_string(code));
}

seconds time_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::steady_clock::now() - begin;
}

class job {
  public:
    job() {
        check(clGetPlatformIDs(1, &m_platform, nullptr), "clGetPlatformIDs");
        cl_uint count = 0;
        check(clGetDeviceIDs(m_platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count), "clGetDeviceIDs");
        m_devices.resize(count);
        check(clGetDeviceIDs(m_platform, CL_DEVICE_TYPE_ALL, count, m_devices.data(), nullptr), "clGetDeviceIDs");
        cl_int code = CL_SUCCESS;
        m_context = clCreateContext(nullptr, count, m_devices.data(), nullptr, nullptr, &code);
        check(code, "clCreateContext");
        for (auto* const device : m_devices) {
            m_queues.push_back(clCreateCommandQueue(m_context, device, 0, &code));
            check(code, "clCreateCommandQueue");
            m_buffers.push_back(clCreateBuffer(m_context, CL_MEM_READ_WRITE, bytes, nullptr, &code));
            check(code, "clCreateBuffer");
        }
    }
    // The process ends with it.

    [[nodiscard]] std::size_t devices() const { return m_devices.size(); }

    void copy_all_to_all() const {
        for (std::size_t from = 0; from < devices(); ++from)
            for (std::size_t to = 0; to < devices(); ++to)
                if (from != to)
                    check(clEnqueueCopyBuffer(m_queues[from], m_buffers[from], m_buffers[to], 0, 0, bytes, 0, nullptr,
                                              nullptr),
                          "clEnqueueCopyBuffer");
    }
    void finish() const {
        for (auto* const queue : m_queues) check(clFinish(queue), "clFinish");
    }
    /// Takes a device of another rank: the last is one, but for the last rank.
    void fill_last(std::size_t times, bool with_event) const {
        const cl_uint value = 1;
        for (std::size_t i = 0; i < times; ++i) {
            cl_event event = nullptr;
            check(clEnqueueFillBuffer(m_queues.back(), m_buffers.back(), &value, sizeof value, 0, bytes, 0, nullptr,
                                      with_event ? &event : nullptr),
                  "clEnqueueFillBuffer");
            if (event != nullptr) check(clReleaseEvent(event), "clReleaseEvent");
        }
    }
    void attach_last() const {
        const auto attach = reinterpret_cast<clAttachBufferToDevice_fn>(
            clGetExtensionFunctionAddressForPlatform(m_platform, "clAttachBufferToDevice"));
        if (attach == nullptr) throw std::runtime_error("the platform is not Causeway");
        check(attach(m_buffers.back(), m_devices.back()), "clAttachBufferToDevice");
    }

  private:
    cl_platform_id m_platform = nullptr;
    cl_context m_context = nullptr;
    std::vector<cl_device_id> m_devices;
    std::vector<cl_command_queue> m_queues;
    std::vector<cl_mem> m_buffers;
};

/// Median nanoseconds of a command.
double nanoseconds_each(std::size_t times, const std::function<void(std::size_t)>& work) {
    std::vector<double> rounds;
    for (int round = 0; round < 11; ++round) rounds.push_back(time_of([&] { work(times); }).count() * 1e9);
    std::nth_element(rounds.begin(), rounds.begin() + 5, rounds.end());
    return rounds[5] / static_cast<double>(times);
}

int run(int iterations) {
    const job of_ranks;
    const auto count = of_ranks.devices();
    const auto made = static_cast<double>(count * (count - 1)) * iterations;
    of_ranks.copy_all_to_all(); // contents are where they will be
    of_ranks.finish();
    seconds enqueued{};
    const auto all = time_of([&] {
        enqueued = time_of([&] {
            for (int i = 0; i < iterations; ++i) of_ranks.copy_all_to_all();
        });
        of_ranks.finish();
    });
    std::printf("%4zu devices: %d times all to all, %.0f commands: %.3f s, %.0f commands/s, %.0f ns to enqueue one\n",
                count, iterations, made, all.count(), made / all.count(), enqueued.count() * 1e9 / made);
    const auto plain = nanoseconds_each(2000, [&](std::size_t times) { of_ranks.fill_last(times, false); });
    const auto with_event = nanoseconds_each(2000, [&](std::size_t times) { of_ranks.fill_last(times, true); });
    of_ranks.attach_last();
    const auto dropped = nanoseconds_each(2000, [&](std::size_t times) { of_ranks.fill_last(times, false); });
    std::printf(
        "%4zu devices: a command for the last one: %.0f ns, with an event %.0f ns, on an attached buffer %.0f ns\n",
        count, plain, with_event, dropped);
    of_ranks.finish();
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc > 1 ? std::atoi(argv[1]) : 10);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cluster_commands: %s\n", error.what());
        return 1;
    }
}
