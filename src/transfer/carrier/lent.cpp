// SPDX-License-Identifier: Apache-2.0
// Lent: the target grants memory for each block, the source fills it, and nobody copies it again here.
#include "transfer/carrier.hpp"

namespace causeway::transfer {

namespace {

class lent_carrier final : public carrier {
  public:
    lent_carrier(const carrier_request& wanted, lending_target& lender)
        : carrier(wanted.source, wanted.target), m_lender(lender),
          m_kind(lender.lends_device_memory() ? memory_kind::window : memory_kind::host) {
        m_lender.lend(wanted.source.allocator(), wanted.more);
        auto* const leaves = wanted.source.offers().leaves;
        if (m_kind == memory_kind::host && leaves != nullptr) leaves->goes_to(m_lender.reader());
    }

    [[nodiscard]] carrier_traits traits() const override { return {.name = "lent", .is_shared = true, .kind = m_kind}; }
    [[nodiscard]] std::optional<block_memory> acquire(std::size_t offset) override {
        const auto memory = m_lender.borrow(offset);
        return memory ? std::optional(memory) : std::nullopt;
    }

  private:
    lending_target& m_lender;
    memory_kind m_kind;
};

} // namespace

void make_lent_carrier(const carrier_request& wanted, carrier_box& into) {
    auto* const lender = wanted.target.offers().lends;
    if (lender != nullptr && lender->lends()) into.emplace<lent_carrier>(wanted, *lender);
}

} // namespace causeway::transfer
