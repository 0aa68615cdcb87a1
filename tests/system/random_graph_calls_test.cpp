// SPDX-License-Identifier: Apache-2.0
// Calls of the graph interface with arguments by chance: names, positions, sizes, rates, windows and files. Each is
// refused with a documented code and a text, or taken; what is initialised runs to an end or says why not; a chain of
// which every call was right gives the right bytes; and nothing beside the streams' own memory is written.
// CAUSEWAY_TEST_SEED and CAUSEWAY_TEST_CALLS repeat a run.
#include "support/random_arguments.hpp"

#include "ranks.hpp"

#include <causeway/graph.h>
#include <causeway/graph_mpi.h>

#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <map>

namespace system_test {
namespace {

using support::guarded_memory;

constexpr std::size_t most_stream = 2048;

/// What a function of the graph knows: no function is told how long its tokens are.
struct host_node {
    std::size_t in = 0, out = 0;      // of position 0; 0 if it is connected with nothing
    bool reads_first = false;         // nothing else is connected
    std::uint64_t last = UINT64_MAX;  // the firing that fails
};

cl_int copy_token(void* user, std::uint64_t number, const void* const* inputs, void* const* outputs) {
    const auto& node = *static_cast<const host_node*>(user);
    if (number >= node.last) return -5;
    if (node.in != 0 && node.out != 0 && node.reads_first)
        std::memcpy(outputs[0], inputs[0], std::min({node.in, node.out, most_stream}));
    return 0;
}

struct stream_end {
    std::uint64_t last;
    std::size_t answer; // at the last token
};

std::size_t read_token(void* user, std::uint64_t number, void* token, std::size_t size) {
    const auto& end = *static_cast<const stream_end*>(user);
    if (number >= end.last) return end.answer;
    std::memset(token, static_cast<int>(number), std::min(size, most_stream));
    return size;
}

cl_int write_token(void* user, std::uint64_t number, const void* token, std::size_t size) {
    const auto& end = *static_cast<const stream_end*>(user);
    if (size != 0 && static_cast<const unsigned char*>(token)[size - 1] == 1 && number >= end.last) return -7;
    return number >= end.last ? -6 : 0;
}

class random_graph_calls : public ranks_test, protected support::random_numbers {
  protected:
    void SetUp() override {
        ranks_test::SetUp();
        const auto seed = support::number_of("CAUSEWAY_TEST_SEED", 20261126);
        begin(seed, 64);
        RecordProperty("seed", std::to_string(seed));
        MPI_Comm_dup(MPI_COMM_SELF, &m_self);
        MPI_Comm_set_errhandler(m_self, MPI_ERRORS_RETURN);
        m_foreign_context = own().make_context();
        // It touches none of its arguments: how large they are is what is tried.
        const char* source = "kernel void none(global const uchar *in, global uchar *out) {}"
                             "kernel void some(int by, global const uchar *in, global uchar *out, local int *room) {}";
        cl_int code = CL_SUCCESS;
        cl_device_id device = own().device();
        m_program = program(clCreateProgramWithSource(own().context(), 1, &source, nullptr, &code));
        ASSERT_EQ(clBuildProgram(m_program.get(), 1, &device, "", nullptr, nullptr), CL_SUCCESS);
        m_none = kernel(clCreateKernel(m_program.get(), "none", &code));
        m_some = kernel(clCreateKernel(m_program.get(), "some", &code));
        ASSERT_EQ(code, CL_SUCCESS);
        m_file = std::tmpfile();
        ASSERT_NE(m_file, nullptr);
        const bytes contents(most_stream, 3);
        ASSERT_EQ(std::fwrite(contents.data(), 1, most_stream, m_file), most_stream);
        ASSERT_EQ(std::fflush(m_file), 0);
    }

    void TearDown() override {
        if (m_file != nullptr) std::fclose(m_file);
        causeway_mpi_comm_free(&m_self);
        ranks_test::TearDown();
    }

    static std::uint64_t calls() { return support::number_of("CAUSEWAY_TEST_CALLS", 3000); }

    const char* any_name() {
        static const std::string long_name(5000, 'n');
        static constexpr std::array<const char*, 6> usual{"in", "f", "k", "out", "b", "c"};
        if (!one_of(24)) return usual[below(usual.size())];
        static const std::array<const char*, 5> odd{nullptr, "", "a\n\x1b[31m%s%n", "\xff\xfe", long_name.c_str()};
        return odd[below(odd.size())];
    }
    /// A size of something that may have to be allocated: small, or more than there is.
    std::size_t any_size() {
        switch (below(10)) {
        case 0: return 0;
        case 1: return SIZE_MAX - below(3);
        case 2: return (std::size_t{1} << (46 + below(18))) + below(3) - 1;
        case 3: return below(100);
        default: return std::size_t{1} << below(6);
        }
    }
    std::size_t usual_size() { return one_of(10) ? any_size() : std::size_t{8} << below(2); }
    cl_uint any_position() {
        if (!one_of(10)) return 0;
        return one_of(3) ? static_cast<cl_uint>(number()) : static_cast<cl_uint>(below(3));
    }

    void judge(cl_int code, const std::string& what) {
        ++m_made;
        m_story += what + " = " + std::to_string(code) + "\n";
        if (code == CL_SUCCESS) return;
        EXPECT_LT(code, 0) << m_story;
        EXPECT_STRNE(causeway_error_last_message(), "") << m_story;
        switch (code) {
        case CL_INVALID_VALUE:
        case CL_INVALID_OPERATION:
        case CL_INVALID_CONTEXT:
        case CL_INVALID_DEVICE:
        case CL_INVALID_KERNEL:
        case CL_INVALID_BINARY:
        case CL_BUILD_PROGRAM_FAILURE:
        case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        case CL_OUT_OF_HOST_MEMORY:
        case CL_INVALID_BUFFER_SIZE: break;
        default: ADD_FAILURE() << m_story << causeway_error_last_message();
        }
    }

    guarded_memory m_in{4096}, m_out{4096};
    MPI_Comm m_self = MPI_COMM_NULL;
    context m_foreign_context;
    program m_program;
    kernel m_none, m_some;
    std::FILE* m_file = nullptr;
    std::uint64_t m_made = 0;
    std::string m_story;
};

TEST_F(random_graph_calls, end_in_a_documented_error_or_a_run) {
    std::uint64_t initialised = 0, ran = 0, right = 0;
    for (std::uint64_t graphs = 0; m_made < calls(); ++graphs) {
        m_story = "graph " + std::to_string(graphs) + "\n";
        causeway_graph* graph = nullptr;
        {
            const auto odd = below(40);
            cl_context context = odd == 0 ? nullptr : own().context();
            cl_device_id device = odd == 1 ? nullptr : own().device();
            judge(causeway_graph_create(context, device, odd == 2 ? nullptr : &graph), "create");
            if (graph == nullptr) {
                ASSERT_LT(odd, 3u) << m_story;
                continue;
            }
            ASSERT_GT(odd, 2u) << m_story;
        }
        std::map<std::string, host_node> functions;
        std::vector<std::unique_ptr<stream_end>> ends;
        bool may_execute = true;
        const bool is_chain = one_of(2), leaves_sizes = one_of(4); // to the library
        std::size_t chain_bytes = 0;
        std::memset(m_in.last(4096), 0x41, 4096);
        std::memset(m_out.last(4096), 0x42, 4096);
        const auto stream = [&](bool into) {
            const auto kind = below(7);
            const auto* const name = one_of(2) ? (into ? "in" : "out") : any_name();
            const auto token = leaves_sizes ? 0 : usual_size();
            auto total = std::uint64_t{leaves_sizes ? 16 : token} * (1 + below(16));
            if (one_of(6)) total = one_of(2) ? CAUSEWAY_ENDLESS : any_size();
            const auto text = std::string(into ? "input " : "output ") + std::to_string(kind) + " " +
                              (name != nullptr ? std::string(name).substr(0, 8) : "null") + " of " +
                              std::to_string(total) + " by " + std::to_string(token);
            const auto end = [&] {
                static constexpr std::array<std::size_t, 4> answers{0, SIZE_MAX, 1, std::size_t{1} << 40};
                ends.push_back(std::make_unique<stream_end>(stream_end{below(8), answers[below(answers.size())]}));
                return ends.back().get();
            };
            cl_int code = CL_SUCCESS;
            if (kind < 2) {
                const auto there = std::min<std::size_t>(total, most_stream);
                auto* const memory = one_of(30) ? nullptr : (into ? m_in : m_out).last(there);
                code = into ? causeway_graph_add_input_stream(graph, name, memory, total, token)
                            : causeway_graph_add_output_stream(graph, name, memory, total, token);
                // The program says where its memory is, not how large.
                if (code == CL_SUCCESS && total > most_stream) may_execute = false;
                if (code == CL_SUCCESS && one_of(4))
                    judge(causeway_graph_use_page_locked(graph, one_of(3) ? any_name() : name), "page locked");
            } else if (kind < 4) {
                code = into ? causeway_graph_add_input_function(graph, name, one_of(30) ? nullptr : read_token, end(),
                                                                total, token)
                            : causeway_graph_add_output_function(graph, name, one_of(30) ? nullptr : write_token, end(),
                                                                 total, token);
            } else if (kind < 6) {
                static constexpr std::array<std::int64_t, 6> odd{-1,       INT64_MIN,          INT64_MAX,
                                                                 1L << 40, CL_TRANSFER_APPEND, 7};
                const auto offset = one_of(3) ? odd[below(odd.size())] : static_cast<std::int64_t>(below(64));
                const int fd = one_of(8) ? (below(2) == 0 ? -1 : INT_MIN) : ::fileno(m_file);
                code = into ? causeway_graph_add_input_descriptor(graph, name, fd, offset, total, token)
                            : causeway_graph_add_output_descriptor(graph, name, fd, offset, total, token);
                if (one_of(3)) judge(causeway_graph_set_file_offset(graph, any_name(), offset), "offset");
            } else {
                static constexpr std::array<int, 6> ranks{0, 1, MPI_ANY_SOURCE, MPI_PROC_NULL, INT_MAX, INT_MIN};
                static constexpr std::array<int, 6> tags{0, -1, INT_MAX, 1073741822, 1073741823, INT_MIN};
                const MPI_Comm comm = one_of(8) ? MPI_COMM_NULL : m_self;
                const int rank = ranks[below(ranks.size())], tag = tags[below(tags.size())];
                code = into ? causeway_graph_add_input_rank(graph, name, rank, tag, comm, total, token)
                            : causeway_graph_add_output_rank(graph, name, rank, tag, comm, total, token);
                if (code == CL_SUCCESS) may_execute = false; // the other end may be missing
            }
            judge(code, text);
        };
        const auto function = [&] {
            const auto* const name = is_chain ? "f" : any_name();
            const auto has_none = !is_chain && one_of(30);
            host_node* node = nullptr;
            if (name != nullptr) node = &functions[name];
            if (node != nullptr && !is_chain) node->last = one_of(4) ? below(5) : 100;
            judge(causeway_graph_add_host_function(graph, name, has_none ? nullptr : copy_token, node), "function");
        };
        const auto kernel_node = [&] {
            causeway_kernel wanted{};
            const auto* const name = any_name();
            const bool is_some = one_of(3);
            wanted.kernel = is_some ? m_some.get() : m_none.get();
            if (one_of(200)) {
                static constexpr std::array<const char*, 4> sources{"kernel void none(global int *a) {}", "}{", "",
                                                                    "#error no"};
                wanted.source = sources[below(sources.size())];
                wanted.function = one_of(3) ? nullptr : one_of(3) ? "nobody" : "none";
                if (!one_of(4)) wanted.kernel = nullptr;
            } else if (one_of(30)) {
                wanted.kernel = nullptr;
            }
            if (one_of(20)) wanted.context = m_foreign_context.get();
            const int by = 3;
            if (is_some && one_of(2)) {
                wanted.parameters = &by;
                wanted.parameters_size = one_of(4) ? below(5) : sizeof by;
            }
            wanted.work_dim = static_cast<cl_uint>(one_of(12) ? number() : below(4));
            for (int k = 0; k < 3; ++k) {
                wanted.global_size[k] = one_of(16) ? 0 : std::size_t{1} << below(4);
                wanted.local_size[k] = one_of(2) ? 0 : one_of(6) ? number() : std::size_t{1} << below(3);
            }
            wanted.item_size = one_of(8) ? number() : std::size_t{1} << below(4);
            judge(causeway_graph_add_kernel(graph, name, one_of(60) ? nullptr : &wanted), "kernel");
            for (int k = 0; k < 2; ++k)
                if (is_some && one_of(2)) {
                    const auto value_size = one_of(3) ? number() : sizeof by;
                    const auto index = static_cast<cl_uint>(one_of(4) ? number() : below(2) * 3);
                    // A value is as long as its size says.
                    judge(causeway_graph_set_argument(graph, one_of(8) ? any_name() : name, index, value_size,
                                                      value_size <= sizeof by && one_of(2) ? &by : nullptr),
                          "argument " + std::to_string(index) + " of " + std::to_string(value_size));
                }
        };
        const auto edge = [&](const char* source, const char* target, std::size_t token) {
            causeway_edge wanted{};
            wanted.source_position = is_chain ? 0 : any_position();
            wanted.target_position = is_chain ? 0 : any_position();
            wanted.produced_size = token;
            wanted.consumed_size = is_chain ? token : usual_size();
            const bytes initial(64, 1);
            if (!is_chain) {
                if (one_of(4)) wanted.delay_size = one_of(3) ? any_size() : wanted.produced_size;
                if (wanted.delay_size <= initial.size() && one_of(2)) wanted.initial = initial.data();
                if (one_of(8)) wanted.before_size = any_size();
                if (one_of(8)) wanted.after_size = any_size();
            }
            const bool is_plain = one_of(3);
            if (is_plain) wanted.consumed_size = wanted.produced_size;
            const auto code = is_plain ? causeway_graph_connect(graph, source, wanted.source_position, target,
                                                                wanted.target_position, token)
                                       : causeway_graph_connect_edge(graph, source, target,
                                                                     one_of(60) && !is_chain ? nullptr : &wanted);
            judge(code, std::string("edge ") + (source != nullptr ? source : "null") + ":" +
                            std::to_string(wanted.source_position) + " " + (target != nullptr ? target : "null") + ":" +
                            std::to_string(wanted.target_position) + ", " + std::to_string(wanted.produced_size) +
                            " to " + std::to_string(wanted.consumed_size) + ", delay " +
                            std::to_string(wanted.delay_size) + ", window " + std::to_string(wanted.before_size) +
                            " + " + std::to_string(wanted.after_size));
            if (code != CL_SUCCESS) return;
            // Tokens that the library chooses are at least as long as the edge says.
            const auto note = [&](const char* of, cl_uint position, std::size_t bytes, bool gives) {
                auto& node = functions[of];
                if (position != 0) node.reads_first = false;
                if (position == 0) (gives ? node.out : node.in) = std::min(bytes, most_stream);
            };
            note(source, wanted.source_position, wanted.produced_size, true);
            note(target, wanted.target_position, wanted.consumed_size, false);
        };
        const auto ask = [&] {
            std::size_t token = 0;
            std::uint64_t count = 0;
            switch (below(4)) {
            case 0: judge(causeway_graph_token_size(graph, any_name(), one_of(9) ? nullptr : &token), "size"); break;
            case 1: judge(causeway_graph_token_count(graph, any_name(), one_of(9) ? nullptr : &count), "count"); break;
            case 2: (void)causeway_graph_explain(graph); break;
            default: (void)causeway_graph_to_dot(graph); break;
            }
            if (one_of(8)) judge(causeway_graph_stop(graph), "stop");
        };

        for (auto& [name, node] : functions) node.reads_first = true;
        if (is_chain) {
            const auto token = std::size_t{8} << below(2);
            const auto streams_token = leaves_sizes ? 0 : token;
            const auto total = token * (1 + below(32));
            chain_bytes = total;
            functions["f"].reads_first = true;
            auto* const from = m_in.last(total);
            for (std::size_t k = 0; k < total; ++k) from[k] = static_cast<std::byte>(below(256));
            judge(causeway_graph_add_input_stream(graph, "in", from, total, streams_token), "in");
            function();
            judge(causeway_graph_add_output_stream(graph, "out", m_out.last(total), total, streams_token), "out");
            edge("in", "f", token);
            edge("f", "out", token);
            if (one_of(4)) ask();
        } else {
            const auto tokens = std::uint64_t{1} << (40 + below(23));
            if (leaves_sizes && one_of(4)) {
                // Any length, of which the library has to find the divisors.
                const auto total = tokens - below(100);
                ends.push_back(std::make_unique<stream_end>(stream_end{3, 0}));
                judge(causeway_graph_add_input_function(graph, "in", read_token, ends[0].get(), total, 0), "long in");
                ends.push_back(std::make_unique<stream_end>(stream_end{10, 0}));
                judge(causeway_graph_add_output_function(graph, "out", write_token, ends[1].get(), total, 0),
                      "long out");
                judge(causeway_graph_connect(graph, "in", 0, "out", 0, 1), "long edge of " + std::to_string(total));
            }
            for (auto left = 1 + below(3); left > 0; --left) stream(true);
            for (auto left = below(3); left > 0; --left) one_of(2) ? function() : kernel_node();
            for (auto left = 1 + below(2); left > 0; --left) stream(false);
            for (auto& [name, node] : functions) node.reads_first = true;
            for (auto left = 2 + below(4); left > 0; --left) {
                static constexpr std::array<std::array<const char*, 2>, 4> usual{
                    {{"in", "f"}, {"f", "out"}, {"in", "out"}, {"in", "k"}}};
                const auto& pair = usual[below(usual.size())];
                const bool is_odd = one_of(2);
                edge(is_odd ? any_name() : pair[0], is_odd ? any_name() : pair[1], usual_size());
                if (one_of(6)) ask();
            }
        }
        const auto code = causeway_graph_initialize(graph);
        judge(code, "initialize");
        if (is_chain) {
            ASSERT_EQ(code, CL_SUCCESS) << m_story << causeway_error_last_message();
            auto& node = functions["f"];
            ASSERT_EQ(causeway_graph_token_size(graph, "in", &node.in), CL_SUCCESS) << m_story;
            node.out = node.in;
        }
        ask();
        if (code == CL_SUCCESS) {
            ++initialised;
            for (int round = 0; may_execute && round < 2; ++round) {
                const auto ended = causeway_graph_execute(graph);
                ++m_made;
                ++ran;
                m_story += "execute = " + std::to_string(ended) + "\n";
                if (ended != CL_SUCCESS) {
                    ASSERT_LT(ended, 0) << m_story;
                    ASSERT_STRNE(causeway_error_last_message(), "") << m_story;
                }
                if (!is_chain) continue;
                ASSERT_EQ(ended, CL_SUCCESS) << m_story << causeway_error_last_message();
                ASSERT_EQ(std::memcmp(m_in.last(chain_bytes), m_out.last(chain_bytes), chain_bytes), 0) << m_story;
                ++right;
            }
            if (one_of(3)) ask();
            if (one_of(8)) judge(causeway_graph_initialize(graph), "initialize again");
        }
        causeway_graph_release(graph);
        for (const auto* const memory : {&m_in, &m_out}) {
            const auto* const first = memory->last(4096);
            const auto expected = std::byte{memory == &m_in ? std::uint8_t{0x41} : std::uint8_t{0x42}};
            ASSERT_TRUE(std::all_of(first, first + 4096 - most_stream, [=](auto each) { return each == expected; }))
                << m_story;
        }
        ASSERT_FALSE(HasFailure()) << m_story;
    }
    EXPECT_GT(initialised, calls() / 100);
    EXPECT_GT(ran, calls() / 100);
    EXPECT_GT(right, calls() / 200);
}

} // namespace
} // namespace system_test
