// SPDX-License-Identifier: Apache-2.0
// The process's limit of file sizes (setrlimit(2), ulimit -f).
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace causeway::trace {

/// Whether files of this process may reach `bytes`. Writing beyond the limit kills it (SIGXFSZ).
inline bool may_reach(std::uint64_t bytes) {
    rlimit limit{};
    return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

} // namespace causeway::trace
