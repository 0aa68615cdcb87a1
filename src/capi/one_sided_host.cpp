// SPDX-License-Identifier: Apache-2.0
// One-sided calls of host code, by the same engine.
#include "capi/one_sided.hpp"

#include "endpoints/host/host_endpoint.hpp"
#include "runtime/guard.hpp"

#include <cstring>

using namespace causeway;
using namespace causeway::capi;
using namespace causeway::core;

namespace {

/// Throws for a null pointer to bytes that are to be moved. The engine only reads what a put comes from.
std::byte* check_memory(const void* given, size_t size) {
    if (given == nullptr && size != 0) throw transfer_error(status::invalid_value, "the host memory is null");
    return static_cast<std::byte*>(const_cast<void*>(given));
}

cl_int put(void* target, const void* source, size_t size, std::optional<endpoints::heap_signal> then,
           const symmetric_heap& heap, int pe) {
    auto* const memory = check_memory(source, size);
    const auto offset = size == 0 && then ? then->offset : heap.locate(target, size, "the target");
    heap.require_pe(pe);
    heap.put_from(memory, {pe, offset}, size, then);
    return CL_SUCCESS;
}

} // namespace

cl_int causeway_symmetric_put(void* target, const void* source, size_t size, int pe) {
    return guard([&] { return put(target, source, size, {}, *symmetric_heap::in_use(), pe); });
}

cl_int causeway_symmetric_get(void* target, const void* source, size_t size, int pe) {
    return guard([&] {
        const auto heap = symmetric_heap::in_use();
        auto* const memory = check_memory(target, size);
        const endpoints::heap_location where{pe, heap->locate(source, size, "the source")};
        heap->require_pe(pe);
        heap->get_to(memory, where, size);
        return CL_SUCCESS;
    });
}

cl_int causeway_symmetric_put_signal(void* target, const void* source, size_t size, uint64_t* signal, uint64_t value,
                                     cl_signal_operation operation, int pe) {
    return guard([&] {
        const auto heap = symmetric_heap::in_use();
        return put(target, source, size, check_signal(*heap, signal, value, operation), *heap, pe);
    });
}

cl_int causeway_symmetric_signal(uint64_t* signal, uint64_t value, cl_signal_operation operation, int pe) {
    return causeway_symmetric_put_signal(nullptr, nullptr, 0, signal, value, operation, pe);
}

cl_int causeway_symmetric_wait(const void* word, size_t word_bytes, cl_comparison comparison, uint64_t value) {
    return guard([&] {
        const auto heap = symmetric_heap::in_use();
        const auto awaited = check_word(*heap, word, word_bytes, comparison, value);
        heap->wait_for(awaited);
        return CL_SUCCESS;
    });
}

cl_int causeway_symmetric_atomic(cl_atomic_operation operation, size_t word_bytes, void* word, uint64_t operand,
                                 uint64_t compared, int pe, uint64_t* before) {
    return guard([&] {
        const auto heap = symmetric_heap::in_use();
        const auto what = check_atomic(*heap, operation, word_bytes, word, operand, compared, pe);
        const auto seen = heap->carry_out(what);
        if (before != nullptr) *before = seen;
        return CL_SUCCESS;
    });
}

cl_int causeway_symmetric_quiet(void) {
    return guard([&] {
        const auto heap = symmetric_heap::in_use();
        symmetric_heap::run("quiet", one_flow(endpoints::make_fence(heap->memory(), endpoints::fence_kind::quiet),
                                              endpoints::make_empty_endpoint("host"), 0));
        return CL_SUCCESS;
    });
}

cl_int causeway_symmetric_barrier(void) {
    return guard([&] {
        symmetric_heap::in_use()->meet(barrier_purpose);
        return CL_SUCCESS;
    });
}
