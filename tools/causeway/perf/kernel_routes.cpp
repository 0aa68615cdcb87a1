// SPDX-License-Identifier: Apache-2.0
// Transfers beside a kernel that takes as long, in one process and between two ranks.
#include "perf/file_access.hpp"
#include "perf/linked_pair.hpp"
#include "perf/routes.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace perf {

namespace {

constexpr const char* source = R"(
kernel void compute(global uint *result, uint rounds)
{
    uint x = get_global_id(0) + 1;
    for (uint i = 0; i < rounds; ++i) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    if (x == 0) *result = 1;
})";

/// A kernel that only computes, on all of the device, for a time that can be set.
class computation {
  public:
    explicit computation(const bench_device& where)
        : m_queue(where.in_order.get()), m_result(apps::create_buffer(where.context.get(), sizeof(cl_uint))),
          m_program(apps::build_program(where.context.get(), where.device, source, "")),
          m_kernel(apps::create_kernel(m_program.get(), "compute")) {
        cl_uint units = 1;
        apps::check(clGetDeviceInfo(where.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr),
                    "clGetDeviceInfo");
        m_items = 2048 * std::size_t(units);
    }

    /// Returns the event; the kernel is under way.
    apps::event start() {
        const cl_mem result = m_result.get();
        apps::set_arguments(m_kernel.get(), result, m_rounds);
        cl_event started = nullptr;
        apps::check(
            clEnqueueNDRangeKernel(m_queue, m_kernel.get(), 1, nullptr, &m_items, nullptr, 0, nullptr, &started),
            "clEnqueueNDRangeKernel");
        apps::event event(started);
        apps::check(clFlush(m_queue), "clFlush");
        return event;
    }

    void run() {
        const auto event = start();
        wait_for(std::array{event.get()});
    }

    void calibrate(double seconds) {
        const auto once = [this] { return seconds_of([this] { run(); }); };
        (void)once(); // the first run compiles
        m_rounds = 64;
        double taken = once();
        while (taken < seconds / 4 && m_rounds < 1U << 26U) {
            m_rounds *= 2;
            taken = once();
        }
        m_rounds = std::max(1U, cl_uint(m_rounds * seconds / taken));
    }

  private:
    cl_command_queue m_queue;
    apps::buffer m_result;
    apps::program m_program;
    apps::kernel m_kernel;
    std::size_t m_items = 0;
    cl_uint m_rounds = 1;
};

constexpr double shortest_kernel = 200e-6;

/// Seconds of `once()`, behind one that warms up.
template <class Once> double typical(Once once) {
    (void)once();
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i) seconds.push_back(once());
    return apps::quartiles_of(seconds).median;
}

class file_beside_kernel {
  public:
    /// `blocking`: the transfer is one call in an in-order queue, as by hand, and not a command that is done in the
    /// background.
    file_beside_kernel(session& session, const bench_device& where, std::size_t bytes, computation& kernel,
                       cl_bool blocking)
        : m_session(session), m_where(where), m_kernel(kernel), m_blocking(blocking), m_bytes(bytes),
          m_data(where, bytes), m_target(apps::create_buffer(where.context.get(), bytes)), m_memory(bytes),
          m_file(bench_file::make(session.wanted().directory)) {
        m_file.fill(m_data.whole(), m_data.whole_bytes());
    }

    void measure(const std::string& route) {
        apps::event first;
        m_kernel.calibrate(std::max(typical([&] { return transfer(first); }), shortest_kernel));
        const auto used = plan_of(first.get());
        const auto raw = std::make_shared<parallel_access>(std::max(used.io_threads, 1U), used.block_bytes);
        const auto check = [this] {
            read_device(m_where.in_order.get(), m_target.get(), 0, m_bytes, m_memory.data());
            m_data.verify(m_memory.data(), m_window);
        };

        comparison made{route, m_bytes, limit_rule::slowest};
        made.add_naive([this] { return one_after_the_other(); }, check);
        add_ours(
            made, m_session.plans(m_bytes),
            [this](apps::event& moved) {
                ++m_window;
                return seconds_of([&] {
                    const auto computed = m_kernel.start();
                    moved = enqueue();
                    wait_for(std::array{computed.get(), moved.get()});
                });
            },
            check);
        if (m_where.host_memory) {
            made.add_limit(
                "by hand", "kernel beside pread into the mapped buffer by " + raw->text(),
                [this, raw] { return by_hand(*raw); }, check);
        } else {
            made.add_limit("kernel", "alone", [this] { return seconds_of([this] { m_kernel.run(); }); });
            made.add_limit(
                "transfer", "alone, the library's choice",
                [this] {
                    apps::event moved;
                    return transfer(moved);
                },
                check);
        }
        m_session.measure(std::move(made));
    }

  private:
    [[nodiscard]] std::size_t offset() const { return test_data::offset_of(m_window); }

    apps::event enqueue() {
        cl_event moved = nullptr;
        const auto queue = m_blocking == CL_TRUE ? m_where.other_way.get() : m_where.out_of_order.get();
        check_transfer(clEnqueueWriteBufferFromFile(queue, m_target.get(), m_blocking, 0, m_bytes, m_file.descriptor(),
                                                    int64_t(offset()), 0, nullptr, &moved),
                       "clEnqueueWriteBufferFromFile");
        return apps::event(moved);
    }

    double transfer(apps::event& moved) {
        ++m_window;
        return seconds_of([&] {
            moved = enqueue();
            wait_for(std::array{moved.get()});
        });
    }

    double one_after_the_other() {
        m_file.seek(test_data::offset_of(++m_window));
        return seconds_of([this] {
            m_kernel.run();
            if (std::fread(m_memory.data(), 1, m_bytes, m_file.stream()) != m_bytes) throw_errno("fread");
            write_device(m_where.in_order.get(), m_target.get(), 0, m_bytes, m_memory.data());
        });
    }

    double by_hand(parallel_access& raw) {
        ++m_window;
        return seconds_of([&] {
            const auto queue = m_where.other_way.get();
            const auto computed = m_kernel.start();
            cl_int code = CL_SUCCESS;
            void* const mapped = clEnqueueMapBuffer(queue, m_target.get(), CL_TRUE, CL_MAP_WRITE, 0, m_bytes, 0,
                                                    nullptr, nullptr, &code);
            apps::check(code, "clEnqueueMapBuffer");
            (void)raw.run(parallel_access::direction::read, m_file.descriptor(), offset(),
                          static_cast<std::byte*>(mapped), m_bytes);
            apps::check(clEnqueueUnmapMemObject(queue, m_target.get(), mapped, 0, nullptr, nullptr),
                        "clEnqueueUnmapMemObject");
            apps::check(clFinish(queue), "clFinish");
            wait_for(std::array{computed.get()});
        });
    }

    session& m_session;
    const bench_device& m_where;
    computation& m_kernel;
    cl_bool m_blocking;
    std::size_t m_bytes;
    test_data m_data;
    apps::buffer m_target;
    pageable_memory m_memory;
    bench_file m_file;
    std::size_t m_window = 0; // of the last transfer
};

class exchange_beside_kernel : public linked_pair {
  public:
    static constexpr std::size_t copies_held = linked_pair::copies_held + 1;

    exchange_beside_kernel(session& session, const bench_device& where, std::size_t bytes, computation& kernel,
                           bool& in_vain)
        : linked_pair(session, where, bytes, in_vain), m_kernel(kernel),
          m_elsewhere(apps::create_buffer(where.context.get(), bytes)) {
        if (session.buffers() != buffer_kind::ordinary) m_link.reset(); // nothing here needs its memory
    }

    void measure(const std::string& route) {
        apps::event first;
        m_kernel.calibrate(std::max(typical([&] { return transfer(first); }), shortest_kernel));
        const auto check = [this] { verify_target(); };

        comparison made{route, m_bytes, limit_rule::slowest};
        made.add_naive(
            [this] {
                advance();
                return together([this] {
                    m_kernel.run();
                    exchange_naively();
                });
            },
            check);
        add_ours(
            made, m_session.plans(m_bytes),
            [this](apps::event& moved) {
                advance();
                return together([&] {
                    const auto computed = m_kernel.start();
                    moved = enqueue_exchange();
                    wait_for(std::array{computed.get(), moved.get()});
                });
            },
            check);
        if (m_copies_count) {
            made.add_limit("kernel", "of both ranks, alone", [this] { return together([this] { m_kernel.run(); }); });
            made.add_limit(
                "transfer", "alone, the library's choice",
                [this] {
                    apps::event moved;
                    return transfer(moved);
                },
                check);
            // What passes through memory that another device sees is copied there first, and a driver may put that
            // behind kernels.
            made.add_shown(
                "copies", "kernel beside clEnqueueCopyBuffer out of one buffer and into the other, within the device",
                [this] { return copies_beside_kernel(); }, check);
            // So what crosses the link leaves behind the kernel.
            if (m_has_link && m_session.buffers() == buffer_kind::ordinary)
                made.add_shown("in turn", "kernel of both ranks, then CUDA's copies both ways " + m_way, [this] {
                    return together([this] {
                        m_kernel.run();
                        MPI_Barrier(m_comm);
                        if (m_link) m_link->copy_both_ways();
                        MPI_Barrier(m_comm);
                    });
                });
        } else {
            made.add_limit(
                "by hand", "kernel beside read, MPI_Sendrecv and write in another queue", [this] { return by_hand(); },
                check);
        }
        m_session.measure(std::move(made));
    }

  private:
    double transfer(apps::event& moved) {
        advance();
        return together([&] {
            moved = enqueue_exchange();
            wait_for(std::array{moved.get()});
        });
    }

    double by_hand() {
        advance();
        return together([this] {
            const auto other = m_where.other_way.get();
            const auto computed = m_kernel.start();
            read_device(other, m_source.get(), own_offset(), m_bytes, m_outgoing.data());
            exchange_host(m_outgoing.data(), m_incoming.data());
            write_device(other, m_target.get(), 0, m_bytes, m_incoming.data());
            wait_for(std::array{computed.get()});
        });
    }

    double copies_beside_kernel() {
        const auto copy = [&](cl_mem from, std::size_t offset, cl_mem to) {
            apps::check(clEnqueueCopyBuffer(m_where.other_way.get(), from, to, offset, 0, m_bytes, 0, nullptr, nullptr),
                        "clEnqueueCopyBuffer");
        };
        advance();
        return together([&] {
            const auto computed = m_kernel.start();
            copy(m_source.get(), test_data::offset_of(window_of(m_peer)), m_elsewhere.get());
            copy(m_elsewhere.get(), 0, m_target.get());
            apps::check(clFinish(m_where.other_way.get()), "clFinish");
            wait_for(std::array{computed.get()});
        });
    }

    computation& m_kernel;
    apps::buffer m_elsewhere;
};

} // namespace

void kernel_file_routes(session& session, const devices& on) {
    const std::array routes{std::pair{"kernel-file", cl_bool{CL_FALSE}},
                            std::pair{"kernel-file-blocking", cl_bool{CL_TRUE}}};
    if (std::ranges::none_of(routes, [&](const auto& each) { return session.wants(each.first); })) return;
    const bench_device where(on.first());
    computation kernel(where);
    for (const auto& [route, blocking] : routes) {
        if (!session.wants(route)) continue;
        for (const auto bytes : session.sizes(where.device, 6, overlapping))
            session.try_size(route, bytes,
                             [&] { file_beside_kernel(session, where, bytes, kernel, blocking).measure(route); });
    }
}

void rank_kernel_route(session& session, const bench_device& where, const std::string& suffix) {
    if (!session.wants("rank-kernel" + suffix)) return;
    computation kernel(where);
    bool in_vain = false;
    for (const auto bytes : session.sizes(where.device, exchange_beside_kernel::copies_held, overlapping))
        exchange_beside_kernel(session, where, bytes, kernel, in_vain).measure("rank-kernel" + suffix);
}

} // namespace perf
