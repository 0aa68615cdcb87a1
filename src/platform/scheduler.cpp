// SPDX-License-Identifier: Apache-2.0
// One thread looks at what waits; another one calls the program, which may take its time.
#include "platform/scheduler.hpp"

#include "base/blocked_signals.hpp"
#include "base/processors.hpp"
#include "platform/boundary.hpp"
#include "platform/cluster.hpp"
#include "platform/driver_queues.hpp"
#include "platform/observer.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <thread>
#include <unistd.h>
#include <utility>

namespace causeway::platform {

namespace {

using namespace std::chrono_literals;
/// `hot`: how long the thread polls without a pause after something has moved, unless processors are few. Then pauses
/// double up to `longest_pause`. That delays failed commands only, because drivers call back for all others. The
/// longest pause is longer for many events, so that polling takes one per cent of a core at most. User events and
/// commands of other ranks are not polled: their end rings.
constexpr auto hot = 50us;
constexpr auto longest_pause = 5ms, longest_pause_without_drivers = 100ms;
constexpr auto pause_per_event = 50us;
/// How long the end of the process waits for a thread that is inside a driver's call.
constexpr auto longest_call = 1s;
/// How long it waits for what drivers have to do, in a cluster.
constexpr auto longest_finish = 10s;

void CL_CALLBACK ring_scheduler(cl_event raw, cl_int, void*) { scheduler::of_process().called_back(raw); }

} // namespace

obstacle look_at(_cl_event& event, const _cl_command_queue& queue, bool may_fail, raw_waits& raws, asks whom) {
    const auto raw = event.raw();
    const bool is_unseen = raw == nullptr || event.where != &queue.where;
    const bool holds_back = is_unseen || (queue.where.from->quirks.keeps_back_later && !queue.in_order());
    const auto status = holds_back && whom == asks::nobody ? event.known_end() : event.status();
    if (status < CL_COMPLETE) return may_fail ? obstacle{} : obstacle{obstacle::sort::failed, &event};
    if (status == CL_COMPLETE) return {};
    if (holds_back) return {obstacle::sort::not_yet, &event};
    raws.add(raw);
    return {};
}

obstacle look_at_all(const waiting_command& command, const _cl_command_queue& queue, raw_waits& raws, asks whom) {
    const auto whom_for = [whom](const _cl_event& event) {
        return whom == asks::driver || !event.watched ? asks::driver : asks::nobody;
    };
    obstacle first;
    for (const auto& wait : command.waits) {
        const auto found = look_at(*wait, queue, false, raws, whom_for(*wait));
        // One that has failed counts at once, whatever else there is to wait for, which may be for ever.
        if (found.what == obstacle::sort::failed) return found;
        if (first.what == obstacle::sort::none) first = found;
    }
    if (first.what != obstacle::sort::none) return first;
    for (const auto& order : command.orders)
        if (const auto found = look_at(*order, queue, true, raws, whom_for(*order)); found.what != obstacle::sort::none)
            return found;
    if (command.filling) {
        // What was not filled must not be sent.
        const auto status = command.filling->status();
        if (status < CL_COMPLETE) return {obstacle::sort::failed, command.filling.get()};
        if (status > CL_COMPLETE) return {obstacle::sort::not_yet, command.filling.get()};
    }
    for (const auto* const list : {&command.waits, &command.orders})
        for (const auto& event : *list)
            if (event->known_end() > CL_COMPLETE && event->queue && event->queue.get() != &queue) event->queue->flush();
    return {};
}

scheduler& scheduler::of_process() {
    // Never destroyed: threads of drivers may still ring while the process ends.
    static auto& one = *new scheduler;
    return one;
}

void scheduler::start() {
    if (m_started) return;
    const blocked_signals none;
    m_running = 2;
    std::thread([this] { run(); }).detach();
    std::thread([this] { run_callbacks(); }).detach();
    m_started = true;
    // Drivers, which are loaded by now, end after what is registered later. A child of fork() has the handler, but no
    // threads.
    static const auto process = ::getpid();
    std::atexit([] {
        if (process == ::getpid()) of_process().stop();
    });
}

void scheduler::begin() {
    {
        const std::lock_guard lock(m_mutex);
        start();
    }
    driver_queues::of_process().finish_first(longest_finish);
}

void scheduler::stop() {
    const auto& job = cluster::of_process();
    if (!job.is_alone()) {
        job.calls().before_end(); // other ranks may wait for what is still to be done here
        job.calls().exit_begins();
    }
    {
        const std::lock_guard lock(m_changed_mutex);
        m_stopping = true;
    }
    m_changed.notify_all();
    ring();
    {
        const std::lock_guard lock(m_due_mutex);
        m_calls_back = false;
    }
    m_due_bell.notify_one();
    // A driver or the program may keep a thread in a call for ever; or it is a callback that ends the process.
    const unsigned own = cluster::callback::is_running() ? 1 : 0;
    {
        std::unique_lock lock(m_changed_mutex);
        m_changed.wait_for(lock, longest_call, [&] { return m_running <= own; });
    }
    if (!job.is_alone()) driver_queues::of_process().end(longest_finish);
}

bool scheduler::drain(std::chrono::milliseconds limit) {
    {
        const std::lock_guard lock(m_changed_mutex);
        if (m_stopping) limit = {}; // nobody works on what is left
    }
    std::unique_lock lock(m_mutex);
    return m_settled.wait_for(lock, limit, [this] { return m_idle; });
}

void scheduler::ring() {
    {
        const std::lock_guard lock(m_bell_mutex);
        m_rung = true;
    }
    m_bell.notify_one();
}

void scheduler::called_back(cl_event raw) {
    {
        const std::lock_guard lock(m_bell_mutex);
        m_called_back.push_back(raw);
        m_rung = true;
    }
    m_bell.notify_one();
}

bool scheduler::let_go_of_called_back() {
    // A round later: a driver may still be on its way out of the call.
    std::vector<cl_event> over;
    bool any_left = false;
    {
        const std::lock_guard lock(m_bell_mutex);
        over.swap(m_left_call);
        m_left_call.swap(m_called_back);
        any_left = !m_left_call.empty();
    }
    for (auto* const raw : over) (void)calls_of(raw).clReleaseEvent(raw);
    return any_left;
}

void scheduler::announce() {
    watchdog::of_process().moved();
    { const std::lock_guard lock(m_changed_mutex); }
    m_changed.notify_all();
}

void scheduler::defer(_cl_command_queue& queue, waiting_command command) {
    {
        const std::lock_guard lock(m_mutex);
        start();
        m_idle = false;
        if (queue.waiting_count.load(std::memory_order_relaxed) == 0) m_busy.emplace_back(&queue);
        queue.waiting.push_back(std::move(command));
        queue.waiting_count.fetch_add(1, std::memory_order_release);
    }
    ring();
}

void scheduler::call_back(_cl_event& event, _cl_event::callback callback) {
    {
        const std::lock_guard lock(m_mutex);
        start();
        event.callbacks.push_back(callback);
        watch(event);
    }
    ring();
}

void scheduler::after(_cl_event& event, std::function<void(cl_int)> action) {
    {
        const std::lock_guard lock(m_mutex);
        start();
        event.actions.push_back(std::move(action));
        watch(event);
    }
    ring();
}

namespace {

bool are_over(const std::vector<ref<_cl_event>>& events) {
    return std::all_of(events.begin(), events.end(), [](const auto& one) { return one->known_end() <= CL_COMPLETE; });
}

} // namespace

void scheduler::after_all(std::vector<ref<_cl_event>> events, std::function<void()> action) {
    if (are_over(events)) return action();
    {
        const std::lock_guard lock(m_mutex);
        start();
        m_idle = false;
        m_late.push_back({std::move(events), std::move(action)});
    }
    ring();
}

void scheduler::set(_cl_event& event, cl_int status) {
    require(event.finish(status), CL_INVALID_OPERATION);
    announce();
    ring();
}

void scheduler::end(_cl_event& event, const command_end& how) {
    event.finish_as(how);
    announce();
    ring();
}

std::string scheduler::describe_waits() {
    constexpr std::size_t most = 4;
    std::string text;
    const std::lock_guard lock(m_mutex);
    for (std::size_t i = 0; i < m_busy.size() && i < most; ++i) {
        const auto& queue = *m_busy[i];
        if (queue.waiting.empty()) continue;
        const auto& command = queue.waiting.front();
        raw_waits raws;
        const auto found = look_at_all(command, queue, raws);
        if (found.what != obstacle::sort::not_yet) continue;
        const auto& event = *found.event;
        text += "causeway:   " + function_of(command.event->type) + ", and " +
                std::to_string(queue.waiting.size() - 1) + " behind it, wait for " +
                (event.is_users() ? std::string("a user event")
                                  : function_of(event.type) + " of rank " + std::to_string(event.owner())) +
                "\n";
    }
    return text;
}

template <class Over> void scheduler::wait_until(Over over) {
    std::unique_lock lock(m_changed_mutex);
    for (;;) {
        m_changed.wait(lock, [&] { return m_stopping || over(); });
        if (over()) return;
        lock.unlock();
        if (!step(looks::at_all)) std::this_thread::sleep_for(100us);
        lock.lock();
    }
}

void scheduler::wait_for(_cl_event& event) {
    if (event.known_end() <= CL_COMPLETE) return;
    const watchdog::wait waiting("the end of a command");
    while (event.known_end() > CL_COMPLETE) {
        if (const auto raw = event.raw()) {
            (void)calls_of(raw).clWaitForEvents(1, &raw); // and flushes its queue
            if (event.status() > CL_COMPLETE) std::this_thread::yield();
            continue;
        }
        wait_until([&] { return event.known_end() <= CL_COMPLETE || event.raw() != nullptr; });
    }
    for (auto* const each : observer::all()) each->settle();
}

void scheduler::wait_for_turns(_cl_command_queue& queue) {
    if (queue.waiting_count.load(std::memory_order_acquire) == 0) return;
    const watchdog::wait waiting("commands that wait for others");
    wait_until([&] { return queue.waiting_count.load(std::memory_order_acquire) == 0; });
}

void scheduler::wait_for_outcomes(_cl_command_queue& queue) {
    if (queue.unheard_count.load(std::memory_order_acquire) == 0) return;
    const watchdog::wait waiting("the end of a collective");
    wait_until([&] { return queue.unheard_count.load(std::memory_order_acquire) == 0; });
}

void scheduler::watch(_cl_event& event) {
    m_idle = false;
    if (!event.watched) {
        event.watched = true;
        m_watched.emplace_back(&event);
    }
    const auto raw = event.raw();
    if (raw == nullptr || event.rings) return;
    event.rings = true;
    event.queue->flush();
    // An event has to be held around its own callback, which comes after its status has changed. One that fails on
    // PoCL 3.1 is never called back, and stays.
    (void)calls_of(raw).clRetainEvent(raw);
    if (calls_of(raw).clSetEventCallback(raw, CL_COMPLETE, ring_scheduler, nullptr) != CL_SUCCESS)
        (void)calls_of(raw).clReleaseEvent(raw);
}

bool scheduler::step(looks at) {
    const bool any_left = let_go_of_called_back();
    bool moved = false;
    {
        std::unique_lock lock(m_mutex);
        moved = look_at_watched(lock);
        if (at == looks::at_all || moved) {
            // By index: queues come while the lock is given away.
            for (std::size_t i = 0; i < m_busy.size(); ++i) {
                const auto queue = m_busy[i];
                moved = issue_ready(*queue, lock) || moved;
            }
            let_go_of_empty_queues(lock);
        }
        moved = look_at_late(lock) || moved;
        m_idle = !moved && !any_left && m_busy.empty() && m_watched.empty() && m_late.empty();
        if (m_idle) m_settled.notify_all();
    }
    if (moved) announce();
    return moved;
}

void scheduler::run() {
    auto moved_at = std::chrono::steady_clock::now();
    auto pause = std::chrono::microseconds(20);
    const auto is_stopping = [this] {
        const std::lock_guard lock(m_changed_mutex);
        return m_stopping;
    };
    auto next = looks::at_all;
    while (!is_stopping()) {
        if (step(next)) {
            moved_at = std::chrono::steady_clock::now();
            pause = std::chrono::microseconds(20);
            next = looks::at_all;
            continue;
        }
        bool idle = false;
        auto longest = std::chrono::microseconds(longest_pause_without_drivers);
        {
            const std::lock_guard lock(m_mutex);
            idle = m_idle;
            if (m_asked != 0) longest = std::max<std::chrono::microseconds>(longest_pause, m_asked * pause_per_event);
        }
        std::unique_lock lock(m_bell_mutex);
        const auto rung = [this] { return m_rung; };
        if (idle) {
            m_bell.wait(lock, rung);
        } else if (!m_rung && !processors::are_few() && std::chrono::steady_clock::now() - moved_at < hot) {
            lock.unlock();
            std::this_thread::yield();
            continue;
        } else if (!m_bell.wait_for(lock, std::min(pause, longest), rung)) {
            pause = std::min(pause * 2, longest);
        }
        next = std::exchange(m_rung, false) ? looks::at_all : looks::at_events;
    }
    thread_ends();
}

void scheduler::thread_ends() {
    {
        const std::lock_guard lock(m_changed_mutex);
        --m_running;
    }
    m_changed.notify_all();
}

void scheduler::let_go_of_empty_queues(std::unique_lock<std::mutex>& lock) {
    const auto empty = std::partition(m_busy.begin(), m_busy.end(), [](const auto& queue) {
        return queue->waiting_count.load(std::memory_order_relaxed) != 0;
    });
    std::vector<ref<_cl_command_queue>> let_go(std::make_move_iterator(empty), std::make_move_iterator(m_busy.end()));
    m_busy.erase(empty, m_busy.end());
    if (let_go.empty()) return;
    lock.unlock();
    let_go.clear();
    lock.lock();
}

bool scheduler::issue_ready(_cl_command_queue& queue, std::unique_lock<std::mutex>& lock) {
    bool moved = false;
    for (std::size_t at = 0; at < queue.waiting.size();) {
        auto& next = queue.waiting[at];
        if (at > 0 && (queue.in_order() || next.order.after_all)) break;
        raw_waits raws;
        const auto found = look_at_all(next, queue, raws, asks::unwatched);
        if (found.what == obstacle::sort::not_yet) {
            watch(*found.event);
            if (queue.in_order() || next.order.before_all) break;
            ++at;
            continue;
        }
        auto command = std::move(next);
        queue.waiting.erase(queue.waiting.begin() + static_cast<std::ptrdiff_t>(at));
        // Drivers may run the command, and with it code of the program, inside the call.
        lock.unlock();
        carry_out(queue, std::move(command), found, raws);
        lock.lock();
        queue.waiting_count.fetch_sub(1, std::memory_order_release);
        moved = true;
    }
    return moved;
}

void scheduler::carry_out(_cl_command_queue& queue, waiting_command command, const obstacle& found,
                          const raw_waits& raws) {
    auto& event = *command.event;
    if (found.what == obstacle::sort::failed) {
        event.finish(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        return;
    }
    cl_event raw = nullptr;
    const auto code = guard([&] { return command.issue(CL_FALSE, raws.count(), raws.list(), &raw); });
    if (code != CL_SUCCESS || raw == nullptr) {
        queue.refuse(code);
        event.finish_now(code);
        return;
    }
    event.issued_as(raw, raws.count() != 0);
    queue.flush();
}

bool scheduler::look_at_watched(std::unique_lock<std::mutex>& lock) {
    std::vector<ref<_cl_event>> over;
    std::vector<std::pair<ref<_cl_event>, std::function<void(cl_int)>>> actions;
    bool any_ended = false;
    m_asked = 0;
    std::erase_if(m_watched, [&](ref<_cl_event>& event) {
        watch(*event); // its driver may have it by now
        if (event->raw() != nullptr && event->known_end() > CL_COMPLETE) ++m_asked;
        const auto status = event->status();
        // The platform goes on at once; the program sees the end when what is in front has ended here, too.
        const auto seen = event->seen_status();
        std::erase_if(event->callbacks, [&](const _cl_event::callback& callback) {
            if (seen > callback.at) return false;
            const std::lock_guard lock(m_due_mutex);
            m_due.push_back({event, seen < 0 ? seen : callback.at, callback});
            m_due_bell.notify_one();
            return true;
        });
        if (status > CL_COMPLETE) return false;
        any_ended = any_ended || !std::exchange(event->end_is_noticed, true);
        for (auto& action : event->actions) actions.emplace_back(event, std::move(action));
        event->actions.clear();
        if (seen > CL_COMPLETE) return false;
        event->watched = false;
        over.push_back(std::move(event));
        return true;
    });
    if (over.empty() && actions.empty()) return any_ended;
    lock.unlock();
    for (const auto& [event, action] : actions) action(event->known_end());
    actions.clear();
    over.clear();
    lock.lock();
    return true;
}

bool scheduler::look_at_late(std::unique_lock<std::mutex>& lock) {
    const auto first = std::stable_partition(m_late.begin(), m_late.end(),
                                             [](const late_action& one) { return !are_over(one.behind); });
    std::vector<late_action> due(std::make_move_iterator(first), std::make_move_iterator(m_late.end()));
    m_late.erase(first, m_late.end());
    if (due.empty()) return false;
    lock.unlock();
    for (const auto& one : due) one.act();
    due.clear();
    lock.lock();
    return true;
}

void scheduler::run_callbacks() {
    std::unique_lock lock(m_due_mutex);
    for (;;) {
        m_due_bell.wait(lock, [this] { return !m_due.empty() || !m_calls_back; });
        if (!m_calls_back) break;
        {
            const auto due = std::move(m_due.front());
            m_due.pop_front();
            lock.unlock();
            const cluster::callback called;
            due.callback.call(due.event.get(), due.status, due.callback.data);
        }
        lock.lock();
    }
    lock.unlock();
    thread_ends();
}

} // namespace causeway::platform
