// SPDX-License-Identifier: Apache-2.0
// Tokens of a graph's stream on their way between host memory and another endpoint, through the engine.
#pragma once

#include "runtime/runtime.hpp"
#include "graph/doorbell.hpp"
#include "graph/work.hpp"
#include "transfer/command.hpp"
#include "transfer/endpoint.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace causeway::core {

/// Enough to hide a token that takes twice as long as the others.
inline constexpr std::size_t tokens_in_flight = 4;

/// One transfer between a piece of memory and an endpoint. Rings the bell when it is over.
class token_transfer {
  public:
    enum class direction { in, out };

    token_transfer(std::size_t bytes, std::shared_ptr<graph::doorbell> bell)
        : m_memory(bytes), m_bell(std::move(bell)) {}

    /// The token begins with `first`; begin() moves only the rest. If `first` is the whole token, it moves nothing.
    void hold(std::span<const std::byte> first);
    /// Not while one is under way. Does not start if `before` fails. Throws transfer_error once the process is ending.
    void begin(std::uint64_t number, std::unique_ptr<transfer::endpoint> other, direction way, uses_mpi mpi,
               const token_transfer* before = nullptr);
    /// True also if none has begun.
    [[nodiscard]] bool over() const { return m_listener == nullptr || m_listener->over; }
    /// Blocks until it is over; the failure, if any.
    [[nodiscard]] failure wait() const { return m_moving != nullptr ? m_moving->wait() : failure{}; }
    /// Bytes of the token so far, those of hold() included.
    [[nodiscard]] std::size_t bytes_moved() const {
        return m_held + (m_moving != nullptr ? m_moving->report().bytes_moved[0] : 0);
    }
    /// Asks the transfer to fail soon, unless it ends before.
    void cancel();

    [[nodiscard]] std::uint64_t number() const { return m_number; }
    [[nodiscard]] std::vector<std::byte>& memory() { return m_memory; }

  private:
    struct listener final : transfer::completion_listener {
        explicit listener(std::shared_ptr<graph::doorbell> rung) : bell(std::move(rung)) {}
        void completed(const failure&) override {
            over = true;
            bell->ring();
        }
        std::atomic<bool> over{false};
        std::shared_ptr<graph::doorbell> bell;
    };

    std::uint64_t m_number = 0;
    std::size_t m_held = 0;
    std::vector<std::byte> m_memory;
    std::shared_ptr<graph::doorbell> m_bell;
    std::shared_ptr<transfer::command> m_moving;
    std::shared_ptr<listener> m_listener;
};

/// Transfers in the order in which they began. Those that are still under way at its end are waited for.
class token_line {
  public:
    token_line(std::size_t token_bytes, std::shared_ptr<graph::doorbell> bell)
        : m_token_bytes(token_bytes), m_bell(std::move(bell)) {}
    ~token_line() { wait_for_all(); }
    token_line(const token_line&) = delete;
    token_line& operator=(const token_line&) = delete;

    /// A transfer that is not under way, and whose memory may be reused.
    [[nodiscard]] std::unique_ptr<token_transfer> take_spare();
    void push(std::unique_ptr<token_transfer> begun) { m_line.push_back(std::move(begun)); }
    /// Removes the first transfer. The caller puts its memory back for another.
    [[nodiscard]] std::unique_ptr<token_transfer> pop();
    void put_back(std::unique_ptr<token_transfer> spare) { m_spare.push_back(std::move(spare)); }
    void wait_for_all();

    /// Not while any is under way.
    void use_token(std::size_t bytes) {
        m_token_bytes = bytes;
        m_spare.clear();
    }
    [[nodiscard]] std::size_t token_bytes() const { return m_token_bytes; }
    [[nodiscard]] bool empty() const { return m_line.empty(); }
    [[nodiscard]] bool full() const { return m_line.size() >= tokens_in_flight; }
    [[nodiscard]] std::size_t size() const { return m_line.size(); }
    /// The last that has begun, if it is under way.
    [[nodiscard]] const token_transfer* last() const { return m_line.empty() ? nullptr : m_line.back().get(); }
    [[nodiscard]] bool first_is_over() const { return m_line.front()->over(); }
    void cancel_all() {
        for (const auto& each : m_line) each->cancel();
    }

  private:
    std::size_t m_token_bytes;
    std::shared_ptr<graph::doorbell> m_bell;
    std::deque<std::unique_ptr<token_transfer>> m_line;
    std::vector<std::unique_ptr<token_transfer>> m_spare;
};

} // namespace causeway::core
