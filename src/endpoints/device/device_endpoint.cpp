// SPDX-License-Identifier: Apache-2.0
// Copies between device memory and blocks, or maps the range where that copies nothing.
#include "endpoints/device/device_endpoint.hpp"

#include "base/error.hpp"
#include "cl/calls.hpp"
#include "endpoints/device/event_gate.hpp"
#include "transfer/plan.hpp"

#include <cstring>
#include <limits>
#include <optional>

namespace causeway::endpoints {

namespace {

using transfer::endpoint_traits;
using transfer::medium;
using transfer::step;

/// What ranges and boxes have in common: the link to the device and the end of a command.
class device_endpoint : public transfer::endpoint, protected transfer::waiting_end, protected transfer::window_source {
  public:
    device_endpoint(device_services services, buffer_location location, device_order order)
        : m_services(services), m_location(std::move(location)), m_order(std::move(order)) {}

    [[nodiscard]] std::string name() const override { return "device buffer"; }
    [[nodiscard]] transfer::abilities offers() override { return {.waits = this, .leaves = this}; }

    [[nodiscard]] std::shared_ptr<transfer::staging_allocator>
    allocator(const std::shared_ptr<transfer::staging_allocator>&) override {
        try {
            find_link();
        } catch (const transfer_error&) {
            return nullptr; // open() meets it again, and reports it
        }
        return m_link->allocator;
    }

    void enqueued() override {
        if (m_location.window || is_in_queue() || !cl::facts_of(m_location.device).keeps_addresses) return;
        try {
            find_link();
            m_first = m_services.links.address_of(*m_link, m_location.buffer.get());
        } catch (...) {
            return; // open() meets it again, and reports it
        }
    }

    [[nodiscard]] bool reaches(const transfer::device_name&) const override { return false; }
    [[nodiscard]] bool use(const transfer::device_memory&) override { return false; }
    void goes_to(std::uint64_t process) override {
        if (m_first != nullptr) m_outward = &m_services.links.outward(process);
    }

  protected:
    [[nodiscard]] const buffer_location& location() const { return m_location; }
    [[nodiscard]] device_link& link() { return *m_link; }
    [[nodiscard]] const device_services& services() const { return m_services; }
    void find_link() {
        if (!m_link) m_link = m_services.links.find(m_location.context.get(), m_location.device);
    }

    [[nodiscard]] const device_order& order() const { return m_order; }
    /// Whether the copy goes into the program's own queue.
    [[nodiscard]] bool is_in_queue() const { return m_order && m_order->queue; }

    /// Where the buffer begins, if the engine may work there; else null.
    [[nodiscard]] std::byte* first() const { return m_first; }
    /// The same, if the engine's thread had better copy a block of `bytes` itself: it keeps others waiting meanwhile.
    [[nodiscard]] std::byte* first_to_copy(std::size_t bytes) const {
        return bytes <= transfer::route::largest_of_caches ? m_first : nullptr;
    }

    /// Calls `block(copy)`, which copies `bytes` out of the buffer in place, by calls of `copy(to, from, in_a_row)`.
    template <class Block> void copy_out(std::size_t bytes, std::size_t in_a_row, Block block) const {
        // Short rows take as long wherever they go.
        constexpr std::size_t shortest_row = 4096;
        if (m_outward != nullptr && in_a_row >= shortest_row) {
            m_outward->copy(bytes, block);
        } else {
            block(outward_copies::through_caches);
        }
    }

    /// The same bytes in page-locked memory, out of which a driver takes rectangles of few bytes sooner; `block` if it
    /// lies there, if they are many, or if there is none.
    [[nodiscard]] transfer::block_reference locked(transfer::block_reference block, small_copy& keeper) {
        if (block.size() > small_writes::most_bytes || !link().locked || link().allocator->holds(block.data()))
            return block;
        keeper.memory = link().locked->take(block.size());
        if (keeper.memory.data() == nullptr) return block;
        std::memcpy(keeper.memory.data(), block.data(), block.size());
        return {{keeper.memory.data()}, block.size()};
    }

    /// Enqueues by `enqueue(event*)`, submits, and finishes `done` with `bytes` when that event completes.
    template <class Enqueue> void run(const cl::queue& queue, std::size_t offset, std::size_t bytes, const char* what,
                                      step& done, Enqueue enqueue, small_copy small = {}) {
        cl_event raw = nullptr;
        cl_int code = enqueue(&raw);
        auto running = cl::event::adopt(raw);
        if (code != CL_SUCCESS) {
            done.finish({0, {code, 0, 0, buffer_text(what, offset, bytes) + ": " + cl::code_text(code)}});
        } else {
            // In the program's queue, where it mostly waits for what is there, it was faster with a flush (file from an
            // H200, 8 bytes: 34 us, 40 without).
            const bool starts_unflushed = !is_in_queue() && cl::facts_of(m_location.device).starts_unflushed;
            m_services.copies.add(queue, std::move(running), offset, bytes, what, done, std::move(small),
                                  starts_unflushed);
        }
    }

  private:
    device_services m_services;
    buffer_location m_location;
    device_order m_order;
    std::shared_ptr<device_link> m_link;
    std::byte* m_first = nullptr;
    outward_copies* m_outward = nullptr; // if another process reads the blocks next
};

class range_endpoint final : public device_endpoint,
                             public window_end,
                             transfer::early_source,
                             transfer::copying_target,
                             transfer::window_target {
  public:
    range_endpoint(device_services services, buffer_location location, std::size_t offset, device_order order)
        : device_endpoint(services, std::move(location), std::move(order)), m_offset(offset) {}

    ~range_endpoint() override {
        if (m_ahead_queue) link().ahead.push_back(std::move(m_ahead_queue));
    }

    [[nodiscard]] transfer::abilities offers() override {
        return {.waits = this, .early = this, .copies = this, .leaves = this, .arrives = this};
    }

    [[nodiscard]] endpoint_traits traits() const override {
        // A target is mapped for reading too, which this flag forbids.
        const bool readable = (location().flags & CL_MEM_HOST_WRITE_ONLY) == 0;
        const auto facts = cl::facts_of(location().device);
        // The time that such a copy takes says nothing of the device: it waits for commands of the program first.
        if (is_in_queue()) return {.kind = medium::device};
        return {.kind = medium::device,
                .can_map = readable && facts.host_memory,
                .maps_at_once = readable && first() != nullptr,
                .resource = facts.identity,
                .device = device_name(),
                .in_window = is_in_window()};
    }

    void open(const transfer::open_request& request, step& done) override {
        try {
            find_link();
        } catch (...) {
            done.finish({0, current_failure()});
            return;
        }
        m_is_source = request.is_source;
        if (!request.map || request.bytes == 0) {
            done.finish({request.bytes, {}});
            return;
        }
        if (first() != nullptr) {
            m_shown = first() + m_offset;
            done.finish({request.bytes, {}});
            return;
        }
        // A target is mapped for reading too: bytes that a failed transfer does not reach must survive.
        const cl_map_flags flags = request.is_source ? CL_MAP_READ : CL_MAP_READ | CL_MAP_WRITE;
        m_map_queue = request.is_source ? link().from_device : link().to_device;
        m_mapped_bytes = request.bytes;
        run(m_map_queue, m_offset, request.bytes, "mapping", done, [&](cl_event* event) {
            cl_int code = CL_SUCCESS;
            m_mapped = m_shown = clEnqueueMapBuffer(m_map_queue.get(), location().buffer.get(), CL_FALSE, flags,
                                                    m_offset, request.bytes, 0, nullptr, event, &code);
            return code;
        });
    }

    [[nodiscard]] std::byte* memory() const override { return static_cast<std::byte*>(m_shown); }

    /// Where memory is the host's nothing is gained: no copy has to follow a kernel without a gap.
    [[nodiscard]] bool reads_ahead() override {
        if (is_in_queue()) return true;
        if (!order() || order()->after.empty() || cl::facts_of(location().device).host_memory) return false;
        try {
            find_link();
            m_ahead_queue = device_links::take_ahead_queue(link());
        } catch (const transfer_error&) {
            return false; // open() meets it again, and reports it
        }
        return static_cast<bool>(m_ahead_queue);
    }

    [[nodiscard]] bool reaches(const transfer::device_name& device) const override {
        const auto own = device_name();
        if (!own.is_known || is_in_queue()) return false;
        return own.uuid == device.uuid || services().windows.bridge()->reaches(own.uuid, device.uuid);
    }
    [[nodiscard]] bool can_leave_for(const transfer::device_name& device) override {
        if (is_in_window() || !services().windows.bridge()->reaches(device_name().uuid, device.uuid)) return true;
        try {
            const auto found = services().links.find(location().context.get(), location().device);
            m_way_out = services().links.window_of(*found).departures();
            return m_way_out != nullptr;
        } catch (const transfer_error&) {
            return false; // open() meets it again, and reports it
        }
    }
    [[nodiscard]] transfer::device_name device_for(endpoint&) override { return traits().device; }
    [[nodiscard]] transfer::device_memory window() override {
        if (is_in_window()) return {.first = address(0)};
        return services().links.window_of(link()).arrivals();
    }
    [[nodiscard]] bool use(const transfer::device_memory& window) override {
        const auto there = services().windows.at(window.first);
        return there && services().links.window_of(link()).can_fill(*there);
    }
    [[nodiscard]] std::size_t block_limit() const override {
        return m_way_out ? m_way_out->bytes() : std::numeric_limits<std::size_t>::max();
    }

    void read_ahead(std::size_t offset, transfer::block_reference block, step& done) override {
        std::vector<cl_event> after;
        for (const auto& each : order()->after) after.push_back(each.get());
        const auto& queue = is_in_queue() ? order()->queue : m_ahead_queue;
        run(queue, m_offset + offset, block.size(), "reading", done, [&](cl_event* event) {
            const auto code = clEnqueueReadBuffer(queue.get(), location().buffer.get(), CL_FALSE, m_offset + offset,
                                                  block.size(), block.data(), static_cast<cl_uint>(after.size()),
                                                  after.empty() ? nullptr : after.data(), event);
            if (is_in_queue() && code == CL_SUCCESS) order()->entered = cl::event::share(*event);
            return code;
        });
    }

    void read(std::size_t offset, transfer::block_reference block, step& done) override {
        if (block.is_window()) {
            const auto window = services().windows.at(block.address());
            services().links.window_of(link()).fill(
                window, {location().buffer, m_offset + offset, is_in_window() ? address(offset) : nullptr}, block,
                done);
            return;
        }
        if (const auto* const memory = first_to_copy(block.size())) {
            copy_out(block.size(), block.size(),
                     [&](auto copy) { copy(block.data(), memory + m_offset + offset, block.size()); });
            done.finish({block.size(), {}});
            return;
        }
        run(link().from_device, m_offset + offset, block.size(), "reading", done, [&](cl_event* event) {
            return clEnqueueReadBuffer(link().from_device.get(), location().buffer.get(), CL_FALSE, m_offset + offset,
                                       block.size(), block.data(), 0, nullptr, event);
        });
    }

    void write(std::size_t offset, transfer::block_reference block, step& done) override {
        if (block.is_window()) {
            const auto window = services().windows.at(block.address());
            services().links.window_of(link()).empty(window, block, {location().buffer, m_offset + offset}, done);
            return;
        }
        if (auto* const memory = first_to_copy(block.size())) {
            std::memcpy(memory + m_offset + offset, block.data(), block.size());
            done.finish({block.size(), {}});
            return;
        }
        if (block.size() <= small_writes::most_bytes && link().small) {
            write_small(offset, block, done);
            return;
        }
        run(queue_in(), m_offset + offset, block.size(), "writing", done, [&](cl_event* event) {
            return clEnqueueWriteBuffer(queue_in().get(), location().buffer.get(), CL_FALSE, m_offset + offset,
                                        block.size(), block.data(), 0, nullptr, event);
        });
    }

    [[nodiscard]] bool takes_from(const endpoint& source) const override {
        const auto* const linked = dynamic_cast<const window_end*>(&source);
        const auto* const other = dynamic_cast<const range_endpoint*>(&source);
        return (linked != nullptr && crosses_link(*linked)) || (other != nullptr && is_beside(*other));
    }

    void take(endpoint& source, std::size_t offset, std::size_t bytes, step& done) override {
        if (const auto* const linked = dynamic_cast<const window_end*>(&source); crosses_link(*linked)) {
            // Memory of another process is fetched by this one's device.
            const bool is_own = dynamic_cast<const range_endpoint*>(&source) != nullptr;
            services().links.bridge().copy(is_own ? linked->home()->device() : home()->device(), address(offset),
                                           linked->address(offset), bytes, done);
            return;
        }
        auto& other = dynamic_cast<range_endpoint&>(source);
        auto* const to = first_to_copy(bytes);
        if (const auto* const from = other.first_to_copy(bytes); from != nullptr && to != nullptr) {
            std::memcpy(to + m_offset + offset, from + other.m_offset + offset, bytes);
            done.finish({bytes, {}});
            return;
        }
        run(queue_in(), m_offset + offset, bytes, "copying to", done, [&](cl_event* event) {
            return clEnqueueCopyBuffer(queue_in().get(), other.location().buffer.get(), location().buffer.get(),
                                       other.m_offset + offset, m_offset + offset, bytes, 0, nullptr, event);
        });
    }

    void close(std::size_t, const failure&, step& done) override {
        if (m_mapped == nullptr && is_in_queue() && !m_is_source && !m_has_entered && order()->is_in_order) {
            // No byte was copied: the message was empty, say. The transfer ends in its turn all the same.
            run(order()->queue, m_offset, 0, "waiting to write", done,
                [&](cl_event* event) { return cl::mark(order()->queue.get(), event); });
            return;
        }
        if (m_mapped == nullptr) {
            done.finish({});
            return;
        }
        run(m_map_queue, m_offset, m_mapped_bytes, "unmapping", done, [&](cl_event* event) {
            return clEnqueueUnmapMemObject(m_map_queue.get(), location().buffer.get(), m_mapped, 0, nullptr, event);
        });
    }

    [[nodiscard]] const bridge::known_window* home() const override { return location().window.get(); }
    [[nodiscard]] std::byte* address(std::size_t offset) const override {
        return location().window->address() + location().window_offset + m_offset + offset;
    }

  private:
    /// Where a target is written.
    [[nodiscard]] const cl::queue& queue_in() {
        if (!is_in_queue()) return link().to_device;
        m_has_entered = true;
        return order()->queue;
    }

    /// In a queue of the program a write may also be slow because it waits for kernels; then rows are tried in vain.
    void write_small(std::size_t offset, transfer::block_reference block, step& done) {
        auto& choice = *link().small;
        const auto way = choice.way_of(block.size(), services().windows.is_used_elsewhere(link().uuid));
        small_copy small;
        if (way == small_writes::way::two_rows) block = locked(block, small);
        small.timing = choice.begin(way);
        run(
            queue_in(), m_offset + offset, block.size(), "writing", done,
            [&](cl_event* event) {
                auto* const queue = queue_in().get();
                auto* const buffer = location().buffer.get();
                if (way == small_writes::way::two_rows) {
                    const std::size_t origin[3] = {m_offset + offset, 0, 0}, host[3] = {},
                                      region[3] = {block.size() / 2, 2, 1};
                    if (clEnqueueWriteBufferRect(queue, buffer, CL_FALSE, origin, host, region, region[0], 0, region[0],
                                                 0, block.data(), 0, nullptr, event) == CL_SUCCESS)
                        return CL_SUCCESS;
                    choice.give_rows_up();
                }
                return clEnqueueWriteBuffer(queue, buffer, CL_FALSE, m_offset + offset, block.size(), block.data(), 0,
                                            nullptr, event);
            },
            std::move(small));
    }

    [[nodiscard]] bool is_in_window() const { return location().window != nullptr; }
    [[nodiscard]] transfer::device_name device_name() const {
        return services().links.name_of(location().context.get(), location().device, is_in_window());
    }

    /// Both lie in windows, of two devices with a link.
    [[nodiscard]] bool crosses_link(const window_end& source) const {
        return !is_in_queue() && is_in_window() && source.home() != nullptr && device_name().is_known &&
               services().windows.bridge()->reaches(source.home()->device(), home()->device());
    }

    /// Within one context, where no byte has to leave the device; between two GPUs of a context the vendor's copy is
    /// slower than ours through the host (NVIDIA driver 580: 0.67 GB/s).
    [[nodiscard]] bool is_beside(const range_endpoint& source) const {
        if (source.location().context.get() != location().context.get()) return false;
        if (source.is_in_queue()) return false; // which is another one: a copy stands in one
        return source.location().device == location().device ||
               (cl::facts_of(source.location().device).host_memory && cl::facts_of(location().device).host_memory);
    }

    std::size_t m_offset;
    bool m_is_source = false;
    bool m_has_entered = false; // the program's queue
    cl::queue m_ahead_queue;
    cl::queue m_map_queue;
    std::shared_ptr<bridge::known_window> m_way_out; // blocks leave through it for windows of other devices
    void* m_shown = nullptr; // where the transfer's first byte is
    void* m_mapped = nullptr; // the same, if it is to be unmapped
    std::size_t m_mapped_bytes = 0;
};

class box_endpoint final : public device_endpoint {
  public:
    box_endpoint(device_services services, buffer_location location, const box& shape)
        : device_endpoint(services, std::move(location), nullptr), m_box(shape) {}

    [[nodiscard]] endpoint_traits traits() const override { return {.kind = medium::device}; }

    void open(const transfer::open_request& request, step& done) override {
        try {
            find_link();
            done.finish({request.bytes, {}});
        } catch (...) {
            done.finish({0, current_failure()});
        }
    }

    void read(std::size_t offset, transfer::block_reference block, step& done) override {
        if (const auto* const memory = first_of_rows(block.size())) {
            const auto rows = [&](auto copy) {
                for_each_row(offset, block.size(), [&](std::size_t at, std::size_t packed, std::size_t bytes) {
                    copy(block.data() + packed, memory + at, bytes);
                });
            };
            copy_out(block.size(), m_box.region[0], rows);
            done.finish({block.size(), {}});
            return;
        }
        copy(link().from_device, offset, block.size(), "reading, packed,", done,
             [&](const std::size_t* origin, const std::size_t* host, const std::size_t* region, cl_event* event) {
                 return clEnqueueReadBufferRect(link().from_device.get(), location().buffer.get(), CL_FALSE, origin,
                                                host, region, m_box.row_pitch, m_box.slice_pitch, region[0],
                                                region[0] * region[1], block.data() + m_packed, 0, nullptr, event);
             });
    }

    void write(std::size_t offset, transfer::block_reference block, step& done) override {
        if (auto* const memory = first_of_rows(block.size())) {
            for_each_row(offset, block.size(), [&](std::size_t at, std::size_t packed, std::size_t bytes) {
                std::memcpy(memory + at, block.data() + packed, bytes);
            });
            done.finish({block.size(), {}});
            return;
        }
        small_copy small;
        block = locked(block, small);
        copy(
            link().to_device, offset, block.size(), "writing, packed,", done,
            [&](const std::size_t* origin, const std::size_t* host, const std::size_t* region, cl_event* event) {
                return clEnqueueWriteBufferRect(link().to_device.get(), location().buffer.get(), CL_FALSE, origin, host,
                                                region, m_box.row_pitch, m_box.slice_pitch, region[0],
                                                region[0] * region[1], block.data() + m_packed, 0, nullptr, event);
            },
            std::move(small));
    }

  private:
    /// As first_to_copy(): the engine's thread copies no more rows than it can in the time of a block.
    [[nodiscard]] std::byte* first_of_rows(std::size_t bytes) const {
        constexpr std::size_t most_rows = 4096;
        return bytes / m_box.region[0] <= most_rows ? first_to_copy(bytes) : nullptr;
    }

    /// Calls with where a row lies in the buffer and in the packed block, and its bytes.
    template <class Row> void for_each_row(std::size_t offset, std::size_t bytes, Row row) const {
        for (const auto& piece : split_packed_range(m_box.region, offset, bytes)) {
            auto packed = piece.packed_offset - offset;
            for (std::size_t slice = 0; slice < piece.region[2]; ++slice)
                for (std::size_t line = 0; line < piece.region[1]; ++line, packed += piece.region[0])
                    row(m_box.origin[0] + piece.origin[0] +
                            (m_box.origin[1] + piece.origin[1] + line) * m_box.row_pitch +
                            (m_box.origin[2] + piece.origin[2] + slice) * m_box.slice_pitch,
                        packed, piece.region[0]);
        }
    }

    /// The queue is in order: the last piece's event stands for all.
    template <class Enqueue> void copy(const cl::queue& queue, std::size_t offset, std::size_t bytes, const char* what,
                                       step& done, Enqueue enqueue, small_copy small = {}) {
        const auto pieces = split_packed_range(m_box.region, offset, bytes);
        run(
            queue, offset, bytes, what, done,
            [&](cl_event* event) {
                static constexpr std::size_t host_origin[3] = {0, 0, 0};
                cl_int code = CL_SUCCESS;
                for (std::size_t i = 0; i < pieces.size() && code == CL_SUCCESS; ++i) {
                    const auto& piece = pieces[i];
                    const std::size_t origin[3] = {m_box.origin[0] + piece.origin[0], m_box.origin[1] + piece.origin[1],
                                                   m_box.origin[2] + piece.origin[2]};
                    m_packed = piece.packed_offset - offset;
                    code = enqueue(origin, host_origin, piece.region.data(), i + 1 == pieces.size() ? event : nullptr);
                }
                // The pieces before one that was refused still use the block.
                if (code != CL_SUCCESS) clFinish(queue.get());
                return code;
            },
            std::move(small));
    }

    box m_box;
    std::size_t m_packed = 0; // where the piece under way is in the block
};

/// See make_queue_gate().
class queue_gate final : public transfer::gate {
  public:
    explicit queue_gate(device_order order) : m_order(std::move(order)) {}

    [[nodiscard]] state look() override {
        // The engine reads ahead after the first look.
        if (!std::exchange(m_has_looked, true)) return state::closed;
        if (!m_gate) {
            auto& entered = m_order->entered;
            if (!entered) {
                // There was no memory to read ahead. A mark waits for all, also where there is no order.
                if (m_order->after.empty() && !m_order->is_in_order) return state::open;
                std::vector<cl_event> after;
                for (const auto& each : m_order->after) after.push_back(each.get());
                cl_event raw = nullptr;
                const auto code = after.empty() ? cl::mark(m_order->queue.get(), &raw)
                                                : clEnqueueMarkerWithWaitList(m_order->queue.get(),
                                                                              static_cast<cl_uint>(after.size()),
                                                                              after.data(), &raw);
                if (code != CL_SUCCESS) return state::failed;
                entered = cl::event::adopt(raw);
            }
            m_gate = make_event_gate(entered, on_failure::open);
        }
        return m_gate->look();
    }

    void arm(const std::shared_ptr<transfer::waker>& engine, std::uint64_t command) override {
        if (m_gate) m_gate->arm(engine, command);
    }

    /// It is the transfer's own read.
    [[nodiscard]] bool knows_what() const override { return false; }

  private:
    device_order m_order;
    bool m_has_looked = false;
    std::unique_ptr<transfer::gate> m_gate;
};

} // namespace

std::unique_ptr<transfer::gate> make_queue_gate(device_order order) {
    return std::make_unique<queue_gate>(std::move(order));
}

std::unique_ptr<transfer::endpoint> make_range_endpoint(device_services services, buffer_location location,
                                                        std::size_t offset, device_order order) {
    return std::make_unique<range_endpoint>(services, std::move(location), offset, std::move(order));
}

bool is_dense(const box& shape) {
    const bool has_dense_rows = shape.region[1] == 1 || shape.row_pitch == shape.region[0];
    const bool has_dense_slices = shape.region[2] == 1 || shape.slice_pitch == shape.region[0] * shape.region[1];
    return has_dense_rows && has_dense_slices;
}

std::unique_ptr<transfer::endpoint> make_box_endpoint(device_services services, buffer_location location,
                                                      const box& shape, device_order order) {
    if (!is_dense(shape)) return std::make_unique<box_endpoint>(services, std::move(location), shape);
    const auto offset = shape.origin[0] + shape.origin[1] * shape.row_pitch + shape.origin[2] * shape.slice_pitch;
    return make_range_endpoint(services, std::move(location), offset, std::move(order));
}

} // namespace causeway::endpoints
