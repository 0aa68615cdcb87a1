// SPDX-License-Identifier: Apache-2.0
// Pipelined: blocks flow through the stages of the route, overlapped (paper, section 3).
#include "transfer/plan.hpp"

#include <algorithm>

namespace causeway::transfer {

namespace {

class pipelined final : public strategy {
  public:
    [[nodiscard]] std::string_view name() const override { return "pipelined"; }
    [[nodiscard]] bool can(const route&) const override { return true; }
    [[nodiscard]] bool suits(const route&) const override { return true; }

    [[nodiscard]] plan make(const route& way) const override {
        plan result{.strategy = name()};
        const bool has_file = way.touches(medium::file);
        // Four blocks in flight keep two stages of uneven speed at 96 % of the slower one. At least eight blocks in all
        // keep filling and draining short. Copies reach 97 % of the link's bandwidth with 4 MiB, 94 % with 2 MiB, 88 %
        // with 1 MiB, 78 % with 512 KiB.
        result.depth = 4;
        result.block_bytes = round_block(way.bytes / 8, 256 << 10, 4 << 20);
        if (way.has_one_writer()) {
            // The copy is many times as fast as the writer, who is not without a block so. The fewer bytes lie between
            // the two, the nearer are they to the writer's processor (decision 12).
            result.depth = 2;
            result.block_bytes = round_block(way.bytes / 4, 256 << 10, 2 << 20);
        } else if (way.source.kind == medium::file && way.bytes > largest_in_small_copies) {
            // Many I/O threads share a block that they read, and a good number of them are under way. 3 us of a copy
            // are not its bytes'; in smaller transfers, what fills and drains the pipeline counts more.
            result.depth = 10;
        } else if (has_file) {
            result.depth = 16;
            const std::size_t largest = way.bytes <= largest_in_small_copies ? 1 << 20 : 2 << 20;
            result.block_bytes = std::min(result.block_bytes, largest);
        }
        return result;
    }

  private:
    static constexpr std::size_t largest_in_small_copies = std::size_t{64} << 20;
};

} // namespace

std::unique_ptr<strategy> make_pipelined_strategy() { return std::make_unique<pipelined>(); }

} // namespace causeway::transfer
