// SPDX-License-Identifier: Apache-2.0
// Pinned: one page-locked staging copy of the whole transfer, or of as much as the cap holds (paper, section 3).
#include "transfer/plan.hpp"

namespace causeway::transfer {

namespace {

class pinned final : public strategy {
  public:
    [[nodiscard]] std::string_view name() const override { return "pinned"; }
    [[nodiscard]] bool can(const route&) const override { return true; }

    /// Up to this, splitting a transfer costs more than the overlap brings.
    [[nodiscard]] bool suits(const route& way) const override { return way.bytes <= largest_whole; }

    [[nodiscard]] plan make(const route& way) const override {
        return {.strategy = name(), .block_bytes = whole_block(way), .depth = 1};
    }
};

} // namespace

std::unique_ptr<strategy> make_pinned_strategy() { return std::make_unique<pinned>(); }

} // namespace causeway::transfer
