// SPDX-License-Identifier: Apache-2.0
// Takes commands in, waits for their gates, drives their flows, ends them.
#include "transfer/engine.hpp"

#include "transfer/flow_review.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace causeway::transfer {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// A gate is polled this long before the engine asks for a callback: polling is cheaper and faster if it opens soon.
constexpr auto hot_time = milliseconds(1);
/// Failed events of some implementations never call back (PoCL 3.1, pocl issue 1430), so closed gates are looked at
/// now and then.
constexpr auto first_cold_look = microseconds(100);
constexpr auto longest_cold_look = std::chrono::seconds(1);
/// A gate that was closed for a time is looked at again after a sixteenth of it: callbacks of some implementations come
/// late, and this bounds what that costs.
constexpr auto patience = 16;
/// Of many that wait each is looked at as much more rarely, and several at a time: a look takes two microseconds, so
/// all of them together under two per cent of a core.
constexpr auto cold_time_per_command = microseconds(150);
constexpr std::size_t few_cold = 8;
/// Commands behind one that has ended are looked at at once: in an in-order queue one of them is next.
constexpr auto nudged_commands = 16;
constexpr std::size_t looks_in_a_step = 4;
/// In a step, of the small transfers that waited for others that end; the rest are looked at in turn.
constexpr std::size_t starts_at_once = 4;
/// Transfers of at most so much, which the engine's thread mostly does by itself, are looked at first.
constexpr std::size_t largest_small = std::size_t{64} << 10;
constexpr auto longest_without_look = microseconds(50);
/// Of those that have ended and are to be asked what they waited for.
constexpr std::size_t most_unasked = 64;
/// Who copies for a while works with others that copy as long. Longer steps than that are something else: the thread
/// had to wait for a processor, or a driver.
constexpr auto longest_copying = microseconds(1000);
constexpr auto longest_spin_for_others = microseconds(300);
constexpr auto shortest_sleep = microseconds(20);
constexpr auto longest_sleep = microseconds(200);
/// What has not come for a while may be seen a hundredth of that while later: polling for it costs under a per cent of
/// a core.
constexpr auto share_of_long_wait = 100;
constexpr auto long_wait = milliseconds(4);
constexpr auto longest_sleep_in_long_wait = milliseconds(4), longest_sleep_of_all = milliseconds(20);
constexpr auto dearest_look = microseconds(60);
/// Room for messages; a burst of more gives it back.
constexpr std::size_t most_mail_kept = 1024;

/// When one of `cold` commands is looked at that are told when their gates open, of which this one has `waited`.
time_point next_cold_look(time_point now, std::chrono::nanoseconds waited, std::size_t cold) {
    const bool are_few = cold <= few_cold;
    const std::chrono::nanoseconds share = cold_time_per_command * static_cast<std::int64_t>(are_few ? 0 : cold);
    const auto pause = std::clamp<std::chrono::nanoseconds>(std::max(waited / patience, share), first_cold_look,
                                                            longest_cold_look);
    const auto next = now + pause;
    if (are_few) return next;
    // Each time of its own would be a wake-up.
    const std::chrono::nanoseconds together(std::bit_floor(static_cast<std::uint64_t>(pause.count()) / 4));
    return next + (together - next.time_since_epoch() % together);
}

/// What a failure is to those that wait for it; the first cause stays the text of a whole chain.
failure passed_on(const failure& cause) {
    if (cause.status == status::wait_list_failed) return cause;
    return {status::wait_list_failed, 0, 0, "a transfer in the wait list failed: " + cause.message};
}

} // namespace

engine::engine(const options& settings, const monotonic_clock& clock, unsigned io_threads,
               std::chrono::nanoseconds spin)
    : m_options(settings), m_clock(clock), m_io_threads(io_threads), m_spin(spin),
      m_mailbox(std::make_shared<mailbox>()), m_pool(settings, clock), m_tuner(settings, clock),
      m_planner(settings, &m_tuner), m_stall(clock.now()), m_last_progress(clock.now()),
      m_spin_until(m_last_progress + m_spin) {}

engine::~engine() {
    // What one gives back may be for another that waits: nobody goes on now.
    for (const auto& [number, work] : m_commands) work->m_stage = command::stage::ended;
}

void engine::add(progress_source& source) { m_sources.push_back(&source); }

void engine::submit(const std::shared_ptr<command>& work) {
    {
        const std::lock_guard lock(work->m_mutex);
        work->m_report.queued = m_clock.now();
    }
    work->m_number = m_next_number++;
    ++m_active;
    m_mailbox->post(work);
}

void engine::cancel(const std::shared_ptr<command>& work, const failure& reason) {
    m_mailbox->post(std::function<void()>([this, work, reason] { cancel_now(*work, reason); }));
}

void engine::cancel_all(const failure& reason) {
    m_mailbox->post(std::function<void()>([this, reason] {
        const auto all = m_commands;
        for (const auto& [number, work] : all) cancel_now(*work, reason);
    }));
}

void engine::call(std::function<void()> action) { m_mailbox->post(std::move(action)); }

bool engine::step() {
    const auto now = m_clock.now();
    bool progress = take_mail();
    for (auto* const source : m_sources)
        if (source->busy()) progress |= source->poll(now);
    progress |= advance_ready();
    if (m_enqueuers == 0 || now - m_last_look >= longest_without_look) {
        m_last_look = now;
        if (look_at_gates(now)) {
            progress = true;
            advance_ready();
        }
    }
    settle(now);
    std::erase_if(m_orphans, [](const auto& work) {
        auto& flows = work->m_flows;
        if (!std::all_of(flows.begin(), flows.end(), [](const auto& part) { return part->quiet(); })) return false;
        flows.clear(); // the command itself lives as long as somebody may ask for it
        return true;
    });
    if (progress) {
        m_last_progress = m_clock.now();
        const auto work = m_last_progress - now;
        std::chrono::nanoseconds spin = m_spin;
        if (m_options[option::spin] == 0 && work <= longest_copying)
            spin = std::max(spin, std::min<std::chrono::nanoseconds>(2 * work, longest_spin_for_others));
        m_spin_until = std::max(m_spin_until, m_last_progress + spin);
    }
    // Drivers take their time: when nothing else is to be done, unless that never comes.
    if (!progress || m_unasked.size() > most_unasked) progress |= ask_what_was_waited_for();
    if (std::exchange(m_has_moved, false)) {
        m_stall.moved(now);
    } else if (m_running > 0 && now >= m_stall.next(stall_limit())) {
        look_for_stall(now);
    }
    if (m_kept && now >= m_next_trim && !m_keeps_all) {
        m_kept = m_pool.trim();
        if (m_commands.empty()) m_command_memory.release();
        for (auto* const source : m_sources) m_kept |= source->trim(now);
        m_next_trim = now + milliseconds(std::max<std::uint64_t>(10, m_options[option::keep] / 4));
    }
    return progress;
}

std::optional<std::chrono::nanoseconds> engine::pause() const {
    if (!m_next_turn.empty() || !m_ready.empty() || !m_unasked.empty()) return std::chrono::nanoseconds(0);
    const auto now = m_clock.now();
    const bool polling = !m_small_hot.all.empty() || !m_hot.all.empty() ||
                         std::any_of(m_sources.begin(), m_sources.end(), [](auto* source) { return source->busy(); });
    std::optional<std::chrono::nanoseconds> longest;
    const auto at_most = [&](std::chrono::nanoseconds limit) {
        limit = std::max(limit, std::chrono::nanoseconds(0));
        longest = longest ? std::min(*longest, limit) : limit;
    };
    const auto idle = now - m_last_progress;
    // Also steps of I/O threads end soon, and being woken takes longer than most of them.
    if ((polling || m_running > 0) && now < m_spin_until) return std::chrono::nanoseconds(0);
    if (polling) {
        auto cap = std::clamp<std::chrono::nanoseconds>(idle / share_of_long_wait, longest_sleep,
                                                        longest_sleep_in_long_wait);
        // Sleeps of s in a wait of t are seen s / 2t of it late, and take c / s of the processors for looks of c: as
        // much for s = sqrt(2tc). Where bytes are on their way, blocks end sooner.
        if (idle > long_wait) {
            const std::chrono::duration<double, std::nano> waited = idle, cost = m_cost_of_look;
            const std::chrono::nanoseconds balanced(
                static_cast<std::int64_t>(std::sqrt(2 * waited.count() * cost.count())));
            cap = std::max(cap, std::min<std::chrono::nanoseconds>(balanced, longest_sleep_of_all));
        }
        at_most(std::clamp<std::chrono::nanoseconds>(idle / 8, shortest_sleep, cap));
    }
    if (!m_cold.empty()) at_most(m_cold.begin()->first - now);
    if (m_running > 0) at_most(m_stall.next(stall_limit()) - now);
    if (m_kept && !m_keeps_all) at_most(m_next_trim - now);
    return longest;
}

void engine::looked_in_vain(std::chrono::nanoseconds cost) {
    const auto seen = std::min<std::chrono::nanoseconds>(cost, dearest_look);
    m_cost_of_look = m_cost_of_look.count() == 0
                         ? seen
                         : std::min(seen, m_cost_of_look + m_cost_of_look / 16 + std::chrono::nanoseconds(1));
}

bool engine::take_mail() {
    m_mailbox->take(m_mail);
    const bool any = !m_mail.empty();
    for (auto& each : m_mail) {
        if (auto* const done = std::get_if<mailbox::finished_step>(&each)) {
            done->which->finish(std::move(done->result));
        } else if (auto* const awake = std::get_if<mailbox::wake_up>(&each)) {
            const auto found = m_commands.find(awake->command);
            if (found != m_commands.end() && found->second->m_stage == command::stage::gated) schedule(*found->second);
        } else if (auto* const submitted = std::get_if<std::shared_ptr<command>>(&each)) {
            admit(*submitted);
        } else {
            std::get<std::function<void()>>(each)();
        }
    }
    m_mail.clear();
    if (m_mail.capacity() > most_mail_kept) m_mail.shrink_to_fit();
    return any;
}

void engine::admit(const std::shared_ptr<command>& work) {
    const auto now = m_clock.now();
    work->m_engine = this;
    work->m_gated_since = now;
    m_has_moved = true;
    m_commands.emplace(work->m_number, work);
    {
        const std::lock_guard lock(work->m_mutex);
        work->m_report.submitted = now;
        work->m_report.status = status::submitted;
    }
    if (m_recorder != nullptr)
        for (unsigned i = 0; i < work->m_flows.size(); ++i) work->m_flows[i]->record(m_recorder, work->m_number, i);
    for (auto& part : work->m_flows) part->enqueued();
    failure broken;
    for (const auto& other : work->m_dependencies) {
        if (m_recorder != nullptr) m_recorder->waited_for(work->m_number, other->m_number);
        if (other->m_stage == command::stage::ended) {
            const auto result = other->report().error;
            if (result && !broken) broken = result;
        } else {
            other->m_dependents.push_back(work);
            ++work->m_open_dependencies;
        }
    }
    if (broken) {
        end(*work, passed_on(broken));
        return;
    }
    if (work->m_gates.empty()) {
        if (!look(*work)) read_ahead(*work);
    } else {
        work->m_looked_at = false;
        schedule(*work);
    }
}

void engine::read_ahead(command& work) {
    for (auto& part : work.m_flows) part->read_ahead(work, m_pool, m_planner, m_io_threads);
}

void engine::schedule(command& work) {
    work.m_hot_until = m_clock.now() + hot_time;
    if (std::exchange(work.m_hot_listed, true)) return;
    (is_small(work) ? m_small_hot : m_hot).all.push_back(work.shared_from_this());
}

bool engine::is_small(const command& work) {
    return std::all_of(work.m_flows.begin(), work.m_flows.end(),
                       [](const auto& part) { return part->bytes() <= largest_small; });
}

bool engine::look(command& work) {
    if (work.m_stage != command::stage::gated) return true;
    bool failed = false;
    std::erase_if(work.m_gates, [&](auto& each) {
        const auto state = each->look();
        failed |= state == gate::state::failed;
        if (state != gate::state::open) return false;
        if (m_recorder != nullptr && each->knows_what()) {
            work.m_opened.push_back({std::move(each), m_clock.now()});
        } else {
            m_passed.push_back(std::move(each));
        }
        return true;
    });
    if (failed) {
        end(work, {status::wait_list_failed, 0, 0, "an event in the wait list failed"});
        return true;
    }
    if (!work.m_gates.empty() || work.m_open_dependencies > 0) return false;
    start(work);
    return true;
}

bool engine::look_at_gates(time_point now) {
    bool progress = false;
    while (!m_cold.empty() && m_cold.begin()->first <= now) {
        const auto found = m_commands.find(m_cold.begin()->second);
        m_cold.erase(m_cold.begin());
        if (found == m_commands.end()) continue;
        const auto work = found->second;
        if (look(*work)) {
            progress = true;
            continue;
        }
        m_cold.emplace(next_cold_look(now, now - work->m_gated_since, m_cold.size()), work->m_number);
    }
    // A small one does not wait until all the large ones that open with it have been looked at and started.
    progress |= look_at(m_small_hot, now);
    progress |= look_at(m_hot, now);
    return progress;
}

bool engine::look_at(hot_commands& some, time_point now) {
    bool progress = false;
    // Each look is a call of the driver, and whatever runs waits meanwhile. Who sleeps between steps looks at all,
    // until it has something to do.
    const bool sleeps = now >= m_spin_until;
    const auto most = some.all.size();
    for (std::size_t i = 0; i < most && !some.all.empty() && (i < looks_in_a_step || (sleeps && !progress)); ++i) {
        if (some.next >= some.all.size()) some.next = 0;
        const auto work = some.all[some.next];
        bool leave = look(*work); // may put more commands at the end of the list
        progress |= leave;
        // Not behind a gate that has failed: such a read may never end.
        if (!std::exchange(work->m_looked_at, true) && !leave) read_ahead(*work);
        if (!leave && (now >= work->m_hot_until || work->m_gates.empty())) {
            // Nothing that opens soon: ask to be told. A command whose gates are open is told by the transfers that it
            // still depends on.
            leave = true;
            if (!work->m_gates.empty() && !work->m_armed) {
                work->m_armed = true;
                for (auto& each : work->m_gates) each->arm(m_mailbox, work->m_number);
                m_cold.emplace(next_cold_look(now, now - work->m_gated_since, m_cold.size()), work->m_number);
            }
        }
        work->m_hot_listed = !leave;
        if (leave) {
            some.all.erase(some.all.begin() + static_cast<std::ptrdiff_t>(some.next));
        } else {
            ++some.next;
        }
    }
    return progress;
}

void engine::start(command& work) {
    work.m_stage = command::stage::running;
    m_has_moved = true;
    ++m_running;
    ++m_starts;
    work.m_alone_since = m_running == 1 ? m_starts : 0;
    if (m_recorder != nullptr) m_recorder->level_is(level::transfers_running, m_running);
    {
        const std::lock_guard lock(work.m_mutex);
        work.m_report.started = m_clock.now();
        work.m_report.status = status::running;
    }
    work.m_ready_listed = true; // no listing while the flows start
    for (auto& part : work.m_flows) part->start(work, m_pool, m_planner, m_io_threads);
    work.m_ready_listed = false;
    work.flow_ready();
}

bool engine::advance_ready() {
    bool progress = false;
    m_ready.insert(m_ready.end(), m_next_turn.begin(), m_next_turn.end());
    m_next_turn.clear();
    while (!m_ready.empty()) {
        progress = true;
        m_advancing.swap(m_ready);
        for (const auto& work : m_advancing) {
            work->m_ready_listed = false;
            advance(*work);
        }
        m_advancing.clear();
    }
    return progress;
}

void engine::advance(command& work) {
    if (work.m_stage == command::stage::gated)
        for (auto& part : work.m_flows) part->advance();
    if (work.m_stage != command::stage::running) return;
    m_has_moved = true;
    bool all_finished = true;
    const failure* first = nullptr;
    for (auto& part : work.m_flows) {
        part->advance();
        all_finished &= part->finished();
        if (!part->finished() || !part->error()) continue;
        // What has made the other side fail tells more than that it did.
        if (first == nullptr || (first->status == status::peer_failed && part->error().status != status::peer_failed))
            first = &part->error();
    }
    {
        const std::lock_guard lock(work.m_mutex);
        for (std::size_t i = 0; i < work.m_flows.size(); ++i) work.m_report.bytes_moved[i] = work.m_flows[i]->moved();
        if (work.m_flows.front()->chosen_plan()) work.m_report.chosen = *work.m_flows.front()->chosen_plan();
    }
    if (!all_finished) return;
    look_back(work);
    end(work, first != nullptr ? *first : failure{});
}

void engine::look_back(const command& work) {
    // Transfers beside others say nothing of what stages can do.
    const bool was_alone = work.m_alone_since == m_starts && work.m_flows.size() == 1;
    const bool explains = m_options[option::explain] != 0;
    const auto took = explains ? m_clock.now() - work.report().started : std::chrono::nanoseconds(0);
    for (const auto& part : work.m_flows) {
        // What was expected of it, before it corrects what is expected.
        const auto text = explains ? flow_review(*part).explanation(m_tuner, took) : std::string();
        if (!text.empty()) tell_user(text + (was_alone ? "" : ", beside others"));
        if (m_tuner.listens()) flow_review(*part).teach(m_tuner, was_alone);
    }
}

void engine::tell(const command& work, const std::string& partner) {
    const auto known = work.report();
    transfer_span told{.transfer = work.m_number,
                       .partner = partner,
                       .queued = known.queued,
                       .submitted = known.submitted,
                       .started = known.started,
                       .ended = known.ended,
                       .error = known.error};
    for (const auto& part : work.m_flows) flow_review(*part).tell(told, m_tuner);
    m_recorder->level_is(level::transfers_running, m_running);
    if (std::exchange(m_held_told, m_pool.held_bytes()) != m_pool.held_bytes())
        m_recorder->level_is(level::staging_bytes, m_held_told);
}

void engine::cancel_now(command& work, const failure& reason) {
    if (work.m_stage == command::stage::gated) {
        end(work, reason);
    } else if (work.m_stage == command::stage::running) {
        for (auto& part : work.m_flows)
            if (!part->finished()) part->cancel(reason);
    }
}

void engine::end(command& work, const failure& result) {
    // A list, not recursion: a chain of dependents may be long.
    m_ending.push_back({work.shared_from_this(), result});
    while (!m_ending.empty()) {
        const auto [ended, why] = std::move(m_ending.back());
        m_ending.pop_back();
        end_one(*ended, why);
        const auto dependents = std::move(ended->m_dependents);
        for (const auto& other : dependents) {
            if (other->m_stage != command::stage::gated) continue;
            --other->m_open_dependencies;
            if (why) {
                m_ending.push_back({other, passed_on(why)});
            } else if (other->m_open_dependencies == 0) {
                // Not in one step what may take long, nor a chain of them.
                const bool at_once = other->m_gates.empty() && is_small(*other) && m_started_at_once < starts_at_once;
                m_started_at_once += at_once ? 1 : 0;
                at_once ? m_next.push_back(other) : schedule(*other);
            }
        }
    }
    for (const auto& other : m_next) start(*other);
    m_next.clear();
    nudge();
    if (!m_kept) {
        m_kept = true;
        m_next_trim = m_clock.now() + milliseconds(m_options[option::keep]);
    }
}

void engine::settle(time_point now) {
    for (auto* const source : m_sources) source->settle(now);
    for (const auto& each : m_ended)
        if (each->m_listener) each->m_listener->step_over();
    m_passed.clear();
    // Now the process may end.
    for (const auto& each : m_ended) {
        // Who is told finds it gone.
        const bool is_over = each->m_opened.empty();
        if (is_over) --m_active;
        {
            const std::lock_guard lock(each->m_mutex);
            each->m_told = true;
        }
        each->m_ended.notify_all();
        if (!is_over) m_unasked.push_back(each);
    }
    m_ended.clear();
    m_started_at_once = 0;
}

void engine::nudge() {
    int left = nudged_commands;
    for (auto each = m_commands.begin(); each != m_commands.end() && left > 0; ++each, --left) {
        auto& work = *each->second;
        if (work.m_stage == command::stage::gated && !work.m_gates.empty()) schedule(work);
    }
}

void engine::end_one(command& work, const failure& result) {
    if (work.m_stage == command::stage::ended) return;
    if (work.m_stage == command::stage::gated)
        for (auto& part : work.m_flows) part->abandon();
    if (work.m_stage == command::stage::running) --m_running;
    work.m_stage = command::stage::ended;
    work.m_gates.clear();
    work.m_dependencies.clear();
    {
        const std::lock_guard lock(work.m_mutex);
        work.m_report.ended = m_clock.now();
        work.m_report.error = result;
        work.m_report.status = result ? result.status : status::complete;
    }
    if (m_recorder != nullptr) tell(work);
    // The flows let go of buffers and descriptors before anybody hears of the end; but for a block that is being read.
    if (std::all_of(work.m_flows.begin(), work.m_flows.end(), [](const auto& part) { return part->quiet(); })) {
        work.m_flows.clear();
    } else {
        m_orphans.push_back(work.shared_from_this());
    }
    m_commands.erase(work.m_number);
    if (work.m_listener) work.m_listener->completed(result);
    m_ended.push_back(work.shared_from_this());
}

std::chrono::seconds engine::stall_limit() const {
    return std::chrono::seconds(static_cast<std::int64_t>(m_options[option::stall]));
}

std::vector<pending_command> engine::pending(time_point now) const {
    std::vector<pending_command> all;
    for (const auto& [number, work] : m_commands) {
        auto& told = all.emplace_back(pending_command{.number = number,
                                                      .label = work->m_label,
                                                      .has_started = work->m_stage == command::stage::running,
                                                      .age = now - work->m_gated_since});
        for (const auto& part : work->m_flows)
            if (told.partner.empty() && !part->finished()) told.partner = part->partner();
        for (const auto& other : work->m_dependencies)
            if (other->m_stage != command::stage::ended) told.waits_for.push_back(other->m_number);
    }
    return all;
}

void engine::look_for_stall(time_point now) {
    const bool records = m_stall.is_to_record(now) && m_recorder != nullptr;
    const bool tells = m_stall.is_to_tell(now, stall_limit()) && m_tell_stall != nullptr;
    if (!records && !tells) return;
    const auto all = pending(now);
    if (std::none_of(all.begin(), all.end(), [](const auto& each) { return each.is_held_up(); })) return;
    if (records)
        for (const auto& each : all) tell(*m_commands.at(each.number), each.partner);
    if (!tells) return;
    m_stall.told();
    m_tell_stall(stall_limit(), describe_stall(all));
}

bool engine::ask_what_was_waited_for() {
    if (m_unasked.empty()) return false;
    const auto work = std::move(m_unasked.front());
    m_unasked.pop_front();
    for (const auto& each : work->m_opened)
        if (const auto seen = each.which->waited_for(each.seen)) m_recorder->waited_for(work->m_number, *seen);
    work->m_opened.clear();
    --m_active;
    return true;
}

} // namespace causeway::transfer
