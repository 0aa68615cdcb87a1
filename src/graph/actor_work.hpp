// SPDX-License-Identifier: Apache-2.0
// How an actor fires: by commands in its lane's queue, or in the calling thread.
#pragma once

#include "cl/calls.hpp"
#include "graph/firing_rules.hpp"
#include "graph/rings.hpp"
#include "graph/work.hpp"

#include <memory>
#include <span>
#include <vector>

namespace causeway::graph {

/// Which commands of a firing have events.
enum class told { nothing, end, every_command };
/// Whether a command is the last of its firing.
enum class chain_position { before_others, last };

/// Commands of one firing in an in-order queue: the first has the wait list, the last one's event is the firing's.
class command_chain {
  public:
    /// Appends the events of the commands that `wanted` names to `events`, in order.
    command_chain(cl_command_queue queue, std::span<const cl_event> waits, told wanted, std::vector<cl::event>& events)
        : m_queue(queue), m_waits(waits), m_wanted(wanted), m_events(events) {}

    /// Calls `enqueue(queue, count, list, event)`. Throws transfer_error, naming `what`, for a code but CL_SUCCESS.
    template <class Enqueue> void add(const char* what, chain_position where, Enqueue enqueue) {
        const bool tells = m_wanted == told::every_command || (m_wanted == told::end && where == chain_position::last);
        cl_event made = nullptr;
        const auto count = static_cast<cl_uint>(m_waits.size());
        cl::check(enqueue(m_queue, count, count == 0 ? nullptr : m_waits.data(), tells ? &made : nullptr), what);
        m_waits = {};
        if (tells) m_events.push_back(cl::event::adopt(made));
    }

  private:
    cl_command_queue m_queue;
    std::span<const cl_event> m_waits;
    told m_wanted;
    std::vector<cl::event>& m_events;
};

enum class firing_result { done, end_of_stream };

class actor_work {
  public:
    virtual ~actor_work() = default;
    /// Enqueues the firing's commands; on the host's lane, does the work before it returns. At the end of the stream
    /// does nothing. Throws on failure.
    virtual firing_result fire(std::uint64_t number, command_chain& commands) = 0;
};

/// What the works of a graph are made of; outlives them.
struct work_parts {
    const description& described;
    const pipeline& compiled;
    const std::vector<device>& devices;
    const rings& memory;
    const std::vector<kernel_code>& kernels; ///< by node
    const std::vector<host_function>& functions; ///< by node
    const std::vector<stream_end>& streams; ///< by node
};

[[nodiscard]] std::unique_ptr<actor_work> make_work(const work_parts& parts, std::size_t actor);
[[nodiscard]] std::unique_ptr<actor_work> make_kernel_work(const work_parts& parts, std::size_t actor);

/// Enqueues commands that zero a range of a channel.
void fill_with_zeros(const rings& memory, const channel_range& range, command_chain& commands);

} // namespace causeway::graph
