// SPDX-License-Identifier: Apache-2.0
// Starts writeback of a file's dirty pages while the rest is still being written.
#pragma once

#include "base/clock.hpp"
#include "endpoints/file/file_io.hpp"
#include "transfer/workers.hpp"

#include <fcntl.h>
#include <sys/types.h>

#include <cstddef>
#include <memory>

namespace causeway::endpoints {

/// One per transfer to a file. The kernel alone would start writeback much later, and a program that then calls
/// fdatasync(2) would wait for all of it. A thread beside the writers starts it (sync_file_range(2) without its waiting
/// flags). The transfer does not wait for the disk at its end. At most four transfers of a process have such a thread;
/// others leave writeback to the kernel. Write errors stay in the file, for fsync(2).
class write_behind final : private transfer::step_owner {
  public:
    /// sync_file_range(2).
    using starter = int (*)(int fd, off_t start, off_t bytes, unsigned flags);
    /// `clock` is shared with the thread.
    write_behind(const file_range& whole, transfer::worker_pool& workers, std::shared_ptr<const monotonic_clock> clock,
                 starter start = ::sync_file_range);
    ~write_behind();

    /// Any thread: `bytes` of the file have been written from `start` on.
    void wrote(off_t start, std::size_t bytes);
    /// Engine's thread, now and then: has the thread start writeback of what was written.
    void go_on();
    /// Engine's thread: starts no more writeback. Finishes `done` with `result` once the thread no longer uses the
    /// file's descriptor.
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
