// SPDX-License-Identifier: Apache-2.0
// Allocates what the compiler has counted.
#include "graph/rings.hpp"

#include "base/error.hpp"
#include "cl/calls.hpp"

#include <cstring>

namespace causeway::graph {

device_ring::device_ring(const channel& held, const device& where) : m_channel(held) {
    for (std::size_t begin = 0; begin < held.ring_bytes(); begin += held.cell_bytes) {
        cl_int code = CL_SUCCESS;
        m_cells.push_back(
            cl::buffer::adopt(clCreateBuffer(where.context.get(), CL_MEM_READ_WRITE, held.cell_bytes, nullptr, &code)));
        cl::check(code, "allocating " + bytes_text(held.cell_bytes) + " on device '" + where.limits.name + "'");
    }
}

device_ring::~device_ring() {
    // NVIDIA's driver (580) crashes when overlapping sub-buffers that kernels have used go in another order than this.
    while (!m_parts.empty()) m_parts.pop_back();
}

cl_mem device_ring::part(const buffer_piece& piece) {
    auto& known = m_part_of[{piece.cell, piece.offset, piece.bytes}];
    if (known == nullptr) {
        const cl_buffer_region region{piece.offset, piece.bytes};
        cl_int code = CL_SUCCESS;
        auto made = cl::buffer::adopt(
            clCreateSubBuffer(piece.buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
        cl::check(code, "making a sub-buffer for a kernel's argument");
        known = made.get();
        m_parts.push_back(std::move(made));
    }
    return known;
}

host_ring::host_ring(const channel& held, const device* copier, const cl::queue& queue) : m_channel(held) {
    if (copier == nullptr || copier->host_memory) {
        m_plain.resize(held.ring_bytes());
        m_memory = m_plain.data();
        return;
    }
    cl_int code = CL_SUCCESS;
    m_queue = queue;
    m_buffer = cl::buffer::adopt(clCreateBuffer(copier->context.get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                                held.ring_bytes(), nullptr, &code));
    cl::check(code, "allocating " + bytes_text(held.ring_bytes()) + " of page-locked memory");
    m_memory = static_cast<std::byte*>(clEnqueueMapBuffer(m_queue.get(), m_buffer.get(), CL_TRUE,
                                                          CL_MAP_READ | CL_MAP_WRITE, 0, held.ring_bytes(), 0, nullptr,
                                                          nullptr, &code));
    cl::check(code, "mapping " + bytes_text(held.ring_bytes()) + " of page-locked memory");
}

host_ring::~host_ring() {
    if (!m_buffer) return;
    (void)clEnqueueUnmapMemObject(m_queue.get(), m_buffer.get(), m_memory, 0, nullptr, nullptr);
    (void)clFinish(m_queue.get());
}

rings make_rings(const pipeline& compiled, const std::vector<device>& devices, const std::vector<cl::queue>& queues) {
    rings made;
    made.on_device.resize(compiled.channels.size());
    made.on_host.resize(compiled.channels.size());
    for (std::size_t i = 0; i < compiled.channels.size(); ++i) {
        const auto& ring = compiled.channels[i];
        if (ring.where != host) {
            made.on_device[i] = std::make_unique<device_ring>(ring, devices[ring.where]);
            continue;
        }
        const device* copier = nullptr;
        cl::queue queue;
        const auto consider = [&](std::size_t actor) {
            const auto lane = compiled.actors[actor].lane;
            const auto where = compiled.lanes[lane].where;
            if (where == host || (copier != nullptr && !copier->host_memory)) return;
            copier = &devices[where];
            queue = queues[lane];
        };
        consider(ring.writer);
        for (const auto& reader : ring.readers) consider(reader.actor);
        made.on_host[i] = std::make_unique<host_ring>(ring, copier, queue);
    }
    return made;
}

void write_initial(const rings& memory, const pipeline& compiled, const std::vector<cl::queue>& queues) {
    for (std::size_t i = 0; i < compiled.channels.size(); ++i) {
        const auto& ring = compiled.channels[i];
        if (ring.initial_bytes == 0) continue;
        std::vector<std::byte> values(ring.initial_bytes, std::byte{0});
        const auto known = std::min(ring.initial.size(), values.size());
        std::copy(ring.initial.end() - static_cast<std::ptrdiff_t>(known), ring.initial.end(),
                  values.end() - static_cast<std::ptrdiff_t>(known));
        const auto first = -static_cast<std::int64_t>(values.size());
        if (ring.where == host) {
            for (std::size_t done = 0; done < values.size(); ++done)
                *memory.on_host[i]->at(first + static_cast<std::int64_t>(done)) = values[done];
            continue;
        }
        const auto* const queue = &queues[compiled.actors[ring.writer].lane];
        memory.on_device[i]->pieces(first, values.size(), [&](const buffer_piece& piece, std::size_t done) {
            cl::check(clEnqueueWriteBuffer(queue->get(), piece.buffer, CL_TRUE, piece.offset, piece.bytes,
                                           values.data() + done, 0, nullptr, nullptr),
                      "writing the initial values of a delay");
        });
    }
}

} // namespace causeway::graph
