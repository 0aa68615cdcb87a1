// SPDX-License-Identifier: Apache-2.0
// Copies between memory spaces, ends of streams, host functions.
#include "graph/actor_work.hpp"

#include "base/error.hpp"

#include <cstring>

namespace causeway::graph {

namespace {

chain_position last_if(bool last) { return last ? chain_position::last : chain_position::before_others; }

/// From memory of the program, or a host ring, into a device ring.
class copy_in final : public actor_work {
  public:
    copy_in(const host_ring* from, const std::byte* memory, const device_ring& to)
        : m_from(from), m_memory(memory), m_to(to) {}

    firing_result fire(std::uint64_t number, command_chain& commands) override {
        const auto size = m_to.layout().produced_bytes;
        const auto position = static_cast<std::int64_t>(number * size);
        const auto* const source = m_from != nullptr ? m_from->at(position) : m_memory + number * size;
        m_to.pieces(position, size, [&](const buffer_piece& piece, std::size_t done) {
            commands.add("copying a token to the device", last_if(done + piece.bytes == size),
                         [&](cl_command_queue queue, cl_uint count, const cl_event* waits, cl_event* event) {
                             return clEnqueueWriteBuffer(queue, piece.buffer, CL_FALSE, piece.offset, piece.bytes,
                                                         source + done, count, waits, event);
                         });
        });
        return firing_result::done;
    }

  private:
    const host_ring* m_from;
    const std::byte* m_memory;
    const device_ring& m_to;
};

/// From a device ring into memory of the program or a host ring.
class copy_out final : public actor_work {
  public:
    copy_out(const device_ring& from, std::size_t reader, const host_ring* to, std::byte* memory)
        : m_from(from), m_reader(from.layout().readers[reader]), m_to(to), m_memory(memory) {}

    firing_result fire(std::uint64_t number, command_chain& commands) override {
        const auto size = m_reader.consumed_bytes;
        auto* const target = m_to != nullptr ? m_to->at(static_cast<std::int64_t>(number * size))
                                             : m_memory + number * size;
        m_from.pieces(m_reader.begin(number), size, [&](const buffer_piece& piece, std::size_t done) {
            commands.add("copying a token from the device", last_if(done + piece.bytes == size),
                         [&](cl_command_queue queue, cl_uint count, const cl_event* waits, cl_event* event) {
                             return clEnqueueReadBuffer(queue, piece.buffer, CL_FALSE, piece.offset, piece.bytes,
                                                        target + done, count, waits, event);
                         });
        });
        return firing_result::done;
    }

  private:
    const device_ring& m_from;
    const channel::reader& m_reader;
    const host_ring* m_to;
    std::byte* m_memory;
};

/// What a reader sees, in one piece: in the ring itself, or copied where the ring closes.
class host_window {
  public:
    host_window(const host_ring& ring, std::size_t reader) : m_ring(ring), m_reader(ring.layout().readers[reader]) {}

    [[nodiscard]] std::span<const std::byte> see(std::uint64_t number) {
        const auto size = m_reader.window_bytes();
        const auto begin = m_reader.begin(number);
        const auto first = m_ring.contiguous(begin);
        if (first >= size) return {m_ring.at(begin), size};
        m_joined.resize(size);
        std::memcpy(m_joined.data(), m_ring.at(begin), first);
        std::memcpy(m_joined.data() + first, m_ring.at(begin + static_cast<std::int64_t>(first)), size - first);
        return m_joined;
    }

  private:
    const host_ring& m_ring;
    const channel::reader& m_reader;
    std::vector<std::byte> m_joined;
};

class host_input final : public actor_work {
  public:
    host_input(const stream_end& from, const host_ring& to) : m_from(from), m_to(to) {}

    firing_result fire(std::uint64_t number, command_chain&) override {
        const auto size = m_to.layout().produced_bytes;
        auto* const target = m_to.at(static_cast<std::int64_t>(number * size));
        if (!m_from.read) {
            std::memcpy(target, m_from.memory + number * size, size);
            return firing_result::done;
        }
        const auto got = m_from.read(number, {target, size});
        if (got == 0) return firing_result::end_of_stream;
        if (got != size)
            throw transfer_error(status::end_of_file,
                                 "the stream ended after " + bytes_text(got) + " of a token of " + bytes_text(size));
        return firing_result::done;
    }

  private:
    const stream_end& m_from;
    const host_ring& m_to;
};

class host_output final : public actor_work {
  public:
    host_output(const host_ring& from, std::size_t reader, const stream_end& to) : m_window(from, reader), m_to(to) {}

    firing_result fire(std::uint64_t number, command_chain&) override {
        const auto token = m_window.see(number);
        if (m_to.write) {
            m_to.write(number, token);
        } else {
            std::memcpy(m_to.memory + number * token.size(), token.data(), token.size());
        }
        return firing_result::done;
    }

  private:
    host_window m_window;
    const stream_end& m_to;
};

class function_work final : public actor_work {
  public:
    function_work(const work_parts& parts, const actor& self, const host_function& called) : m_called(called) {
        for (const auto& in : self.inputs) m_windows.emplace_back(*parts.memory.on_host[in.channel], in.reader);
        for (const auto out : self.outputs) m_targets.push_back(parts.memory.on_host[out].get());
        m_firing.inputs.resize(m_windows.size());
        m_firing.outputs.resize(m_targets.size());
    }

    firing_result fire(std::uint64_t number, command_chain&) override {
        m_firing.number = number;
        for (std::size_t i = 0; i < m_windows.size(); ++i) m_firing.inputs[i] = m_windows[i].see(number);
        for (std::size_t i = 0; i < m_targets.size(); ++i) {
            const auto size = m_targets[i]->layout().produced_bytes;
            m_firing.outputs[i] = {m_targets[i]->at(static_cast<std::int64_t>(number * size)), size};
        }
        m_called(m_firing);
        return firing_result::done;
    }

  private:
    const host_function& m_called;
    std::vector<host_window> m_windows;
    std::vector<const host_ring*> m_targets;
    host_firing m_firing;
};

} // namespace

std::unique_ptr<actor_work> make_work(const work_parts& parts, std::size_t index) {
    const auto& self = parts.compiled.actors[index];
    const auto& stream = parts.streams[self.node];
    const auto& memory = parts.memory;
    switch (self.kind) {
    case actor_kind::kernel: return make_kernel_work(parts, index);
    case actor_kind::function: return std::make_unique<function_work>(parts, self, parts.functions[self.node]);
    case actor_kind::copy_in:
        return std::make_unique<copy_in>(memory.on_host[self.inputs[0].channel].get(), nullptr,
                                         *memory.on_device[self.outputs[0]]);
    case actor_kind::copy_out:
        return std::make_unique<copy_out>(*memory.on_device[self.inputs[0].channel], self.inputs[0].reader,
                                          memory.on_host[self.outputs[0]].get(), nullptr);
    case actor_kind::input:
        if (memory.on_device[self.outputs[0]])
            return std::make_unique<copy_in>(nullptr, stream.memory, *memory.on_device[self.outputs[0]]);
        return std::make_unique<host_input>(stream, *memory.on_host[self.outputs[0]]);
    case actor_kind::output: break;
    }
    const auto& in = self.inputs[0];
    if (memory.on_device[in.channel])
        return std::make_unique<copy_out>(*memory.on_device[in.channel], in.reader, nullptr, stream.memory);
    return std::make_unique<host_output>(*memory.on_host[in.channel], in.reader, stream);
}

void fill_with_zeros(const rings& memory, const channel_range& range, command_chain& commands) {
    const auto bytes = static_cast<std::size_t>(range.end - range.begin);
    if (const auto& ring = memory.on_host[range.channel]) {
        for (auto position = range.begin; position < range.end; ++position) *ring->at(position) = std::byte{0};
        return;
    }
    memory.on_device[range.channel]->pieces(range.begin, bytes, [&](const buffer_piece& piece, std::size_t) {
        commands.add("filling a window with zeros", chain_position::before_others,
                     [&](cl_command_queue queue, cl_uint count, const cl_event* waits, cl_event* event) {
                         constexpr cl_uchar zero = 0;
                         return clEnqueueFillBuffer(queue, piece.buffer, &zero, sizeof zero, piece.offset, piece.bytes,
                                                    count, waits, event);
                     });
    });
}

} // namespace causeway::graph
