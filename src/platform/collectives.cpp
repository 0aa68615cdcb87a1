// SPDX-License-Identifier: Apache-2.0
// Copies and sums that come after all earlier commands on what they use, wherever those were enqueued.
#include "platform/collectives.hpp"

#include "platform/entry_points.hpp"

#include <algorithm>

namespace causeway::platform {

namespace {

template <class Issue> ref<_cl_event> enqueue_step(_cl_command_queue& on, cl_command_type type,
                                                   const std::vector<cl_event>& waits, std::span<const memory_use> uses,
                                                   Issue issue) {
    cl_event made = nullptr;
    const auto* const list = waits.empty() ? nullptr : waits.data();
    new_command command{on, type, CL_FALSE, static_cast<cl_uint>(waits.size()), list, &made, uses};
    command.apart = true;
    check(enqueue(command, std::move(issue)));
    return ref<_cl_event>::adopt(made);
}

bool has_failed(const std::vector<ref<_cl_event>>& waits) {
    return std::any_of(waits.begin(), waits.end(), [](const auto& wait) { return wait->known_end() < CL_COMPLETE; });
}

} // namespace

collective::collective(std::span<const cl_command_queue> queues, cl_command_type type, size_t bytes, cl_uint wait_count,
                       const cl_event* waits)
    : m_queues(queues), m_context(queues.front()->context), m_type(type), m_bytes(bytes) {
    require(bytes != 0, CL_INVALID_VALUE);
    check_command({*queues.front(), type, CL_FALSE, wait_count, waits});
    m_waits.assign(waits, waits + wait_count);
    if (m_context.spans() || queues.size() == 1) return;
    for (auto* const queue : queues) {
        m_earlier.push_back(enqueue_mark(*queue));
        m_waits.push_back(m_earlier.back().get());
    }
}

void collective::give(std::vector<ref<_cl_event>>& made, cl_event* list) const {
    if (!m_context.spans() && m_queues.size() > 1) {
        std::vector<cl_event> all;
        for (const auto& event : made) all.push_back(event.get());
        for (auto* const queue : m_queues)
            check(entry::clEnqueueBarrierWithWaitList(queue, static_cast<cl_uint>(all.size()), all.data(), nullptr));
    }
    tell_queues(made);
    for (size_t i = 0; i < made.size(); ++i) {
        name_one_of(*made[i], i);
        if (list != nullptr) list[i] = made[i].give();
    }
}

void collective::tell_queues(const std::vector<ref<_cl_event>>& made) const {
    if (!m_context.spans()) return; // a step that is refused has been refused in the call
    std::vector<ref<_cl_event>> waits;
    for (auto* const wait : m_waits) waits.emplace_back(wait);
    for (const auto& event : made) {
        if (!event->queue->where.here) continue;
        event->queue->unheard_count.fetch_add(1, std::memory_order_relaxed);
        // A wait list that fails is the program's affair; a step of the platform's own that fails, its queue hears of.
        scheduler::of_process().after(*event, [waits, queue = event->queue](cl_int status) {
            const auto tell = [waits, queue, status] {
                if (status < CL_COMPLETE && !has_failed(waits)) queue->refuse(status);
                queue->unheard_count.fetch_sub(1, std::memory_order_release);
            };
            // Another rank, which says how its part ended, may have set a user event that this one is still to set.
            if (status >= CL_COMPLETE || has_failed(waits)) return tell();
            scheduler::of_process().after_all(waits, tell);
        });
    }
}

ref<_cl_mem> collective::room(_cl_command_queue& on) const {
    auto made = ref<_cl_mem>::adopt(new _cl_mem(m_context, CL_MEM_OBJECT_BUFFER, CL_MEM_READ_WRITE, m_bytes, nullptr));
    if (!m_context.spans()) (void)made->raw(on.where);
    return made;
}

std::vector<cl_event> collective::waits_on(std::initializer_list<const collective_part*> parts) const {
    auto all = m_waits;
    for (const auto* part : parts)
        if (part->made) all.push_back(part->made.get());
    return all;
}

ref<_cl_event> collective::copy(_cl_command_queue& on, cl_command_type type, const collective_part& from, _cl_mem& to,
                                size_t offset) const {
    const bool whole = m_bytes == to.size;
    const memory_use uses[] = {{from.memory.get(), access::read}, {&to, whole ? access::overwrite : access::write}};
    return enqueue_step(on, type, waits_on({&from}), uses,
                        [&on, source = from.memory, target = ref<_cl_mem>(&to), first = from.offset, offset,
                         bytes = m_bytes](cl_bool, cl_uint waits, const cl_event* list, cl_event* event) {
                            return on.calls().clEnqueueCopyBuffer(on.raw.raw(), source->raw(on.where),
                                                                  target->raw(on.where), first, offset, bytes, waits,
                                                                  list, event);
                        });
}

collective_part collective::part_of(_cl_mem& source, size_t offset, _cl_command_queue& reader) const {
    const auto is_there = [&] {
        const std::lock_guard lock(m_context.order);
        const auto& latest = source.root().latest;
        return latest.empty() || std::find(latest.begin(), latest.end(), &reader.where) != latest.end();
    };
    if (m_context.spans() && m_bytes != source.root().size && !is_there()) return addend_of(source, offset, reader);
    return {ref<_cl_mem>(&source), offset, &reader};
}

collective_part collective::addend_of(_cl_mem& source, size_t offset, _cl_command_queue& reader) const {
    auto* on = &reader;
    if (m_context.spans()) {
        const std::lock_guard lock(m_context.order);
        const auto& latest = source.root().latest;
        on = (latest.empty() ? reader.where : *latest.front()).steps.get();
    }
    collective_part made{room(*on), 0, on};
    made.made = copy(*on, CL_COMMAND_COPY_BUFFER, {ref<_cl_mem>(&source), offset, on}, *made.memory, 0);
    return made;
}

collective_part collective::combine(const collective_part& first, const collective_part& second,
                                    const reduction& how) const {
    auto& on = *second.on;
    collective_part made{room(on), 0, &on};
    const memory_use uses[] = {{first.memory.get(), access::read},
                               {second.memory.get(), access::read},
                               {made.memory.get(), access::overwrite}};
    made.made = enqueue_step(on, CL_COMMAND_NDRANGE_KERNEL, waits_on({&first, &second}), uses,
                             [&on, first = first.memory, second = second.memory, result = made.memory, how,
                              bytes = m_bytes](cl_bool, cl_uint waits, const cl_event* list, cl_event* event) {
                                 return enqueue_reduction(on.where, on.raw.raw(), how, first->raw(on.where),
                                                          second->raw(on.where), result->raw(on.where), bytes, waits,
                                                          list, event);
                             });
    return made;
}

collective_part collective::combine_all(std::vector<collective_part> parts, const reduction& how) const {
    for (size_t step = 1; step < parts.size(); step *= 2)
        for (size_t i = 0; i + step < parts.size(); i += 2 * step) parts[i] = combine(parts[i + step], parts[i], how);
    return parts.front();
}

ref<_cl_event> collective::deliver(const collective_part& part, _cl_command_queue& queue, _cl_mem& target,
                                   size_t offset) const {
    return copy(queue, m_type, part, target, offset);
}

ref<_cl_event> collective::all(_cl_command_queue& queue, const std::vector<ref<_cl_event>>& events) const {
    std::vector<cl_event> waits;
    for (const auto& event : events) waits.push_back(event.get());
    return enqueue_step(queue, m_type, waits, {},
                        [&queue](cl_bool, cl_uint count, const cl_event* list, cl_event* event) -> cl_int {
                            if (count == 0 && !queue.in_order()) return CL_SUCCESS; // would wait for the whole queue
                            return queue.calls().clEnqueueMarkerWithWaitList(queue.raw.raw(), count, list, event);
                        });
}

} // namespace causeway::platform
