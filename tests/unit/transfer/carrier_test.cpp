// SPDX-License-Identifier: Apache-2.0
// A way of moving bytes is one file: this one carries blocks between two endpoints that know nothing of it.
#include "unit/transfer/fakes.hpp"

#include <gtest/gtest.h>

#include <array>

using namespace unit;

namespace {

constexpr endpoint_traits device{.kind = medium::device};

/// Blocks in two boxes of its own, one after the other; it counts what goes through them.
class box_carrier final : public carrier {
  public:
    static constexpr std::size_t box_bytes = 4;
    static inline int made = 0, out = 0, most_out = 0, carried = 0, refuse_at = -1;
    static void forget() { made = out = most_out = carried = 0, refuse_at = -1; }

    explicit box_carrier(const carrier_request& wanted) : carrier(wanted.source, wanted.target), m_more(wanted.more) {
        ++made;
    }
    [[nodiscard]] carrier_traits traits() const override { return {.name = "boxes"}; }
    [[nodiscard]] std::size_t largest_block() const override { return box_bytes; }
    [[nodiscard]] std::optional<block_memory> acquire(std::size_t) override {
        if (carried == refuse_at) throw transfer_error(status::out_of_resources, "the boxes are lost");
        for (auto& each : m_boxes)
            if (!each.is_out) {
                each.is_out = true;
                most_out = std::max(most_out, ++out);
                return block_memory{each.bytes.data()};
            }
        return std::nullopt;
    }
    void write(std::size_t offset, block_reference block, step& done) override {
        ++carried;
        carrier::write(offset, block, done);
    }
    void release(block_memory memory) override {
        for (auto& each : m_boxes)
            if (each.bytes.data() == memory.first) each.is_out = false;
        --out;
        m_more();
    }

  private:
    struct box {
        std::array<std::byte, box_bytes> bytes;
        bool is_out = false;
    };
    std::array<box, 2> m_boxes;
    std::function<void()> m_more;
};

void make_boxes(const carrier_request& wanted, carrier_box& into) {
    if (wanted.target_traits.kind == medium::device) into.emplace<box_carrier>(wanted);
}

struct boxed_transfer {
    explicit boxed_transfer(bench& on, endpoint_traits to = device)
        : source_bytes(bench::pattern(14)), target_bytes(14), told(on.listener()) {
        box_carrier::forget();
        on.machine->prefer(make_boxes);
        on.settings.set("block", "4");
        on.settings.set("depth", "6");
        on.settings.set("strategy", "pipelined");
        work = bench::make(std::make_unique<fake_endpoint>(on.steps, source_bytes, device, source),
                           std::make_unique<fake_endpoint>(on.steps, target_bytes, to, target), 14, told);
    }
    void run(bench& on, chooser& choices) const {
        on.machine->submit(work);
        on.settle();
        while (on.steps.count() > 0) {
            on.steps.finish(choices.choose(on.steps.count()));
            on.settle();
        }
        ASSERT_TRUE(work->complete());
    }
    std::vector<std::byte> source_bytes, target_bytes;
    fake_endpoint::life source, target;
    std::shared_ptr<fake_listener> told;
    std::shared_ptr<command> work;
};

} // namespace

TEST(carrier, of_a_file_of_its_own_moves_all_bytes_in_every_order) {
    const auto runs = explore([](chooser& choices) {
        bench on;
        boxed_transfer it(on);
        it.run(on, choices);
        EXPECT_FALSE(it.told->error) << it.told->error.message;
        EXPECT_EQ(it.source_bytes, it.target_bytes);
        EXPECT_EQ(box_carrier::made, 1);
        EXPECT_EQ(box_carrier::carried, 4);
        EXPECT_EQ(box_carrier::most_out, 2);
        EXPECT_EQ(box_carrier::out, 0);
        EXPECT_EQ(on.machine->staging().held_bytes(), 0u);
    });
    EXPECT_GT(runs, 10u);
}

TEST(carrier, that_has_no_memory_any_more_ends_the_transfer_with_its_reason) {
    explore([](chooser& choices) {
        bench on;
        boxed_transfer it(on);
        box_carrier::refuse_at = 1;
        it.run(on, choices);
        EXPECT_EQ(it.told->error.status, status::out_of_resources);
        EXPECT_NE(it.told->error.message.find("the boxes are lost"), std::string::npos);
        const auto moved = it.work->report().bytes_moved[0];
        EXPECT_LT(moved, 14u);
        EXPECT_TRUE(std::equal(it.source_bytes.begin(), it.source_bytes.begin() + static_cast<std::ptrdiff_t>(moved),
                               it.target_bytes.begin()));
        EXPECT_EQ(box_carrier::out, 0);
    });
}

TEST(carrier, is_not_made_for_ends_that_it_does_not_want) {
    bench on;
    boxed_transfer it(on, {.kind = medium::file});
    chooser first;
    it.run(on, first);
    EXPECT_EQ(box_carrier::made, 0);
    EXPECT_EQ(it.source_bytes, it.target_bytes);
}
