// SPDX-License-Identifier: Apache-2.0
// Pipelined: blocks flow through the stages of the route, overlapped (paper, section 3).
#include "transfer/plan.hpp"

#include <algorithm>

namespace causeway::transfer {

namespace {

class pipelined final : public strategy {
  public:
    [[nodiscard]] std::string_view name() const override { return "pipelined"; }
    [[nodiscard]] bool can(const route&) const override { return true; }
    [[nodiscard]] bool suits(const route&) const override { return true; }

    [[nodiscard]] plan make(const route& way) const override {
        plan result{.strategy = name()};
        const bool has_file = way.source.kind == medium::file || way.target.kind == medium::file;
        // Two blocks for each lane: one is read while the other is copied. Without files four blocks keep two
        // stages of uneven speed at 96 % of the slower one.
        result.depth = has_file ? std::max(4u, 2 * way.lanes) : 4;
        // Several rounds of blocks, so that fill and drain do not eat the overlap; a lane has two in its depth. Copies
        // reach 97 % of the link's bandwidth with 4 MiB, 88 % with 1 MiB.
        const auto blocks = has_file ? result.depth : 2 * result.depth;
        result.block_bytes = round_block(way.bytes / blocks, 256 << 10, 4 << 20);
        return result;
    }
};

} // namespace

std::unique_ptr<strategy> make_pipelined_strategy() { return std::make_unique<pipelined>(); }

} // namespace causeway::transfer
