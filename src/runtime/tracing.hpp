// SPDX-License-Identifier: Apache-2.0
// The timeline of the process: gives out recorders, and records what the engine cannot see.
#pragma once

#include "base/options.hpp"
#include "cl/handles.hpp"
#include "trace/part.hpp"
#include "trace/part_recorder.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace causeway::core {

/// One per process that records. Any thread, except the engine's recorder. A child of fork() shares the file and
/// records nothing.
class tracing {
  public:
    /// Null if the option `trace` is empty, or, with a warning, if the file cannot be made.
    [[nodiscard]] static std::unique_ptr<tracing> start(const options& settings, const monotonic_clock& clock);
    tracing(std::string timeline, const trace::identity& who, std::uint64_t most_bytes, const monotonic_clock& clock);

    [[nodiscard]] transfer::recorder& engine_recorder() { return m_engine; }
    /// For one thread; lives at most as long as this.
    [[nodiscard]] std::unique_ptr<transfer::recorder> new_recorder();
    /// The name of one more graph.
    [[nodiscard]] std::string new_graph() { return "graph " + std::to_string(++m_graphs); }
    void know_rank(int rank, int ranks) { m_part.set_rank(rank, ranks); }
    /// One thread at a time.
    void know_links(const std::string& links) { m_part.set_links(links); }

    /// Compares the device's clock with the host's from time to time; never waits.
    void compare_clocks(cl_context context, cl_device_id device);
    /// Notes the times of the command when it is complete; `transfers` are those that it waits for.
    void watch(cl_event event, const char* name, std::span<const std::uint64_t> transfers);
    /// What host code of the program did. False if nothing is recorded any more.
    bool call_over(const trace::host_call& what);
    /// Records a command that is complete. Keeps no reference to the event.
    void command_over(cl_event event, const std::string& name);

    /// The process begins to end: no thread beside the program's calls drivers from now on.
    void look_no_more() { m_looks_no_more = true; }
    /// Called once when the process ends: asks drivers for the times of all commands still watched, and releases none.
    void look_at_last();

    /// The process ends: adds its part to the timeline. Calls no driver, which may have shut down, and waits for no
    /// thread that does.
    void end();

  private:
    /// A queue and a buffer for commands whose times show the device's clock.
    struct device_clock {
        cl::queue queue;
        cl::buffer buffer;
        cl::event asked;
        time_point before, after, next;
        unsigned samples = 0;
        bool refused = false;
    };
    struct watched {
        cl::event event;
        std::string name;
        std::uint64_t number;
    };
    void ask(device_clock& clock, cl_context context, cl_device_id device);
    /// Looks at the oldest `count` watched commands.
    void look(std::size_t count);
    [[nodiscard]] bool tell(const watched& which);
    /// Runs in a thread of its own: polls watched commands now and then, because watch() looks only when called.
    void look_on();

    std::string m_timeline;
    std::atomic<unsigned> m_graphs{0};
    std::atomic<bool> m_ended{false};
    std::atomic<bool> m_looks_no_more{false}; // drivers may shut down
    const monotonic_clock& m_clock;
    trace::part m_part;
    trace::part_recorder m_engine;
    std::mutex m_calls_mutex; // guards m_calls
    trace::part_recorder m_calls;
    std::mutex m_mutex; // guards the rest
    trace::part_recorder m_program;
    std::map<cl_device_id, device_clock> m_clocks;
    std::deque<watched> m_watched;
    std::uint64_t m_last_watched = 0;
    bool m_has_looker = false;
    std::condition_variable m_first_watched;
};

} // namespace causeway::core
