// SPDX-License-Identifier: Apache-2.0
// Runs a few threads one atomic operation at a time, in every order, under sequential consistency.
#pragma once

#include <ucontext.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace stepped {

/// The threads are contexts of one real thread, so a run depends on its choices alone.
class scheduler {
  public:
    using body = std::function<void()>;

    /// One run. `choose(count)` says which of the threads that can go on does. False if threads are left that nobody
    /// will wake.
    template <class Choose> bool run(const std::vector<body>& bodies, Choose&& choose) {
        current() = this;
        m_threads.clear();
        for (const auto& each : bodies) {
            auto& made = *m_threads.emplace_back(std::make_unique<thread>());
            made.run = each;
            ::getcontext(&made.context);
            if (m_stacks.size() < m_threads.size()) m_stacks.push_back(std::make_unique<stack>());
            made.context.uc_stack.ss_sp = m_stacks[m_threads.size() - 1]->data();
            made.context.uc_stack.ss_size = m_stacks[m_threads.size() - 1]->size();
            made.context.uc_link = &m_main;
            ::makecontext(&made.context, reinterpret_cast<void (*)()>(&scheduler::begin), 0);
        }
        for (;;) {
            std::vector<std::size_t> ready;
            bool all_over = true;
            for (std::size_t each = 0; each < m_threads.size(); ++each) {
                if (m_threads[each]->is_over) continue;
                all_over = false;
                if (!m_threads[each]->blocked || !m_threads[each]->blocked()) ready.push_back(each);
            }
            if (ready.empty()) {
                current() = nullptr;
                return all_over;
            }
            m_running = ready[ready.size() == 1 ? 0 : choose(ready.size())];
            m_threads[m_running]->blocked = nullptr;
            ::swapcontext(&m_main, &m_threads[m_running]->context);
        }
    }
    /// Every run that differs; false as soon as `fresh` (which makes the bodies) or `holds` (asked after a run) says
    /// so.
    bool every_order(const std::function<std::vector<body>()>& fresh, const std::function<bool()>& holds) {
        std::vector<std::pair<std::size_t, std::size_t>> choices; ///< taken, of how many
        for (runs = 0;; ++runs) {
            std::size_t depth = 0;
            const bool ended = run(fresh(), [&](std::size_t count) {
                if (depth == choices.size()) choices.emplace_back(0, count);
                return choices[depth++].first;
            });
            if (!ended || !holds()) return false;
            while (!choices.empty() && choices.back().first + 1 == choices.back().second) choices.pop_back();
            if (choices.empty()) return true;
            ++choices.back().first;
        }
    }
    bool random_orders(std::size_t count, const std::function<std::vector<body>()>& fresh,
                       const std::function<bool()>& holds) {
        std::mt19937_64 random(1);
        for (runs = 0; runs < count; ++runs)
            if (!run(fresh(), [&](std::size_t of) { return random() % of; }) || !holds()) return false;
        return true;
    }
    std::size_t runs = 0;

    /// Before each operation of a thread: any other one may come first.
    static void step() {
        if (current()) current()->leave(nullptr);
    }
    /// The thread goes on once `blocked` is false.
    static void wait_while(std::function<bool()> blocked) {
        if (current()) current()->leave(std::move(blocked));
    }

  private:
    struct thread {
        ucontext_t context{};
        body run;
        bool is_over = false;
        std::function<bool()> blocked;
    };
    static scheduler*& current() {
        static scheduler* running = nullptr;
        return running;
    }
    static void begin() {
        auto& self = *current();
        auto& its = *self.m_threads[self.m_running];
        its.run();
        its.is_over = true;
    }
    void leave(std::function<bool()> blocked) {
        auto& self = *m_threads[m_running];
        self.blocked = std::move(blocked);
        ::swapcontext(&self.context, &m_main);
    }
    using stack = std::array<char, 64 << 10>;
    ucontext_t m_main{};
    std::vector<std::unique_ptr<stack>> m_stacks; ///< used again by the next run
    std::vector<std::unique_ptr<thread>> m_threads;
    std::size_t m_running = 0;
};

/// As std::atomic, with a step before each operation.
template <class Value> class atomic {
  public:
    atomic(Value value = {}) : m_value(value) {}
    Value load(std::memory_order = std::memory_order_seq_cst) const {
        scheduler::step();
        return m_value;
    }
    void store(Value value, std::memory_order = std::memory_order_seq_cst) {
        scheduler::step();
        m_value = value;
    }
    Value fetch_add(Value more, std::memory_order = std::memory_order_seq_cst) {
        scheduler::step();
        return std::exchange(m_value, m_value + more);
    }
    Value fetch_sub(Value less, std::memory_order = std::memory_order_seq_cst) {
        scheduler::step();
        return std::exchange(m_value, m_value - less);
    }
    bool compare_exchange_strong(Value& expected, Value wanted, std::memory_order = std::memory_order_seq_cst,
                                 std::memory_order = std::memory_order_seq_cst) {
        scheduler::step();
        if (m_value != expected) {
            expected = m_value;
            return false;
        }
        m_value = wanted;
        return true;
    }
    bool compare_exchange_weak(Value& expected, Value wanted, std::memory_order = std::memory_order_seq_cst,
                               std::memory_order = std::memory_order_seq_cst) {
        return compare_exchange_strong(expected, wanted);
    }
    /// As a futex: whoever sleeps is woken by notify alone, not by the value.
    void wait(Value old, std::memory_order = std::memory_order_seq_cst) {
        scheduler::step();
        if (m_value != old) return;
        const auto ticket = std::make_shared<bool>(true);
        m_sleepers.push_back(ticket);
        scheduler::wait_while([ticket] { return *ticket; });
    }
    void notify_one() {
        scheduler::step();
        if (m_sleepers.empty()) return;
        *m_sleepers.front() = false;
        m_sleepers.erase(m_sleepers.begin());
    }
    void notify_all() {
        scheduler::step();
        for (auto& each : m_sleepers) *each = false;
        m_sleepers.clear();
    }

  private:
    Value m_value;
    std::vector<std::shared_ptr<bool>> m_sleepers;
};

struct atomics {
    template <class Value> using atomic = stepped::atomic<Value>;
    static void fence() {} // one order of all operations is what this model has
};

struct model_lock {
    void lock() {
        scheduler::step();
        if (taken) scheduler::wait_while([this] { return taken; });
        taken = true;
    }
    void unlock() { taken = false; }
    bool taken = false;
};

} // namespace stepped
