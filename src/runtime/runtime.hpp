// SPDX-License-Identifier: Apache-2.0
// The process's engine and all that it works with, except MPI (mpi_runtime.hpp).
#pragma once

#include "base/error.hpp"
#include "base/options.hpp"
#include "runtime/bridge_keeper.hpp"
#include "runtime/registry.hpp"
#include "runtime/figure_keeper.hpp"
#include "runtime/tracing.hpp"
#include "endpoints/device/bridge_watch.hpp"
#include "endpoints/device/copy_watch.hpp"
#include "endpoints/device/device_endpoint.hpp"
#include "endpoints/device/device_links.hpp"
#include "endpoints/file/file_endpoint.hpp"
#include "transfer/engine.hpp"
#include "transfer/engine_thread.hpp"
#include "transfer/ordered_gate.hpp"
#include "transfer/workers.hpp"

#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace causeway::core {

/// The options of the process. Any thread; needs no engine.
[[nodiscard]] options& process_options();

/// The timeline for code that works without transfers. Null if none is recorded; starts no engine.
[[nodiscard]] tracing* timeline_of_process();

/// Whether a command must be over before MPI ends.
enum class uses_mpi { no, yes };

/// Made by the first transfer, never destroyed: at exit it is drained and stopped.
class runtime {
  public:
    [[nodiscard]] static runtime& instance();

    /// Engine's thread only.
    [[nodiscard]] endpoints::copy_watch& copies() { return m_copies; }
    [[nodiscard]] endpoints::device_services devices() { return {m_links, m_copies, m_windows}; }
    [[nodiscard]] endpoints::file_services files() { return {process_options(), *m_workers, m_turns}; }
    /// The lines in which transfers of one file, or of one message stream, take turns.
    [[nodiscard]] transfer::ordered_gate& turns() { return m_turns; }
    [[nodiscard]] transfer::engine& engine() { return m_engine; }
    [[nodiscard]] transfer::engine_thread& thread() { return *m_thread; }
    [[nodiscard]] event_registry& events() { return m_events; }
    [[nodiscard]] const monotonic_clock& clock() const { return m_clock; }
    [[nodiscard]] figure_keeper& figures() { return m_figures; }
    [[nodiscard]] bridge_keeper& bridges() { return m_bridges; }
    [[nodiscard]] bridge::windows& windows() { return m_windows; }
    /// From now on devices with a direct link meet in windows. Any thread.
    void use_bridge(std::unique_ptr<bridge::device_bridge> made);
    /// Null if none is recorded.
    [[nodiscard]] tracing* timeline() { return m_timeline.get(); }

    /// Call when the program no longer needs the window. Any thread.
    void let_go(std::shared_ptr<bridge::known_window> window);

    /// Runs `action` on the engine's thread and waits for it, but not for ever. Runs it on this thread if that one is
    /// gone. False if `action` has not run yet; it will.
    bool call_and_wait(std::function<void()> action);

    /// As above, with the answer of `question`, or none. `question` may run after this has returned: it must refer only
    /// to what lives as long as the process.
    template <class Question> [[nodiscard]] std::optional<std::invoke_result_t<Question>> answer_of(Question question) {
        const auto answer = std::make_shared<std::optional<std::invoke_result_t<Question>>>();
        if (!call_and_wait([answer, question = std::move(question)] { *answer = question(); })) return {};
        return std::move(*answer);
    }
    /// As above, but throws transfer_error with `what` if the engine's thread does not answer.
    template <class Question> [[nodiscard]] std::invoke_result_t<Question> require_answer(const char* what,
                                                                                          Question question) {
        auto answer = answer_of(std::move(question));
        if (!answer) throw transfer_error(status::out_of_resources, std::string(what) + ": " + no_answer);
        return std::move(*answer);
    }
    static constexpr const char* no_answer = "the thread that advances transfers is held up, by a driver or by MPI";

    /// Held while a transfer is put into queues and into the engine: the order in which it is taken is the order of
    /// enqueue, for queues, files and messages alike.
    [[nodiscard]] std::mutex& enqueue_mutex() { return m_enqueue_mutex; }

    /// Ends the library's own calls of drivers, then waits a while for the program's transfers. For callers who know
    /// that the process ends before drivers shut down.
    void exit_begins();
    /// Registers exit_begins() to run at exit, before the exit handlers of drivers loaded until now. May be repeated.
    static void exit_begins_before_others_end();

    /// Throws transfer_error(invalid_operation) once the process is ending. Call with the enqueue mutex held.
    void require_running() const;
    /// Submits `work`, which is in no queue, as the next in the order of enqueue. Takes the enqueue mutex. Throws as
    /// require_running().
    void submit(const std::shared_ptr<transfer::command>& work, uses_mpi mpi);

    /// This process is rank `rank` of `ranks`. Call once.
    void know_rank(int rank, int ranks);
    /// `work` must be over before MPI ends. Any thread.
    void needs_mpi(const std::shared_ptr<transfer::command>& work);
    /// The commands of needs_mpi() that may not be over yet. Any thread.
    [[nodiscard]] std::vector<std::weak_ptr<transfer::command>> work_that_needs_mpi();
    /// Has `action` called on the engine's thread after each let_go(). Engine's thread.
    void after_letting_go(std::function<void()> action) { m_after_letting_go = std::move(action); }
    /// Whether the process's end has stopped the engine's thread.
    [[nodiscard]] bool is_stopped() const { return m_stopped; }

  private:
    runtime();
    /// False on the engine's thread, and in a child of fork(): it has the exit handlers, but nothing to end.
    [[nodiscard]] bool is_ended_here() const;
    void at_exit();
    void end_helpers();

    monotonic_clock m_clock;
    std::unique_ptr<tracing> m_timeline;
    transfer::engine m_engine;
    transfer::ordered_gate m_turns;
    std::unique_ptr<transfer::worker_pool> m_workers;
    endpoints::copy_watch m_copies;
    bridge::windows m_windows;
    endpoints::bridge_watch m_bridge;
    endpoints::device_links m_links;
    event_registry m_events;
    std::mutex m_enqueue_mutex; // guards m_ended, and the order of enqueue
    bool m_ended = false;
    std::atomic<int> m_rank{0}, m_ranks{1};
    std::atomic<bool> m_exit_has_begun{false};
    std::atomic<bool> m_stopped{false}; // the engine's thread is gone: the process's end has stopped it
    std::mutex m_mpi_mutex; // guards m_mpi_work
    std::vector<std::weak_ptr<transfer::command>> m_mpi_work;
    std::function<void()> m_after_letting_go; // engine's thread only
    pid_t m_process = ::getpid();
    std::unique_ptr<transfer::engine_thread> m_thread;
    figure_keeper m_figures;
    bridge_keeper m_bridges;
};

} // namespace causeway::core
