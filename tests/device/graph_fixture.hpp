// SPDX-License-Identifier: Apache-2.0
// What tests of stream graphs share: kernels, numbers, and a fixture that runs each test in one queue and in three.
#pragma once

#include "support/events.hpp"
#include "support/opencl_fixture.hpp"

#include <causeway/causeway.h>
#include <causeway/graph.hpp>

#include <functional>
#include <string>
#include <vector>

namespace graph_tests {

using namespace support;
using causeway::graph_error;
using causeway::stream_graph;

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

inline causeway_kernel code(const char* function) {
    causeway_kernel made{};
    made.source = kernels;
    made.function = function;
    made.item_size = sizeof(float);
    return made;
}

inline floats numbers(std::size_t count) {
    floats made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<float>(i * 7 % 1001);
    return made;
}

constexpr std::size_t bytes_of(std::size_t count) { return count * sizeof(float); }

inline void input(stream_graph& to, const std::string& name, const floats& data, std::size_t token) {
    to.add_input_stream(name, data.data(), bytes_of(data.size()), bytes_of(token));
}

inline void output(stream_graph& to, const std::string& name, floats& data, std::size_t token) {
    to.add_output_stream(name, data.data(), bytes_of(data.size()), bytes_of(token));
}

inline causeway_edge rates(std::size_t produced, std::size_t consumed) {
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
        built.add_host_function("half",
                                [also = std::move(also)](uint64_t number, const void* const* in, void* const* out) {
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
                return testing::AssertionFailure()
                       << "token " << i / token << ": " << result[i] << " instead of " << expected;
        }
        return testing::AssertionSuccess();
    }

    floats data, result;
    stream_graph built;
};

using parameters = std::tuple<device_under_test, const char*>;

class graph_test : public testing::TestWithParam<parameters> {
  protected:
    graph_test() : m_mode("graph", std::get<1>(GetParam())), m_context(make_context({device()})) {}

    [[nodiscard]] cl_device_id device() const { return std::get<0>(GetParam()).device; }
    [[nodiscard]] cl_context context() const { return m_context.get(); }
    [[nodiscard]] stream_graph new_graph() const { return {context(), device()}; }

  private:
    option_scope m_mode;
    context_handle m_context;
};

[[nodiscard]] inline std::string mode_name(const testing::TestParamInfo<parameters>& info) {
    return std::get<0>(info.param).name + "_" + std::get<1>(info.param);
}
#define CAUSEWAY_ON_ALL_DEVICES(suite)                                                                                 \
    INSTANTIATE_TEST_SUITE_P(devices, suite,                                                                           \
                             testing::Combine(testing::ValuesIn(all_devices()), testing::Values("plain", "overlap")),  \
                             mode_name)

} // namespace graph_tests
