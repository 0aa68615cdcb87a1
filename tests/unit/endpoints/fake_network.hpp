// SPDX-License-Identifier: Apache-2.0
// Ranks in one process whose messages the test delivers one by one, in any order that MPI allows.
#pragma once

#include "comm/port.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace unit {

using namespace causeway;

class fake_network {
  public:
    explicit fake_network(int ranks) {
        for (int i = 0; i < ranks; ++i) m_ports.push_back(std::make_unique<fake_port>(*this, i));
    }

    [[nodiscard]] comm::port& port(int rank) { return *m_ports[static_cast<std::size_t>(rank)]; }

    /// Messages under way that may arrive next: all but those behind another of the same pair and tag.
    [[nodiscard]] std::size_t deliverable() const { return candidates().size(); }
    void deliver(std::size_t choice) {
        auto& which = *candidates()[choice];
        which.arrived = true;
        if (m_tamper && which.tag == said_on) m_tamper(which.bytes);
        auto& to = *m_ports[static_cast<std::size_t>(which.to)];
        to.arrived.push_back(&which);
        to.match();
    }
    /// Headers (not blocks) are changed by `how` on its way.
    void tamper(std::function<void(std::vector<std::byte>&)> how) { m_tamper = std::move(how); }
    /// `from` says `bytes` to `to`, whatever its messenger thinks.
    void inject(int from, int to, std::vector<std::byte> bytes) {
        m_messages.push_back(std::make_unique<message>(message{from, to, said_on, std::move(bytes), nullptr}));
    }
    /// Nothing from or to this rank arrives any more.
    void kill(int rank) {
        m_dead = rank;
        for (auto& each : m_messages)
            if ((each->from == rank || each->to == rank) && !each->arrived) each->arrived = each->lost = true;
    }
    /// Gives back the memory of what will never arrive, as MPI does when the process ends.
    void forget_undelivered() {
        for (auto& each : m_messages) {
            if (each->lost && each->sender != nullptr)
                m_ports[static_cast<std::size_t>(each->from)]->over.emplace_back(each->sender, comm::arrival{});
            each->sender = nullptr;
        }
    }
    /// Blocks (not headers) that `rank` expects have begun to come, and their receives cannot be cancelled.
    void begin_blocks(int rank) {
        for (auto& each : at(rank).receives) each.is_matched = each.tag != said_on;
    }
    /// What MPI may do with receives that it was told to forget. Returns how many there are.
    std::size_t write_to_abandoned() {
        std::size_t count = 0;
        for (const auto& each : m_ports)
            for (const auto& memory : each->abandoned) {
                std::fill(memory.begin(), memory.end(), std::byte{0xee});
                ++count;
            }
        return count;
    }
    /// Of the calls that `rank` makes from now on, those from `first` to before `end` fail and do nothing.
    void refuse_sends(int rank, int first, int end) { at(rank).sends = {0, first, end}; }
    void refuse_receives(int rank, int first, int end) { at(rank).posts = {0, first, end}; }
    /// As refuse_sends(), but the call succeeds, and the operation ends with an error.
    void lose_sends(int rank, int first, int end) { at(rank).losses = {0, first, end}; }
    /// Of the open receives of `rank`, the oldest one on `tag` ends with an error.
    void break_receive(int rank, int tag) {
        auto& where = at(rank);
        const auto found = std::find_if(where.receives.begin(), where.receives.end(),
                                        [&](const auto& each) { return each.tag == tag; });
        where.over.emplace_back(found->done, comm::arrival{.error = broken()});
        where.receives.erase(found);
    }
    /// Blocks (not headers) that `rank` receives end with an error; the message is consumed.
    void spoil_blocks(int rank) { at(rank).spoil = true; }
    static constexpr int error_class = 16;
    static constexpr int said_on = 100; // tag

    [[nodiscard]] std::size_t open_receives(int rank) const {
        return m_ports[static_cast<std::size_t>(rank)]->receives.size();
    }
    /// Messages that arrived and that nobody receives.
    [[nodiscard]] std::size_t unexpected(int rank) const {
        return m_ports[static_cast<std::size_t>(rank)]->arrived.size();
    }

  private:
    struct fake_port;
    fake_port& at(int rank) { return *m_ports[static_cast<std::size_t>(rank)]; }

    struct message {
        int from, to, tag;
        std::vector<std::byte> bytes;
        comm::operation* sender;
        bool arrived = false, lost = false;
    };
    struct posted {
        int source, tag;
        std::span<std::byte> bytes;
        comm::operation* done;
        bool is_matched = false; // by a message that has not come whole
    };

    static failure broken() { return {status::peer_failed, 0, error_class, "broken by the test"}; }

    struct refusals {
        int calls = 0, first = 0, end = 0;
        bool next() {
            const int number = calls++;
            return number >= first && number < end;
        }
    };

    /// A send is over when its message has met a receive, as with MPI's synchronous mode: the hardest case.
    struct fake_port final : comm::port {
        fake_port(fake_network& network, int rank) : net(network), self(rank) {}
        void send(int, int destination, int tag, std::span<const std::byte> bytes, comm::operation& done) override {
            if (sends.next()) return done.over({.error = broken()});
            if (losses.next()) {
                over.emplace_back(&done, comm::arrival{.error = broken()});
                return;
            }
            net.m_messages.push_back(
                std::make_unique<message>(message{self, destination, tag, {bytes.begin(), bytes.end()}, &done}));
            if (destination == net.m_dead) net.m_messages.back()->arrived = net.m_messages.back()->lost = true;
        }
        void receive(int, int source, int tag, std::span<std::byte> bytes, comm::operation& done) override {
            if (posts.next()) return done.over({.error = broken()});
            receives.push_back({source, tag, bytes, &done});
            match();
        }
        void cancel_receive(comm::operation& done) override {
            const auto found = std::find_if(receives.begin(), receives.end(),
                                            [&](const auto& each) { return each.done == &done; });
            if (found == receives.end() || found->is_matched) return;
            receives.erase(found);
            done.over({.cancelled = true});
        }
        void abandon(comm::operation& done) override {
            for (auto& each : net.m_messages)
                if (each->sender == &done) each->sender = nullptr;
            std::erase_if(receives, [&](const auto& each) {
                if (each.done != &done) return false;
                abandoned.push_back(each.bytes);
                return true;
            });
            std::erase_if(over, [&](const auto& each) { return each.first == &done; });
        }
        bool poll() override {
            bool progress = false;
            while (!over.empty()) {
                auto [done, result] = over.front();
                over.pop_front();
                progress = true;
                done->over(result);
            }
            return progress;
        }
        [[nodiscard]] bool busy() const override { return true; }
        [[nodiscard]] int largest_tag() const override { return said_on; }
        [[nodiscard]] int ranks(int) const override { return static_cast<int>(net.m_ports.size()); }
        [[nodiscard]] int own_rank(int) const override { return self; }
        [[nodiscard]] int job_rank(int, int rank) const override { return rank; }

        void match() {
            for (auto each = arrived.begin(); each != arrived.end();) {
                auto& which = **each;
                const auto fit = std::find_if(receives.begin(), receives.end(), [&](const auto& wanted) {
                    return (wanted.source == comm::any_source || wanted.source == which.from) &&
                           wanted.tag == which.tag;
                });
                if (fit == receives.end()) {
                    ++each;
                    continue;
                }
                comm::arrival result{.source = which.from, .tag = which.tag, .bytes = which.bytes.size()};
                if (spoil && which.tag != said_on) {
                    result.error = broken();
                } else if (which.bytes.size() > fit->bytes.size()) {
                    result.error = {status::peer_failed, 0, 15, "truncated"};
                    result.too_long = true;
                } else {
                    std::copy(which.bytes.begin(), which.bytes.end(), fit->bytes.begin());
                }
                over.emplace_back(fit->done, result);
                receives.erase(fit);
                auto& from = *net.m_ports[static_cast<std::size_t>(which.from)];
                if (which.sender != nullptr) from.over.emplace_back(which.sender, comm::arrival{});
                each = arrived.erase(each);
            }
        }

        fake_network& net;
        int self;
        bool spoil = false;
        refusals sends, posts, losses;
        std::list<posted> receives;
        std::vector<std::span<std::byte>> abandoned;
        std::list<message*> arrived;
        std::deque<std::pair<comm::operation*, comm::arrival>> over;
    };

    [[nodiscard]] std::vector<message*> candidates() const {
        std::vector<message*> found;
        for (const auto& each : m_messages) {
            if (each->arrived) continue;
            const bool behind = std::any_of(found.begin(), found.end(), [&](const auto* other) {
                return other->from == each->from && other->to == each->to && other->tag == each->tag;
            });
            if (!behind) found.push_back(each.get());
        }
        return found;
    }

    std::vector<std::unique_ptr<fake_port>> m_ports;
    std::vector<std::unique_ptr<message>> m_messages;
    std::function<void(std::vector<std::byte>&)> m_tamper;
    int m_dead = -1;
};

} // namespace unit
