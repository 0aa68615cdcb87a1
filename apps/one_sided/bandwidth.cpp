// SPDX-License-Identifier: Apache-2.0
// Large puts and gets between the heaps of PEs 0 and 1, one way and both ways at once.
#include "pe.hpp"

#include <cstdio>
#include <cstring>

namespace one_sided {

bool bandwidth(const pe& here, int rounds) {
    if (here.all < 2) throw std::runtime_error("bandwidth needs two PEs");
    const auto bytes = here.heap_bytes / 4;
    auto* const target = here.allocate<unsigned char>(bytes);
    auto* const source = here.allocate<unsigned char>(bytes);
    std::size_t offset = 0;
    cl_int code = CL_SUCCESS;
    cl_mem heap = causeway_symmetric_buffer(source, &offset, &code);
    check(code, "causeway_symmetric_buffer");
    const std::vector<unsigned char> contents(bytes, static_cast<unsigned char>(here.own + 1));
    check(clEnqueueWriteBuffer(here.queue, heap, CL_TRUE, offset, bytes, contents.data(), 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
    const int peer = 1 - here.own;
    constexpr int times = 4;
    const auto moving = [&](bool moves, auto one) {
        check(causeway_symmetric_barrier(), "causeway_symmetric_barrier");
        return timed([&] {
            for (int i = 0; moves && i < times; ++i) check(one(), "a transfer");
            check(causeway_symmetric_quiet(), "causeway_symmetric_quiet");
            check(clFinish(here.queue), "clFinish");
            check(causeway_symmetric_barrier(), "causeway_symmetric_barrier");
        });
    };
    const auto put = [&] {
        return clEnqueuePut(here.queue, heap, CL_FALSE, offset, bytes, target, peer, 0, nullptr, nullptr);
    };
    const auto get = [&] {
        std::size_t to = 0;
        cl_mem own = causeway_symmetric_buffer(target, &to, nullptr);
        return clEnqueueGet(here.queue, own, CL_FALSE, to, bytes, source, peer, 0, nullptr, nullptr);
    };
    std::vector<double> seconds[3];
    for (int round = 0; round < rounds + 1; ++round) {
        const double all[3] = {moving(here.own == 0, put), moving(here.own < 2, put), moving(here.own == 0, get)};
        for (int i = 0; round > 0 && i < 3; ++i) seconds[i].push_back(all[i] / times); // the first one warms up
    }
    std::vector<unsigned char> seen(bytes, 0);
    bool right = true;
    if (here.own < 2) {
        check(causeway_symmetric_get(seen.data(), target, bytes, here.own), "causeway_symmetric_get");
        right = seen == std::vector<unsigned char>(bytes, static_cast<unsigned char>(peer + 1));
    }
    if (here.own == 0) {
        const auto rate = [&](const std::vector<double>& of) { return static_cast<double>(bytes) / median(of) * 1e-9; };
        std::printf("%zu MiB between heaps: put %.1f GB/s, both ways %.1f GB/s each, get %.1f GB/s\n", bytes >> 20,
                    rate(seconds[0]), rate(seconds[1]), rate(seconds[2]));
    }
    check(causeway_symmetric_free(source), "free");
    check(causeway_symmetric_free(target), "free");
    return right;
}

} // namespace one_sided
