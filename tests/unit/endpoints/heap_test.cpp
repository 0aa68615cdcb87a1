// SPDX-License-Identifier: Apache-2.0
// What a node's memory allows, and what is said of waits.
#include "endpoints/symmetric/heap.hpp"
#include "endpoints/symmetric/meeting.hpp"
#include "endpoints/symmetric/symmetric_endpoint.hpp"

#include "unit/comm/two_watches.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using causeway::endpoints::heap_request;
using causeway::endpoints::shortage;

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

TEST(heap_requests, are_added_up_for_each_node) {
    const std::vector<heap_request> all{{1, 4 * gib, 9 * gib}, {1, 4 * gib, 8 * gib}, {2, 4 * gib, 3 * gib}};
    EXPECT_FALSE(shortage(all, 1));
    const auto lack = shortage(all, 2);
    EXPECT_EQ(lack.status, causeway::status::out_of_host_memory);
    EXPECT_EQ(lack.message,
              "the PEs of this node ask for symmetric heaps of 4 GiB in all, but it has no more than 3 GiB available");
}

TEST(heap_requests, count_by_the_least_that_was_found) {
    EXPECT_TRUE(shortage({{1, 4 * gib, 9 * gib}, {1, 4 * gib, 7 * gib}}, 1));
}

TEST(heap_requests, of_devices_memory_take_none_of_the_node) {
    EXPECT_FALSE(shortage({{1, 0, 0}, {1, gib, gib}}, 1));
    EXPECT_FALSE(shortage({{1, 0, 0}}, 1));
}

TEST(heap_requests, may_be_more_than_any_number_has) {
    EXPECT_TRUE(shortage({{1, UINT64_MAX, 8 * gib}, {1, UINT64_MAX, 8 * gib}}, 1));
}

TEST(awaited_words, are_told_with_what_they_are) {
    using causeway::endpoints::comparison;
    using causeway::endpoints::text_of;
    const std::uint64_t word = 0xFFFFFFFF00000003u;
    const auto* const bytes = reinterpret_cast<const std::byte*>(&word);
    EXPECT_EQ(text_of({.offset = 4096, .bytes = 4, .how = comparison::greater_or_equal, .value = 5}, bytes),
              "the word at 4 KiB of the symmetric heap, now 3, to be >= 5");
    EXPECT_EQ(text_of({.how = comparison::less, .value = 5}, bytes),
              "the word at 0 B of the symmetric heap, now 18446744069414584323, to be < 5");
    EXPECT_EQ(text_of({.how = comparison::not_equal, .value = std::uint64_t(-2), .is_signed = true}, bytes),
              "the word at 0 B of the symmetric heap, now -4294967293, to be != -2");
    EXPECT_EQ(text_of({.how = comparison::equal, .value = 1}, nullptr),
              "the word at 0 B of the symmetric heap, to be == 1");
}

class counted_waiter final : public causeway::endpoints::heap_waiter {
  public:
    bool look() override { return ++looks == last_look; }
    void give_up(const causeway::failure& why) override { given_up_for.push_back(why.message); }
    causeway::endpoints::heap& of() override { std::abort(); }
    causeway::failure trouble(causeway::time_point) override { return ++questions, why; }
    int looks = 0, questions = 0;
    int last_look = 0; // which finds that the wait is over; 0 for none
    causeway::failure why;
    std::vector<std::string> given_up_for;
};

TEST(heap_waits, look_each_time_and_ask_for_trouble_now_and_then) {
    causeway::endpoints::heap_waits waits;
    counted_waiter each;
    waits.add(each);
    causeway::time_point now(std::chrono::hours(1));
    constexpr int polls = 1000;
    for (int i = 0; i < polls; ++i, now += std::chrono::microseconds(1)) (void)waits.poll(now);
    EXPECT_EQ(each.looks, polls);
    EXPECT_EQ(each.questions, 1);
    (void)waits.poll(now + std::chrono::milliseconds(10));
    EXPECT_EQ(each.questions, 2);
}

TEST(heap_waits, give_up_in_trouble_unless_what_they_wait_for_has_come) {
    causeway::endpoints::heap_waits waits;
    counted_waiter in_vain, in_time;
    in_vain.why = in_time.why = {causeway::status::peer_failed, 0, 0, "a PE is gone"};
    in_time.last_look = 2; // what it waits for comes between its first look and the question
    waits.add(in_vain);
    waits.add(in_time);
    const causeway::time_point now(std::chrono::hours(1));
    EXPECT_TRUE(waits.poll(now));
    EXPECT_EQ(in_vain.looks, 2);
    EXPECT_EQ(in_vain.given_up_for, std::vector<std::string>{"a PE is gone"});
    EXPECT_EQ(in_time.looks, 2);
    EXPECT_TRUE(in_time.given_up_for.empty());
    EXPECT_FALSE(waits.busy());
    EXPECT_FALSE(waits.poll(now + std::chrono::hours(1)));
    EXPECT_EQ(in_vain.looks + in_time.looks, 4);
}

/// Three PEs of one process.
class a_meeting : public ::testing::Test {
  protected:
    using heap_control = causeway::endpoints::heap_control;
    static constexpr int pes = 3, own = 2;

    a_meeting() {
        std::memset(memory.data(), 0, memory.size() * sizeof memory[0]); // not only the heads themselves
        for (int pe = 0; pe < pes; ++pe) members[static_cast<std::size_t>(pe)].control = control_of(pe);
    }
    std::byte* control_of(int pe) { return reinterpret_cast<std::byte*>(memory.data()) + pe * size; }
    void become(int pe, std::uint32_t state) { reinterpret_cast<heap_control::head*>(control_of(pe))->state = state; }
    std::shared_ptr<causeway::endpoints::heap> make() {
        return std::make_shared<causeway::endpoints::heap>(waits, own, 4096, std::move(members));
    }
    /// How this PE's next meeting ends; empty if it does not end.
    static std::string end_of_meeting(const std::shared_ptr<causeway::endpoints::heap>& heap) {
        std::string said;
        const auto turn = std::make_shared<causeway::endpoints::meeting_turn>(
            heap, causeway::endpoints::meeting_purpose{.name = "a barrier"});
        turn->join();
        turn->come([&](const causeway::failure& why) { said = why.message; });
        return said;
    }

    static constexpr auto size = heap_control::bytes(pes);
    std::vector<heap_control::head> memory = std::vector<heap_control::head>(pes * size / sizeof(heap_control::head));
    std::vector<causeway::endpoints::heap_member> members = std::vector<causeway::endpoints::heap_member>(pes);
    causeway::endpoints::heap_waits waits;
    const causeway::time_point now{std::chrono::hours(1)};
};

TEST_F(a_meeting, names_who_gave_up_and_not_who_left_for_that) {
    const auto heap = make();
    heap->arrive({.number = 1});
    EXPECT_FALSE(heap->trouble_at_meeting(1, now)); // which looks at all, and will not again at once
    become(0, heap_control::has_left);
    become(1, heap_control::has_given_up);
    EXPECT_EQ(heap->trouble_at_meeting(1, now).message, "PE 1 has given up: its program failed, or its MPI");
}

TEST_F(a_meeting, is_not_for_a_pe_that_has_left) {
    const auto heap = make();
    heap->leave();
    EXPECT_EQ(end_of_meeting(heap), "a barrier: this PE has left: what this waits for will not come");
    for (int pe = 0; pe < pes; ++pe) EXPECT_EQ(heap->arrival_of(pe, 1).number, 0u);
    EXPECT_NE(end_of_meeting(heap), "");
}

TEST_F(a_meeting, is_not_for_a_pe_that_has_broken_off_and_says_why) {
    const auto heap = make();
    heap->break_off({causeway::status::peer_failed, 0, 0, "this PE cannot serve"});
    EXPECT_EQ(end_of_meeting(heap), "a barrier: this PE cannot serve");
}

TEST_F(a_meeting, has_an_end_told_when_a_process_has_ended) {
    using causeway::comm::process_watch;
    int closed[2];
    ASSERT_EQ(::pipe(closed), 0);
    const auto child = ::fork();
    if (child == 0) {
        char nothing = 0;
        ::close(closed[1]);
        ::_exit(::read(closed[0], &nothing, 1) == 0 ? 0 : 1);
    }
    ::close(closed[0]);
    members[0].process = process_watch(child);
    members[1].process = process_watch(child);
    become(1, heap_control::has_left);
    const auto heap = make();
    std::vector<std::string> told;
    heap->tell_losses_by([&](int pe, const causeway::failure& why, causeway::comm::loss how) {
        EXPECT_EQ(how, causeway::comm::loss::process_ended);
        told.push_back(std::to_string(pe) + ": " + why.message);
    });
    heap->look_at_processes(now);
    EXPECT_TRUE(told.empty());
    ::close(closed[1]);
    ::waitpid(child, nullptr, 0);
    for (int later = 1; later < 4; ++later) heap->look_at_processes(now + std::chrono::seconds(later));
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(told[0].substr(0, 13), "0: PE 0 is go") << told[0];
    EXPECT_EQ(told[1], "1: PE 1 has left");
    EXPECT_FALSE(heap->absence_of(own, now));
}

TEST_F(a_meeting, is_left_once_and_for_all) {
    const auto heap = make();
    const auto* const own_head = reinterpret_cast<heap_control::head*>(control_of(own));
    heap->leave();
    heap->leave(true);
    heap->break_off({causeway::status::peer_failed, 0, 0, "this PE cannot serve"});
    EXPECT_EQ(own_head->state, heap_control::has_left);
}

/// PE 1 of a heap is on another node: the watch of the other side.
class a_far_pe : public ::testing::Test {
  protected:
    a_far_pe() {
        members[0].control = reinterpret_cast<std::byte*>(memory.data());
        heap.emplace(waits, 0, 4096, std::move(members), std::move(both.first));
        heap->tell_losses_by(
            [this](int, const causeway::failure&, causeway::comm::loss how) { losses.push_back(how); });
    }
    std::string absence() { return heap->absence_of(1, now += std::chrono::seconds(1)).message; }

    unit::two_watches both;
    std::vector<causeway::endpoints::heap_control::head> memory{
        std::vector<causeway::endpoints::heap_control::head>(4096)};
    std::vector<causeway::endpoints::heap_member> members{std::vector<causeway::endpoints::heap_member>(2)};
    causeway::endpoints::heap_waits waits;
    causeway::time_point now{std::chrono::hours(1)};
    std::optional<causeway::endpoints::heap> heap;
    std::vector<causeway::comm::loss> losses;
};

TEST_F(a_far_pe, that_gives_up_may_still_send) {
    EXPECT_EQ(absence(), "");
    both.second->give_up();
    EXPECT_EQ(absence(), "PE 1 has given up: its program failed, or its MPI");
    both.second.reset();
    EXPECT_EQ(absence(), "PE 1 has given up: its program failed, or its MPI");
    EXPECT_TRUE(losses.empty()) << "its process has not ended";
}

TEST_F(a_far_pe, that_has_given_up_is_looked_at_no_more_often_than_others) {
    both.second->give_up();
    EXPECT_NE(absence(), "");
    unit::two_watches::break_connections_to(*both.second);
    EXPECT_TRUE(heap->absence_of(1, now));
    EXPECT_TRUE(losses.empty()) << "a look is a system call";
    while (losses.empty()) EXPECT_NE(absence(), "");
}

TEST_F(a_far_pe, that_cannot_be_reached_may_still_send) {
    unit::two_watches::break_connections_to(*both.second);
    while (absence().empty()) std::this_thread::yield();
    EXPECT_EQ(absence(), "PE 1 is out of reach: its node is silent, or the connection to it broke");
    EXPECT_EQ(losses, std::vector{causeway::comm::loss::out_of_reach});
}

} // namespace
