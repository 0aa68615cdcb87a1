// SPDX-License-Identifier: Apache-2.0
// Whether one process of this node still runs.
#pragma once

#include "base/descriptor.hpp"

#include <sys/types.h>

namespace causeway::comm {

/// Holds a descriptor of the process (pidfd_open(2)), so that a new process with its number is not mistaken for it.
/// Needs no help of that process and leaves nothing behind.
class process_watch {
  public:
    /// Watches nothing: never gone.
    process_watch() = default;
    /// `process`, as this process's PID namespace counts. One that cannot be watched is never gone.
    explicit process_watch(pid_t process);

    [[nodiscard]] bool watches() const { return m_process.get() >= 0; }
    /// True once the process has ended, even as a zombie. Never blocks.
    [[nodiscard]] bool is_gone() const;
    /// Readable (poll(2)) once the process has ended; -1 if it watches nothing.
    [[nodiscard]] int readable_when_gone() const { return m_process.get(); }

  private:
    descriptor m_process;
};

} // namespace causeway::comm
