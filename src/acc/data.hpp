// SPDX-License-Identifier: Apache-2.0
// Maps host memory, moves it and unmaps it.
#pragma once
#include "acc/device.hpp"

namespace causeway::acc {

/// The device and queue of a directive, locked.
class directive_target {
  public:
    explicit directive_target(causeway_acc_clauses& clauses);
    /// Runs on the host: there is nothing to map or to move.
    bool is_host() const { return !m_device; }
    acc::device& device() { return *m_device; }
    acc::queue& queue() { return *m_queue; }
    std::unique_lock<std::recursive_mutex>& lock() { return m_lock; }
    /// A synchronous directive that takes data back comes after all queues of its device.
    void come_last();
    /// Waits for the queue if the directive is synchronous.
    void finish();

  private:
    acc::device* m_device = nullptr;
    acc::queue* m_queue = nullptr;
    std::unique_lock<std::recursive_mutex> m_lock;
    bool m_waits = true;
};

/// Queues as clauses and routines give them: -1 is the one without a number.
long queue_number(long given);

void map_all(device& on, queue& in, causeway_acc_data* data, int count);
void unmap_all(device& on, queue& in, causeway_acc_data* data, int count);
mapping& map_one(device& on, queue& in, void* host, void* base, std::size_t bytes, int kind);
void release(device& on, queue& in, mapping& gone);

/// Where the device has what `address` points to.
buffer_location location_of(device& on, void* address, std::size_t bytes, const char* name);

} // namespace causeway::acc
