// SPDX-License-Identifier: Apache-2.0
// Ends of streams: functions, files and pipes, and the token size that is left to the library.
#include "device/graph_fixture.hpp"
#include "support/files.hpp"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

using namespace graph_tests;
using testing::AllOf;
using testing::HasSubstr;

namespace {

class graph_ends : public graph_test {};
CAUSEWAY_ON_ALL_DEVICES(graph_ends);

} // namespace

TEST_P(graph_ends, stream_from_and_to_functions_until_the_end_of_input) {
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
            ASSERT_EQ(result[i], 4.0f * static_cast<float>(i) + (i == 0                   ? 1
                                                                 : i + 1 == result.size() ? -static_cast<float>(i + 1)
                                                                                          : 0))
                << i;
    }
}

TEST_P(graph_ends, stream_from_file_to_file) {
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

TEST_P(graph_ends, stream_through_pipes_until_they_close) {
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

TEST_P(graph_ends, stop_while_a_pipe_is_silent_and_go_on_in_the_next_run) {
    constexpr std::size_t token = 64, first = 5, rest = 3;
    auto in = make_pipe();
    const auto from = open_stream(std::move(in.reading), "rb");
    const floats data = numbers(token * (first + rest));
    const auto* const raw = reinterpret_cast<const unsigned char*>(data.data());
    floats result;
    std::atomic<std::size_t> delivered{0};
    auto built = new_graph();
    built.add_input_stream("i", from.get(), bytes_of(token));
    built.add_output_stream(
        "o",
        [&](uint64_t, const void* given, size_t) {
            const auto* const values = static_cast<const float*>(given);
            result.insert(result.end(), values, values + token);
            ++delivered;
        },
        bytes_of(token));
    built.add_kernel("k", code("scale"), factors{1, 0});
    built.connect("i", "k", bytes_of(token));
    built.connect("k", "o", bytes_of(token));
    built.initialize();
    ASSERT_TRUE(write_all(in.writing.get(), bytes(raw, raw + bytes_of(token * first))));
    std::atomic<bool> ended{false};
    std::thread runner([&] {
        EXPECT_NO_THROW(built.execute());
        ended = true;
    });
    const bool arrived = eventually([&] { return delivered == first; });
    built.stop();
    const bool prompt = eventually([&] { return ended.load(); });
    if (!prompt) in.writing.close(); // so that the thread ends
    runner.join();
    EXPECT_TRUE(arrived) << delivered << " tokens";
    ASSERT_TRUE(prompt) << "the run waits for a token that does not come";
    EXPECT_EQ(built.token_count("i"), first);
    ASSERT_TRUE(write_all(in.writing.get(), bytes(raw + bytes_of(token * first), raw + bytes_of(data.size()))));
    in.writing.close();
    built.execute();
    EXPECT_EQ(result, data);
    EXPECT_EQ(built.token_count("i"), rest);
    EXPECT_EQ(built.token_count("o"), rest);
}

TEST_P(graph_ends, release_a_graph_whose_pipe_is_silent) {
    constexpr std::size_t token = 64;
    auto in = make_pipe();
    const auto from = open_stream(std::move(in.reading), "rb");
    std::atomic<bool> released{false};
    std::thread user([&] {
        auto built = new_graph();
        built.add_input_stream("i", from.get(), token);
        built.add_output_stream("o", [&](uint64_t, const void*, size_t) { built.stop(); }, token);
        built.connect("i", "o", token);
        built.initialize();
        EXPECT_TRUE(write_all(in.writing.get(), pattern(token)));
        built.execute();
        { const auto last = std::move(built); }
        released = true;
    });
    EXPECT_TRUE(eventually([&] { return released.load(); }));
    in.writing.close(); // so that the thread ends
    user.join();
}

TEST_P(graph_ends, go_on_behind_the_last_token_whatever_size_those_of_the_next_run_have) {
    const option_scope timed("graph_times", "on");
    const temporary_folder folder;
    constexpr std::size_t total = std::size_t{1} << 20, rounds = 4;
    const bytes contents = pattern(total * rounds);
    write_file(folder.path("input"), contents);
    const auto from = open_stream(folder.path("input"), "rb");
    bytes got;
    bool stops = true;
    auto built = new_graph();
    built.add_input_stream("i", from.get(), 0, total);
    built.add_output_stream(
        "o",
        [&](uint64_t number, const void* given, size_t size) {
            const auto* const first = static_cast<const unsigned char*>(given);
            got.insert(got.end(), first, first + size);
            std::this_thread::sleep_for(std::chrono::microseconds(size / 16)); // so that other sizes would be better
            if (stops && number == 0) built.stop();
        },
        0, total);
    auto copy = code("scale");
    built.add_kernel("k", copy, factors{1, 0});
    built.connect("i", "k", bytes_of(64));
    built.connect("k", "o", bytes_of(64));
    built.initialize();
    for (std::size_t round = 0; round < rounds - 1; ++round) {
        stops = round == 0;
        ASSERT_NO_THROW(built.execute());
    }
    // Bit patterns that are no numbers may change; the length may not.
    EXPECT_GE(got.size(), 2 * total);
    EXPECT_LE(got.size(), 3 * total);
    EXPECT_EQ(got.size() % bytes_of(64), 0u);
}

TEST_P(graph_ends, name_the_token_at_which_a_file_ends_or_is_full) {
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

TEST_P(graph_ends, choose_a_token_size_that_divides_the_stream) {
    const temporary_folder folder;
    for (const std::size_t count : {1, 7919, 10000, 65536}) {
        const floats data = numbers(count);
        floats result(count), halves(count);
        write_file(folder.path("input"), bytes(reinterpret_cast<const unsigned char*>(data.data()),
                                               reinterpret_cast<const unsigned char*>(data.data() + count)));
        const auto from = open_stream(folder.path("input"), "rb");
        const option_scope timed("graph_times", count == 10000 ? "on" : "off");
        auto built = new_graph();
        built.add_input_stream("i", from.get(), 0, bytes_of(count));
        output(built, "o", result, 0);
        auto stencil = code("stencil");
        built.add_kernel("stencil", stencil);
        auto scaled = code("scale");
        scaled.work_dim = 1;
        scaled.global_size[0] = 1;
        built.add_kernel("scale", scaled, factors{2, 1});
        auto edge = rates(1, 1);
        edge.before_size = edge.after_size = sizeof(float);
        built.connect("i", "stencil", edge);
        built.connect("stencil", "scale", 0);
        built.connect("scale", "o", bytes_of(1));
        built.initialize();
        EXPECT_EQ(bytes_of(count) % built.token_size("i"), 0u);
        if (count == 65536) {
            EXPECT_GT(built.token_size("i"), 1000 * sizeof(float)) << "not worth a command";
        }
        for (int round = 0; round < 3; ++round) {
            std::rewind(from.get());
            std::fill(result.begin(), result.end(), -1.0f);
            built.execute();
            for (std::size_t i = 0; i < count; ++i) {
                const float left = i == 0 ? 0 : data[i - 1], right = i + 1 == count ? 0 : data[i + 1];
                ASSERT_EQ(result[i], (left + 2 * data[i] + right) * 2 + 1)
                    << count << " numbers, token of " << built.token_size("i") << " B, at " << i;
            }
        }
    }
    auto refused = new_graph();
    EXPECT_EQ(causeway_graph_token_size(refused.raw(), "i", nullptr), CL_INVALID_VALUE);
    std::size_t size = 0;
    EXPECT_EQ(causeway_graph_token_size(refused.raw(), "i", &size), CL_INVALID_OPERATION);
}
