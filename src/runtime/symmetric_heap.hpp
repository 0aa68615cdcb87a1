// SPDX-License-Identifier: Apache-2.0
// The symmetric heap of the process: its device's buffer, its addresses, and the heaps of the other PEs.
#pragma once

#include "cl/handles.hpp"
#include "comm/process_group.hpp"
#include "comm/shared_segment.hpp"
#include "endpoints/symmetric/collective_endpoint.hpp"
#include "endpoints/symmetric/heap.hpp"
#include "endpoints/symmetric/offset_allocator.hpp"
#include "endpoints/symmetric/symmetric_endpoint.hpp"
#include "runtime/heap_link.hpp"
#include "runtime/heap_request.hpp"
#include "runtime/symmetric_allocation.hpp"
#include "runtime/untouchable_range.hpp"

#include <CL/cl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace causeway::core {

/// Any thread.
class symmetric_heap {
  public:
    /// Collective. If one PE fails, every PE throws transfer_error.
    static void start(cl_context context, cl_device_id device, MPI_Comm comm, std::size_t heap_bytes);
    /// Collective. This PE leaves even if the others call something else; then the call throws transfer_error.
    static void finish();
    /// This PE leaves at once, because its program has failed: the others' waits and commands fail.
    static void give_up();
    /// The process's heap. Throws transfer_error(invalid_operation) if there is none.
    [[nodiscard]] static std::shared_ptr<symmetric_heap> of_process();
    [[nodiscard]] static std::shared_ptr<symmetric_heap> of_process_if_any();
    /// The same, for what concerns the others, too. Throws also once MPI has ended.
    [[nodiscard]] static std::shared_ptr<symmetric_heap> in_use();

    symmetric_heap(cl_context context, cl_device_id device, MPI_Comm comm, std::size_t heap_bytes);

    [[nodiscard]] const std::shared_ptr<endpoints::heap>& memory() const { return m_heap; }
    [[nodiscard]] cl_context context() const { return m_context.get(); }
    [[nodiscard]] cl_device_id device() const { return m_device; }
    [[nodiscard]] cl_mem buffer() const { return m_buffer.get(); }

    /// Collective. Throw transfer_error, on every PE if one refuses its arguments. Null for 0 bytes. `number` is the
    /// call's own.
    [[nodiscard]] void* allocate(std::size_t count, std::size_t bytes_each, std::size_t alignment,
                                 std::uint64_t number = 2);
    [[nodiscard]] void* allocate_zeros(std::size_t count, std::size_t bytes_each);
    void free(void* address);

    /// The offset of `bytes` that lie in one allocation; `what` names them in the error. Throws
    /// transfer_error(invalid_value).
    [[nodiscard]] std::size_t locate(const void* address, std::size_t bytes, const char* what) const;
    /// The allocation that `address` lies in, if any.
    [[nodiscard]] std::optional<symmetric_allocation> allocation_of(const void* address) const;
    /// As locate(), for a word, which must be aligned.
    [[nodiscard]] std::size_t locate_word(const void* address, std::size_t bytes, const char* what) const;
    void require_pe(int pe) const;
    /// Bytes from `offset` to the end of its allocation.
    [[nodiscard]] std::size_t bytes_from(std::size_t offset) const;
    /// The address of `offset` in `buffer`; null unless `buffer` is the heap's or a sub-buffer of it.
    [[nodiscard]] void* address_of(cl_mem buffer, std::size_t offset) const;

    using flows = std::vector<std::unique_ptr<transfer::flow>>;
    /// The flows between `own`, the end at this PE, and the heap of another PE. They go straight through shared memory
    /// or over a link, or by messages that the other PE's engine serves.
    [[nodiscard]] flows put(std::unique_ptr<transfer::endpoint> own, const endpoints::heap_location& where,
                            std::size_t bytes, std::optional<endpoints::heap_signal> then = {}) const;
    [[nodiscard]] flows get(std::unique_ptr<transfer::endpoint> own, const endpoints::heap_location& where,
                            std::size_t bytes) const;
    /// Sources: see make_atomic_source() and make_word_wait().
    [[nodiscard]] std::unique_ptr<transfer::endpoint> atomic(const endpoints::heap_atomic& what) const;
    [[nodiscard]] std::unique_ptr<transfer::endpoint> wait(const endpoints::awaited_word& what) const;
    /// Gathers at most `bytes` from all heaps to `target_offset` of this PE's own.
    [[nodiscard]] flows collective(endpoints::collective what, std::size_t target_offset, std::size_t bytes) const;
    /// Copies bytes of a PE's heap to `target`, for a command that has its turn already, then calls `then`. Engine's
    /// thread only.
    void bring(const endpoints::heap_location& from, std::size_t bytes, std::unique_ptr<transfer::endpoint> target,
               std::function<void(const failure&)> then) const;
    using ended = std::function<void(const failure&)>;
    /// Calls `by` to write to a range of the own heap's memory, then `then`; words kept beside that memory get what was
    /// written. Engine's thread only.
    void overwrite(std::size_t offset, std::size_t bytes, const std::function<void(ended)>& by, ended then) const;

    /// A new kernel that combines elements of `type` by `combine`, an expression of `a` and `b`; both are OpenCL C.
    /// Throws transfer_error.
    [[nodiscard]] cl::kernel combining_kernel(const std::string& type, const std::string& combine) const;
    /// In-order, for the library's own kernels on the heap.
    [[nodiscard]] cl::queue kernel_queue() const;

    /// Device memory of at least `bytes` for the library's own kernels; links reach it if they reach the heap. Give it
    /// back: such memory takes a millisecond to make (NVIDIA driver 580). Throws transfer_error.
    [[nodiscard]] endpoints::buffer_location take_scratch(std::size_t bytes) const;
    void give_scratch(endpoints::buffer_location used) const;

    /// Writes zeros to this PE's own heap.
    void clear(void* address, std::size_t bytes) const;

    /// Puts and gets of host code, which block. `memory` is the host's, or part of this PE's own heap. Throw
    /// transfer_error.
    void put_from(std::byte* memory, const endpoints::heap_location& where, std::size_t bytes,
                  std::optional<endpoints::heap_signal> then = {}) const;
    void get_to(std::byte* memory, const endpoints::heap_location& where, std::size_t bytes) const;
    /// The same for an atomic operation, which returns the word's former value, and for a wait.
    [[nodiscard]] std::uint64_t carry_out(const endpoints::heap_atomic& what) const;
    void wait_for(const endpoints::awaited_word& what) const;

    /// Runs `moved` as a command in no queue, and waits for it. `name`, for users, is a literal. Throws transfer_error.
    static void run(const char* name, flows moved);
    /// All PEs come together, and agree about `purpose`. Waits. Throws transfer_error.
    void meet(const endpoints::meeting_purpose& purpose) const;
    /// This PE takes part in a collective command of `times` meetings only to say why it refuses its call. Does not
    /// wait.
    void refuse_collective(const char* name, int times, const failure& why) const noexcept;

  private:
    void require_mpi() const;
    void make_buffer(cl_device_id device, std::size_t heap_bytes, std::byte* host_memory);
    /// From now on this PE answers the others.
    void serve(endpoints::buffer_location location, std::byte* host_memory);
    /// Whether a put of `bytes` to `where` needs no message.
    [[nodiscard]] bool goes_straight(const endpoints::heap_location& where, std::size_t bytes) const;
    /// The offset of `memory` in this PE's heap, if it lies there and the host does not reach the heap.
    [[nodiscard]] std::optional<std::size_t> own_part(const std::byte* memory, std::size_t bytes) const;
    /// The offset of `memory` in the heap; larger than any offset if it does not lie there.
    [[nodiscard]] std::size_t offset_of(const std::byte* memory) const {
        return reinterpret_cast<std::uintptr_t>(memory) - reinterpret_cast<std::uintptr_t>(m_base);
    }
    /// Whether `memory` is in the own heap and overlaps `where`, so that blocks of it would be overwritten.
    [[nodiscard]] bool overlaps_itself(const std::byte* memory, const endpoints::heap_location& where,
                                       std::size_t bytes) const;
    [[nodiscard]] bool keeps_words(std::size_t offset, std::size_t bytes) const;
    /// Frees the range that begins at `offset`.
    void give(std::size_t offset);
    /// Whether the calling thread may work in the memory of `pe` itself, without the engine, in a tenth of the time or
    /// less. False every few milliseconds, so that the engine notices a dead PE; always false if `pe` has left, and
    /// while a timeline is recorded.
    [[nodiscard]] bool may_be_done_at_once(int pe) const;
    /// This PE leaves; `all_come`: the others do so now, too. `gives_up` as of heap::leave().
    void leave(bool all_come, bool gives_up = false) const;

    cl::context m_context;
    cl_device_id m_device;
    std::unique_ptr<comm::process_group> m_group;
    std::shared_ptr<endpoints::heap> m_heap; // keeps the memory that m_buffer may use
    cl::buffer m_buffer;
    std::optional<untouchable_range> m_range; // the addresses of memory that the host does not reach
    std::byte* m_base = nullptr; // the first address
    mutable std::atomic<std::int64_t> m_looked_at = 0; // when a call went through the engine, in milliseconds
    std::shared_ptr<heap_server> m_server; // null where every PE reaches all heaps
    std::shared_ptr<heap_link> m_link; // null where the heap lies in no window
    mutable std::mutex m_mutex; // guards m_allocator
    endpoints::offset_allocator m_allocator;
    mutable std::mutex m_kernels_mutex; // guards m_kernel_queue, m_programs, m_spare
    mutable endpoints::buffer_location m_spare; // what was given back last
    mutable cl::queue m_kernel_queue;
    mutable std::map<std::string, cl::program> m_programs; // by their definitions
};

} // namespace causeway::core
