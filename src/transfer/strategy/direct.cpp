// SPDX-License-Identifier: Apache-2.0
// Direct: the device copies by itself, within its own memory.
#include "transfer/plan.hpp"

namespace causeway::transfer {

namespace {

class direct final : public strategy {
  public:
    [[nodiscard]] std::string_view name() const override { return "direct"; }
    [[nodiscard]] bool can(const route& way) const override { return way.direct; }
    [[nodiscard]] bool suits(const route&) const override { return true; }
    [[nodiscard]] plan make(const route& way) const override {
        return {.strategy = name(), .block_bytes = way.bytes, .direct = true};
    }
};

} // namespace

std::unique_ptr<strategy> make_direct_strategy() { return std::make_unique<direct>(); }

} // namespace causeway::transfer
