// SPDX-License-Identifier: Apache-2.0
// Sends what has been written into the page cache on to the disk while the rest is still being written.
#pragma once

#include "transfer/workers.hpp"

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>

namespace causeway::endpoints {

/// Of one transfer to one file. The kernel would begin much later by itself, and a program that then waits for its data to be
/// on the disk (fdatasync) would find nothing done. Nobody waits here, and errors stay for those who ask for them:
/// sync_file_range(2) without its waiting flags.
///
/// Engine's thread, but for add().
class write_behind final : transfer::step_owner {
  public:
    write_behind(transfer::worker_pool& workers, int fd) : m_workers(workers), m_fd(fd), m_work(*this) {}
    ~write_behind() = default;
    write_behind(const write_behind&) = delete;
    write_behind& operator=(const write_behind&) = delete;

    /// Any thread: these bytes of the file are written.
    void add(off_t start, std::size_t bytes);
    /// Begins with what has been added, unless it is at it.
    void go_on();
    /// Begins nothing more, and finishes `done` with `result` when nothing is under way: from then on nobody uses the
    /// descriptor.
    void close(transfer::outcome result, transfer::step& done);

  private:
    struct part {
        off_t start = 0;
        std::size_t bytes = 0;
    };
    void step_finished() override;
    /// The next piece, small enough to be over soon; of 0 bytes if there is none.
    [[nodiscard]] part next();

    transfer::worker_pool& m_workers;
    int m_fd;
    transfer::step m_work;
    transfer::step* m_told = nullptr; // close() waits
    transfer::outcome m_result;
    std::atomic<bool> m_closing{false};
    std::mutex m_mutex; // guards m_written
    std::deque<part> m_written;
};

} // namespace causeway::endpoints
