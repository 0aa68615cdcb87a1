// SPDX-License-Identifier: Apache-2.0
// PEs of one node: the initiator reads and writes the other's heap itself.
#include "endpoints/symmetric/symmetric_endpoint.hpp"

#include "base/store_once.hpp"
#include "transfer/plan.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace causeway::endpoints {

namespace {

using transfer::endpoint_traits;
using transfer::medium;
using transfer::step;

failure cancelled() { return {status::cancelled, 0, 0, "the transfer was cancelled"}; }

std::string location_text(int pe, std::size_t offset) {
    return "PE " + std::to_string(pe) + " at " + bytes_text(offset);
}

void send(const heap_signal& signal, const heap& of, int pe) {
    const auto what = signal.what == heap_signal::operation::set ? atomic_operation::set : atomic_operation::add;
    (void)carry_out({.pe = pe, .offset = signal.offset, .what = what, .operand = signal.value},
                    of.at(pe, signal.offset));
}

/// One that takes its turn among the operations of its heap.
class ordered_endpoint : public transfer::endpoint, transfer::waiting_end {
  public:
    ordered_endpoint(std::shared_ptr<heap> of, operation_order::kind kind)
        : m_heap(std::move(of)), m_turn(m_heap->order(), kind) {}

    [[nodiscard]] transfer::abilities offers() override { return {.waits = this}; }

    void enqueued() override { m_turn.join(); }
    void abandoned() override { m_turn.leave(); }

    void open(const transfer::open_request& request, step& done) override {
        m_request = request;
        m_opening = &done;
        m_turn.wait([this] { turn_came(); });
    }
    void cancel() override {
        if (m_opening != nullptr) finish_opening(0, cancelled());
    }
    void close(std::size_t, const failure& error, step& done) override {
        m_turn.leave(error);
        done.finish({});
    }

  protected:
    /// Ends with finish_opening().
    virtual void turn_came() = 0;
    /// A failure leaves the order: nothing that was opened in vain is closed.
    void finish_opening(std::size_t bytes, const failure& error = {}) {
        auto* const done = std::exchange(m_opening, nullptr);
        if (error) m_turn.leave(error);
        done->finish({bytes, error});
    }
    [[nodiscard]] heap& of() { return *m_heap; }
    [[nodiscard]] const heap& of() const { return *m_heap; }
    [[nodiscard]] const transfer::open_request& request() const { return m_request; }
    [[nodiscard]] bool is_opening() const { return m_opening != nullptr; }
    [[nodiscard]] operation_order::turn& own_turn() { return m_turn; }

  private:
    std::shared_ptr<heap> m_heap;
    operation_order::turn m_turn;
    transfer::open_request m_request;
    step* m_opening = nullptr;
};

/// What puts and gets share. The engine's thread copies, a block at a time.
class remote_endpoint : public ordered_endpoint {
  public:
    remote_endpoint(std::shared_ptr<heap> of, const heap_location& where)
        : ordered_endpoint(std::move(of), operation_order::kind::plain), m_where(where) {}

    [[nodiscard]] endpoint_traits traits() const override {
        return {
            .kind = medium::host, .has_memory = !m_where.is_box, .largest_block = transfer::route::largest_of_caches};
    }
    [[nodiscard]] std::string name() const override { return location_text(m_where.pe, m_where.offset); }
    [[nodiscard]] std::byte* memory() const override { return m_where.is_box ? nullptr : first(); }

  protected:
    void turn_came() override {
        if (auto gone = of().absence_of(m_where.pe, heap_waits::now())) {
            finish_opening(0, gone);
        } else {
            finish_opening(request().bytes);
        }
    }
    [[nodiscard]] std::byte* first() const { return of().at(m_where.pe, m_where.offset); }
    [[nodiscard]] const heap_location& where() const { return m_where; }

    /// Calls with the bytes of a row that the packed range has, and where they are in it.
    template <class Row> void for_each_row(std::size_t offset, std::size_t bytes, Row row) const {
        const auto width = m_where.region[0];
        for (std::size_t packed = 0; packed < bytes;) {
            const auto line = (offset + packed) / width, column = (offset + packed) % width;
            const auto part = std::min(width - column, bytes - packed);
            row(first() + line % m_where.region[1] * m_where.row_pitch +
                    line / m_where.region[1] * m_where.slice_pitch + column,
                packed, part);
            packed += part;
        }
    }

  private:
    heap_location m_where;
};

class put_target final : public remote_endpoint {
  public:
    put_target(std::shared_ptr<heap> of, const heap_location& where, std::optional<heap_signal> then)
        : remote_endpoint(std::move(of), where), m_then(then) {}

    void write(std::size_t offset, transfer::block_reference block, step& done) override {
        if (where().is_box) {
            for_each_row(offset, block.size(), [&](std::byte* to, std::size_t packed, std::size_t bytes) {
                store_once(to, block.data() + packed, bytes);
            });
        } else {
            // Of its own heap, a PE may put bytes over one another.
            store_once(first() + offset, block.data(), block.size());
        }
        done.finish({block.size(), {}});
    }

    void close(std::size_t moved, const failure& error, step& done) override {
        if (!error && m_then) send(*m_then, of(), where().pe);
        // A device may have written the bytes itself: its command is over, and what it wrote is not to come behind
        // later stores.
        std::atomic_thread_fence(std::memory_order_release);
        ordered_endpoint::close(moved, error, done);
    }

  private:
    std::optional<heap_signal> m_then;
};

class get_source final : public remote_endpoint {
  public:
    using remote_endpoint::remote_endpoint;

    void read(std::size_t offset, transfer::block_reference block, step& done) override {
        if (where().is_box) {
            for_each_row(offset, block.size(), [&](const std::byte* from, std::size_t packed, std::size_t bytes) {
                std::memmove(block.data() + packed, from, bytes);
            });
        } else {
            std::memmove(block.data(), first() + offset, block.size());
        }
        done.finish({block.size(), {}});
    }
};

class atomic_source final : public ordered_endpoint {
  public:
    atomic_source(std::shared_ptr<heap> of, const heap_atomic& what)
        : ordered_endpoint(std::move(of), operation_order::kind::plain), m_what(what) {}

    [[nodiscard]] endpoint_traits traits() const override { return {.kind = medium::host, .has_memory = true}; }
    [[nodiscard]] std::string name() const override { return "atomic on " + location_text(m_what.pe, m_what.offset); }
    [[nodiscard]] std::byte* memory() const override { return const_cast<std::byte*>(m_before.data()); }

  protected:
    void turn_came() override {
        if (auto gone = of().absence_of(m_what.pe, heap_waits::now())) {
            finish_opening(0, gone);
            return;
        }
        const auto before = carry_out(m_what, of().at(m_what.pe, m_what.offset));
        // What a smaller word has is first in memory on little-endian machines, which all devices here are.
        std::memcpy(m_before.data(), &before, m_what.bytes);
        finish_opening(request().bytes);
    }

  private:
    heap_atomic m_what;
    std::array<std::byte, 8> m_before{};
};

class word_wait final : public transfer::endpoint, transfer::waiting_end, private heap_waiter {
  public:
    word_wait(std::shared_ptr<heap> of, const awaited_word& what) : m_heap(std::move(of)), m_what(what) {}
    ~word_wait() override {
        if (m_opening != nullptr) m_heap->waits().remove(*this);
    }

    [[nodiscard]] endpoint_traits traits() const override { return {.kind = medium::host, .has_memory = true}; }
    [[nodiscard]] std::string name() const override { return "the word at " + bytes_text(m_what.offset); }
    [[nodiscard]] transfer::abilities offers() override { return {.waits = this}; }
    [[nodiscard]] std::string partner() const override {
        return text_of(m_what, m_heap->at(m_heap->pe(), m_what.offset));
    }

    void open(const transfer::open_request&, step& done) override {
        m_opening = &done;
        if (!look()) m_heap->waits().add(*this);
    }
    void cancel() override {
        if (m_opening == nullptr) return;
        m_heap->waits().remove(*this);
        finish(cancelled());
    }

  private:
    bool look() override {
        if (!holds(m_what, m_heap->at(m_heap->pe(), m_what.offset))) return false;
        finish({});
        return true;
    }
    void give_up(const failure& why) override {
        auto whole = why;
        whole.message = "waiting for " + name() + " of the symmetric heap: " + why.message;
        finish(whole);
    }
    [[nodiscard]] heap& of() override { return *m_heap; }
    void finish(const failure& error) { std::exchange(m_opening, nullptr)->finish({0, error}); }

    std::shared_ptr<heap> m_heap;
    awaited_word m_what;
    step* m_opening = nullptr;
};

class fence_endpoint final : public ordered_endpoint {
  public:
    fence_endpoint(std::shared_ptr<heap> of, fence_kind kind)
        : ordered_endpoint(std::move(of), operation_order::kind::fence), m_kind(kind) {}

    [[nodiscard]] endpoint_traits traits() const override { return {.kind = medium::host, .has_memory = true}; }
    [[nodiscard]] std::string name() const override { return m_kind == fence_kind::fence ? "fence" : "quiet"; }

  protected:
    void turn_came() override {
        if (m_kind == fence_kind::fence) {
            finish_opening(0);
            return;
        }
        auto failed = of().order().take_failure();
        // Said once: it is not a failure of this one, too, for the next.
        own_turn().leave();
        if (failed) failed.message = "a one-sided command before the quiet failed: " + failed.message;
        finish_opening(0, failed);
    }

  private:
    fence_kind m_kind;
};

class meeting_endpoint final : public transfer::endpoint, transfer::waiting_end {
  public:
    meeting_endpoint(const std::shared_ptr<heap>& of, const meeting_purpose& purpose)
        : m_turn(std::make_shared<meeting_turn>(of, purpose)), m_name(purpose.name) {}

    [[nodiscard]] endpoint_traits traits() const override { return {.kind = medium::host, .has_memory = true}; }
    [[nodiscard]] std::string name() const override { return m_name; }
    [[nodiscard]] transfer::abilities offers() override { return {.waits = this}; }
    [[nodiscard]] std::string partner() const override { return m_turn->partner(); }
    void enqueued() override { m_turn->join(); }
    void abandoned() override { m_turn->drop(); }
    void open(const transfer::open_request&, step& done) override {
        m_opening = &done;
        m_turn->come([this](const failure& error) { std::exchange(m_opening, nullptr)->finish({0, error}); });
    }
    void cancel() override {
        if (m_opening == nullptr) return;
        m_turn->drop();
        std::exchange(m_opening, nullptr)->finish({0, cancelled()});
    }

  private:
    std::shared_ptr<meeting_turn> m_turn;
    const char* m_name;
    step* m_opening = nullptr;
};

template <class Word> bool compares(comparison how, Word word, Word value) {
    switch (how) {
    case comparison::equal: return word == value;
    case comparison::not_equal: return word != value;
    case comparison::greater: return word > value;
    case comparison::greater_or_equal: return word >= value;
    case comparison::less: return word < value;
    case comparison::less_or_equal: return word <= value;
    }
    return false;
}

template <class Unsigned, class Signed> bool word_holds(const awaited_word& what, const std::byte* word) {
    const auto seen = __atomic_load_n(reinterpret_cast<const Unsigned*>(word), __ATOMIC_ACQUIRE);
    const auto value = static_cast<Unsigned>(what.value);
    return what.is_signed ? compares(what.how, static_cast<Signed>(seen), static_cast<Signed>(value))
                          : compares(what.how, seen, value);
}

template <class Word> Word carry_out_on(const heap_atomic& what, Word* word) {
    const auto operand = static_cast<Word>(what.operand);
    switch (what.what) {
    case atomic_operation::fetch: return __atomic_load_n(word, __ATOMIC_ACQUIRE);
    case atomic_operation::set:
    case atomic_operation::swap: return __atomic_exchange_n(word, operand, __ATOMIC_ACQ_REL);
    case atomic_operation::add: return __atomic_fetch_add(word, operand, __ATOMIC_ACQ_REL);
    case atomic_operation::increment: return __atomic_fetch_add(word, Word{1}, __ATOMIC_ACQ_REL);
    case atomic_operation::bit_and: return __atomic_fetch_and(word, operand, __ATOMIC_ACQ_REL);
    case atomic_operation::bit_or: return __atomic_fetch_or(word, operand, __ATOMIC_ACQ_REL);
    case atomic_operation::bit_xor: return __atomic_fetch_xor(word, operand, __ATOMIC_ACQ_REL);
    case atomic_operation::compare_and_swap: {
        auto seen = static_cast<Word>(what.compared);
        (void)__atomic_compare_exchange_n(word, &seen, operand, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        return seen;
    }
    }
    return 0;
}

} // namespace

bool holds(const awaited_word& what, const std::byte* word) {
    return what.bytes == 4 ? word_holds<std::uint32_t, std::int32_t>(what, word)
                           : word_holds<std::uint64_t, std::int64_t>(what, word);
}

std::string text_of(const awaited_word& what, const std::byte* word) {
    static constexpr const char* comparisons[] = {"==", "!=", ">", ">=", "<", "<="};
    const auto number = [&](std::uint64_t value) {
        if (!what.is_signed) return std::to_string(what.bytes == 4 ? static_cast<std::uint32_t>(value) : value);
        return std::to_string(what.bytes == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value));
    };
    std::string text = "the word at " + bytes_text(what.offset) + " of the symmetric heap";
    if (word != nullptr)
        text += ", now " +
                number(what.bytes == 4
                           ? __atomic_load_n(reinterpret_cast<const std::uint32_t*>(word), __ATOMIC_ACQUIRE)
                           : __atomic_load_n(reinterpret_cast<const std::uint64_t*>(word), __ATOMIC_ACQUIRE));
    return text + ", to be " + comparisons[static_cast<int>(what.how)] + " " + number(what.value);
}

std::uint64_t carry_out(const heap_atomic& what, std::byte* word) {
    return what.bytes == 4 ? carry_out_on(what, reinterpret_cast<std::uint32_t*>(word))
                           : carry_out_on(what, reinterpret_cast<std::uint64_t*>(word));
}

void put_now(const heap& of, const std::byte* source, const heap_location& where, std::size_t bytes,
             const std::optional<heap_signal>& then) {
    if (bytes != 0) store_once(of.at(where.pe, where.offset), source, bytes);
    if (then) send(*then, of, where.pe);
    std::atomic_thread_fence(std::memory_order_seq_cst); // done, also for this thread's next get
}

void get_now(const heap& of, std::byte* target, const heap_location& where, std::size_t bytes) {
    if (bytes != 0) std::memmove(target, of.at(where.pe, where.offset), bytes);
}

std::unique_ptr<transfer::endpoint> make_put_target(std::shared_ptr<heap> of, const heap_location& where,
                                                    std::optional<heap_signal> then) {
    return std::make_unique<put_target>(std::move(of), where, then);
}
std::unique_ptr<transfer::endpoint> make_get_source(std::shared_ptr<heap> of, const heap_location& where) {
    return std::make_unique<get_source>(std::move(of), where);
}
std::unique_ptr<transfer::endpoint> make_atomic_source(std::shared_ptr<heap> of, const heap_atomic& what) {
    return std::make_unique<atomic_source>(std::move(of), what);
}
std::unique_ptr<transfer::endpoint> make_word_wait(std::shared_ptr<heap> of, const awaited_word& what) {
    return std::make_unique<word_wait>(std::move(of), what);
}
std::unique_ptr<transfer::endpoint> make_fence(std::shared_ptr<heap> of, fence_kind kind) {
    return std::make_unique<fence_endpoint>(std::move(of), kind);
}
std::unique_ptr<transfer::endpoint> make_meeting(const std::shared_ptr<heap>& of, const meeting_purpose& purpose) {
    return std::make_unique<meeting_endpoint>(of, purpose);
}

} // namespace causeway::endpoints
