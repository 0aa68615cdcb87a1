// SPDX-License-Identifier: Apache-2.0
// What one small blocking transfer takes, from the page cache to a device: the tenth quickest of a hundred, which other
// programs on the machine hardly change.
#include "common/opencl.hpp"

#include <CL/cl_data_transfer.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int rounds = 3000;

double microseconds_of(cl_command_queue queue, cl_mem buffer, std::size_t bytes, int file) {
    const auto begin = std::chrono::steady_clock::now();
    apps::check(clEnqueueWriteBufferFromFile(queue, buffer, CL_TRUE, 0, bytes, file, 0, 0, nullptr, nullptr),
                "clEnqueueWriteBufferFromFile");
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

void measure(std::size_t bytes) {
    const auto device = apps::devices_of("").front();
    const auto context = apps::create_context(device);
    const auto queue = apps::create_in_order_queue(context.get(), device);
    const auto buffer = apps::create_buffer(context.get(), bytes);
    std::string name = "/tmp/transfer-cost-XXXXXX";
    const int file = mkstemp(name.data());
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) throw std::runtime_error("cannot make a file in /tmp");
    unlink(name.c_str());
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i) times.push_back(microseconds_of(queue.get(), buffer.get(), bytes, file));
    std::sort(times.begin(), times.end());
    std::printf("%zu bytes: tenth %.2f us, median %.2f us\n", bytes, times[rounds / 10], times[rounds / 2]);
    close(file);
}

} // namespace

int main(int argc, char** argv) {
    try {
        measure(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4096);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "transfer_cost: %s\n", error.what());
        return 2;
    }
}
