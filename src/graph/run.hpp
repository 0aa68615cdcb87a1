// SPDX-License-Identifier: Apache-2.0
// Drives the firings of a compiled graph through queues and the calling thread.
#pragma once

#include "base/error.hpp"
#include "graph/actor_work.hpp"
#include "graph/doorbell.hpp"
#include "graph/firing_rules.hpp"
#include "transfer/recorder.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace causeway::graph {

/// Made once for a graph; executed any number of times, by one thread at a time. A device's queues are ordered by
/// events alone. The thread blocks only when all queues have work, or for tokens that the host must touch.
class run {
  public:
    /// `parts` outlives the run. `queues` by lane, null for the host's; with `timed` they have profiling.
    run(const work_parts& parts, std::vector<cl::queue> queues, doorbell& bell, bool timed);

    /// Runs to the end of all streams. After a failure, delivers the periods before it, then throws transfer_error with
    /// node and token.
    void execute();
    /// Call before execute(): `is_stopped` if stop() was called after execution was requested.
    void begin(bool is_stopped) { m_stopping = is_stopped; }
    /// Any thread: ends the run after the periods that have begun.
    void stop() {
        m_stopping = true;
        m_bell.ring();
    }
    /// Any thread: the firings of an actor that this run, or the last one, has begun.
    [[nodiscard]] std::uint64_t begun(std::size_t actor) const { return m_begun[actor]; }
    /// Seconds per firing of each actor, over all runs; empty if nothing was timed. Not while it executes.
    [[nodiscard]] std::vector<double> seconds() const;
    /// Call before execute(), if the run is `timed`: records each firing in `to`, which outlives the run.
    void record(transfer::recorder& to, std::string graph);

  private:
    /// A firing in its lane, perhaps complete. Its events are released only when another firing takes its slot: PoCL
    /// 3.1 sometimes aborts if an event is released while it still notifies dependents.
    struct issued {
        std::vector<cl::event> events; ///< of its commands, the firing's own last; empty for a quiet actor's firing
        std::vector<firing> inputs; ///< the firings that wrote what it, or quiet ones before it, read
        bool complete = true;
        std::uint64_t number = 0;
        std::uint64_t sequence = 0; ///< among all firings of the run
        std::size_t actor = 0;
    };
    struct state {
        std::unique_ptr<actor_work> work;
        const stream_end* end = nullptr; ///< of a stream that may not be ready
        bool closed = false; ///< the stream end is done in this run
        bool on_host = false;
        bool hides_failed_waits = false; ///< see cl::device_facts
        bool breaks_on_failed_waits = false;
        bool may_end = false; ///< a stream of unknown length
        /// True if only its own queue reads its output. It then needs no event: a later command of the queue shows that
        /// it is over. Only for devices with own memory, whose drivers fail all that follows a failure.
        bool quiet = false;
        std::string quiet_before; ///< names of quiet actors whose failures show as a failure of this actor
        cl_context context = nullptr;
        cl_command_queue queue = nullptr; ///< in-order
        std::vector<issued> history; ///< by number, modulo its size
        std::uint64_t issued_count = 0;
        std::uint64_t failed_from = endless; ///< outputs of this firing and later ones are invalid
        bool pending = false; ///< fired, not yet issued
        double timed_seconds = 0;
        std::uint64_t timed_firings = 0;
        firing_needs needs;
    };
    struct fault {
        std::uint64_t sequence = 0;
        failure reason;
    };
    enum class step { moved, idle };
    /// A firing with an event; stale once its slot has another sequence.
    struct telling {
        std::uint64_t sequence = 0;
        issued* shown = nullptr;
    };
    /// The last 256 firings with events in a queue.
    class tellings {
      public:
        void clear() { m_count = 0; }
        void add(telling last) { m_kept[m_count++ % m_kept.size()] = last; }
        /// The first kept one after `sequence`; `shown` is null if there is none.
        [[nodiscard]] telling first_after(std::uint64_t sequence) const;

      private:
        std::array<telling, 256> m_kept;
        std::uint64_t m_count = 0;
    };

    void restart();
    void run_to_end();
    [[nodiscard]] bool finished(std::size_t actor) const;
    [[nodiscard]] bool may_fire(std::size_t actor) const;
    [[nodiscard]] bool end_is_ready(std::size_t actor);
    step advance(std::size_t actor);
    void block_on(std::size_t actor, issued& waited_for);
    /// Fills m_waits with the events that the actor's pending firing waits for; false if it cannot go into its lane
    /// yet.
    [[nodiscard]] bool find_waits(std::size_t actor);
    /// The firing whose event shows that `looked_at` is over; null if it is known to be. Enqueues a marker if no firing
    /// has such an event.
    [[nodiscard]] issued* shown_by(std::size_t actor, issued& looked_at);
    /// Queries the firing's event; records a failure.
    [[nodiscard]] bool is_complete(std::size_t actor, issued& looked_at);
    void find_quiet_actors();
    [[nodiscard]] bool is_read_in_its_queue_only(std::size_t actor) const;
    /// " or of 'first'": whose failure a failure of this actor's firing may be.
    [[nodiscard]] std::string quiet_names_before(std::size_t actor) const;
    void note_inputs(std::size_t actor, issued& own);
    void issue(std::size_t actor);
    void take_time(std::size_t actor, const issued& ended);
    /// For the timeline: a firing, by the clock of its device or of the host.
    void tell(std::size_t actor, std::uint64_t number, std::uint64_t begin, std::uint64_t end) const;
    void end_stream(std::size_t actor);
    void fail(std::size_t actor, std::uint64_t number, std::uint64_t sequence, failure reason);
    /// Lets no further period of the island begin.
    void end_now(std::size_t island);
    void wait(std::uint64_t rings);
    void flush();
    void drain();
    void close(std::size_t actor, const failure& why);
    void finish_streams();
    [[nodiscard]] issued& slot(std::size_t actor, std::uint64_t number) {
        auto& history = m_actors[actor].history;
        return history[number & (history.size() - 1)];
    }

    const work_parts& m_parts;
    bool m_timed;
    transfer::recorder* m_recorder = nullptr;
    std::string m_graph; // its name in the timeline
    std::vector<std::string> m_actor_names;
    std::vector<cl::queue> m_queues; // by lane
    doorbell& m_bell;
    std::vector<bool> m_unflushed; // by lane
    std::vector<issued*> m_latest; // by lane: the last firing waited for
    std::vector<tellings> m_tellings; // by lane
    bool m_all_in_queues = false; // the thread has nothing to do but to enqueue
    firing_rules m_rules;
    std::vector<state> m_actors;
    std::vector<std::atomic<std::uint64_t>> m_begun; // by actor: what others may ask for
    std::vector<std::uint64_t> m_limits; // by island: periods that a fault leaves complete
    std::vector<cl_event> m_waits;
    std::uint64_t m_sweeps = 0;
    issued* m_blocker = nullptr; // the oldest firing that something waits for
    bool m_end_busy = false; // an end of a stream is not ready
    std::uint64_t m_sequence = 0;
    std::optional<fault> m_fault; // the first in sequence
    std::atomic<bool> m_stopping{false};
};

} // namespace causeway::graph
