// SPDX-License-Identifier: Apache-2.0
// What the call that enqueues a transfer takes, beside the vendor's own enqueue of a write.
#include "setup.hpp"

#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace benchmarks {

namespace {

constexpr std::size_t bytes = 4096;
constexpr int batch = 64;       // calls in a row on a gated queue
constexpr int all_calls = 4096; // of each way
constexpr int warm_up_batches = 4;

/// Enqueues `batch` commands behind a closed gate, timing each call, then opens the gate and waits.
template <class Enqueue>
void time_batch(const place& where, cl_command_queue queue, std::vector<double>& samples, Enqueue enqueue) {
    cl_int code = CL_SUCCESS;
    const apps::event gate(clCreateUserEvent(where.context.get(), &code));
    apps::check(code, "clCreateUserEvent");
    std::vector<apps::event> moved;
    for (int i = 0; i < batch; ++i) {
        const cl_event wait = gate.get();
        cl_event event = nullptr;
        samples.push_back(seconds_of([&] { code = enqueue(queue, &wait, &event); }));
        moved.emplace_back(event);
        if (code != CL_SUCCESS) break;
    }
    apps::check(clSetUserEventStatus(gate.get(), CL_COMPLETE), "clSetUserEventStatus");
    apps::check(clFinish(queue), "clFinish");
    check_transfer(code, "enqueueing");
    std::vector<cl_event> events;
    for (const auto& each : moved) events.push_back(each.get());
    wait_for(events);
}

} // namespace

std::vector<line> enqueue_cost(const place& where, const settings&) {
    // A stream gives each command of a batch bytes of its own; the descriptor form reads the last ones.
    constexpr std::size_t last = (batch - 1) * bytes;
    const test_data data(where, batch * bytes);
    const auto buffer = apps::create_buffer(where.context.get(), bytes);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    if (!file || std::fwrite(data.at(1), 1, batch * bytes, file.get()) != batch * bytes || std::fflush(file.get()) != 0)
        throw std::runtime_error("cannot make a temporary file");
    const int descriptor = fileno(file.get());

    const auto vendor = [&](cl_command_queue queue, const cl_event* gate, cl_event* event) {
        return clEnqueueWriteBuffer(queue, buffer.get(), CL_FALSE, 0, bytes, data.at(0), 1, gate, event);
    };
    const auto vendor_and_flush = [&](cl_command_queue queue, const cl_event* gate, cl_event* event) {
        const cl_int code = vendor(queue, gate, event);
        return code == CL_SUCCESS ? clFlush(queue) : code;
    };
    const auto ours = [&](cl_command_queue queue, const cl_event* gate, cl_event* event) {
        return clEnqueueWriteBufferFromFile(queue, buffer.get(), CL_FALSE, 0, bytes, descriptor, last, 1, gate, event);
    };
    const auto ours_stream = [&](cl_command_queue queue, const cl_event* gate, cl_event* event) {
        return clEnqueueWriteBufferFromStdioFile(queue, buffer.get(), CL_FALSE, 0, bytes, file.get(), 1, gate, event);
    };

    std::vector<line> all;
    for (const bool in_order : {true, false}) {
        const auto queue = in_order ? where.in_order.get() : where.out_of_order.get();
        const comparison compared{in_order ? "enqueue, in-order" : "enqueue, out-of-order",
                                  0,
                                  limit_rule::slowest,
                                  {{"vendor's write", role::limit},
                                   {"vendor's write and clFlush", role::shown},
                                   {"causeway, file", role::ours},
                                   {"causeway, FILE*", role::ours}}};
        std::vector<std::vector<double>> samples(compared.ways.size());
        for (int round = 0; round < all_calls / batch + warm_up_batches; ++round) {
            if (round == warm_up_batches) samples.assign(samples.size(), {});
            time_batch(where, queue, samples[0], vendor);
            time_batch(where, queue, samples[1], vendor_and_flush);
            time_batch(where, queue, samples[2], ours);
            std::vector<std::byte> found(bytes);
            read_device(where.in_order.get(), buffer.get(), 0, bytes, found.data());
            if (std::memcmp(found.data(), data.at(1) + last, bytes) != 0)
                throw std::runtime_error(compared.route + ": wrong data");
            std::rewind(file.get());
            time_batch(where, queue, samples[3], ours_stream);
        }
        const auto lines = evaluate(compared, samples);
        print(lines, all.empty() ? heading::yes : heading::no);
        all.insert(all.end(), lines.begin(), lines.end());
    }
    return all;
}

} // namespace benchmarks
