// SPDX-License-Identifier: Apache-2.0
// Sends what has been written into the page cache on to the disk while the rest is still being written.
#pragma once

#include "base/clock.hpp"
#include "endpoints/file/file_io.hpp"
#include "transfer/workers.hpp"

#include <fcntl.h>
#include <sys/types.h>

#include <cstddef>
#include <memory>

namespace causeway::endpoints {

/// One per transfer to a file. The kernel alone would begin much later, and a program that then waits for the disk
/// (fdatasync) would find nothing done. A thread beside the writers begins (sync_file_range(2) without its waiting
/// flags), and the transfer never waits for it at its end. A few transfers of a process have such a thread; others
/// leave it to the kernel. Errors stay for whoever asks for them.
class write_behind final : private transfer::step_owner {
  public:
    /// sync_file_range(2).
    using starter = int (*)(int fd, off_t start, off_t bytes, unsigned flags);
    /// `clock` is for the thread too.
    write_behind(const file_range& whole, transfer::worker_pool& workers, std::shared_ptr<const monotonic_clock> clock,
                 starter start = ::sync_file_range);
    ~write_behind();

    /// Any thread: so much of the file has been written from `start` on.
    void wrote(off_t start, std::size_t bytes);
    /// Engine's thread, now and then: sends on what there is.
    void go_on();
    /// Engine's thread: nothing more is sent. Finishes `done` with `result` once nobody uses the file's descriptor any
    /// more.
    void close(transfer::outcome result, transfer::step& done);

  private:
    class written_part;

    void step_finished() override;

    std::shared_ptr<written_part> m_written; // shared with the thread, which an engine that ends leaves behind
    transfer::worker_pool& m_workers;
    transfer::step m_sending;
    bool m_has_thread = true;
    transfer::step* m_closing = nullptr;
    transfer::outcome m_result; // of the transfer
};

} // namespace causeway::endpoints
