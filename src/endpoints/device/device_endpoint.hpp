// SPDX-License-Identifier: Apache-2.0
// A range or a box of a device buffer as an endpoint.
#pragma once

#include "cl/handles.hpp"
#include "endpoints/device/copy_watch.hpp"
#include "endpoints/device/device_links.hpp"
#include "transfer/endpoint.hpp"
#include "transfer/gate.hpp"

#include <array>
#include <memory>

namespace causeway::endpoints {

/// A box inside a buffer, as in clEnqueueReadBufferRect. `origin` and `region` count bytes, rows, slices; pitches are
/// in bytes.
struct box {
    std::array<std::size_t, 3> origin{}, region{};
    std::size_t row_pitch = 0, slice_pitch = 0;

    [[nodiscard]] std::size_t bytes() const { return region[0] * region[1] * region[2]; }
};

/// A buffer with its context and device, and the window that it lies in. The endpoint retains the OpenCL objects.
struct buffer_location {
    cl::context context;
    cl_device_id device = nullptr;
    cl::buffer buffer;
    std::size_t buffer_bytes = 0;
    cl_mem_flags flags = 0;
    /// The window that the buffer was made in, null if none, and the buffer's offset there in bytes.
    std::shared_ptr<bridge::known_window> window;
    std::size_t window_offset = 0;
};

/// The services outlive the endpoint.
struct device_services {
    device_links& links;
    copy_watch& copies;
    bridge::windows& windows;
};

/// An end whose bytes may lie in a window. Copies over a link go from one such end to another.
class window_end {
  public:
    /// That window; null if they lie in none.
    [[nodiscard]] virtual const bridge::known_window* home() const = 0;
    /// Where the byte at `offset` of the transfer is, in a window.
    [[nodiscard]] virtual std::byte* address(std::size_t offset) const = 0;

  protected:
    ~window_end() = default;
};

/// A transfer's order among the program's commands. All but `entered` is set before the transfer is submitted.
struct command_order {
    /// Events of the buffer's context that the transfer waits for. A read of the source may be enqueued early, with
    /// these as its wait list. Empty if the transfer also waits for something that the device cannot wait for.
    std::vector<cl::event> after;
    /// The program's queue, if the copy itself is enqueued there; the read of a source is then enqueued early, and
    /// make_queue_gate() waits for it. Null: the copy goes into the engine's queues.
    cl::queue queue;
    bool is_in_order = true; ///< whether `queue` is an in-order queue
    cl::event entered; ///< of a source: the event of its read or marker in `queue`; engine's thread only
};
using device_order = std::shared_ptr<command_order>;

/// Opens when the early read of the source in order->queue is over, failed or not. If there was no staging memory for
/// that read, a marker in the queue stands for it.
[[nodiscard]] std::unique_ptr<transfer::gate> make_queue_gate(device_order order);

[[nodiscard]] std::unique_ptr<transfer::endpoint> make_range_endpoint(device_services services,
                                                                      buffer_location location, std::size_t offset,
                                                                      device_order order = nullptr);
/// `order` is used only if is_dense(shape), and ignored otherwise.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_box_endpoint(device_services services, buffer_location location,
                                                                    const box& shape, device_order order = nullptr);
/// True if its bytes are contiguous: the box is a range.
[[nodiscard]] bool is_dense(const box& shape);

/// A box that is part of another, and the offset of its first byte there in packed order.
struct box_piece {
    std::array<std::size_t, 3> origin{}, region{};
    std::size_t packed_offset = 0;
};

/// Splits the packed range [offset, offset + bytes) of a box of `region` into at most five boxes, in packed order;
/// their origins count from the box's own corner.
[[nodiscard]] std::vector<box_piece> split_packed_range(const std::array<std::size_t, 3>& region, std::size_t offset,
                                                        std::size_t bytes);

} // namespace causeway::endpoints
