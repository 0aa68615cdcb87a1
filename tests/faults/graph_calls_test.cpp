// SPDX-License-Identifier: Apache-2.0
// What a token of a stream graph costs in calls of OpenCL once the graph runs: nothing is made, little told or asked.
#include "faults/scenes.hpp"

#include <causeway/graph.hpp>
#include <gtest/gtest.h>

#include <mpi.h>

#include <map>
#include <utility>

using namespace faults;

namespace {

constexpr std::size_t token = 1024;
constexpr const char* source = R"(
kernel void next(global const uint *in, global uint *out) { size_t i = get_global_id(0); out[i] = in[i] + 1; }
)";

using numbers = std::vector<cl_uint>;
using call_counts = std::map<std::string, double>;

/// Memory -> next -> next -> memory: the calls of a run with so many tokens.
call_counts calls_of_a_run(cl_context context, cl_device_id device, std::size_t tokens) {
    const numbers data(token / sizeof(cl_uint) * tokens, 40);
    numbers result(data.size());
    causeway::stream_graph built(context, device);
    built.add_input_stream("data", data.data(), token * tokens, token);
    built.add_output_stream("result", result.data(), token * tokens, token);
    built.use_page_locked("data");
    built.use_page_locked("result");
    causeway_kernel code{};
    code.source = source;
    code.function = "next";
    code.item_size = sizeof(cl_uint);
    built.add_kernel("first", code);
    built.add_kernel("second", code);
    built.connect("data", "first", token);
    built.connect("first", "second", token);
    built.connect("second", "result", token);
    built.initialize();
    const auto released = released_events();
    arm(nullptr);
    built.execute();
    disarm();
    EXPECT_EQ(result, numbers(data.size(), 42));
    call_counts counted;
    for (const auto* const each : all_points())
        if (each->calls > 0 && each->from == layer::opencl) counted[each->name] = each->calls;
    counted["clReleaseEvent"] = released_events() - released;
    return counted;
}

/// Of each function, the calls that one more token brings.
call_counts calls_of_a_token(cl_context context, cl_device_id device) {
    constexpr std::size_t few = 100, many = 1100;
    const auto before = calls_of_a_run(context, device, few);
    auto counted = calls_of_a_run(context, device, many);
    for (auto& [name, calls] : counted) {
        const auto found = before.find(name);
        calls = (calls - (found == before.end() ? 0 : found->second)) / (many - few);
    }
    return counted;
}

/// A graph with three queues on what seems to be a device with memory of its own, and on the device as it is.
enum class memory { own, of_host };

class graph_calls : public testing::TestWithParam<std::tuple<support::device_under_test, memory>> {
  protected:
    graph_calls() : m_mode("graph", "overlap"), m_device(std::get<0>(GetParam()).device) {
        if (std::get<1>(GetParam()) == memory::of_host) return;
        m_pretended.emplace(pretended_discrete_devices::platform::another);
        m_device = part_of(m_device);
    }
    void SetUp() override {
        int ranks = 1;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        if (ranks > 1) GTEST_SKIP() << "needs no second rank";
        if (m_device == nullptr) GTEST_SKIP() << "the device has no parts";
    }
    [[nodiscard]] cl_device_id device() const { return m_device; }

  private:
    support::option_scope m_mode;
    std::optional<pretended_discrete_devices> m_pretended;
    cl_device_id m_device;
};

INSTANTIATE_TEST_SUITE_P(devices, graph_calls,
                         testing::Combine(testing::ValuesIn(one_device_each()),
                                          testing::Values(memory::own, memory::of_host)),
                         [](const auto& info) {
                             return std::get<0>(info.param).name +
                                    (std::get<1>(info.param) == memory::own ? "_own_memory" : "_host_memory");
                         });

} // namespace

TEST_P(graph_calls, of_a_token_are_its_commands_and_little_more) {
    const auto context = support::make_context({device()});
    auto counted = calls_of_a_token(context.get(), device());
    std::string all;
    for (const auto& [name, calls] : counted)
        if (calls != 0) all += name + " " + std::to_string(calls) + "\n";
    SCOPED_TRACE(all);
    const auto take = [&](const char* name) { return std::exchange(counted[name], 0); };
    EXPECT_EQ(take("clEnqueueWriteBuffer"), 1);
    EXPECT_EQ(take("clEnqueueNDRangeKernel"), 2);
    EXPECT_EQ(take("clEnqueueReadBuffer"), 1);
    EXPECT_LE(take("clFlush"), 1.1) << "of three queues";
    const bool own_memory = std::get<1>(GetParam()) == memory::own;
    const double events = own_memory ? 3 : 4;
    EXPECT_LE(take("clReleaseEvent"), events + 0.1) << "between kernels of one queue nothing has to be told";
    // PoCL must be asked before each wait list as well, Intel's runtime twice about each event, see cl::device_facts.
    EXPECT_LE(take("clGetEventInfo"), own_memory ? events + 1 : events + 5);
    EXPECT_LE(take("clWaitForEvents"), own_memory ? 0.5 : events + 1);
    EXPECT_LE(take("clEnqueueBarrierWithWaitList"), 0.1);
    for (const auto& [name, calls] : counted) EXPECT_EQ(calls, 0) << name << " is not for the steady state";
}
