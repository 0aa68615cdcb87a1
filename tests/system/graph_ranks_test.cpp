// SPDX-License-Identifier: Apache-2.0
// Ranks as ends of stream graphs: chains and rings over all ranks, and runs that end in pairs, whatever ends them.
#include "ranks.hpp"

#include <causeway/graph_mpi.hpp>
#include <gmock/gmock.h>

#include <functional>
#include <thread>

namespace system_test {
namespace {

using causeway::add_input_rank;
using causeway::add_output_rank;
using causeway::graph_error;
using causeway::stream_graph;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* source = "kernel void add(uint amount, global const uint *in, global uint *out)"
                               "{ out[get_global_id(0)] = in[get_global_id(0)] + amount; }";

using numbers = std::vector<cl_uint>;

numbers counting(std::size_t count, cl_uint first) {
    numbers made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = first + static_cast<cl_uint>(i);
    return made;
}

stream_graph new_graph() { return {own().context(), own().device()}; }

void add_kernel(stream_graph& to, const std::string& name, cl_uint amount) {
    causeway_kernel code{};
    code.source = source;
    code.function = "add";
    code.item_size = sizeof(cl_uint);
    to.add_kernel(name, code, amount);
}

void input(stream_graph& to, const std::string& name, const numbers& data, std::size_t token) {
    to.add_input_stream(name, data.data(), data.size() * sizeof(cl_uint), token);
}

void output(stream_graph& to, const std::string& name, numbers& data, std::size_t token) {
    to.add_output_stream(name, data.data(), data.size() * sizeof(cl_uint), token);
}

/// What a run ended with; code 0 if it did not fail.
graph_error run(stream_graph& graph) {
    try {
        graph.execute();
    } catch (const graph_error& error) {
        return error;
    }
    return {CL_SUCCESS, ""};
}

class graph_ranks : public ranks_test {
  protected:
    /// Two ends of one stream: in a pair of ranks one each; in two threads of a rank that is left over.
    void pair(const std::function<void(int)>& sending, const std::function<void(int)>& receiving) const {
        if (partner() != MPI_PROC_NULL) {
            (m_rank % 2 == 0 ? sending : receiving)(partner());
            return;
        }
        std::thread other([&] { sending(m_rank); });
        receiving(m_rank);
        other.join();
    }
};

/// A stream of `sent` tokens to the other rank, and what its runs end with.
class sender {
  public:
    sender(int to, MPI_Comm comm, std::size_t tokens, std::size_t token)
        : data(counting(tokens * token / sizeof(cl_uint), 5)), graph(new_graph()) {
        input(graph, "data", data, token);
        graph.add_host_function("look", [this, token](uint64_t number, const void* const* in, void* const* out) {
            if (number == failing) throw std::runtime_error("cannot look");
            std::memcpy(out[0], in[0], token);
        });
        add_output_rank(graph, "there", to, 7, comm, token);
        graph.connect("data", "look", token);
        graph.connect("look", "there", token);
        graph.initialize();
    }

    numbers data;
    uint64_t failing = UINT64_MAX;
    stream_graph graph;
};

/// The other end: adds 1 on the device.
class receiver {
  public:
    receiver(int from, MPI_Comm comm, std::size_t token, uint64_t total = CAUSEWAY_ENDLESS) : graph(new_graph()) {
        add_input_rank(graph, "here", from, 7, comm, token, total);
        add_kernel(graph, "plus", 1);
        graph.add_output_stream(
            "seen",
            [this](uint64_t number, const void* bytes, size_t size) {
                const auto* first = static_cast<const cl_uint*>(bytes);
                result.insert(result.end(), first, first + size / sizeof *first);
                if (number == stopping) graph.stop();
                if (number == failing) throw std::runtime_error("cannot see");
            },
            token);
        graph.connect("here", "plus", token);
        graph.connect("plus", "seen", token);
        graph.initialize();
    }

    numbers result;
    uint64_t stopping = UINT64_MAX, failing = UINT64_MAX;
    stream_graph graph;
};

} // namespace

TEST_F(graph_ranks, a_chain_over_all_ranks_runs_again_and_again) {
    for (const std::size_t token : {std::size_t{4}, std::size_t{4000}, std::size_t{1} << 20}) {
        constexpr std::size_t tokens = 13;
        const numbers data = counting(tokens * token / sizeof(cl_uint), 1);
        numbers result(data.size());
        auto graph = new_graph();
        const int next = (m_rank + 1) % m_size, previous = (m_rank + m_size - 1) % m_size;
        add_kernel(graph, "plus", 100);
        add_input_rank(graph, "from before", previous, 3, m_comm, token);
        add_output_rank(graph, "to next", next, 3, m_comm, token);
        if (m_rank == 0) {
            input(graph, "data", data, token);
            output(graph, "result", result, token);
            graph.connect("data", "plus", token);
            graph.connect("plus", "to next", token);
            graph.connect("from before", "result", token);
        } else {
            graph.connect("from before", "plus", token);
            graph.connect("plus", "to next", token);
        }
        graph.initialize();
        for (int round = 0; round < 3; ++round) {
            std::fill(result.begin(), result.end(), 0);
            const auto ended = run(graph);
            EXPECT_EQ(ended.code(), CL_SUCCESS) << ended.what();
            if (m_rank == 0) {
                for (std::size_t i = 0; i < result.size(); ++i)
                    ASSERT_EQ(result[i], data[i] + 100 * static_cast<cl_uint>(m_size))
                        << "round " << round << ", " << i;
            }
        }
        barrier();
    }
}

TEST_F(graph_ranks, neighbours_exchange_in_both_directions_with_one_tag) {
    constexpr std::size_t token = 300 << 10, tokens = 40, words = token / sizeof(cl_uint);
    const int next = (m_rank + 1) % m_size, previous = (m_rank + m_size - 1) % m_size;
    const numbers data = counting(words * tokens, static_cast<cl_uint>(m_rank) << 28);
    numbers right(data.size()), left(data.size());
    auto graph = new_graph();
    input(graph, "data", data, token);
    // Between two ranks both directions have one tag, but two streams of one direction need two.
    add_output_rank(graph, "to next", next, 1, m_comm, token);
    add_output_rank(graph, "to previous", previous, 2, m_comm, token);
    add_input_rank(graph, "from previous", previous, 1, m_comm, token, token * tokens);
    add_input_rank(graph, "from next", next, 2, m_comm, token, token * tokens);
    output(graph, "left", left, token);
    output(graph, "right", right, token);
    graph.connect("data", "to next", token);
    graph.connect("data", "to previous", token);
    graph.connect("from previous", "left", token);
    graph.connect("from next", "right", token);
    graph.initialize();
    for (int round = 0; round < 2; ++round) {
        const auto ended = run(graph);
        EXPECT_EQ(ended.code(), CL_SUCCESS) << ended.what();
        EXPECT_EQ(left, counting(words * tokens, static_cast<cl_uint>(previous) << 28));
        EXPECT_EQ(right, counting(words * tokens, static_cast<cl_uint>(next) << 28));
    }
}

TEST_F(graph_ranks, a_failed_run_ends_the_other_with_its_cause_and_both_can_run_again) {
    constexpr std::size_t token = 100 << 10, tokens = 20, words = token / sizeof(cl_uint);
    for (const uint64_t bad : {uint64_t{0}, uint64_t{7}, tokens - 1}) {
        pair(
            [&](int other) {
                sender from(other, m_comm, tokens, token);
                from.failing = bad;
                EXPECT_THROW(from.graph.execute(), std::runtime_error);
                from.failing = UINT64_MAX;
                EXPECT_EQ(run(from.graph).code(), CL_SUCCESS);
                // Now the receiver fails: what it says comes at some later token, or after the last.
                const auto ended = run(from.graph);
                EXPECT_TRUE(ended.code() == CL_TRANSFER_PEER_FAILED || (ended.code() == CL_SUCCESS && bad > 0))
                    << ended.what();
                if (ended.code() != CL_SUCCESS) {
                    EXPECT_THAT(ended.what(),
                                AllOf(HasSubstr("'there', token "),
                                      HasSubstr("takes no more tokens: 'seen', token " + std::to_string(bad) + ":")));
                }
                EXPECT_EQ(run(from.graph).code(), CL_SUCCESS);
            },
            [&](int other) {
                receiver to(other, m_comm, token);
                auto ended = run(to.graph);
                EXPECT_EQ(ended.code(), CL_TRANSFER_PEER_FAILED);
                EXPECT_THAT(ended.what(),
                            AllOf(HasSubstr("'here', token " + std::to_string(bad) + ":"),
                                  HasSubstr("ended its run: 'look', token " + std::to_string(bad) + ":")));
                EXPECT_EQ(to.result, counting(bad * words, 6)) << "not all before the failure was delivered";
                to.result.clear();
                ended = run(to.graph);
                EXPECT_EQ(ended.code(), CL_SUCCESS) << ended.what();
                EXPECT_EQ(to.result, counting(tokens * words, 6));
                to.failing = bad;
                EXPECT_THROW(to.graph.execute(), std::runtime_error);
                to.failing = UINT64_MAX;
                to.result.clear();
                EXPECT_EQ(run(to.graph).code(), CL_SUCCESS);
                EXPECT_EQ(to.result, counting(tokens * words, 6));
            });
    }
}

TEST_F(graph_ranks, a_receiver_that_stops_early_ends_the_senders_run) {
    constexpr std::size_t token = 80 << 10, tokens = 60, words = token / sizeof(cl_uint);
    pair(
        [&](int other) {
            sender from(other, m_comm, tokens, token);
            const auto ended = run(from.graph);
            EXPECT_EQ(ended.code(), CL_TRANSFER_PEER_FAILED);
            EXPECT_THAT(ended.what(), HasSubstr("takes no more tokens"));
            EXPECT_EQ(run(from.graph).code(), CL_SUCCESS);
        },
        [&](int other) {
            receiver to(other, m_comm, token);
            to.stopping = 5;
            const auto ended = run(to.graph);
            EXPECT_EQ(ended.code(), CL_SUCCESS) << ended.what();
            EXPECT_GE(to.result.size(), 6 * words);
            EXPECT_LT(to.result.size(), tokens * words);
            to.stopping = UINT64_MAX;
            to.result.clear();
            EXPECT_EQ(run(to.graph).code(), CL_SUCCESS);
            EXPECT_EQ(to.result, counting(tokens * words, 6));
        });
}

TEST_F(graph_ranks, lengths_and_sizes_that_do_not_agree_are_said) {
    constexpr std::size_t token = 72 << 10, tokens = 9;
    const auto sending = [&](const std::vector<cl_int>& expected) {
        return [&, expected](int other) {
            sender from(other, m_comm, tokens, token);
            const auto ended = run(from.graph);
            EXPECT_THAT(expected, Contains(ended.code())) << ended.what();
        };
    };
    const auto receiving = [&](std::size_t size, uint64_t total, cl_int expected, const char* text) {
        return [=, this](int other) {
            receiver to(other, m_comm, size, total);
            const auto ended = run(to.graph);
            EXPECT_EQ(ended.code(), expected) << ended.what();
            EXPECT_THAT(ended.what(), HasSubstr(text));
        };
    };
    pair(sending({CL_SUCCESS}),
         receiving(token, token * (tokens + 2), CL_TRANSFER_END_OF_FILE, "after 9 of 11 tokens"));
    pair(sending({CL_TRANSFER_PEER_FAILED}),
         receiving(token, token * 3, CL_TRANSFER_IO_ERROR, "more than the 3 tokens"));
    pair(sending({CL_TRANSFER_PEER_FAILED}),
         receiving(2 * token, CAUSEWAY_ENDLESS, CL_TRANSFER_IO_ERROR, "the stream has tokens of"));
    // The sender hears of its message, or first of the run that it ended.
    pair(sending({CL_TRANSFER_MESSAGE_TRUNCATED, CL_TRANSFER_PEER_FAILED}),
         receiving(token - 4, CAUSEWAY_ENDLESS, CL_TRANSFER_MESSAGE_TRUNCATED, "'here', token 0:"));
    pair(sending({CL_SUCCESS}), receiving(token, token * tokens, CL_SUCCESS, ""));
}

TEST_F(graph_ranks, refuse_what_is_no_end_of_a_stream) {
    auto graph = new_graph();
    const auto refused = [&](int rank, int tag, MPI_Comm comm) {
        return causeway_graph_add_input_rank(graph.raw(), "in", rank, tag, comm, CAUSEWAY_ENDLESS, 64);
    };
    EXPECT_EQ(refused(MPI_ANY_SOURCE, 1, m_comm), CL_INVALID_VALUE);
    EXPECT_EQ(refused(0, MPI_ANY_TAG, m_comm), CL_INVALID_VALUE);
    EXPECT_EQ(refused(MPI_PROC_NULL, 1, m_comm), CL_INVALID_VALUE);
    EXPECT_THAT(causeway_error_last_message(), HasSubstr("MPI_PROC_NULL"));
    EXPECT_EQ(refused(m_size, 1, m_comm), CL_INVALID_VALUE);
    EXPECT_EQ(refused(0, 1, MPI_COMM_NULL), CL_INVALID_VALUE);
    EXPECT_EQ(causeway_graph_add_output_rank(graph.raw(), "out", MPI_ANY_SOURCE, 1, m_comm, CAUSEWAY_ENDLESS, 64),
              CL_INVALID_VALUE);
    EXPECT_EQ(causeway_graph_add_output_rank(nullptr, "out", 0, 1, m_comm, CAUSEWAY_ENDLESS, 64), CL_INVALID_VALUE);
    EXPECT_EQ(causeway_graph_add_output_rank(graph.raw(), "out", 0, 1, m_comm, 100, 64), CL_INVALID_VALUE);
    EXPECT_EQ(causeway_graph_add_output_rank(graph.raw(), "out", 0, 1, m_comm, 128, 64), CL_SUCCESS);
}

} // namespace system_test
