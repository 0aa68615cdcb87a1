// SPDX-License-Identifier: Apache-2.0
// What a graph has read ahead when its run ends: given back, or kept for the next run.
#include "device/graph_fixture.hpp"
#include "support/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

using namespace graph_tests;

namespace {

constexpr std::size_t token = 64;

/// A graph that copies tokens from `from`, of unknown length, to memory for `tokens` of them.
class copying {
  public:
    copying(stream_graph made, std::FILE* from, std::size_t tokens)
        : m_result(token * tokens), m_built(std::move(made)) {
        m_built.add_input_stream("i", from, token);
        m_built.add_output_stream("o", m_result.data(), m_result.size(), token);
        m_built.connect("i", "o", token);
        m_built.initialize();
    }
    /// What one run has copied.
    [[nodiscard]] bytes run() {
        std::fill(m_result.begin(), m_result.end(), static_cast<unsigned char>(0));
        m_built.execute();
        return m_result;
    }
    [[nodiscard]] std::size_t tokens() { return m_built.token_count("i"); }

  private:
    bytes m_result;
    stream_graph m_built;
};

class graph_read_ahead : public graph_test {
  protected:
    [[nodiscard]] copying copy_from(std::FILE* file, std::size_t tokens) const { return {new_graph(), file, tokens}; }
};
CAUSEWAY_ON_ALL_DEVICES(graph_read_ahead);

bytes tokens_of(const bytes& contents, std::size_t first, std::size_t count) {
    return slice(contents, first * token, count * token);
}

} // namespace

TEST_P(graph_read_ahead, of_a_file_is_given_back) {
    const temporary_folder folder;
    const bytes contents = pattern(9 * token);
    write_file(folder.path("in"), contents);
    const auto file = open_stream(folder.path("in"), "rb");
    auto copies = copy_from(file.get(), 2);
    for (int run = 0; run < 100; ++run) {
        std::rewind(file.get());
        ASSERT_TRUE(same_bytes(tokens_of(contents, 0, 2), copies.run())) << run;
        ASSERT_EQ(copies.tokens(), 2u) << run;
        ASSERT_EQ(std::ftell(file.get()), static_cast<long>(2 * token)) << run;
    }
    // The program reads on by itself, and so does the next run.
    bytes own(token);
    ASSERT_EQ(std::fread(own.data(), 1, token, file.get()), token);
    EXPECT_TRUE(same_bytes(tokens_of(contents, 2, 1), own));
    EXPECT_TRUE(same_bytes(tokens_of(contents, 3, 2), copies.run()));
    EXPECT_TRUE(same_bytes(tokens_of(contents, 5, 2), copies.run()));
}

TEST_P(graph_read_ahead, that_met_the_end_of_the_file_does_not_tell) {
    const temporary_folder folder;
    const bytes contents = pattern(2 * token);
    write_file(folder.path("in"), contents);
    const auto file = open_stream(folder.path("in"), "rb");
    auto copies = copy_from(file.get(), 2);
    EXPECT_TRUE(same_bytes(contents, copies.run()));
    EXPECT_EQ(std::feof(file.get()), 0) << "fread of two tokens would not have met it";
    EXPECT_EQ(std::ftell(file.get()), static_cast<long>(2 * token));
}

TEST_P(graph_read_ahead, of_memory_is_given_back) {
    bytes contents = pattern(9 * token);
    const stream file(fmemopen(contents.data(), contents.size(), "rb"));
    auto copies = copy_from(file.get(), 2);
    for (std::size_t run = 0; run < 4; ++run) {
        ASSERT_TRUE(same_bytes(tokens_of(contents, 2 * run, 2), copies.run())) << run;
        EXPECT_EQ(std::ftell(file.get()), static_cast<long>(2 * (run + 1) * token)) << run;
    }
}

TEST_P(graph_read_ahead, of_a_pipe_is_kept_for_the_next_run) {
    auto ends = make_pipe();
    const auto file = open_stream(std::move(ends.reading), "rb");
    const bytes contents = pattern(9 * token);
    auto copies = copy_from(file.get(), 2);
    // Parts of tokens, too: with two tokens taken, half of one is left in the first run, and one and a half in the
    // second.
    std::size_t written = 0;
    for (const std::size_t until : {5 * token / 2, 11 * token / 2, 9 * token}) {
        ASSERT_TRUE(write_all(ends.writing.get(), slice(contents, written, until - written)));
        const auto run = written == 0 ? 0 : written < 5 * token ? 1 : 2;
        written = until;
        EXPECT_TRUE(same_bytes(tokens_of(contents, 2 * static_cast<std::size_t>(run), 2), copies.run())) << run;
    }
    ends.writing.close();
    EXPECT_TRUE(same_bytes(tokens_of(contents, 6, 2), copies.run()));
    const auto last = copies.run();
    EXPECT_EQ(copies.tokens(), 1u);
    EXPECT_TRUE(same_bytes(tokens_of(contents, 8, 1), slice(last, 0, token)));
}

TEST_P(graph_read_ahead, of_what_a_program_prints_is_kept_for_the_next_run) {
    const temporary_folder folder;
    const bytes contents = pattern(9 * token);
    write_file(folder.path("in"), contents);
    auto* const file = ::popen(("cat " + folder.path("in")).c_str(), "r");
    ASSERT_NE(file, nullptr);
    auto copies = copy_from(file, 2);
    for (std::size_t run = 0; run < 4; ++run)
        EXPECT_TRUE(same_bytes(tokens_of(contents, 2 * run, 2), copies.run())) << run;
    EXPECT_TRUE(same_bytes(tokens_of(contents, 8, 1), slice(copies.run(), 0, token)));
    EXPECT_EQ(copies.tokens(), 1u);
    EXPECT_EQ(::pclose(file), 0);
}

TEST_P(graph_read_ahead, of_a_stream_of_the_programs_own_is_kept_for_the_next_run) {
    struct source {
        bytes contents = pattern(9 * token);
        std::size_t at = 0;
    } own;
    const cookie_io_functions_t calls = {[](void* of, char* to, std::size_t size) {
                                             auto& from = *static_cast<source*>(of);
                                             // A part of a token at most.
                                             size = std::min({size, token / 3, from.contents.size() - from.at});
                                             std::memcpy(to, from.contents.data() + from.at, size);
                                             from.at += size;
                                             return static_cast<ssize_t>(size);
                                         },
                                         nullptr, nullptr, nullptr};
    const stream file(fopencookie(&own, "r", calls));
    auto copies = copy_from(file.get(), 2);
    for (std::size_t run = 0; run < 4; ++run)
        EXPECT_TRUE(same_bytes(tokens_of(own.contents, 2 * run, 2), copies.run())) << run;
}

TEST_P(graph_read_ahead, does_not_pass_a_character_that_was_pushed_back) {
    const temporary_folder folder;
    const bytes contents = pattern(9 * token);
    write_file(folder.path("in"), contents);
    const auto file = open_stream(folder.path("in"), "r+b");
    auto copies = copy_from(file.get(), 2);
    const int first = std::fgetc(file.get());
    ASSERT_EQ(std::ungetc(first, file.get()), first);
    EXPECT_TRUE(same_bytes(tokens_of(contents, 0, 2), copies.run()));
    EXPECT_TRUE(same_bytes(tokens_of(contents, 2, 2), copies.run()));
    // What the program writes there then is where it has come to.
    ASSERT_EQ(std::fseek(file.get(), 0, SEEK_CUR), 0);
    ASSERT_EQ(std::fputc('!', file.get()), '!');
    ASSERT_EQ(std::fflush(file.get()), 0);
    EXPECT_EQ(file_contents(folder.path("in"))[4 * token], '!');
    EXPECT_EQ(std::ftell(file.get()), static_cast<long>(4 * token + 1));
}

TEST_P(graph_read_ahead, of_a_descriptor_is_over_and_the_next_run_begins_again) {
    const temporary_folder folder;
    const bytes contents = pattern(9 * token);
    write_file(folder.path("in"), contents);
    const auto file = open_descriptor(folder.path("in"), O_RDONLY);
    bytes result(2 * token);
    auto built = new_graph();
    built.add_input_descriptor("i", file.get(), token, token);
    built.add_output_stream("o", result.data(), result.size(), token);
    built.connect("i", "o", token);
    built.initialize();
    for (int run = 0; run < 3; ++run) {
        std::fill(result.begin(), result.end(), static_cast<unsigned char>(0));
        built.execute();
        ASSERT_TRUE(same_bytes(tokens_of(contents, 1, 2), result)) << run;
    }
    built.set_file_offset("i", 4 * token);
    built.execute();
    EXPECT_TRUE(same_bytes(tokens_of(contents, 4, 2), result));
    EXPECT_EQ(refusal([&] { built.set_file_offset("i", -1); }).code(), CL_INVALID_VALUE);
    EXPECT_EQ(refusal([&] { built.set_file_offset("o", 0); }).code(), CL_INVALID_VALUE);
}

TEST_P(graph_read_ahead, does_not_matter_to_an_output_that_appends) {
    const temporary_folder folder;
    const bytes contents = pattern(6 * token);
    write_file(folder.path("out"), pattern(10, 7));
    const auto file = open_descriptor(folder.path("out"), O_WRONLY);
    auto built = new_graph();
    built.add_input_stream("i", contents.data(), contents.size(), token);
    built.add_output_descriptor("o", file.get(), CL_TRANSFER_APPEND, token);
    built.connect("i", "o", token);
    built.initialize();
    built.execute();
    built.execute();
    EXPECT_TRUE(same_bytes(join(join(pattern(10, 7), contents), contents), file_contents(folder.path("out"))));
}
