// SPDX-License-Identifier: Apache-2.0
// Combines what all PEs have in their heaps, element by element, on the device.
#pragma once

#include "cl/handles.hpp"
#include "runtime/symmetric_heap.hpp"
#include "transfer/step.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace causeway::core {

/// One PE's slice of a reduction: the elements that only this PE reads in every source, and writes in its target.
struct reduced_slice {
    std::size_t source_offset = 0, target_offset = 0; ///< of the first element of the slice
    std::size_t element_bytes = 0, count = 0;
};

/// Copies the slices of all PEs to the device, part by part as memory allows, and combines them there in the order of
/// the PEs. Constructed on the caller's thread, then used on the engine's.
class heap_reduction final : private transfer::step_owner, public std::enable_shared_from_this<heap_reduction> {
  public:
    /// `type`, and `combine`, an expression of elements `a` and `b`, are OpenCL C. If the device cannot compile them,
    /// only start() fails, because the other PEs wait for this one.
    heap_reduction(std::shared_ptr<symmetric_heap> heap, const reduced_slice& slice, const std::string& type,
                   const std::string& combine);
    ~heap_reduction();

    void start(transfer::step& done);

  private:
    void step_finished() override;
    void next_part();
    void combine_part();
    void combine();
    void combined(const failure& error);
    void end(const failure& error);

    std::shared_ptr<symmetric_heap> m_heap;
    reduced_slice m_slice;
    failure m_refusal;
    cl::kernel m_kernel;
    cl::queue m_queue;
    endpoints::buffer_location m_parts; // of all PEs, one behind the other
    std::size_t m_most = 0; // elements of each at a time
    std::size_t m_first = 0, m_count = 0; // of the part that is under way
    std::size_t m_left = 0; // parts that are still to come
    failure m_failure;
    transfer::step m_combining;
    symmetric_heap::ended m_combined; // of the part that the kernel writes
    transfer::step* m_done = nullptr;
    std::shared_ptr<heap_reduction> m_self; // while it is under way
};

} // namespace causeway::core
