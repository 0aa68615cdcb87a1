// SPDX-License-Identifier: Apache-2.0
// How a flow moves its bytes, and the strategies that decide it.
#pragma once

#include "base/options.hpp"
#include "transfer/endpoint.hpp"

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace causeway::transfer {

/// A route with block size, depth and lanes.
struct plan {
    std::string_view strategy;
    std::size_t block_bytes = 0;
    unsigned depth = 1; ///< blocks in flight
    unsigned lanes = 1; ///< workers that read or write files at once
    unsigned handed = 1; ///< blocks that are with the workers at once: some wait there, so that no worker ever does
    std::size_t piece_bytes = 0; ///< what one worker reads of a block: several do so at once
    bool map_source = false;
    bool map_target = false;
    bool direct = false; ///< the target takes the bytes from the source itself
    bool window = false; ///< staging memory is shared with another process, if it can be
    std::string_view without_window; ///< the strategy that it is if it cannot
};

/// What a strategy decides by.
struct route {
    endpoint_traits source, target;
    std::size_t bytes = 0;
    unsigned lanes = 1;            ///< workers that there are
    std::size_t largest_block = 0; ///< that staging memory holds twice
    bool direct = false;           ///< the target can take the bytes from the source itself
};

/// A way to build plans. Registered in make_strategies(), in order of preference.
class strategy {
  public:
    virtual ~strategy() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// Whether it can move bytes on this route at all.
    [[nodiscard]] virtual bool can(const route& way) const = 0;
    /// Whether it is the one to take when nothing is forced; asked in order of preference.
    [[nodiscard]] virtual bool suits(const route& way) const = 0;
    [[nodiscard]] virtual plan make(const route& way) const = 0;
};

[[nodiscard]] std::unique_ptr<strategy> make_direct_strategy();
[[nodiscard]] std::unique_ptr<strategy> make_mapped_strategy();
[[nodiscard]] std::unique_ptr<strategy> make_shared_window_strategy();
[[nodiscard]] std::unique_ptr<strategy> make_pinned_strategy();
[[nodiscard]] std::unique_ptr<strategy> make_pipelined_strategy();

/// Picks the plan of a flow: what the options force, else what suits.
class planner {
  public:
    explicit planner(const options& settings);
    [[nodiscard]] plan choose(route way) const;

  private:
    const options& m_options;
    std::vector<std::unique_ptr<strategy>> m_strategies;
};

/// Power of two nearest below `bytes`, within the limits.
[[nodiscard]] std::size_t round_block(std::size_t bytes, std::size_t smallest, std::size_t largest);

} // namespace causeway::transfer
