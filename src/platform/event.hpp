// SPDX-License-Identifier: Apache-2.0
// An event of the platform: a user event, or a command that a driver has or that still waits here.
#pragma once

#include "platform/context.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <vector>

namespace causeway::platform {

/// How a command ended, as ranks tell each other.
struct command_end {
    cl_int status = CL_COMPLETE;
    cl_int times_code = CL_PROFILING_INFO_NOT_AVAILABLE;
    std::array<cl_ulong, 4> times{}; ///< queued, submitted, started, ended
    bool passes_users = false;       ///< see behind.hpp

    [[nodiscard]] cl_int time(cl_profiling_info what, cl_ulong& time) const;
};

} // namespace causeway::platform

struct _cl_event final : causeway::platform::object {
    static constexpr auto own_kind = causeway::platform::kind::event;

    struct callback {
        cl_int at;
        void(CL_CALLBACK* call)(cl_event, cl_int, void*);
        void* data;
    };

    /// Who ends a command. driver: its driver. foreign: the platform, on the rank that runs it; no driver may wait for
    /// it. every_rank: each rank of a cluster for itself.
    enum class ender { driver, foreign, every_rank };

    /// A user event.
    explicit _cl_event(_cl_context& of);
    /// A command that no driver has yet, in the program's queue `in`. It runs on the queue's rank, or `on_rank`.
    _cl_event(_cl_command_queue& in, cl_command_type what, ender who = ender::driver);
    _cl_event(_cl_command_queue& in, cl_command_type what, ender who, int on_rank);

    /// The driver has accepted the command as `raw`, with a wait list of its own if `had_waits`. Call once.
    void issued_as(cl_event raw, bool had_waits);
    /// Ends the command, whether or not a driver had it. Only the first call counts; true for that one.
    bool finish(cl_int status);

    /// CL_QUEUED ... CL_COMPLETE, or a negative code. Asks the driver if it has the command.
    [[nodiscard]] cl_int status();
    /// As finish(), with status and times from another rank. On the message thread, or before the event is shared.
    void finish_as(const causeway::platform::command_end& end);
    /// Ends a command that its driver has refused, or that needs none; its times come from the host's clock.
    void finish_now(cl_int status);
    /// What other ranks are told of a command that is over here.
    [[nodiscard]] causeway::platform::command_end end();
    /// A profiling time, if this rank knows it.
    [[nodiscard]] cl_int known_time(cl_profiling_info what, cl_ulong& time);

    /// The final status if known, else 1. Asks no driver.
    [[nodiscard]] cl_int known_end() const { return m_end.load(std::memory_order_acquire); }
    /// As status(), but CL_RUNNING until every event in `behind` is over: what the program sees.
    [[nodiscard]] cl_int seen_status();
    [[nodiscard]] bool over() { return status() <= CL_COMPLETE; }
    /// The driver's event; null if there is none (yet).
    [[nodiscard]] cl_event raw() const { return m_issued.load(std::memory_order_acquire) ? m_raw.raw() : nullptr; }
    [[nodiscard]] bool is_users() const { return type == CL_COMMAND_USER; }

    const causeway::platform::ref<_cl_context> context;
    const causeway::platform::ref<_cl_command_queue> queue; ///< null for user events
    const cl_command_type type;
    const causeway::platform::driver_context* const where; ///< the driver context whose driver may wait for it; null:
                                                           ///< none
    /// Rank that runs the command; -1 if every rank ends it for itself.
    const int rank;
    /// The rank that knows its status first.
    [[nodiscard]] int owner() const;

    std::atomic<cl_int> told_program{1 + CL_QUEUED}; ///< the last status that the program was given

    // The rest belongs to the scheduler, under its mutex.
    std::vector<callback> callbacks;
    // In a cluster, under the context's order.
    std::vector<int> told; ///< ranks to which tell() sends its end
    bool told_all = false;
    /// In a cluster: earlier reads and user events that must be over on this rank before the program sees this one
    /// over; see behind.hpp. Set before the event is shared.
    std::vector<causeway::platform::ref<_cl_event>> behind;

    bool watched = false;
    bool end_is_noticed = false; ///< the scheduler has seen its end, and has looked at what waits for it or is about to
    bool rings = false; ///< the driver has been asked to call back
    std::vector<std::function<void(cl_int)>> actions; ///< of the platform, for when the command is over

  private:
    static constexpr cl_int not_over = 1;
    std::atomic<cl_int> m_end{not_over};
    std::atomic<bool> m_issued{false};
    bool m_had_waits = false;
    causeway::platform::command_end m_told; ///< the end that another rank sent; written before m_end
    causeway::platform::driver_object<cl_event> m_raw;
};
