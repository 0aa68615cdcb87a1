// SPDX-License-Identifier: Apache-2.0
// What the call that enqueues a transfer takes, beside the vendor's own enqueue of a write.
#include "perf/file_access.hpp"
#include "perf/routes.hpp"

namespace perf {

namespace {

constexpr std::size_t bytes = 4096;
constexpr int batch = 64; // calls in a row on a gated queue

/// Enqueues `batch` commands behind a closed gate, then opens it and waits. Seconds of one call.
template <class Enqueue> double time_of_one(const bench_device& where, std::vector<apps::event>& moved,
                                            Enqueue enqueue) {
    const auto gate = create_gate(where.context.get());
    const cl_event wait = gate.get();
    cl_int code = CL_SUCCESS;
    std::vector<cl_event> events(batch);
    const double seconds = seconds_of([&] {
        for (int i = 0; i < batch && code == CL_SUCCESS; ++i) code = enqueue(&wait, &events[std::size_t(i)]);
    });
    moved.clear();
    for (auto* const each : events)
        if (each != nullptr) moved.emplace_back(each);
    open_gate(gate);
    check_transfer(code, "enqueueing");
    wait_for_all(moved);
    return seconds / batch;
}

void measure(session& session, const bench_device& where) {
    const auto queue = where.in_order.get();
    const test_data data(where, bytes);
    const auto buffer = apps::create_buffer(where.context.get(), bytes);
    auto file = bench_file::make(session.wanted().directory);
    file.fill(data.whole(), data.whole_bytes());
    pageable_memory memory(bytes);
    std::size_t window = 0;
    std::vector<apps::event> moved;
    const auto check = [&] {
        read_device(queue, buffer.get(), 0, bytes, memory.data());
        data.verify(memory.data(), window);
    };

    comparison made{"enqueue", bytes, limit_rule::slowest};
    made.add_naive(
        [&] {
            ++window;
            return seconds_of([&] {
                       for (int i = 0; i < batch; ++i) {
                           file.seek(test_data::offset_of(window));
                           if (std::fread(memory.data(), 1, bytes, file.stream()) != bytes) throw_errno("fread");
                           write_device(queue, buffer.get(), 0, bytes, memory.data());
                       }
                   }) /
                   batch;
        },
        check);
    add_ours(
        made, std::vector<forced_plan>(1),
        [&](apps::event& last) {
            const auto offset = int64_t(test_data::offset_of(++window));
            const double seconds = time_of_one(where, moved, [&](const cl_event* gate, cl_event* event) {
                return clEnqueueWriteBufferFromFile(queue, buffer.get(), CL_FALSE, 0, bytes, file.descriptor(), offset,
                                                    1, gate, event);
            });
            last = std::move(moved.back());
            return seconds;
        },
        check);
    made.add_limit(
        "vendor's call", "clEnqueueWriteBuffer and clFlush, as a transfer flushes its queue",
        [&] {
            ++window;
            return time_of_one(where, moved, [&](const cl_event* gate, cl_event* event) {
                const cl_int code = clEnqueueWriteBuffer(queue, buffer.get(), CL_FALSE, 0, bytes, data.at(window), 1,
                                                         gate, event);
                return code == CL_SUCCESS ? clFlush(queue) : code;
            });
        },
        check);
    session.measure(std::move(made));
}

} // namespace

void enqueue_route(session& session, const devices& on) {
    if (!session.wants("enqueue")) return;
    const bench_device where(on.first());
    session.try_size("enqueue", bytes, [&] { measure(session, where); });
}

} // namespace perf
