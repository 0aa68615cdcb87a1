// SPDX-License-Identifier: Apache-2.0
// Commands that ask another PE's heap_server: requests, and the ends of flows that are made of them.
#pragma once

#include "runtime/heap_server.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace causeway::core {

/// One request to another PE. It fails when that PE is gone. Engine's thread only.
class heap_request final : private endpoints::heap_waiter {
  public:
    explicit heap_request(std::shared_ptr<heap_server> by) : m_server(std::move(by)) {}
    ~heap_request() { drop(); }
    heap_request(const heap_request&) = delete;
    heap_request& operator=(const heap_request&) = delete;

    /// One request at a time. After drop(), `then` is not called. If `bytes` (may be null, outlives the request) fails,
    /// the request is withdrawn.
    void ask(int pe, const heap_message& what, heap_server::answered then, const transfer::flow* bytes = nullptr);
    void drop();
    [[nodiscard]] bool is_under_way() const { return static_cast<bool>(m_then); }
    [[nodiscard]] heap_server& server() const { return *m_server; }

  private:
    bool look() override;
    void give_up(const failure& why) override;
    [[nodiscard]] endpoints::heap& of() override { return *m_server->served(); }
    [[nodiscard]] failure trouble(time_point now) override {
        const auto absent = of().absence_of(m_pe, now);
        return absent ? absent : of().own_absence(); // a PE that has left hears no answers
    }
    void end(const failure& error, std::uint64_t before);

    std::shared_ptr<heap_server> m_server;
    int m_pe = -1;
    heap_server::answered m_then; // while it is under way
    const transfer::flow* m_bytes = nullptr; // while it may be withdrawn
    std::uint64_t m_number = 0;
    bool m_is_waiting = false;
};

/// Whether an endpoint takes a turn in operation_order. Parts of a command that has its turn already do not.
enum class in_order { yes, no };

/// The flows of a put or get of PE `where.pe`, whose own end is `own`.
[[nodiscard]] std::vector<std::unique_ptr<transfer::flow>>
make_asked_put(const std::shared_ptr<heap_server>& server, std::unique_ptr<transfer::endpoint> own,
               const endpoints::heap_location& where, std::size_t bytes, std::optional<endpoints::heap_signal> then);
[[nodiscard]] std::vector<std::unique_ptr<transfer::flow>>
make_asked_get(const std::shared_ptr<heap_server>& server, std::unique_ptr<transfer::endpoint> own,
               const endpoints::heap_location& where, std::size_t bytes, in_order order = in_order::yes);
/// As make_atomic_source().
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_asked_atomic(const std::shared_ptr<heap_server>& server,
                                                                    const endpoints::heap_atomic& what);
/// A source without bytes that opens when all other PEs have left, as this one has. It fails if one is gone without
/// having said so.
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_farewell(const std::shared_ptr<heap_server>& server);
/// As make_word_wait().
[[nodiscard]] std::unique_ptr<transfer::endpoint> make_served_wait(const std::shared_ptr<heap_server>& server,
                                                                   const endpoints::awaited_word& what);

} // namespace causeway::core
