// SPDX-License-Identifier: Apache-2.0
// pidfd_open(2), which is readable when the process has ended.
#include "comm/process_watch.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace causeway::comm {

process_watch::process_watch(pid_t process) {
#ifdef SYS_pidfd_open
    m_process = descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))); // sets close-on-exec
#else
    (void)process;
#endif
}

bool process_watch::is_gone() const {
    if (m_process.get() < 0) return false;
    pollfd end{m_process.get(), POLLIN, 0};
    return ::poll(&end, 1, 0) > 0 && (end.revents & POLLIN) != 0;
}

} // namespace causeway::comm
