// SPDX-License-Identifier: Apache-2.0
// Mapped: device memory is host memory, so the other endpoint works straight on it (paper, section 3).
#include "transfer/plan.hpp"

#include <algorithm>

namespace causeway::transfer {

namespace {

class mapped final : public strategy {
  public:
    [[nodiscard]] std::string_view name() const override { return "mapped"; }

    [[nodiscard]] bool can(const route& way) const override {
        // Two ranges of one buffer: PoCL 3.1 takes a write from the buffer's own first byte for one that changes
        // nothing.
        if (way.direct) return false;
        return way.source.can_map || way.target.can_map || way.source.has_memory || way.target.has_memory;
    }

    [[nodiscard]] bool suits(const route& way) const override {
        // Two commands, map and unmap, cost more than the one that copies a little: on PoCL up to 256 KiB, on Intel's
        // CPU runtime up to 32 KiB. The tuner knows better where it has figures.
        const bool maps_by_command = (way.source.can_map && !way.source.maps_at_once) ||
                                     (way.target.can_map && !way.target.maps_at_once);
        if (way.bytes <= (64u << 10) && maps_by_command) return false;
        if (way.goes_through_caches()) return false;
        // Host memory and a device that is not host memory still meet block by block.
        return way.source.can_map || way.target.can_map ||
               (way.source.kind != medium::device && way.target.kind != medium::device);
    }

    [[nodiscard]] plan make(const route& way) const override {
        plan result{.strategy = name()};
        result.map_source = way.source.can_map;
        result.map_target = !way.source.can_map && !way.source.has_memory && way.target.can_map;
        const bool has_file = way.touches(medium::file);
        if (way.has_one_writer()) {
            // Nothing overlaps: blocks only keep cancellation prompt.
            result.block_bytes = 4 << 20;
            result.depth = 2;
        } else if (has_file) {
            // Enough blocks to keep every I/O thread reading, and none so large that one thread reads the last block
            // while the others idle (two cores: 256 MiB take 3 to 5 % longer in blocks of 16 MiB). Small blocks only
            // cost system calls, because nothing is staged.
            result.block_bytes = round_block(way.bytes / (2 * way.io_threads), 256 << 10, 4 << 20);
            result.depth = 2 * way.io_threads;
        } else {
            // MPI pipelines a large message itself; blocks only keep its counts small and cancellation prompt. (Blocks
            // to other nodes are smaller, and several are in flight: network_pace.hpp.) With transfers both ways, a
            // rank that copies a large block out of the other process cannot answer it meanwhile, so that the
            // directions take turns.
            result.block_bytes = way.both_ways ? 1 << 20 : 64 << 20;
            result.depth = 4;
        }
        return result;
    }
};

} // namespace

std::unique_ptr<strategy> make_mapped_strategy() { return std::make_unique<mapped>(); }

} // namespace causeway::transfer
