// SPDX-License-Identifier: Apache-2.0
// The commands of CL/cl_data_transfer.h in a cluster: every rank makes the calls, one of them moves the bytes.
#include "platform/platform_fixture.hpp"

#include <CL/cl_data_transfer.h>
#include <mpi.h>

#include <cstdio>
#include <filesystem>
#include <future>
#include <unistd.h>

using namespace support;

namespace {

constexpr std::size_t part = 5000;

class cluster_transfers : public platform_test {
  protected:
    void SetUp() override {
        platform_test::SetUp();
        MPI_Comm_size(MPI_COMM_WORLD, &m_ranks);
        MPI_Comm_rank(MPI_COMM_WORLD, &m_rank);
        // Of the same name on every rank: they have one parent, the launcher.
        m_path = std::filesystem::temp_directory_path() / ("causeway-cluster-" + std::to_string(::getppid()));
    }
    void TearDown() override {
        meet();
        if (m_rank == 0) std::filesystem::remove(m_path);
    }

    static void meet() { MPI_Barrier(MPI_COMM_WORLD); }
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    [[nodiscard]] int rank() const { return m_rank; }
    /// The rank that has a device: as many each.
    [[nodiscard]] int rank_of(std::size_t device) const {
        return static_cast<int>(device * static_cast<std::size_t>(m_ranks) / devices().size());
    }
    [[nodiscard]] std::size_t last() const { return devices().size() - 1; }

    [[nodiscard]] std::FILE* open(const char* mode) const {
        auto* const file = std::fopen(m_path.c_str(), mode);
        EXPECT_NE(file, nullptr);
        meet();
        return file;
    }
    /// Rank 0 alone makes the file.
    void make_file(const bytes& contents) const {
        if (m_rank == 0) {
            auto* const file = std::fopen(m_path.c_str(), "w");
            ASSERT_NE(file, nullptr);
            ASSERT_EQ(std::fwrite(contents.data(), 1, contents.size(), file), contents.size());
            ASSERT_EQ(std::fclose(file), 0);
        }
        meet();
    }
    [[nodiscard]] static bytes contents(cl_command_queue queue, const buffer_handle& buffer, std::size_t size) {
        bytes all(size);
        EXPECT_EQ(clEnqueueReadBuffer(queue, buffer.get(), CL_TRUE, 0, size, all.data(), 0, nullptr, nullptr),
                  CL_SUCCESS);
        return all;
    }
    [[nodiscard]] buffer_handle filled(const bytes& with) const {
        return new_buffer(with.size(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                          const_cast<unsigned char*>(with.data()));
    }
    template <class Value> [[nodiscard]] static Value info(const event_handle& event, cl_transfer_info name) {
        Value value{};
        EXPECT_EQ(clGetTransferInfo(event.get(), name, sizeof value, &value, nullptr), CL_SUCCESS);
        return value;
    }
    [[nodiscard]] static cl_int wait(const event_handle& event) {
        return clWaitForEvents(1, std::vector{event.get()}.data());
    }

  private:
    std::filesystem::path m_path;
    int m_ranks = 1, m_rank = 0;
};

bytes part_of(const bytes& whole, std::size_t from, std::size_t size) {
    return {whole.begin() + static_cast<std::ptrdiff_t>(from),
            whole.begin() + static_cast<std::ptrdiff_t>(from + size)};
}

TEST_F(cluster_transfers, what_is_read_from_a_file_is_where_its_device_is_and_the_stream_moves_on_everywhere) {
    const auto whole = pattern(part * devices().size() + 100);
    make_file(whole);
    auto* const file = open("r");
    std::vector<buffer_handle> buffers;
    for (std::size_t i = 0; i < devices().size(); ++i) {
        buffers.push_back(new_buffer(part));
        ASSERT_EQ(
            clEnqueueWriteBufferFromStdioFile(queue(i), buffers[i].get(), CL_FALSE, 0, part, file, 0, nullptr, nullptr),
            CL_SUCCESS);
    }
    // On any device, also those of other ranks.
    for (std::size_t i = 0; i < devices().size(); ++i)
        EXPECT_TRUE(same_bytes(contents(queue(last() - i), buffers[i], part), part_of(whole, part * i, part)));
    EXPECT_EQ(std::ftell(file), static_cast<long>(part * devices().size()));
    EXPECT_EQ(std::feof(file), 0);

    event_handle event;
    EXPECT_EQ(clEnqueueWriteBufferFromStdioFile(last_queue(), buffers[0].get(), CL_TRUE, 0, part, file, 0, nullptr,
                                                event.out()),
              CL_TRANSFER_END_OF_FILE);
    EXPECT_EQ(status_of(event.get()), CL_TRANSFER_END_OF_FILE);
    EXPECT_EQ(info<std::size_t>(event, CL_TRANSFER_BYTES_MOVED), 100U);
    EXPECT_NE(std::feof(file), 0);
    EXPECT_EQ(info<cl_command_queue>(event, CL_TRANSFER_COMMAND_QUEUE), last_queue());
    std::fclose(file);
}

TEST_F(cluster_transfers, files_are_written_once_in_the_order_of_the_program) {
    const auto start = pattern(60, 3);
    make_file(start);
    auto* const file = open("a");
    auto expected = start;
    std::vector<event_handle> events(devices().size());
    for (std::size_t i = 0; i < devices().size(); ++i) {
        const auto piece = pattern(part, static_cast<unsigned>(i));
        const auto buffer = filled(piece);
        ASSERT_EQ(clEnqueueReadBufferToStdioFile(queue(i), buffer.get(), CL_FALSE, 0, part, file, 0, nullptr,
                                                 events[i].out()),
                  CL_SUCCESS);
        // What comes later in the queue does not reach the file.
        const cl_uchar zero = 0;
        ASSERT_EQ(clEnqueueFillBuffer(queue(i), buffer.get(), &zero, 1, 0, part, 0, nullptr, nullptr), CL_SUCCESS);
        expected.insert(expected.end(), piece.begin(), piece.end());
    }
    for (std::size_t i = 0; i < devices().size(); ++i) ASSERT_EQ(clFinish(queue(i)), CL_SUCCESS);
    for (const auto& event : events) {
        EXPECT_EQ(status_of(event.get()), CL_COMPLETE);
        EXPECT_EQ(info<std::size_t>(event, CL_TRANSFER_BYTES_MOVED), part);
    }
    EXPECT_EQ(std::ftell(file), static_cast<long>(expected.size()));
    std::fclose(file);
    EXPECT_EQ(std::filesystem::file_size(path()), expected.size());
    auto* const back = open("r");
    bytes found(expected.size());
    EXPECT_EQ(std::fread(found.data(), 1, found.size(), back), found.size());
    EXPECT_TRUE(same_bytes(found, expected));
    std::fclose(back);
}

TEST_F(cluster_transfers, the_ranks_of_two_devices_send_and_receive) {
    const auto sent = pattern(part, 8);
    const auto source = filled(sent);
    const auto target = new_buffer(part);
    event_handle received;
    ASSERT_EQ(clEnqueueRecvBuffer(last_queue(), target.get(), CL_FALSE, 0, part, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, 0,
                                  nullptr, received.out()),
              CL_SUCCESS);
    ASSERT_EQ(clEnqueueSendBuffer(queue(), source.get(), CL_FALSE, 0, part, rank_of(last()), 7, MPI_COMM_WORLD, 0,
                                  nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(wait(received), CL_SUCCESS);
    EXPECT_EQ(info<int>(received, CL_TRANSFER_MPI_SOURCE), rank_of(0));
    EXPECT_TRUE(same_bytes(contents(queue(), target, part), sent));
    cl_command_type type = 0;
    ASSERT_EQ(clGetEventInfo(received.get(), CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr), CL_SUCCESS);
    EXPECT_EQ(type, static_cast<cl_command_type>(CL_COMMAND_RECV_BUFFER));
}

TEST_F(cluster_transfers, a_face_of_a_grid_goes_to_another_rank_while_its_answer_comes) {
    const auto grid = pattern(16 * 16, 1);
    const auto first = filled(grid);
    const auto second = filled(grid);
    const std::size_t origin[3] = {3, 0, 0};
    const std::size_t region[3] = {1, 16, 1};
    ASSERT_EQ(clEnqueueSendBufferRect(queue(), first.get(), CL_FALSE, origin, region, 16, 0, rank_of(last()), 1,
                                      MPI_COMM_WORLD, 0, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(clEnqueueSendrecvBuffer(last_queue(), second.get(), second.get(), CL_FALSE, 32, 16, rank_of(0), 2, 0, 16,
                                      rank_of(0), 1, MPI_COMM_WORLD, 0, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(clEnqueueRecvBuffer(queue(), first.get(), CL_FALSE, 0, 16, rank_of(last()), 2, MPI_COMM_WORLD, 0, nullptr,
                                  nullptr),
              CL_SUCCESS);
    auto at_first = grid, at_second = grid;
    for (std::size_t y = 0; y < 16; ++y) at_second[y] = grid[16 * y + 3];
    for (std::size_t x = 0; x < 16; ++x) at_first[x] = grid[32 + x];
    EXPECT_TRUE(same_bytes(contents(last_queue(), first, grid.size()), at_first));
    EXPECT_TRUE(same_bytes(contents(queue(), second, grid.size()), at_second));
}

TEST_F(cluster_transfers, peer_copies_move_the_bytes_that_they_name) {
    const auto program = build(add_source);
    const auto add = kernel_of(program, "add");
    std::vector<cl_uint> start(64, 5);
    const auto source = new_buffer(256, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
    const auto target = new_buffer(256, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.data());
    launch(queue(), add, source, 2, 64);
    event_handle event;
    ASSERT_EQ(clEnqueuePeerCopyBuffer(queue(), source.get(), last_queue(), target.get(), CL_FALSE, 4, 8, 12, 0, nullptr,
                                      event.out()),
              CL_SUCCESS);
    launch(queue(), add, source, 1, 64);
    EXPECT_EQ(wait(event), CL_SUCCESS);
    auto expected = start;
    for (std::size_t i = 2; i < 5; ++i) expected[i] = 7;
    EXPECT_EQ(read(last_queue(), target, 64), expected);
    EXPECT_EQ(read(last_queue(), source, 64), std::vector<cl_uint>(64, 8));
    EXPECT_EQ(clEnqueuePeerCopyBuffer(queue(), source.get(), last_queue(), target.get(), CL_TRUE, 0, 0, 0, 0, nullptr,
                                      nullptr),
              CL_SUCCESS);
    EXPECT_EQ(clEnqueuePeerCopyBuffer(queue(), source.get(), last_queue(), target.get(), CL_TRUE, 0, 250, 12, 0,
                                      nullptr, nullptr),
              CL_INVALID_VALUE);
}

TEST_F(cluster_transfers, what_fails_or_is_cancelled_fails_on_every_rank) {
    for (const auto on : {std::size_t{0}, last()}) {
        const auto buffer = new_buffer(part);
        const auto gate = new_user_event();
        event_handle gated, lonely;
        ASSERT_EQ(clEnqueueRecvBuffer(queue(on), buffer.get(), CL_FALSE, 0, part, rank_of(on), 3, MPI_COMM_WORLD, 1,
                                      std::vector{gate.get()}.data(), gated.out()),
                  CL_SUCCESS);
        EXPECT_EQ(clCancelTransfer(gated.get()), CL_INVALID_OPERATION); // not begun
        ASSERT_EQ(clSetUserEventStatus(gate.get(), -3), CL_SUCCESS);
        EXPECT_EQ(wait(gated), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        ASSERT_EQ(clEnqueueRecvBuffer(queue(on), buffer.get(), CL_FALSE, 0, part, rank_of(on), 4, MPI_COMM_WORLD, 0,
                                      nullptr, lonely.out()),
                  CL_SUCCESS);
        EXPECT_EQ(clCancelTransfer(lonely.get()), CL_SUCCESS);
        EXPECT_EQ(wait(lonely), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        EXPECT_EQ(status_of(lonely.get()), CL_TRANSFER_CANCELLED);
        EXPECT_EQ(clCancelTransfer(lonely.get()), CL_INVALID_OPERATION);
    }
    const auto buffer = new_buffer(part);
    EXPECT_EQ(clEnqueueWriteBufferFromFile(last_queue(), buffer.get(), CL_FALSE, 0, part, -1, 0, 0, nullptr, nullptr),
              CL_INVALID_VALUE);
}

TEST_F(cluster_transfers, every_rank_is_called_back_at_every_end) {
    struct told {
        std::promise<cl_int> status;
        static void CL_CALLBACK hear(cl_event, cl_int status, void* self) {
            static_cast<told*>(self)->status.set_value(status);
        }
    };
    const auto end_of = [](const event_handle& event) -> cl_int {
        told listener;
        auto status = listener.status.get_future();
        EXPECT_EQ(clSetTransferCallback(event.get(), told::hear, &listener), CL_SUCCESS);
        return status.get();
    };
    make_file(pattern(part));
    auto* const file = open("r");
    for (const auto on : {std::size_t{0}, last()}) {
        const auto buffer = new_buffer(2 * part);
        event_handle whole, short_one;
        ASSERT_EQ(clEnqueueWriteBufferFromFile(queue(on), buffer.get(), CL_FALSE, 0, part, ::fileno(file), 0, 0,
                                               nullptr, whole.out()),
                  CL_SUCCESS);
        EXPECT_EQ(end_of(whole), CL_COMPLETE);
        ASSERT_EQ(clEnqueueWriteBufferFromFile(queue(on), buffer.get(), CL_FALSE, 0, 2 * part, ::fileno(file), 0, 0,
                                               nullptr, short_one.out()),
                  CL_SUCCESS);
        EXPECT_EQ(end_of(short_one), CL_TRANSFER_END_OF_FILE);
        EXPECT_EQ(end_of(short_one), CL_TRANSFER_END_OF_FILE) << "registered late";
    }
    const auto gate = new_user_event();
    EXPECT_EQ(clSetTransferCallback(gate.get(), told::hear, nullptr), CL_INVALID_EVENT);
    std::fclose(file);
}

TEST_F(cluster_transfers, one_rank_alone_has_all_devices_of_a_context) {
    const auto whole = pattern(part);
    make_file(whole);
    cl_int code = CL_SUCCESS;
    for (auto* const device : {devices().front(), devices().back()}) {
        const context_handle own(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const queue_handle on(clCreateCommandQueue(own.get(), device, 0, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        const buffer_handle buffer(clCreateBuffer(own.get(), 0, part, nullptr, &code));
        ASSERT_EQ(code, CL_SUCCESS);
        auto* const file = open("r+");
        ASSERT_EQ(
            clEnqueueWriteBufferFromStdioFile(on.get(), buffer.get(), CL_FALSE, 0, part, file, 0, nullptr, nullptr),
            CL_SUCCESS);
        EXPECT_TRUE(same_bytes(contents(on.get(), buffer, part), whole));
        // Files are rank 0's.
        EXPECT_EQ(clEnqueueReadBufferToStdioFile(on.get(), buffer.get(), CL_TRUE, 0, part, file, 0, nullptr, nullptr),
                  device == devices().front() || rank_of(last()) == 0 ? CL_SUCCESS : CL_INVALID_OPERATION);
        std::fclose(file);
    }
}

} // namespace
