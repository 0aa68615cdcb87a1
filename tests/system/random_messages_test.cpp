// SPDX-License-Identifier: Apache-2.0
// Messages with arguments by chance, judged as in random_arguments_test.cpp.
#include "random_arguments.hpp"

namespace system_test {
namespace {

/// One side of a message: a range or a box of a buffer.
struct message_side {
    slot* of;
    bool is_box;
    std::array<std::size_t, 2> range;
    box shape;
    int rank, tag;
    bool has_communicator;

    [[nodiscard]] bool fits() const {
        return is_box ? shape.fits(of->bytes) : large(range[0]) + range[1] <= large(of->bytes);
    }
    [[nodiscard]] std::size_t bytes_of() const {
        return is_box ? shape.region[0] * shape.region[1] * shape.region[2] : range[1];
    }
    /// Where the bytes of the message are in the buffer, in their order.
    [[nodiscard]] std::vector<std::size_t> places() const {
        std::vector<std::size_t> made;
        if (is_box)
            support::visit(shape.region, [&](auto x, auto y, auto z) { made.push_back(shape.at(x, y, z)); });
        else
            for (std::size_t k = 0; k < range[1]; ++k) made.push_back(range[0] + k);
        return made;
    }
};

class random_messages : public random_arguments {
  protected:
    message_side any_side(slot& of) {
        message_side made{&of, one_of(3), any_range(of), {}, any_rank(), any_tag(), !one_of(30)};
        made.shape = any_box(any_region());
        return made;
    }
    [[nodiscard]] bool is_right(const call_frame& frame, const message_side& side, bool sends) const {
        const auto any = sends ? MPI_PROC_NULL : MPI_ANY_SOURCE;
        const bool rank_fits = side.rank == 0 || side.rank == MPI_PROC_NULL || side.rank == any;
        const bool tag_fits = (side.tag >= 0 && side.tag <= largest_tag()) || (!sends && side.tag == MPI_ANY_TAG);
        return suits(frame, *side.of) && side.fits() && (sends ? side.of->may_read : side.of->may_write) && rank_fits &&
               tag_fits && side.has_communicator;
    }
    static int largest_tag() {
        void* value = nullptr;
        int found = 0;
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
        return found != 0 ? *static_cast<int*>(value) : 32767;
    }
    cl_int enqueue(const call_frame& frame, const message_side& side, bool sends, cl_event* place) const {
        const MPI_Comm comm = side.has_communicator ? m_self : MPI_COMM_NULL;
        if (side.is_box)
            return (sends ? clEnqueueSendBufferRect : clEnqueueRecvBufferRect)(
                frame.on.queue, side.of->buffer, frame.blocking, side.shape.origin.data(), side.shape.region.data(),
                side.shape.row, side.shape.slice, side.rank, side.tag, comm, frame.after.count, frame.after.list,
                place);
        return (sends ? clEnqueueSendBuffer : clEnqueueRecvBuffer)(frame.on.queue, side.of->buffer, frame.blocking,
                                                                   side.range[0], side.range[1], side.rank, side.tag,
                                                                   comm, frame.after.count, frame.after.list, place);
    }
    static std::string text(const message_side& side, const slot* first) {
        return "buffer " + std::to_string(side.of - first) + (side.is_box ? " box " + text_of(side.shape) : " range ") +
               (side.is_box ? "" : std::to_string(side.range[0]) + " + " + std::to_string(side.range[1])) + ", rank " +
               std::to_string(side.rank) + ", tag " + std::to_string(side.tag);
    }
};

TEST_F(random_messages, are_delivered_or_refused) {
    std::uint64_t sent = 0, received = 0;
    const buffer drain = own().make_buffer(4 * size, 0);
    for (std::uint64_t i = 0; i < calls(); ++i) {
        auto& from = any_slot();
        auto sending = any_frame(false, false);
        sending.wants_event = true;
        const auto out = any_side(from);
        const auto what = "call " + std::to_string(i) + ": " + text(out, m_slots.data());
        event send_done;
        auto* const untouched = reinterpret_cast<cl_event>(0x10);
        cl_event raw = untouched;
        const auto send_code = enqueue(sending, out, true, &raw);
        ASSERT_EQ(send_code == CL_SUCCESS, is_right(sending, out, true))
            << what << ": " << send_code << ", " << causeway_error_last_message();
        if (send_code != CL_SUCCESS) {
            ASSERT_TRUE(is_refusal(send_code)) << what << ": " << send_code;
            ASSERT_EQ(raw, untouched) << what;
        } else {
            send_done = event(raw);
        }
        const bool is_under_way = send_code == CL_SUCCESS && out.rank != MPI_PROC_NULL;
        if (send_code == CL_SUCCESS && !is_under_way) {
            ASSERT_TRUE(completes(send_done)) << what;
        }
        sent += is_under_way;

        // Attempts to receive it; most are refused, some are for another message.
        bool is_taken = false;
        for (int attempt = 0; attempt < 2 && !is_taken; ++attempt, ++i) {
            auto& to = other_than(from);
            const auto in = any_side(to);
            const bool matches = is_under_way && in.rank != MPI_PROC_NULL &&
                                 (in.tag == out.tag || in.tag == MPI_ANY_TAG);
            auto receiving = any_frame(false, matches || in.rank == MPI_PROC_NULL);
            receiving.wants_event = true;
            const auto where = what + "; received by " + text(in, m_slots.data());
            raw = untouched;
            const auto code = enqueue(receiving, in, false, &raw);
            const event done(raw == untouched ? nullptr : raw);
            const bool fits = is_right(receiving, in, false);
            ASSERT_EQ(done.get() != nullptr, fits) << where << ": " << code << ", " << causeway_error_last_message();
            if (!fits) {
                ASSERT_TRUE(is_refusal(code)) << where << ": " << code;
                continue;
            }
            if (in.rank == MPI_PROC_NULL) {
                ASSERT_TRUE(completes(done)) << where;
                continue;
            }
            if (!matches) {
                ASSERT_EQ(clCancelTransfer(done.get()), CL_SUCCESS) << where;
                ASSERT_TRUE(ends_with(done, CL_TRANSFER_CANCELLED)) << where;
                continue;
            }
            is_taken = true;
            ++received;
            const bool is_truncated = in.bytes_of() < out.bytes_of();
            ASSERT_TRUE(ends_with(done, is_truncated ? CL_TRANSFER_MESSAGE_TRUNCATED : CL_COMPLETE)) << where;
            const auto end = wait(send_done.get());
            ASSERT_TRUE(end == CL_COMPLETE || (is_truncated && end == CL_TRANSFER_MESSAGE_TRUNCATED))
                << where << ": " << end;
            const auto places = in.places(), sources = out.places();
            if (is_truncated || from.model == nullptr) {
                for (const auto each : places) accept(to, each, 1);
            } else if (to.model != nullptr) {
                for (std::size_t k = 0; k < sources.size(); ++k) to.model[places[k]] = from.model[sources[k]];
            }
        }
        if (is_under_way && !is_taken) {
            const auto done = enqueue_receive(m_queues[0].get(), {drain.get(), 0, 4 * size}, 0, out.tag, m_self);
            ASSERT_TRUE(completes(done)) << what;
            ASSERT_TRUE(completes(send_done)) << what;
            if (from.model != nullptr) {
                bytes expected;
                for (const auto each : out.places()) expected.push_back(from.model[each]);
                ASSERT_TRUE(same(own().read(drain.get(), 0, expected.size()), expected)) << what;
            }
        }
        ASSERT_NO_FATAL_FAILURE(expect_models(what));
    }
    EXPECT_GT(sent, calls() / 40);
    EXPECT_GT(received, sent / 20);
}

TEST_F(random_messages, of_both_ways_at_once_are_delivered_or_refused) {
    std::uint64_t accepted = 0;
    for (std::uint64_t i = 0; i < calls(); ++i) {
        auto& from = any_slot();
        auto& to = any_slot();
        auto out = any_side(from), in = any_side(to);
        out.is_box = in.is_box = false;
        out.has_communicator = in.has_communicator;
        if (one_of(2)) in.tag = one_of(4) ? MPI_ANY_TAG : out.tag;
        const auto frame = any_frame(false);
        bool is_expected = is_right(frame, out, true) && is_right(frame, in, false);
        bool overlaps = false;
        if (is_expected && out.range[1] != 0 && in.range[1] != 0) {
            const auto root = [&](const slot& each) { return &each == &m_slots[2] ? &m_slots[1] : &each; };
            const auto begin = out.range[0] + (&from == &m_slots[2] ? size : 0);
            const auto second = in.range[0] + (&to == &m_slots[2] ? size : 0);
            overlaps = root(from) == root(to) && begin < second + in.range[1] && second < begin + out.range[1];
        }
        // A message that nobody takes, and a receive that gets none, have no end.
        const bool matches = out.rank == MPI_PROC_NULL
                                 ? in.rank == MPI_PROC_NULL
                                 : in.rank != MPI_PROC_NULL && (in.tag == out.tag || in.tag == MPI_ANY_TAG);
        if (is_expected && !overlaps && !matches) continue;
        is_expected = is_expected && !overlaps;
        const auto what = "call " + std::to_string(i) + ": " + text(out, m_slots.data()) + " to " +
                          text(in, m_slots.data());
        const auto ended = run(
            frame,
            [&](cl_event* place) {
                return clEnqueueSendrecvBuffer(frame.on.queue, from.buffer, to.buffer, frame.blocking, out.range[0],
                                               out.range[1], out.rank, out.tag, in.range[0], in.range[1], in.rank,
                                               in.tag, in.has_communicator ? m_self : MPI_COMM_NULL, frame.after.count,
                                               frame.after.list, place);
            },
            what);
        ASSERT_EQ(ended.code == CL_SUCCESS, is_expected)
            << what << ": " << ended.code << ", " << causeway_error_last_message();
        if (ended.code != CL_SUCCESS) {
            ASSERT_TRUE(is_refusal(ended.code)) << what << ": " << ended.code;
        } else {
            ++accepted;
            const bool is_nothing = out.rank == MPI_PROC_NULL;
            const bool is_truncated = !is_nothing && in.range[1] < out.range[1];
            if (ended.is_known) {
                ASSERT_EQ(ended.status, is_truncated ? CL_TRANSFER_MESSAGE_TRUNCATED : CL_COMPLETE) << what;
            }
            if (is_truncated || from.model == nullptr)
                accept(to, in.range[0], in.range[1]);
            else if (!is_nothing && to.model != nullptr)
                std::memmove(to.model + in.range[0], from.model + out.range[0], out.range[1]);
        }
        ASSERT_NO_FATAL_FAILURE(expect_models(what));
    }
    EXPECT_GT(accepted, calls() / 100);
}

/// Calls of MPI with MPI_CL_MEM on one side, whose other side is a right command.
class random_mpi_calls : public random_messages {
  protected:
    void SetUp() override {
        random_messages::SetUp();
        MPI_Comm_get_errhandler(MPI_COMM_WORLD, &m_before);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); // what requests fail with goes there
    }
    void TearDown() override {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, m_before);
        MPI_Errhandler_free(&m_before);
        random_messages::TearDown();
    }
    static int class_of(int code) {
        int found = MPI_SUCCESS;
        MPI_Error_class(code, &found);
        return found;
    }
    int any_count() {
        static constexpr std::array<int, 3> odd{-1, INT_MIN, 0};
        return one_of(6) ? odd[below(odd.size())] : static_cast<int>(below(size + 1));
    }

  private:
    MPI_Errhandler m_before = MPI_ERRHANDLER_NULL;
};

TEST_F(random_mpi_calls, are_delivered_or_refused) {
    std::uint64_t refused = 0, delivered = 0, truncated = 0;
    bytes host(2 * size);
    for (std::uint64_t i = 0; i < calls(); ++i) {
        auto& of = m_slots[below(3)];
        const auto offset = below(of.bytes), length = below(of.bytes - offset + 1);
        const bool device_sends = one_of(2), blocks = one_of(2);
        const int tag = static_cast<int>(below(3)), count = any_count(), rank = any_rank();
        const int called_tag = one_of(8) ? any_tag() : device_sends && one_of(4) ? MPI_ANY_TAG : tag;
        const bool is_any = device_sends && rank == MPI_ANY_SOURCE;
        const auto what = "call " + std::to_string(i) + (device_sends ? ": receive of " : ": send of ") +
                          std::to_string(count) + ", rank " + std::to_string(rank) + ", tag " +
                          std::to_string(called_tag) + ", the device's " + std::to_string(length);
        const bool is_right = count >= 0 && (rank == 0 || rank == MPI_PROC_NULL || is_any) &&
                              ((called_tag >= 0 && called_tag <= largest_tag()) ||
                               (device_sends && called_tag == MPI_ANY_TAG));
        const bool matches = is_right && rank != MPI_PROC_NULL &&
                             (called_tag == tag || (device_sends && called_tag == MPI_ANY_TAG));
        if (is_right && rank != MPI_PROC_NULL && !matches) continue; // it would have no end
        for (auto& each : host) each = static_cast<unsigned char>(below(256));
        const auto host_before = host;
        event other;
        if (matches) {
            const auto& on = m_queues[below(2)];
            other = device_sends ? enqueue_send(on.get(), {of.buffer, offset, length}, 0, tag, m_self)
                                 : enqueue_receive(on.get(), {of.buffer, offset, length}, 0, tag, m_self);
        }
        MPI_Status status;
        MPI_Request request = MPI_REQUEST_NULL;
        int code = MPI_SUCCESS;
        if (blocks) {
            code = device_sends ? MPI_Recv(host.data(), count, MPI_CL_MEM, rank, called_tag, m_self, &status)
                                : MPI_Send(host.data(), count, MPI_CL_MEM, rank, called_tag, m_self);
        } else {
            code = device_sends ? MPI_Irecv(host.data(), count, MPI_CL_MEM, rank, called_tag, m_self, &request)
                                : MPI_Isend(host.data(), count, MPI_CL_MEM, rank, called_tag, m_self, &request);
            if (code == MPI_SUCCESS) code = MPI_Wait(&request, &status);
        }
        if (!is_right) {
            ++refused;
            const auto found = class_of(code);
            ASSERT_TRUE((found == MPI_ERR_COUNT && count < 0) || found == MPI_ERR_RANK || found == MPI_ERR_TAG)
                << what << ": " << found;
            ASSERT_EQ(host, host_before) << what;
            ASSERT_NO_FATAL_FAILURE(expect_models(what));
            continue;
        }
        int got = -1;
        if (device_sends) MPI_Get_count(&status, MPI_BYTE, &got);
        if (rank == MPI_PROC_NULL) {
            ASSERT_EQ(code, MPI_SUCCESS) << what;
            if (device_sends) {
                ASSERT_EQ(got, 0) << what;
            }
            ASSERT_EQ(host, host_before) << what;
            continue;
        }
        const auto asked = static_cast<std::size_t>(count);
        const bool is_cut = device_sends ? asked < length : asked > length;
        ++(is_cut ? truncated : delivered);
        // Of a message that is too long the sender may hear or not.
        const auto end = wait(other.get());
        if (device_sends) {
            ASSERT_EQ(class_of(code), is_cut ? MPI_ERR_TRUNCATE : MPI_SUCCESS) << what;
            ASSERT_TRUE(end == CL_COMPLETE || (is_cut && end == CL_TRANSFER_MESSAGE_TRUNCATED)) << what << ": " << end;
            ASSERT_TRUE(std::equal(host.begin() + count, host.end(), host_before.begin() + count)) << what;
            if (!is_cut) {
                ASSERT_EQ(got, static_cast<int>(length)) << what;
                ASSERT_EQ(status.MPI_SOURCE, 0) << what;
                ASSERT_EQ(status.MPI_TAG, tag) << what;
                ASSERT_TRUE(std::equal(of.model + offset, of.model + offset + length, host.begin())) << what;
                const auto rest = static_cast<std::ptrdiff_t>(length);
                ASSERT_TRUE(std::equal(host.begin() + rest, host.end(), host_before.begin() + rest)) << what;
            }
        } else {
            ASSERT_TRUE(code == MPI_SUCCESS || (is_cut && class_of(code) == MPI_ERR_TRUNCATE)) << what << ": " << code;
            ASSERT_EQ(end, is_cut ? CL_TRANSFER_MESSAGE_TRUNCATED : CL_COMPLETE) << what;
            ASSERT_EQ(host, host_before) << what;
            if (is_cut)
                accept(of, offset, length);
            else
                std::memcpy(of.model + offset, host.data(), asked);
        }
        ASSERT_NO_FATAL_FAILURE(expect_models(what));
    }
    EXPECT_GT(refused, calls() / 20);
    EXPECT_GT(delivered, calls() / 10);
    EXPECT_GT(truncated, calls() / 10);
}

} // namespace
} // namespace system_test
