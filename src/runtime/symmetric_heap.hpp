// SPDX-License-Identifier: Apache-2.0
// The symmetric heap of the process: its device's buffer, its addresses, and the heaps of the other PEs.
#pragma once

#include "cl/handles.hpp"
#include "comm/process_group.hpp"
#include "comm/shared_segment.hpp"
#include "endpoints/symmetric/heap.hpp"
#include "endpoints/symmetric/offset_allocator.hpp"
#include "endpoints/symmetric/symmetric_endpoint.hpp"

#include <CL/cl.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace causeway::capi {

/// Any thread.
class symmetric_heap {
  public:
    /// Collective. Throws transfer_error, on every PE if on one.
    static void start(cl_context context, cl_device_id device, MPI_Comm comm, std::size_t heap_bytes);
    /// Collective.
    static void finish();
    /// Throws transfer_error(invalid_operation) if there is none.
    [[nodiscard]] static std::shared_ptr<symmetric_heap> of_process();
    [[nodiscard]] static std::shared_ptr<symmetric_heap> of_process_if_any();

    symmetric_heap(cl_context context, cl_device_id device, MPI_Comm comm, std::size_t heap_bytes);

    [[nodiscard]] const std::shared_ptr<endpoints::heap>& memory() const { return m_heap; }
    [[nodiscard]] cl_context context() const { return m_context.get(); }
    [[nodiscard]] cl_mem buffer() const { return m_buffer.get(); }

    /// Collective; null if there is no room.
    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment);
    void free(void* address);

    /// The offset of `bytes` that lie in one allocation; `what` names them in the error. Throws transfer_error(invalid_value).
    [[nodiscard]] std::size_t locate(const void* address, std::size_t bytes, const char* what) const;
    /// The same, of a word that is aligned.
    [[nodiscard]] std::size_t locate_word(const void* address, std::size_t bytes, const char* what) const;
    void require_pe(int pe) const;
    /// How many bytes of the allocation that has `offset` lie behind that.
    [[nodiscard]] std::size_t bytes_from(std::size_t offset) const;
    /// Null for a buffer that is not the heap's, nor part of it.
    [[nodiscard]] void* address_of(cl_mem buffer, std::size_t offset) const;

    /// Moves `bytes` in a command of no queue, and waits for it. Throws transfer_error.
    static void run(std::unique_ptr<transfer::endpoint> source, std::unique_ptr<transfer::endpoint> target, std::size_t bytes);
    /// All PEs come together, and agree about `purpose`. Waits. Throws transfer_error.
    void meet(const endpoints::meeting_purpose& purpose) const;

  private:
    [[nodiscard]] std::byte* base() const { return m_heap->at(m_heap->pe(), 0); }

    cl::context m_context;
    std::unique_ptr<comm::process_group> m_group;
    std::vector<std::unique_ptr<comm::shared_segment>> m_segments; // by PE
    cl::buffer m_buffer;
    std::shared_ptr<endpoints::heap> m_heap;
    mutable std::mutex m_mutex; // guards m_allocator
    endpoints::offset_allocator m_allocator;
};

} // namespace causeway::capi
