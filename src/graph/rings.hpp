// SPDX-License-Identifier: Apache-2.0
// The memory behind a channel: OpenCL buffers on a device, or host memory that devices copy from and to at full speed.
#pragma once

#include "cl/handles.hpp"
#include "graph/pipeline.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <vector>

namespace causeway::graph {

/// A device as a graph uses it.
struct device {
    cl::context context;
    cl_device_id id = nullptr;
    bool host_memory = false; ///< its memory is the host's
    bool hides_failed_waits = false, breaks_on_failed_waits = false; ///< see cl::device_facts
    std::size_t alignment = 128; ///< of a sub-buffer's origin
    device_limits limits;
};

/// Part of a buffer.
struct buffer_piece {
    cl_mem buffer = nullptr;
    std::size_t cell = 0; ///< which of the ring's buffers
    std::size_t offset = 0, bytes = 0;
};

/// On a device, one buffer for each cell.
class device_ring {
  public:
    /// Throws transfer_error.
    device_ring(const channel& held, const device& where);
    ~device_ring();
    device_ring(const device_ring&) = delete;
    device_ring& operator=(const device_ring&) = delete;

    /// The piece as a sub-buffer, which lives as long as the ring. Throws transfer_error.
    [[nodiscard]] cl_mem part(const buffer_piece& piece);

    /// Calls `use(piece, bytes before it)` for the pieces of a range of positions; where the ring wraps around there
    /// are two.
    template <class Use> void pieces(std::int64_t position, std::size_t bytes, Use use) const {
        for (std::size_t done = 0; done < bytes;) {
            const auto at = m_channel.offset_of(position + static_cast<std::int64_t>(done));
            const auto cell = at / m_channel.cell_bytes, offset = at % m_channel.cell_bytes;
            const auto here = std::min(bytes - done, m_channel.cell_bytes - offset);
            use(buffer_piece{m_cells[cell].get(), cell, offset, here}, done);
            done += here;
        }
    }
    [[nodiscard]] const channel& layout() const { return m_channel; }

  private:
    const channel& m_channel;
    std::vector<cl::buffer> m_cells;
    std::vector<cl::buffer> m_parts; // in the order in which they were made
    std::map<std::array<std::size_t, 3>, cl_mem> m_part_of; // cell, offset, bytes
};

/// In one block of host memory, page-locked for a device if its copies need it.
class host_ring {
  public:
    /// `copier` is a device that copies from or to the ring, and `queue` one of its queues, or both are null. Throws
    /// transfer_error.
    host_ring(const channel& held, const device* copier, const cl::queue& queue);
    ~host_ring();
    host_ring(const host_ring&) = delete;
    host_ring& operator=(const host_ring&) = delete;

    [[nodiscard]] std::byte* at(std::int64_t position) const { return m_memory + m_channel.offset_of(position); }
    /// Bytes from `position` to where the ring wraps.
    [[nodiscard]] std::size_t contiguous(std::int64_t position) const {
        return m_channel.ring_bytes() - m_channel.offset_of(position);
    }
    [[nodiscard]] const channel& layout() const { return m_channel; }

  private:
    const channel& m_channel;
    std::byte* m_memory = nullptr;
    cl::queue m_queue; // on which the page-locked buffer is mapped
    cl::buffer m_buffer;
    std::vector<std::byte> m_plain;
};

/// The memory of all channels, by channel: one of the two is set.
struct rings {
    std::vector<std::unique_ptr<device_ring>> on_device;
    std::vector<std::unique_ptr<host_ring>> on_host;
};
/// `queues` by lane, null for the host's.
[[nodiscard]] rings make_rings(const pipeline& compiled, const std::vector<device>& devices,
                               const std::vector<cl::queue>& queues);

/// Writes each channel's initial bytes. Blocks.
void write_initial(const rings& memory, const pipeline& compiled, const std::vector<cl::queue>& queues);

} // namespace causeway::graph
