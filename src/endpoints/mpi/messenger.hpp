// SPDX-License-Identifier: Apache-2.0
// The protocol between ranks: announces messages, matches them, and agrees on how their bytes travel.
#pragma once

#include "base/options.hpp"
#include "comm/peer_liveness.hpp"
#include "comm/port.hpp"
#include "endpoints/mpi/device_exchange.hpp"
#include "endpoints/mpi/message_matcher.hpp"
#include "endpoints/mpi/peer_clocks.hpp"
#include "endpoints/mpi/peer_table.hpp"
#include "endpoints/mpi/windows.hpp"
#include "transfer/engine.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace causeway::endpoints {

/// The header of all messages of the protocol. They use the highest tag of their space (communicator).
///
/// A message of at most the eager limit is one `eager` with its bytes behind the header. A larger one begins with
/// `rts`. When its receive is there and holds memory for a block, it answers `cts` with the block size and a tag that
/// it picks. The blocks follow on that tag, in order. `refuse` answers a message that is too large. A sender that gives
/// up before `cts` says `withdraw` and hears `gone`. If it gives up later, or gets `cts` after all, it sends an empty
/// block. A receiver that gives up says `stop` and takes what still comes.
///
/// Two ranks of a node may share a window. Then `cts` names memory for the first block, and `grant` for each one after
/// it. The sender fills it and says `filled`. One that cannot reach that memory says `plain`, and hears another `cts`
/// without it. The sender writes to what was granted until it has sent `filled` for it, or `done` for all of it.
///
/// Devices meet in windows of device memory in the same way, with `device_window` instead of `window`, once the ranks
/// have such windows open (device_exchange.hpp).
///
/// If MPI refuses to send `eager`, `rts` or `cts`, the send or receive that it belongs to fails. Other messages are
/// repeated until MPI takes them, as the other rank waits for them. Receives on the highest tag are called listeners.
/// A rank whose listeners fail gets no more headers in that space. It says `abandon` for each RTS without an answer,
/// fails transfers that wait for an answer, and says `not_listening` to all. Transfers that have their CTS go on,
/// because they need no more answers.
///
/// No header is trusted: each number is checked before it is used. A wrong header fails its transfer, or is reported
/// and skipped if it belongs to none.
struct wire_header {
    enum class kind : std::uint16_t {
        eager = 1,
        rts,
        cts,
        refuse,
        withdraw,
        gone,
        stop,
        abandon,
        not_listening,
        grant,
        filled,
        plain,
        done
    };

    /// What an end of a message is, and can do.
    enum ability : std::uint64_t {
        is_device = 1, ///< of `rts` and `cts`
        maps_at_once = 2, ///< of `rts` and `cts`, if it is a device
        fills_window = 4, ///< of `rts`: can fill memory that the receiver shares
        could_fill_device_window = 8, ///< of `rts` and `eager`: the sender's device could, once ranks share a window
        fills_device_window = 16 ///< of `rts` and `eager`: the sender's device is going to
    };
    [[nodiscard]] static std::uint64_t of_end(bool device, bool maps) {
        std::uint64_t bits = 0;
        if (device || maps) bits |= is_device;
        if (maps) bits |= maps_at_once;
        return bits;
    }
    [[nodiscard]] bool has(ability which) const { return (abilities & which) != 0; }
    [[nodiscard]] end_kind end() const {
        if (!has(is_device)) return end_kind::host;
        return has(maps_at_once) ? end_kind::device_that_maps_at_once : end_kind::device;
    }

    std::uint32_t magic = 0xCA05E3A1;
    std::uint16_t version = 7;
    kind what = kind::eager;
    std::int32_t tag = 0; ///< the user's
    std::int32_t data_tag = 0; ///< of `cts`
    std::uint64_t bytes = 0;
    std::uint64_t block_bytes = 0;
    std::uint64_t sender = 0; ///< number of the send at its rank
    std::uint64_t receiver = 0; ///< number of the receive at its rank
    std::uint64_t node = 0; ///< of the sending rank
    std::uint64_t offset = 0; ///< in the message, of the block that `grant` and `filled` are about
    block_address window; ///< of `cts` and `grant`: the memory for a block
    std::uint64_t device_window = 0; ///< of `cts` and `grant`: key of a device's window; `window` has the offset there
    bridge::device_uuid device{}; ///< of `rts` and `eager`: the sender's
    std::int64_t sent_at = 0; ///< by the sending rank's clock, in nanoseconds; 0 unless it records a timeline
    std::int64_t least_transit = 0; ///< least time that a header took the other way, by both clocks, in ns; 0: unknown
    comm::socket_key key; ///< of the sending rank's sockets
    std::uint64_t abilities = 0; ///< of this end of the message: bits of `ability`
};
static_assert(sizeof(wire_header) == 160);

/// Bytes of the largest block of a message: MPI counts in int.
inline constexpr std::size_t largest_block = std::size_t{1} << 30;

/// The eager limit between devices with a direct link, in bytes. Larger messages are faster over the link; smaller ones
/// still leave before their receive comes, as programs expect of MPI.
inline constexpr std::size_t largest_eager_beside_link = std::size_t{4} << 10;

/// A send or receive under way with one other rank.
class exchange {
  public:
    virtual void received(const wire_header& header) = 0;
    /// MPI could not send the last header.
    virtual void send_failed(const failure& why) = 0;
    /// No answer comes any more: end what waits for one.
    virtual void no_more_answers(const failure& why) = 0;
    /// Called after call_again().
    virtual void again() {}
    /// The other rank is gone: end everything that waits for it.
    virtual void peer_gone(const failure& why, comm::loss how) = 0;
    /// The other rank may never take the message, if it is an eager one with `tag`: end it.
    virtual void let_go(int /*tag*/, const failure& /*why*/) {}

  protected:
    ~exchange() = default;
};

/// One for each engine; engine's thread only.
class messenger final : public transfer::progress_source {
  public:
    /// The options, the port and the windows outlive it. `node` names this rank's node, see peer_liveness::node().
    messenger(const options& settings, comm::port& port, windows::finder open = comm::shared_segment::open,
              std::uint64_t node = comm::peer_liveness::node(), bridge::windows* device_windows = nullptr);
    ~messenger() override;

    /// From now on the ranks of this node are watched.
    void watch_peers(std::unique_ptr<comm::peer_liveness> peers);

    /// From now on records the clocks of other ranks and the number of MPI requests in `to`, which outlives this.
    void record(transfer::recorder& to);

    [[nodiscard]] comm::port& port() { return m_port; }
    [[nodiscard]] message_matcher& matcher(int space);
    [[nodiscard]] std::size_t eager_limit() const { return m_options[option::eager]; }

    /// While one lives, the messenger polls.
    class interest {
      public:
        explicit interest(messenger& wanted) : m_wanted(wanted) { ++m_wanted.m_interests; }
        ~interest() { --m_wanted.m_interests; }
        interest(const interest&) = delete;
        interest& operator=(const interest&) = delete;

      private:
        messenger& m_wanted;
    };
    /// From the first call on receives the headers of other ranks in `space`.
    void listen(int space);
    /// Polls for a short time even without an interest, for messages that a gated receive may take early.
    void listen_for_a_while() {
        m_expecting = true;
        m_expect_until = {};
    }
    /// Why this rank or `peer` hears nothing in `space`, if so. `peer` may be any_source.
    [[nodiscard]] failure listening_failure(int space, int peer) const;
    /// Whether this rank itself hears others in `space`.
    [[nodiscard]] bool hears(int space) const;

    /// What is known of the other ranks.
    [[nodiscard]] peer_table& peers() { return m_known; }
    /// The time of the last poll.
    [[nodiscard]] time_point now() const { return m_now; }

    [[nodiscard]] windows& shared() { return m_windows; }
    [[nodiscard]] device_exchange& devices() { return m_devices; }
    [[nodiscard]] int job_rank(int space, int rank) const { return m_port.job_rank(space, rank); }
    /// Registers an exchange under a new number, which the other side's answers carry. `matched`: for a receive, the
    /// number of the send that it has matched.
    [[nodiscard]] std::uint64_t begin(exchange& which, int space, int peer, std::uint64_t matched = 0);
    void end(std::uint64_t number);
    /// Takes the memory of an eager message's bytes back for reuse.
    void has_used(std::vector<std::byte> payload);

    /// Sends `header` to `rank`. If MPI refuses an `rts` or `cts`, its exchange gets send_failed(); others are
    /// repeated.
    void send(int space, int rank, const wire_header& header);
    /// Sends `header` with `payload` behind it. Copies both. `done` is over when MPI has sent them, or cannot.
    void send(int space, int rank, const wire_header& header, std::span<const std::byte> payload,
              comm::operation& done);
    /// Sends the empty block that tells a receive that no more blocks come. Repeated if MPI refuses it.
    void release(int space, int rank, int data_tag);

    /// Calls again() of an exchange a little later.
    void call_again(std::uint64_t number) { m_again.push_back(number); }

    /// Takes back the RTS `header`. Its exchange may end: the messenger handles the other rank's answer.
    void withdraw(int space, int rank, wire_header header);
    /// As withdraw(), where this rank can hear no answer any more.
    void abandon(int space, int rank, wire_header header);

    /// A tag on which nothing else comes from `source` until it is given back.
    [[nodiscard]] int take_data_tag(int space, int source);
    void give_data_tag(int space, int source, int tag);

    /// Ends all exchanges with a rank of the job.
    void rank_gone(int job_rank);
    /// Who uses `space` has lost `rank`. Exchanges with it there that begin from now on fail with `why`. Those under
    /// way do so when what that rank sent before has had time to come. If it may live, staging memory that MPI has for
    /// its bytes is never used again.
    void peer_lost(int space, int rank, const failure& why, comm::loss how);
    /// Keeps for good what MPI may still write to.
    void keep(std::vector<std::byte> memory) { m_kept.push_back(std::move(memory)); }
    /// Ends the eager messages with `tag` to a rank that may never take them, and waits no more for its answers to what
    /// was withdrawn. They may arrive all the same.
    void let_go(int space, int rank, int tag, const failure& why);
    /// Ends `done` of a message that MPI still has. Its memory is kept, because MPI may still read it.
    void lose_message_of(const comm::operation& done, const failure& why);

    /// The program frees the communicator: stops listening in `space`.
    void close(int space);
    /// MPI ends: so does everything that is under way, and nothing is polled any more.
    void close_all();

    bool poll(time_point now) override;
    bool trim(time_point now) override;
    /// True if nothing is under way that other ranks still have to receive or answer.
    [[nodiscard]] bool quiet() const {
        return m_sends_under_way == 0 && m_interests == 0 && m_refused.empty() && m_withdrawn.empty();
    }
    [[nodiscard]] bool busy() const override { return !m_ended && (m_expecting || !m_ending.empty() || !quiet()); }

  private:
    struct control_send;
    struct listener;
    struct space_state;

    space_state& at(int space);
    void take_arrived(space_state& where);
    void stop_listening(space_state& where);
    /// The listeners of `where` have failed.
    void go_deaf(space_state& where, const failure& cause);
    /// `rank` has sent `not_listening`.
    void ignored_by(space_state& where, int rank);
    void given_up(space_state& where, int source, std::uint64_t sender);
    [[nodiscard]] std::unique_ptr<control_send> new_control_send(int space, int rank, int tag);
    [[nodiscard]] std::unique_ptr<control_send> make_control_send(int space, int rank, wire_header header,
                                                                  std::span<const std::byte> payload);
    void start(std::unique_ptr<control_send> made);
    void refused(std::unique_ptr<control_send> what, const failure& why);
    void repeat(time_point now);
    /// Gives up messages that nobody receives. Their memory is kept, because MPI may still read it.
    template <class Which> void lose(Which which, const failure& why);
    /// Ends what there is with ranks for which `is_gone` holds, by space and rank: messages by `lost`, exchanges by
    /// `why`.
    template <class Which> void end_all_with(Which is_gone, comm::loss how, const failure& lost,
                                             const std::function<failure(int)>& why);
    /// True for a header to the other rank's listeners, false for a block.
    [[nodiscard]] bool is_header(const control_send& which) const;
    /// Ends what waits in `space` for answers of `rank`, or of anybody.
    void end_waiting(int space, std::optional<int> rank, const failure& why);
    void take(space_state& where, int source, std::span<const std::byte> bytes);
    /// What is wrong with a header; null if nothing is. A message with a wrong header could match anything, or nothing.
    [[nodiscard]] const char* fault_of(const wire_header& header, std::size_t payload_bytes) const;
    /// The exchange with `number`; null if `source` in `space` is not its other side.
    [[nodiscard]] exchange* find(std::uint64_t number, int space, int source) const;
    void check_peers(time_point now);
    void end_exchanges_with_lost(time_point now);

    const options& m_options;
    comm::port& m_port;
    windows m_windows;
    device_exchange m_devices;
    peer_table m_known;
    std::map<int, std::unique_ptr<space_state>> m_spaces;
    struct known_exchange {
        exchange* which;
        int space, peer;
        std::uint64_t matched;
    };
    std::map<std::uint64_t, known_exchange> m_exchanges;
    decltype(m_exchanges)::node_type m_spare_exchange; // of one that ended, for the next
    std::uint64_t m_next_number = 1;
    std::size_t m_interests = 0;
    std::size_t m_sends_under_way = 0;
    bool m_expecting = false;
    time_point m_expect_until; // 0: from the next poll on
    std::vector<control_send*> m_control_sends; // under way
    std::vector<std::unique_ptr<control_send>> m_idle_sends; // small ones that are over, for reuse
    std::vector<std::vector<std::byte>> m_spare_payloads; // of messages that have been taken, likewise
    std::vector<std::unique_ptr<control_send>> m_refused; // by MPI, to be repeated
    std::vector<std::unique_ptr<control_send>> m_lost;
    std::vector<std::uint64_t> m_again;
    time_point m_next_repeat;
    struct recipient {
        int space, rank, tag;
    };
    std::map<std::uint64_t, recipient> m_withdrawn; // sends whose answer is still to come
    bool m_ended = false; // MPI is gone
    transfer::recorder* m_recorder = nullptr;
    std::optional<peer_clocks> m_clocks; // if it records
    std::size_t m_requests_told = 0;
    std::unique_ptr<comm::peer_liveness> m_peers;
    comm::socket_key m_key; // of the process's sockets; none if no peers are watched
    time_point m_now;
    std::uint64_t m_node;
    time_point m_next_check;
    std::set<int> m_gone; // ranks of the job, seen gone at an earlier check
    struct ending_peer {
        int space, rank;
        comm::loss how;
        failure why;
        time_point when; // to end exchanges with it; 0: not known before the next poll
    };
    std::vector<ending_peer> m_ending;
    std::vector<std::vector<std::byte>> m_kept; // see keep()
};

} // namespace causeway::endpoints
