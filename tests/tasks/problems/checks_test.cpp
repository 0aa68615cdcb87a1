// SPDX-License-Identifier: Apache-2.0
// The checks of apps/tasks say no where tasks have not run, and yes where they have.
#include "tasks/problem.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace {

using namespace task_problems;

struct named_problem {
    const char* name;
    std::unique_ptr<problem> (*make)(const options&);
};

class checks : public testing::TestWithParam<named_problem> {};
INSTANTIATE_TEST_SUITE_P(task_problems, checks,
                         testing::Values(named_problem{"map", make_map}, named_problem{"reduction", make_reduction},
                                         named_problem{"vecmul", make_vecmul}, named_problem{"matmul", make_matmul},
                                         named_problem{"jacobi", make_jacobi},
                                         named_problem{"sparselu", make_sparselu}),
                         [](const auto& which) { return std::string(which.param.name); });

TEST_P(checks, tell_work_that_is_done_from_work_that_is_not) {
    const auto one = GetParam().make({.small = true});
    one->reset();
    EXPECT_FALSE(one->is_right());
    causeway::task_pool pool({.threads = 2});
    causeway::task_group group(pool);
    one->spawn(group);
    group.wait();
    EXPECT_TRUE(one->is_right());
}

TEST(checks_at_full_size, find_that_sparselu_has_done_nothing) {
    const auto one = make_sparselu({});
    one->reset();
    EXPECT_FALSE(one->is_right());
}

} // namespace
