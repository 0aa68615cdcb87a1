// SPDX-License-Identifier: Apache-2.0
// Device window: a device brings its blocks over a direct link into memory of the other device, and no host touches
// them.
#include "transfer/plan.hpp"

#include <algorithm>
#include <bit>

namespace causeway::transfer {

namespace {

class device_window final : public strategy {
  public:
    [[nodiscard]] std::string_view name() const override { return "device-window"; }
    [[nodiscard]] bool can(const route& way) const override { return way.device_window; }
    /// Three steps that each take some 20 us (H200, driver 580): what is smaller is over sooner through the host.
    /// Within one device two processes take turns of 150 us.
    [[nodiscard]] bool suits(const route& way) const override {
        const bool within_one = same_device(way.source.device, way.target.device);
        const bool is_half_there = way.source.in_window != way.target.in_window;
        const auto least = within_one                                    ? smallest_within_one
                           : is_there(way)                               ? smallest_in_window
                           : !way.touches(medium::rank) && is_half_there ? smallest_half_there
                           : !way.touches(medium::rank)                  ? smallest_of_peers
                                                                         : smallest_linked;
        return way.bytes >= least && !way.source.can_map && !way.target.can_map;
    }
    [[nodiscard]] plan make(const route& way) const override {
        // The link takes 43 us for 16 MiB, the calls for a block 20 to 60: one block is better than two of half the
        // size.
        const auto whole = std::bit_ceil(std::max(way.bytes, std::size_t{4096}));
        // Where nothing is copied before and behind it, there is nothing that smaller ones would overlap.
        const auto block = is_there(way)         ? std::min(whole, 4 * middle)
                           : whole <= middle     ? whole
                           : whole <= 2 * middle ? middle
                                                 : 2 * middle;
        return {.strategy = name(),
                .block_bytes = block,
                .depth = 6,
                .window = true,
                .device_window = true,
                .without_window = "pipelined"};
    }

  private:
    /// Whether the bytes lie in windows, as far as this side knows: the other one of a message may want smaller blocks.
    static bool is_there(const route& way) {
        const auto needs_no_copy = [](const endpoint_traits& end) {
            return end.kind != medium::device || end.in_window;
        };
        return needs_no_copy(way.source) && needs_no_copy(way.target);
    }

    /// Without steps on the device, 20 us for anything up to 512 KiB: less than a message that carries its bytes along.
    static constexpr std::size_t smallest_in_window = (std::size_t{4} << 10) + 1;
    /// One copy on a device and one over the link.
    static constexpr std::size_t smallest_half_there = std::size_t{64} << 10;
    /// Within one process 1 MiB takes 111 to 153 us this way, and 105 to 129 through the host (two H100).
    static constexpr std::size_t smallest_of_peers = std::size_t{2} << 20;
    /// Between ranks 4 MiB take 222 us this way, 304 through the host, both ways 493 and 522 (one H200).
    static constexpr std::size_t smallest_within_one = std::size_t{4} << 20;
    static constexpr std::size_t middle = std::size_t{16} << 20;
};

} // namespace

std::unique_ptr<strategy> make_device_window_strategy() { return std::make_unique<device_window>(); }

} // namespace causeway::transfer
