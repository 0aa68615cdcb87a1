// SPDX-License-Identifier: Apache-2.0
// Transfers through FILE streams that cannot seek or have no descriptor: pipes, sockets, memory streams.
#include "support/events.hpp"
#include "support/files.hpp"
#include "support/opencl_fixture.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

using namespace support;

namespace {

constexpr std::size_t MiB = 1 << 20;

void check(bool good, const char* what) {
    if (!good) {
        throw std::system_error(errno, std::generic_category(), what);
    }
}

connected_pair make_socket_pair() {
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
    return {descriptor(ends[0]), descriptor(ends[1])};
}

/// Two ends of a TCP connection over the loopback interface.
connected_pair make_tcp_connection() {
    const descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    check(listener.get() >= 0, "socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    check(bind(listener.get(), raw, length) == 0, "bind");
    check(listen(listener.get(), 1) == 0, "listen");
    check(getsockname(listener.get(), raw, &length) == 0, "getsockname");
    descriptor client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    check(client.get() >= 0 && connect(client.get(), raw, length) == 0, "connect");
    descriptor server(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    check(server.get() >= 0, "accept4");
    return {std::move(client), std::move(server)};
}

/// Closes a TCP socket so that the other end sees a reset instead of an end of file.
void reset(descriptor& end) {
    const linger at_once{1, 0};
    check(setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0, "SO_LINGER");
    end.close();
}

/// A FIFO with both ends open; opening one alone would wait for the other.
connected_pair open_fifo(const std::string& path) {
    descriptor reading(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    check(reading.get() >= 0 && fcntl(reading.get(), F_SETFL, 0) == 0, "opening a FIFO for reading");
    descriptor writing(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    check(writing.get() >= 0, "opening a FIFO for writing");
    return {std::move(reading), std::move(writing)};
}

enum class line_discipline { raw, lines };

/// The program's end of a terminal, and the other one, where the keys are.
struct pseudo_terminal {
    descriptor keys;
    descriptor program;

    explicit pseudo_terminal(line_discipline kind) : keys(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
        char name[64] = "";
        check(keys.get() >= 0 && grantpt(keys.get()) == 0 && unlockpt(keys.get()) == 0 &&
                  ptsname_r(keys.get(), name, sizeof name) == 0,
              "posix_openpt");
        program = descriptor(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
        termios how{};
        check(program.get() >= 0 && tcgetattr(program.get(), &how) == 0, "opening a terminal");
        if (kind == line_discipline::raw) cfmakeraw(&how);
        how.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        check(tcsetattr(program.get(), TCSANOW, &how) == 0, "tcsetattr");
    }
};

bool has_pseudo_terminals() { return descriptor(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)).get() >= 0; }

class stream_ends : public device_test {
  protected:
    void SetUp() override { std::signal(SIGPIPE, SIG_DFL); }
};
INSTANTIATE_TEST_SUITE_P(devices, stream_ends, testing::ValuesIn(all_devices()), name_of);

} // namespace

TEST_P(stream_ends, a_pipe_delivers_more_than_it_can_hold) {
    auto [reading, writing] = make_pipe();
    const stream file = open_stream(std::move(reading), "r");
    const bytes contents = pattern(MiB + 1);
    const auto buffer = new_buffer(bytes(contents.size()));

    const auto done = write_buffer_from(queue(), buffer.get(), 0, contents.size(), file.get());
    const std::jthread writer([&] { write_all(writing.get(), contents); });
    ASSERT_TRUE(completes(done));
    EXPECT_EQ(bytes_moved(done), contents.size());
    EXPECT_TRUE(same_bytes(contents, contents_of(buffer, 0, contents.size())));
}

TEST_P(stream_ends, a_pipe_takes_more_than_it_can_hold) {
    auto [reading, writing] = make_pipe();
    stream file = open_stream(std::move(writing), "w");
    const bytes contents = pattern(MiB + 1);
    const auto buffer = new_buffer(contents);

    bytes received;
    std::jthread reader([&, from = reading.get()] { received = read_all(from, contents.size() + 1); });
    const auto done = read_buffer_to(queue(), buffer.get(), 0, contents.size(), file.get());
    EXPECT_TRUE(completes(done));
    file.reset();
    reader.join();
    EXPECT_EQ(bytes_moved(done), contents.size());
    EXPECT_TRUE(same_bytes(contents, received));
}

TEST_P(stream_ends, bytes_written_to_a_pipe_arrive_without_a_flush) {
    auto [reading, writing] = make_pipe();
    const stream file = open_stream(std::move(writing), "w");
    const bytes contents = pattern(100);
    const auto buffer = new_buffer(contents);
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, 100, file.get())));
    pollfd readable{reading.get(), POLLIN, 0};
    ASSERT_EQ(poll(&readable, 1, 0), 1);
    EXPECT_TRUE(same_bytes(contents, read_all(reading.get(), 100)));
}

TEST_P(stream_ends, what_a_transfer_leaves_in_a_pipe_is_there_for_fread_and_the_next_transfer) {
    auto [reading, writing] = make_pipe();
    const stream file = open_stream(std::move(reading), "r");
    const bytes contents = pattern(30'000);
    ASSERT_TRUE(write_all(writing.get(), contents));
    const auto buffer = new_buffer(bytes(30'000));

    bytes host(30'000);
    ASSERT_EQ(std::fread(host.data(), 1, 10, file.get()), 10U);
    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 10, 9'990, file.get())));
    ASSERT_EQ(std::fread(host.data() + 10'000, 1, 5'000, file.get()), 5'000U);
    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 15'000, 15'000, file.get())));

    EXPECT_TRUE(same_bytes(slice(contents, 0, 10), slice(host, 0, 10)));
    EXPECT_TRUE(same_bytes(slice(contents, 10, 9'990), contents_of(buffer, 10, 9'990)));
    EXPECT_TRUE(same_bytes(slice(contents, 10'000, 5'000), slice(host, 10'000, 5'000)));
    EXPECT_TRUE(same_bytes(slice(contents, 15'000, 15'000), contents_of(buffer, 15'000, 15'000)));
}

TEST_P(stream_ends, bytes_that_fwrite_has_still_buffered_go_into_the_pipe_first) {
    auto [reading, writing] = make_pipe();
    const stream file = open_stream(std::move(writing), "w");
    const bytes contents = pattern(1000);
    const auto buffer = new_buffer(contents);
    std::fputs("first", file.get());
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, 1000, file.get())));
    EXPECT_TRUE(same_bytes(bytes{'f', 'i', 'r', 's', 't'}, read_all(reading.get(), 5)));
    EXPECT_TRUE(same_bytes(contents, read_all(reading.get(), 1000)));
}

TEST_P(stream_ends, transfers_on_one_pipe_keep_their_order) {
    auto [reading, writing] = make_pipe();
    const stream file = open_stream(std::move(reading), "r");
    const bytes contents = pattern(300'000);
    const auto buffer = new_buffer(bytes(300'000));
    const auto other_queue = new_queue();
    gate start(context());
    const auto first = write_buffer_from(queue(), buffer.get(), 0, 100'000, file.get(), {start.event()});
    const auto second = write_buffer_from(other_queue.get(), buffer.get(), 100'000, 200'000, file.get());
    start.open();
    const std::jthread writer([&] { write_all(writing.get(), contents); });
    ASSERT_TRUE(completes(second));
    EXPECT_TRUE(completes(first));
    EXPECT_TRUE(same_bytes(contents, contents_of(buffer, 0, 300'000)));
}

TEST_P(stream_ends, a_pipe_that_its_writer_closes_early_is_an_end_of_file_with_all_its_bytes) {
    for (const std::size_t sent : {std::size_t{0}, std::size_t{1}, std::size_t{200'000}}) {
        SCOPED_TRACE(sent);
        auto [reading, writing] = make_pipe();
        const stream file = open_stream(std::move(reading), "r");
        const bytes contents = pattern(sent);
        const bytes before = pattern(MiB, 2);
        const auto buffer = new_buffer(before);

        const auto done = write_buffer_from(queue(), buffer.get(), 0, MiB, file.get());
        const std::jthread writer([&, end = std::move(writing)]() mutable {
            write_all(end.get(), contents);
            end.close();
        });
        ASSERT_TRUE(fails_with(done, CL_TRANSFER_END_OF_FILE));
        EXPECT_EQ(bytes_moved(done), sent);
        EXPECT_NE(std::feof(file.get()), 0);
        EXPECT_TRUE(same_bytes(join(contents, slice(before, sent, MiB - sent)), contents_of(buffer, 0, MiB)));
    }
}

TEST_P(stream_ends, a_broken_pipe_fails_the_transfer_and_raises_no_signal) {
    auto [reading, writing] = make_pipe();
    const stream file = open_stream(std::move(writing), "w");
    reading.close();
    const auto buffer = new_buffer(pattern(MiB));
    const auto done = read_buffer_to(queue(), buffer.get(), 0, MiB, file.get());
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    EXPECT_EQ(transfer_errno(done), EPIPE);
    EXPECT_EQ(bytes_moved(done), 0U);
}

TEST_P(stream_ends, a_pipe_whose_reader_leaves_half_way_fails_the_transfer) {
    auto [reading, writing] = make_pipe();
    const stream file = open_stream(std::move(writing), "w");
    const bytes contents = pattern(4 * MiB);
    const auto buffer = new_buffer(contents);
    bytes received;
    std::jthread reader([&, end = std::move(reading)]() mutable {
        received = read_all(end.get(), MiB);
        end.close();
    });
    const auto done = read_buffer_to(queue(), buffer.get(), 0, 4 * MiB, file.get());
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    reader.join();
    EXPECT_EQ(transfer_errno(done), EPIPE);
    EXPECT_LT(bytes_moved(done), 4 * MiB);
    EXPECT_TRUE(same_bytes(slice(contents, 0, MiB), received));
}

TEST_P(stream_ends, a_fifo_ends_with_its_last_writer_and_goes_on_with_the_next) {
    const temporary_folder folder;
    const std::string path = folder.path("fifo");
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    auto [reading, writing] = open_fifo(path);
    const stream file = open_stream(std::move(reading), "r");
    const bytes contents = pattern(200'000);
    const bytes before = pattern(MiB, 2);
    const auto buffer = new_buffer(before);

    const auto first = write_buffer_from(queue(), buffer.get(), 0, MiB, file.get());
    descriptor another = open_descriptor(path, O_WRONLY);
    ASSERT_TRUE(write_all(writing.get(), slice(contents, 0, 50'000)));
    writing.close();
    EXPECT_GT(status_of(first.get()), CL_COMPLETE) << "there is another writer";
    ASSERT_TRUE(write_all(another.get(), slice(contents, 50'000, 150'000)));
    another.close();
    ASSERT_TRUE(fails_with(first, CL_TRANSFER_END_OF_FILE));
    EXPECT_EQ(bytes_moved(first), 200'000U);
    EXPECT_NE(std::feof(file.get()), 0);
    EXPECT_TRUE(same_bytes(join(contents, slice(before, 200'000, MiB - 200'000)), contents_of(buffer, 0, MiB)));

    std::clearerr(file.get());
    const descriptor next = open_descriptor(path, O_WRONLY);
    const auto second = write_buffer_from(queue(), buffer.get(), 0, 1000, file.get());
    ASSERT_TRUE(write_all(next.get(), pattern(1000, 3)));
    ASSERT_TRUE(completes(second));
    EXPECT_TRUE(same_bytes(pattern(1000, 3), contents_of(buffer, 0, 1000)));
}

TEST_P(stream_ends, a_fifo_takes_more_than_it_can_hold) {
    const temporary_folder folder;
    ASSERT_EQ(mkfifo(folder.path("fifo").c_str(), 0600), 0);
    auto [reading, writing] = open_fifo(folder.path("fifo"));
    stream file = open_stream(std::move(writing), "w");
    const bytes contents = pattern(MiB + 1);
    const auto buffer = new_buffer(contents);
    bytes received;
    std::jthread reader([&, from = reading.get()] { received = read_all(from, contents.size() + 1); });
    const auto done = read_buffer_to(queue(), buffer.get(), 0, contents.size(), file.get());
    EXPECT_TRUE(completes(done));
    file.reset();
    reader.join();
    EXPECT_TRUE(same_bytes(contents, received));
}

TEST_P(stream_ends, a_terminal_that_loses_its_other_end_ends_as_it_does_for_fread) {
    if (!has_pseudo_terminals()) GTEST_SKIP() << "this system gives no pseudo-terminals";
    // Linux: to the program's end a lost other end is an end of file, to the other end it is EIO.
    const option_scope block("block", "100"); // so that the bytes that have come can be counted
    const bytes contents = pattern(500);
    // It marks a terminal whose other end goes before it hangs it up: of 20,000 that waited in poll(2) and then read,
    // 1,353 came in between and got EIO, which only another try tells from an error of ours.
    constexpr int tries = 10;
    for (const bool program_reads : {true, false}) {
        SCOPED_TRACE(program_reads ? "the program reads" : "the other end reads");
        const auto ends_of = [&](pseudo_terminal& terminal) {
            return program_reads ? connected_pair{std::move(terminal.program), std::move(terminal.keys)}
                                 : connected_pair{std::move(terminal.keys), std::move(terminal.program)};
        };
        bool came_in_between = true;
        for (int i = 0; i < tries && came_in_between; ++i) {
            pseudo_terminal terminal(line_discipline::raw);
            pseudo_terminal twin(line_discipline::raw);
            auto [reading, writing] = ends_of(terminal);
            auto [twin_reading, twin_writing] = ends_of(twin);
            const stream file = open_stream(std::move(reading), "r");
            const stream reference = open_stream(std::move(twin_reading), "r");

            const bytes before = pattern(1000, 2);
            const auto buffer = new_buffer(before);
            const auto done = write_buffer_from(queue(), buffer.get(), 0, 1000, file.get());
            ASSERT_TRUE(write_all(writing.get(), contents));
            ASSERT_TRUE(eventually([&] { return bytes_moved(done) == 500; }));
            writing.close();

            bytes read(1000);
            ASSERT_TRUE(write_all(twin_writing.get(), contents));
            ASSERT_EQ(std::fread(read.data(), 1, 500, reference.get()), 500U);
            twin_writing.close();
            ASSERT_EQ(std::fread(read.data(), 1, 500, reference.get()), 0U);
            const bool is_end = std::feof(reference.get()) != 0;
            EXPECT_TRUE(is_end || errno == EIO);
            const cl_event reads = done.get();
            (void)clWaitForEvents(1, &reads);
            came_in_between = is_end && transfer_errno(done) == EIO;
            if (is_end && !came_in_between) {
                EXPECT_TRUE(fails_with(done, CL_TRANSFER_END_OF_FILE));
                EXPECT_NE(std::feof(file.get()), 0);
            } else {
                EXPECT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
                EXPECT_EQ(transfer_errno(done), EIO);
            }
            EXPECT_EQ(bytes_moved(done), 500U);
            EXPECT_TRUE(same_bytes(join(contents, slice(before, 500, 500)), contents_of(buffer, 0, 1000)));
        }
        EXPECT_FALSE(came_in_between) << "each time";
    }
}

TEST_P(stream_ends, the_end_of_file_key_of_a_terminal_ends_one_transfer_and_not_the_terminal) {
    if (!has_pseudo_terminals()) GTEST_SKIP() << "this system gives no pseudo-terminals";
    pseudo_terminal terminal(line_discipline::lines);
    const stream file = open_stream(std::move(terminal.program), "r");
    const auto buffer = new_buffer(bytes(100));
    const bytes first{'o', 'n', 'e', '\n', 't', 'w', 'o', '\n'};
    const bytes second{'m', 'o', 'r', 'e', '\n'};

    const auto ended = write_buffer_from(queue(), buffer.get(), 0, 100, file.get());
    ASSERT_TRUE(write_all(terminal.keys.get(), join(first, {4}))); // control-D
    ASSERT_TRUE(fails_with(ended, CL_TRANSFER_END_OF_FILE));
    EXPECT_EQ(bytes_moved(ended), first.size());
    EXPECT_TRUE(same_bytes(first, contents_of(buffer, 0, first.size())));
    EXPECT_NE(std::feof(file.get()), 0);

    std::clearerr(file.get());
    const auto next = write_buffer_from(queue(), buffer.get(), 0, second.size(), file.get());
    ASSERT_TRUE(write_all(terminal.keys.get(), second));
    ASSERT_TRUE(completes(next));
    EXPECT_TRUE(same_bytes(second, contents_of(buffer, 0, second.size())));
}

TEST_P(stream_ends, a_socket_carries_transfers_both_ways) {
    auto [here, there] = make_socket_pair();
    const stream input = open_stream(descriptor(dup(here.get())), "r");
    const stream output = open_stream(std::move(here), "w");
    const bytes contents = pattern(MiB + 1);
    const auto source = new_buffer(contents);
    const auto target = new_buffer(bytes(contents.size()));
    const auto other_queue = new_queue();

    // The other side sends back what it gets, so both directions are full at once.
    const std::jthread echo([&, fd = there.get()] {
        for (std::size_t done = 0; done < contents.size();) {
            const bytes piece = read_all(fd, std::min<std::size_t>(4096, contents.size() - done));
            if (piece.empty() || !write_all(fd, piece)) {
                return;
            }
            done += piece.size();
        }
    });
    const auto sent = read_buffer_to(queue(), source.get(), 0, contents.size(), output.get());
    const auto received = write_buffer_from(other_queue.get(), target.get(), 0, contents.size(), input.get());
    EXPECT_TRUE(completes(sent));
    ASSERT_TRUE(completes(received));
    EXPECT_TRUE(same_bytes(contents, contents_of(target, 0, contents.size())));
}

TEST_P(stream_ends, a_socket_that_is_reset_fails_a_read_with_the_bytes_before_in_place) {
    auto [client, server] = make_tcp_connection();
    const stream file = open_stream(std::move(client), "r");
    const bytes contents = pattern(1000);
    const auto buffer = new_buffer(bytes(MiB));
    const auto done = write_buffer_from(queue(), buffer.get(), 0, MiB, file.get());
    ASSERT_TRUE(write_all(server.get(), contents));
    reset(server);

    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    EXPECT_EQ(transfer_errno(done), ECONNRESET);
    const std::size_t moved = bytes_moved(done);
    ASSERT_LE(moved, 1000U);
    EXPECT_TRUE(same_bytes(slice(contents, 0, moved), contents_of(buffer, 0, moved)));
}

TEST_P(stream_ends, a_socket_that_is_reset_fails_a_write) {
    auto [client, server] = make_tcp_connection();
    const stream file = open_stream(std::move(client), "w");
    const auto buffer = new_buffer(pattern(16 * MiB)); // more than the two ends can hold
    const auto done = read_buffer_to(queue(), buffer.get(), 0, 16 * MiB, file.get());
    ASSERT_EQ(read_all(server.get(), 1000).size(), 1000U);
    reset(server);

    ASSERT_TRUE(fails_with(done, CL_TRANSFER_IO_ERROR));
    EXPECT_TRUE(transfer_errno(done) == ECONNRESET || transfer_errno(done) == EPIPE) << transfer_errno(done);
    EXPECT_LT(bytes_moved(done), 16 * MiB);
}

TEST_P(stream_ends, a_stream_over_memory_is_read) {
    bytes contents = pattern(100'000);
    const stream file(fmemopen(contents.data(), contents.size(), "r"));
    ASSERT_NE(file, nullptr);
    const auto buffer = new_buffer(bytes(100'000));
    ASSERT_EQ(std::fgetc(file.get()), contents[0]);
    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, 50'000, file.get())));
    EXPECT_TRUE(same_bytes(slice(contents, 1, 50'000), contents_of(buffer, 0, 50'000)));
    EXPECT_EQ(ftello(file.get()), 50'001);
    EXPECT_EQ(std::fgetc(file.get()), contents[50'001]);
}

TEST_P(stream_ends, a_stream_over_memory_that_ends_early_is_an_end_of_file) {
    bytes contents = pattern(1000);
    const stream file(fmemopen(contents.data(), contents.size(), "r"));
    ASSERT_NE(file, nullptr);
    const auto buffer = new_buffer(bytes(2000));
    const auto done = write_buffer_from(queue(), buffer.get(), 0, 2000, file.get());
    ASSERT_TRUE(fails_with(done, CL_TRANSFER_END_OF_FILE));
    EXPECT_EQ(bytes_moved(done), 1000U);
    EXPECT_NE(std::feof(file.get()), 0);
    EXPECT_TRUE(same_bytes(join(contents, bytes(1000)), contents_of(buffer, 0, 2000)));
}

TEST_P(stream_ends, a_stream_over_memory_is_written) {
    bytes memory(100'000);
    stream file(fmemopen(memory.data(), memory.size(), "w"));
    ASSERT_NE(file, nullptr);
    const bytes contents = pattern(50'000);
    const auto buffer = new_buffer(contents);
    std::fputc('x', file.get());
    ASSERT_TRUE(completes(read_buffer_to(queue(), buffer.get(), 0, 50'000, file.get())));
    EXPECT_EQ(ftello(file.get()), 50'001);
    file.reset();
    EXPECT_EQ(memory[0], 'x');
    EXPECT_TRUE(same_bytes(contents, slice(memory, 1, 50'000)));
}

TEST_P(stream_ends, a_file_that_states_no_size_is_read_all_the_same) {
    // Files of /proc report a size of 0 and have contents.
    const stream reference = open_stream("/proc/version", "r");
    bytes expected(4096);
    expected.resize(std::fread(expected.data(), 1, expected.size(), reference.get()));
    ASSERT_GT(expected.size(), 10U);

    const stream file = open_stream("/proc/version", "r");
    const auto buffer = new_buffer(bytes(expected.size()));
    ASSERT_TRUE(completes(write_buffer_from(queue(), buffer.get(), 0, expected.size(), file.get())));
    EXPECT_TRUE(same_bytes(expected, contents_of(buffer, 0, expected.size())));
}
