// SPDX-License-Identifier: Apache-2.0
// Looks at events of OpenCL implementations, and asks for callbacks in a way that survives everything.
#include "endpoints/device/event_gate.hpp"

#include "cl/calls.hpp"
#include "cl/command_times.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace causeway::endpoints {

namespace {

/// Finds an engine by number. A driver's callback gets two numbers, of an engine and a command, and no pointer: it may
/// come at any time, or never (PoCL 3.1, for failed events), so memory behind a pointer could be gone or leak. Never
/// destroyed, because a driver's thread may still call back while the process ends.
class waker_table {
  public:
    static waker_table& instance() {
        static auto* const table = std::make_unique<waker_table>().release();
        return *table;
    }

    std::size_t number_of(const std::shared_ptr<transfer::waker>& engine) {
        const std::lock_guard lock(m_mutex);
        for (std::size_t i = 0; i < m_engines.size(); ++i)
            if (m_engines[i].lock() == engine) return i;
        m_engines.push_back(engine);
        return m_engines.size() - 1;
    }

    std::shared_ptr<transfer::waker> find(std::size_t number) {
        const std::lock_guard lock(m_mutex);
        return m_engines[number].lock();
    }

  private:
    std::mutex m_mutex; // guards m_engines
    std::vector<std::weak_ptr<transfer::waker>> m_engines;
};

constexpr unsigned command_bits = 48;

/// Runs in the implementation's thread, perhaps under its locks: no OpenCL call in here.
void CL_CALLBACK opened(cl_event, cl_int, void* argument) {
    const auto both = reinterpret_cast<std::uintptr_t>(argument);
    const auto engine = waker_table::instance().find(both >> command_bits);
    if (engine) engine->wake(both & ((std::uintptr_t{1} << command_bits) - 1));
}

class event_gate final : public transfer::gate {
  public:
    event_gate(cl::event watched, on_failure meaning) : m_event(std::move(watched)), m_meaning(meaning) {}

    [[nodiscard]] state look() override {
        const auto status = cl::status_of(m_event.get());
        if (status > CL_COMPLETE) {
            submit_its_queue();
            return state::closed;
        }
        if (status == CL_COMPLETE && !failed_in_disguise()) return state::open;
        return m_meaning == on_failure::open ? state::open : state::failed;
    }

    void arm(const std::shared_ptr<transfer::waker>& engine, std::uint64_t command) override {
        wake_when_complete(m_event.get(), engine, command);
    }

    [[nodiscard]] std::optional<transfer::command_span> waited_for(time_point seen) override {
        const auto found = cl::times_of(m_event.get());
        if (found.name.empty()) return {}; // a user event: whoever sets it is not seen
        return transfer::command_span{.queue = reinterpret_cast<std::uintptr_t>(found.queue),
                                      .resource = found.resource,
                                      .name = found.name,
                                      .queued = found.queued,
                                      .submitted = found.submitted,
                                      .started = found.started,
                                      .ended = found.ended,
                                      .seen = seen};
    }

  private:
    [[nodiscard]] bool failed_in_disguise() const {
        if (m_meaning != on_failure::fail_even_hidden) return false;
        const cl_event raw = m_event.get();
        return clWaitForEvents(1, &raw) != CL_SUCCESS;
    }

    /// A command that waits for one in another queue needs that queue flushed (OpenCL 1.2, section 5.13); we wait
    /// outside of any queue, so we see to it. Once is enough: it was enqueued before.
    void submit_its_queue() {
        if (m_submitted) return;
        cl_command_queue queue = nullptr;
        m_submitted = clGetEventInfo(m_event.get(), CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, nullptr) ==
                          CL_SUCCESS &&
                      (queue == nullptr || clFlush(queue) == CL_SUCCESS);
    }

    cl::event m_event;
    on_failure m_meaning;
    bool m_submitted = false;
};

} // namespace

void wake_when_complete(cl_event event, const std::shared_ptr<transfer::waker>& engine, std::uint64_t command) {
    const auto both = (waker_table::instance().number_of(engine) << command_bits) | command;
    // Without a callback the engine still looks now and then.
    (void)clSetEventCallback(event, CL_COMPLETE, opened, reinterpret_cast<void*>(both));
}

std::unique_ptr<transfer::gate> make_event_gate(cl::event watched, on_failure meaning) {
    return std::make_unique<event_gate>(std::move(watched), meaning);
}

} // namespace causeway::endpoints
