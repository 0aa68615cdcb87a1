// SPDX-License-Identifier: Apache-2.0
// What an address of the symmetric heap stands for, for the run time of directives.
#pragma once

#include <CL/cl.h>

#include <cstddef>

namespace causeway::core {

/// A part of the heap's buffer, and its addresses from `start` on.
struct symmetric_allocation {
    cl_context context = nullptr;
    cl_mem buffer = nullptr; // not retained
    std::size_t offset = 0, bytes = 0;
    char* start = nullptr;

    bool operator==(const symmetric_allocation&) const = default;
};

} // namespace causeway::core

/// The allocation that `address` lies in. False if there is none. Any thread.
extern "C" bool causeway_symmetric_allocation(const void* address, causeway::core::symmetric_allocation* found);
