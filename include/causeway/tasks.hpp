// SPDX-License-Identifier: Apache-2.0
// Tasks near their data, for C++20: a thin layer above causeway/tasks.h.
#ifndef CAUSEWAY_TASKS_HPP
#define CAUSEWAY_TASKS_HPP

#include <causeway/tasks.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <initializer_list>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace causeway {

/// The failure of a function in causeway/tasks.h, with its code.
class tasks_error : public std::runtime_error {
  public:
    explicit tasks_error(int code) : std::runtime_error(causeway_tasks_last_error()), m_code(code) {}
    [[nodiscard]] int code() const { return m_code; }

  private:
    int m_code;
};

namespace detail {
inline void check_tasks(int code) {
    if (code == CAUSEWAY_TASKS_OUT_OF_MEMORY) throw std::bad_alloc();
    if (code != CAUSEWAY_TASKS_SUCCESS) throw tasks_error(code);
}
/// The bytes of `count` values. If that overflows, the largest size, which the library refuses.
template <class Value> std::size_t bytes_of(std::size_t count) {
    return count > std::size_t(-1) / sizeof(Value) ? std::size_t(-1) : count * sizeof(Value);
}
} // namespace detail

/// Memory with a distribution, for containers: std::vector<double, causeway::distributed<double>>.
template <class Value> struct distributed {
    using value_type = Value;
    causeway_distribution distribution = CAUSEWAY_DISTRIBUTION_DEFAULT;

    distributed() = default;
    explicit distributed(causeway_distribution how) : distribution(how) {}
    template <class Other> distributed(const distributed<Other>& other) : distribution(other.distribution) {}
    Value* allocate(std::size_t count) {
        if (count > std::size_t(-1) / sizeof(Value)) throw std::bad_array_new_length();
        void* const memory = causeway_malloc(count * sizeof(Value), distribution);
        if (!memory) throw std::bad_alloc();
        return static_cast<Value*>(memory);
    }
    void deallocate(Value* memory, std::size_t) { causeway_free(memory); }
    friend bool operator==(const distributed&, const distributed&) { return true; }
};

/// The memory that a task works on: `count` values from `first` on. A region beyond the last address is refused when
/// the task is spawned.
template <class Value> causeway_region in(const Value* first, std::size_t count = 1) {
    return {first, detail::bytes_of<Value>(count), CAUSEWAY_REGION_IN, 0};
}
template <class Value> causeway_region out(Value* first, std::size_t count = 1) {
    return {first, detail::bytes_of<Value>(count), CAUSEWAY_REGION_OUT, 0};
}
template <class Value> causeway_region inout(Value* first, std::size_t count = 1) {
    return {first, detail::bytes_of<Value>(count), CAUSEWAY_REGION_INOUT, 0};
}
/// Where the bytes are; orders nothing.
template <class Value> causeway_region footprint(const Value* first, std::size_t count = 1) {
    return {first, detail::bytes_of<Value>(count), CAUSEWAY_REGION_FOOTPRINT, 0};
}
/// Marks the region of a task that it uses most.
inline causeway_region most_used(causeway_region region) {
    region.most_used = 1;
    return region;
}

class task_pool {
  public:
    explicit task_pool(const causeway_task_pool_options& options = {}) {
        detail::check_tasks(causeway_task_pool_create(&options, &m_pool));
    }
    task_pool(const task_pool&) = delete;
    task_pool& operator=(const task_pool&) = delete;
    ~task_pool() { causeway_task_pool_release(m_pool); }

    [[nodiscard]] causeway_task_pool* get() const { return m_pool; }
    [[nodiscard]] causeway_task_statistics statistics() const {
        causeway_task_statistics now;
        causeway_task_pool_statistics(m_pool, &now);
        return now;
    }

  private:
    causeway_task_pool* m_pool = nullptr;
};

/// Tasks that are waited for together. Regions order tasks of one group. The destructor waits, and drops exceptions
/// that tasks have thrown.
class task_group {
  public:
    explicit task_group(task_pool& pool) : m_pool(pool.get()) { causeway_task_group_init(&m_group, m_pool); }
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;
    ~task_group() {
        (void)causeway_task_group_wait(&m_group);
        causeway_task_group_release(&m_group);
    }

    /// `work` is called once, in any thread, when earlier tasks of the group whose regions overlap are over. What it
    /// throws cancels the group, and wait() throws it. It may run within this call, so hold no lock that it takes; or
    /// use spawn_held() and let_go(), which run no task.
    template <class Work> void spawn(Work&& work, std::span<const causeway_region> regions = {}, int flags = 0) {
        (void)submit(std::forward<Work>(work), regions, flags);
    }
    template <class Work> void spawn(Work&& work, std::initializer_list<causeway_region> regions, int flags = 0) {
        spawn(std::forward<Work>(work), std::span<const causeway_region>(regions.begin(), regions.size()), flags);
    }

    /// As spawn(), but the work also waits for let_go(), which must be called once. The handle is valid until then.
    template <class Work> [[nodiscard]] causeway_task* spawn_held(Work&& work,
                                                                  std::span<const causeway_region> regions = {}) {
        return submit(std::forward<Work>(work), regions, CAUSEWAY_TASK_HELD);
    }
    void let_go(causeway_task* held) { causeway_task_let_go(m_pool, held); }

    /// Runs tasks until all of the group are over. Throws what the first of them threw, or tasks_error if the group was
    /// cancelled.
    void wait() {
        const int code = causeway_task_group_wait(&m_group);
        if (m_failed.load(std::memory_order_acquire)) {
            m_failed.store(false, std::memory_order_relaxed);
            m_claimed.clear();
            std::rethrow_exception(std::exchange(m_failure, nullptr));
        }
        detail::check_tasks(code);
    }
    void cancel() { causeway_task_group_cancel(&m_group); }
    [[nodiscard]] bool is_cancelled() const { return causeway_task_group_is_cancelled(&m_group) != 0; }
    [[nodiscard]] causeway_task_group* get() { return &m_group; }

  private:
    template <class Work> causeway_task* submit(Work&& work, std::span<const causeway_region> regions, int flags) {
        using held = payload<std::decay_t<Work>>;
        void* storage = nullptr;
        auto* const task = causeway_task_make(m_pool, sizeof(held), alignof(held), &storage);
        if (!task) throw std::bad_alloc();
        try {
            new (storage) held{std::forward<Work>(work), this};
        } catch (...) {
            causeway_task_discard(m_pool, task);
            throw;
        }
        detail::check_tasks(
            causeway_task_submit(&m_group, task, held::run, held::destroy, regions.data(), regions.size(), flags));
        return task;
    }
    template <class Work> struct payload {
        Work work;
        task_group* group;

        static void run(void* storage) {
            auto& self = *static_cast<payload*>(storage);
            try {
                self.work();
            } catch (...) {
                self.group->fail(std::current_exception());
            }
            self.~payload();
        }
        static void destroy(void* storage) { static_cast<payload*>(storage)->~payload(); }
    };
    void fail(std::exception_ptr failure) {
        if (!m_claimed.test_and_set()) {
            m_failure = std::move(failure);
            m_failed.store(true, std::memory_order_release);
        }
        cancel();
    }

    causeway_task_pool* m_pool;
    causeway_task_group m_group;
    std::atomic_flag m_claimed;
    std::atomic<bool> m_failed{false};
    std::exception_ptr m_failure;
};

} // namespace causeway

#endif
