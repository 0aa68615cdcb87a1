// SPDX-License-Identifier: Apache-2.0
// What every route needs: a device with its queues, data that shows every mistake, plain copies.
#pragma once

#include "common/opencl.hpp"
#include "perf/session.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace perf {

/// Below this size a transfer is one block, whose stages follow one another. From this size on they can overlap.
constexpr std::size_t overlapping = mib;

[[nodiscard]] inline limit_rule rule_for(std::size_t bytes) {
    return bytes < overlapping ? limit_rule::sum : limit_rule::slowest;
}

/// True where the device works in the host's memory, so that no copy is needed at all.
bool has_host_memory(cl_device_id device);

/// One device with an in-order and an out-of-order queue, and a second in-order one for copies both ways at once.
struct bench_device {
    explicit bench_device(cl_device_id chosen);
    /// `shared` has `chosen` among its devices.
    bench_device(cl_context shared, cl_device_id chosen);

    cl_device_id device;
    apps::context context;
    apps::queue in_order, other_way, out_of_order;
    bool host_memory; // device memory is host memory
};

[[nodiscard]] apps::buffer make_buffer(const bench_device& where, std::size_t bytes, buffer_kind kind);

/// Data in page-locked memory. Each transfer moves another window of it, so that bytes of an earlier transfer never
/// look right.
class test_data {
  public:
    test_data(const bench_device& where, std::size_t window_bytes);

    static constexpr std::size_t windows = 64;

    [[nodiscard]] std::size_t whole_bytes() const { return m_bytes + slack; }
    [[nodiscard]] const std::byte* whole() const { return static_cast<const std::byte*>(m_memory.data()); }
    [[nodiscard]] static std::size_t offset_of(std::size_t window) { return window % windows * step; }
    [[nodiscard]] const std::byte* at(std::size_t window) const { return whole() + offset_of(window); }

    /// A device buffer that holds all of the data.
    [[nodiscard]] apps::buffer on_device(const bench_device& where, buffer_kind kind = buffer_kind::ordinary) const;

    /// Throws wrong_data with the offset of the first wrong byte.
    void verify(const void* found, std::size_t window) const;

  private:
    static constexpr std::size_t step = 4096; // keeps every window as aligned as the first
    static constexpr std::size_t slack = windows * step;

    std::size_t m_bytes;
    apps::pinned_memory m_memory;
};

/// Throws wrong_data with the offset of the first byte of `found` that is not as `expected`.
void verify_same(const void* found, const void* expected, std::size_t bytes);

/// Pageable memory, page-aligned, padded to whole pages, and touched once so that no run pays for page faults.
class pageable_memory {
  public:
    static constexpr std::size_t page = 4096;
    explicit pageable_memory(std::size_t bytes);
    [[nodiscard]] std::byte* data() const { return m_first; }

  private:
    std::vector<std::byte> m_memory;
    std::byte* m_first;
};

/// Plain blocking copies.
void read_device(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t bytes, void* target);
void write_device(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t bytes, const void* source);

/// The first `bytes` of a buffer in host memory, mapped by the driver if need be, while this lives. Throws as
/// apps::check().
class mapped_to_read {
  public:
    mapped_to_read(cl_command_queue queue, cl_mem buffer, std::size_t bytes);
    ~mapped_to_read();
    mapped_to_read(const mapped_to_read&) = delete;
    mapped_to_read& operator=(const mapped_to_read&) = delete;
    [[nodiscard]] const std::byte* data() const { return static_cast<const std::byte*>(m_address); }

  private:
    cl_command_queue m_queue;
    cl_mem m_buffer;
    void* m_address = nullptr;
};

/// Throws with the text of the refusal.
void check_transfer(cl_int code, const char* call);

/// Waits for `events`; a failed transfer throws with its message.
void wait_for(std::span<const cl_event> events);
void wait_for_all(const std::vector<apps::event>& events);

/// How `transfer` moved its bytes.
used_plan plan_of(cl_event transfer);

/// What the library says of direct links of `device`. Blocks until the links have been set up.
std::string words_on_links(cl_device_id device);

/// An event that the program completes itself.
apps::event create_gate(cl_context context);
void open_gate(const apps::event& gate);

/// Adds a way of the library for each of `plans`. timed(event) runs one transfer, sets the event, returns seconds.
template <class Timed> void add_ours(comparison& made, const std::vector<forced_plan>& plans, Timed timed,
                                     const std::function<void()>& check) {
    for (const auto& forced : plans) {
        const auto used = std::make_shared<used_plan>();
        const auto run = [timed, used] {
            apps::event moved;
            const double seconds = timed(moved);
            *used = plan_of(moved.get());
            return seconds;
        };
        made.add_ours(forced, run, check, used);
    }
}

} // namespace perf
