// SPDX-License-Identifier: Apache-2.0
// Streams through memory, much as Map has them, and tasks that do nothing.
#include "tasks/simulator/probe.hpp"

#include "tasks/address_map.hpp"
#include "tasks/pool.hpp"
#include "tasks/simulator/program.hpp"
#include "topology/binding.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <new>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

namespace causeway::tasks::simulator {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Threads that end before it does.
class team {
  public:
    /// `let_end` lets those that were started end if one cannot be.
    template <class Work, class End> team(unsigned count, const Work& work, const End& let_end) {
        try {
            for (unsigned each = 0; each < count; ++each) m_threads.emplace_back([&work, each] { work(each); });
        } catch (...) {
            let_end();
            join();
            throw;
        }
    }
    team(const team&) = delete;
    team& operator=(const team&) = delete;
    ~team() { join(); }

  private:
    void join() {
        for (auto& each : m_threads) each.join();
    }
    std::vector<std::thread> m_threads;
};

/// Bytes per second that so many cores of one node read and write together, each in an area of its own.
double bandwidth(const topology::machine& here, unsigned cores, std::size_t bytes_each) {
    constexpr std::size_t chunks = 64, most_times = 10000;
    std::vector<double> rates(cores);
    std::atomic<unsigned> ready{0};
    const auto stream = [&](unsigned which) {
        if (here.nodes.size() > 1) topology::bind_thread_to_node(here, here.cores.front().node);
        std::vector<float> area;
        std::vector<double> times; // of chunks: the system takes the core away in few of them
        try {
            area.assign(bytes_each / sizeof(float), 1.0f);
            times.reserve(most_times);
        } catch (const std::bad_alloc&) {
            area.clear();
        }
        for (++ready; ready < cores;) std::this_thread::yield();
        const auto begin = clock::now();
        const auto count = area.size() / chunks;
        for (std::size_t round = 0; count != 0 && times.size() < most_times && clock::now() - begin < 20ms; ++round) {
            auto* const chunk = area.data() + round % chunks * count;
            const auto before = clock::now();
            for (std::size_t each = 0; each < count; ++each) chunk[each] *= 3;
            times.push_back(seconds_since(before));
        }
        if (!times.empty()) rates[which] = static_cast<double>(count * sizeof(float)) / median_of(std::move(times));
    };
    {
        const team all(cores, stream, [&] { ready = cores; });
    }
    const bool all = std::find(rates.begin(), rates.end(), 0.0) == rates.end();
    return all ? std::accumulate(rates.begin(), rates.end(), 0.0) : 0;
}

/// A pool that runs tasks with a region each: one for each of its threads, which last until all have started.
class spawner {
  public:
    spawner(const cost_model& of, unsigned threads)
        : m_threads(threads), m_addresses(program::first_address, program::most_bytes, of.unit),
          m_pool(of.machine, m_addresses, work_stealing_policy(), {.threads = threads}) {
        m_starts.resize(threads == 1 ? 64 : threads);
    }

    struct times {
        double spawn = 0;         ///< seconds for each
        std::vector<double> wakes; ///< seconds from the n-th spawn until n threads have started
    };
    times run() {
        task_group group(&m_pool);
        times found;
        std::vector<clock::time_point> spawned(m_starts.size()), started;
        m_started = 0;
        try {
            started.reserve(m_starts.size());
            for (std::size_t each = 0; each < m_starts.size(); ++each) {
                spawned[each] = clock::now();
                m_starts[each].of = this;
                auto* const made = m_pool.make(0, 1);
                made->function = work;
                made->payload = &m_starts[each];
                const region its{reinterpret_cast<std::uintptr_t>(made->payload), 1, access::inout, false};
                m_pool.submit(made, group, {&its, 1});
            }
            found.spawn = seconds_since(spawned.front()) / static_cast<double>(m_starts.size());
        } catch (const std::bad_alloc&) {
            m_pool.wait(group);
            throw;
        }
        m_pool.wait(group);
        for (const auto& each : m_starts) started.push_back(each.at);
        std::sort(started.begin(), started.end());
        for (unsigned each = 0; each + 1 < m_threads; ++each)
            found.wakes.push_back(std::chrono::duration<double>(started[each] - spawned[each]).count());
        return found;
    }

  private:
    struct start {
        spawner* of = nullptr;
        clock::time_point at;
    };
    static void work(void* payload) {
        auto& self = *static_cast<start*>(payload);
        self.at = clock::now();
        const auto threads = self.of->m_threads;
        ++self.of->m_started;
        while (threads > 1 && self.of->m_started < threads && clock::now() - self.at < 5ms) {}
    }
    const unsigned m_threads;
    address_map m_addresses;
    std::vector<start> m_starts;
    std::atomic<unsigned> m_started{0};
    pool m_pool;
};

/// Sets what it takes to spawn, to wake threads, and until these start.
void measure_spawning(cost_model& of) {
    constexpr unsigned rounds = 5;
    const auto threads = static_cast<unsigned>(of.machine.cores.size());
    of.measured_wakes.clear();
    for (unsigned used = 1;; used = std::min(2 * used, threads)) {
        spawner tasks(of, used);
        std::vector<double> spawns;
        std::vector<std::vector<double>> wakes(used - 1);
        for (unsigned round = 0; round < rounds; ++round) {
            for (const auto begin = clock::now(); clock::now() - begin < 5ms;) {} // all sleep but the caller
            const auto found = tasks.run();
            spawns.push_back(found.spawn);
            for (std::size_t each = 0; each < wakes.size(); ++each) wakes[each].push_back(found.wakes[each]);
        }
        const double seconds = median_of(std::move(spawns));
        if (used == 1) {
            of.spawn = seconds;
        } else {
            of.ring = std::max(0.0, seconds - of.spawn);
            auto& its = of.measured_wakes.emplace_back();
            for (auto& each : wakes) its.push_back(std::max(1e-9, median_of(std::move(each))));
            of.wake = median_of(its);
        }
        if (used == threads) return;
    }
}

} // namespace

void measure(cost_model& of) try {
    const auto cores = static_cast<unsigned>(
        std::count_if(of.machine.cores.begin(), of.machine.cores.end(),
                      [&](const auto& each) { return each.node == of.machine.cores.front().node; }));
    of.measured_bandwidth.clear();
    for (unsigned count = 1;; count = std::min(2 * count, cores)) {
        // Beyond the cores' own caches and the one that they share.
        const double together = bandwidth(of.machine, count,
                                          std::max<std::size_t>(8u << 20, 2 * of.machine.cache_bytes / count));
        if (together == 0) break;
        of.measured_bandwidth.emplace_back(count, together);
        if (count == cores) break;
    }
    if (!of.measured_bandwidth.empty()) {
        of.own_byte = 1 / of.measured_bandwidth.front().second;
        of.node_bandwidth = of.measured_bandwidth.back().second;
        of.link_bandwidth = of.node_bandwidth / 2;
    }
    measure_spawning(of);
} catch (const std::exception&) {
    // No memory or threads: the rest stays as it was.
}

} // namespace causeway::tasks::simulator
