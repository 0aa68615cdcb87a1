// SPDX-License-Identifier: Apache-2.0
// Gives out firings, puts them into queues with the events that they wait for, and looks for failures.
#include "graph/run.hpp"

#include "cl/calls.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <utility>

namespace causeway::graph {

namespace {

/// Firings that the thread may be ahead of a device. On processors that others use too it may wake up late.
constexpr std::size_t least_history = 64;

/// Sweeps over all actors between two flushes, once the queues have work: where the host sets the pace a flush costs as
/// much as a command.
constexpr std::uint64_t sweeps_per_flush = 4, first_sweeps = 4;

/// Firings of each actor that have an event in any case: in these drivers still compile, allocate, and may fail once.
constexpr std::uint64_t first_firings = 16;

/// The sequence of a fault that is told late: its token had been through the whole graph, so that it comes before all
/// faults of tokens on their way.
constexpr std::uint64_t past_all = 0;

} // namespace

run::run(const work_parts& parts, std::vector<cl::queue> queues, doorbell& bell, bool timed)
    : m_parts(parts), m_timed(timed), m_queues(std::move(queues)), m_bell(bell), m_unflushed(m_queues.size(), false),
      m_latest(m_queues.size(), nullptr), m_tellings(m_queues.size()), m_rules(parts.compiled),
      m_actors(parts.compiled.actors.size()), m_begun(parts.compiled.actors.size()) {
    for (std::size_t i = 0; i < m_actors.size(); ++i) {
        auto& each = m_actors[i];
        each.work = make_work(parts, i);
        each.queue = m_queues[parts.compiled.actors[i].lane].get();
        each.on_host = each.queue == nullptr;
        const auto& self = parts.compiled.actors[i];
        if (!each.on_host) {
            const auto& where = parts.devices[parts.compiled.lanes[self.lane].where];
            each.context = where.context.get();
            each.hides_failed_waits = where.hides_failed_waits;
            each.breaks_on_failed_waits = where.breaks_on_failed_waits;
        }
        each.may_end = self.kind == actor_kind::input && parts.streams[self.node].read != nullptr;
        if (each.on_host && parts.streams[self.node].ready) each.end = &parts.streams[self.node];
        each.history.resize(each.on_host ? 1 : std::bit_ceil(std::max(least_history, m_rules.history(i))));
    }
    find_quiet_actors();
    m_all_in_queues = std::all_of(m_actors.begin(), m_actors.end(), [this](const state& each) {
        return !each.on_host && each.context == m_actors.front().context;
    });
    m_waits.reserve(64);
}

void run::find_quiet_actors() {
    if (m_timed) return;
    for (std::size_t i = 0; i < m_actors.size(); ++i) {
        const auto& self = m_parts.compiled.actors[i];
        if (self.kind != actor_kind::kernel) continue;
        const auto where = m_parts.compiled.lanes[self.lane].where;
        m_actors[i].quiet = !m_parts.devices[where].host_memory && is_read_in_its_queue_only(i);
    }
    for (std::size_t i = 0; i < m_actors.size(); ++i) m_actors[i].quiet_before = quiet_names_before(i);
}

bool run::is_read_in_its_queue_only(std::size_t actor) const {
    const auto& self = m_parts.compiled.actors[actor];
    if (self.outputs.empty()) return false;
    for (const auto out : self.outputs)
        for (const auto& reader : m_parts.compiled.channels[out].readers)
            if (m_parts.compiled.actors[reader.actor].lane != self.lane) return false;
    // The thread cannot wait for what has no event.
    for (const auto& in : self.inputs)
        if (m_actors[m_parts.compiled.channels[in.channel].writer].on_host) return false;
    return true;
}

std::string run::quiet_names_before(std::size_t actor) const {
    std::string names;
    std::vector<std::size_t> found{actor};
    for (std::size_t next = 0; next < found.size(); ++next) {
        for (const auto& in : m_parts.compiled.actors[found[next]].inputs) {
            const auto writer = m_parts.compiled.channels[in.channel].writer;
            if (!m_actors[writer].quiet || std::find(found.begin(), found.end(), writer) != found.end()) continue;
            found.push_back(writer);
            names += " or of " + name_of(m_parts.described, m_parts.compiled.actors[writer]);
        }
    }
    return names;
}

run::telling run::tellings::first_after(std::uint64_t sequence) const {
    telling found;
    for (auto i = m_count; i > 0 && i + m_kept.size() > m_count; --i) {
        const auto& each = m_kept[(i - 1) % m_kept.size()];
        if (each.sequence <= sequence) break;
        found = each;
    }
    return found;
}

void run::restart() {
    m_rules.restart(m_parts.compiled.periods);
    m_limits.assign(m_parts.compiled.periods.size(), endless);
    for (auto& each : m_actors) {
        each.issued_count = 0;
        each.pending = false;
        each.failed_from = endless;
        each.closed = false;
        for (auto& old : each.history) old.complete = true;
    }
    for (auto& each : m_tellings) each.clear();
    for (auto& each : m_begun) each = 0;
    m_sequence = past_all + 1;
    m_sweeps = 0;
    write_initial(m_parts.memory, m_parts.compiled, m_queues);
}

void run::execute() {
    m_fault.reset();
    try {
        restart();
        run_to_end();
    } catch (...) {
        if (!m_fault) m_fault = fault{m_sequence, current_failure()};
    }
    drain();
    finish_streams();
    if (m_fault) throw transfer_error(m_fault->reason);
}

void run::run_to_end() {
    for (;;) {
        bool moved = false, open = false;
        m_blocker = nullptr;
        m_end_busy = false;
        const auto rings = m_bell.rings();
        if (m_stopping.exchange(false))
            for (std::size_t island = 0; island < m_limits.size(); ++island) end_now(island);
        // A period of each in turn, so that no queue gets far ahead of the others.
        for (std::size_t i = 0; i < m_actors.size(); ++i) {
            if (m_actors[i].on_host) continue;
            const auto most = m_parts.compiled.actors[i].repetitions;
            for (std::uint64_t n = 0; n < most && advance(i) == step::moved; ++n) moved = true;
            open = open || !finished(i);
        }
        if (++m_sweeps <= first_sweeps || m_sweeps % sweeps_per_flush == 0) flush();
        for (std::size_t i = 0; i < m_actors.size(); ++i) {
            if (!m_actors[i].on_host) continue;
            if (advance(i) == step::moved) moved = true;
            // Another rank, which this one waits for elsewhere, may wait for the end.
            if (finished(i) && !m_fault) close(i, {});
            open = open || !finished(i);
        }
        if (!open) return;
        if (moved) continue;
        // After a fault some may wait for what will never come.
        if (m_blocker == nullptr && !m_end_busy && m_fault) return;
        wait(rings);
    }
}

bool run::may_fire(std::size_t actor) const {
    const auto& self = m_parts.compiled.actors[actor];
    const auto limit = m_limits[self.island];
    return (limit == endless || m_rules.fired(actor) < limit * self.repetitions) && m_rules.can_fire(actor);
}

bool run::end_is_ready(std::size_t actor) {
    const auto* const end = m_actors[actor].end;
    if (end == nullptr || end->ready()) return true;
    m_end_busy = true;
    return false;
}

bool run::finished(std::size_t actor) const {
    const auto& self = m_parts.compiled.actors[actor];
    const auto limit = m_limits[self.island];
    const bool beyond = limit != endless && m_rules.fired(actor) >= limit * self.repetitions;
    return !m_actors[actor].pending && (beyond || m_rules.ended(actor));
}

run::issued* run::shown_by(std::size_t actor, issued& looked_at) {
    if (!looked_at.events.empty()) return &looked_at;
    const auto lane = m_parts.compiled.actors[actor].lane;
    if (const auto later = m_tellings[lane].first_after(looked_at.sequence); later.shown != nullptr)
        return later.shown->sequence == later.sequence ? later.shown : nullptr;
    cl_event made = nullptr;
    if (const auto code = cl::mark(m_actors[actor].queue, &made); code != CL_SUCCESS)
        throw transfer_error(code, name_of(m_parts.described, m_parts.compiled.actors[actor]) + ", token " +
                                       std::to_string(looked_at.number) +
                                       ": asking for its end: " + cl::code_text(code));
    looked_at.events.push_back(cl::event::adopt(made));
    m_unflushed[lane] = true;
    return &looked_at;
}

bool run::is_complete(std::size_t actor, issued& looked_at) {
    if (looked_at.complete) return true;
    if (looked_at.events.empty()) {
        auto* const shown = shown_by(actor, looked_at);
        if (shown != &looked_at) {
            if (shown != nullptr && !is_complete(shown->actor, *shown)) return false;
            looked_at.complete = true;
            return true;
        }
    }
    auto* const last = looked_at.events.back().get();
    auto status = cl::status_of(last);
    if (status > CL_COMPLETE) return false;
    if (status == CL_COMPLETE && m_actors[actor].hides_failed_waits) status = clWaitForEvents(1, &last);
    // It may have run, in its queue behind one that failed.
    for (const auto& each : looked_at.inputs) {
        if (m_actors[each.actor].on_host) continue;
        auto& source = slot(each.actor, each.number);
        const bool shows_here = source.events.empty() && m_actors[each.actor].quiet;
        if (source.number == each.number && !shows_here && !is_complete(each.actor, source)) return false;
        if (each.number >= m_actors[each.actor].failed_from)
            m_actors[actor].failed_from = std::min(m_actors[actor].failed_from, looked_at.number);
    }
    looked_at.complete = true;
    if (m_timed) take_time(actor, looked_at);
    if (status < CL_COMPLETE)
        fail(actor, looked_at.number, looked_at.sequence,
             {status, 0, 0, "the command" + m_actors[actor].quiet_before + " failed: " + cl::code_text(status)});
    return true;
}

void run::record(transfer::recorder& to, std::string graph) {
    m_recorder = &to;
    m_graph = std::move(graph);
    for (const auto& each : m_parts.compiled.actors) m_actor_names.push_back(name_of(m_parts.described, each));
}

void run::tell(std::size_t actor, std::uint64_t number, std::uint64_t begin, std::uint64_t end) const {
    if (m_recorder == nullptr) return;
    const auto& self = m_parts.compiled.actors[actor];
    const auto where = m_parts.compiled.lanes[self.lane].where;
    m_recorder->firing_over(
        {.graph = m_graph,
         .actor = m_actor_names[actor],
         .resource = where == host ? std::string_view() : cl::facts_of(m_parts.devices[where].id).identity,
         .number = number,
         .started = begin,
         .ended = end});
}

void run::take_time(std::size_t actor, const issued& ended) {
    cl_ulong first = 0, last = 0;
    for (const auto& each : ended.events) {
        cl_ulong begin = 0, end = 0;
        if (clGetEventProfilingInfo(each.get(), CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr) !=
                CL_SUCCESS ||
            clGetEventProfilingInfo(each.get(), CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr) != CL_SUCCESS)
            return;
        m_actors[actor].timed_seconds += static_cast<double>(end - begin) * 1e-9;
        first = first == 0 ? begin : first;
        last = end;
    }
    if (last != 0) tell(actor, ended.number, first, last);
    ++m_actors[actor].timed_firings;
}

std::vector<double> run::seconds() const {
    std::vector<double> result;
    bool any = false;
    for (const auto& each : m_actors) {
        any = any || each.timed_firings > 0;
        result.push_back(each.timed_firings == 0 ? 0 : each.timed_seconds / static_cast<double>(each.timed_firings));
    }
    return any ? result : std::vector<double>{};
}

run::step run::advance(std::size_t actor) {
    auto& self = m_actors[actor];
    if (!self.pending) {
        if (!may_fire(actor) || !end_is_ready(actor)) return step::idle;
        if (auto& reused = slot(actor, self.issued_count); !is_complete(actor, reused)) {
            block_on(actor, reused);
            return step::idle;
        }
        m_rules.fire(actor, self.needs);
        self.pending = true;
    }
    if (!find_waits(actor)) {
        // Nobody may count on a token that the stream perhaps does not have.
        if (self.may_end) {
            m_rules.take_back(actor);
            self.pending = false;
        }
        return step::idle;
    }
    // It may have been given out before somebody failed.
    const auto limit = m_limits[m_parts.compiled.actors[actor].island];
    if (limit != endless && m_rules.fired(actor) > limit * m_parts.compiled.actors[actor].repetitions) {
        self.pending = false;
        return step::idle;
    }
    issue(actor);
    return step::moved;
}

void run::block_on(std::size_t actor, issued& waited_for) {
    auto* const shown = shown_by(actor, waited_for);
    if (shown != nullptr && (m_blocker == nullptr || shown->sequence < m_blocker->sequence)) m_blocker = shown;
}

bool run::find_waits(std::size_t actor) {
    const auto& self = m_actors[actor];
    const auto lane = m_parts.compiled.actors[actor].lane;
    m_waits.clear();
    std::fill(m_latest.begin(), m_latest.end(), nullptr);
    for (const auto& each : self.needs.after) {
        const auto& other = m_actors[each.actor];
        if (other.issued_count <= each.number || each.number >= other.failed_from) return false;
        const auto other_lane = m_parts.compiled.actors[each.actor].lane;
        if (other.on_host || (!self.on_host && other_lane == lane)) continue;
        auto& needed = slot(each.actor, each.number);
        if (needed.number != each.number || needed.complete) continue; // or so long ago that its slot is another's
        // No queue can wait for an event of another context, and the host has to wait itself, and to look at each.
        if (self.on_host || self.context != other.context) {
            if (!is_complete(each.actor, needed)) {
                block_on(each.actor, needed);
                return false;
            }
            if (each.number >= other.failed_from) return false;
            continue;
        }
        // Of what one queue does the last is enough.
        auto* const shown = shown_by(each.actor, needed);
        auto*& latest = m_latest[other_lane];
        if (shown != nullptr && (latest == nullptr || latest->sequence < shown->sequence)) latest = shown;
    }
    for (auto* const latest : m_latest) {
        if (latest == nullptr) continue;
        if (self.breaks_on_failed_waits ? !is_complete(latest->actor, *latest) : !latest->complete) {
            m_waits.push_back(latest->events.back().get());
        } else if (latest->number >= m_actors[latest->actor].failed_from) {
            return false;
        }
    }
    return true;
}

void run::issue(std::size_t actor) {
    auto& self = m_actors[actor];
    const auto number = self.issued_count++;
    const auto sequence = m_sequence++;
    self.pending = false;
    auto& own = slot(actor, number);
    own.events.clear();
    const auto wanted = m_timed                                 ? told::every_command
                        : self.quiet && number >= first_firings ? told::nothing
                                                                : told::end;
    bool refused = true;
    command_chain commands(self.queue, m_waits, wanted, own.events);
    const auto begin = m_timed && self.on_host ? std::chrono::steady_clock::now()
                                               : std::chrono::steady_clock::time_point();
    try {
        for (const auto& range : self.needs.zero_filled) fill_with_zeros(m_parts.memory, range, commands);
        if (self.work->fire(number, commands) == firing_result::end_of_stream) {
            --self.issued_count;
            m_rules.take_back(actor);
            end_stream(actor);
            return;
        }
        refused = false;
        m_begun[actor].store(number + 1, std::memory_order_relaxed);
    } catch (const token_error& error) {
        fail(actor, error.number(), past_all, error.as_failure());
    } catch (...) {
        fail(actor, number, sequence, current_failure());
    }
    if (self.on_host) {
        if (!m_timed) return;
        const auto end = std::chrono::steady_clock::now();
        self.timed_seconds += std::chrono::duration<double>(end - begin).count();
        const auto since = [](auto when) {
            return static_cast<std::uint64_t>(std::chrono::nanoseconds(when.time_since_epoch()).count());
        };
        tell(actor, number, since(begin), since(end));
        ++self.timed_firings;
        return;
    }
    const auto lane = m_parts.compiled.actors[actor].lane;
    m_unflushed[lane] = true;
    own.complete = refused && own.events.empty();
    own.actor = actor;
    own.number = number;
    own.sequence = sequence;
    note_inputs(actor, own);
    if (!own.events.empty()) m_tellings[lane].add({sequence, &own});
}

void run::note_inputs(std::size_t actor, issued& own) {
    own.inputs.clear();
    // Of each actor the last firing says all: when it has not failed, those before it have not.
    const auto note = [&own](const firing& one) {
        for (auto& known : own.inputs) {
            if (known.actor != one.actor) continue;
            known.number = std::max(known.number, one.number);
            return;
        }
        own.inputs.push_back(one);
    };
    for (const auto& each : m_actors[actor].needs.inputs) {
        note(each);
        if (!m_actors[each.actor].quiet) continue;
        const auto& before = slot(each.actor, each.number);
        if (before.number == each.number && &before != &own)
            for (const auto& further : before.inputs) note(further);
    }
}

void run::end_stream(std::size_t actor) {
    const auto& self = m_parts.compiled.actors[actor];
    const auto tokens = m_rules.fired(actor);
    if (tokens % self.repetitions != 0)
        fail(actor, tokens, m_sequence,
             {status::end_of_file, 0, 0,
              "the stream ended, but the graph takes its tokens " + std::to_string(self.repetitions) + " at a time"});
    m_rules.end_after(self.island, tokens / self.repetitions);
}

void run::fail(std::size_t actor, std::uint64_t number, std::uint64_t sequence, failure reason) {
    const auto& self = m_parts.compiled.actors[actor];
    auto& limit = m_limits[self.island];
    limit = std::min(limit, number / self.repetitions);
    m_actors[actor].failed_from = std::min(m_actors[actor].failed_from, number);
    for (std::size_t island = 0; island < m_limits.size(); ++island)
        if (island != self.island) end_now(island);
    if (m_fault && m_fault->sequence <= sequence) return;
    reason.message = name_of(m_parts.described, self) + ", token " + std::to_string(number) + ": " + reason.message;
    m_fault = fault{sequence, std::move(reason)};
}

void run::end_now(std::size_t island) {
    std::uint64_t begun = 0;
    for (std::size_t i = 0; i < m_actors.size(); ++i) {
        const auto& self = m_parts.compiled.actors[i];
        if (self.island == island)
            begun = std::max(begun, (m_rules.fired(i) + self.repetitions - 1) / self.repetitions);
    }
    m_rules.end_after(island, begun);
}

void run::wait(std::uint64_t rings) {
    flush();
    if (m_blocker == nullptr) {
        if (!m_end_busy)
            throw transfer_error(status::out_of_resources,
                                 "the graph stopped though the compiler found no reason; please report it");
        m_bell.wait(rings);
        return;
    }
    // Where all goes on by itself the thread sleeps until half of what it gave out is done, and then gives out as much.
    const auto& given = m_actors[m_blocker->actor];
    if (m_all_in_queues && given.issued_count >= given.history.size()) {
        const auto middle = given.issued_count - given.history.size() / 2;
        auto* const shown = shown_by(m_blocker->actor, slot(m_blocker->actor, middle));
        if (shown != nullptr && shown->sequence > m_blocker->sequence) m_blocker = shown;
    }
    if (m_blocker->complete) return;
    auto* const waited_for = m_blocker->events.back().get();
    // What it says is looked at with the event's status.
    (void)clWaitForEvents(1, &waited_for);
}

void run::flush() {
    for (std::size_t lane = 0; lane < m_queues.size(); ++lane) {
        if (!m_unflushed[lane]) continue;
        (void)clFlush(m_queues[lane].get());
        m_unflushed[lane] = false;
    }
}

void run::close(std::size_t actor, const failure& why) {
    auto& self = m_actors[actor];
    if (self.end != nullptr && !std::exchange(self.closed, true)) self.end->close(why);
}

void run::finish_streams() {
    // Ends may wait for one another: first all hear that no more comes.
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < m_actors.size(); ++i) {
        if (m_actors[i].end == nullptr) continue;
        close(i, m_fault ? m_fault->reason : failure{});
        open.push_back(i);
    }
    for (;;) {
        const auto rings = m_bell.rings();
        std::erase_if(open, [this](std::size_t actor) {
            try {
                return m_actors[actor].end->finished();
            } catch (const token_error& error) {
                fail(actor, error.number(), past_all, error.as_failure());
                return true;
            }
        });
        if (open.empty()) return;
        m_bell.wait(rings);
    }
}

void run::drain() {
    flush(); // queues wait for one another
    for (const auto& queue : m_queues)
        if (queue) (void)clFinish(queue.get());
    for (std::size_t i = 0; i < m_actors.size(); ++i) {
        for (auto& each : m_actors[i].history) {
            if (each.events.empty()) each.complete = true; // quiet, in a queue that is at its end
            if (is_complete(i, each)) continue;
            auto* const raw = each.events.back().get();
            (void)clWaitForEvents(1, &raw);
            (void)is_complete(i, each);
        }
    }
}

} // namespace causeway::graph
