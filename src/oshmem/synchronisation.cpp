// SPDX-License-Identifier: Apache-2.0
// Waiting for words that other PEs change, and locks.
#include "oshmem/remote_word.hpp"

#include <causeway/oshmem/shmem.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using causeway::oshmem::give_up;
using causeway::oshmem::job;
using causeway::oshmem::remote_word;
using causeway::oshmem::word_operation;

namespace {

constexpr auto none = std::numeric_limits<std::size_t>::max();

template <class Type> bool compares(const char* call, Type seen, int how, Type value) {
    switch (how) {
    case SHMEM_CMP_EQ: return seen == value;
    case SHMEM_CMP_NE: return seen != value;
    case SHMEM_CMP_GT: return seen > value;
    case SHMEM_CMP_GE: return seen >= value;
    case SHMEM_CMP_LT: return seen < value;
    case SHMEM_CMP_LE: return seen <= value;
    default: give_up(call, "there is no comparison " + std::to_string(how));
    }
}

/// What a word of this PE is now.
template <class Type> Type look(const char* call, const Type* word) {
    auto& all = job::required(call);
    if (!all.is_distant(word)) return __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if constexpr (sizeof(Type) >= 4) {
        return static_cast<Type>(all.device().atomic(call, word_operation::fetch, sizeof(Type), word, 0, 0, all.pe()));
    } else {
        Type seen{};
        all.device().get(call, &seen, word, sizeof seen, all.pe());
        return seen;
    }
}

/// Words that are waited for together: with one value for all, or one each.
template <class Type> struct awaited {
    const char* call;
    Type* words;
    std::size_t count;
    const int* status; // null, or not 0 for those that do not count
    int how;
    const Type* values;
    bool has_one_value;

    [[nodiscard]] bool counts(std::size_t i) const { return status == nullptr || status[i] == 0; }
    [[nodiscard]] bool holds(std::size_t i) const {
        return compares(call, look(call, words + i), how, values[has_one_value ? 0 : i]);
    }
    [[nodiscard]] bool is_empty() const {
        for (std::size_t i = 0; i < count; ++i)
            if (counts(i)) return false;
        return true;
    }
    [[nodiscard]] bool all() const {
        for (std::size_t i = 0; i < count; ++i)
            if (counts(i) && !holds(i)) return false;
        return true;
    }
    /// Begins behind the one that was found last: programs count on it that each has its turn.
    [[nodiscard]] std::size_t any() const {
        thread_local std::size_t last = 0;
        for (std::size_t step = 1; step <= count; ++step)
            if (const auto i = (last % count + step) % count; counts(i) && holds(i)) return last = i;
        return none;
    }
    [[nodiscard]] std::size_t some(std::size_t* indices) const {
        std::size_t found = 0;
        for (std::size_t i = 0; i < count; ++i)
            if (counts(i) && holds(i)) indices[found++] = i;
        return found;
    }
    void wait_for_all() const {
        job::required(call).wait(call, [this] { return all(); });
    }
    [[nodiscard]] std::size_t wait_for_any() const {
        auto found = none;
        if (!is_empty()) job::required(call).wait(call, [&] { return (found = any()) != none; });
        return found;
    }
    [[nodiscard]] std::size_t wait_for_some(std::size_t* indices) const {
        std::size_t found = 0;
        if (!is_empty()) job::required(call).wait(call, [&] { return (found = some(indices)) != 0; });
        return found;
    }
};

/// Tickets in one long of PE 0: the next one to be given in its upper half, the one whose turn it is in the lower.
remote_word<std::uint64_t> lock_word(long* lock, const char* call) { return {call, lock, 0}; }
constexpr std::uint64_t one_ticket = std::uint64_t{1} << 32;

} // namespace

extern "C" {

#define WAITS(NAME, TYPE)                                                                                              \
    void shmem_##NAME##_wait_until(TYPE* w, int cmp, TYPE value) {                                                     \
        awaited<TYPE>{"shmem_" #NAME "_wait_until", w, 1, nullptr, cmp, &value, true}.wait_for_all();                  \
    }                                                                                                                  \
    void shmem_##NAME##_wait_until_all(TYPE* w, size_t n, const int* status, int cmp, TYPE value) {                    \
        awaited<TYPE>{"shmem_" #NAME "_wait_until_all", w, n, status, cmp, &value, true}.wait_for_all();               \
    }                                                                                                                  \
    size_t shmem_##NAME##_wait_until_any(TYPE* w, size_t n, const int* status, int cmp, TYPE value) {                  \
        return awaited<TYPE>{"shmem_" #NAME "_wait_until_any", w, n, status, cmp, &value, true}.wait_for_any();        \
    }                                                                                                                  \
    size_t shmem_##NAME##_wait_until_some(TYPE* w, size_t n, size_t* indices, const int* status, int cmp,              \
                                          TYPE value) {                                                                \
        return awaited<TYPE>{"shmem_" #NAME "_wait_until_some", w, n, status, cmp, &value, true}.wait_for_some(        \
            indices);                                                                                                  \
    }                                                                                                                  \
    void shmem_##NAME##_wait_until_all_vector(TYPE* w, size_t n, const int* status, int cmp, TYPE* values) {           \
        awaited<TYPE>{"shmem_" #NAME "_wait_until_all_vector", w, n, status, cmp, values, false}.wait_for_all();       \
    }                                                                                                                  \
    size_t shmem_##NAME##_wait_until_any_vector(TYPE* w, size_t n, const int* status, int cmp, TYPE* values) {         \
        return awaited<TYPE>{"shmem_" #NAME "_wait_until_any_vector", w, n, status, cmp, values, false}                \
            .wait_for_any();                                                                                           \
    }                                                                                                                  \
    size_t shmem_##NAME##_wait_until_some_vector(TYPE* w, size_t n, size_t* indices, const int* status, int cmp,       \
                                                 TYPE* values) {                                                       \
        return awaited<TYPE>{"shmem_" #NAME "_wait_until_some_vector", w, n, status, cmp, values, false}               \
            .wait_for_some(indices);                                                                                   \
    }                                                                                                                  \
    int shmem_##NAME##_test(TYPE* w, int cmp, TYPE value) {                                                            \
        return awaited<TYPE>{"shmem_" #NAME "_test", w, 1, nullptr, cmp, &value, true}.all() ? 1 : 0;                  \
    }                                                                                                                  \
    int shmem_##NAME##_test_all(TYPE* w, size_t n, const int* status, int cmp, TYPE value) {                           \
        return awaited<TYPE>{"shmem_" #NAME "_test_all", w, n, status, cmp, &value, true}.all() ? 1 : 0;               \
    }                                                                                                                  \
    size_t shmem_##NAME##_test_any(TYPE* w, size_t n, const int* status, int cmp, TYPE value) {                        \
        return awaited<TYPE>{"shmem_" #NAME "_test_any", w, n, status, cmp, &value, true}.any();                       \
    }                                                                                                                  \
    size_t shmem_##NAME##_test_some(TYPE* w, size_t n, size_t* indices, const int* status, int cmp, TYPE value) {      \
        return awaited<TYPE>{"shmem_" #NAME "_test_some", w, n, status, cmp, &value, true}.some(indices);              \
    }                                                                                                                  \
    int shmem_##NAME##_test_all_vector(TYPE* w, size_t n, const int* status, int cmp, TYPE* values) {                  \
        return awaited<TYPE>{"shmem_" #NAME "_test_all_vector", w, n, status, cmp, values, false}.all() ? 1 : 0;       \
    }                                                                                                                  \
    size_t shmem_##NAME##_test_any_vector(TYPE* w, size_t n, const int* status, int cmp, TYPE* values) {               \
        return awaited<TYPE>{"shmem_" #NAME "_test_any_vector", w, n, status, cmp, values, false}.any();               \
    }                                                                                                                  \
    size_t shmem_##NAME##_test_some_vector(TYPE* w, size_t n, size_t* indices, const int* status, int cmp,             \
                                           TYPE* values) {                                                             \
        return awaited<TYPE>{"shmem_" #NAME "_test_some_vector", w, n, status, cmp, values, false}.some(indices);      \
    }
CAUSEWAY_SHMEM_WAIT_TYPES(WAITS)

uint64_t shmem_signal_fetch(const uint64_t* signal) { return look("shmem_signal_fetch", signal); }
uint64_t shmem_signal_wait_until(uint64_t* signal, int cmp, uint64_t value) {
    uint64_t seen = 0;
    job::required("shmem_signal_wait_until").wait("shmem_signal_wait_until", [&] {
        return compares("shmem_signal_wait_until", seen = shmem_signal_fetch(signal), cmp, value);
    });
    return seen;
}

void shmem_wait(long* word, long value) { shmem_long_wait_until(word, SHMEM_CMP_NE, value); }
void shmem_wait_until(long* word, int cmp, long value) { shmem_long_wait_until(word, cmp, value); }
void shmem_short_wait(short* word, short value) { shmem_short_wait_until(word, SHMEM_CMP_NE, value); }
void shmem_int_wait(int* word, int value) { shmem_int_wait_until(word, SHMEM_CMP_NE, value); }
void shmem_long_wait(long* word, long value) { shmem_long_wait_until(word, SHMEM_CMP_NE, value); }
void shmem_longlong_wait(long long* word, long long value) { shmem_longlong_wait_until(word, SHMEM_CMP_NE, value); }

void shmem_set_lock(long* lock) {
    const auto word = lock_word(lock, "shmem_set_lock");
    const auto own = static_cast<std::uint32_t>(word.fetch_add(one_ticket) >> 32);
    job::instance().wait("shmem_set_lock", [&] { return static_cast<std::uint32_t>(word.load()) == own; });
}

int shmem_test_lock(long* lock) {
    const auto word = lock_word(lock, "shmem_test_lock");
    auto seen = word.load();
    while (static_cast<std::uint32_t>(seen >> 32) == static_cast<std::uint32_t>(seen)) {
        const auto before = word.compare_exchange(seen, seen + one_ticket);
        if (before == seen) return 0;
        seen = before;
    }
    return 1;
}

void shmem_clear_lock(long* lock) {
    const auto word = lock_word(lock, "shmem_clear_lock");
    shmem_quiet();
    // The turn is the lower half alone: it may come back to 0 without a carry.
    for (auto seen = word.load();;) {
        const auto turn = static_cast<std::uint32_t>(seen) + 1;
        // Free, it is 0 again, as a program's variable was before its first use.
        const auto next = static_cast<std::uint32_t>(seen >> 32) == turn ? 0 : (seen >> 32 << 32) | turn;
        const auto before = word.compare_exchange(seen, next);
        if (before == seen) return;
        seen = before;
    }
}

} // extern "C"
