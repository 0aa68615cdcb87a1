// SPDX-License-Identifier: Apache-2.0
// Peer copies in one process, beside the two copies at once and what users write.
#include "perf/direct_link.hpp"
#include "perf/routes.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace perf {

namespace {

enum class by_hand { vendors_copy, through_host };

/// Two buffers and data of one size.
class peer_bench {
  public:
    peer_bench(session& session, const bench_device& from, const bench_device& to, std::size_t bytes)
        : m_session(session), m_from(from), m_to(to), m_bytes(bytes), m_data(from, bytes),
          m_source(m_data.on_device(from, session.buffers())), m_target(make_buffer(to, bytes, session.buffers())),
          m_out(from.context.get(), from.in_order.get(), bytes), m_in(to, bytes), m_pageable(bytes),
          m_link(direct_link::between(uuid_of(from.device), uuid_of(to.device), bytes)) {}

    void measure(const std::string& route, by_hand naive) {
        if (m_link) wait_for_windows();
        const auto check = [this] { verify_target(); };
        comparison made{route, m_bytes, rule_for(m_bytes)};
        // Which ends the process if the memory was made for one device (NVIDIA driver 580).
        if (m_session.buffers() == buffer_kind::linked) naive = by_hand::through_host;
        if (naive == by_hand::vendors_copy)
            made.add_naive(
                [this] {
                    next();
                    return vendors_copy();
                },
                check, "clEnqueueCopyBuffer, until the bytes are on the target's device");
        if (naive == by_hand::through_host || !is_all_host_memory())
            made.add_naive(
                [this] {
                    next();
                    return read_and_write();
                },
                check, naive == by_hand::vendors_copy ? "blocking read, blocking write" : "");
        add_ours(
            made, m_session.plans(m_bytes),
            [this](apps::event& moved) {
                next();
                return back_to_back([&] { moved = peer_copy(); });
            },
            check);
        if (is_all_host_memory()) {
            // Both sides are host memory: no way is shorter than one copy.
            made.add_limit(
                "one copy", "clEnqueueWriteBuffer from host memory",
                [this] {
                    next();
                    return seconds_of(
                        [this] { write_device(m_to.in_order.get(), m_target.get(), 0, m_bytes, m_in.at(m_window)); });
                },
                check);
        } else {
            made.add_limit(
                "copies", m_bytes < overlapping ? "out, then in" : "out of one and into the other at once",
                [this] {
                    next();
                    return copies();
                },
                check);
            if (m_link)
                made.add_limit("copies", "CUDA's copy over the direct link",
                               [this] { return back_to_back([this] { m_link->copy(); }); });
        }
        m_session.measure(std::move(made));
    }

  private:
    [[nodiscard]] bool is_all_host_memory() const { return m_from.host_memory && m_to.host_memory; }

    /// The library starts what it needs for a direct link with the first large copies, beside them.
    void wait_for_windows() {
        static bool was_in_vain = false; // of the two devices of a run
        // Of what is smaller, only buffers that the link reaches themselves go over it.
        const auto least = m_session.buffers() == buffer_kind::linked ? mib : 2 * mib;
        if (m_bytes < least || was_in_vain) return;
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(15); // the trial of links included
        while (std::chrono::steady_clock::now() < until) {
            next();
            const auto way = plan_of(peer_copy().get()).strategy;
            if (way == "device-window" || way == "direct") return;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        was_in_vain = true;
        m_session.note("no peer copy goes over the direct link: " + words_on_links(m_from.device));
    }

    /// Another part of the data, and both buffers where they belong: the vendor's copy may leave one on the other
    /// device (NVIDIA driver 580), and whoever comes next would pay for its way back.
    void next() {
        ++m_window;
        bring_home(m_from, m_source);
        bring_home(m_to, m_target);
    }

    static void bring_home(const bench_device& at, const apps::buffer& buffer) {
        const auto memory = buffer.get();
        apps::check(clEnqueueMigrateMemObjects(at.in_order.get(), 1, &memory, 0, 0, nullptr, nullptr),
                    "clEnqueueMigrateMemObjects");
        apps::check(clFinish(at.in_order.get()), "clFinish");
    }

    /// Seconds of `action`; where a direct link leads, so short that how devices wake up would be measured instead.
    /// Each moves other bytes than the one before: what only the first one moved would be found at the end.
    template <class Action> double back_to_back(Action action) {
        if (!m_link || m_bytes < mib) return seconds_of(action);
        const auto another = [&] {
            ++m_window;
            action();
        };
        another();
        const auto count = in_a_row();
        return seconds_of([&] {
                   for (std::size_t i = 0; i < count; ++i) another();
               }) /
               double(count);
    }

    [[nodiscard]] std::size_t in_a_row() const { return std::clamp<std::size_t>(gib / m_bytes, 1, 4); }
    [[nodiscard]] std::size_t offset() const { return test_data::offset_of(m_window); }

    apps::event peer_copy() {
        cl_event moved = nullptr;
        const auto code = clEnqueuePeerCopyBuffer(m_from.in_order.get(), m_source.get(), m_to.in_order.get(),
                                                  m_target.get(), CL_TRUE, offset(), 0, m_bytes, 0, nullptr, &moved);
        apps::event event(moved);
        check_transfer(code, "clEnqueuePeerCopyBuffer");
        return event;
    }

    /// Until the bytes are where the target's device uses them: NVIDIA's copies may stay within the source's device.
    /// That the source's go home again is not counted.
    double vendors_copy() {
        const auto once = [this] {
            ++m_window;
            const double seconds = seconds_of([this] {
                apps::check(clEnqueueCopyBuffer(m_to.in_order.get(), m_source.get(), m_target.get(), offset(), 0,
                                                m_bytes, 0, nullptr, nullptr),
                            "clEnqueueCopyBuffer");
                bring_home(m_to, m_target);
            });
            bring_home(m_from, m_source);
            return seconds;
        };
        if (!m_link || m_bytes < mib) return once();
        (void)once();
        double seconds = 0;
        const auto count = in_a_row();
        for (std::size_t i = 0; i < count; ++i) seconds += once();
        return seconds / double(count);
    }

    double read_and_write() {
        return back_to_back([this] {
            read_device(m_from.in_order.get(), m_source.get(), offset(), m_bytes, m_pageable.data());
            write_device(m_to.in_order.get(), m_target.get(), 0, m_bytes, m_pageable.data());
        });
    }

    double copies() {
        const auto out_queue = m_from.in_order.get(), in_queue = m_to.other_way.get();
        return back_to_back([&] {
            apps::check(clEnqueueReadBuffer(out_queue, m_source.get(), rule_for(m_bytes) == limit_rule::sum, offset(),
                                            m_bytes, m_out.data(), 0, nullptr, nullptr),
                        "clEnqueueReadBuffer");
            apps::check(clFlush(out_queue), "clFlush");
            apps::check(clEnqueueWriteBuffer(in_queue, m_target.get(), CL_FALSE, 0, m_bytes, m_in.at(m_window), 0,
                                             nullptr, nullptr),
                        "clEnqueueWriteBuffer");
            apps::check(clFinish(in_queue), "clFinish");
            apps::check(clFinish(out_queue), "clFinish");
        });
    }

    void verify_target() {
        read_device(m_to.in_order.get(), m_target.get(), 0, m_bytes, m_pageable.data());
        m_data.verify(m_pageable.data(), m_window);
    }

    session& m_session;
    const bench_device &m_from, &m_to;
    std::size_t m_bytes;
    test_data m_data;
    apps::buffer m_source, m_target;
    apps::pinned_memory m_out; // page-locked for the source's device
    test_data m_in; // the same data, page-locked for the target's device
    pageable_memory m_pageable;
    std::unique_ptr<direct_link> m_link; // null if there is none
    std::size_t m_window = 0; // of the last transfer
};

void run(session& session, const std::string& route, const bench_device& from, const bench_device& to, by_hand naive) {
    // The target's largest buffer may be the smaller one, on another platform.
    const auto possible = session.sizes(to.device, 8);
    for (const auto bytes : session.sizes(from.device, 8))
        if (std::ranges::find(possible, bytes) != possible.end())
            session.try_size(route, bytes, [&] { peer_bench(session, from, to, bytes).measure(route, naive); });
}

void one_context(session& session, const devices& on) {
    if (on.second() == nullptr) {
        session.note(std::string("peer-one-context left out: it takes two devices, and ") +
                     (on.forced ? "--device names one" : "the platform has one"));
        return;
    }
    const std::array both = {on.first(), on.second()};
    cl_int code = CL_SUCCESS;
    const apps::context shared(clCreateContext(nullptr, 2, both.data(), nullptr, nullptr, &code));
    apps::check(code, "clCreateContext of two devices");
    run(session, "peer-one-context", bench_device(shared.get(), both[0]), bench_device(shared.get(), both[1]),
        by_hand::vendors_copy);
}

void two_contexts(session& session, const devices& on) {
    auto* second = on.second();
    if (second == nullptr) {
        second = on.first();
        session.note("peer-two-contexts: both contexts are of one device");
    }
    run(session, "peer-two-contexts", bench_device(on.first()), bench_device(second), by_hand::through_host);
}

void two_vendors(session& session, const devices& on) {
    const auto other = apps::device_of_another_platform(on.first(), session.wanted().peer_platform);
    if (other == nullptr) {
        session.note("peer-two-vendors left out: there is no device of another platform" +
                     (session.wanted().peer_platform.empty() ? "" : " " + session.wanted().peer_platform));
        return;
    }
    run(session, "peer-two-vendors", bench_device(on.first()), bench_device(other), by_hand::through_host);
}

} // namespace

void peer_routes(session& session, const devices& on) {
    if (session.wants("peer-one-context")) one_context(session, on);
    if (session.wants("peer-two-contexts")) two_contexts(session, on);
    if (session.wants("peer-two-vendors")) two_vendors(session, on);
}

} // namespace perf
