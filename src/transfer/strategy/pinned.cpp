// SPDX-License-Identifier: Apache-2.0
// Pinned: one page-locked staging copy of the whole transfer, or of as much as the cap holds (paper, section 3).
#include "transfer/plan.hpp"

#include <algorithm>

namespace causeway::transfer {

namespace {

class pinned final : public strategy {
  public:
    [[nodiscard]] std::string_view name() const override { return "pinned"; }
    [[nodiscard]] bool can(const route&) const override { return true; }

    /// Below this, splitting a transfer costs more than the overlap brings.
    [[nodiscard]] bool suits(const route& way) const override { return way.bytes <= (512u << 10); }

    [[nodiscard]] plan make(const route& way) const override {
        // Whole powers of two, so that the pool finds them again.
        std::size_t block = 4096;
        while (block < way.bytes && block < way.largest_block) block *= 2;
        return {.strategy = name(), .block_bytes = std::min(block, way.largest_block), .depth = 1};
    }
};

} // namespace

std::unique_ptr<strategy> make_pinned_strategy() { return std::make_unique<pinned>(); }

} // namespace causeway::transfer
