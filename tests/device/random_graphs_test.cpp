// SPDX-License-Identifier: Apache-2.0
// Random graphs on devices: kernels, host functions and streams give what the serial interpreter gives, bit for bit.
#include "support/cases.hpp"
#include "support/events.hpp"
#include "support/opencl_fixture.hpp"
#include "unit/graph/interpreters.hpp"
#include "unit/graph/random_graph.hpp"

#include "base/error.hpp"

#include <causeway/graph.hpp>

#include <array>
#include <cstring>

using namespace support;
namespace described = causeway::graph;

namespace {

/// What a kernel gets by value. It is no part of the source, so that a driver compiles a few kernels for all graphs.
struct sizes {
    cl_int salt = 0;
    std::array<cl_int, 16> seen = {}, given = {};
};

sizes sizes_of(const described::description& graph, std::size_t node) {
    sizes found{static_cast<cl_int>(node + 77)};
    for (const auto& edge : graph.edges()) {
        if (edge.target == node) found.seen.at(edge.target_position) = static_cast<cl_int>(edge.window_bytes());
        if (edge.source == node) found.given.at(edge.source_position) = static_cast<cl_int>(edge.produced_bytes);
    }
    return found;
}

/// The function compute() of the interpreters in OpenCL C; one work item.
std::string source_of(const described::description& graph, std::size_t node) {
    std::size_t inputs = 0, outputs = 0;
    for (const auto& edge : graph.edges()) {
        if (edge.target == node) inputs = std::max(inputs, edge.target_position + 1);
        if (edge.source == node) outputs = std::max(outputs, edge.source_position + 1);
    }
    std::string arguments = "struct sizes sizes", body;
    const auto name = [](const char* kind, std::size_t i) { return std::string(kind).append(std::to_string(i)); };
    for (std::size_t i = 0; i < inputs; ++i) {
        arguments += ", global const uchar *" + name("in", i);
        body += "    for (int i = 0; i < sizes.seen[" + std::to_string(i) + "]; ++i) value = scramble(value + " +
                name("in", i) + "[i] + 1);\n";
    }
    for (std::size_t i = 0; i < outputs; ++i) {
        arguments += ", global uchar *" + name("out", i);
        body += "    for (int i = 0; i < sizes.given[" + std::to_string(i) + "]; ++i) " + name("out", i) +
                "[i] = (value = scramble(value + 3)) >> 23;\n";
    }
    return "struct sizes { int salt; int seen[16], given[16]; };\n"
           "ulong scramble(ulong value) { value ^= value >> 31; value *= 0x9e3779b97f4a7c15UL; return value ^ (value "
           ">> 29); }\n"
           "kernel void node(" +
           arguments + ")\n{\n    ulong value = scramble(sizes.salt);\n" + body + "}\n";
}

/// Runs the described graph through the public interface; `devices` and `contexts` by place.
class device_graph {
  public:
    device_graph(const described::description& graph, const std::vector<cl_context>& contexts,
                 const std::vector<cl_device_id>& devices)
        : m_graph(graph), m_streams(graph.nodes().size()), m_built(contexts[0], devices[0]) {
        for (std::size_t i = 0; i < graph.nodes().size(); ++i) add(i, contexts, devices);
        for (const auto& each : graph.edges()) {
            causeway_edge edge{};
            edge.source_position = static_cast<cl_uint>(each.source_position);
            edge.target_position = static_cast<cl_uint>(each.target_position);
            edge.produced_size = each.produced_bytes;
            edge.consumed_size = each.consumed_bytes;
            edge.delay_size = each.delay_bytes;
            edge.initial = each.initial.empty() ? nullptr : each.initial.data();
            edge.before_size = each.before_bytes;
            edge.after_size = each.after_bytes;
            m_built.connect(graph.nodes()[each.source].name, graph.nodes()[each.target].name, edge);
        }
        m_built.initialize();
    }

    [[nodiscard]] described::testing::results run() {
        for (std::size_t i = 0; i < m_streams.size(); ++i)
            if (m_graph.nodes()[i].kind == described::node_kind::output)
                std::fill(m_streams[i].begin(), m_streams[i].end(), std::byte{0xEE});
        m_built.execute();
        described::testing::results delivered;
        for (std::size_t i = 0; i < m_streams.size(); ++i)
            if (m_graph.nodes()[i].kind == described::node_kind::output && m_graph.nodes()[i].total_bytes > 0)
                delivered[i] = {m_streams[i].begin(),
                                m_streams[i].begin() + static_cast<std::ptrdiff_t>(m_graph.nodes()[i].total_bytes)};
        return delivered;
    }

  private:
    void add(std::size_t number, const std::vector<cl_context>& contexts, const std::vector<cl_device_id>& devices) {
        const auto& node = m_graph.nodes()[number];
        auto& memory = m_streams[number];
        switch (node.kind) {
        case described::node_kind::input:
            for (std::uint64_t i = 0; i < node.total_bytes; ++i)
                memory.push_back(described::testing::input_byte(number, i));
            memory.push_back({}); // an address also where there are no bytes
            m_built.add_input_stream(node.name, memory.data(), node.total_bytes, node.token_bytes);
            if (node.direct) m_built.use_page_locked(node.name);
            break;
        case described::node_kind::output:
            memory.resize(node.total_bytes + 1);
            m_built.add_output_stream(node.name, memory.data(), node.total_bytes, node.token_bytes);
            if (node.direct) m_built.use_page_locked(node.name);
            break;
        case described::node_kind::kernel: {
            const auto source = source_of(m_graph, number);
            causeway_kernel kernel{};
            kernel.source = source.c_str();
            kernel.function = "node";
            kernel.context = contexts[node.where];
            kernel.device = devices[node.where];
            kernel.work_dim = 1;
            kernel.global_size[0] = 1;
            m_built.add_kernel(node.name, kernel, sizes_of(m_graph, number));
            break;
        }
        case described::node_kind::function:
            m_built.add_host_function(node.name, [this, number](std::uint64_t, const void* const* in,
                                                                void* const* out) { call(number, in, out); });
            break;
        }
    }

    void call(std::size_t number, const void* const* in, void* const* out) const {
        std::vector<described::testing::bytes> seen;
        std::vector<std::size_t> sizes;
        for (const auto& edge : m_graph.edges()) {
            if (edge.target == number) {
                seen.resize(std::max(seen.size(), edge.target_position + 1));
                const auto* const first = static_cast<const std::byte*>(in[edge.target_position]);
                seen[edge.target_position] = {first, first + edge.window_bytes()};
            }
            if (edge.source == number) {
                sizes.resize(std::max(sizes.size(), edge.source_position + 1));
                sizes[edge.source_position] = edge.produced_bytes;
            }
        }
        const auto given = described::testing::compute(number, seen, sizes);
        for (std::size_t i = 0; i < given.size(); ++i) std::memcpy(out[i], given[i].data(), given[i].size());
    }

    const described::description& m_graph;
    std::vector<described::testing::bytes> m_streams; // by node
    causeway::stream_graph m_built;
};

class random_graphs : public testing::TestWithParam<std::tuple<device_under_test, const char*>> {};
INSTANTIATE_TEST_SUITE_P(devices, random_graphs,
                         testing::Combine(testing::ValuesIn(all_devices()), testing::Values("plain", "overlap")),
                         [](const auto& info) { return std::get<0>(info.param).name + "_" + std::get<1>(info.param); });

} // namespace

TEST_P(random_graphs, give_the_serial_result_on_devices) {
    const option_scope mode("graph", std::get<1>(GetParam()));
    const auto& first = std::get<0>(GetParam());
    // The other place of the graphs is the last device that there is, perhaps of another vendor, perhaps the same.
    const auto& last = all_devices().back();
    const auto one = make_context({first.device}), other = make_context({last.device});
    const auto count = support::cases(40);
    std::size_t ran = 0;
    for (std::uint64_t seed = 0; seed < count; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        const described::testing::random_graph made(seed);
        try {
            (void)described::compile(made.described, made.devices);
        } catch (const causeway::transfer_error&) {
            continue; // the unit tests see to it that this is right
        }
        const auto expected = described::testing::run_serially(made.described);
        ASSERT_TRUE(expected);
        device_graph built(made.described, {one.get(), other.get()}, {first.device, last.device});
        for (int round = 0; round < 2; ++round) ASSERT_EQ(built.run(), *expected) << "in round " << round;
        ++ran;
    }
    EXPECT_GT(ran, count / 2);
}
