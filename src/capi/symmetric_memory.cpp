// SPDX-License-Identifier: Apache-2.0
// The symmetric heap: its begin and end, its memory and addresses.
#include "runtime/guard.hpp"
#include "runtime/symmetric_allocation.hpp"
#include "runtime/symmetric_heap.hpp"

#include <causeway/symmetric.h>

using namespace causeway;
using namespace causeway::core;

namespace {

/// Null, with the text of the failure, for what throws.
template <class Action> void* address_or_null(Action action) {
    void* found = nullptr;
    (void)guard([&] {
        found = action();
        return CL_SUCCESS;
    });
    return found;
}

} // namespace

cl_int causeway_symmetric_init(cl_context context, cl_device_id device, MPI_Comm comm, size_t heap_bytes) {
    return guard([&] {
        symmetric_heap::start(context, device, comm, heap_bytes);
        return CL_SUCCESS;
    });
}

cl_int causeway_symmetric_finalize(void) {
    return guard([&] {
        symmetric_heap::finish();
        return CL_SUCCESS;
    });
}

cl_int causeway_symmetric_give_up(void) {
    return guard([&] {
        symmetric_heap::give_up();
        return CL_SUCCESS;
    });
}

int causeway_symmetric_pe(void) {
    const auto heap = symmetric_heap::of_process_if_any();
    return heap ? heap->memory()->pe() : -1;
}

int causeway_symmetric_pes(void) {
    const auto heap = symmetric_heap::of_process_if_any();
    return heap ? heap->memory()->pes() : -1;
}

void* causeway_symmetric_malloc(size_t bytes) { return causeway_symmetric_align(1, bytes); }

void* causeway_symmetric_align(size_t alignment, size_t bytes) {
    return address_or_null([&] { return symmetric_heap::in_use()->allocate(1, bytes, alignment); });
}

void* causeway_symmetric_calloc(size_t count, size_t bytes) {
    return address_or_null([&] { return symmetric_heap::in_use()->allocate_zeros(count, bytes); });
}

cl_int causeway_symmetric_free(void* address) {
    return guard([&] {
        symmetric_heap::in_use()->free(address);
        return CL_SUCCESS;
    });
}

cl_mem causeway_symmetric_buffer(const void* address, size_t* offset, cl_int* errcode_ret) {
    cl_mem found = nullptr;
    const auto code = guard([&] {
        const auto heap = symmetric_heap::of_process();
        const auto where = heap->locate(address, 1, "the address");
        if (offset != nullptr) *offset = where;
        found = heap->buffer();
        return CL_SUCCESS;
    });
    if (errcode_ret != nullptr) *errcode_ret = code;
    return found;
}

extern "C" __attribute__((visibility("default"))) bool causeway_symmetric_allocation(const void* address,
                                                                                     symmetric_allocation* found) {
    const auto heap = symmetric_heap::of_process_if_any();
    const auto allocation = heap ? heap->allocation_of(address) : std::nullopt;
    if (allocation) *found = *allocation;
    return allocation.has_value();
}

void* causeway_symmetric_pointer(const void* address, int pe) {
    return address_or_null([&]() -> void* {
        const auto heap = symmetric_heap::of_process();
        const auto where = heap->locate(address, 1, "the address");
        heap->require_pe(pe);
        return heap->memory()->reachable(pe, where);
    });
}

void* causeway_symmetric_address(cl_mem buffer, size_t offset) {
    return address_or_null([&] {
        auto* const found = symmetric_heap::of_process()->address_of(buffer, offset);
        if (found == nullptr)
            throw transfer_error(status::invalid_value,
                                 "the buffer is not of the symmetric heap, or the offset is beyond its end");
        return found;
    });
}
