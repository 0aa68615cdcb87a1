// SPDX-License-Identifier: Apache-2.0
// Functions of MPI that this library wraps: who would have been called without it.
#pragma once

#include <dlfcn.h>

namespace causeway::oshmem {

/// Another library's wrapper perhaps, such as Causeway's that watches the end of MPI.
template <class Call> Call next_call(const char* name, Call otherwise) {
    auto* const found = reinterpret_cast<Call>(dlsym(RTLD_NEXT, name));
    return found != nullptr ? found : otherwise;
}

} // namespace causeway::oshmem
