// SPDX-License-Identifier: Apache-2.0
// An event of the platform: a user event, a command that a driver has, or one that still waits for its turn.
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

    /// Who ends a command: its driver; the platform, on the rank that runs it, where no driver may wait for it; or each
    /// rank of a cluster by itself.
    enum class ender { driver, foreign, every_rank };

    /// A user event.
    explicit _cl_event(_cl_context& of);
    /// A command that no driver has yet, which the program sees in `in`. It may run on another rank than the queue's.
    _cl_event(_cl_command_queue& in, cl_command_type what, ender who = ender::driver);
    _cl_event(_cl_command_queue& in, cl_command_type what, ender who, int on_rank);

    /// The driver has the command, as `raw`; `had_waits`: behind events of its own. Once.
    void issued_as(cl_event raw, bool had_waits);
    /// Ends the command, whether or not a driver had it. The first call counts; returns whether this was it.
    bool finish(cl_int status);

    /// CL_QUEUED ... CL_COMPLETE, or a negative code. Asks the driver if it has the command.
    [[nodiscard]] cl_int status();
    /// As finish(), with what another rank says. In the thread of messages, or before anybody else has the event.
    void finish_as(const causeway::platform::command_end& end);
    /// A command that its driver has refused, or that needs none, is over. Its times are the host's then.
    void finish_now(cl_int status);
    /// What other ranks are told of a command that is over here.
    [[nodiscard]] causeway::platform::command_end end();
    /// A time of the command that this rank knows.
    [[nodiscard]] cl_int known_time(cl_profiling_info what, cl_ulong& time);

    /// The status if it is final and known to be so; 1 else. Asks nobody.
    [[nodiscard]] cl_int known_end() const { return m_end.load(std::memory_order_acquire); }
    /// As status(), but running as long as something is not over that it is behind.
    [[nodiscard]] cl_int seen_status();
    [[nodiscard]] bool over() { return status() <= CL_COMPLETE; }
    /// The driver's event; null as long as, or if, there is none.
    [[nodiscard]] cl_event raw() const { return m_issued.load(std::memory_order_acquire) ? m_raw.raw() : nullptr; }
    [[nodiscard]] bool is_users() const { return type == CL_COMMAND_USER; }

    const causeway::platform::ref<_cl_context> context;
    const causeway::platform::ref<_cl_command_queue> queue; ///< null for user events
    const cl_command_type type;
    const causeway::platform::driver_context* const where; ///< whose driver may wait for it; null if none may
    /// Where the command runs, in a cluster; -1 if every rank sees it end by itself.
    const int rank;
    /// The rank that knows its status first.
    [[nodiscard]] int owner() const;

    std::atomic<cl_int> told_program{1 + CL_QUEUED}; ///< the last status that the program has asked for

    // The rest belongs to the scheduler, under its mutex.
    std::vector<callback> callbacks;
    // In a cluster, under the context's order.
    std::vector<int> told; ///< the ranks that hear of its end
    bool told_all = false;
    /// In a cluster: the reads and user events in front of it, see behind.hpp. The program does not see it over on a
    /// rank before these are. Set before anybody else has the event.
    std::vector<causeway::platform::ref<_cl_event>> behind;

    bool watched = false;
    bool end_is_noticed = false; ///< while it was watched: what waits for it has been looked at, or is next
    bool rings = false; ///< the driver has been asked to call back
    std::vector<std::function<void(cl_int)>> actions; ///< of the platform, for when the command is over

  private:
    static constexpr cl_int not_over = 1;
    std::atomic<cl_int> m_end{not_over};
    std::atomic<bool> m_issued{false};
    bool m_had_waits = false;
    causeway::platform::command_end m_told; ///< by another rank, before m_end was
    causeway::platform::driver_object<cl_event> m_raw;
};
