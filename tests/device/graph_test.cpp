// SPDX-License-Identifier: Apache-2.0
// Stream graphs on devices: each test in one queue and in three, against the same work done on the host.
#include "device/graph_fixture.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

using namespace graph_tests;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class graphs : public graph_test {};
CAUSEWAY_ON_ALL_DEVICES(graphs);

} // namespace

TEST_P(graphs, run_a_chain_of_kernels_with_parameters_again_and_again) {
    for (const std::size_t token : {1, 13, 1000}) {
        const floats data = numbers(token * 50);
        floats result(data.size());
        auto built = new_graph();
        input(built, "i", data, token);
        output(built, "o", result, token);
        built.add_kernel("a", code("scale"), factors{2, 1});
        built.add_kernel("b", code("scale"), factors{-3, 5});
        if (token == 13) {
            // It is not, but any memory works.
            built.use_page_locked("i");
            built.use_page_locked("o");
        }
        built.connect("i", "a", bytes_of(token));
        built.connect("a", "b", bytes_of(token));
        built.connect("b", "o", bytes_of(token));
        built.initialize();
        for (int round = 0; round < 3; ++round) {
            std::fill(result.begin(), result.end(), 0.0f);
            built.execute();
            for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(result[i], (data[i] * 2 + 1) * -3 + 5) << i;
        }
    }
}

TEST_P(graphs, do_not_wait_for_kernels_of_other_queues) {
    if (!kernel_elsewhere::can_be_pretended()) GTEST_SKIP() << "needs pretend_discrete, preloaded";
    constexpr std::size_t token = 50'000, tokens = 100;
    const floats data = numbers(token * tokens);
    floats result(data.size());
    auto built = new_graph();
    input(built, "i", data, token);
    output(built, "o", result, token);
    for (const auto* name : {"a", "b", "c"}) built.add_kernel(name, code("scale"), factors{2, 1});
    built.connect("i", "a", bytes_of(token));
    built.connect("a", "b", bytes_of(token));
    built.connect("b", "c", bytes_of(token));
    built.connect("c", "o", bytes_of(token));
    built.initialize();
    kernel_elsewhere kernel(context());
    EXPECT_TRUE(kernel.is_outrun_by([&] { built.execute(); }));
    for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(result[i], ((data[i] * 2 + 1) * 2 + 1) * 2 + 1) << i;
}

TEST_P(graphs, fan_out_and_join_by_position) {
    constexpr std::size_t token = 77, count = token * 31;
    const floats data = numbers(count);
    floats sum(count), difference(count), copy(count);
    auto built = new_graph();
    input(built, "i", data, token);
    output(built, "sum", sum, token);
    output(built, "difference", difference, token);
    output(built, "copy", copy, token);
    built.add_kernel("a", code("scale"), factors{2, 0});
    built.add_kernel("b", code("scale"), factors{5, 0});
    built.add_kernel("join", code("join"));
    built.connect("i", "a", bytes_of(token));
    built.connect("i", "b", bytes_of(token));
    built.connect("a", 0, "join", 1, bytes_of(token));
    built.connect("b", 0, "join", 0, bytes_of(token));
    built.connect("join", 0, "sum", 0, bytes_of(token));
    built.connect("join", 1, "difference", 0, bytes_of(token));
    built.connect("b", "copy", bytes_of(token));
    built.initialize();
    built.execute();
    for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(sum[i], data[i] * 7);
        ASSERT_EQ(difference[i], data[i] * 3);
        ASSERT_EQ(copy[i], data[i] * 5);
    }
}

TEST_P(graphs, join_nodes_with_different_rates) {
    // 3 floats in, 10 taken, 5 given, 2 out: no multiple of any alignment.
    constexpr std::size_t count = 60 * 17;
    const floats data = numbers(count);
    floats result(count / 2);
    auto built = new_graph();
    input(built, "i", data, 3);
    output(built, "o", result, 2);
    built.add_kernel("pairs", code("pairs"));
    built.connect("i", "pairs", rates(3, 10));
    built.connect("pairs", "o", rates(5, 2));
    built.initialize();
    built.execute();
    for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], data[2 * i] + data[2 * i + 1]) << i;
}

TEST_P(graphs, show_the_neighbours_of_a_token_and_zeros_outside) {
    for (const std::size_t token : {std::size_t{1}, std::size_t{9}, std::size_t{1024}}) {
        const floats data = numbers(token * 19);
        floats result(data.size());
        auto built = new_graph();
        input(built, "i", data, token);
        output(built, "o", result, token);
        built.add_kernel("stencil", code("stencil"));
        auto edge = rates(token, token);
        edge.before_size = edge.after_size = sizeof(float);
        built.connect("i", "stencil", edge);
        built.connect("stencil", "o", bytes_of(token));
        built.initialize();
        for (int round = 0; round < 2; ++round) {
            built.execute();
            for (std::size_t i = 0; i < data.size(); ++i) {
                const float left = i == 0 ? 0 : data[i - 1], right = i + 1 == data.size() ? 0 : data[i + 1];
                ASSERT_EQ(result[i], left + 2 * data[i] + right) << "token of " << token << " floats, at " << i;
            }
        }
    }
}

TEST_P(graphs, keep_state_in_a_loop_that_begins_with_given_values) {
    constexpr std::size_t token = 21, tokens = 40;
    const floats data = numbers(token * tokens);
    floats result(data.size());
    const floats first(token, 100.0f);
    auto built = new_graph();
    input(built, "i", data, token);
    output(built, "o", result, token);
    built.add_kernel("sum", code("accumulate"));
    built.connect("i", "sum", bytes_of(token));
    auto loop = rates(token, token);
    loop.source_position = loop.target_position = 1;
    loop.delay_size = bytes_of(token);
    loop.initial = first.data();
    built.connect("sum", "sum", loop);
    built.connect("sum", "o", bytes_of(token));
    built.initialize();
    for (int round = 0; round < 2; ++round) {
        built.execute();
        floats sum = first;
        for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(result[i], sum[i % token] += data[i]) << i;
    }
}

TEST_P(graphs, call_host_functions_between_kernels) {
    chain made(context(), device(), [](uint64_t) {});
    made.built.initialize();
    made.built.execute();
    EXPECT_TRUE(made.delivered(chain::tokens));
}

TEST_P(graphs, take_existing_kernels_with_arguments_in_any_order) {
    constexpr std::size_t token = 64, count = token * 9;
    program_handle program;
    cl_int result_code = CL_SUCCESS;
    const char* source = kernels;
    program = program_handle(clCreateProgramWithSource(context(), 1, &source, nullptr, &result_code));
    ASSERT_EQ(result_code, CL_SUCCESS);
    const cl_device_id id = device();
    ASSERT_EQ(clBuildProgram(program.get(), 1, &id, "", nullptr, nullptr), CL_SUCCESS);
    kernel_handle kernel(clCreateKernel(program.get(), "mirror", &result_code));
    ASSERT_EQ(result_code, CL_SUCCESS);
    const floats data = numbers(count);
    floats result(count);
    auto built = new_graph();
    causeway_kernel wanted{};
    wanted.kernel = kernel.get();
    wanted.work_dim = 1;
    wanted.global_size[0] = token;
    wanted.local_size[0] = 8;
    built.add_kernel("mirror", wanted);
    built.set_argument("mirror", 2, 3.0f);
    built.set_local_argument("mirror", 3, bytes_of(8));
    kernel.release();
    program.release();
    input(built, "i", data, token);
    output(built, "o", result, token);
    built.connect("i", "mirror", bytes_of(token));
    built.connect("mirror", "o", bytes_of(token));
    built.initialize();
    built.execute();
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(result[i], 3 * data[i / 8 * 8 + 7 - i % 8]) << i;
}

TEST_P(graphs, spread_over_devices_of_any_vendor) {
    constexpr std::size_t token = 500, count = token * 23;
    for (const device_under_test& other : all_devices()) {
        if (other.device == device()) continue;
        SCOPED_TRACE(other.name);
        const auto other_context = make_context({other.device});
        const floats data = numbers(count);
        floats sum(count), difference(count);
        auto built = new_graph();
        auto elsewhere = code("scale");
        elsewhere.context = other_context.get();
        elsewhere.device = other.device;
        input(built, "i", data, token);
        output(built, "sum", sum, token);
        output(built, "difference", difference, token);
        built.add_kernel("a", code("scale"), factors{2, 0});
        built.add_kernel("b", elsewhere, factors{5, 0});
        built.add_kernel("join", code("join"));
        built.connect("i", "a", bytes_of(token));
        built.connect("a", "b", bytes_of(token));
        built.connect("b", 0, "join", 0, bytes_of(token));
        built.connect("a", 0, "join", 1, bytes_of(token));
        built.connect("join", 0, "sum", 0, bytes_of(token));
        built.connect("join", 1, "difference", 0, bytes_of(token));
        built.initialize();
        for (int round = 0; round < 2; ++round) {
            built.execute();
            for (std::size_t i = 0; i < count; ++i) {
                ASSERT_EQ(sum[i], data[i] * 12);
                ASSERT_EQ(difference[i], data[i] * 8);
            }
        }
    }
}

TEST_P(graphs, run_side_by_side_in_threads) {
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            chain made(context(), device(), [](uint64_t) {});
            made.built.initialize();
            for (int round = 0; round < 3; ++round) {
                made.built.execute();
                if (made.delivered(chain::tokens)) ++right;
            }
        });
    for (auto& each : threads) each.join();
    EXPECT_EQ(right, 9);
}

TEST_P(graphs, say_what_takes_the_time) {
    const option_scope timed("graph_times", "on");
    chain made(context(), device(), [](uint64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    made.built.initialize();
    EXPECT_THAT(made.built.explain(), HasSubstr("the option graph_times measures")) << "nothing was measured yet";
    made.built.execute();
    EXPECT_TRUE(made.delivered(chain::tokens));
    const auto text = made.built.explain();
    const auto at = text.find("predicted time of a period: ");
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_GE(std::stod(text.substr(at + std::strlen("predicted time of a period: "))), 2000.0) << "microseconds";
    // Under a sanitizer a kernel may take longer than the host.
    EXPECT_THAT(text.substr(at), AnyOf(HasSubstr("set by the host\n"), HasSubstr("set by device ")));
}

TEST_P(graphs, explain_themselves) {
    chain made(context(), device(), [](uint64_t) {});
    made.built.initialize();
    EXPECT_THAT(made.built.explain(), AllOf(HasSubstr("'half', 1 x per period, the host"), HasSubstr("buffers\n"),
                                            HasSubstr("'double'"), HasSubstr("predicted time of a period: ")));
    EXPECT_THAT(made.built.to_dot(), HasSubstr("digraph"));
    EXPECT_THAT(refusal([&] { made.built.add_kernel("late", code("scale")); }).what(),
                HasSubstr("initialised already"));
}

TEST_P(graphs, take_kernels_from_binaries) {
    constexpr std::size_t token = 64, count = token * 9;
    const cl_device_id id = device();
    cl_int result_code = CL_SUCCESS;
    const char* source = kernels;
    const program_handle program(clCreateProgramWithSource(context(), 1, &source, nullptr, &result_code));
    ASSERT_EQ(result_code, CL_SUCCESS);
    ASSERT_EQ(clBuildProgram(program.get(), 1, &id, "", nullptr, nullptr), CL_SUCCESS);
    std::size_t size = 0;
    ASSERT_EQ(clGetProgramInfo(program.get(), CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr), CL_SUCCESS);
    ASSERT_GT(size, 0u);
    std::vector<unsigned char> binary(size);
    unsigned char* place = binary.data();
    ASSERT_EQ(clGetProgramInfo(program.get(), CL_PROGRAM_BINARIES, sizeof place, &place, nullptr), CL_SUCCESS);

    const floats data = numbers(count);
    floats result(count);
    auto built = new_graph();
    causeway_kernel wanted{};
    wanted.binary = binary.data();
    wanted.binary_size = binary.size();
    wanted.function = "scale";
    wanted.item_size = sizeof(float);
    built.add_kernel("k", wanted, factors{3, 2});
    input(built, "i", data, token);
    output(built, "o", result, token);
    built.connect("i", "k", bytes_of(token));
    built.connect("k", "o", bytes_of(token));
    built.initialize();
    built.execute();
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(result[i], data[i] * 3 + 2);

    wanted.source = source;
    EXPECT_THROW(built.add_kernel("both", wanted), graph_error);
    auto other = new_graph();
    wanted.source = nullptr;
    const std::vector<unsigned char> nonsense(1000, 'x');
    wanted.binary = nonsense.data();
    wanted.binary_size = nonsense.size();
    EXPECT_THROW(other.add_kernel("broken", wanted), graph_error);
}

TEST_P(graphs, bind_a_kernel_anew_where_it_meets_more_buffers_than_kernels_are_kept_for) {
    // 3,000 firings of `pairs` in a period, each at another place of the ring; more than 512 kernels are not kept.
    constexpr std::size_t pieces = 3000;
    const floats data = numbers(2 * pieces * 2);
    floats result(data.size() / 2);
    auto built = new_graph();
    input(built, "i", data, 2 * pieces);
    output(built, "o", result, pieces);
    built.add_kernel("pairs", code("pairs"));
    built.connect("i", "pairs", rates(2 * pieces, 2));
    built.connect("pairs", "o", rates(1, pieces));
    built.initialize();
    for (int round = 0; round < 2; ++round) {
        std::fill(result.begin(), result.end(), -1.0f);
        built.execute();
        for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], data[2 * i] + data[2 * i + 1]) << i;
    }
}

TEST_P(graphs, show_zeros_on_both_sides_of_a_stream_that_is_shorter_than_a_window) {
    // Each firing sees up to three tokens back and three ahead, of streams of one to seven tokens.
    constexpr std::size_t token = 5, reach = 3 * token - 1;
    for (std::size_t tokens = 1; tokens <= 7; ++tokens) {
        const floats data = numbers(token * tokens);
        floats result(data.size());
        auto built = new_graph();
        input(built, "i", data, token);
        output(built, "o", result, token);
        auto ends = code("ends");
        ends.source = "kernel void ends(global const float *seen, global float *out)"
                      "{ size_t i = get_global_id(0); out[i] = seen[i] + 10 * seen[i + 14] + 100 * seen[i + 28]; }";
        built.add_kernel("ends", ends);
        auto edge = rates(token, token);
        edge.before_size = edge.after_size = bytes_of(reach);
        built.connect("i", "ends", edge);
        built.connect("ends", "o", bytes_of(token));
        built.initialize();
        const auto at = [&](std::size_t i, std::size_t back, std::size_t ahead) {
            return i + ahead < back || i + ahead - back >= data.size() ? 0.0f : data[i + ahead - back];
        };
        for (int round = 0; round < 2; ++round) {
            built.execute();
            for (std::size_t i = 0; i < data.size(); ++i)
                ASSERT_EQ(result[i], at(i, reach, 0) + 10 * data[i] + 100 * at(i, 0, reach))
                    << tokens << " tokens, at " << i;
        }
    }
}
