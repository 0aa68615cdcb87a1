// SPDX-License-Identifier: Apache-2.0
// Measuring, while calls fail: an error, nothing learnt, nothing lost.
#include "faults/fault_points.hpp"
#include "faults/scenes.hpp"
#include "support/events.hpp"

#include <causeway/tuner.h>
#include <mpi.h>

#include <algorithm>
#include <map>
#include <string>

using namespace faults;

namespace {

class tuner_faults : public testing::TestWithParam<support::device_under_test> {
  protected:
    void SetUp() override {
        int ranks = 1;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        if (ranks > 1) GTEST_SKIP() << "needs no second rank";
        (void)causeway_tuner_clear();
    }
    void TearDown() override { (void)causeway_tuner_clear(); }
};
INSTANTIATE_TEST_SUITE_P(devices, tuner_faults, testing::ValuesIn(one_device_each()),
                         [](const auto& device) { return support::name_of(device); });

std::string figures() {
    std::string text(1 << 20, '\0');
    text.resize(static_cast<std::size_t>(std::max(causeway_tuner_figures(text.data(), text.size()), 0L)));
    return text;
}

} // namespace

TEST_P(tuner_faults, leave_what_was_known_and_say_what_failed) {
    const support::option_scope automatic("tuner", "auto");
    const auto context = support::make_context({GetParam().device});
    const auto queue = support::make_queue(context.get(), GetParam().device, support::queue_order::in_order);
    arm(nullptr);
    ASSERT_EQ(causeway_tune_device(queue.get()), CL_SUCCESS) << causeway_error_last_message();
    (void)disarm();
    std::map<const fault_point*, unsigned> calls;
    for (const auto* const each : all_points()) calls[each] = each->calls;
    auto known = figures();
    for (auto* const each : all_points()) {
        if (each->from != layer::opencl) continue;
        for (const unsigned nth : {0u, 30u}) {
            if (calls[each] <= nth) continue;
            arm(each, nth);
            const auto code = causeway_tune_device(queue.get());
            const bool has_failed = disarm();
            SCOPED_TRACE(std::string(each->name) + ", call " + std::to_string(nth));
            if (code == CL_SUCCESS) {
                // The call was not reached; or what is asked twice, or only released, has failed and done no harm.
                known = figures();
                continue;
            }
            EXPECT_TRUE(has_failed);
            EXPECT_LT(code, 0);
            EXPECT_NE(std::string(causeway_error_last_message()), "");
            EXPECT_EQ(figures(), known);
        }
    }
    EXPECT_EQ(causeway_tune_device(queue.get()), CL_SUCCESS) << causeway_error_last_message();
}

TEST_P(tuner_faults, end_measuring_where_the_engine_is_held_up) {
    const support::option_scope automatic("tuner", "auto");
    const auto context = support::make_context({GetParam().device});
    const auto queue = support::make_queue(context.get(), GetParam().device, support::queue_order::in_order);
    const auto buffer = support::make_buffer(context.get(), 2 * sizeof(int));
    // The engine looks at the event that a transfer waits for.
    support::gate closed(context.get());
    const cl_event wait = closed.event();
    cl_event moved = nullptr;
    ASSERT_EQ(clEnqueuePeerCopyBuffer(queue.get(), buffer.get(), queue.get(), buffer.get(), CL_FALSE, 0, sizeof(int),
                                      sizeof(int), 1, &wait, &moved),
              CL_SUCCESS);
    const support::event_handle transfer(moved);
    {
        const held_up_engine held;
        const auto code = causeway_tune_device(queue.get());
        EXPECT_TRUE(held.was_held());
        EXPECT_EQ(code, CL_OUT_OF_RESOURCES);
        EXPECT_NE(std::string(causeway_error_last_message()).find("is held up"), std::string::npos)
            << causeway_error_last_message();
    }
    closed.open();
    EXPECT_TRUE(support::completes(transfer));
    EXPECT_EQ(causeway_tune_device(queue.get()), CL_SUCCESS) << causeway_error_last_message();
}
