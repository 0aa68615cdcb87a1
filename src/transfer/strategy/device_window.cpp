// SPDX-License-Identifier: Apache-2.0
// Device window: a device brings its blocks over a direct link into memory of the other device, and no host touches them.
#include "transfer/plan.hpp"

namespace causeway::transfer {

namespace {

class device_window final : public strategy {
  public:
    [[nodiscard]] std::string_view name() const override { return "device-window"; }
    [[nodiscard]] bool can(const route& way) const override { return way.device_window; }
    /// Three steps that each take 10 to 15 us (H200, driver 580): a copy of less is over sooner through the host.
    [[nodiscard]] bool suits(const route& way) const override {
        return way.bytes >= smallest && !way.source.can_map && !way.target.can_map;
    }
    [[nodiscard]] plan make(const route& way) const override {
        // The link takes 43 us for 16 MiB, the calls for a block about 20: the copies on the devices hide behind the link.
        return {.strategy = name(),
                .block_bytes = round_block(way.bytes / 4, std::size_t{2} << 20, std::size_t{16} << 20),
                .depth = 6,
                .window = true,
                .device_window = true,
                .without_window = "pipelined"};
    }

  private:
    static constexpr std::size_t smallest = std::size_t{512} << 10;
};

} // namespace

std::unique_ptr<strategy> make_device_window_strategy() { return std::make_unique<device_window>(); }

} // namespace causeway::transfer
