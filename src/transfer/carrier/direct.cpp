// SPDX-License-Identifier: Apache-2.0
// Direct: the target copies from the source by itself.
#include "transfer/carrier.hpp"
#include "transfer/plan.hpp"

namespace causeway::transfer {

namespace {

class direct_carrier final : public carrier {
  public:
    using carrier::carrier;
    [[nodiscard]] carrier_traits traits() const override { return {.name = "direct", .reads = false}; }
    [[nodiscard]] std::optional<block_memory> acquire(std::size_t) override { return block_memory(); }
    void write(std::size_t offset, block_reference block, step& done) override {
        // A plan is direct only where the target copies. NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
        target().offers().copies->take(source(), offset, block.size(), done);
    }
};

} // namespace

void make_direct_carrier(const carrier_request& wanted, carrier_box& into) {
    if (wanted.chosen.direct) into.emplace<direct_carrier>(wanted.source, wanted.target);
}

} // namespace causeway::transfer
