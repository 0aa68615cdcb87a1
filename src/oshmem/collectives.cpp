// SPDX-License-Identifier: Apache-2.0
// Collectives: all meet, each takes what it needs from the memory of the others, and all meet again.
#include "oshmem/teams.hpp"

#include <causeway/oshmem/shmem.h>

#include <cstring>
#include <exception>
#include <string>
#include <vector>

using namespace causeway::oshmem;

namespace {

/// Who meets, for which call, and where.
struct meeting {
    const char* call;
    const members who; // nobody if this PE is not in the active set
    team_slot* slot; // null for an active set

    [[nodiscard]] team_slot& lending() const { return slot != nullptr ? *slot : job::instance().set_slot(); }
    void meet() const {
        if (slot != nullptr) {
            job::instance().meet(call, who, *slot);
        } else {
            job::instance().meet_set(call, who);
        }
    }
    void lend(const void* source, std::size_t bytes, loan what = loan::source) const {
        try {
            job::instance().lend(call, lending(), what, source, bytes);
        } catch (const std::exception& error) {
            give_up(call, error.what());
        }
    }
    template <class Type = std::byte> const Type* borrow(const Type* source, std::size_t first, std::size_t count,
                                                         int pe, loan what = loan::source) const {
        return reinterpret_cast<const Type*>(
            job::instance().borrow(lending(), what, source, first * sizeof(Type), count * sizeof(Type), pe, call));
    }
};

meeting of_team(const char* call, shmem_team_t team) {
    (void)job::required(call);
    if (team == nullptr) give_up(call, "the team is SHMEM_TEAM_INVALID");
    return {call, team->who, &slot_of(team)};
}
meeting active_set(const char* call, int start, int log_stride, int size) {
    auto& all = job::required(call);
    const members who{start, 1 << log_stride, size};
    if (start < 0 || size < 1 || who.world(size - 1) >= all.pes())
        give_up(call, "the active set of " + std::to_string(size) + " PEs from " + std::to_string(start) +
                          " on, at distances of " + std::to_string(1 << log_stride) + ", does not fit: there are " +
                          std::to_string(all.pes()) + " PEs");
    // Programs call also where a PE is none of the set, as if it could do no harm; it does none elsewhere.
    return {call, who.index_of(all.pe()) < 0 ? members{start, 1, 0} : who, nullptr};
}

/// `keeps_root`: the root's own target stays as it is, as in calls on active sets.
void broadcast(const meeting& in, void* target, const void* source, std::size_t bytes, int root, bool keeps_root) {
    if (in.who.size == 0) return;
    auto& all = job::instance();
    if (root < 0 || root >= in.who.size)
        give_up(in.call, "there is no root " + std::to_string(root) + " in a set of " + std::to_string(in.who.size));
    const int giver = in.who.world(root);
    in.lend(source, giver == all.pe() ? bytes : 0);
    in.meet();
    if (bytes != 0 && !(keeps_root && giver == all.pe()))
        all.store(in.call, target, in.borrow(static_cast<const std::byte*>(source), 0, bytes, giver), bytes);
    in.meet();
}

void fcollect(const meeting& in, void* target, const void* source, std::size_t bytes) {
    if (in.who.size == 0) return;
    auto& all = job::instance();
    in.lend(source, bytes);
    in.meet();
    for (int i = 0; i < in.who.size && bytes != 0; ++i)
        all.store(in.call, static_cast<std::byte*>(target) + static_cast<std::size_t>(i) * bytes,
                  in.borrow(static_cast<const std::byte*>(source), 0, bytes, in.who.world(i)), bytes);
    in.meet();
}

void collect(const meeting& in, void* target, const void* source, std::size_t bytes) {
    if (in.who.size == 0) return;
    auto& all = job::instance();
    all.note(in.lending(), bytes);
    in.lend(source, bytes);
    in.meet();
    auto* to = static_cast<std::byte*>(target);
    for (int i = 0; i < in.who.size; ++i) {
        const auto theirs = static_cast<std::size_t>(all.note_of(in.call, in.lending(), in.who.world(i)));
        if (theirs != 0)
            all.store(in.call, to, in.borrow(static_cast<const std::byte*>(source), 0, theirs, in.who.world(i)),
                      theirs);
        to += theirs;
    }
    in.meet();
}

void alltoalls(const meeting& in, void* target, const void* source, std::ptrdiff_t tst, std::ptrdiff_t sst,
               std::size_t count, std::size_t element) {
    if (in.who.size == 0) return;
    auto& all = job::instance();
    const auto own = static_cast<std::size_t>(in.who.index_of(all.pe())), part = count * element;
    const auto source_stride = static_cast<std::size_t>(sst);
    // From the first element of one PE's to its last.
    const auto span = [&](std::size_t elements) {
        return elements == 0 ? 0 : ((elements - 1) * source_stride + 1) * element;
    };
    in.lend(source, span(static_cast<std::size_t>(in.who.size) * count));
    in.meet();
    for (int i = 0; i < in.who.size && count != 0; ++i) {
        auto* to = static_cast<std::byte*>(target) + i * static_cast<std::ptrdiff_t>(part) * tst;
        const auto* from = in.borrow(static_cast<const std::byte*>(source), own * part * source_stride, span(count),
                                     in.who.world(i));
        if (tst == 1 && sst == 1) {
            all.store(in.call, to, from, part);
            continue;
        }
        for (std::size_t k = 0; k < count; ++k) {
            all.store(in.call, to, from, element);
            to += tst * static_cast<std::ptrdiff_t>(element);
            from += sst * static_cast<std::ptrdiff_t>(element);
        }
    }
    in.meet();
}

/// Each PE computes its slice of the result, which only it reads of every source and writes into its own target; so
/// source and target may be the same. Then it takes the other slices.
template <class Type, class Combine> void reduce(const meeting& in, Type* target, const Type* source, std::size_t count,
                                                 Combine combine) {
    if (in.who.size == 0) return;
    auto& all = job::instance();
    const auto& who = in.who;
    const auto slice_begin = [&](int i) {
        return count * static_cast<std::size_t>(i) / static_cast<std::size_t>(who.size);
    };
    const int own = who.index_of(all.pe());
    in.lend(source, count * sizeof(Type));
    in.meet();
    const auto first = slice_begin(own), size = slice_begin(own + 1) - first;
    if (size != 0) {
        // The same order on all PEs, and for every number of them: sums of numbers with a point agree everywhere.
        const auto* const begin = in.borrow(source, first, size, who.world(0));
        std::vector<Type> sum(begin, begin + size);
        for (int i = 1; i < who.size; ++i) {
            const auto* const theirs = in.borrow(source, first, size, who.world(i));
            for (std::size_t k = 0; k < size; ++k) sum[k] = combine(sum[k], theirs[k]);
        }
        all.store(in.call, target + first, sum.data(), size * sizeof(Type));
    }
    in.lend(target, count * sizeof(Type), loan::target);
    in.meet();
    for (int i = 0; i < who.size; ++i) {
        const auto begin = slice_begin(i), theirs = slice_begin(i + 1) - begin;
        if (i != own && theirs != 0)
            all.store(in.call, target + begin, in.borrow(target, begin, theirs, who.world(i), loan::target),
                      theirs * sizeof(Type));
    }
    in.meet();
}

#define COMBINE(OP, EXPRESSION)                                                                                        \
    struct combine_##OP {                                                                                              \
        template <class Type> Type operator()(Type a, Type b) const { return static_cast<Type>(EXPRESSION); }          \
    };
COMBINE(sum, a + b)
COMBINE(prod, a* b)
COMBINE(min, b < a ? b : a)
COMBINE(max, a < b ? b : a)
COMBINE(and, a& b)
COMBINE(or, a | b)
COMBINE(xor, a ^ b)

} // namespace

extern "C" {

void shmem_barrier_all(void) { job::required("shmem_barrier_all").meet_all("shmem_barrier_all"); }
void shmem_sync_all(void) { job::required("shmem_sync_all").meet_all("shmem_sync_all"); }
int shmem_team_sync(shmem_team_t team) {
    if (team == nullptr) return -1;
    of_team("shmem_team_sync", team).meet();
    return 0;
}
void shmem_barrier(int start, int log_stride, int size, long*) {
    active_set("shmem_barrier", start, log_stride, size).meet();
}
void shmem_sync(int start, int log_stride, int size, long*) {
    active_set("shmem_sync", start, log_stride, size).meet();
}

#define TEAM_COLLECTIVES(PREFIX, SUFFIX, TYPE, BYTES)                                                                  \
    int PREFIX##broadcast##SUFFIX(shmem_team_t team, TYPE* t, const TYPE* s, size_t n, int root) {                     \
        broadcast(of_team(#PREFIX "broadcast" #SUFFIX, team), t, s, n*(BYTES), root, false);                           \
        return 0;                                                                                                      \
    }                                                                                                                  \
    int PREFIX##collect##SUFFIX(shmem_team_t team, TYPE* t, const TYPE* s, size_t n) {                                 \
        collect(of_team(#PREFIX "collect" #SUFFIX, team), t, s, n*(BYTES));                                            \
        return 0;                                                                                                      \
    }                                                                                                                  \
    int PREFIX##fcollect##SUFFIX(shmem_team_t team, TYPE* t, const TYPE* s, size_t n) {                                \
        fcollect(of_team(#PREFIX "fcollect" #SUFFIX, team), t, s, n*(BYTES));                                          \
        return 0;                                                                                                      \
    }                                                                                                                  \
    int PREFIX##alltoall##SUFFIX(shmem_team_t team, TYPE* t, const TYPE* s, size_t n) {                                \
        alltoalls(of_team(#PREFIX "alltoall" #SUFFIX, team), t, s, 1, 1, n, BYTES);                                    \
        return 0;                                                                                                      \
    }                                                                                                                  \
    int PREFIX##alltoalls##SUFFIX(shmem_team_t team, TYPE* t, const TYPE* s, ptrdiff_t tst, ptrdiff_t sst, size_t n) { \
        alltoalls(of_team(#PREFIX "alltoalls" #SUFFIX, team), t, s, tst, sst, n, BYTES);                               \
        return 0;                                                                                                      \
    }
#define TYPED_COLLECTIVES(NAME, TYPE) TEAM_COLLECTIVES(shmem_##NAME##_, , TYPE, sizeof(TYPE))
CAUSEWAY_SHMEM_RMA_TYPES(TYPED_COLLECTIVES)
TEAM_COLLECTIVES(shmem_, mem, void, 1)

#define TEAM_REDUCE(NAME, TYPE, OP)                                                                                    \
    int shmem_##NAME##_##OP##_reduce(shmem_team_t team, TYPE* t, const TYPE* s, size_t n) {                            \
        reduce(of_team("shmem_" #NAME "_" #OP "_reduce", team), t, s, n, combine_##OP());                              \
        return 0;                                                                                                      \
    }
#define TEAM_REDUCE_BITS(NAME, TYPE)                                                                                   \
    TEAM_REDUCE(NAME, TYPE, and) TEAM_REDUCE(NAME, TYPE, or) TEAM_REDUCE(NAME, TYPE, xor)
#define TEAM_REDUCE_ORDER(NAME, TYPE) TEAM_REDUCE(NAME, TYPE, min) TEAM_REDUCE(NAME, TYPE, max)
#define TEAM_REDUCE_SUMS(NAME, TYPE) TEAM_REDUCE(NAME, TYPE, sum) TEAM_REDUCE(NAME, TYPE, prod)
CAUSEWAY_SHMEM_REDUCE_BITS_TYPES(TEAM_REDUCE_BITS)
CAUSEWAY_SHMEM_REDUCE_ORDER_TYPES(TEAM_REDUCE_ORDER)
CAUSEWAY_SHMEM_REDUCE_ORDER_TYPES(TEAM_REDUCE_SUMS)
CAUSEWAY_SHMEM_COMPLEX_TYPES(TEAM_REDUCE_SUMS)

#define ACTIVE_SET(BITS)                                                                                               \
    void shmem_broadcast##BITS(void* t, const void* s, size_t n, int root, int start, int log_stride, int size,        \
                               long*) {                                                                                \
        broadcast(active_set("shmem_broadcast" #BITS, start, log_stride, size), t, s, n*((BITS) / 8), root, true);     \
    }                                                                                                                  \
    void shmem_collect##BITS(void* t, const void* s, size_t n, int start, int log_stride, int size, long*) {           \
        collect(active_set("shmem_collect" #BITS, start, log_stride, size), t, s, n*((BITS) / 8));                     \
    }                                                                                                                  \
    void shmem_fcollect##BITS(void* t, const void* s, size_t n, int start, int log_stride, int size, long*) {          \
        fcollect(active_set("shmem_fcollect" #BITS, start, log_stride, size), t, s, n*((BITS) / 8));                   \
    }                                                                                                                  \
    void shmem_alltoall##BITS(void* t, const void* s, size_t n, int start, int log_stride, int size, long*) {          \
        alltoalls(active_set("shmem_alltoall" #BITS, start, log_stride, size), t, s, 1, 1, n, (BITS) / 8);             \
    }                                                                                                                  \
    void shmem_alltoalls##BITS(void* t, const void* s, ptrdiff_t tst, ptrdiff_t sst, size_t n, int start,              \
                               int log_stride, int size, long*) {                                                      \
        alltoalls(active_set("shmem_alltoalls" #BITS, start, log_stride, size), t, s, tst, sst, n, (BITS) / 8);        \
    }
ACTIVE_SET(32)
ACTIVE_SET(64)

#define TO_ALL(NAME, TYPE, OP)                                                                                         \
    void shmem_##NAME##_##OP##_to_all(TYPE* t, const TYPE* s, int n, int start, int log_stride, int size, TYPE*,       \
                                      long*) {                                                                         \
        reduce(active_set("shmem_" #NAME "_" #OP "_to_all", start, log_stride, size), t, s,                            \
               n > 0 ? static_cast<size_t>(n) : 0, combine_##OP());                                                    \
    }
#define TO_ALL_BITS(NAME, TYPE) TO_ALL(NAME, TYPE, and) TO_ALL(NAME, TYPE, or) TO_ALL(NAME, TYPE, xor)
#define TO_ALL_ORDER(NAME, TYPE) TO_ALL(NAME, TYPE, min) TO_ALL(NAME, TYPE, max)
#define TO_ALL_SUMS(NAME, TYPE) TO_ALL(NAME, TYPE, sum) TO_ALL(NAME, TYPE, prod)
CAUSEWAY_SHMEM_OLD_REDUCE_TYPES(TO_ALL_BITS)
CAUSEWAY_SHMEM_OLD_REDUCE_TYPES(TO_ALL_ORDER)
CAUSEWAY_SHMEM_OLD_REAL_TYPES(TO_ALL_ORDER)
CAUSEWAY_SHMEM_OLD_REDUCE_TYPES(TO_ALL_SUMS)
CAUSEWAY_SHMEM_OLD_REAL_TYPES(TO_ALL_SUMS)
CAUSEWAY_SHMEM_COMPLEX_TYPES(TO_ALL_SUMS)

} // extern "C"
