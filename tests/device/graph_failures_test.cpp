// SPDX-License-Identifier: Apache-2.0
// Runs that fail, stop early or are refused: what was before is delivered, and the next run is whole.
#include "device/graph_fixture.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <thread>
#include <thread>

using namespace graph_tests;
using testing::AllOf;
using testing::HasSubstr;

namespace {

class graph_failures : public graph_test {};
CAUSEWAY_ON_ALL_DEVICES(graph_failures);

} // namespace

TEST_P(graph_failures, end_a_run_at_the_token_that_fails_and_deliver_those_before) {
    for (const std::size_t bad : {std::size_t{0}, std::size_t{7}, chain::tokens - 1}) {
        bool failing = true;
        chain made(context(), device(), [&](uint64_t number) {
            if (failing && number == bad) throw std::runtime_error("no half today");
        });
        made.built.initialize();
        try {
            made.built.execute();
            ADD_FAILURE() << "did not fail";
        } catch (const graph_error& error) {
            ADD_FAILURE() << "not the exception of the function: " << error.what();
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "no half today");
        }
        EXPECT_THAT(causeway_error_last_message(), HasSubstr("'half', token " + std::to_string(bad) + ":"));
        EXPECT_TRUE(made.delivered(bad));
        failing = false;
        made.built.execute();
        EXPECT_TRUE(made.delivered(chain::tokens)) << "after a failed run";
    }
}

TEST_P(graph_failures, name_the_stream_and_the_token_that_a_reader_or_writer_failed_with) {
    constexpr std::size_t token = 16;
    const auto run = [&](const stream_graph::token_reader& reader, cl_int written) {
        causeway_token_writer writer = [](void* user, uint64_t number, const void*, size_t) -> cl_int {
            return number == 2 ? *static_cast<cl_int*>(user) : 0;
        };
        auto built = new_graph();
        built.add_input_stream("source", reader, bytes_of(token));
        EXPECT_EQ(causeway_graph_add_output_function(built.raw(), "sink", writer, &written, CAUSEWAY_ENDLESS,
                                                     bytes_of(token)),
                  CL_SUCCESS);
        built.add_kernel("k", code("scale"), factors{1, 1});
        built.connect("source", "k", bytes_of(token));
        built.connect("k", "sink", bytes_of(token));
        built.initialize();
        return refusal([&] { built.execute(); });
    };
    const auto short_token = run([](uint64_t number, void*, size_t size) { return number == 5 ? size - 1 : size; }, 0);
    EXPECT_EQ(short_token.code(), -31001);
    EXPECT_THAT(short_token.what(), AllOf(HasSubstr("'source', token 5:"), HasSubstr("63 B of a token of 64 B")));
    const auto failed = run(
        [](uint64_t number, void*, size_t size) { return number == 9 ? CAUSEWAY_TOKEN_FAILED : size; }, 0);
    EXPECT_EQ(failed.code(), -31002);
    EXPECT_THAT(failed.what(), HasSubstr("'source', token 9: the reader failed"));
    const auto refused = run([](uint64_t, void*, size_t size) { return size; }, -77);
    EXPECT_EQ(refused.code(), -77);
    EXPECT_THAT(refused.what(), HasSubstr("'sink', token 2: the writer returned -77"));
}

TEST_P(graph_failures, name_the_kernel_that_a_device_refuses) {
    constexpr std::size_t token = 10;
    const floats data = numbers(token * 3);
    floats result(data.size());
    auto built = new_graph();
    auto wanted = code("scale");
    wanted.work_dim = 1;
    wanted.global_size[0] = token;
    wanted.local_size[0] = 3; // does not divide the global size
    built.add_kernel("odd", wanted, factors{1, 1});
    input(built, "i", data, token);
    output(built, "o", result, token);
    built.connect("i", "odd", bytes_of(token));
    built.connect("odd", "o", bytes_of(token));
    built.initialize();
    const auto failed = refusal([&] { built.execute(); });
    if (failed.code() == CL_SUCCESS) GTEST_SKIP() << "this implementation takes any local size";
    EXPECT_EQ(failed.code(), CL_INVALID_WORK_GROUP_SIZE);
    EXPECT_THAT(failed.what(), HasSubstr("'odd', token 0: enqueueing the kernel"));
}

TEST_P(graph_failures, stop_early_after_what_has_begun) {
    uint64_t delivered = 0;
    auto built = new_graph();
    constexpr std::size_t token = 256;
    built.add_input_stream("i", [](uint64_t, void*, size_t size) { return size; }, bytes_of(token));
    built.add_output_stream(
        "o",
        [&](uint64_t number, const void*, size_t) {
            delivered = number + 1;
            if (number == 10) built.stop();
        },
        bytes_of(token));
    built.add_kernel("k", code("scale"), factors{1, 1});
    built.connect("i", "k", bytes_of(token));
    built.connect("k", "o", bytes_of(token));
    built.initialize();
    built.execute();
    EXPECT_GE(delivered, 11u);
    EXPECT_LT(delivered, 100u);
}

TEST_P(graph_failures, a_stop_is_for_the_run_under_way_and_one_run_is_under_way_at_a_time) {
    const floats data = numbers(100);
    floats result(100);
    auto built = new_graph();
    input(built, "i", data, 10);
    cl_int inner = CL_SUCCESS;
    built.add_host_function("f", [&](uint64_t, const void* const* in, void* const* out) {
        inner = causeway_graph_execute(built.raw());
        std::memcpy(out[0], in[0], bytes_of(10));
    });
    output(built, "o", result, 10);
    built.connect("i", "f", bytes_of(10));
    built.connect("f", "o", bytes_of(10));
    built.initialize();
    EXPECT_FALSE(built.stop());
    built.execute();
    EXPECT_EQ(result, data);
    EXPECT_EQ(inner, CL_INVALID_OPERATION);
    EXPECT_THAT(causeway_error_last_message(), HasSubstr("is being executed"));
    EXPECT_FALSE(built.stop());
    built.execute();
    EXPECT_EQ(built.token_count("o"), 10u);
}

TEST_P(graph_failures, a_stop_that_is_taken_ends_the_run_however_early_it_comes) {
    for (int round = 0; round < 50; ++round) {
        auto built = new_graph();
        built.add_input_stream("i", [](uint64_t, void*, size_t size) { return size; }, 64);
        built.add_output_stream("o", [](uint64_t, const void*, size_t) {}, 64);
        built.connect("i", "o", 64);
        built.initialize();
        std::thread runner([&] { EXPECT_NO_THROW(built.execute()); });
        while (!built.stop()) std::this_thread::yield();
        runner.join();
    }
}

TEST_P(graph_failures, name_what_is_thrown_through_the_c_interface) {
    auto built = new_graph();
    const causeway_token_reader reader = [](void*, uint64_t number, void*, size_t size) -> size_t {
        if (number == 2) throw 5;
        return size;
    };
    ASSERT_EQ(causeway_graph_add_input_function(built.raw(), "i", reader, nullptr, CAUSEWAY_ENDLESS, 16), CL_SUCCESS);
    built.add_output_stream("o", [](uint64_t, const void*, size_t) {}, 16);
    built.connect("i", "o", 16);
    built.initialize();
    EXPECT_THAT(refusal([&] { built.execute(); }).what(), HasSubstr("'i', token 2: an exception"));
}

TEST_P(graph_failures, refuse_a_device_of_another_context_and_work_without_items) {
    auto built = new_graph();
    for (const auto& other : all_devices()) {
        if (other.device == device()) continue;
        auto elsewhere = code("scale");
        elsewhere.device = other.device;
        const auto refused = refusal([&] { built.add_kernel("k", elsewhere, factors{1, 0}); });
        EXPECT_EQ(refused.code(), CL_INVALID_DEVICE);
        EXPECT_THAT(refused.what(), HasSubstr("the device of kernel 'k' is not one of its context"));
        causeway_graph* none = nullptr;
        EXPECT_EQ(causeway_graph_create(context(), other.device, &none), CL_INVALID_DEVICE);
        EXPECT_EQ(none, nullptr);
    }
    auto empty = code("scale");
    empty.work_dim = 2;
    empty.global_size[0] = 4;
    EXPECT_THAT(refusal([&] { built.add_kernel("k", empty, factors{1, 0}); }).what(),
                HasSubstr("kernel 'k' has no work items: global_size[1] is 0"));
    empty.global_size[1] = 4;
    empty.local_size[0] = 2;
    EXPECT_THAT(refusal([&] { built.add_kernel("k", empty, factors{1, 0}); }).what(),
                HasSubstr("a local size in some"));
    const auto there = std::move(built);
    EXPECT_THAT(refusal([&] { built.execute(); }).what(), HasSubstr("moved elsewhere"));
    EXPECT_THAT(refusal([&] { built.add_host_function("f", {}); }).what(), HasSubstr("moved elsewhere"));
}

TEST_P(graph_failures, say_what_is_wrong_with_a_kernel) {
    const auto refused = [&](const causeway_kernel& kernel) {
        auto built = new_graph();
        built.add_input_stream("i", [](uint64_t, void*, size_t) -> size_t { return 0; }, 64);
        built.add_output_stream("o", [](uint64_t, const void*, size_t) {}, 64);
        built.add_kernel("k", kernel, factors{1, 0});
        built.connect("i", "k", 64);
        built.connect("k", "o", 64);
        return std::string(refusal([&] { built.initialize(); }).what());
    };
    EXPECT_THAT(refused(code("skale")), AllOf(HasSubstr("kernel 'k': it has no function 'skale', but "),
                                              HasSubstr("scale"), HasSubstr("CL_INVALID_KERNEL_NAME")));
    auto sizeless = code("scale");
    sizeless.item_size = 0;
    EXPECT_THAT(refused(sizeless), HasSubstr("kernel 'k': neither work_dim nor item_size says"));
}

TEST_P(graph_failures, refuse_windows_that_no_memory_holds_naming_nodes_and_numbers) {
    auto built = new_graph();
    built.add_input_stream("i", [](uint64_t, void*, size_t) -> size_t { return 0; }, 4);
    built.add_host_function("f", [](uint64_t, const void* const*, void* const*) {});
    built.add_output_stream("o", [](uint64_t, const void*, size_t) {}, 4);
    causeway_edge wide{};
    wide.produced_size = wide.consumed_size = 4;
    wide.before_size = std::size_t{1} << 44;
    built.connect("i", "f", wide);
    built.connect("f", "o", 4);
    const auto refused = refusal([&] { built.initialize(); });
    EXPECT_EQ(refused.code(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    EXPECT_THAT(refused.what(), AllOf(HasSubstr("of the host's memory, which has"), HasSubstr("'i' -> 'f'")));
}

TEST_P(graph_failures, refuse_a_graph_that_the_device_has_no_memory_for_naming_nodes_and_numbers) {
    cl_ulong memory = 0, buffer = 0;
    ASSERT_EQ(clGetDeviceInfo(device(), CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, nullptr), CL_SUCCESS);
    ASSERT_EQ(clGetDeviceInfo(device(), CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof buffer, &buffer, nullptr), CL_SUCCESS);
    // Nothing is allocated: a token of a stream that begins in a function is only a number until then.
    const auto refused = [&](std::size_t token, std::size_t kernels) {
        auto built = new_graph();
        built.add_input_stream("i", [](uint64_t, void*, size_t) -> size_t { return 0; }, token);
        built.add_output_stream("o", [](uint64_t, const void*, size_t) {}, token);
        std::string last = "i";
        for (std::size_t k = 0; k < kernels; ++k) {
            const auto name = std::string("k").append(std::to_string(k));
            built.add_kernel(name, code("scale"), factors{1, 0});
            built.connect(last, name, token);
            last = name;
        }
        built.connect(last, "o", token);
        return refusal([&] { built.initialize(); });
    };
    const auto one = refused(buffer / 4 * 4 + 4096, 1);
    EXPECT_EQ(one.code(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    EXPECT_THAT(one.what(),
                AllOf(HasSubstr("'i' -> 'k0'"), HasSubstr("is larger than device '"), HasSubstr(" allows, ")));
    const std::size_t most = buffer / 4096 * 4096;
    const auto all = refused(most, memory / most + 1);
    EXPECT_EQ(all.code(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
    EXPECT_THAT(all.what(), AllOf(HasSubstr("the graph needs "), HasSubstr("on device '"), HasSubstr("', which has "),
                                  HasSubstr("; most of it, "), HasSubstr("'i' -> 'k0'")));
}

TEST_P(graph_failures, refuse_what_cannot_be_with_a_sentence) {
    const floats data = numbers(100);
    floats result(100);
    auto built = new_graph();
    EXPECT_EQ(refusal([&] { built.execute(); }).code(), CL_INVALID_OPERATION);
    auto broken = code("scale");
    broken.source = "kernel void scale( { this is no C";
    EXPECT_THAT(refusal([&] { built.add_kernel("broken", broken); }).what(),
                HasSubstr("kernel 'broken' does not build:"));
    input(built, "i", data, 10);
    output(built, "o", result, 10);
    EXPECT_THAT(refusal([&] { input(built, "i", data, 10); }).what(), HasSubstr("two nodes with the name 'i'"));
    EXPECT_THAT(refusal([&] { input(built, "j", data, 7); }).what(), HasSubstr("does not divide into tokens of 28 B"));
    built.add_kernel("k", code("join"));
    built.connect("i", "k", bytes_of(10));
    built.connect("k", "o", bytes_of(10));
    const auto refused = refusal([&] { built.initialize(); });
    EXPECT_EQ(refused.code(), CL_INVALID_VALUE);
    EXPECT_THAT(
        refused.what(),
        HasSubstr("kernel 'k': of its 4 arguments 4 have no value, but it is connected with 1 inputs and 1 outputs"));
    EXPECT_EQ(causeway_graph_execute(nullptr), CL_INVALID_VALUE);
    EXPECT_EQ(causeway_graph_explain(built.raw()), nullptr);
}
