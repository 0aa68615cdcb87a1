// SPDX-License-Identifier: Apache-2.0
// Stream graphs on devices: each test in one queue and in three, against the same work done on the host.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <causeway/causeway.h>
#include <causeway/graph.hpp>
#include <gmock/gmock.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

using namespace support;
using causeway::stream_graph;
using causeway::graph_error;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

using floats = std::vector<float>;

constexpr const char* kernels = R"(
struct factors { float scale; float offset; };
kernel void scale(struct factors by, global const float *in, global float *out) {
    size_t i = get_global_id(0);
    out[i] = in[i] * by.scale + by.offset;
}
kernel void join(global const float *a, global const float *b, global float *sum, global float *difference) {
    size_t i = get_global_id(0);
    sum[i] = a[i] + b[i];
    difference[i] = a[i] - b[i];
}
kernel void pairs(global const float *in, global float *out) {
    size_t i = get_global_id(0);
    out[i] = in[2 * i] + in[2 * i + 1];
}
kernel void stencil(global const float *window, global float *out) {
    size_t i = get_global_id(0);
    out[i] = window[i] + 2 * window[i + 1] + window[i + 2];
}
kernel void accumulate(global const float *in, global const float *before, global float *sum, global float *after) {
    size_t i = get_global_id(0);
    after[i] = sum[i] = before[i] + in[i];
}
kernel void mirror(global const float *in, global float *out, float factor, local float *scratch) {
    size_t i = get_local_id(0), n = get_local_size(0);
    scratch[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = factor * scratch[n - 1 - i];
}
)";

struct factors {
    float scale, offset;
};

causeway_kernel code(const char* function) {
    causeway_kernel made{};
    made.source = kernels;
    made.function = function;
    made.item_size = sizeof(float);
    return made;
}

floats numbers(std::size_t count) {
    floats made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<float>(i * 7 % 1001);
    return made;
}

constexpr std::size_t bytes_of(std::size_t count) { return count * sizeof(float); }

void input(stream_graph& to, const std::string& name, const floats& data, std::size_t token) {
    to.add_input_stream(name, data.data(), bytes_of(data.size()), bytes_of(token));
}

void output(stream_graph& to, const std::string& name, floats& data, std::size_t token) {
    to.add_output_stream(name, data.data(), bytes_of(data.size()), bytes_of(token));
}

causeway_edge rates(std::size_t produced, std::size_t consumed) {
    causeway_edge made{};
    made.produced_size = bytes_of(produced);
    made.consumed_size = bytes_of(consumed);
    return made;
}

template <class Action> graph_error refusal(Action action) {
    try {
        action();
    } catch (const graph_error& error) {
        return error;
    }
    return {CL_SUCCESS, "not refused"};
}

/// The chain i -> (2 x + 1) -> host adds 0.5 -> (3 x - 1) -> o, whose host function does `also` at each token.
class chain {
  public:
    static constexpr std::size_t token = 1000, tokens = 20;

    chain(cl_context context, cl_device_id device, std::function<void(uint64_t)> also)
        : data(numbers(token * tokens)), result(token * tokens, -1.0f), built(context, device) {
        input(built, "i", data, token);
        output(built, "o", result, token);
        built.add_kernel("double", code("scale"), factors{2, 1});
        built.add_kernel("triple", code("scale"), factors{3, -1});
        built.add_host_function("half", [also = std::move(also)](uint64_t number, const void* const* in, void* const* out) {
            also(number);
            for (std::size_t i = 0; i < token; ++i)
                static_cast<float*>(out[0])[i] = static_cast<const float*>(in[0])[i] + 0.5f;
        });
        built.connect("i", "double", bytes_of(token));
        built.connect("double", "half", bytes_of(token));
        built.connect("half", "triple", bytes_of(token));
        built.connect("triple", "o", bytes_of(token));
    }

    /// The first `count` tokens are right and, after them, nothing was written.
    [[nodiscard]] testing::AssertionResult delivered(std::size_t count) const {
        for (std::size_t i = 0; i < result.size(); ++i) {
            const float expected = i < count * token ? (data[i] * 2 + 1 + 0.5f) * 3 - 1 : -1.0f;
            if (result[i] != expected)
                return testing::AssertionFailure() << "token " << i / token << ": " << result[i] << " instead of " << expected;
        }
        return testing::AssertionSuccess();
    }

    floats data, result;
    stream_graph built;
};

using parameters = std::tuple<device_under_test, const char*>;

class graphs : public testing::TestWithParam<parameters> {
  protected:
    graphs() : m_mode("graph", std::get<1>(GetParam())), m_context(make_context({device()})) {}

    [[nodiscard]] cl_device_id device() const { return std::get<0>(GetParam()).device; }
    [[nodiscard]] cl_context context() const { return m_context.get(); }
    [[nodiscard]] stream_graph new_graph() const { return {context(), device()}; }

  private:
    option_scope m_mode;
    context_handle m_context;
};

INSTANTIATE_TEST_SUITE_P(devices, graphs,
                         testing::Combine(testing::ValuesIn(all_devices()), testing::Values("plain", "overlap")),
                         [](const auto& info) {
                             return std::get<0>(info.param).name + "_" + std::get<1>(info.param);
                         });

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

TEST_P(graphs, stream_from_and_to_functions_until_the_end_of_input) {
    constexpr std::size_t token = 64;
    std::size_t length = 33;
    floats result;
    auto built = new_graph();
    built.add_input_stream(
        "i",
        [&](uint64_t number, void* to, size_t size) -> size_t {
            if (number == length) return 0;
            for (std::size_t i = 0; i < token; ++i) static_cast<float*>(to)[i] = static_cast<float>(number * token + i);
            return size;
        },
        bytes_of(token));
    built.add_output_stream(
        "o",
        [&](uint64_t number, const void* from, size_t) {
            ASSERT_EQ(number * token, result.size());
            result.insert(result.end(), static_cast<const float*>(from), static_cast<const float*>(from) + token);
        },
        bytes_of(token));
    built.add_kernel("stencil", code("stencil"));
    auto edge = rates(token, token);
    edge.before_size = edge.after_size = sizeof(float);
    built.connect("i", "stencil", edge);
    built.connect("stencil", "o", bytes_of(token));
    built.initialize();
    for (const std::size_t tokens : {33, 1, 0, 50}) {
        length = tokens;
        result.clear();
        built.execute();
        ASSERT_EQ(result.size(), tokens * token);
        for (std::size_t i = 0; i < result.size(); ++i)
            ASSERT_EQ(result[i], 4.0f * static_cast<float>(i) + (i == 0 ? 1 : i + 1 == result.size() ? -static_cast<float>(i + 1) : 0)) << i;
    }
}

TEST_P(graphs, stream_from_file_to_file) {
    constexpr std::size_t token = 1234;
    const floats data = numbers(token * 40);
    bytes contents(bytes_of(data.size()));
    std::memcpy(contents.data(), data.data(), contents.size());
    const temporary_folder folder;
    write_file(folder.path("input"), contents);
    const auto expect = [&](std::size_t skipped, std::size_t first, std::size_t count) {
        const bytes got = file_contents(folder.path("output"));
        ASSERT_EQ(got.size(), skipped + bytes_of(count));
        for (std::size_t i = 0; i < count; ++i) {
            float value = 0;
            std::memcpy(&value, got.data() + skipped + i * sizeof value, sizeof value);
            ASSERT_EQ(value, data[first + i] * 2 + 1) << i;
        }
    };
    const auto finish = [&](stream_graph& built) {
        built.add_kernel("k", code("scale"), factors{2, 1});
        built.connect("i", "k", bytes_of(token));
        built.connect("k", "o", bytes_of(token));
        built.initialize();
        built.execute();
    };
    {
        // Half of it, then the rest: streams go on where they are.
        const auto in = open_stream(folder.path("input"), "rb");
        const auto out = open_stream(folder.path("output"), "wb");
        auto built = new_graph();
        built.add_input_stream("i", in.get(), bytes_of(token), bytes_of(token * 20));
        built.add_output_stream("o", out.get(), bytes_of(token));
        finish(built);
        EXPECT_EQ(std::ftell(in.get()), static_cast<long>(bytes_of(token * 20)));
        built.execute();
    }
    expect(0, 0, data.size());
    {
        const auto in = open_descriptor(folder.path("input"), O_RDONLY);
        const auto out = open_descriptor(folder.path("output"), O_WRONLY | O_TRUNC);
        auto built = new_graph();
        built.add_input_descriptor("i", in.get(), bytes_of(token), bytes_of(token));
        built.add_output_descriptor("o", out.get(), 100, bytes_of(token));
        finish(built);
        built.execute();
    }
    expect(100, token, data.size() - token);
}

TEST_P(graphs, stream_through_pipes_until_they_close) {
    constexpr std::size_t token = 100, tokens = 77;
    auto in = make_pipe();
    auto out = make_pipe();
    const bytes sent = pattern(bytes_of(token * tokens));
    std::thread writer([&] {
        EXPECT_TRUE(write_all(in.writing.get(), sent));
        in.writing.close();
    });
    bytes got;
    std::thread reader([&] { got = read_all(out.reading.get(), sent.size()); });
    {
        const auto from = open_stream(std::move(in.reading), "rb");
        const auto to = open_stream(std::move(out.writing), "wb");
        auto built = new_graph();
        built.add_input_stream("i", from.get(), bytes_of(token));
        built.add_output_stream("o", to.get(), bytes_of(token));
        built.add_host_function("copy", [](uint64_t, const void* const* seen, void* const* given) {
            std::memcpy(given[0], seen[0], bytes_of(token));
        });
        built.connect("i", "copy", bytes_of(token));
        built.connect("copy", "o", bytes_of(token));
        built.initialize();
        built.execute();
    }
    writer.join();
    reader.join();
    EXPECT_TRUE(same_bytes(sent, got));
}

TEST_P(graphs, name_the_token_at_which_a_file_ends_or_is_full) {
    constexpr std::size_t token = 4096;
    const temporary_folder folder;
    write_file(folder.path("input"), pattern(token * 9 + 5));
    const auto run = [&](const char* to) {
        const auto in = open_stream(folder.path("input"), "rb");
        const auto out = open_descriptor(to, O_WRONLY | O_CREAT);
        auto built = new_graph();
        built.add_input_stream("i", in.get(), token);
        const auto target = open_stream(descriptor(dup(out.get())), "wb");
        built.add_output_stream("o", target.get(), token);
        built.add_kernel("k", code("scale"), factors{1, 0});
        built.connect("i", "k", token);
        built.connect("k", "o", token);
        built.initialize();
        return refusal([&] { built.execute(); });
    };
    const auto ended = run(folder.path("output").c_str());
    EXPECT_EQ(ended.code(), -31001);
    EXPECT_THAT(ended.what(), AllOf(HasSubstr("'i', token 9:"), HasSubstr("5 B of a token of 4 KiB")));
    EXPECT_EQ(file_contents(folder.path("output")).size(), token * 9);
    const auto full = run("/dev/full");
    EXPECT_EQ(full.code(), -31002);
    EXPECT_THAT(full.what(), AllOf(HasSubstr("'o', token 0:"), HasSubstr("No space left")));
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

TEST_P(graphs, end_a_run_at_the_token_that_fails_and_deliver_those_before) {
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

TEST_P(graphs, name_the_stream_and_the_token_that_a_reader_or_writer_failed_with) {
    constexpr std::size_t token = 16;
    const auto run = [&](const stream_graph::token_reader& reader, cl_int written) {
        causeway_token_writer writer = [](void* user, uint64_t number, const void*, size_t) -> cl_int {
            return number == 2 ? *static_cast<cl_int*>(user) : 0;
        };
        auto built = new_graph();
        built.add_input_stream("source", reader, bytes_of(token));
        EXPECT_EQ(causeway_graph_add_output_function(built.raw(), "sink", writer, &written, CAUSEWAY_ENDLESS, bytes_of(token)), CL_SUCCESS);
        built.add_kernel("k", code("scale"), factors{1, 1});
        built.connect("source", "k", bytes_of(token));
        built.connect("k", "sink", bytes_of(token));
        built.initialize();
        return refusal([&] { built.execute(); });
    };
    const auto short_token = run([](uint64_t number, void*, size_t size) { return number == 5 ? size - 1 : size; }, 0);
    EXPECT_EQ(short_token.code(), -31001);
    EXPECT_THAT(short_token.what(), AllOf(HasSubstr("'source', token 5:"), HasSubstr("63 B of a token of 64 B")));
    const auto failed = run([](uint64_t number, void*, size_t size) { return number == 9 ? CAUSEWAY_TOKEN_FAILED : size; }, 0);
    EXPECT_EQ(failed.code(), -31002);
    EXPECT_THAT(failed.what(), HasSubstr("'source', token 9: the reader failed"));
    const auto refused = run([](uint64_t, void*, size_t size) { return size; }, -77);
    EXPECT_EQ(refused.code(), -77);
    EXPECT_THAT(refused.what(), HasSubstr("'sink', token 2: the writer returned -77"));
}

TEST_P(graphs, name_the_kernel_that_a_device_refuses) {
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

TEST_P(graphs, stop_early_after_what_has_begun) {
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

TEST_P(graphs, refuse_what_cannot_be_with_a_sentence) {
    const floats data = numbers(100);
    floats result(100);
    auto built = new_graph();
    EXPECT_EQ(refusal([&] { built.execute(); }).code(), CL_INVALID_OPERATION);
    auto broken = code("scale");
    broken.source = "kernel void scale( { this is no C";
    EXPECT_THAT(refusal([&] { built.add_kernel("broken", broken); }).what(), HasSubstr("kernel 'broken' does not build:"));
    input(built, "i", data, 10);
    output(built, "o", result, 10);
    EXPECT_THAT(refusal([&] { input(built, "i", data, 10); }).what(), HasSubstr("two nodes with the name 'i'"));
    EXPECT_THAT(refusal([&] { input(built, "j", data, 7); }).what(), HasSubstr("does not divide into tokens of 28 B"));
    built.add_kernel("k", code("join"));
    built.connect("i", "k", bytes_of(10));
    built.connect("k", "o", bytes_of(10));
    const auto refused = refusal([&] { built.initialize(); });
    EXPECT_EQ(refused.code(), CL_INVALID_VALUE);
    EXPECT_THAT(refused.what(), HasSubstr("kernel 'k': of its 4 arguments 4 have no value, but it is connected with 1 inputs and 1 outputs"));
    EXPECT_EQ(causeway_graph_execute(nullptr), CL_INVALID_VALUE);
    EXPECT_EQ(causeway_graph_explain(built.raw()), nullptr);
}

TEST_P(graphs, say_what_takes_the_time) {
    const option_scope timed("graph_times", "on");
    chain made(context(), device(), [](uint64_t) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    made.built.initialize();
    EXPECT_THAT(made.built.explain(), Not(HasSubstr("predicted")));
    made.built.execute();
    EXPECT_TRUE(made.delivered(chain::tokens));
    const auto text = made.built.explain();
    const auto at = text.find("predicted time of a period: ");
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_GE(std::stod(text.substr(at + std::strlen("predicted time of a period: "))), 2000.0) << "microseconds";
    EXPECT_THAT(text.substr(at), HasSubstr("set by the host"));
}

TEST_P(graphs, explain_themselves) {
    chain made(context(), device(), [](uint64_t) {});
    made.built.initialize();
    EXPECT_THAT(made.built.explain(), AllOf(HasSubstr("'half', 1 x per period, the host"), HasSubstr("buffers\n"), HasSubstr("'double'")));
    EXPECT_THAT(made.built.to_dot(), HasSubstr("digraph"));
    EXPECT_THAT(refusal([&] { made.built.add_kernel("late", code("scale")); }).what(), HasSubstr("initialised already"));
}
