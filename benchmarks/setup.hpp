// SPDX-License-Identifier: Apache-2.0
// What every route needs: the options, a device with its queues, data that shows every mistake.
#pragma once

#include "common/opencl.hpp"
#include "measurement.hpp"

// Raw MPI is part of the limit: no call of ours in its way.
#define CAUSEWAY_NO_MPI_MACROS
#include <CL/cl_data_transfer.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace benchmarks {

constexpr std::size_t kib = 1U << 10U;
constexpr std::size_t mib = 1U << 20U;

struct settings {
    std::vector<std::string> routes; // empty: all that the number of ranks allows
    std::vector<std::size_t> sizes;  // empty: the routes' own
    std::vector<std::size_t> blocks; // forced block sizes, timed beside the library's choice
    int rounds = 7;
    std::filesystem::path directory;

    [[nodiscard]] bool wants(const std::string& route) const;

    /// Small transfers are over so soon that more of them cost nothing.
    [[nodiscard]] int rounds_for(std::size_t bytes) const;
};

/// One device with an in-order and an out-of-order queue, and a second in-order one for copies both ways at once.
struct place {
    explicit place(cl_device_id chosen);

    cl_device_id device;
    apps::context context;
    apps::queue in_order, other_way, out_of_order;
    bool host_memory; // device memory is host memory
};

/// Data in page-locked memory. A transfer moves a window of it, and each transfer another window, so that what an
/// earlier one has left behind is never taken for right.
class test_data {
  public:
    test_data(const place& where, std::size_t window_bytes);

    static constexpr std::size_t windows = 64;

    [[nodiscard]] std::size_t whole_bytes() const { return m_bytes + slack; }
    [[nodiscard]] const std::byte* whole() const { return static_cast<const std::byte*>(m_memory.data()); }
    [[nodiscard]] static std::size_t offset_of(std::size_t window) { return window % windows * step; }
    [[nodiscard]] const std::byte* at(std::size_t window) const { return whole() + offset_of(window); }

    /// A device buffer that holds all of the data.
    [[nodiscard]] apps::buffer on_device(const place& where) const;

    /// Throws with the offset of the first wrong byte.
    void verify(const void* found, std::size_t window) const;

  private:
    static constexpr std::size_t step = 4096; // keeps every window as aligned as the first
    static constexpr std::size_t slack = windows * step;

    std::size_t m_bytes;
    apps::pinned_memory m_memory;
};

/// Page-aligned memory of the ordinary kind, touched once so that no run pays for its first use.
class pageable_memory {
  public:
    explicit pageable_memory(std::size_t bytes);
    [[nodiscard]] std::byte* data() const { return m_first; }

  private:
    std::vector<std::byte> m_memory;
    std::byte* m_first;
};

/// Plain blocking copies.
void read_device(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t bytes, void* target);
void write_device(cl_command_queue queue, cl_mem buffer, std::size_t offset, std::size_t bytes, const void* source);

/// Throws with the text of the refusal.
void check_transfer(cl_int code, const char* call);

/// Waits for `events`; a failed transfer throws with its message.
void wait_for(std::span<const cl_event> events);

/// "pipelined 4 MiB x 16, 8 lanes"
std::string plan_of(cl_event transfer);
unsigned lanes_of(cl_event transfer);
std::size_t block_of(cl_event transfer);

/// Forces a block size while it lives; 0 forces nothing.
class forced_block {
  public:
    explicit forced_block(std::size_t bytes);
    ~forced_block();
    forced_block(const forced_block&) = delete;
    forced_block& operator=(const forced_block&) = delete;

  private:
    std::string m_before;
};

/// "causeway" or "causeway, block 1 MiB"
std::string name_with_block(const std::string& name, std::size_t block);

// Each prints its table and returns its lines.
std::vector<line> file_routes(const place& where, const settings& wanted);
std::vector<line> enqueue_cost(const place& where, const settings& wanted);

// Collective over the two ranks of `comm`; rank 0 prints.
std::vector<line> rank_routes(const place& where, const settings& wanted, MPI_Comm comm);
std::vector<line> message_latency(const place& where, const settings& wanted, MPI_Comm comm);

} // namespace benchmarks
