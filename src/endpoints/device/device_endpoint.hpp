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

/// A box inside a buffer, as in clEnqueueReadBufferRect: bytes, rows, slices. Packed row by row it has
/// region[0] * region[1] * region[2] bytes.
struct box {
    std::array<std::size_t, 3> origin{}, region{};
    std::size_t row_pitch = 0, slice_pitch = 0;

    [[nodiscard]] std::size_t bytes() const { return region[0] * region[1] * region[2]; }
};

/// Where a buffer and a device come from. Retained by the endpoint.
struct buffer_location {
    cl::context context;
    cl_device_id device = nullptr;
    cl::buffer buffer;
    std::size_t buffer_bytes = 0;
    cl_mem_flags flags = 0;
    /// The window of the device that the buffer was made in, if any, and its offset there.
    std::shared_ptr<bridge::known_window> window;
    std::size_t window_offset = 0;
};

/// The services outlive the endpoint.
struct device_services {
    device_links& links;
    copy_watch& copies;
    bridge::windows& windows;
};

/// An end whose bytes may lie in a window: copies over a link go from one such location to another.
class window_end {
  public:
    /// Null if they do not.
    [[nodiscard]] virtual const bridge::known_window* home() const = 0;
    /// Where the byte at `offset` of the transfer is, in a window.
    [[nodiscard]] virtual std::byte* address(std::size_t offset) const = 0;

  protected:
    ~window_end() = default;
};

/// A transfer's order among the program's commands. Filled in before the transfer is submitted.
struct command_order {
    /// Events in the location's context that it comes after: a source may be read behind them while the command is
    /// gated. Empty: the device cannot wait for everything that the transfer waits for.
    std::vector<cl::event> after;
    /// The program's queue, if the transfer's copy itself goes there and keeps its order. A source is read ahead in it,
    /// behind a queue_gate.
    cl::queue queue;
    bool is_in_order = true; ///< that queue
    cl::event entered; ///< what stands in it for the transfer of a source; engine's thread
};
using device_order = std::shared_ptr<command_order>;

/// Opens when the read of the source in order->queue, and all before it, is over. If there was no memory to read ahead,
/// a marker in the in-order queue stands for the read.
[[nodiscard]] std::unique_ptr<transfer::gate> make_queue_gate(device_order order);

[[nodiscard]] std::unique_ptr<transfer::endpoint> make_range_endpoint(device_services services,
                                                                      buffer_location location, std::size_t offset,
                                                                      device_order order = nullptr);
/// `order` serves a box that is_dense().
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_box_endpoint(device_services services, buffer_location location,
                                                                    const box& shape, device_order order = nullptr);
/// Its bytes lie in a row: it is a range.
[[nodiscard]] bool is_dense(const box& shape);

/// Part of a box that is a box itself, and where its first byte is in the packed order.
struct box_piece {
    std::array<std::size_t, 3> origin{}, region{};
    std::size_t packed_offset = 0;
};

/// Splits the packed range [offset, offset + bytes) of a box of `region` into at most five boxes, in packed order;
/// their origins count from the box's own corner.
[[nodiscard]] std::vector<box_piece> split_packed_range(const std::array<std::size_t, 3>& region, std::size_t offset,
                                                        std::size_t bytes);

} // namespace causeway::endpoints
