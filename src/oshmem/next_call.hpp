// SPDX-License-Identifier: Apache-2.0
// Finds the MPI function that a wrapper of this library hides.
#pragma once

#include <dlfcn.h>

namespace causeway::oshmem {

/// The next definition of `name`, perhaps another library's wrapper such as libcauseway's; `otherwise` if there is
/// none.
template <class Call> Call next_call(const char* name, Call otherwise) {
    auto* const found = reinterpret_cast<Call>(dlsym(RTLD_NEXT, name));
    return found != nullptr ? found : otherwise;
}

} // namespace causeway::oshmem
