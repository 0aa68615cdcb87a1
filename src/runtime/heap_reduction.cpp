// SPDX-License-Identifier: Apache-2.0
// Elements are combined in the same order everywhere, so that sums of floating-point numbers agree on all PEs.
#include "runtime/heap_reduction.hpp"

#include "cl/calls.hpp"
#include "runtime/runtime.hpp"

#include <algorithm>
#include <utility>

namespace causeway::core {

namespace {

/// Of the device's memory, for what it combines at a time.
constexpr std::size_t most_bytes = std::size_t{32} << 20;
constexpr std::size_t group = 64;

} // namespace

heap_reduction::heap_reduction(std::shared_ptr<symmetric_heap> heap, const reduced_slice& slice,
                               const std::string& type, const std::string& combine)
    : m_heap(std::move(heap)), m_slice(slice), m_combining(static_cast<step_owner&>(*this)) {
    if (slice.count == 0) return;
    try {
        const auto pes = static_cast<std::size_t>(m_heap->memory()->pes());
        m_kernel = m_heap->combining_kernel(type, combine);
        m_queue = m_heap->kernel_queue();
        m_most = std::min(slice.count, std::max<std::size_t>(group, most_bytes / (pes * slice.element_bytes)));
        m_parts = m_heap->take_scratch(m_most * pes * slice.element_bytes);
    } catch (...) {
        m_refusal = current_failure();
    }
}

heap_reduction::~heap_reduction() {
    if (m_parts.buffer) m_heap->give_scratch(std::move(m_parts));
}

void heap_reduction::start(transfer::step& done) {
    m_done = &done;
    m_self = shared_from_this();
    if (m_refusal) {
        end(m_refusal);
    } else {
        next_part();
    }
}

void heap_reduction::next_part() {
    m_count = std::min(m_most, m_slice.count - m_first);
    if (m_count == 0) {
        end({});
        return;
    }
    const int pes = m_heap->memory()->pes();
    const auto bytes = m_count * m_slice.element_bytes;
    m_left = static_cast<std::size_t>(pes);
    const int own = m_heap->memory()->pe();
    for (int i = 1; i <= pes; ++i) {
        const int pe = (own + i) % pes; // else all would read from the same one at first
        auto to = endpoints::make_range_endpoint(runtime::instance().devices(), m_parts,
                                                 static_cast<std::size_t>(pe) * m_most * m_slice.element_bytes);
        m_heap->bring({.pe = pe, .offset = m_slice.source_offset + m_first * m_slice.element_bytes}, bytes,
                      std::move(to), [self = m_self](const failure& error) {
                          if (error && !self->m_failure) self->m_failure = error;
                          if (--self->m_left > 0) return;
                          if (self->m_failure) {
                              self->end(self->m_failure);
                          } else {
                              self->combine_part();
                          }
                      });
    }
}

void heap_reduction::combine_part() {
    m_heap->overwrite(
        m_slice.target_offset + m_first * m_slice.element_bytes, m_count * m_slice.element_bytes,
        [self = m_self](symmetric_heap::ended over) {
            self->m_combined = std::move(over);
            self->combine();
        },
        [self = m_self](const failure& error) {
            self->m_first += self->m_count;
            if (error) {
                self->end(error);
            } else {
                self->next_part();
            }
        });
}

void heap_reduction::combine() {
    try {
        const cl_mem target = m_heap->buffer(), parts = m_parts.buffer.get();
        const cl_ulong first = m_slice.target_offset / m_slice.element_bytes + m_first, stride = m_most,
                       count = m_count;
        const auto pes = static_cast<cl_uint>(m_heap->memory()->pes());
        cl_uint number = 0;
        const auto give = [&](const auto& value) {
            cl::check(clSetKernelArg(m_kernel.get(), number++, sizeof value, &value), "setting a reduction's argument");
        };
        give(target);
        give(first);
        give(parts);
        give(stride);
        give(pes);
        give(count);
        const std::size_t items = (m_count + group - 1) / group * group;
        cl_event running = nullptr;
        cl::check(
            clEnqueueNDRangeKernel(m_queue.get(), m_kernel.get(), 1, nullptr, &items, &group, 0, nullptr, &running),
            "starting a reduction's kernel");
        m_combining.begin();
        runtime::instance().copies().add_at_once(m_queue, cl::event::adopt(running),
                                                 m_slice.target_offset + m_first * m_slice.element_bytes,
                                                 m_count * m_slice.element_bytes, "reducing", m_combining);
    } catch (...) {
        combined(current_failure());
    }
}

void heap_reduction::combined(const failure& error) { std::exchange(m_combined, nullptr)(error); }

void heap_reduction::step_finished() { combined(m_combining.take().error); }

void heap_reduction::end(const failure& error) {
    const auto self = std::move(m_self);
    std::exchange(m_done, nullptr)->finish({0, error});
}

} // namespace causeway::core
