// SPDX-License-Identifier: Apache-2.0
// Pieces of a little page-locked memory: none overlaps another, none is lost, and without memory there are none.
#include "endpoints/device/pinned_slab.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <optional>
#include <random>
#include <vector>

using namespace causeway;
using endpoints::pinned_slab;

namespace {

constexpr auto page = pinned_slab::page_bytes;

struct counting_allocator final : transfer::staging_allocator {
    std::byte* allocate(std::size_t bytes) override {
        ++asked;
        if (is_empty) throw std::bad_alloc();
        memory.resize(bytes);
        return memory.data();
    }
    void release(std::byte* released, std::size_t bytes) noexcept override {
        EXPECT_EQ(released, memory.data());
        EXPECT_EQ(bytes, memory.size());
        ++given_back;
    }
    std::vector<std::byte> memory;
    bool is_empty = false;
    int asked = 0, given_back = 0;
};

class pages_of_a_device : public testing::Test {
  protected:
    std::shared_ptr<counting_allocator> m_allocator = std::make_shared<counting_allocator>();
    std::shared_ptr<pinned_slab> m_pages = std::make_shared<pinned_slab>(m_allocator);
};

} // namespace

TEST_F(pages_of_a_device, are_asked_for_when_one_is_wanted) {
    EXPECT_EQ(m_allocator->asked, 0);
    EXPECT_EQ(m_pages->take(0).data(), nullptr);
    EXPECT_EQ(m_pages->take(pinned_slab::bytes + 1).data(), nullptr);
    EXPECT_EQ(m_allocator->asked, 0);
    for (int i = 0; i < 3; ++i) EXPECT_NE(m_pages->take(8).data(), nullptr);
    EXPECT_EQ(m_allocator->asked, 1);
    m_pages.reset();
    EXPECT_EQ(m_allocator->given_back, 1);
}

TEST_F(pages_of_a_device, are_all_there_to_be_taken) {
    std::vector<pinned_slab::piece> taken;
    for (std::size_t i = 0; i < pinned_slab::pages; ++i) taken.push_back(m_pages->take(1));
    for (std::size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i].data(), m_allocator->memory.data() + i * page);
    EXPECT_EQ(m_pages->take(1).data(), nullptr);
    taken[7] = {};
    EXPECT_EQ(m_pages->take(page + 1).data(), nullptr) << "there is one";
    EXPECT_EQ(m_pages->take(page).data(), m_allocator->memory.data() + 7 * page);
    taken.clear();
    EXPECT_EQ(m_pages->take(pinned_slab::bytes).data(), m_allocator->memory.data());
}

TEST_F(pages_of_a_device, are_nobody_elses_meanwhile) {
    struct owner {
        pinned_slab::piece piece;
        std::size_t bytes;
        std::byte mark;
    };
    std::mt19937 random(7);
    std::vector<owner> owners;
    for (int i = 0; i < 20'000; ++i) {
        if (!owners.empty() && random() % 2 == 0) {
            const auto at = random() % owners.size();
            const auto& each = owners[at];
            for (std::size_t byte = 0; byte < each.bytes; byte += 512) ASSERT_EQ(each.piece.data()[byte], each.mark);
            std::swap(owners[at], owners.back());
            owners.pop_back();
        }
        const auto bytes = 1 + random() % (20 * page);
        auto piece = m_pages->take(bytes);
        if (piece.data() == nullptr) continue;
        owners.push_back({std::move(piece), bytes, static_cast<std::byte>(i)});
        std::fill_n(owners.back().piece.data(), bytes, owners.back().mark);
    }
    owners.clear();
    EXPECT_NE(m_pages->take(pinned_slab::bytes).data(), nullptr);
}

TEST_F(pages_of_a_device, outlive_who_has_made_them_while_one_is_taken) {
    auto piece = std::make_optional(m_pages->take(8));
    m_pages.reset();
    EXPECT_EQ(m_allocator->given_back, 0);
    piece.reset();
    EXPECT_EQ(m_allocator->given_back, 1);
}

TEST_F(pages_of_a_device, that_cannot_be_locked_are_not_asked_for_again) {
    m_allocator->is_empty = true;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(m_pages->take(8).data(), nullptr);
    EXPECT_EQ(m_allocator->asked, 1);
    m_pages.reset();
    EXPECT_EQ(m_allocator->given_back, 0);
}
