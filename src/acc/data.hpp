// SPDX-License-Identifier: Apache-2.0
// Maps host memory, moves it and unmaps it.
#pragma once
#include "acc/device.hpp"

namespace causeway::acc {

/// The device and queue of a directive. Holds the device's lock.
class directive_target {
  public:
    explicit directive_target(causeway_acc_clauses& clauses);
    /// True if the directive runs on the host: nothing is mapped or moved.
    bool is_host() const { return !m_device; }
    acc::device& device() { return *m_device; }
    acc::queue& queue() { return *m_queue; }
    std::unique_lock<std::recursive_mutex>& lock() { return m_lock; }
    /// If the directive is synchronous: orders it behind all queues of its device. For directives that copy data back.
    void come_last();
    /// Waits for the queue if the directive is synchronous.
    void finish();

  private:
    acc::device* m_device = nullptr;
    acc::queue* m_queue = nullptr;
    std::unique_lock<std::recursive_mutex> m_lock;
    bool m_waits = true;
};

/// The number of the queue that a clause or routine names: acc_async_noval and acc_async_default are the thread's
/// default queue, acc_async_sync is the synchronous one.
long queue_number(long given);

/// A pointer without a clause.
inline bool is_implicit(const causeway_acc_data& one) {
    return one.kind == CAUSEWAY_ACC_IMPLICIT || one.kind == CAUSEWAY_ACC_IMPLICIT_READ ||
           one.kind == CAUSEWAY_ACC_IMPLICIT_PRESENT;
}

/// A block of memory that a clause's section names.
struct piece {
    char* start;
    std::size_t bytes;
};
/// The blocks of the section: one, unless it leaves out elements of rows of an array.
std::vector<piece> pieces_of(const causeway_acc_data& one);

void map_all(device& on, queue& in, causeway_acc_data* data, int count);
void unmap_all(device& on, queue& in, causeway_acc_data* data, int count);
/// `offset`: where the range begins in the buffer that is made for it.
mapping& map_one(device& on, queue& in, void* host, void* base, std::size_t bytes, int kind, std::size_t offset = 0);
void release(device& on, queue& in, mapping& gone);

/// The buffer and offset behind `address`: mapped host memory or a device address of the program. Ends the program if
/// it is neither, or if fewer bytes are mapped.
buffer_location location_of(device& on, void* address, std::size_t bytes, const char* name);

} // namespace causeway::acc
