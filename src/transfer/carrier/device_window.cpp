// SPDX-License-Identifier: Apache-2.0
// Device window: the source's device brings blocks to memory of the target's device, over a link where there is one,
// and no host touches them.
#include "transfer/carrier/staged.hpp"
#include "transfer/plan.hpp"

namespace causeway::transfer {

namespace {

class device_window_carrier final : public carrier {
  public:
    device_window_carrier(carrier_request wanted, device_memory window)
        : carrier(wanted.source, wanted.target), m_wanted(std::move(wanted)), m_window(std::move(window)) {}

    [[nodiscard]] carrier_traits traits() const override {
        return {.name = "device window",
                .writes = !m_window.is_in_place(),
                .works_at_once = true,
                .has_fixed_blocks = m_window.is_in_place(),
                .is_shared = true,
                .kind = memory_kind::window};
    }
    [[nodiscard]] std::size_t largest_block() const override {
        return m_window.allocator ? m_window.pool->largest_block() : carrier::largest_block();
    }
    [[nodiscard]] bool secure(std::size_t block_bytes) override {
        if (m_window.is_in_place()) return true;
        if (!m_blocks) {
            m_wanted.block_bytes = block_bytes;
            m_blocks.emplace(m_wanted, m_window);
        }
        return m_blocks->secure(block_bytes);
    }
    [[nodiscard]] std::optional<block_memory> acquire(std::size_t offset) override {
        if (m_window.is_in_place()) return block_memory{m_window.first + offset, memory_kind::window};
        return m_blocks->acquire(offset);
    }
    void release(block_memory memory) override {
        if (m_blocks) m_blocks->release(memory);
    }
    void lose(block_memory memory) override {
        if (m_blocks) m_blocks->lose(memory);
    }

  private:
    carrier_request m_wanted;
    device_memory m_window;
    std::optional<staged_carrier> m_blocks; // of the window, unless the target's own bytes lie in it
};

} // namespace

void make_device_window_carrier(const carrier_request& wanted, carrier_box& into) {
    if (!wanted.chosen.device_window || wanted.bytes == 0) return;
    const auto from = wanted.source.offers(), to = wanted.target.offers();
    if (from.leaves == nullptr || to.arrives == nullptr) return;
    auto window = to.arrives->window();
    if (window.first != nullptr && from.leaves->use(window))
        into.emplace<device_window_carrier>(wanted, std::move(window));
}

} // namespace causeway::transfer
