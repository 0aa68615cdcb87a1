// SPDX-License-Identifier: Apache-2.0
// In place: one end shows its bytes as host memory, so the other one reads or writes them there.
#include "transfer/carrier.hpp"
#include "transfer/plan.hpp"

namespace causeway::transfer {

namespace {

class in_place_carrier final : public carrier {
  public:
    enum class of { source, target };

    in_place_carrier(endpoint& source, endpoint& target, of which, std::byte* first)
        : carrier(source, target), m_of(which), m_first(first) {}

    [[nodiscard]] carrier_traits traits() const override {
        return {.name = "in place", .reads = m_of == of::target, .writes = m_of == of::source, .works_at_once = true};
    }
    [[nodiscard]] std::optional<block_memory> acquire(std::size_t offset) override {
        return block_memory{m_first + offset};
    }

  private:
    of m_of;
    std::byte* m_first;
};

} // namespace

void make_in_place_carrier(const carrier_request& wanted, carrier_box& into) {
    const bool source_shows = wanted.chosen.map_source || wanted.source_traits.has_memory;
    const bool target_shows = wanted.chosen.map_target || wanted.target_traits.has_memory;
    using of = in_place_carrier::of;
    if (auto* const first = source_shows || !target_shows ? wanted.source.memory() : nullptr; first != nullptr)
        into.emplace<in_place_carrier>(wanted.source, wanted.target, of::source, first);
    else if (auto* const own = wanted.target.memory(); own != nullptr)
        into.emplace<in_place_carrier>(wanted.source, wanted.target, of::target, own);
}

} // namespace causeway::transfer
