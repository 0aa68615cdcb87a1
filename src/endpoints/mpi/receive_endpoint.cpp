// SPDX-License-Identifier: Apache-2.0
// The source of a receive: a message from another rank.
#include "endpoints/mpi/rank_endpoint.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <tuple>
#include <vector>

namespace causeway::endpoints {

namespace {

using transfer::step;

class receive_endpoint final : public transfer::endpoint,
                               transfer::waiting_end,
                               transfer::early_source,
                               transfer::window_source,
                               transfer::message_end,
                               private receiver,
                               private exchange {
  public:
    receive_endpoint(rank_services services, int space, int source, int tag, std::shared_ptr<matched_envelope> envelope)
        : m_messages(services.messages), m_space(space), m_wanted(source), m_source(source), m_tag(tag),
          m_envelope(std::move(envelope)) {}

    ~receive_endpoint() {
        leave_line();
        end();
        m_messages.has_used(std::move(m_message.payload));
    }

    [[nodiscard]] transfer::endpoint_traits traits() const override {
        const auto near = m_messages.peers().near_sender(m_space, m_source);
        return {.kind = transfer::medium::rank,
                .sets_size = true,
                .waits = transfer::staging_share::waits_for::sender,
                .largest_block = largest_block,
                .resource = m_messages.peers().resource_of(m_space, m_source),
                .is_near_device = near != end_kind::host,
                .is_near_in_place = near == end_kind::device_that_maps_at_once};
    }
    [[nodiscard]] std::string name() const override { return "rank " + std::to_string(m_source); }
    [[nodiscard]] std::string partner() const override {
        const auto sender = m_source == comm::any_source ? "any rank" : name();
        const auto tag = m_tag == any_tag ? "any tag" : "tag " + std::to_string(m_tag);
        return sender + " to send with " + tag;
    }
    [[nodiscard]] transfer::abilities offers() override {
        return {.waits = this, .early = this, .leaves = this, .message = this};
    }
    [[nodiscard]] std::size_t block_limit() const override {
        return m_message.eager ? m_message.bytes : m_message.block_bytes;
    }

    void enqueued() override {
        m_in_line = true;
        m_messages.matcher(m_space).enter(*this, m_wanted, m_tag);
    }

    void abandoned() override {
        m_open = nullptr;
        m_abandoned = true;
        if (!m_receives.empty() || !m_grants.empty() || m_refused_step != nullptr) {
            m_interest.emplace(m_messages); // put back when the block has come
        } else if (m_matched && (is_whole() || (!m_sent_cts && !m_peer_error))) {
            put_back();
        } else {
            leave_line();
        }
    }

    void open(const transfer::open_request& request, step& done) override {
        m_gated = request.ahead;
        m_messages.listen(m_space);
        m_capacity = request.bytes;
        m_block_bytes = request.block_bytes;
        m_may_share = m_asked_to_share = request.window;
        m_abilities = wire_header::of_end(request.other.is_device, request.other.maps_at_once);
        m_open = &done;
        m_number = m_messages.begin(*this, m_space, m_source);
        if (m_gated) {
            m_messages.listen_for_a_while();
            m_messages.matcher(m_space).open_early(*this);
        } else {
            m_interest.emplace(m_messages);
            m_messages.matcher(m_space).open(*this);
            fail_if_deaf();
        }
    }

    [[nodiscard]] bool reads_ahead() override { return true; }
    void read_ahead(std::size_t offset, transfer::block_reference block, step& done) override {
        read(offset, block, done);
    }

    void open_later(step& done) override {
        if (m_data_tag != 0) m_messages.give_data_tag(m_space, m_source, std::exchange(m_data_tag, 0));
        m_open = &done;
    }

    void gates_opened() override {
        m_gated = false;
        m_interest.emplace(m_messages);
        if (m_matched) publish();
        if (m_in_line) {
            m_in_line = !m_matched;
            m_messages.matcher(m_space).open(*this);
        }
        if (m_matched && m_open != nullptr) settle();
        fail_if_deaf();
    }

    [[nodiscard]] std::byte* memory() const override {
        return m_message.eager ? const_cast<std::byte*>(m_message.payload.data()) : nullptr;
    }

    [[nodiscard]] std::shared_ptr<transfer::staging_allocator>
    allocator(const std::shared_ptr<transfer::staging_allocator>& other) override {
        if (m_may_share && m_message.window && !m_sharing) {
            m_sharing = m_messages.shared().allocator_for(other, std::min(m_block_bytes, m_message.block_bytes));
            m_may_share = m_sharing != nullptr; // what cannot be made now comes as a message
        }
        return m_sharing;
    }
    [[nodiscard]] bool shares_memory() const override { return m_sharing != nullptr || m_device.first != nullptr; }

    [[nodiscard]] bool reaches(const transfer::device_name&) const override {
        if (m_wanted == comm::any_source) return false;
        m_messages.devices().look();
        return m_messages.devices().may_fill(m_messages.job_rank(m_space, m_wanted));
    }
    [[nodiscard]] bool use(const transfer::device_memory& window) override {
        auto& devices = m_messages.devices();
        devices.look();
        const int sender = m_messages.job_rank(m_space, m_source);
        devices.offer(sender, window.first); // for the next message
        if (m_message.eager || !m_message.has_device) return false;
        if (!devices.is_filled_by(sender, m_message.device, window.first) || !m_message.device_window) return false;
        m_device = window;
        return true;
    }

    std::size_t prepare(std::size_t block_bytes) override {
        if (m_message.eager || m_peer_error) return block_bytes;
        m_block_bytes = block_bytes;
        if (!shares_memory()) send_cts(answer(wire_header::kind::cts));
        return block_bytes;
    }

    void read(std::size_t offset, transfer::block_reference block, step& done) override {
        if (m_message.eager) {
            std::memcpy(block.data(), m_message.payload.data() + offset, block.size());
            done.finish({block.size(), {}});
        } else if (m_peer_error) {
            done.finish({0, m_peer_error});
        } else if (m_refused) {
            // This receive would get the bytes of the one that MPI refused.
            done.finish({0, m_refused});
        } else if (shares_memory()) {
            m_first_block = block;
            grant(offset, block, done);
        } else {
            m_first_block = block;
            m_receives.push_back(std::make_unique<block_receive>(*this, block.size(), &done));
            post(block.host());
        }
    }

    [[nodiscard]] transfer::message_identity message_moved() const override {
        return {m_messages.port().job_rank(m_space, m_source), m_message.sender};
    }

    void cancel() override {
        if (m_open == nullptr) return;
        leave_line();
        finish_open({0, {status::cancelled, 0, 0, "the transfer was cancelled"}});
    }

    void close(std::size_t, const failure& error, step& done) override {
        if (!m_message.eager && error && m_posted < m_message.bytes && !m_peer_error) {
            m_messages.send(m_space, m_source, answer(wire_header::kind::stop));
            // The sender has reported on each block of shared memory, or the reads would not be over.
            if (m_sent_cts && !shares_memory()) {
                m_draining = &done;
                m_scratch.resize(m_block_bytes);
                drain();
                return;
            }
        }
        end();
        done.finish({});
    }

  private:
    struct block_receive final : comm::operation {
        block_receive(receive_endpoint& owner, std::size_t size, step* told) : self(owner), bytes(size), done(told) {}
        void over(const comm::arrival& result) override { self.block_over(*this, result); }
        receive_endpoint& self;
        std::size_t bytes;
        step* done; // null for a block that is drained
    };

    /// A block of shared memory that the sender may write to.
    struct block_grant {
        std::size_t offset;
        transfer::block_reference block;
        step* done;
    };

    /// `out` names the memory of the first block, if it is shared.
    void send_cts(wire_header out) {
        m_sent_cts = true;
        out.data_tag = m_data_tag;
        out.abilities = m_abilities;
        out.block_bytes = m_block_bytes;
        m_messages.send(m_space, m_source, out);
    }

    void grant(std::size_t offset, transfer::block_reference block, step& done) {
        auto out = answer(m_sent_cts ? wire_header::kind::grant : wire_header::kind::cts);
        out.offset = offset;
        if (m_device.first != nullptr) {
            std::tie(out.device_window, out.window.offset) = m_messages.devices().address_of(block.address());
        } else {
            out.window = m_sharing->address_of(block.data());
        }
        m_posted += block.size();
        m_grants.push_back({offset, block, &done});
        if (m_sent_cts) {
            m_messages.send(m_space, m_source, out);
        } else {
            send_cts(out);
        }
    }

    void filled(std::size_t offset) {
        const auto found = std::find_if(m_grants.begin(), m_grants.end(),
                                        [&](const auto& each) { return each.offset == offset; });
        if (found == m_grants.end()) return;
        const auto over = *found;
        m_grants.erase(found);
        m_received = true;
        if (m_abandoned) put_back();
        over.done->finish({over.block.size(), {}});
    }

    enum class sender { is_done, may_still_write };

    /// Ends the reads of shared memory.
    void end_grants(const failure& why, sender state) {
        for (const auto& each : std::exchange(m_grants, {})) {
            if (auto* const memory = shared_memory(); memory != nullptr && state == sender::may_still_write)
                memory->give_up(each.block.address());
            each.done->finish({0, why});
        }
    }

    /// Null if it is the target's own bytes.
    [[nodiscard]] transfer::staging_allocator* shared_memory() {
        return m_device.first != nullptr ? m_device.allocator.get() : m_sharing.get();
    }

    /// The sender cannot reach our memory: what it was to fill comes as messages.
    void receive_plainly() {
        if (!m_sharing) return; // memory of a device is out of reach for messages, and opened before it is granted
        m_messages.peers().cannot_share(m_space, m_source);
        m_sharing = nullptr;
        for (const auto& each : std::exchange(m_grants, {})) {
            m_posted -= each.block.size();
            m_receives.push_back(std::make_unique<block_receive>(*this, each.block.size(), each.done));
            post(each.block.host());
        }
        send_cts(answer(wire_header::kind::cts));
    }

    /// Posts the last receive of the list.
    void post(std::span<std::byte> block) {
        m_posted += block.size();
        m_posting = true;
        m_messages.port().receive(m_space, m_source, m_data_tag, block, *m_receives.back());
        m_posting = false;
    }

    /// Blocks that wait for one another, behind the first one that came.
    void note_pace(std::size_t bytes) {
        constexpr unsigned enough = 4;
        const auto all = m_messages.peers().block_came(m_space, m_source, bytes);
        if (m_came++ == 0) {
            m_first_came = m_messages.now();
            m_all_before = all;
            return;
        }
        if (m_came > enough && m_posted == m_message.bytes && m_receives.empty())
            m_messages.peers().blocks_came(m_space, m_source, all - m_all_before, m_messages.now() - m_first_came);
    }

    [[nodiscard]] wire_header answer(wire_header::kind what) const {
        return {.what = what, .tag = m_message.tag, .sender = m_message.sender, .receiver = m_number};
    }

    void matched(message&& found) override {
        m_matched = true;
        m_in_line = m_gated;
        m_message = std::move(found);
        m_source = m_message.source;
        m_messages.end(m_number);
        m_number = m_messages.begin(*this, m_space, m_source, m_message.sender);
        if (!m_gated) publish();
        // One that is too large is refused when the receive starts, and one of several blocks cannot be put back.
        if (!m_gated || (m_message.fault == nullptr && m_message.bytes <= std::min(m_capacity, m_block_bytes)))
            settle();
    }

    bool withdrawn() override {
        if (m_open == nullptr) return false; // its CTS is out
        m_matched = false;
        m_sharing = nullptr; // the next message may not come through memory that is shared
        m_may_share = m_asked_to_share;
        m_source = m_wanted;
        m_messages.end(m_number);
        m_number = m_messages.begin(*this, m_space, m_source);
        return true;
    }

    /// The transfer never starts, but has its message: as if it had stayed in line.
    void put_back() {
        m_in_line = false;
        if (m_received) {
            m_message.payload.assign(m_first_block.begin(), m_first_block.end());
            m_message.eager = true;
        }
        m_messages.matcher(m_space).put_back(*this, std::move(m_message));
    }

    void publish() {
        if (!m_envelope) return;
        m_envelope->source = m_message.source;
        m_envelope->tag = m_message.tag;
    }

    /// A message that is there already needs nobody who hears.
    void fail_if_deaf() {
        if (m_open == nullptr) return;
        if (const auto failed = m_messages.listening_failure(m_space, m_source)) no_more_answers(failed);
    }

    /// Takes or refuses the message.
    void settle() {
        if (m_message.fault != nullptr) {
            if (!m_message.eager) m_messages.send(m_space, m_source, answer(wire_header::kind::stop));
            finish_open({0,
                         {status::peer_failed, 0, 0,
                          "the message from rank " + std::to_string(m_source) + " with tag " +
                              std::to_string(m_message.tag) + " has " + m_message.fault}});
            return;
        }
        if (m_message.bytes > m_capacity) {
            if (!m_message.eager) {
                auto out = answer(wire_header::kind::refuse);
                out.bytes = m_capacity;
                m_messages.send(m_space, m_source, out);
            }
            finish_open({0,
                         {status::message_truncated, 0, 0,
                          "the message of " + bytes_text(m_message.bytes) + " from rank " + std::to_string(m_source) +
                              " with tag " + std::to_string(m_message.tag) + " is larger than the receive of " +
                              bytes_text(m_capacity)}});
            return;
        }
        if (!m_message.eager) {
            try {
                m_data_tag = m_messages.take_data_tag(m_space, m_source);
            } catch (const transfer_error&) {
                if (m_gated) return; // later there may be one
                m_messages.send(m_space, m_source, answer(wire_header::kind::stop));
                finish_open({0, current_failure()});
                return;
            }
        }
        std::exchange(m_open, nullptr)->finish({m_message.bytes, {}});
    }

    /// Answers go to senders; a receive only gets `filled`, or that its sender gave up and could not get its CTS.
    void received(const wire_header& header) override {
        switch (header.what) {
        case wire_header::kind::filled: filled(header.offset); break;
        case wire_header::kind::plain: receive_plainly(); break;
        default: end_receives(given_up(), sender::is_done);
        }
    }

    void send_failed(const failure& why) override {
        m_messages.send(m_space, m_source, answer(wire_header::kind::stop));
        // If the sender has got it after all, blocks may come on this tag for ever.
        m_data_tag = 0;
        m_sent_cts = false;
        end_receives(why, sender::may_still_write);
    }

    void no_more_answers(const failure& why) override {
        if (m_open != nullptr) {
            lose_message(why);
        } else if (shares_memory() && m_sent_cts && !m_messages.hears(m_space)) {
            // This rank no longer gets what the sender reports of our memory. (A sender without listeners sends
            // `done`.)
            m_messages.send(m_space, m_source, answer(wire_header::kind::stop));
            end_receives(why, sender::may_still_write);
        } else if (!m_sent_cts && !m_message.eager) {
            m_peer_error = why;
        }
    }

    void again() override {
        if (m_draining != nullptr && m_receives.empty()) drain();
        if (auto* const done = std::exchange(m_refused_step, nullptr)) {
            m_receives.push_back(std::make_unique<block_receive>(*this, m_first_block.size(), done));
            post(m_first_block.host());
        }
    }

    [[nodiscard]] failure given_up() const {
        return {status::peer_failed, 0, 0, "rank " + std::to_string(m_source) + " gave up the send"};
    }

    void block_over(block_receive& which, const comm::arrival& result) {
        const auto expected = which.bytes;
        auto* const done = which.done;
        std::erase_if(m_receives, [&](const auto& each) { return each.get() == &which; });
        failure error = result.error;
        if (error && m_posting) {
            m_posted -= expected; // the block is still to come
            if (m_gated && done != nullptr) {
                // Nothing may fail before the transfer starts, and the sender waits until the block is taken.
                m_refused_step = done;
                m_messages.call_again(m_number);
                return;
            }
            m_refused = error;
        }
        if (!error && result.cancelled) error = m_peer_error;
        if (!error && result.bytes != expected) {
            error = given_up();
            // No more blocks come: the receives behind this one would wait for ever.
            if (!m_peer_error) end_receives(error, sender::is_done);
        }
        m_received = !error;
        if (!error) note_pace(expected);
        if (m_abandoned && error) leave_line();
        if (m_abandoned && !error) put_back();
        if (done != nullptr) {
            done->finish({error ? 0 : expected, error});
        } else if (error && m_posting) {
            m_messages.call_again(m_number); // the sender waits until the block is taken
        } else if (error || m_peer_error) {
            finish_draining();
        } else {
            drain();
        }
    }

    void end_receives(const failure& why, sender state) {
        m_peer_error = why;
        if (m_abandoned && !m_grants.empty()) leave_line();
        end_grants(why, state);
        // One that is cancelled leaves the list.
        std::vector<block_receive*> posted;
        for (const auto& each : m_receives) posted.push_back(each.get());
        for (auto* const each : posted) m_messages.port().cancel_receive(*each);
        if (auto* const done = std::exchange(m_refused_step, nullptr)) done->finish({0, why});
        if (m_receives.empty()) finish_draining();
    }

    /// All of the message is here, whatever becomes of its sender.
    [[nodiscard]] bool is_whole() const { return m_message.eager || (m_received && m_posted == m_message.bytes); }

    void peer_gone(const failure& why, comm::loss how) override {
        if (m_matched && m_message.eager) return;
        if (m_open != nullptr) {
            lose_message(why);
            return;
        }
        end_receives(why, sender::may_still_write);
        if (m_abandoned) leave_line();
        // A message had met these, and the rest of it never comes.
        const auto stuck = std::exchange(m_receives, {});
        const bool may_come = how == comm::loss::out_of_reach;
        for (const auto& each : stuck) {
            m_messages.port().abandon(*each);
            if (each->done != nullptr) {
                each->done->finish({0, why, may_come});
            } else { // of these there is one
                if (may_come) m_messages.keep(std::exchange(m_scratch, {}));
                finish_draining();
            }
        }
    }

    /// Takes the blocks that the sender has under way and throws them away.
    void drain() {
        const auto left = m_message.bytes - m_posted;
        if (left == 0) {
            finish_draining();
            return;
        }
        const auto bytes = std::min(left, m_block_bytes);
        m_receives.push_back(std::make_unique<block_receive>(*this, bytes, nullptr));
        post(std::span(m_scratch).first(bytes));
    }

    void finish_draining() {
        if (m_draining == nullptr) return;
        auto& done = *std::exchange(m_draining, nullptr);
        end();
        done.finish({});
    }

    void finish_open(const transfer::outcome& result) {
        auto& done = *std::exchange(m_open, nullptr);
        end();
        done.finish(result);
    }

    /// What is announced never comes.
    void lose_message(const failure& why) {
        m_matched = m_matched && m_message.eager;
        leave_line();
        finish_open({0, why});
    }

    void leave_line() {
        if (std::exchange(m_in_line, false)) m_messages.matcher(m_space).leave(*this);
    }

    void end() {
        if (m_data_tag != 0) m_messages.give_data_tag(m_space, m_source, std::exchange(m_data_tag, 0));
        if (m_number != 0) m_messages.end(std::exchange(m_number, 0));
        m_interest.reset();
    }

    messenger& m_messages;
    int m_space;
    int m_wanted; // may be any_source
    int m_source; // of the message, once it is matched
    int m_tag;
    std::shared_ptr<matched_envelope> m_envelope;
    std::optional<messenger::interest> m_interest;
    step* m_open = nullptr;
    step* m_draining = nullptr;
    bool m_in_line = false;
    bool m_gated = false; // opened, but the transfer has not started
    bool m_matched = false;
    bool m_sent_cts = false;
    bool m_received = false; // the last block that was posted has come
    bool m_abandoned = false;
    step* m_refused_step = nullptr; // of a block that MPI refused to receive while gated
    std::size_t m_capacity = 0;
    std::size_t m_block_bytes = 0;
    std::size_t m_posted = 0;
    unsigned m_came = 0; // blocks
    time_point m_first_came; // when
    std::uint64_t m_all_before = 0; // bytes of all messages, with that one
    std::uint64_t m_number = 0;
    int m_data_tag = 0;
    message m_message;
    failure m_peer_error; // no more blocks come
    failure m_refused; // by MPI: a receive of a block
    bool m_posting = false;
    transfer::block_reference m_first_block; // the whole message, if it was received while gated
    std::vector<std::byte> m_scratch;
    std::vector<std::unique_ptr<block_receive>> m_receives;
    bool m_may_share = false, m_asked_to_share = false; // blocks go through staging memory
    std::uint64_t m_abilities = 0; // of the end that they go to
    std::shared_ptr<window_allocator> m_sharing; // whose memory the sender fills, if it does
    transfer::device_memory m_device; // the same in memory of our device
    std::vector<block_grant> m_grants;
};

} // namespace

std::unique_ptr<transfer::endpoint> make_receive_endpoint(rank_services services, int space, int source, int tag,
                                                          std::shared_ptr<matched_envelope> envelope) {
    return std::make_unique<receive_endpoint>(services, space, source, tag, std::move(envelope));
}

} // namespace causeway::endpoints
