// SPDX-License-Identifier: Apache-2.0
// Matching as MPI does it.
#include "endpoints/mpi/message_matcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace causeway::endpoints;

namespace {

struct fake_receive final : receiver {
    void matched(message&& found) override { got.push_back(static_cast<int>(found.bytes)); }
    std::vector<int> got;
};

message announce(int source, int tag, std::size_t name) { return {.source = source, .tag = tag, .bytes = name}; }

} // namespace

TEST(message_matcher, gives_a_message_to_the_first_receive_that_fits) {
    message_matcher matcher;
    fake_receive other_tag, other_source, fitting, later;
    matcher.enter(other_tag, 1, 8);
    matcher.enter(other_source, 2, 7);
    matcher.enter(fitting, 1, 7);
    matcher.enter(later, 1, 7);
    for (auto* const each : {&other_tag, &other_source, &fitting, &later}) matcher.open(*each);
    matcher.arrived(announce(1, 7, 100));
    EXPECT_EQ(fitting.got, (std::vector<int>{100}));
    matcher.arrived(announce(1, 7, 101));
    EXPECT_EQ(later.got, (std::vector<int>{101}));
    EXPECT_EQ(matcher.waiting_receives(), 2u);
}

TEST(message_matcher, keeps_messages_in_order_until_a_receive_opens) {
    message_matcher matcher;
    matcher.arrived(announce(1, 7, 100));
    matcher.arrived(announce(1, 7, 101));
    matcher.arrived(announce(1, 9, 102));
    fake_receive any, exact;
    matcher.enter(exact, 1, 9);
    matcher.enter(any, any_source, any_tag);
    matcher.open(any);
    EXPECT_EQ(any.got, (std::vector<int>{100}));
    matcher.open(exact);
    EXPECT_EQ(exact.got, (std::vector<int>{102}));
    EXPECT_EQ(matcher.waiting_messages(), 1u);
}

TEST(message_matcher, holds_a_message_back_for_a_gated_receive) {
    message_matcher matcher;
    fake_receive gated, later, unrelated;
    matcher.enter(gated, 1, any_tag);
    matcher.enter(later, 1, 7);
    matcher.enter(unrelated, 2, 7);
    matcher.open(later);
    matcher.open(unrelated);
    matcher.arrived(announce(1, 7, 100));
    matcher.arrived(announce(2, 7, 101));
    EXPECT_TRUE(later.got.empty());
    EXPECT_EQ(unrelated.got, (std::vector<int>{101}));
    matcher.open(gated);
    EXPECT_EQ(gated.got, (std::vector<int>{100}));
    matcher.arrived(announce(1, 7, 102));
    EXPECT_EQ(later.got, (std::vector<int>{102}));
}

TEST(message_matcher, passes_a_message_on_when_the_gated_receive_leaves) {
    message_matcher matcher;
    fake_receive gated, later;
    matcher.enter(gated, any_source, 7);
    matcher.enter(later, 1, 7);
    matcher.open(later);
    matcher.arrived(announce(1, 7, 100));
    matcher.leave(gated);
    EXPECT_EQ(later.got, (std::vector<int>{100}));
}

TEST(message_matcher, forgets_a_message_that_its_sender_withdraws) {
    message_matcher matcher;
    auto first = announce(1, 7, 100);
    first.sender = 5;
    matcher.arrived(std::move(first));
    matcher.arrived(announce(1, 7, 101));
    EXPECT_FALSE(matcher.withdrawn(2, 5));
    EXPECT_TRUE(matcher.withdrawn(1, 5));
    EXPECT_FALSE(matcher.withdrawn(1, 5));
    fake_receive exact;
    matcher.enter(exact, 1, 7);
    matcher.open(exact);
    EXPECT_EQ(exact.got, (std::vector<int>{101}));
}

TEST(message_matcher, lets_no_message_overtake_an_older_one_that_waits_for_a_gated_receive) {
    for (const bool early : {false, true}) {
        message_matcher matcher;
        fake_receive gated, any, other_source;
        matcher.enter(gated, 1, 7);
        matcher.enter(any, any_source, any_tag);
        matcher.enter(other_source, 2, any_tag);
        if (early) matcher.open_early(gated);
        matcher.open(any);
        matcher.open(other_source);
        matcher.arrived(announce(1, 7, 100));
        matcher.arrived(announce(1, 7, 101));
        matcher.arrived(announce(1, 9, 102));
        EXPECT_TRUE(any.got.empty());
        matcher.arrived(announce(2, 9, 103));
        EXPECT_EQ(any.got, (std::vector<int>{103})) << "ranks do not wait for one another";
        fake_receive next;
        matcher.enter(next, 1, any_tag);
        matcher.open(next);
        EXPECT_TRUE(next.got.empty());
        matcher.open(gated);
        EXPECT_EQ(gated.got, (std::vector<int>{100}));
        EXPECT_EQ(next.got, (std::vector<int>{101}));
    }
}

TEST(message_matcher, keeps_the_librarys_own_messages_from_wildcards) {
    message_matcher matcher;
    fake_receive any, own;
    matcher.enter(any, any_source, any_tag);
    matcher.enter(own, 1, -9);
    matcher.open(any);
    matcher.open(own);
    matcher.arrived(announce(1, -9, 100));
    matcher.arrived(announce(1, 0, 101));
    EXPECT_EQ(own.got, (std::vector<int>{100}));
    EXPECT_EQ(any.got, (std::vector<int>{101}));
}

namespace {

/// Plain lists, beside the matcher under test: says for each match whether MPI allows it, and after each call whether
/// one is missing.
class simple_matching {
  public:
    enum class state { gated, early, matched_early, open };
    struct known_receive final : receiver {
        void matched(message&& found) override { all->matched(*this, std::move(found)); }
        bool withdrawn() override { return true; }
        simple_matching* all = nullptr;
        int source = 0, tag = 0;
        state now = state::gated;
        message early;
    };
    struct known_message {
        int source, tag;
        std::size_t name;
        std::uint64_t sender;
        bool is_early = false;
    };

    void enter(int source, int tag) {
        auto made = std::make_unique<known_receive>();
        made->all = this;
        made->source = source;
        made->tag = tag;
        receives.push_back(std::move(made));
        matcher.enter(*receives.back(), source, tag);
    }
    void arrive(int source, int tag, bool eager) {
        ++names;
        messages.push_back({source, tag, names, names});
        message made{.source = source, .tag = tag, .bytes = names, .sender = names};
        made.eager = eager;
        matcher.arrived(std::move(made));
    }
    [[nodiscard]] static bool fits(const known_message& which, const known_receive& to) {
        return (to.source == any_source || to.source == which.source) &&
               (to.tag == which.tag || (to.tag == any_tag && which.tag >= 0));
    }
    [[nodiscard]] known_receive* first_fit(const known_message& which) const {
        for (const auto& each : receives)
            if (fits(which, *each)) return each.get();
        return nullptr;
    }
    [[nodiscard]] bool may_match(const known_message& which) const {
        const auto* const fit = first_fit(which);
        if (fit == nullptr || which.is_early || fit->now == state::gated || fit->now == state::matched_early)
            return false;
        for (const auto& other : messages) {
            if (other.name == which.name) return true;
            if (other.source == which.source && fits(other, *fit)) return false;
        }
        return true;
    }
    void matched(known_receive& who, message&& found) {
        const auto which = std::find_if(messages.begin(), messages.end(),
                                        [&](const auto& each) { return each.name == found.bytes; });
        ASSERT_NE(which, messages.end());
        EXPECT_EQ(first_fit(*which), &who);
        EXPECT_TRUE(may_match(*which));
        if (who.now == state::early) {
            who.now = state::matched_early;
            which->is_early = true;
            who.early = std::move(found);
        } else {
            messages.erase(which);
            remove(who);
        }
    }
    void remove(const known_receive& who) {
        for (auto each = receives.begin(); each != receives.end(); ++each) {
            if (each->get() != &who) continue;
            gone.push_back(std::move(*each)); // the caller may still use it
            receives.erase(each);
            return;
        }
    }
    void drop(std::size_t name) {
        std::erase_if(messages, [&](const auto& each) { return each.name == name; });
    }
    void open(known_receive& who) {
        if (who.now == state::matched_early) {
            drop(who.early.bytes);
            remove(who);
        } else {
            who.now = state::open;
        }
        matcher.open(who);
    }
    void end(known_receive& who) {
        if (who.now == state::matched_early) {
            for (auto& each : messages)
                if (each.name == who.early.bytes) each.is_early = false;
            auto early = std::move(who.early);
            remove(who);
            matcher.put_back(who, std::move(early));
        } else {
            remove(who);
            matcher.leave(who);
        }
    }
    void withdraw(const known_message which) {
        for (const auto& each : receives)
            if (each->now == state::matched_early && each->early.bytes == which.name) each->now = state::early;
        drop(which.name);
        EXPECT_TRUE(matcher.withdrawn(which.source, which.sender));
    }
    void expect_nothing_missing() const {
        for (const auto& each : messages) EXPECT_FALSE(may_match(each)) << "message " << each.name;
        EXPECT_EQ(matcher.waiting_receives(), receives.size());
    }

    message_matcher matcher;
    std::deque<std::unique_ptr<known_receive>> receives, gone;
    std::deque<known_message> messages; // in order of arrival; those that are matched early, too
    std::size_t names = 0;
};

} // namespace

TEST(message_matcher, makes_every_match_that_mpi_asks_for_and_no_other) {
    using state = simple_matching::state;
    for (unsigned seed = 1; seed <= 400; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const auto choose = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
        const auto one_of = [&](auto& all) -> auto& {
            return all[static_cast<std::size_t>(choose(static_cast<int>(all.size())))];
        };
        simple_matching all;
        std::set<std::size_t> announced;
        for (int step = 0; step < 120 && !testing::Test::HasFailure(); ++step) {
            const int what = choose(10);
            if (what < 3) {
                all.enter(choose(3) == 0 ? any_source : choose(3),
                          choose(3) == 0 ? any_tag : choose(4) - (choose(8) == 0 ? 9 : 0));
            } else if (what < 6) {
                const bool eager = choose(2) == 0;
                if (!eager) announced.insert(all.names + 1);
                all.arrive(choose(3), choose(4) - (choose(8) == 0 ? 9 : 0), eager);
            } else if (what == 6 && !all.messages.empty()) {
                const auto which = one_of(all.messages);
                if (announced.count(which.name) != 0) all.withdraw(which);
            } else if (!all.receives.empty()) {
                auto& who = *one_of(all.receives);
                if (what == 7 && who.now == state::gated) {
                    who.now = state::early;
                    all.matcher.open_early(who);
                } else if (what == 8) {
                    all.end(who);
                } else if (who.now != state::open) {
                    all.open(who);
                }
            }
            all.expect_nothing_missing();
        }
        if (testing::Test::HasFailure()) return;
    }
}

namespace {

/// So many that looking at each of the others for each one takes longer than the test may.
constexpr int many = 50000;

struct counted final : receiver {
    void matched(message&&) override { ++*count; }
    int* count = nullptr;
};

void expect_all_matched(const std::vector<int>& tags_of_receives, int source, bool gated_first) {
    message_matcher matcher;
    int count = 0;
    std::vector<counted> receives(tags_of_receives.size());
    for (auto& each : receives) each.count = &count;
    const auto receive = [&](std::size_t which) {
        matcher.enter(receives[which], source, tags_of_receives[which]);
        if (!gated_first) matcher.open(receives[which]);
    };
    for (int tag = 0; tag < many; ++tag) matcher.arrived(announce(0, tag, 1));
    for (std::size_t i = 0; i < receives.size(); ++i) receive(i);
    if (gated_first)
        for (auto& each : receives) matcher.open(each);
    EXPECT_EQ(count, many);
    EXPECT_EQ(matcher.waiting_messages() + matcher.waiting_receives(), 0u);
}

std::vector<int> tags(int step) {
    std::vector<int> made(many);
    for (int i = 0; i < many; ++i) made[static_cast<std::size_t>(i)] = step > 0 ? i : many - 1 - i;
    return made;
}

} // namespace

TEST(message_matcher, finds_messages_in_whatever_order_they_are_received) {
    const std::vector<int> wildcards(many, any_tag);
    for (const int source : {0, any_source})
        for (const bool gated_first : {false, true})
            for (const auto& order : {tags(1), tags(-1), wildcards}) expect_all_matched(order, source, gated_first);
}

TEST(message_matcher, finds_receives_in_whatever_order_messages_come) {
    for (const int source : {0, any_source}) {
        message_matcher matcher;
        int count = 0;
        std::vector<counted> receives(many);
        for (int i = 0; i < many; ++i) {
            auto& each = receives[static_cast<std::size_t>(i)];
            each.count = &count;
            matcher.enter(each, source, i);
            matcher.open(each);
        }
        for (int tag = many - 1; tag >= 0; --tag) matcher.arrived(announce(0, tag, 1));
        EXPECT_EQ(count, many);
    }
}

TEST(message_matcher, takes_back_and_puts_back_many_messages) {
    message_matcher matcher;
    for (int i = 0; i < many; ++i) {
        auto made = announce(0, i, 1);
        made.sender = static_cast<std::uint64_t>(i + 1);
        matcher.arrived(std::move(made));
    }
    for (int i = many; i > 0; --i) ASSERT_TRUE(matcher.withdrawn(0, static_cast<std::uint64_t>(i)));
    EXPECT_EQ(matcher.waiting_messages(), 0u);
}
