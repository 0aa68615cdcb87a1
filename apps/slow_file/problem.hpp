// SPDX-License-Identifier: Apache-2.0
// A file read in chunks, each as slow to read as it is to compute on.
#pragma once

#include "common/opencl.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace slow_file {

constexpr std::size_t chunk_bytes = std::size_t{4} << 20, chunks = 12;

/// Two buffers take turns; what the kernel has made of each chunk is kept in a third.
class problem {
  public:
    explicit problem(cl_device_id device);

    [[nodiscard]] cl_command_queue transfers() const { return m_transfers.get(); }
    [[nodiscard]] cl_command_queue kernels() const { return m_kernels.get(); }
    [[nodiscard]] cl_mem buffer_of(std::size_t chunk) const { return m_buffers[chunk % m_buffers.size()].get(); }
    /// `after` and `computed` may be null.
    void enqueue_kernel(std::size_t chunk, cl_event after, cl_event* computed);

    /// Sets how often the kernel goes over the words of a chunk, so that it takes about `seconds` for each chunk.
    void take(double seconds);
    void forget();
    /// Whether the kernel has seen the whole file, by words of every chunk.
    [[nodiscard]] bool is_right();

  private:
    apps::context m_context;
    apps::queue m_kernels, m_transfers;
    apps::program m_program;
    apps::kernel m_kernel;
    std::array<apps::buffer, 2> m_buffers;
    apps::buffer m_results;
    cl_uint m_passes = 1;
};

/// The word of the file with that index.
constexpr std::uint32_t word_of_file(std::size_t index) { return std::uint32_t(index * 2654435761U + 12345U); }

/// Two solutions of the same problem, each in a source of its own. Marks enclose the lines that count as communication.
void by_hand(problem& of, std::FILE* input);
void by_causeway(problem& of, std::FILE* input);

} // namespace slow_file
