// SPDX-License-Identifier: Apache-2.0
// The target of a send: a message to another rank.
#include "endpoints/mpi/rank_endpoint.hpp"

#include "base/reused_list.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <vector>

namespace causeway::endpoints {

namespace {

using transfer::step;

class send_endpoint final : public transfer::endpoint,
                            transfer::waiting_end,
                            transfer::lending_target,
                            transfer::window_target,
                            transfer::message_end,
                            private exchange {
  public:
    send_endpoint(rank_services services, int space, int rank, int tag)
        : m_messages(services.messages), m_space(space), m_rank(rank), m_tag(tag),
          m_gated_turn(services.turns, {key_of(space), behind_zero(rank), behind_zero(tag)}),
          m_turn(services.turns, {key_of(space), behind_zero(rank), 0}) {}

    ~send_endpoint() { end(); }

    [[nodiscard]] transfer::endpoint_traits traits() const override {
        const auto near = m_messages.peers().near_receiver(m_space, m_rank);
        return {.kind = transfer::medium::rank,
                .ordered = true,
                .largest_block = largest_block,
                .resource = m_messages.peers().resource_of(m_space, m_rank),
                .is_near_device = near != end_kind::host,
                .is_near_in_place = near == end_kind::device_that_maps_at_once,
                .largest_piece = m_messages.eager_limit()};
    }
    [[nodiscard]] std::string name() const override { return "rank " + std::to_string(m_rank); }
    [[nodiscard]] std::string partner() const override {
        return name() + " to receive with tag " + std::to_string(m_tag);
    }
    [[nodiscard]] transfer::abilities offers() override {
        return {.waits = this, .lends = this, .arrives = this, .message = this};
    }
    [[nodiscard]] std::size_t block_limit() const override { return m_block_limit; }

    /// Of the devices that the other rank has shown windows of; which of them it receives with, its answer says.
    [[nodiscard]] transfer::device_name device_for(transfer::endpoint& source) override {
        const auto* const leaves = source.offers().leaves;
        if (leaves == nullptr) return {};
        m_messages.devices().look();
        const int rank = m_messages.job_rank(m_space, m_rank);
        const auto own = source.traits().device;
        auto found = m_messages.devices().find_device(
            rank, [&](const auto& each) { return each != own.uuid && leaves->reaches({true, each}); });
        if (!found)
            found = m_messages.devices().find_device(rank,
                                                     [&](const auto& each) { return leaves->reaches({true, each}); });
        return found ? transfer::device_name{true, *found} : transfer::device_name();
    }

    void enqueued() override { m_gated_turn.join(); }
    void abandoned() override { m_gated_turn.leave(); }

    void open(const transfer::open_request& request, step& done) override {
        m_interest.emplace(m_messages);
        m_messages.listen(m_space);
        m_bytes = request.bytes;
        m_can_share = request.window;
        m_abilities = wire_header::of_end(request.other.is_device, request.other.maps_at_once);
        if (m_can_share) m_abilities |= wire_header::fills_window;
        m_device_here = request.other.device;
        if (request.other.device.is_known) m_abilities |= wire_header::could_fill_device_window;
        if (request.other.device.is_known && request.device_window) m_abilities |= wire_header::fills_device_window;
        m_open = &done;
        // Two lines: sends with one tag keep the order of enqueue, those that are open keep it whatever their tags.
        m_gated_turn.wait([this, block_bytes = request.block_bytes] {
            m_turn.join();
            m_turn.wait([this, block_bytes] { announce(block_bytes); });
        });
    }

    [[nodiscard]] bool lends() const override { return m_sharing; }
    [[nodiscard]] std::uint64_t reader() const override {
        return static_cast<std::uint64_t>(m_space) << 32 | static_cast<std::uint32_t>(m_rank);
    }
    [[nodiscard]] bool lends_device_memory() const override { return m_sharing && m_on_device; }

    void lend(std::shared_ptr<transfer::staging_allocator> device, std::function<void()> more) override {
        m_device = std::move(device);
        m_more = std::move(more);
        for (auto& each : m_granted)
            if (each.window) each.window->pin(m_device);
    }

    [[nodiscard]] transfer::block_memory borrow(std::size_t offset) override {
        const auto& broken = m_peer_error ? m_peer_error : m_no_more;
        const auto* const granted = grant_of(offset);
        if (m_peer_error || (granted == nullptr && broken)) throw transfer_error(broken);
        if (granted == nullptr) return {};
        return {granted->memory, m_on_device ? transfer::memory_kind::window : transfer::memory_kind::host};
    }

    void write(std::size_t offset, transfer::block_reference block, step& done) override {
        if (m_peer_error) {
            done.finish({0, m_peer_error});
            return;
        }
        if (m_sharing) {
            const auto* const granted = grant_of(offset);
            if (granted == nullptr || block.size() > block_bytes(offset)) {
                done.finish({0, misled("memory for other blocks")});
                return;
            }
            // A block that was read before this memory was known is somewhere else.
            auto* const memory = granted->memory;
            if (block.address() != memory && !m_on_device) std::memcpy(memory, block.data(), block.size());
            std::erase_if(m_granted, [&](const auto& each) { return each.offset == offset; });
            m_sent += block.size();
            tell(wire_header::kind::filled, offset);
            done.finish({block.size(), {}});
            return;
        }
        m_sent += block.size();
        auto& operation = begin(block.size(), done);
        if (m_eager) {
            auto out = header(wire_header::kind::eager);
            out.abilities = m_abilities; // so that the other rank opens a window for the next
            out.device = m_device_here.uuid;
            m_messages.send(m_space, m_rank, out, block, operation);
            leave_lines();
        } else {
            m_messages.port().send(m_space, m_rank, m_data_tag, block, operation);
        }
    }

    [[nodiscard]] transfer::message_identity message_moved() const override {
        return {m_messages.port().job_rank(m_space, m_messages.port().own_rank(m_space)), m_number};
    }

    void cancel() override {
        if (m_open == nullptr) return;
        if (m_requested) m_messages.withdraw(m_space, m_rank, header(wire_header::kind::withdraw));
        finish_open({0, {status::cancelled, 0, 0, "the transfer was cancelled"}});
    }

    void close(std::size_t, const failure& error, step& done) override {
        const bool broken_off = !m_eager && error && m_sent < m_bytes && !m_gone;
        // The receiver waits for blocks.
        if (broken_off && m_sharing) tell(wire_header::kind::done, 0);
        if (broken_off && !m_sharing) m_messages.release(m_space, m_rank, m_data_tag);
        end();
        done.finish({});
    }

  private:
    struct block_send final : comm::operation {
        explicit block_send(send_endpoint& owner) : self(owner) {}
        void over(const comm::arrival& result) override {
            auto& told = *done;
            const auto moved = result.error ? 0 : bytes;
            const auto error = result.error;
            if (error) {
                self.m_sent -= bytes;
                // A block behind this one would be taken for it.
                if (!self.m_peer_error) self.m_peer_error = error;
            }
            self.m_sends.put_away(self.iterator_of(*this));
            told.finish({moved, error});
        }
        send_endpoint& self;
        std::size_t bytes = 0;
        step* done = nullptr;
    };
    using block_sends = reused_list<block_send>;

    comm::operation& begin(std::size_t bytes, step& done) {
        auto& made = m_sends.add(*this);
        made.bytes = bytes;
        made.done = &done;
        return made;
    }
    [[nodiscard]] block_sends::iterator iterator_of(const block_send& which) {
        return std::find_if(m_sends.begin(), m_sends.end(), [&](const auto& each) { return &each == &which; });
    }

    [[nodiscard]] wire_header header(wire_header::kind what) const {
        return {.what = what, .tag = m_tag, .bytes = m_bytes, .sender = m_number};
    }

    /// Zero stands for any; every other number keeps a key of its own, also the largest.
    static int behind_zero(int number) { return static_cast<int>(static_cast<unsigned>(number) + 1u); }
    static std::uintptr_t key_of(int space) { return static_cast<std::uintptr_t>(space) + 1; }

    void leave_lines() {
        m_gated_turn.leave();
        m_turn.leave();
    }

    void announce(std::size_t block_bytes) {
        if (const auto failed = m_messages.listening_failure(m_space, m_rank)) {
            finish_open({0, failed});
            return;
        }
        // Also a message in one piece waits for its rank, if MPI does not take it at once.
        m_number = m_messages.begin(*this, m_space, m_rank);
        const auto limit = (m_abilities & wire_header::fills_device_window) != 0
                               ? std::min(m_messages.eager_limit(), largest_eager_beside_link)
                               : m_messages.eager_limit();
        // A message that is larger than a block cannot be one piece.
        m_eager = m_bytes <= limit && (m_bytes <= block_bytes || m_bytes == 0);
        if (m_bytes == 0) {
            auto& done = *std::exchange(m_open, nullptr);
            m_messages.send(m_space, m_rank, header(wire_header::kind::eager), {}, begin(0, done));
            leave_lines();
        } else if (m_eager) {
            std::exchange(m_open, nullptr)->finish({m_bytes, {}});
        } else {
            send_rts(block_bytes);
        }
    }

    void send_rts(std::size_t block_bytes) {
        m_requested = true;
        auto out = header(wire_header::kind::rts);
        out.block_bytes = block_bytes;
        out.abilities = m_abilities;
        out.device = m_device_here.uuid;
        if (out.has(wire_header::could_fill_device_window))
            m_messages.devices().show_filler(out.device, m_messages.job_rank(m_space, m_rank));
        m_messages.send(m_space, m_rank, out);
        leave_lines();
    }

    void received(const wire_header& answer) override {
        if (answer.what == wire_header::kind::grant) {
            // Before the first block's memory none is for another one.
            if (m_open == nullptr) granted(answer);
        } else if (m_open == nullptr) {
            give_up({status::peer_failed, 0, 0, "rank " + std::to_string(m_rank) + " gave up the receive"});
        } else if (answer.what == wire_header::kind::cts) {
            if (!m_requested || answer.block_bytes == 0 || answer.block_bytes > largest_block) {
                finish_open({0, misled("blocks of " + bytes_text(answer.block_bytes))});
                return;
            }
            m_data_tag = answer.data_tag;
            m_block_limit = answer.block_bytes;
            m_receiver = answer.receiver;
            const bool is_shared = answer.window.segment.process != 0 || answer.device_window != 0;
            if (is_shared) granted(answer);
            // Out of reach: the receiver sends another CTS, without its memory; or the transfer has failed.
            if (is_shared && !m_sharing) return;
            std::exchange(m_open, nullptr)->finish({m_bytes, {}});
        } else if (answer.what == wire_header::kind::refuse) {
            finish_open({0,
                         {status::message_truncated, 0, 0,
                          "the message of " + bytes_text(m_bytes) + " to rank " + std::to_string(m_rank) +
                              " with tag " + std::to_string(m_tag) + " met a receive of " + bytes_text(answer.bytes)}});
        } else {
            finish_open({0, {status::peer_failed, 0, 0, "rank " + std::to_string(m_rank) + " gave up the receive"}});
        }
    }

    /// The receiver has answered what no receive does.
    [[nodiscard]] failure misled(const std::string& by) const {
        return {status::peer_failed, 0, 0,
                "rank " + std::to_string(m_rank) + " has answered the message of " + bytes_text(m_bytes) +
                    " with tag " + std::to_string(m_tag) + " by what cannot be: " + by};
    }

    /// Whether memory of `available` bytes has room for the block that `got` grants some of, which has none yet.
    [[nodiscard]] bool fits(const wire_header& got, std::size_t available) const {
        return got.offset < m_bytes && got.offset % m_block_limit == 0 && grant_of(got.offset) == nullptr &&
               got.window.offset <= available && block_bytes(got.offset) <= available - got.window.offset;
    }

    [[nodiscard]] std::size_t block_bytes(std::size_t offset) const {
        return std::min(m_block_limit, m_bytes - std::min(offset, m_bytes));
    }

    /// Memory of the receiver for a block.
    void granted(const wire_header& got) {
        const bool is_first = got.what == wire_header::kind::cts;
        if (got.device_window != 0) {
            granted_on_device(got, is_first);
            return;
        }
        if (!is_first && !m_sharing) return; // sent before the other rank knew that its memory is out of reach
        auto window = m_can_share ? m_messages.shared().find(got.window.segment) : nullptr;
        if (window && !fits(got, window->bytes())) {
            mislead(is_first);
            return;
        }
        if (window) {
            m_sharing = true;
            auto* const memory = window->memory() + got.window.offset;
            if (!is_first) window->pin(m_device);
            m_granted.push_back({got.offset, memory, std::move(window), nullptr});
        } else if (is_first) {
            if (m_can_share) m_messages.peers().cannot_reach(m_space, m_rank);
            tell(wire_header::kind::plain, 0);
        } else {
            give_up({status::out_of_resources, 0, 0,
                     "memory of rank " + std::to_string(m_rank) + " for a block cannot be mapped"});
        }
        if (m_more) m_more();
    }

    void granted_on_device(const wire_header& got, bool is_first) {
        auto window = m_messages.devices().find(m_messages.job_rank(m_space, m_rank), got.device_window);
        if (window && !fits(got, window->bytes())) {
            mislead(is_first);
            return;
        }
        if (window) {
            m_sharing = m_on_device = true;
            auto* const memory = window->address() + got.window.offset;
            m_granted.push_back({got.offset, memory, nullptr, std::move(window)});
        } else {
            const failure lost{status::peer_failed, 0, 0,
                               "rank " + std::to_string(m_rank) + " grants memory of its device that is not open here"};
            tell(wire_header::kind::done, 0);
            is_first ? finish_open({0, lost}) : give_up(lost);
        }
        if (m_more) m_more();
    }

    /// Ends the send, as what the receiver grants is no memory for a block of it.
    void mislead(bool is_first) {
        tell(wire_header::kind::done, 0);
        const auto why = misled("memory outside of what it shares, or for no block");
        if (is_first) {
            finish_open({0, why});
        } else {
            give_up(why);
        }
    }

    struct grant {
        std::size_t offset;
        std::byte* memory;
        std::shared_ptr<mapped_window> window; // null if it is a device's
        std::shared_ptr<bridge::known_window> device_window;
    };
    [[nodiscard]] const grant* grant_of(std::size_t offset) const {
        const auto found = std::find_if(m_granted.begin(), m_granted.end(),
                                        [&](const auto& each) { return each.offset == offset; });
        return found != m_granted.end() ? &*found : nullptr;
    }

    /// The receiver will give no more memory, or take no more blocks.
    void give_up(const failure& why) {
        m_peer_error = why;
        if (m_more) m_more();
    }

    /// To the receive.
    void tell(wire_header::kind what, std::size_t offset) {
        auto out = header(what);
        out.receiver = m_receiver;
        out.offset = offset;
        m_messages.send(m_space, m_rank, out);
    }

    void send_failed(const failure& why) override {
        if (m_open != nullptr) finish_open({0, why});
    }

    void no_more_answers(const failure& why) override {
        if (m_open == nullptr) {
            m_no_more = why;
            if (m_more) m_more();
            return;
        }
        if (m_requested) m_messages.abandon(m_space, m_rank, header(wire_header::kind::abandon));
        finish_open({0, why});
    }

    void peer_gone(const failure& why, comm::loss how) override {
        give_up(why);
        m_gone = true;
        if (m_open != nullptr) {
            finish_open({0, why});
            return;
        }
        while (!m_sends.empty()) {
            auto& lost = m_sends.front();
            m_messages.port().abandon(lost);
            m_sends.put_away(m_sends.begin());
            lost.done->finish({0, why, how == comm::loss::out_of_reach});
        }
    }

    void let_go(int tag, const failure& why) override {
        if (tag != m_tag || !m_eager) return;
        give_up(why);
        while (!m_sends.empty()) m_messages.lose_message_of(m_sends.front(), why);
    }

    void finish_open(const transfer::outcome& result) {
        auto& done = *std::exchange(m_open, nullptr);
        end();
        done.finish(result);
    }

    void end() {
        leave_lines();
        if (m_number != 0) m_messages.end(std::exchange(m_number, 0));
        m_interest.reset();
    }

    messenger& m_messages;
    int m_space, m_rank, m_tag;
    transfer::turn m_gated_turn, m_turn;
    std::optional<messenger::interest> m_interest;
    step* m_open = nullptr;
    std::size_t m_bytes = 0;
    std::size_t m_sent = 0; // handed to MPI
    std::size_t m_block_limit = largest_block;
    std::uint64_t m_number = 0;
    int m_data_tag = 0;
    bool m_eager = false;
    bool m_requested = false;
    bool m_can_share = false; // the bytes go through staging memory
    std::uint64_t m_abilities = 0; // of the end that they come from
    bool m_sharing = false; // the receiver's memory, which it grants
    bool m_on_device = false; // and which is its device's
    transfer::device_name m_device_here;
    std::uint64_t m_receiver = 0;
    std::vector<grant> m_granted;
    std::shared_ptr<transfer::staging_allocator> m_device;
    std::function<void()> m_more;
    failure m_no_more; // why no more grants come
    bool m_gone = false;
    failure m_peer_error; // why no more blocks are sent
    block_sends m_sends;
};

} // namespace

std::unique_ptr<transfer::endpoint> make_send_endpoint(rank_services services, int space, int rank, int tag) {
    return std::make_unique<send_endpoint>(services, space, rank, tag);
}

} // namespace causeway::endpoints
