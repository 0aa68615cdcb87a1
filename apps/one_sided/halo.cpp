// SPDX-License-Identifier: Apache-2.0
// A field in strips of rows, one for each PE, in a ring: each step smooths along the columns and exchanges the outer
// rows, by puts with signals, by transfers between ranks, and by hand. The commands of an exchange pass one another, in
// a queue of their own; the next kernel waits for all of them.
#include "pe.hpp"

#include <cstdio>
#include <string>
#include <utility>

namespace one_sided {

namespace {

constexpr std::size_t rows = 4; // of a strip; one more on each side belongs to a neighbour
constexpr int steps = 6;
constexpr int period = 97; // of what is in a row

float first_value(std::size_t row, std::size_t column) { return static_cast<float>((row * 31 + column * 7) % period); }

float smoothed(float above, float own, float below) { return (above + 2 * own + below) * 0.25f; }

constexpr const char* kernel_source = R"(
kernel void smooth(global const float* from, ulong from_first, global float* to, ulong to_first, ulong width) {
    const size_t i = (get_global_id(1) + 1) * width + get_global_id(0);
    from += from_first;
    to[to_first + i] = (from[i - width] + 2 * from[i] + from[i + width]) * 0.25f;
}
)";

/// A strip in memory of the device, with room for the neighbours' rows.
struct strip {
    cl_mem buffer = nullptr;
    std::size_t offset = 0; ///< in bytes
    float* address = nullptr; ///< if it is in the heap
};

/// Events of what the next command comes after; released with this.
class events {
  public:
    events() = default;
    ~events() {
        for (auto* const each : m_all) clReleaseEvent(each);
    }
    events(events&& other) noexcept : m_all(std::exchange(other.m_all, {})) {}
    events& operator=(events&& other) noexcept {
        std::swap(m_all, other.m_all);
        return *this;
    }
    events(const events&) = delete;

    [[nodiscard]] cl_event* add() { return &m_all.emplace_back(nullptr); }
    [[nodiscard]] cl_uint count() const { return static_cast<cl_uint>(m_all.size()); }
    [[nodiscard]] const cl_event* list() const { return m_all.empty() ? nullptr : m_all.data(); }

  private:
    std::vector<cl_event> m_all;
};

struct problem {
    const pe& here;
    cl_command_queue exchanging; // out of order
    std::size_t width;
    cl_kernel kernel;
    std::uint64_t* signals; // count rows that have come from below and above
    std::uint64_t come = 0;

    [[nodiscard]] std::size_t row_bytes() const { return width * sizeof(float); }
    [[nodiscard]] std::size_t bytes() const { return (rows + 2) * row_bytes(); }
    [[nodiscard]] int above() const { return (here.own + here.all - 1) % here.all; }
    [[nodiscard]] int below() const { return (here.own + 1) % here.all; }
    [[nodiscard]] std::size_t row(const strip& of, std::size_t which) const { return of.offset + which * row_bytes(); }

    void fill(const strip& which) const {
        std::vector<float> values((rows + 2) * width);
        const auto all = rows * static_cast<std::size_t>(here.all);
        for (std::size_t i = 0; i < rows + 2; ++i)
            for (std::size_t column = 0; column < width; ++column)
                values[i * width + column] = first_value(
                    (static_cast<std::size_t>(here.own) * rows + i + all - 1) % all, column);
        check(clEnqueueWriteBuffer(here.queue, which.buffer, CL_TRUE, which.offset, bytes(), values.data(), 0, nullptr,
                                   nullptr),
              "clEnqueueWriteBuffer");
    }

    /// Behind `after`; returns what stands for it.
    [[nodiscard]] events smooth(const strip& from, const strip& to, const events& after) const {
        const cl_ulong first = from.offset / sizeof(float), target = to.offset / sizeof(float), in_row = width;
        check(clSetKernelArg(kernel, 0, sizeof from.buffer, &from.buffer), "clSetKernelArg");
        check(clSetKernelArg(kernel, 1, sizeof first, &first), "clSetKernelArg");
        check(clSetKernelArg(kernel, 2, sizeof to.buffer, &to.buffer), "clSetKernelArg");
        check(clSetKernelArg(kernel, 3, sizeof target, &target), "clSetKernelArg");
        check(clSetKernelArg(kernel, 4, sizeof in_row, &in_row), "clSetKernelArg");
        const std::size_t items[2] = {width, rows};
        events done;
        check(clEnqueueNDRangeKernel(here.queue, kernel, 2, nullptr, items, nullptr, after.count(), after.list(),
                                     done.add()),
              "clEnqueueNDRangeKernel");
        check(clFlush(here.queue), "clFlush");
        return done;
    }

    [[nodiscard]] events exchange_by_puts(const strip& of, const events& after) {
        events all;
        const auto put = [&](std::size_t own_row, std::size_t their_row, std::uint64_t* then, int to) {
            check(clEnqueuePutSignal(exchanging, of.buffer, CL_FALSE, row(of, own_row), row_bytes(),
                                     of.address + their_row * width, then, 1, CL_SIGNAL_ADD, to, after.count(),
                                     after.list(), all.add()),
                  "clEnqueuePutSignal");
        };
        put(1, rows + 1, &signals[0], above());
        put(rows, 0, &signals[1], below());
        // One for each neighbour: of a sum, one that is a step ahead could have brought both. More it is not, and puts
        // into the other strip then.
        ++come;
        for (int i = 0; i < 2; ++i)
            check(clEnqueueSignalWait(exchanging, CL_FALSE, &signals[i], CL_COMPARE_GE, come, 0, nullptr, all.add()),
                  "clEnqueueSignalWait");
        return all;
    }

    [[nodiscard]] events exchange_by_ranks(const strip& of, const events& after) const {
        events all;
        const auto one = [&](std::size_t own_row, int to, std::size_t their_row, int from, int tag) {
            check(clEnqueueSendrecvBuffer(exchanging, of.buffer, of.buffer, CL_FALSE, row(of, own_row), row_bytes(), to,
                                          tag, row(of, their_row), row_bytes(), from, tag, MPI_COMM_WORLD,
                                          after.count(), after.list(), all.add()),
                  "clEnqueueSendrecvBuffer");
        };
        one(1, above(), rows + 1, below(), 1);
        one(rows, below(), 0, above(), 2);
        return all;
    }

    [[nodiscard]] events exchange_by_hand(const strip& of, std::vector<float>& out, std::vector<float>& in) const {
        const auto one = [&](std::size_t own_row, int to, std::size_t their_row, int from, int tag) {
            check(clEnqueueReadBuffer(here.queue, of.buffer, CL_TRUE, row(of, own_row), row_bytes(), out.data(), 0,
                                      nullptr, nullptr),
                  "clEnqueueReadBuffer");
            MPI_Sendrecv(out.data(), static_cast<int>(width), MPI_FLOAT, to, tag, in.data(), static_cast<int>(width),
                         MPI_FLOAT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check(clEnqueueWriteBuffer(here.queue, of.buffer, CL_TRUE, row(of, their_row), row_bytes(), in.data(), 0,
                                       nullptr, nullptr),
                  "clEnqueueWriteBuffer");
        };
        one(1, above(), rows + 1, below(), 1);
        one(rows, below(), 0, above(), 2);
        return {};
    }

    /// The rows of this PE after all steps, by the host alone.
    [[nodiscard]] bool is_right(const strip& which) const {
        const auto all = rows * static_cast<std::size_t>(here.all);
        std::vector<float> now(all * period), next(all * period);
        for (std::size_t i = 0; i < all; ++i)
            for (std::size_t column = 0; column < period; ++column) now[i * period + column] = first_value(i, column);
        for (int step = 0; step < steps; ++step) {
            for (std::size_t i = 0; i < all; ++i)
                for (std::size_t column = 0; column < period; ++column)
                    next[i * period + column] = smoothed(now[(i + all - 1) % all * period + column],
                                                         now[i * period + column],
                                                         now[(i + 1) % all * period + column]);
            std::swap(now, next);
        }
        std::vector<float> seen(rows * width);
        check(clEnqueueReadBuffer(here.queue, which.buffer, CL_TRUE, row(which, 1), rows * row_bytes(), seen.data(), 0,
                                  nullptr, nullptr),
              "clEnqueueReadBuffer");
        bool right = true;
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t column = 0; column < width; ++column)
                right = right && seen[i * width + column] ==
                                     now[(static_cast<std::size_t>(here.own) * rows + i) * period + column % period];
        return right;
    }
};

} // namespace

bool halo(const pe& here, int rounds) {
    cl_int code = CL_SUCCESS;
    const char* text = kernel_source;
    cl_program program = clCreateProgramWithSource(here.context, 1, &text, nullptr, &code);
    check(code, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &here.device, "", nullptr, nullptr), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "smooth", &code);
    check(code, "clCreateKernel");
    cl_command_queue exchanging = clCreateCommandQueue(here.context, here.device,
                                                       CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    check(code, "clCreateCommandQueue");
    bool right = true;
    for (const std::size_t bytes : {std::size_t{64} << 10, std::size_t{512} << 10, std::size_t{4} << 20}) {
        problem all{here, exchanging, bytes / sizeof(float), kernel, here.allocate<std::uint64_t>(2)};
        strip in_heap[2], ordinary[2];
        for (auto& each : in_heap) {
            each.address = here.allocate<float>((rows + 2) * all.width);
            each.buffer = causeway_symmetric_buffer(each.address, &each.offset, &code);
            check(code, "causeway_symmetric_buffer");
        }
        for (auto& each : ordinary) each.buffer = here.make_buffer(all.bytes());
        std::vector<float> out(all.width), in(all.width);
        std::vector<double> seconds[3];
        for (int round = 0; round < rounds + 1; ++round) {
            int way = 0;
            const auto run = [&](strip* strips, auto exchange) {
                all.fill(strips[0]);
                check(clFinish(here.queue), "clFinish");
                // Nobody puts where another one still fills.
                check(causeway_symmetric_barrier(), "causeway_symmetric_barrier");
                const double taken = timed([&] {
                    events exchanged;
                    for (int step = 0; step < steps; ++step) {
                        const auto smoothed = all.smooth(strips[step % 2], strips[(step + 1) % 2], exchanged);
                        exchanged = exchange(strips[(step + 1) % 2], smoothed);
                    }
                    check(clFinish(here.queue), "clFinish");
                    check(clFinish(exchanging), "clFinish");
                });
                right = all.is_right(strips[steps % 2]) && right;
                if (round > 0) seconds[way].push_back(taken / steps); // the first one warms up
                ++way;
            };
            run(in_heap, [&](const strip& of, const events& after) { return all.exchange_by_puts(of, after); });
            run(ordinary, [&](const strip& of, const events& after) { return all.exchange_by_ranks(of, after); });
            run(ordinary, [&](const strip& of, const events&) { return all.exchange_by_hand(of, out, in); });
        }
        if (here.own == 0) {
            const double puts = median(seconds[0]), ranks = median(seconds[1]), hand = median(seconds[2]);
            std::printf("%7zu KiB rows, a step: puts %9.1f us, sends and receives %9.1f us (%.2f of it), by hand %9.1f "
                        "us (%.2f of it)\n",
                        bytes >> 10, puts * 1e6, ranks * 1e6, puts / ranks, hand * 1e6, puts / hand);
        }
        for (auto& each : ordinary) clReleaseMemObject(each.buffer);
        check(causeway_symmetric_free(in_heap[1].address), "free");
        check(causeway_symmetric_free(in_heap[0].address), "free");
        check(causeway_symmetric_free(all.signals), "free");
    }
    clReleaseCommandQueue(exchanging);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    return right;
}

} // namespace one_sided
