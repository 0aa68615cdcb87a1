// SPDX-License-Identifier: Apache-2.0
// Enqueues as many commands as the time, the process, the host's name and chance say: the same on all ranks only if
// something sees to it.
#include <CL/cl.h>

#include <sys/random.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

int main() {
    std::srand(static_cast<unsigned>(std::time(nullptr)) ^ static_cast<unsigned>(getpid()));
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS)
        return 1;
    cl_int code = CL_SUCCESS;
    auto* const context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    auto* const queue = clCreateCommandQueue(context, device, 0, &code);
    auto* const buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, &code);
    timeval day{};
    gettimeofday(&day, nullptr);
    timespec clock{};
    clock_gettime(CLOCK_MONOTONIC, &clock);
    unsigned bytes = 0;
    if (getrandom(&bytes, sizeof bytes, 0) != sizeof bytes) return 1;
    char name[64] = "";
    gethostname(name, sizeof name);
    std::random_device device_of_chance;
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const auto today = std::chrono::system_clock::now().time_since_epoch().count();
    for (const auto chance :
         {static_cast<unsigned>(std::rand()), static_cast<unsigned>(getpid()), bytes,
          static_cast<unsigned>(day.tv_usec), static_cast<unsigned>(clock.tv_nsec), static_cast<unsigned>(name[0]),
          device_of_chance(), static_cast<unsigned>(now), static_cast<unsigned>(today)})
        for (unsigned i = 0; i < 1 + chance % 97; ++i) {
            const cl_uint value = i;
            if (clEnqueueFillBuffer(queue, buffer, &value, sizeof value, 0, 64, 0, nullptr, nullptr) != CL_SUCCESS)
                return 1;
        }
    if (clFinish(queue) != CL_SUCCESS) return 1;
    std::puts("agreed");
    return 0;
}
