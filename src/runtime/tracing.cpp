// SPDX-License-Identifier: Apache-2.0
// Names the process, and follows commands of the program to their ends.
#include "runtime/tracing.hpp"

#include "base/blocked_signals.hpp"
#include "base/host.hpp"
#include "base/launch.hpp"
#include "cl/calls.hpp"
#include "cl/command_times.hpp"
#include "trace/collection.hpp"

#include <causeway/causeway.h>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>

namespace causeway::core {

namespace {

/// A sample is good to a few microseconds, and clocks part by some ten in a second.
constexpr auto between_samples = std::chrono::milliseconds(500);
constexpr unsigned first_samples = 4;
constexpr auto between_first_samples = std::chrono::milliseconds(5);
/// Of a program that enqueues on and on.
constexpr std::size_t most_left_alone = 16;
/// A program that is killed loses the commands that ended so shortly before.
constexpr auto between_looks = std::chrono::milliseconds(100);
/// The driver may compile or allocate on the way to the first one, between the two looks at our clock.
constexpr auto longest_question = std::chrono::milliseconds(1);

/// What the launcher says; MPI is asked later, if it is used.
trace::identity own_identity(const options& settings, const monotonic_clock& clock) {
    trace::identity who;
    const auto launched = launch::rank();
    who.rank = launched.value_or(0);
    who.ranks = launch::ranks();
    who.job = settings.text(option::trace_job);
    if (who.job.empty()) {
        // Without a launcher nobody else belongs to the job, and the next one is another.
        who.job = launched ? launch::job()
                           : std::to_string(::getpid()) + "-" + std::to_string(clock.now().time_since_epoch().count());
        who.is_job_guessed = launched && !launch::is_job_told();
    }
    who.node = host_number();
    who.version = CAUSEWAY_VERSION;
    return who;
}

/// The one of this process.
std::atomic<tracing*> recording{nullptr};

} // namespace

std::unique_ptr<tracing> tracing::start(const options& settings, const monotonic_clock& clock) {
    const auto timeline = settings.text(option::trace);
    if (timeline.empty()) return nullptr;
    try {
        // The program may change its directory.
        const auto path = std::filesystem::absolute(timeline).string();
        trace::check_timeline(path);
        auto made = std::make_unique<tracing>(path, own_identity(settings, clock), settings[option::trace_size], clock);
        static const int registered = ::pthread_atfork(nullptr, nullptr, [] {
            if (auto* const of_parent = recording.load()) of_parent->m_ended = true;
        });
        (void)registered;
        recording = made.get();
        return made;
    } catch (const std::exception& refused) {
        warn_once(std::string("no timeline is recorded: ") + refused.what());
        return nullptr;
    }
}

tracing::tracing(std::string timeline, const trace::identity& who, std::uint64_t most_bytes,
                 const monotonic_clock& clock)
    : m_timeline(std::move(timeline)), m_clock(clock), m_part(m_timeline, who, most_bytes), m_engine(m_part, clock),
      m_calls(m_part, clock), m_program(m_part, clock) {}

std::unique_ptr<transfer::recorder> tracing::new_recorder() {
    return std::make_unique<trace::part_recorder>(m_part, m_clock);
}

void tracing::compare_clocks(cl_context context, cl_device_id device) {
    if (m_ended) return;
    const std::lock_guard lock(m_mutex);
    auto& known = m_clocks[device];
    const auto now = m_clock.now();
    if (known.refused || (!known.asked && now < known.next)) return;
    if (!known.asked) {
        ask(known, context, device);
        return;
    }
    if (cl::status_of(known.asked.get()) > CL_COMPLETE) return;
    const auto answer = cl::times_of(known.asked.get());
    known.asked = {};
    known.next = now + (++known.samples < first_samples ? between_first_samples : between_samples);
    known.refused = answer.queued == 0; // some runtimes do not say
    if (!known.refused && known.after - known.before < longest_question)
        m_program.clock_seen({answer.resource, answer.queued, known.before, known.after});
}

void tracing::ask(device_clock& clock, cl_context context, cl_device_id device) {
    static constexpr std::array<char, 8> bytes{};
    cl_int code = CL_SUCCESS;
    if (!clock.queue) {
        clock.queue = cl::queue::adopt(clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code));
        if (code == CL_SUCCESS)
            clock.buffer = cl::buffer::adopt(clCreateBuffer(context, CL_MEM_READ_WRITE, bytes.size(), nullptr, &code));
    }
    cl_event asked = nullptr;
    clock.before = m_clock.now();
    if (code == CL_SUCCESS)
        code = clEnqueueWriteBuffer(clock.queue.get(), clock.buffer.get(), CL_FALSE, 0, bytes.size(), bytes.data(), 0,
                                    nullptr, &asked);
    clock.after = m_clock.now();
    clock.asked = cl::event::adopt(asked);
    clock.refused = code != CL_SUCCESS || clFlush(clock.queue.get()) != CL_SUCCESS;
}

void tracing::watch(cl_event event, const char* name, std::span<const std::uint64_t> transfers) {
    if (m_ended) return;
    const std::lock_guard lock(m_mutex);
    m_watched.push_back({cl::event::share(event), name != nullptr ? name : "", ++m_last_watched});
    for (const auto each : transfers) m_program.command_waits(m_last_watched, each);
    // Each look is several calls of the driver, in the program's own time: not at commands that are hardly over yet.
    if (m_watched.size() > most_left_alone) look(2);
    if (!std::exchange(m_has_looker, true)) {
        const blocked_signals none;
        try {
            // It ends with the process, and so does all that it uses.
            std::thread([this] { look_on(); }).detach();
        } catch (const std::system_error&) {
            m_has_looker = false; // the next command tries again
        }
    }
    if (m_watched.size() == 1) m_first_watched.notify_one();
}

void tracing::command_over(cl_event event, const std::string& name) {
    const std::lock_guard lock(m_mutex);
    if (m_ended) return;
    // It stays the caller's: nothing is given back to a driver here.
    watched complete{cl::event::adopt(event), name, ++m_last_watched};
    (void)tell(complete);
    (void)complete.event.release();
}

bool tracing::call_over(const trace::host_call& what) {
    const std::lock_guard lock(m_calls_mutex);
    if (m_ended) return false;
    m_calls.call_over(what);
    return true;
}

void tracing::look_on() {
    for (;;) {
        std::size_t left = 0;
        {
            std::unique_lock lock(m_mutex);
            m_first_watched.wait(lock, [this] { return !m_watched.empty(); });
            left = m_watched.size();
        }
        std::this_thread::sleep_for(between_looks);
        // One by one: the program may have more to show.
        for (; left > 0; --left) {
            const std::lock_guard lock(m_mutex);
            if (m_looks_no_more || m_ended) return;
            look(1);
        }
    }
}

bool tracing::tell(const watched& which) {
    if (cl::status_of(which.event.get()) > CL_COMPLETE) return false;
    const auto found = cl::times_of(which.event.get());
    m_program.command_over({.number = which.number,
                            .queue = reinterpret_cast<std::uintptr_t>(found.queue),
                            .resource = found.resource,
                            .name = which.name.empty() ? found.name : std::string_view(which.name),
                            .queued = found.queued,
                            .submitted = found.submitted,
                            .started = found.started,
                            .ended = found.ended,
                            .seen = m_clock.now()});
    return true;
}

void tracing::look(std::size_t count) {
    for (auto left = std::min(count, m_watched.size()); left > 0; --left) {
        auto oldest = std::move(m_watched.front());
        m_watched.pop_front();
        // One that is not complete goes to the end, so that it does not keep the others.
        if (!tell(oldest)) m_watched.push_back(std::move(oldest));
    }
}

void tracing::look_at_last() {
    m_looks_no_more = true;
    const std::lock_guard lock(m_mutex);
    for (const auto& each : m_watched) (void)tell(each);
}

void tracing::end() {
    if (m_ended.exchange(true)) return;
    m_part.end();
    try {
        trace::add_part(m_timeline, m_part.path());
    } catch (const std::exception& refused) {
        warn_once(std::string("the timeline stays in ") + m_part.path() + ": " + refused.what());
    }
}

} // namespace causeway::core
