// SPDX-License-Identifier: Apache-2.0
// Puts, gets and atomics: loads and stores in memory that this PE has mapped, messages to other nodes, and what
// libcauseway does in a device's memory.
#include "oshmem/remote_word.hpp"
#include "oshmem/teams.hpp"

#include <causeway/oshmem/shmem.h>

#include <cstring>
#include <string>
#include <type_traits>

using causeway::oshmem::job;

namespace {

/// PEs of a context are numbered as in its team.
int in_world(shmem_ctx_t ctx, int pe) {
    if (ctx == SHMEM_CTX_DEFAULT) return pe;
    if (ctx == nullptr) causeway::oshmem::give_up("shmem_ctx_*", "the context is SHMEM_CTX_INVALID");
    const auto& who = ctx->team->who;
    if (pe < 0 || pe >= who.size)
        causeway::oshmem::give_up("shmem_ctx_*",
                                  "there is no PE " + std::to_string(pe) + " in a team of " + std::to_string(who.size));
    return who.world(pe);
}

void put(const char* call, void* target, const void* source, std::size_t bytes, int pe) {
    job::required(call).put(call, target, source, bytes, pe);
}
void get(const char* call, void* target, const void* source, std::size_t bytes, int pe) {
    job::required(call).get(call, target, source, bytes, pe);
}
void start_put(const char* call, void* target, const void* source, std::size_t bytes, int pe) {
    job::required(call).put(call, target, source, bytes, pe, causeway::oshmem::returns::at_once);
}
void start_get(const char* call, void* target, const void* source, std::size_t bytes, int pe) {
    job::required(call).get(call, target, source, bytes, pe, causeway::oshmem::returns::at_once);
}

/// Calls `one(to, from)` with the elements of both sides.
template <std::size_t Bytes, class One> void for_each_element(std::byte* to, const std::byte* from,
                                                              std::ptrdiff_t to_stride, std::ptrdiff_t from_stride,
                                                              std::size_t count, One one) {
    for (std::size_t i = 0; i < count; ++i) {
        one(to, from);
        to += to_stride * static_cast<std::ptrdiff_t>(Bytes);
        from += from_stride * static_cast<std::ptrdiff_t>(Bytes);
    }
}
template <std::size_t Bytes> void put_strided(const char* call, void* target, const void* source, std::ptrdiff_t tst,
                                              std::ptrdiff_t sst, std::size_t count, int pe) {
    if (count == 0) return;
    auto& all = job::required(call);
    auto* const to = static_cast<std::byte*>(target);
    const auto* const from = static_cast<const std::byte*>(source);
    if (all.is_distant(target) || all.is_distant(source) || all.is_remote(pe)) {
        for_each_element<Bytes>(to, from, tst, sst, count,
                                [&](std::byte* t, const std::byte* s) { all.put(call, t, s, Bytes, pe); });
    } else {
        for_each_element<Bytes>(static_cast<std::byte*>(all.at(target, pe, call)), from, tst, sst, count,
                                [](std::byte* t, const std::byte* s) { std::memcpy(t, s, Bytes); });
    }
}
template <std::size_t Bytes> void get_strided(const char* call, void* target, const void* source, std::ptrdiff_t tst,
                                              std::ptrdiff_t sst, std::size_t count, int pe) {
    if (count == 0) return;
    auto& all = job::required(call);
    auto* const to = static_cast<std::byte*>(target);
    const auto* const from = static_cast<const std::byte*>(source);
    if (all.is_distant(target) || all.is_distant(source) || all.is_remote(pe)) {
        for_each_element<Bytes>(to, from, tst, sst, count,
                                [&](std::byte* t, const std::byte* s) { all.get(call, t, s, Bytes, pe); });
    } else {
        for_each_element<Bytes>(to, static_cast<const std::byte*>(all.at(source, pe, call)), tst, sst, count,
                                [](std::byte* t, const std::byte* s) { std::memcpy(t, s, Bytes); });
    }
}

void signal(const char* call, std::uint64_t* word, std::uint64_t value, int operation, int pe) {
    auto& all = job::required(call);
    const bool adds = operation == SHMEM_SIGNAL_ADD;
    if (all.is_distant(word)) {
        all.quiet(); // what was put by messages
        all.device().signal(call, word, value, adds, pe);
        return;
    }
    if (all.is_remote(pe)) {
        all.tell_remote(call, adds ? causeway::oshmem::word_operation::add : causeway::oshmem::word_operation::set,
                        sizeof value, word, value, pe);
        return;
    }
    auto* const there = static_cast<std::uint64_t*>(all.at(word, pe, call));
    if (adds) {
        __atomic_fetch_add(there, value, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(there, value, __ATOMIC_RELEASE);
    }
}

/// What the processor's atomics work on: numbers with a point as their bits.
template <class Type> using bits_of = std::conditional_t<sizeof(Type) == 4, std::uint32_t, std::uint64_t>;

template <class To, class From> To as(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}
template <class Type> causeway::oshmem::remote_word<bits_of<Type>> word(const char* call, const Type* address, int pe) {
    return {call, address, pe};
}

} // namespace

extern "C" {

void shmem_fence(void) { job::required("shmem_fence").fence(); }
void shmem_ctx_fence(shmem_ctx_t) { shmem_fence(); }
void shmem_quiet(void) { job::required("shmem_quiet").quiet(); }
void shmem_ctx_quiet(shmem_ctx_t) { shmem_quiet(); }

// Between PEs of one node what a call has read or written is there when it returns, in the forms that need not wait,
// too.
#define RMA(NAME, TYPE)                                                                                                \
    void shmem_##NAME##_put(TYPE* t, const TYPE* s, size_t n, int pe) {                                                \
        put("shmem_" #NAME "_put", t, s, n * sizeof(TYPE), pe);                                                        \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_put(shmem_ctx_t ctx, TYPE* t, const TYPE* s, size_t n, int pe) {                           \
        shmem_##NAME##_put(t, s, n, in_world(ctx, pe));                                                                \
    }                                                                                                                  \
    void shmem_##NAME##_put_nbi(TYPE* t, const TYPE* s, size_t n, int pe) {                                            \
        start_put("shmem_" #NAME "_put_nbi", t, s, n * sizeof(TYPE), pe);                                              \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_put_nbi(shmem_ctx_t ctx, TYPE* t, const TYPE* s, size_t n, int pe) {                       \
        shmem_##NAME##_put_nbi(t, s, n, in_world(ctx, pe));                                                            \
    }                                                                                                                  \
    void shmem_##NAME##_get(TYPE* t, const TYPE* s, size_t n, int pe) {                                                \
        get("shmem_" #NAME "_get", t, s, n * sizeof(TYPE), pe);                                                        \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_get(shmem_ctx_t ctx, TYPE* t, const TYPE* s, size_t n, int pe) {                           \
        shmem_##NAME##_get(t, s, n, in_world(ctx, pe));                                                                \
    }                                                                                                                  \
    void shmem_##NAME##_get_nbi(TYPE* t, const TYPE* s, size_t n, int pe) {                                            \
        start_get("shmem_" #NAME "_get_nbi", t, s, n * sizeof(TYPE), pe);                                              \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_get_nbi(shmem_ctx_t ctx, TYPE* t, const TYPE* s, size_t n, int pe) {                       \
        shmem_##NAME##_get_nbi(t, s, n, in_world(ctx, pe));                                                            \
    }                                                                                                                  \
    void shmem_##NAME##_p(TYPE* t, TYPE value, int pe) { put("shmem_" #NAME "_p", t, &value, sizeof value, pe); }      \
    void shmem_ctx_##NAME##_p(shmem_ctx_t ctx, TYPE* t, TYPE value, int pe) {                                          \
        shmem_##NAME##_p(t, value, in_world(ctx, pe));                                                                 \
    }                                                                                                                  \
    TYPE shmem_##NAME##_g(const TYPE* s, int pe) {                                                                     \
        TYPE value;                                                                                                    \
        get("shmem_" #NAME "_g", &value, s, sizeof value, pe);                                                         \
        return value;                                                                                                  \
    }                                                                                                                  \
    TYPE shmem_ctx_##NAME##_g(shmem_ctx_t ctx, const TYPE* s, int pe) {                                                \
        return shmem_##NAME##_g(s, in_world(ctx, pe));                                                                 \
    }                                                                                                                  \
    void shmem_##NAME##_iput(TYPE* t, const TYPE* s, ptrdiff_t tst, ptrdiff_t sst, size_t n, int pe) {                 \
        put_strided<sizeof(TYPE)>("shmem_" #NAME "_iput", t, s, tst, sst, n, pe);                                      \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_iput(shmem_ctx_t ctx, TYPE* t, const TYPE* s, ptrdiff_t tst, ptrdiff_t sst, size_t n,      \
                                 int pe) {                                                                             \
        shmem_##NAME##_iput(t, s, tst, sst, n, in_world(ctx, pe));                                                     \
    }                                                                                                                  \
    void shmem_##NAME##_iget(TYPE* t, const TYPE* s, ptrdiff_t tst, ptrdiff_t sst, size_t n, int pe) {                 \
        get_strided<sizeof(TYPE)>("shmem_" #NAME "_iget", t, s, tst, sst, n, pe);                                      \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_iget(shmem_ctx_t ctx, TYPE* t, const TYPE* s, ptrdiff_t tst, ptrdiff_t sst, size_t n,      \
                                 int pe) {                                                                             \
        shmem_##NAME##_iget(t, s, tst, sst, n, in_world(ctx, pe));                                                     \
    }                                                                                                                  \
    void shmem_##NAME##_put_signal(TYPE* t, const TYPE* s, size_t n, uint64_t* sig, uint64_t value, int op, int pe) {  \
        put("shmem_" #NAME "_put_signal", t, s, n * sizeof(TYPE), pe);                                                 \
        signal("shmem_" #NAME "_put_signal", sig, value, op, pe);                                                      \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_put_signal(shmem_ctx_t ctx, TYPE* t, const TYPE* s, size_t n, uint64_t* sig,               \
                                       uint64_t value, int op, int pe) {                                               \
        shmem_##NAME##_put_signal(t, s, n, sig, value, op, in_world(ctx, pe));                                         \
    }                                                                                                                  \
    void shmem_##NAME##_put_signal_nbi(TYPE* t, const TYPE* s, size_t n, uint64_t* sig, uint64_t value, int op,        \
                                       int pe) {                                                                       \
        shmem_##NAME##_put_signal(t, s, n, sig, value, op, pe);                                                        \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_put_signal_nbi(shmem_ctx_t ctx, TYPE* t, const TYPE* s, size_t n, uint64_t* sig,           \
                                           uint64_t value, int op, int pe) {                                           \
        shmem_##NAME##_put_signal(t, s, n, sig, value, op, in_world(ctx, pe));                                         \
    }
CAUSEWAY_SHMEM_RMA_TYPES(RMA)

#define RMA_SIZE(NAME, BYTES)                                                                                          \
    void shmem_put##NAME(void* t, const void* s, size_t n, int pe) { put("shmem_put" #NAME, t, s, n*(BYTES), pe); }    \
    void shmem_ctx_put##NAME(shmem_ctx_t ctx, void* t, const void* s, size_t n, int pe) {                              \
        shmem_put##NAME(t, s, n, in_world(ctx, pe));                                                                   \
    }                                                                                                                  \
    void shmem_put##NAME##_nbi(void* t, const void* s, size_t n, int pe) {                                             \
        start_put("shmem_put" #NAME "_nbi", t, s, n*(BYTES), pe);                                                      \
    }                                                                                                                  \
    void shmem_ctx_put##NAME##_nbi(shmem_ctx_t ctx, void* t, const void* s, size_t n, int pe) {                        \
        shmem_put##NAME##_nbi(t, s, n, in_world(ctx, pe));                                                             \
    }                                                                                                                  \
    void shmem_get##NAME(void* t, const void* s, size_t n, int pe) { get("shmem_get" #NAME, t, s, n*(BYTES), pe); }    \
    void shmem_ctx_get##NAME(shmem_ctx_t ctx, void* t, const void* s, size_t n, int pe) {                              \
        shmem_get##NAME(t, s, n, in_world(ctx, pe));                                                                   \
    }                                                                                                                  \
    void shmem_get##NAME##_nbi(void* t, const void* s, size_t n, int pe) {                                             \
        start_get("shmem_get" #NAME "_nbi", t, s, n*(BYTES), pe);                                                      \
    }                                                                                                                  \
    void shmem_ctx_get##NAME##_nbi(shmem_ctx_t ctx, void* t, const void* s, size_t n, int pe) {                        \
        shmem_get##NAME##_nbi(t, s, n, in_world(ctx, pe));                                                             \
    }                                                                                                                  \
    void shmem_put##NAME##_signal(void* t, const void* s, size_t n, uint64_t* sig, uint64_t value, int op, int pe) {   \
        shmem_put##NAME(t, s, n, pe);                                                                                  \
        signal("shmem_put" #NAME "_signal", sig, value, op, pe);                                                       \
    }                                                                                                                  \
    void shmem_ctx_put##NAME##_signal(shmem_ctx_t ctx, void* t, const void* s, size_t n, uint64_t* sig,                \
                                      uint64_t value, int op, int pe) {                                                \
        shmem_put##NAME##_signal(t, s, n, sig, value, op, in_world(ctx, pe));                                          \
    }                                                                                                                  \
    void shmem_put##NAME##_signal_nbi(void* t, const void* s, size_t n, uint64_t* sig, uint64_t value, int op,         \
                                      int pe) {                                                                        \
        shmem_put##NAME##_signal(t, s, n, sig, value, op, pe);                                                         \
    }                                                                                                                  \
    void shmem_ctx_put##NAME##_signal_nbi(shmem_ctx_t ctx, void* t, const void* s, size_t n, uint64_t* sig,            \
                                          uint64_t value, int op, int pe) {                                            \
        shmem_put##NAME##_signal(t, s, n, sig, value, op, in_world(ctx, pe));                                          \
    }
CAUSEWAY_SHMEM_SIZES(RMA_SIZE)
RMA_SIZE(mem, 1)

#define STRIDED_SIZE(NAME, BYTES)                                                                                      \
    void shmem_iput##NAME(void* t, const void* s, ptrdiff_t tst, ptrdiff_t sst, size_t n, int pe) {                    \
        put_strided<BYTES>("shmem_iput" #NAME, t, s, tst, sst, n, pe);                                                 \
    }                                                                                                                  \
    void shmem_ctx_iput##NAME(shmem_ctx_t ctx, void* t, const void* s, ptrdiff_t tst, ptrdiff_t sst, size_t n,         \
                              int pe) {                                                                                \
        shmem_iput##NAME(t, s, tst, sst, n, in_world(ctx, pe));                                                        \
    }                                                                                                                  \
    void shmem_iget##NAME(void* t, const void* s, ptrdiff_t tst, ptrdiff_t sst, size_t n, int pe) {                    \
        get_strided<BYTES>("shmem_iget" #NAME, t, s, tst, sst, n, pe);                                                 \
    }                                                                                                                  \
    void shmem_ctx_iget##NAME(shmem_ctx_t ctx, void* t, const void* s, ptrdiff_t tst, ptrdiff_t sst, size_t n,         \
                              int pe) {                                                                                \
        shmem_iget##NAME(t, s, tst, sst, n, in_world(ctx, pe));                                                        \
    }
CAUSEWAY_SHMEM_SIZES(STRIDED_SIZE)

#define AMO_EXTENDED(NAME, TYPE)                                                                                       \
    TYPE shmem_##NAME##_atomic_fetch(const TYPE* s, int pe) {                                                          \
        return as<TYPE>(word("shmem_" #NAME "_atomic_fetch", s, pe).load());                                           \
    }                                                                                                                  \
    TYPE shmem_ctx_##NAME##_atomic_fetch(shmem_ctx_t ctx, const TYPE* s, int pe) {                                     \
        return shmem_##NAME##_atomic_fetch(s, in_world(ctx, pe));                                                      \
    }                                                                                                                  \
    void shmem_##NAME##_atomic_set(TYPE* t, TYPE value, int pe) {                                                      \
        word("shmem_" #NAME "_atomic_set", t, pe).store(as<bits_of<TYPE>>(value));                                     \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_atomic_set(shmem_ctx_t ctx, TYPE* t, TYPE value, int pe) {                                 \
        shmem_##NAME##_atomic_set(t, value, in_world(ctx, pe));                                                        \
    }                                                                                                                  \
    TYPE shmem_##NAME##_atomic_swap(TYPE* t, TYPE value, int pe) {                                                     \
        return as<TYPE>(word("shmem_" #NAME "_atomic_swap", t, pe).exchange(as<bits_of<TYPE>>(value)));                \
    }                                                                                                                  \
    TYPE shmem_ctx_##NAME##_atomic_swap(shmem_ctx_t ctx, TYPE* t, TYPE value, int pe) {                                \
        return shmem_##NAME##_atomic_swap(t, value, in_world(ctx, pe));                                                \
    }                                                                                                                  \
    void shmem_##NAME##_atomic_fetch_nbi(TYPE* f, const TYPE* s, int pe) { *f = shmem_##NAME##_atomic_fetch(s, pe); }  \
    void shmem_ctx_##NAME##_atomic_fetch_nbi(shmem_ctx_t ctx, TYPE* f, const TYPE* s, int pe) {                        \
        *f = shmem_##NAME##_atomic_fetch(s, in_world(ctx, pe));                                                        \
    }                                                                                                                  \
    void shmem_##NAME##_atomic_swap_nbi(TYPE* f, TYPE* t, TYPE value, int pe) {                                        \
        *f = shmem_##NAME##_atomic_swap(t, value, pe);                                                                 \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_atomic_swap_nbi(shmem_ctx_t ctx, TYPE* f, TYPE* t, TYPE value, int pe) {                   \
        *f = shmem_##NAME##_atomic_swap(t, value, in_world(ctx, pe));                                                  \
    }
CAUSEWAY_SHMEM_EXTENDED_TYPES(AMO_EXTENDED)

#define AMO_STANDARD(NAME, TYPE)                                                                                       \
    TYPE shmem_##NAME##_atomic_compare_swap(TYPE* t, TYPE condition, TYPE value, int pe) {                             \
        return as<TYPE>(word("shmem_" #NAME "_atomic_compare_swap", t, pe)                                             \
                            .compare_exchange(as<bits_of<TYPE>>(condition), as<bits_of<TYPE>>(value)));                \
    }                                                                                                                  \
    TYPE shmem_ctx_##NAME##_atomic_compare_swap(shmem_ctx_t ctx, TYPE* t, TYPE condition, TYPE value, int pe) {        \
        return shmem_##NAME##_atomic_compare_swap(t, condition, value, in_world(ctx, pe));                             \
    }                                                                                                                  \
    void shmem_##NAME##_atomic_compare_swap_nbi(TYPE* f, TYPE* t, TYPE condition, TYPE value, int pe) {                \
        *f = shmem_##NAME##_atomic_compare_swap(t, condition, value, pe);                                              \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_atomic_compare_swap_nbi(shmem_ctx_t ctx, TYPE* f, TYPE* t, TYPE condition, TYPE value,     \
                                                    int pe) {                                                          \
        *f = shmem_##NAME##_atomic_compare_swap(t, condition, value, in_world(ctx, pe));                               \
    }                                                                                                                  \
    TYPE shmem_##NAME##_atomic_fetch_add(TYPE* t, TYPE value, int pe) {                                                \
        return as<TYPE>(word("shmem_" #NAME "_atomic_fetch_add", t, pe).fetch_add(as<bits_of<TYPE>>(value)));          \
    }                                                                                                                  \
    TYPE shmem_ctx_##NAME##_atomic_fetch_add(shmem_ctx_t ctx, TYPE* t, TYPE value, int pe) {                           \
        return shmem_##NAME##_atomic_fetch_add(t, value, in_world(ctx, pe));                                           \
    }                                                                                                                  \
    void shmem_##NAME##_atomic_fetch_add_nbi(TYPE* f, TYPE* t, TYPE value, int pe) {                                   \
        *f = shmem_##NAME##_atomic_fetch_add(t, value, pe);                                                            \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_atomic_fetch_add_nbi(shmem_ctx_t ctx, TYPE* f, TYPE* t, TYPE value, int pe) {              \
        *f = shmem_##NAME##_atomic_fetch_add(t, value, in_world(ctx, pe));                                             \
    }                                                                                                                  \
    void shmem_##NAME##_atomic_add(TYPE* t, TYPE value, int pe) { shmem_##NAME##_atomic_fetch_add(t, value, pe); }     \
    void shmem_ctx_##NAME##_atomic_add(shmem_ctx_t ctx, TYPE* t, TYPE value, int pe) {                                 \
        shmem_##NAME##_atomic_fetch_add(t, value, in_world(ctx, pe));                                                  \
    }                                                                                                                  \
    TYPE shmem_##NAME##_atomic_fetch_inc(TYPE* t, int pe) { return shmem_##NAME##_atomic_fetch_add(t, 1, pe); }        \
    TYPE shmem_ctx_##NAME##_atomic_fetch_inc(shmem_ctx_t ctx, TYPE* t, int pe) {                                       \
        return shmem_##NAME##_atomic_fetch_add(t, 1, in_world(ctx, pe));                                               \
    }                                                                                                                  \
    void shmem_##NAME##_atomic_fetch_inc_nbi(TYPE* f, TYPE* t, int pe) {                                               \
        *f = shmem_##NAME##_atomic_fetch_add(t, 1, pe);                                                                \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_atomic_fetch_inc_nbi(shmem_ctx_t ctx, TYPE* f, TYPE* t, int pe) {                          \
        *f = shmem_##NAME##_atomic_fetch_add(t, 1, in_world(ctx, pe));                                                 \
    }                                                                                                                  \
    void shmem_##NAME##_atomic_inc(TYPE* t, int pe) { shmem_##NAME##_atomic_fetch_add(t, 1, pe); }                     \
    void shmem_ctx_##NAME##_atomic_inc(shmem_ctx_t ctx, TYPE* t, int pe) {                                             \
        shmem_##NAME##_atomic_fetch_add(t, 1, in_world(ctx, pe));                                                      \
    }
CAUSEWAY_SHMEM_AMO_TYPES(AMO_STANDARD)

#define AMO_BITWISE_OP(NAME, TYPE, OP)                                                                                 \
    TYPE shmem_##NAME##_atomic_fetch_##OP(TYPE* t, TYPE value, int pe) {                                               \
        return as<TYPE>(word("shmem_" #NAME "_atomic_fetch_" #OP, t, pe).fetch_##OP(as<bits_of<TYPE>>(value)));        \
    }                                                                                                                  \
    TYPE shmem_ctx_##NAME##_atomic_fetch_##OP(shmem_ctx_t ctx, TYPE* t, TYPE value, int pe) {                          \
        return shmem_##NAME##_atomic_fetch_##OP(t, value, in_world(ctx, pe));                                          \
    }                                                                                                                  \
    void shmem_##NAME##_atomic_fetch_##OP##_nbi(TYPE* f, TYPE* t, TYPE value, int pe) {                                \
        *f = shmem_##NAME##_atomic_fetch_##OP(t, value, pe);                                                           \
    }                                                                                                                  \
    void shmem_ctx_##NAME##_atomic_fetch_##OP##_nbi(shmem_ctx_t ctx, TYPE* f, TYPE* t, TYPE value, int pe) {           \
        *f = shmem_##NAME##_atomic_fetch_##OP(t, value, in_world(ctx, pe));                                            \
    }                                                                                                                  \
    void shmem_##NAME##_atomic_##OP(TYPE* t, TYPE value, int pe) { shmem_##NAME##_atomic_fetch_##OP(t, value, pe); }   \
    void shmem_ctx_##NAME##_atomic_##OP(shmem_ctx_t ctx, TYPE* t, TYPE value, int pe) {                                \
        shmem_##NAME##_atomic_fetch_##OP(t, value, in_world(ctx, pe));                                                 \
    }
// `and`, `or` and `xor` are words of C++, and of the preprocessor none.
#define AMO_BITWISE(NAME, TYPE)                                                                                        \
    AMO_BITWISE_OP(NAME, TYPE, and) AMO_BITWISE_OP(NAME, TYPE, or) AMO_BITWISE_OP(NAME, TYPE, xor)
CAUSEWAY_SHMEM_BITWISE_TYPES(AMO_BITWISE)

#define OLD_SWAP(NAME, TYPE)                                                                                           \
    TYPE shmem_##NAME##_swap(TYPE* t, TYPE value, int pe) { return shmem_##NAME##_atomic_swap(t, value, pe); }         \
    TYPE shmem_##NAME##_fetch(const TYPE* s, int pe) { return shmem_##NAME##_atomic_fetch(s, pe); }                    \
    void shmem_##NAME##_set(TYPE* t, TYPE value, int pe) { shmem_##NAME##_atomic_set(t, value, pe); }
#define OLD_ATOMICS(NAME, TYPE)                                                                                        \
    TYPE shmem_##NAME##_cswap(TYPE* t, TYPE c, TYPE value, int pe) {                                                   \
        return shmem_##NAME##_atomic_compare_swap(t, c, value, pe);                                                    \
    }                                                                                                                  \
    TYPE shmem_##NAME##_finc(TYPE* t, int pe) { return shmem_##NAME##_atomic_fetch_inc(t, pe); }                       \
    void shmem_##NAME##_inc(TYPE* t, int pe) { shmem_##NAME##_atomic_inc(t, pe); }                                     \
    TYPE shmem_##NAME##_fadd(TYPE* t, TYPE value, int pe) { return shmem_##NAME##_atomic_fetch_add(t, value, pe); }    \
    void shmem_##NAME##_add(TYPE* t, TYPE value, int pe) { shmem_##NAME##_atomic_add(t, value, pe); }
CAUSEWAY_SHMEM_OLD_ATOMIC_TYPES(OLD_SWAP)
OLD_SWAP(float, float)
OLD_SWAP(double, double)
CAUSEWAY_SHMEM_OLD_ATOMIC_TYPES(OLD_ATOMICS)
long shmem_swap(long* t, long value, int pe) { return shmem_long_atomic_swap(t, value, pe); }

} // extern "C"
