// SPDX-License-Identifier: Apache-2.0
// Boxes of a buffer as messages: faces of a grid in every direction, any pitch, any peer.
#include "ranks.hpp"

#include <dlfcn.h>

#include <array>

namespace system_test {
namespace {

constexpr std::size_t kib = 1024;

using triple = std::array<std::size_t, 3>;

/// A box as in clEnqueueReadBufferRect.
struct box {
    triple origin;
    triple region;
    std::size_t row_pitch;
    std::size_t slice_pitch;

    [[nodiscard]] std::size_t size() const { return region[0] * region[1] * region[2]; }

    /// Calls `visit(position in the buffer, position in the packed message)` for each byte.
    template <typename Visit> void each(Visit visit) const {
        const std::size_t row = row_pitch ? row_pitch : region[0];
        const std::size_t slice = slice_pitch ? slice_pitch : region[1] * row;
        std::size_t packed = 0;
        for (std::size_t z = 0; z < region[2]; ++z)
            for (std::size_t y = 0; y < region[1]; ++y)
                for (std::size_t x = 0; x < region[0]; ++x)
                    visit((origin[2] + z) * slice + (origin[1] + y) * row + origin[0] + x, packed++);
    }

    [[nodiscard]] bytes pack(const bytes& from) const {
        bytes packed(size());
        each([&](std::size_t at, std::size_t in_message) { packed[in_message] = from[at]; });
        return packed;
    }

    /// `into` with the first bytes of the box taken from `packed`.
    [[nodiscard]] bytes unpack(bytes into, const bytes& packed) const {
        each([&](std::size_t at, std::size_t in_message) {
            if (in_message < packed.size()) into[at] = packed[in_message];
        });
        return into;
    }
};

class rect : public ranks_test {
  protected:
    [[nodiscard]] int right() const { return (m_rank + 1) % m_size; }
    [[nodiscard]] int left() const { return (m_rank + m_size - 1) % m_size; }

    [[nodiscard]] event send(cl_mem from, const box& what, int tag, blocking block = blocking::no) const {
        event done;
        EXPECT_EQ(clEnqueueSendBufferRect(m_on.get(), from, as_cl(block), what.origin.data(), what.region.data(),
                                          what.row_pitch, what.slice_pitch, right(), tag, m_comm, 0, nullptr,
                                          done.out()),
                  CL_SUCCESS)
            << causeway_error_last_message();
        return done;
    }

    [[nodiscard]] event receive(cl_mem into, const box& what, int tag, blocking block = blocking::no) const {
        event done;
        EXPECT_EQ(clEnqueueRecvBufferRect(m_on.get(), into, as_cl(block), what.origin.data(), what.region.data(),
                                          what.row_pitch, what.slice_pitch, left(), tag, m_comm, 0, nullptr,
                                          done.out()),
                  CL_SUCCESS)
            << causeway_error_last_message();
        return done;
    }

    /// Sends the box `from` of a buffer of `size` bytes to the right and receives the left's into the box `to`.
    void expect_exchange(std::size_t size, const box& from, const box& to) const {
        const buffer outgoing = own().make_buffer(pattern(m_rank, 1, size));
        const buffer incoming = own().make_buffer(pattern(m_rank, 2, size));
        const int* const from_ordinary_memory = static_cast<int*>(dlsym(RTLD_DEFAULT, "pretend_unlocked_rectangles"));
        const int before = from_ordinary_memory ? *from_ordinary_memory : 0;
        const event received = receive(incoming.get(), to, 1);
        const event sent = send(outgoing.get(), from, 1);
        ASSERT_TRUE(completes(received));
        ASSERT_TRUE(completes(sent));
        // A card's driver is slow at those.
        if (from_ordinary_memory && from.size() <= 64 * kib) {
            EXPECT_EQ(*from_ordinary_memory, before);
        }
        EXPECT_EQ(transfer_info<std::size_t>(received.get(), CL_TRANSFER_BYTES_MOVED), from.size());
        const bytes message = from.pack(pattern(left(), 1, size));
        EXPECT_TRUE(same(own().read(incoming.get(), 0, size), to.unpack(pattern(m_rank, 2, size), message)));
        EXPECT_TRUE(same(own().read(outgoing.get(), 0, size), pattern(m_rank, 1, size)));
    }

    const queue m_on = make_queue(order::out_of_order);
};

/// A grid of floats, 20 × 18 × 14 points.
constexpr std::size_t row_bytes = 20 * sizeof(float);
constexpr std::size_t slice_bytes = 18 * row_bytes;
constexpr std::size_t grid_bytes = 14 * slice_bytes;

TEST_F(rect, moves_a_face_of_whole_rows) {
    const box face{{0, 0, 3}, {row_bytes, 18, 1}, row_bytes, slice_bytes};
    const box halo{{0, 0, 13}, {row_bytes, 18, 1}, row_bytes, slice_bytes};
    expect_exchange(grid_bytes, face, halo);
}

TEST_F(rect, moves_a_face_of_one_row_per_slice) {
    const box face{{0, 1, 0}, {row_bytes, 1, 14}, row_bytes, slice_bytes};
    const box halo{{0, 17, 0}, {row_bytes, 1, 14}, row_bytes, slice_bytes};
    expect_exchange(grid_bytes, face, halo);
}

TEST_F(rect, moves_a_face_of_one_point_per_row) {
    const box face{{sizeof(float), 0, 0}, {sizeof(float), 18, 14}, row_bytes, slice_bytes};
    const box halo{{row_bytes - sizeof(float), 0, 0}, {sizeof(float), 18, 14}, row_bytes, slice_bytes};
    expect_exchange(grid_bytes, face, halo);
}

TEST_F(rect, moves_a_box_inside_the_grid) {
    const box from{{7, 2, 1}, {41, 9, 6}, row_bytes, slice_bytes};
    const box to{{3, 5, 8}, {41, 9, 6}, row_bytes, slice_bytes};
    expect_exchange(grid_bytes, from, to);
}

TEST_F(rect, moves_between_boxes_of_different_shape) {
    const box from{{5, 1, 2}, {12, 10, 6}, row_bytes, slice_bytes};
    const box to{{0, 3, 0}, {40, 6, 3}, 61, 61 * 12};
    ASSERT_EQ(from.size(), to.size());
    expect_exchange(grid_bytes, from, to);
}

TEST_F(rect, takes_a_pitch_of_zero_as_packed) {
    const box packed{{0, 0, 0}, {50, 8, 3}, 0, 0};
    const box packed_slices{{0, 2, 1}, {50, 8, 3}, 60, 0};
    expect_exchange(grid_bytes, packed, packed_slices);
    expect_exchange(grid_bytes, packed_slices, packed);
}

TEST_F(rect, matches_a_plain_receive_of_as_many_bytes) {
    const box face{{4, 0, 2}, {8, 18, 10}, row_bytes, slice_bytes};
    const buffer outgoing = own().make_buffer(pattern(m_rank, 1, grid_bytes));
    const framed_buffer incoming(face.size());
    const event received = enqueue_receive(m_on.get(), incoming.whole(), left(), 1, m_comm);
    const event sent = send(outgoing.get(), face, 1);
    ASSERT_TRUE(completes(received));
    ASSERT_TRUE(completes(sent));
    EXPECT_TRUE(incoming.holds(face.pack(pattern(left(), 1, grid_bytes))));
}

TEST_F(rect, matches_a_plain_send_of_as_many_bytes) {
    const box face{{4, 0, 2}, {8, 18, 10}, row_bytes, slice_bytes};
    const framed_buffer outgoing(pattern(m_rank, 1, face.size()));
    const buffer incoming = own().make_buffer(pattern(m_rank, 2, grid_bytes));
    const event received = receive(incoming.get(), face, 1);
    const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
    ASSERT_TRUE(completes(received));
    ASSERT_TRUE(completes(sent));
    EXPECT_TRUE(same(own().read(incoming.get(), 0, grid_bytes),
                     face.unpack(pattern(m_rank, 2, grid_bytes), pattern(left(), 1, face.size()))));
}

TEST_F(rect, matches_host_memory) {
    const box face{{4, 0, 2}, {8, 18, 10}, row_bytes, slice_bytes};
    const buffer outgoing = own().make_buffer(pattern(m_rank, 1, grid_bytes));
    const event sent = send(outgoing.get(), face, 1);
    bytes incoming(face.size());
    ASSERT_EQ(
        MPI_Recv(incoming.data(), static_cast<int>(incoming.size()), MPI_CL_MEM, left(), 1, m_comm, MPI_STATUS_IGNORE),
        MPI_SUCCESS);
    ASSERT_TRUE(completes(sent));
    EXPECT_TRUE(same(incoming, face.pack(pattern(left(), 1, grid_bytes))));
}

TEST_F(rect, fills_its_first_rows_with_a_shorter_message) {
    const box whole{{4, 3, 2}, {8, 10, 10}, row_bytes, slice_bytes};
    for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{8 * 13}, std::size_t{8 * 27 + 3}}) {
        SCOPED_TRACE(size);
        const framed_buffer outgoing(pattern(m_rank, 1, size));
        const buffer incoming = own().make_buffer(pattern(m_rank, 2, grid_bytes));
        const event received = receive(incoming.get(), whole, 1);
        const event sent = enqueue_send(m_on.get(), outgoing.whole(), right(), 1, m_comm);
        ASSERT_TRUE(completes(received));
        ASSERT_TRUE(completes(sent));
        EXPECT_EQ(transfer_info<std::size_t>(received.get(), CL_TRANSFER_BYTES_MOVED), size);
        EXPECT_TRUE(same(own().read(incoming.get(), 0, grid_bytes),
                         whole.unpack(pattern(m_rank, 2, grid_bytes), pattern(left(), 1, size))));
    }
}

TEST_F(rect, that_is_too_small_truncates) {
    const box large{{0, 0, 0}, {700, 300, 2}, 800, 800 * 310};
    const box small{{0, 0, 0}, {700, 299, 2}, 800, 800 * 310};
    const std::size_t size = 800 * 310 * 2;
    const buffer outgoing = own().make_buffer(pattern(m_rank, 1, size));
    const buffer incoming = own().make_buffer(pattern(m_rank, 2, size));
    const event received = receive(incoming.get(), small, 1);
    const event sent = send(outgoing.get(), large, 1);
    EXPECT_TRUE(ends_with(received, CL_TRANSFER_MESSAGE_TRUNCATED));
    EXPECT_TRUE(ends_with(sent, CL_TRANSFER_MESSAGE_TRUNCATED));
    // What lies outside the box is as it was.
    const bytes after = own().read(incoming.get(), 0, size);
    EXPECT_TRUE(same(small.unpack(after, small.pack(pattern(m_rank, 2, size))), pattern(m_rank, 2, size)));
}

TEST_F(rect, is_refused_with_opencls_codes) {
    const buffer grid = own().make_buffer(grid_bytes, 0);
    struct refusal {
        const char* why;
        box what;
    };
    const std::array<refusal, 8> refusals{{
        {"no width", {{0, 0, 0}, {0, 1, 1}, 0, 0}},
        {"no height", {{0, 0, 0}, {1, 0, 1}, 0, 0}},
        {"no depth", {{0, 0, 0}, {1, 1, 0}, 0, 0}},
        {"row pitch below the width", {{0, 0, 0}, {40, 2, 2}, 39, 0}},
        {"slice pitch below the rows", {{0, 0, 0}, {40, 4, 2}, 50, 199}},
        {"one byte beyond the buffer", {{1, 0, 13}, {row_bytes, 18, 1}, row_bytes, slice_bytes}},
        {"one slice beyond the buffer", {{0, 0, 14}, {4, 1, 1}, row_bytes, slice_bytes}},
        {"sizes that overflow", {{0, 0, 0}, {SIZE_MAX / 2, 3, 2}, 0, 0}},
    }};
    for (const auto& [why, what] : refusals) {
        SCOPED_TRACE(why);
        event none;
        EXPECT_EQ(clEnqueueSendBufferRect(m_on.get(), grid.get(), CL_FALSE, what.origin.data(), what.region.data(),
                                          what.row_pitch, what.slice_pitch, right(), 1, m_comm, 0, nullptr, none.out()),
                  CL_INVALID_VALUE);
        EXPECT_EQ(none.get(), nullptr);
        EXPECT_EQ(clEnqueueRecvBufferRect(m_on.get(), grid.get(), CL_FALSE, what.origin.data(), what.region.data(),
                                          what.row_pitch, what.slice_pitch, left(), 1, m_comm, 0, nullptr, none.out()),
                  CL_INVALID_VALUE);
        EXPECT_EQ(none.get(), nullptr);
        EXPECT_STRNE(causeway_error_last_message(), "");
    }
    const triple some{4, 1, 1};
    EXPECT_EQ(clEnqueueSendBufferRect(m_on.get(), grid.get(), CL_FALSE, nullptr, some.data(), 0, 0, right(), 1, m_comm,
                                      0, nullptr, nullptr),
              CL_INVALID_VALUE);
    EXPECT_EQ(clEnqueueRecvBufferRect(m_on.get(), grid.get(), CL_FALSE, some.data(), nullptr, 0, 0, left(), 1, m_comm,
                                      0, nullptr, nullptr),
              CL_INVALID_VALUE);
}

/// Boxes of several blocks, whatever the strategy.
class rect_by : public rect, public ::testing::WithParamInterface<const char*> {};

TEST_P(rect_by, moves_boxes_of_many_blocks) {
    const option_scope strategy("strategy", GetParam());
    const option_scope block("block", "64K");
    // Rows that do not divide a block, 1.6 MiB in all; and one row larger than a block.
    const std::size_t size = 2400 * kib;
    expect_exchange(size, {{13, 1, 1}, {1001, 55, 30}, 1200, 1200 * 60}, {{0, 2, 3}, {1001, 55, 30}, 1100, 1100 * 58});
    expect_exchange(size, {{5, 0, 0}, {200 * kib, 3, 3}, 220 * kib, 660 * kib}, {{0, 0, 0}, {200 * kib, 9, 1}, 0, 0});
    // A column of single points.
    expect_exchange(size, {{8, 0, 0}, {4, 300, 50}, 160, 160 * 300}, {{156, 0, 0}, {4, 300, 50}, 160, 160 * 300});
}

INSTANTIATE_TEST_SUITE_P(strategies, rect_by,
                         ::testing::Values("auto", "mapped", "shared-window", "pinned", "pipelined"),
                         [](const auto& info) { return test_name(info.param); });

} // namespace
} // namespace system_test
