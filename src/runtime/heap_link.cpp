// SPDX-License-Identifier: Apache-2.0
// Hands windows of heaps out by sockets of the node, and copies over the bridge.
#include "runtime/heap_link.hpp"

#include "runtime/runtime.hpp"

#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <thread>
#include <utility>

namespace causeway::core {

namespace {

using transfer::step;

/// For descriptors that were sent before anybody waited.
constexpr auto longest_wait = std::chrono::seconds(5);
constexpr auto between_looks = std::chrono::microseconds(200);

/// What puts and gets share: their turn, and what shared memory has of the words that they move.
class linked_endpoint : public transfer::endpoint, protected transfer::waiting_end, public endpoints::window_end {
  public:
    linked_endpoint(std::shared_ptr<heap_server> server, std::shared_ptr<heap_link> link,
                    const endpoints::heap_location& where, std::size_t bytes, in_order order = in_order::yes)
        : m_heap(server->served()), m_asking(std::move(server)), m_link(std::move(link)), m_where(where),
          m_bytes(bytes) {
        if (order == in_order::yes) m_turn.emplace(m_heap->order(), endpoints::operation_order::kind::plain);
    }

    [[nodiscard]] transfer::endpoint_traits traits() const override {
        if (m_bytes == 0) return {.kind = transfer::medium::host, .has_memory = true};
        return {.kind = transfer::medium::device, .device = {true, home()->device()}, .in_window = true};
    }
    [[nodiscard]] std::string name() const override {
        return "PE " + std::to_string(m_where.pe) + " at " + bytes_text(m_where.offset);
    }

    void enqueued() override {
        if (m_turn) m_turn->join();
    }
    void abandoned() override { leave({}); }
    void open(const transfer::open_request&, step& done) override {
        m_doing = &done;
        if (m_turn) {
            m_turn->wait([this] { turn_came(); });
        } else {
            turn_came();
        }
    }
    /// What has been asked for is done, and the answer comes soon.
    void cancel() override {
        if (m_doing != nullptr && !m_asking.is_under_way()) finish(cancelled());
    }
    void close(std::size_t, const failure& error, step& done) override {
        m_doing = &done;
        if (error) {
            if (m_link) m_link->look_after_failure();
            leave(error);
            std::exchange(m_doing, nullptr)->finish({});
        } else {
            is_moved();
        }
    }

    [[nodiscard]] const bridge::known_window* home() const override {
        return m_bytes != 0 ? m_link->window(m_where.pe) : nullptr;
    }
    [[nodiscard]] std::byte* address(std::size_t offset) const override {
        return home()->address() + m_where.offset + offset;
    }

  protected:
    /// All bytes have been moved; ends with ended().
    virtual void is_moved() { ended({}); }
    void ended(const failure& error) {
        leave(error);
        std::exchange(m_doing, nullptr)->finish({0, error});
    }
    /// Has the other PE bring the words of the range from one memory to the other, if it keeps some.
    void settle_words(heap_message::kind which, std::function<void(const failure&)> then) {
        if (m_bytes == 0 || !m_heap->words(m_where.pe).overlaps(m_where.offset, m_bytes)) {
            then({});
            return;
        }
        ask({.what = which, .offset = m_where.offset, .bytes = m_bytes}, std::move(then));
    }
    void ask(const heap_message& what, std::function<void(const failure&)> then) {
        m_asking.ask(m_where.pe, what, [then = std::move(then)](const failure& error, std::uint64_t) { then(error); });
    }
    void copy(std::byte* to, const std::byte* from, std::size_t bytes, step& done) {
        auto& process = m_link->process();
        process.devices().links.bridge().copy(m_link->device(), to, from, bytes, done);
    }
    [[nodiscard]] endpoints::heap& of() const { return *m_heap; }
    [[nodiscard]] const endpoints::heap_location& where() const { return m_where; }
    [[nodiscard]] heap_link& link() const { return *m_link; }

  private:
    void leave(const failure& why) {
        if (m_turn) m_turn->leave(why);
    }
    void turn_came() {
        if (auto gone = m_heap->absence_of(m_where.pe, endpoints::heap_waits::now())) {
            finish(gone);
        } else {
            settle_words(heap_message::kind::write_back, [this](const failure& error) { finish(error); });
        }
    }
    /// Of open().
    void finish(const failure& error) {
        if (error) leave(error);
        std::exchange(m_doing, nullptr)->finish({m_bytes, error});
    }

    std::shared_ptr<endpoints::heap> m_heap;
    heap_request m_asking;
    std::shared_ptr<heap_link> m_link;
    std::optional<endpoints::operation_order::turn> m_turn; // none where the command that this is part of has one
    endpoints::heap_location m_where;
    std::size_t m_bytes;
    step* m_doing = nullptr; // open() or close()
};

class linked_put final : public linked_endpoint, transfer::copying_target, transfer::window_target {
  public:
    linked_put(std::shared_ptr<heap_server> server, std::shared_ptr<heap_link> link,
               const endpoints::heap_location& where, std::size_t bytes, std::optional<endpoints::heap_signal> then)
        : linked_endpoint(std::move(server), std::move(link), where, bytes), m_then(then) {}

    [[nodiscard]] transfer::abilities offers() override {
        if (home() == nullptr) return {.waits = this};
        return {.waits = this, .copies = this, .arrives = this};
    }

    [[nodiscard]] bool takes_from(const endpoint& source) const override {
        const auto* const other = dynamic_cast<const window_end*>(&source);
        return other != nullptr && other->home() != nullptr && other->home()->device() == link().device();
    }
    void take(endpoint& source, std::size_t offset, std::size_t bytes, step& done) override {
        copy(address(offset), dynamic_cast<const window_end&>(source).address(offset), bytes, done);
    }
    [[nodiscard]] transfer::device_name device_for(endpoint&) override { return {true, home()->device()}; }
    [[nodiscard]] transfer::device_memory window() override { return {.first = address(0)}; }

    void write(std::size_t offset, transfer::block_reference block, step& done) override {
        copy(address(offset), block.data(), block.size(), done);
    }

  protected:
    void is_moved() override {
        settle_words(heap_message::kind::reload, [this](const failure& error) {
            if (error || !m_then) {
                ended(error);
            } else {
                signal();
            }
        });
    }

  private:
    void signal() {
        const endpoints::heap_atomic what{.pe = where().pe,
                                          .offset = m_then->offset,
                                          .what = m_then->what == endpoints::heap_signal::operation::set
                                                      ? endpoints::atomic_operation::set
                                                      : endpoints::atomic_operation::add,
                                          .operand = m_then->value};
        if (auto* const word = of().words(what.pe).find(what.offset, what.bytes)) {
            (void)endpoints::carry_out(what, word);
            ended({});
            return;
        }
        heap_message asked{.what = heap_message::kind::atomic, .has_word = 1};
        asked.operation = static_cast<std::uint32_t>(what.what);
        asked.word_offset = what.offset;
        asked.operand = what.operand;
        ask(asked, [this](const failure& error) { ended(error); });
    }

    std::optional<endpoints::heap_signal> m_then;
};

class linked_get final : public linked_endpoint, transfer::window_source {
  public:
    using linked_endpoint::linked_endpoint;

    [[nodiscard]] transfer::abilities offers() override { return {.waits = this, .leaves = this}; }

    [[nodiscard]] bool reaches(const transfer::device_name& device) const override {
        return device.is_known && device.uuid == link().device();
    }
    [[nodiscard]] bool use(const transfer::device_memory& window) override {
        const auto there = link().process().windows().at(window.first);
        return there && there->device() == link().device();
    }
    void read(std::size_t offset, transfer::block_reference block, step& done) override {
        copy(block.is_window() ? block.address() : block.data(), address(offset), block.size(), done);
    }
};

} // namespace

std::unique_ptr<transfer::endpoint> make_linked_put(std::shared_ptr<heap_server> server,
                                                    std::shared_ptr<heap_link> link,
                                                    const endpoints::heap_location& where, std::size_t bytes,
                                                    std::optional<endpoints::heap_signal> then) {
    return std::make_unique<linked_put>(std::move(server), std::move(link), where, bytes, then);
}

std::unique_ptr<transfer::endpoint> make_linked_get(std::shared_ptr<heap_server> server,
                                                    std::shared_ptr<heap_link> link,
                                                    const endpoints::heap_location& where, std::size_t bytes,
                                                    in_order order) {
    return std::make_unique<linked_get>(std::move(server), std::move(link), where, bytes, order);
}

heap_link::heap_link(runtime& process, const endpoints::buffer_location& own, int own_pe, int pes)
    : m_process(process), m_own(own.window), m_own_pe(own_pe), m_key(comm::socket_key::make()),
      m_post(std::make_unique<comm::node_post>(m_key, own_pe)), m_windows(static_cast<std::size_t>(pes)) {}

heap_link::~heap_link() {
    for (auto& each : m_windows)
        if (each) m_process.let_go(std::move(each));
}

heap_window heap_link::introduction() const {
    return {.post = m_key, .key = m_own->key(), .bytes = m_own->bytes(), .device = m_own->device()};
}

void heap_link::connect(const std::vector<heap_window>& all, const std::vector<bool>& is_near) {
    const auto shared = m_process.answer_of([&windows = m_process.windows(), own = m_own] {
        try {
            return std::make_shared<descriptor>(own->shared());
        } catch (const std::exception& error) {
            windows.tell(std::string("the others reach the own symmetric heap by messages: ") + error.what());
            return std::make_shared<descriptor>();
        }
    });
    const int enclosed = shared ? (*shared)->get() : -1; // without one, the others wait for it no longer
    std::vector<int> unsent, awaited;
    for (std::size_t pe = 0; pe < all.size(); ++pe) {
        if (static_cast<int>(pe) == m_own_pe || !is_near[pe] || all[pe].bytes == 0) continue;
        m_post->know(static_cast<int>(pe), all[pe].post);
        unsent.push_back(static_cast<int>(pe));
        awaited.push_back(static_cast<int>(pe));
    }
    const auto give_up_at = std::chrono::steady_clock::now() + longest_wait;
    const auto own_key = m_own->key();
    while (!unsent.empty() || !awaited.empty()) {
        std::erase_if(unsent, [&](int pe) {
            return m_post->send(pe, std::as_bytes(std::span(&own_key, 1)), enclosed) !=
                   comm::node_post::delivery::later;
        });
        while (auto note = m_post->take()) {
            const auto pe = static_cast<std::size_t>(note->from);
            if (std::erase(awaited, note->from) == 0 || note->enclosed.get() < 0) continue;
            const auto given = std::make_shared<descriptor>(std::move(note->enclosed));
            auto opened = m_process.answer_of([&windows = m_process.windows(), own = device(), given, what = all[pe]] {
                if (!windows.bridge()->reaches(own, what.device)) return std::shared_ptr<bridge::known_window>();
                try {
                    return windows.open(what.device, what.key, std::move(*given), static_cast<std::size_t>(what.bytes));
                } catch (const std::exception& error) {
                    windows.tell(std::string("a symmetric heap is served by messages: ") + error.what());
                    return std::shared_ptr<bridge::known_window>();
                }
            });
            if (opened) m_windows[pe] = std::move(*opened);
        }
        if (std::chrono::steady_clock::now() > give_up_at) break;
        if (!unsent.empty() || !awaited.empty()) std::this_thread::sleep_for(between_looks);
    }
}

void heap_link::look_after_failure() {
    if (!m_process.windows().serves(device())) m_is_broken = true;
}

} // namespace causeway::core
