// SPDX-License-Identifier: Apache-2.0
// Which events are transfers, and what is known of them.
#pragma once

#include "cl/handles.hpp"
#include "runtime/end_callbacks.hpp"
#include "transfer/command.hpp"
#include "transfer/engine.hpp"

#include <list>
#include <map>
#include <memory>
#include <mutex>

namespace causeway::endpoints {
struct matched_envelope;
}

namespace causeway::core {

/// A transfer as clGetTransferInfo knows it.
struct transfer_record {
    std::shared_ptr<transfer::command> command;
    cl_command_type type = 0;
    cl_command_queue queue = nullptr; // not retained: only the handle is given out, as for CL_EVENT_COMMAND_QUEUE
    cl_context context = nullptr;
    std::shared_ptr<endpoints::matched_envelope> envelope; // of a receive
    std::shared_ptr<end_callbacks> callbacks;
};

/// Holds a reference to each event until nobody else does, so that no other event gets the handle. Any thread.
class event_registry final : public transfer::progress_source {
  public:
    void add(cl::event event, transfer_record record);
    /// A record without a command if the event is no transfer's.
    [[nodiscard]] transfer_record find(cl_event event) const;

    /// Keeps a reference until the event's command has ended.
    void hold(cl::event event);

    bool poll(time_point) override { return false; }
    [[nodiscard]] bool busy() const override { return false; }
    bool trim(time_point now) override;

  private:
    struct entry {
        cl::event event;
        transfer_record record;
    };
    using entries = std::map<cl_event, entry>;

    void release_ended(std::size_t count);
    /// Removes, among the next `count` entries, those that nobody else refers to, and returns their number. Releases
    /// outside of the lock.
    std::size_t sweep(std::size_t count);

    mutable std::mutex m_mutex; // guards the rest
    entries m_entries;
    std::list<cl::event> m_held;
    cl_event m_swept = nullptr; // where the last sweep ended
    // Engine's thread only: events that a program keeps for ever are asked more and more rarely.
    std::chrono::milliseconds m_interval{100};
    time_point m_next_sweep;
};

} // namespace causeway::core
