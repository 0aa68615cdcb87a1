// SPDX-License-Identifier: Apache-2.0
// The collective commands of CL/cl_cluster.h: the steps that they are made of.
#pragma once

#include "platform/enqueue.hpp"
#include "platform/reduction.hpp"

#include <vector>

namespace causeway::platform {

/// A part of a buffer that a collective copies, or the sum of several such parts.
struct collective_part {
    ref<_cl_mem> memory;
    size_t offset = 0;
    _cl_command_queue* on = nullptr; ///< where it was made; a step on it goes there
    ref<_cl_event> made = {};        ///< null for a part of the program's own buffer
};

/// One call of a collective. Its copies and sums are ordinary commands, which all ranks follow; a part that many
/// devices read travels down a tree.
class collective {
  public:
    /// The queues share one context; checks the wait list against it. If the context does not span driver contexts, the
    /// driver alone orders commands, and the call comes after all earlier ones of the queues.
    collective(std::span<const cl_command_queue> queues, cl_command_type type, size_t bytes, cl_uint wait_count,
               const cl_event* waits);

    /// Bytes of `source` for a command on `reader`. If the context spans driver contexts, copies out only these bytes,
    /// unless the reader's driver context has them.
    [[nodiscard]] collective_part part_of(_cl_mem& source, size_t offset, _cl_command_queue& reader) const;
    /// As above, in a buffer of its own.
    [[nodiscard]] collective_part addend_of(_cl_mem& source, size_t offset, _cl_command_queue& reader) const;
    /// first op second, on the second's device.
    [[nodiscard]] collective_part combine(const collective_part& first, const collective_part& second,
                                          const reduction& how) const;
    /// Combines all parts, in pairs.
    [[nodiscard]] collective_part combine_all(std::vector<collective_part> parts, const reduction& how) const;
    /// The command that the program sees: `part` goes to `target`.
    [[nodiscard]] ref<_cl_event> deliver(const collective_part& part, _cl_command_queue& queue, _cl_mem& target,
                                         size_t offset) const;
    /// One event for several deliveries in a queue.
    [[nodiscard]] ref<_cl_event> all(_cl_command_queue& queue, const std::vector<ref<_cl_event>>& events) const;
    /// Gives the program its events, if it wants them, and orders later commands of the queues after them.
    void give(std::vector<ref<_cl_event>>& made, cl_event* list) const;

  private:
    /// If a step fails, makes the next clFinish of the affected queue return the code.
    void tell_queues(const std::vector<ref<_cl_event>>& made) const;
    [[nodiscard]] ref<_cl_event> copy(_cl_command_queue& on, cl_command_type type, const collective_part& from,
                                      _cl_mem& to, size_t offset) const;
    [[nodiscard]] ref<_cl_mem> room(_cl_command_queue& on) const;
    /// The program's wait list and the events of the parts, so that a failed part is not copied.
    [[nodiscard]] std::vector<cl_event> waits_on(std::initializer_list<const collective_part*> parts) const;

    std::span<const cl_command_queue> m_queues;
    _cl_context& m_context;
    cl_command_type m_type;
    size_t m_bytes;
    std::vector<cl_event> m_waits;
    std::vector<ref<_cl_event>> m_earlier; ///< markers in the queues
};

} // namespace causeway::platform
