// SPDX-License-Identifier: Apache-2.0
// One transfer as a command: what it waits for, what it moves, and what is known of it.
#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"
#include "transfer/flow.hpp"
#include "transfer/gate.hpp"
#include "transfer/stall.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace causeway::transfer {

class engine;

/// Learns once how a command ended, before anyone who waits for it. Called on the thread that drives the engine.
class completion_listener {
  public:
    virtual ~completion_listener() = default;
    virtual void completed(const failure& result) = 0;
    /// Called at the end of the same step: the transfers that waited for the command have started.
    virtual void step_over() {}
};

/// What clGetTransferInfo reports. A time is 0 until it is reached.
struct command_report {
    int status = status::queued;
    failure error;
    std::size_t bytes_moved[2] = {0, 0}; ///< by flow
    plan chosen;                         ///< of the first flow; strategy empty until planned
    time_point queued, submitted, started, ended;
};

/// Built by the C API, then handed to an engine. The public functions may be called from any thread.
class command final : private flow_owner, public std::enable_shared_from_this<command> {
  public:
    /// At least one flow. `listener` may be null.
    command(std::vector<std::unique_ptr<flow>> flows, std::shared_ptr<completion_listener> listener,
            std::vector<std::unique_ptr<gate>> gates = {}, std::vector<std::shared_ptr<command>> dependencies = {});

    /// Names it for users. Call before it is submitted.
    void is_called(const command_label& label) { m_label = label; }

    /// Blocks until the command is complete; returns its failure, if any. Spins for `patience`, then sleeps.
    failure wait(std::chrono::nanoseconds patience = {}) const;
    [[nodiscard]] bool complete() const;
    /// True once the listener's completed() and step_over() have returned.
    [[nodiscard]] bool is_told() const { return m_told; }
    [[nodiscard]] command_report report() const;
    /// Unique in its engine, from 1; 0 until it is submitted.
    [[nodiscard]] std::uint64_t number() const { return m_number; }

  private:
    friend class engine;
    enum class stage { gated, running, ended };

    void flow_ready() override;
    void flow_yields() override;

    std::vector<std::unique_ptr<flow>> m_flows;
    std::vector<std::unique_ptr<gate>> m_gates;
    struct opened_gate {
        std::unique_ptr<gate> which;
        time_point seen;
    };
    std::vector<opened_gate> m_opened; // for the timeline; empty without one
    std::vector<std::shared_ptr<command>> m_dependencies;
    std::shared_ptr<completion_listener> m_listener;

    std::uint64_t m_number = 0; // set by submit()
    command_label m_label;

    // Engine's thread only.
    engine* m_engine = nullptr;
    stage m_stage = stage::gated;
    std::uint64_t m_alone_since = 0; // the engine's count of starts, if nothing else was running then
    std::size_t m_open_dependencies = 0;
    std::vector<std::shared_ptr<command>> m_dependents;
    bool m_looked_at = true; // since it was admitted
    bool m_armed = false;
    bool m_hot_listed = false;
    bool m_ready_listed = false;
    time_point m_hot_until, m_gated_since;

    std::atomic<bool> m_told = false; // the listener knows; set under the lock
    mutable std::mutex m_mutex;       // guards m_report
    mutable std::condition_variable m_ended;
    command_report m_report;
};

} // namespace causeway::transfer
