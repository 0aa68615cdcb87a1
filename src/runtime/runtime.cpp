// SPDX-License-Identifier: Apache-2.0
// Starts the engine with the first transfer, and ends it with the process.
#include "runtime/runtime.hpp"

#include "base/processors.hpp"
#include "runtime/end_callbacks.hpp"
#include "runtime/guard.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <future>
#include <system_error>
#include <thread>

namespace causeway::core {

namespace {

constexpr auto longest_call = std::chrono::seconds(1);

/// The engine's threads run where the thread may that makes them.
unsigned own_processors() {
    static const auto count = processors::of_rank();
    return count;
}

unsigned io_thread_count(const options& settings) {
    const auto asked = settings[option::lanes];
    if (asked != 0) return static_cast<unsigned>(asked);
    // One processor is the engine's and one the application's.
    return std::clamp(own_processors(), 4u, 18u) - 2;
}

std::chrono::microseconds spin_time(const options& settings) {
    const auto asked = settings[option::spin];
    if (asked != 0) return std::chrono::microseconds(asked);
    // Where processors are few, polling takes them from the kernels and the application.
    return std::chrono::microseconds(own_processors() >= 4 ? 2000 : 20);
}

/// Looking on by all I/O threads is for machines where the engine spins freely.
std::chrono::microseconds worker_patience(std::chrono::nanoseconds spin) {
    return std::chrono::microseconds(spin >= std::chrono::milliseconds(1) ? 50 : 0);
}

std::chrono::milliseconds drain_time(const options& settings) {
    return std::chrono::milliseconds(settings[option::drain]);
}

} // namespace

std::string& last_message() {
    static thread_local std::string message;
    return message;
}

options& process_options() {
    static auto* const all = [] {
        auto made = std::make_unique<options>();
        made->read_environment(environ);
        return made.release();
    }();
    return *all;
}

tracing* timeline_of_process() {
    return process_options().text(option::trace).empty() ? nullptr : runtime::instance().timeline();
}

runtime& runtime::instance() {
    // Threads of drivers may still call into it while static objects are destroyed: it stays.
    static runtime* const one = [] {
        std::unique_ptr<runtime> made(new runtime());
        return made.release();
    }();
    static const int registered = std::atexit([] { instance().at_exit(); });
    (void)registered;
    return *one;
}

void runtime::exit_begins_before_others_end() {
    // Handlers run in the opposite order of their registration, and the first of ours counts.
    (void)std::atexit([] { instance().exit_begins(); });
}

runtime::runtime()
    : m_timeline(tracing::start(process_options(), m_clock)),
      m_engine(process_options(), m_clock, io_thread_count(process_options()), spin_time(process_options())),
      m_workers(transfer::make_worker_threads(m_engine.inbox(), io_thread_count(process_options()),
                                              worker_patience(m_engine.spin()))),
      m_windows(process_options()), m_bridge(m_windows), m_links(process_options(), m_clock, m_bridge, m_copies),
      m_figures(*this), m_bridges(*this) {
    m_windows.tell_to([this](const std::string& why, bridge::given_up how_long) { m_bridges.tell(why, how_long); });
    m_copies.wake(m_engine.inbox());
    // Blocks that wait for room go on when what has ended is told.
    m_engine.add(m_links);
    m_engine.add(m_copies);
    m_engine.add(m_bridge);
    m_engine.add(m_events);
    m_engine.add(*m_workers->share_of_engine());
    if (m_timeline) m_engine.record(m_timeline->engine_recorder());
    m_engine.tell_stalls([this](std::chrono::seconds limit, const std::string& what) {
        tell_user("rank " + std::to_string(m_rank) + " of " + std::to_string(m_ranks) + ": no transfer has moved for " +
                  std::to_string(limit.count()) + " s" + what +
                  "\n  If the others wait, too, nothing will ever move: see \"Order\" in docs/api.md. CAUSEWAY_STALL "
                  "sets the time.");
    });
    try {
        m_thread = std::make_unique<transfer::engine_thread>(m_engine);
    } catch (const std::system_error& refused) {
        throw transfer_error(status::out_of_resources,
                             std::string("making the thread that advances transfers: ") + refused.what(),
                             refused.code().value());
    }
}

void runtime::use_bridge(std::unique_ptr<bridge::device_bridge> made) {
    m_engine.call([this, made = std::make_shared<std::unique_ptr<bridge::device_bridge>>(std::move(made))] {
        m_windows.use(std::move(*made));
    });
}

void runtime::let_go(std::shared_ptr<bridge::known_window> window) {
    m_engine.call([this, window = std::move(window)]() mutable {
        window.reset();
        if (m_after_letting_go) m_after_letting_go();
    });
}

bool runtime::call_and_wait(std::function<void()> action) {
    if (m_thread->is_current()) {
        action();
        return true;
    }
    if (m_stopped) {
        const std::lock_guard lock(m_enqueue_mutex);
        action();
        return true;
    }
    auto done = std::make_shared<std::promise<void>>();
    auto told = done->get_future();
    m_engine.call([done, action = std::move(action)] {
        try {
            action();
            done->set_value();
        } catch (...) { // of who asked
            done->set_exception(std::current_exception());
        }
    });
    if (told.wait_for(longest_call) != std::future_status::ready) return false;
    told.get();
    return true;
}

void runtime::require_running() const {
    if (m_ended) throw transfer_error(status::invalid_operation, "the process is ending");
}

void runtime::end_helpers() {
    m_engine.keep_all();
    if (m_timeline) m_timeline->look_no_more();
    m_figures.give_up();
    m_figures.end();
    m_bridges.end();
}

bool runtime::is_ended_here() const { return !m_thread->is_current() && m_process == ::getpid(); }

void runtime::exit_begins() {
    if (!is_ended_here()) return;
    end_helpers();
    if (m_exit_has_begun.exchange(true)) return;
    (void)m_thread->wait_idle(longest_call);
    // What the engine is giving back to a driver just now is given back before that one ends.
    (void)call_and_wait([] {});
}

void runtime::at_exit() {
    if (!is_ended_here()) return;
    {
        const std::lock_guard lock(m_enqueue_mutex);
        m_ended = true;
    }
    end_helpers();
    const bool ended = m_thread->drain(drain_time(process_options()),
                                       {status::cancelled, 0, 0, "the process ended before the transfer"});
    end_callbacks::end(longest_call);
    // Everything stays as it is, and the process ends around it: what still runs uses its memory, and a driver may have
    // shut down before us.
    if (ended) {
        m_figures.save();
        if (m_timeline) call_and_wait([this] { m_timeline->look_at_last(); });
        m_stopped = m_thread->stop_within(longest_call);
    }
    if (m_timeline) m_timeline->end();
}

void runtime::know_rank(int rank, int ranks) {
    m_rank = rank;
    m_ranks = ranks;
    if (m_timeline) m_timeline->know_rank(rank, ranks);
}

void runtime::submit(const std::shared_ptr<transfer::command>& work, uses_mpi mpi) {
    const std::lock_guard lock(m_enqueue_mutex);
    require_running();
    if (mpi == uses_mpi::yes) needs_mpi(work);
    m_engine.submit(work);
}

void runtime::needs_mpi(const std::shared_ptr<transfer::command>& work) {
    const std::lock_guard lock(m_mpi_mutex);
    if (m_mpi_work.size() >= 64 && (m_mpi_work.size() & (m_mpi_work.size() - 1)) == 0)
        std::erase_if(m_mpi_work, [](const auto& each) {
            const auto alive = each.lock();
            return !alive || alive->complete();
        });
    m_mpi_work.push_back(work);
}

std::vector<std::weak_ptr<transfer::command>> runtime::work_that_needs_mpi() {
    const std::lock_guard lock(m_mpi_mutex);
    return m_mpi_work;
}

} // namespace causeway::core
