// SPDX-License-Identifier: Apache-2.0
// Advances every active transfer; nothing else polls.
#pragma once

#include "base/clock.hpp"
#include "base/options.hpp"
#include "transfer/command.hpp"
#include "transfer/mailbox.hpp"
#include "transfer/plan.hpp"
#include "transfer/progress_source.hpp"
#include "transfer/staging.hpp"
#include "transfer/stall.hpp"
#include "transfer/tuner/tuner.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <optional>
#include <vector>

namespace causeway::transfer {

/// The state machine. It has no thread: whoever drives it calls step(), always from one thread at a time.
class engine {
  public:
    /// After the last progress the engine polls for `spin` without a pause, and longer after long copies. If the user
    /// sets the option `spin`, it polls for just that long.
    engine(const options& settings, const monotonic_clock& clock, unsigned io_threads,
           std::chrono::nanoseconds spin = std::chrono::microseconds(20));
    ~engine();
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    /// Not retained; call before the first step(), or in call().
    void add(progress_source& source);
    /// Records all that happens in `to`, which must outlive the engine. Call before the first step().
    void record(recorder& to) { m_recorder = &to; }

    /// While one lives, the engine rarely looks at gates, because a thread that enqueues needs the driver's locks.
    class enqueue_scope {
      public:
        explicit enqueue_scope(engine& busy) : m_engine(busy) { ++m_engine.m_enqueuers; }
        ~enqueue_scope() { --m_engine.m_enqueuers; }
        enqueue_scope(const enqueue_scope&) = delete;
        enqueue_scope& operator=(const enqueue_scope&) = delete;

      private:
        engine& m_engine;
    };

    /// Any thread. Commands are taken in the order of the calls.
    void submit(const std::shared_ptr<command>& work);
    /// Any thread. Ends `work` with `reason` unless it ends before.
    void cancel(const std::shared_ptr<command>& work, const failure& reason);
    /// Any thread. Cancels everything that is there when the request is taken.
    void cancel_all(const failure& reason);
    /// Any thread. The process ends: from now on no cached memory or queue is released, because drivers may have shut
    /// down (NVIDIA's 580 waits for ever).
    void keep_all() { m_keeps_all = true; }
    /// Any thread. Runs `action` on the thread that drives the engine, outside of any command.
    void call(std::function<void()> action);

    [[nodiscard]] std::shared_ptr<mailbox> inbox() { return m_mailbox; }
    [[nodiscard]] staging_pool& staging() { return m_pool; }
    [[nodiscard]] std::chrono::nanoseconds spin() const { return m_spin; }
    [[nodiscard]] tuner& figures() { return m_tuner; }
    [[nodiscard]] unsigned io_threads() const { return m_io_threads; }

    /// Advances every transfer that can go on now. True if anything happened.
    bool step();

    /// How long the driving thread may sleep when step() found nothing. Zero: poll on. None: until mail arrives.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> pause() const;
    /// Reports the CPU cost of an empty poll; a recent minimum is kept.
    void looked_in_vain(std::chrono::nanoseconds cost);

    /// Any thread: commands that are submitted and not complete.
    [[nodiscard]] std::size_t active() const { return m_active.load(); }

    /// Called on the engine's thread with what waits for what, when nothing has moved for the time of option `stall`.
    using stall_listener = std::function<void(std::chrono::seconds limit, const std::string& what)>;
    /// Before the first step().
    void tell_stalls(stall_listener to) { m_tell_stall = std::move(to); }

    /// Before any transfer: flows ask this carrier first.
    void prefer(make_carrier one) { m_planner.prefer(one); }

  private:
    friend class command;
    using commands = std::pmr::map<std::uint64_t, std::shared_ptr<command>>;
    struct ending_command {
        std::shared_ptr<command> which;
        failure why;
    };

    bool take_mail();
    void admit(const std::shared_ptr<command>& work);
    /// Gated commands that are looked at in turn, some in each step.
    struct hot_commands {
        std::vector<std::shared_ptr<command>> all;
        std::size_t next = 0; // whose turn it is
    };
    bool look_at_gates(time_point now);
    bool look_at(hot_commands& some, time_point now);
    /// True if the command left the gated stage.
    bool look(command& work);
    [[nodiscard]] static bool is_small(const command& work);
    void start(command& work);
    bool advance_ready();
    /// For the timeline: asks the gates of one ended command for times. False if no command is left to ask for.
    bool ask_what_was_waited_for();
    void advance(command& work);
    /// Ends `work` and, if it failed, all that wait for it.
    void end(command& work, const failure& result);
    void end_one(command& work, const failure& result);
    /// The end of a step: tells waiters of commands that have ended, and does what was put off.
    void settle(time_point now);
    void cancel_now(command& work, const failure& reason);
    void read_ahead(command& work);
    /// Its flows are finished: teaches the tuner, and explains the plans if the user asked.
    void look_back(const command& work);
    /// For the timeline: how it ended, or that it waits, in the end for `partner`.
    void tell(const command& work, const std::string& partner = {});
    void schedule(command& work);
    void nudge();
    [[nodiscard]] std::chrono::seconds stall_limit() const;
    void look_for_stall(time_point now);
    [[nodiscard]] std::vector<pending_command> pending(time_point now) const;

    const options& m_options;
    const monotonic_clock& m_clock;
    unsigned m_io_threads;
    std::chrono::nanoseconds m_spin, m_cost_of_look{0};
    std::shared_ptr<mailbox> m_mailbox;
    staging_pool m_pool;
    tuner m_tuner;
    planner m_planner;
    std::vector<progress_source*> m_sources;
    recorder* m_recorder = nullptr;
    std::size_t m_held_told = 0; // bytes of staging memory last recorded
    std::pmr::unsynchronized_pool_resource m_command_memory; // of m_commands
    commands m_commands{&m_command_memory}; // all that are not ended
    hot_commands m_small_hot, m_hot;
    std::multimap<time_point, std::uint64_t> m_cold; // gated and armed: when to look again
    std::vector<std::shared_ptr<command>> m_ready, m_next_turn;
    // Lists of one step, kept for their memory.
    std::vector<mailbox::message> m_mail;
    std::vector<std::shared_ptr<command>> m_advancing;
    std::vector<ending_command> m_ending;
    std::vector<std::shared_ptr<command>> m_next;
    std::vector<std::shared_ptr<command>> m_orphans; // ended, with a block that is still being read ahead
    std::vector<std::shared_ptr<command>> m_ended; // in this step
    std::size_t m_started_at_once = 0; // by the end of what they waited for, in this step
    std::vector<std::unique_ptr<gate>> m_passed; // gates that have opened in this step
    std::deque<std::shared_ptr<command>> m_unasked; // ended, whose gates have yet to be asked for times
    std::atomic<std::uint64_t> m_next_number{1};
    std::atomic<std::size_t> m_active{0};
    std::atomic<bool> m_keeps_all{false};
    stall_watch m_stall;
    bool m_has_moved = false; // a command came, went on or ended since the stall watch was last told
    stall_listener m_tell_stall;
    std::size_t m_running = 0; // commands that have started
    std::uint64_t m_starts = 0;
    std::atomic<int> m_enqueuers{0};
    time_point m_last_look;
    time_point m_last_progress, m_spin_until;
    bool m_kept = false; // memory or queues are kept for a while
    time_point m_next_trim;
};

} // namespace causeway::transfer
