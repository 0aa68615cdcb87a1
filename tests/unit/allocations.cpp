// SPDX-License-Identifier: Apache-2.0
// Stands before the allocator of the unit tests.
#include "unit/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local std::size_t count = 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
bool unit::counts_allocations() { return false; }
#else
bool unit::counts_allocations() { return true; }

void* operator new(std::size_t bytes) {
    ++count;
    if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

std::size_t unit::allocations() { return count; }
