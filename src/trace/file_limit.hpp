// SPDX-License-Identifier: Apache-2.0
// The process's limit of file sizes (setrlimit(2), ulimit -f).
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace causeway::trace {

/// Whether the process may make files so large. Trying it all the same would end it (SIGXFSZ).
inline bool may_reach(std::uint64_t bytes) {
    rlimit limit{};
    return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

} // namespace causeway::trace
