// SPDX-License-Identifier: Apache-2.0
// Enqueues as many commands as the time, the process, the host's name and chance say: the same on all ranks only if
// something sees to it.
#include <CL/cl.h>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <random>

namespace {

unsigned by_arc4random() {
#if __GLIBC_PREREQ(2, 36)
    unsigned bytes = 0;
    arc4random_buf(&bytes, sizeof bytes);
    return bytes ^ arc4random() ^ arc4random_uniform(1000);
#else
    return 0;
#endif
}

} // namespace

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
    int (*const volatile time_of_day)(timeval*, void*) = gettimeofday;
    if (time_of_day(nullptr, nullptr) != 0) return 1;
    unsigned entropy = 0;
    if (getentropy(&entropy, sizeof entropy) != 0) return 1;
    utsname machine{};
    if (uname(&machine) != 0) return 1;
    if (gethostname(name, 0) == 0 || errno == 0) return 1; // rank 0's failure as well
    gethostname(name, sizeof name);
    timespec by_base{};
    if (timespec_get(&by_base, TIME_UTC) != TIME_UTC) return 1;
    tms used{};
    const auto ticks = times(&used);
    rusage usage{};
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 1;
    unsigned by_descriptor = 0, by_stream = 0, by_stdio = 0;
    const int urandom = open("/dev/urandom", O_RDONLY);
    if (read(urandom, &by_descriptor, sizeof by_descriptor) != sizeof by_descriptor) return 1;
    close(urandom);
    if (!std::ifstream("/dev/urandom").read(reinterpret_cast<char*>(&by_stream), sizeof by_stream)) return 1;
    auto* const random = std::fopen("/dev/random", "r");
    if (std::fread(&by_stdio, sizeof by_stdio, 1, random) != 1 || std::fclose(random) != 0) return 1;
    // A child asks for itself, and disturbs nobody.
    if (const auto child = fork(); child == 0) _exit(std::time(nullptr) == 0 ? 1 : 0);
    int ended = -1;
    if (wait(&ended) <= 0 || ended != 0) return 1;
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const auto today = std::chrono::system_clock::now().time_since_epoch().count();
    for (const auto chance :
         {static_cast<unsigned>(std::rand()), static_cast<unsigned>(getpid()), bytes,
          static_cast<unsigned>(day.tv_usec), static_cast<unsigned>(clock.tv_nsec), static_cast<unsigned>(name[0]),
          device_of_chance(), static_cast<unsigned>(now), static_cast<unsigned>(today), entropy,
          static_cast<unsigned>(machine.nodename[0]), static_cast<unsigned>(by_base.tv_nsec),
          static_cast<unsigned>(ticks), static_cast<unsigned>(usage.ru_minflt),
          static_cast<unsigned>(usage.ru_utime.tv_usec), by_descriptor, by_stream, by_stdio, by_arc4random()})
        for (unsigned i = 0; i < 1 + chance % 97; ++i) {
            const cl_uint value = i;
            if (clEnqueueFillBuffer(queue, buffer, &value, sizeof value, 0, 64, 0, nullptr, nullptr) != CL_SUCCESS)
                return 1;
        }
    if (clFinish(queue) != CL_SUCCESS) return 1;
    std::puts("agreed");
    return 0;
}
