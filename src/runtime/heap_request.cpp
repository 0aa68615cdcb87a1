// SPDX-License-Identifier: Apache-2.0
// A request goes its own way beside the bytes that it is about: two flows of one command.
#include "runtime/heap_request.hpp"

#include "endpoints/host/host_endpoint.hpp"
#include "endpoints/mpi/rank_endpoint.hpp"
#include "runtime/enqueue.hpp"
#include "runtime/mpi_runtime.hpp"

#include <cstring>
#include <string>
#include <utility>

namespace causeway::core {

namespace {

using transfer::step;

/// Asks, in the order of the heap's operations, and opens with the answer: what was in the word before, if that was
/// asked for.
class asked_endpoint final : public transfer::endpoint, transfer::waiting_end {
  public:
    asked_endpoint(const std::shared_ptr<heap_server>& server, int pe, const heap_message& request, std::string name,
                   in_order order = in_order::yes)
        : m_heap(server->served()), m_asking(server), m_pe(pe), m_request(request), m_name(std::move(name)) {
        if (order == in_order::yes) m_turn.emplace(m_heap->order(), endpoints::operation_order::kind::plain);
    }

    /// What waits for the same PE, and ends when nothing comes of the request. Lives as long as this.
    void takes_along(transfer::flow* bytes) { m_bytes_flow = bytes; }

    [[nodiscard]] transfer::endpoint_traits traits() const override {
        return {.kind = transfer::medium::host, .has_memory = true};
    }
    [[nodiscard]] std::string name() const override { return m_name; }
    [[nodiscard]] std::string partner() const override {
        return m_asking.is_under_way() ? "PE " + std::to_string(m_pe) + " to answer" : "";
    }
    [[nodiscard]] std::byte* memory() const override { return const_cast<std::byte*>(m_before.data()); }

    [[nodiscard]] transfer::abilities offers() override { return {.waits = this}; }

    void enqueued() override {
        if (m_turn) m_turn->join();
    }
    void abandoned() override { leave(); }
    void open(const transfer::open_request& request, step& done) override {
        m_bytes = request.bytes;
        m_opening = &done;
        if (m_turn) {
            m_turn->wait([this] { begin(); });
        } else {
            begin();
        }
    }
    /// What has been asked for is done, and the answer comes soon.
    void cancel() override {
        if (m_opening != nullptr && !m_asking.is_under_way()) finish(cancelled());
    }
    void close(std::size_t, const failure& error, step& done) override {
        leave(error);
        done.finish({});
    }

  private:
    void begin() {
        const auto gone = m_heap->absence_of(m_pe, endpoints::heap_waits::now());
        if (const auto own = m_heap->own_absence(); gone || own) {
            finish(gone ? gone : own);
            return;
        }
        if (m_request.what == heap_message::kind::atomic && m_heap->is_near(m_pe)) {
            if (auto* const kept = m_heap->words(m_pe).find(m_request.word_offset, m_request.word_bytes)) {
                answered({}, endpoints::carry_out(atomic_of(m_request), kept));
                return;
            }
        }
        m_asking.ask(
            m_pe, m_request, [this](const failure& error, std::uint64_t before) { answered(error, before); },
            m_bytes_flow);
    }
    void answered(const failure& error, std::uint64_t before) {
        std::memcpy(m_before.data(), &before, sizeof before);
        finish(error);
    }
    void leave(const failure& why = {}) {
        if (m_turn) m_turn->leave(why);
    }
    void finish(const failure& error) {
        if (error) leave(error);
        if (error && m_bytes_flow != nullptr && !m_bytes_flow->finished()) {
            m_bytes_flow->cancel(error);
            m_asking.server().give_up_bytes(m_pe, m_request, error);
        }
        std::exchange(m_opening, nullptr)->finish({m_bytes, error});
    }

    std::shared_ptr<endpoints::heap> m_heap;
    heap_request m_asking;
    std::optional<endpoints::operation_order::turn> m_turn;
    int m_pe;
    heap_message m_request;
    std::string m_name;
    std::array<std::byte, 8> m_before{};
    std::size_t m_bytes = 0;
    transfer::flow* m_bytes_flow = nullptr;
    step* m_opening = nullptr;
};

class served_wait final : public transfer::endpoint, transfer::waiting_end, private endpoints::heap_waiter {
  public:
    served_wait(std::shared_ptr<heap_server> server, const endpoints::awaited_word& what)
        : m_server(std::move(server)), m_what(what) {}
    ~served_wait() override { let_go(); }

    [[nodiscard]] transfer::endpoint_traits traits() const override {
        return {.kind = transfer::medium::host, .has_memory = true};
    }
    [[nodiscard]] std::string name() const override { return "the word at " + bytes_text(m_what.offset); }
    [[nodiscard]] transfer::abilities offers() override { return {.waits = this}; }
    [[nodiscard]] std::string partner() const override {
        const auto& heap = *m_server->served();
        return endpoints::text_of(m_what, m_server->has_host_memory()
                                              ? heap.at(heap.pe(), m_what.offset)
                                              : m_server->kept_word(m_what.offset, m_what.bytes));
    }
    void open(const transfer::open_request&, step& done) override {
        m_opening = &done;
        of().waits().add(*this);
        m_is_waiting = true;
        if (!m_server->has_host_memory() &&
            m_server->keep_word(m_what.offset, m_what.bytes, [alive = std::weak_ptr(m_self)](const failure& error) {
                if (const auto self = alive.lock(); self && error) (*self)->fail(error);
            })) {
            if (m_opening != nullptr && compares()) finish({});
            return;
        }
        await();
    }
    void cancel() override {
        if (m_opening != nullptr) finish(cancelled());
    }

  private:
    /// Also of a word that was not kept when this began: who finds it kept changes it without the server.
    bool look() override {
        if (m_server->has_host_memory()) return false;
        if (compares()) {
            m_is_waiting = false;
            finish({});
            return true;
        }
        // The driver could not read it, for another command: it is kept no longer.
        if (m_number == 0 && !m_server->knows_word(m_what.offset, m_what.bytes)) await();
        return m_opening == nullptr;
    }
    void await() {
        m_number = m_server->await(m_what, [this](const failure& error) {
            m_number = 0;
            finish(error);
        });
    }
    [[nodiscard]] bool compares() const {
        const auto* const kept = m_server->kept_word(m_what.offset, m_what.bytes);
        return kept != nullptr && endpoints::holds(m_what, kept);
    }
    void fail(const failure& why) {
        if (m_opening != nullptr) finish(why);
    }
    void give_up(const failure& why) override {
        m_is_waiting = false;
        auto whole = why;
        whole.message = "waiting for " + name() + " of the symmetric heap: " + why.message;
        finish(whole);
    }
    [[nodiscard]] endpoints::heap& of() override { return *m_server->served(); }
    void let_go() {
        if (std::exchange(m_is_waiting, false)) of().waits().remove(*this);
        if (m_number != 0) m_server->forget_wait(std::exchange(m_number, 0));
    }
    void finish(const failure& error) {
        let_go();
        std::exchange(m_opening, nullptr)->finish({0, error});
    }

    std::shared_ptr<heap_server> m_server;
    endpoints::awaited_word m_what;
    step* m_opening = nullptr;
    bool m_is_waiting = false;
    std::uint64_t m_number = 0; // of a wait for a word that is not kept
    std::shared_ptr<served_wait*> m_self = std::make_shared<served_wait*>(this); // for who may tell it too late
};

class farewell final : public transfer::endpoint, transfer::waiting_end, private endpoints::heap_waiter {
  public:
    explicit farewell(std::shared_ptr<heap_server> server) : m_server(std::move(server)) {}
    ~farewell() override {
        if (m_opening != nullptr) of().waits().remove(*this);
    }

    [[nodiscard]] transfer::endpoint_traits traits() const override {
        return {.kind = transfer::medium::host, .has_memory = true};
    }
    [[nodiscard]] std::string name() const override { return "the end of the symmetric heap"; }
    [[nodiscard]] transfer::abilities offers() override { return {.waits = this}; }
    [[nodiscard]] std::string partner() const override { return "all PEs to leave the symmetric heap"; }
    void open(const transfer::open_request&, step& done) override {
        m_opening = &done;
        if (!look()) of().waits().add(*this);
    }
    void cancel() override {
        if (m_opening == nullptr) return;
        of().waits().remove(*this);
        finish(cancelled());
    }

  private:
    bool look() override {
        if (!m_server->is_over()) return false;
        finish({});
        return true;
    }
    void give_up(const failure& why) override { finish(why); }
    [[nodiscard]] endpoints::heap& of() override { return *m_server->served(); }
    [[nodiscard]] failure trouble(time_point now) override { return of().end_of_any(now); }
    void finish(const failure& error) { std::exchange(m_opening, nullptr)->finish({0, error}); }

    std::shared_ptr<heap_server> m_server;
    step* m_opening = nullptr;
};

} // namespace

void heap_request::ask(int pe, const heap_message& what, heap_server::answered then, const transfer::flow* bytes) {
    m_pe = pe;
    m_bytes = bytes;
    m_then = std::move(then);
    of().waits().add(*this);
    m_is_waiting = true;
    m_number = m_server->ask(pe, what, [this](const failure& error, std::uint64_t before) {
        m_number = 0;
        end(error, before);
    });
}

bool heap_request::look() {
    if (m_bytes != nullptr && m_bytes->finished() && m_bytes->error()) {
        m_bytes = nullptr;
        m_server->withdraw(m_pe, m_number);
    }
    return false;
}

void heap_request::drop() {
    if (std::exchange(m_is_waiting, false)) of().waits().remove(*this);
    if (m_number != 0) m_server->forget(std::exchange(m_number, 0));
    m_then = nullptr;
}

void heap_request::give_up(const failure& why) {
    m_is_waiting = false;
    end(why, 0);
}

void heap_request::end(const failure& error, std::uint64_t before) {
    const auto then = std::exchange(m_then, nullptr);
    drop();
    then(error, before);
}

static heap_message request_for(heap_message::kind what, const endpoints::heap_location& where, std::size_t bytes) {
    heap_message request{.what = what, .offset = where.offset, .bytes = bytes};
    request.is_box = where.is_box ? 1 : 0;
    for (std::size_t i = 0; i < 3; ++i) request.region[i] = where.region[i];
    request.row_pitch = where.row_pitch;
    request.slice_pitch = where.slice_pitch;
    return request;
}

static std::string name_of(int pe, std::size_t offset) {
    return "PE " + std::to_string(pe) + " at " + bytes_text(offset);
}

/// The bytes go by a message; what asks for them, and hears of the end, is the other flow.
static std::vector<std::unique_ptr<transfer::flow>> both(std::unique_ptr<transfer::flow> bytes,
                                                         std::unique_ptr<asked_endpoint> asked, const char* what) {
    std::vector<std::unique_ptr<transfer::flow>> flows;
    if (bytes) {
        asked->takes_along(bytes.get());
        flows.push_back(std::move(bytes));
    }
    flows.push_back(std::make_unique<transfer::flow>(std::move(asked), endpoints::make_empty_endpoint(what), 0));
    return flows;
}

std::vector<std::unique_ptr<transfer::flow>> make_asked_put(const std::shared_ptr<heap_server>& server,
                                                            std::unique_ptr<transfer::endpoint> own,
                                                            const endpoints::heap_location& where, std::size_t bytes,
                                                            std::optional<endpoints::heap_signal> then) {
    auto request = request_for(heap_message::kind::put, where, bytes);
    if (then) {
        request.has_word = 1;
        request.word_offset = then->offset;
        request.operation = static_cast<std::uint32_t>(then->what == endpoints::heap_signal::operation::set
                                                           ? endpoints::atomic_operation::set
                                                           : endpoints::atomic_operation::add);
        request.operand = then->value;
    }
    std::unique_ptr<transfer::flow> sent;
    if (bytes != 0) {
        request.tag = server->new_tag(request.what);
        auto& process = mpi_runtime::instance();
        sent = std::make_unique<transfer::flow>(
            std::move(own),
            endpoints::make_send_endpoint(process.ranks(), server->space(), where.pe, static_cast<int>(request.tag)),
            bytes);
    }
    return both(std::move(sent),
                std::make_unique<asked_endpoint>(server, where.pe, request, name_of(where.pe, where.offset)), "put");
}

std::vector<std::unique_ptr<transfer::flow>> make_asked_get(const std::shared_ptr<heap_server>& server,
                                                            std::unique_ptr<transfer::endpoint> own,
                                                            const endpoints::heap_location& where, std::size_t bytes,
                                                            in_order order) {
    auto request = request_for(heap_message::kind::get, where, bytes);
    if (bytes == 0) return one_flow(endpoints::make_empty_endpoint("get"), std::move(own), 0);
    request.tag = server->new_tag(request.what);
    auto& process = mpi_runtime::instance();
    auto received = std::make_unique<transfer::flow>(
        endpoints::make_receive_endpoint(process.ranks(), server->space(), where.pe, static_cast<int>(request.tag),
                                         nullptr),
        std::move(own), bytes);
    return both(std::move(received),
                std::make_unique<asked_endpoint>(server, where.pe, request, name_of(where.pe, where.offset), order),
                "get");
}

std::unique_ptr<transfer::endpoint> make_asked_atomic(const std::shared_ptr<heap_server>& server,
                                                      const endpoints::heap_atomic& what) {
    heap_message request{.what = heap_message::kind::atomic};
    request.operation = static_cast<std::uint32_t>(what.what);
    request.word_bytes = what.bytes;
    request.word_offset = what.offset;
    request.operand = what.operand;
    request.compared = what.compared;
    return std::make_unique<asked_endpoint>(server, what.pe, request, "atomic on " + name_of(what.pe, what.offset));
}

std::unique_ptr<transfer::endpoint> make_farewell(const std::shared_ptr<heap_server>& server) {
    return std::make_unique<farewell>(server);
}

std::unique_ptr<transfer::endpoint> make_served_wait(const std::shared_ptr<heap_server>& server,
                                                     const endpoints::awaited_word& what) {
    return std::make_unique<served_wait>(server, what);
}

} // namespace causeway::core
