// SPDX-License-Identifier: Apache-2.0
// A command queue of the platform: the driver's queue, and commands that may not go to it yet.
#pragma once

#include "platform/event.hpp"

#include <deque>
#include <memory>
#include <type_traits>

namespace causeway::platform {

/// Type-erased callable that hands a command to its driver: issue(blocking, event count, driver's events, event out or
/// null). Called at most once, on any thread. If the callable has a detach(), it is called before the command is
/// deferred, to copy what the program may change after its call.
class issue_function {
  public:
    template <class Issue>
        requires(!std::is_same_v<std::decay_t<Issue>, issue_function>)
    issue_function(Issue issue) : m_held(std::make_unique<holder<Issue>>(std::move(issue))) {}

    cl_int operator()(cl_bool blocking, cl_uint count, const cl_event* list, cl_event* event) {
        return m_held->call(blocking, count, list, event);
    }
    void detach() { m_held->detach(); }

  private:
    struct any {
        virtual ~any() = default;
        virtual cl_int call(cl_bool, cl_uint, const cl_event*, cl_event*) = 0;
        virtual void detach() = 0;
    };
    template <class Issue> struct holder final : any {
        explicit holder(Issue held) : issue(std::move(held)) {}
        cl_int call(cl_bool blocking, cl_uint count, const cl_event* list, cl_event* event) override {
            return issue(blocking, count, list, event);
        }
        void detach() override {
            if constexpr (requires { issue.detach(); }) issue.detach();
        }
        Issue issue;
    };
    std::unique_ptr<any> m_held;
};

/// Order of a command among those of an out-of-order queue that still wait.
struct queue_order {
    bool after_all = false; ///< issued after all that were enqueued before
    bool before_all = false; ///< issued before all that are enqueued later
};

struct waiting_command {
    ref<_cl_event> event;
    std::vector<ref<_cl_event>> waits; ///< a failed one fails the command
    std::vector<ref<_cl_event>> orders; ///< these must only be over
    ref<_cl_event> filling; ///< must be over before the driver gets the command, see new_command
    issue_function issue;
    queue_order order;
};

} // namespace causeway::platform

struct _cl_command_queue final : causeway::platform::object {
    static constexpr auto own_kind = causeway::platform::kind::queue;

    enum class owner { program, context };
    /// Holds the context, except if the context owns the queue. Throws the driver's code.
    _cl_command_queue(owner whose, _cl_context& of, _cl_device_id& on, causeway::platform::driver_context& at,
                      cl_command_queue_properties as);

    ~_cl_command_queue();

    _cl_context& context;
    const causeway::platform::ref<_cl_context> held_context;
    const causeway::platform::ref<_cl_device_id> device;
    causeway::platform::driver_context& where; // may be gone before the queue
    const causeway::platform::driver& driver;
    const cl_command_queue_properties properties;
    std::vector<cl_queue_properties> property_list; ///< as given to clCreateCommandQueueWithProperties
    causeway::platform::driver_object<cl_command_queue> raw; ///< null on a device of another rank
    /// The driver's code for the first deferred command that it refused. The next clFinish returns it.
    std::atomic<cl_int> refused{CL_SUCCESS};
    void refuse(cl_int code) {
        cl_int none = CL_SUCCESS;
        refused.compare_exchange_strong(none, code);
    }
    /// Whether a command has failed by its wait list before all that it is behind was over. See behind.hpp.
    std::atomic<bool> has_failed_waits{false};
    /// Whether one of its commands comes behind a user event, set or not: the same on every rank of a cluster.
    std::atomic<bool> is_behind_users{false};
    // In a cluster, guarded by the context's `order`: events that all its commands, and those before its last barrier,
    // are behind. See behind.hpp.
    std::vector<causeway::platform::ref<_cl_event>> behind, behind_barrier;

    [[nodiscard]] bool in_order() const { return (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0; }
    [[nodiscard]] const cl_icd_dispatch& calls() const { return where.calls(); }
    void flush() const {
        if (raw) (void)calls().clFlush(raw.raw());
    }

    std::atomic<unsigned> waiting_count{0}; ///< length of `waiting`, to read without the lock
    std::deque<causeway::platform::waiting_command> waiting; // the scheduler's mutex guards it
    /// Parts of collectives whose end this queue does not know yet; while above 0, `refused` may still change.
    std::atomic<unsigned> unheard_count{0};
};
