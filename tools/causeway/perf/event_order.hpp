// SPDX-License-Identifier: Apache-2.0
// Fixed costs of a transfer: ordering among commands, and waking a sleeping thread.
#pragma once

#include "perf/bench.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace perf {

/// Up to this size these costs are a good part of a transfer's time if device memory is host memory. Elsewhere they are
/// so only below 1 MiB.
constexpr std::size_t largest_shown_with_order = 16 * mib;

/// Cost of a command that a thread carries out with standard OpenCL: one user event holds the queue, another reports
/// the end. Here a polling thread sets both as soon as it sees them.
class event_order {
  public:
    static constexpr const char*
        how = "two user events, set by a thread that polls, a marker behind one, a wait for the other";

    explicit event_order(const bench_device& where) : m_where(where) {}

    /// Mean seconds of one command out of `repeats`. The polling thread has ended on return: it keeps no processor.
    double seconds(int repeats) {
        std::thread setter([this] { set(); });
        while (!m_is_there) std::this_thread::yield();
        const double all = seconds_of([&] {
            for (int i = 0; i < repeats; ++i) once();
        });
        m_ends = true;
        setter.join();
        return all / repeats;
    }

  private:
    void once() {
        const auto queue = m_where.out_of_order.get();
        const std::array gates{create_gate(m_where.context.get()), create_gate(m_where.context.get())};
        const auto order = gates[1].get();
        apps::check(clEnqueueMarkerWithWaitList(queue, 1, &order, nullptr), "clEnqueueMarkerWithWaitList");
        apps::check(clFlush(queue), "clFlush");
        m_next = &gates;
        wait_for(std::array{gates[0].get()});
        while (m_next != nullptr) std::this_thread::yield();
    }

    void set() {
        m_is_there = true;
        while (!m_ends) {
            const auto* const gates = m_next.load();
            if (gates == nullptr) {
                std::this_thread::yield();
                continue;
            }
            for (const auto& each : *gates) open_gate(each);
            m_next = nullptr;
        }
    }

    const bench_device& m_where;
    std::atomic<const std::array<apps::event, 2>*> m_next{nullptr};
    std::atomic<bool> m_is_there{false}, m_ends{false};
};

/// Cost of waking the thread that works along with a call.
class sleeping_thread {
  public:
    static constexpr const char* how = "a thread that sleeps, from calling it until it runs";

    sleeping_thread() : m_thread([this] { answer(); }) {}
    sleeping_thread(const sleeping_thread&) = delete;
    sleeping_thread& operator=(const sleeping_thread&) = delete;
    ~sleeping_thread() {
        m_ends = true;
        call();
        m_thread.join();
    }

    double seconds_of_wake() {
        const auto asleep = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
        while (std::chrono::steady_clock::now() < asleep) std::this_thread::yield();
        return seconds_of([this] {
            call();
            while (m_answered != m_called) std::this_thread::yield();
        });
    }

  private:
    void call() {
        ++m_called;
        m_called.notify_one();
    }
    void answer() {
        for (unsigned last = 0; !m_ends; last = m_answered) {
            m_called.wait(last);
            m_answered = m_called.load();
        }
    }

    std::atomic<unsigned> m_called{0}, m_answered{0};
    std::atomic<bool> m_ends{false};
    std::thread m_thread; // last: it uses the others
};

/// Cost of the marker by which a blocking call learns that all earlier commands of its queue are over.
inline double seconds_of_marker(cl_command_queue queue) {
    return seconds_of([&] {
        cl_event marked = nullptr;
        apps::check(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marked), "clEnqueueMarkerWithWaitList");
        const apps::event marker(marked);
        wait_for(std::array{marker.get()});
    });
}

} // namespace perf
