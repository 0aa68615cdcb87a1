// SPDX-License-Identifier: Apache-2.0
// Shared window: devices of two ranks of one node copy to and from staging memory that both processes have mapped.
#include "transfer/plan.hpp"

#include <algorithm>

namespace causeway::transfer {

namespace {

class shared_window final : public strategy {
  public:
    [[nodiscard]] std::string_view name() const override { return "shared-window"; }

    [[nodiscard]] bool can(const route& way) const override {
        return (way.source.kind == medium::device && way.target.kind == medium::rank) ||
               (way.source.kind == medium::rank && way.target.kind == medium::device);
    }

    /// Where device memory is host memory, MPI copies straight from one to the other: by one processor, past its
    /// caches.
    [[nodiscard]] bool suits(const route& way) const override {
        return (!way.source.can_map && !way.target.can_map) || way.goes_through_caches();
    }

    [[nodiscard]] plan make(const route& way) const override {
        plan result{.strategy = name(), .window = true};
        if (way.goes_through_caches() && way.copies_itself()) {
            result.block_bytes = round_block(way.bytes / 4, 64 << 10, 256 << 10);
            result.depth = 6;
            result.without_window = "pipelined";
        } else if (way.bytes <= largest_whole) {
            result.block_bytes = whole_block(way);
            result.without_window = "pinned";
        } else if (way.goes_through_caches()) {
            // One processor fills a block while another one empties the block before, and caches hold both. Smaller
            // blocks wait for threads of drivers to wake up.
            result.block_bytes = std::min(route::largest_of_caches, way.largest_block);
            result.depth = 6;
            result.without_window = "pipelined";
        } else {
            // The first copy out and the last copy in overlap with nothing: the more blocks the better, but copies of
            // less than a MiB do not reach the bandwidth of the link, nor hide what two ranks have to tell each other.
            const bool is_large = way.bytes >= std::size_t{128} << 20 && !way.both_ways;
            const auto block = round_block(way.bytes / 16, 256 << 10,
                                           is_large ? std::size_t{4} << 20 : largest_shared_both_ways);
            result.block_bytes = std::min(block, way.largest_block);
            result.depth = 6;
            result.without_window = "pipelined";
        }
        return result;
    }
};

} // namespace

std::unique_ptr<strategy> make_shared_window_strategy() { return std::make_unique<shared_window>(); }

} // namespace causeway::transfer
