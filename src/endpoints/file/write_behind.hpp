// SPDX-License-Identifier: Apache-2.0
// Sends what has been written into the page cache on to the disk while the rest is still being written.
#pragma once

#include "base/clock.hpp"

#include <fcntl.h>
#include <sys/types.h>

#include <cstddef>
#include <mutex>

namespace causeway::endpoints {

/// Of one transfer to one file. The kernel would begin much later by itself, and a program that then waits for
/// its data to be on the disk (fdatasync) would find nothing done. Who does not wait pays little for it: the writer begins
/// (sync_file_range(2) without its waiting flags) only as long as that has taken an eighth of the time of the writes, which a
/// disk that does not get on soon makes more. Errors stay for those who ask for them.
class write_behind {
  public:
    /// sync_file_range(2).
    using starter = int (*)(int fd, off_t start, off_t bytes, unsigned flags);
    write_behind(int fd, const monotonic_clock& clock, starter start = ::sync_file_range)
        : m_fd(fd), m_clock(clock), m_start(start) {}

    /// `write`, which returns an outcome, and sends on what it has written from `start` on.
    template <class Write> auto write(off_t start, Write write) {
        const auto begun = m_clock.now();
        auto result = write();
        // Where many write, blocks that come while another one is being sent on are left to the kernel.
        if (const std::unique_lock lock(m_mutex, std::try_to_lock); lock) {
            m_writing += m_clock.now() - begun;
            send_on(start, result.bytes);
        }
        return result;
    }

  private:
    void send_on(off_t start, std::size_t bytes);

    int m_fd;
    const monotonic_clock& m_clock;
    starter m_start;
    std::mutex m_mutex; // guards the rest
    time_point::duration m_writing{}, m_sending{}; // so far
    off_t m_first = 0, m_end = 0;                  // written last, in one piece, and not sent yet
};

} // namespace causeway::endpoints
