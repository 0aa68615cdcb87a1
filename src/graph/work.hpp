// SPDX-License-Identifier: Apache-2.0
// What a node does when it fires.
#pragma once

#include "base/error.hpp"
#include "cl/handles.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace causeway::graph {

/// A kernel and its constant arguments. The other arguments are the node's inputs, then its outputs, by position.
struct kernel_code {
    struct argument {
        cl_uint index = 0;
        std::size_t bytes = 0;
        std::vector<std::byte> value; ///< empty: so many bytes of local memory
    };
    cl::program program;
    std::string function;
    std::vector<argument> values;
    cl_uint dimensions = 0; ///< 0: one work item for each `item_bytes` of the first output's token
    std::size_t item_bytes = 0;
    std::array<std::size_t, 3> global{}, local{}; ///< local of zeros: as the implementation likes
};

/// One firing of a host function: by position, what it sees and where its tokens go.
struct host_firing {
    std::uint64_t number = 0;
    std::vector<std::span<const std::byte>> inputs;
    std::vector<std::span<std::byte>> outputs;
};
/// Throws to end the run. Called on the thread that executes the graph.
using host_function = std::function<void(const host_firing&)>;

/// Fills a token and returns the bytes read; fewer than the token's size end the stream.
using token_reader = std::function<std::size_t(std::uint64_t number, std::span<std::byte> token)>;
using token_writer = std::function<void(std::uint64_t number, std::span<const std::byte> token)>;

/// The outer end of a stream: memory of the program, or functions.
struct stream_end {
    std::byte* memory = nullptr;
    bool page_locked = false; ///< copy commands are fast from and to the memory
    token_reader read;
    token_writer write;

    /// Called by initialize() where the token size was left to the library.
    std::function<void(std::size_t token_bytes)> use_token;
    /// For a file that each run reads or writes from one offset: sets that of the next run.
    std::function<void(std::int64_t offset)> use_offset;

    // The rest is for ends that move tokens asynchronously. None of these functions blocks. Such an end rings the
    // graph's doorbell whenever a result may have changed.
    /// Whether the next token can be read or written at once.
    std::function<bool()> ready;
    /// Called once at the end of each run, which has no more tokens for this end; `why` says if it failed.
    std::function<void(const failure& why)> close;
    /// After close(): true once every token is where it belongs and nothing is under way. Throws token_error if that
    /// can never be.
    std::function<bool()> finished;
};

/// Thrown by an end for a token other than the one it was given.
class token_error : public transfer_error {
  public:
    token_error(std::uint64_t number, const failure& reason) : transfer_error(reason), m_number(number) {}
    [[nodiscard]] std::uint64_t number() const { return m_number; }

  private:
    std::uint64_t m_number;
};

} // namespace causeway::graph
