/* SPDX-License-Identifier: Apache-2.0 */
/* The generic names of C11: chosen by the type of the first pointer, and by whether a context comes before it. */
#ifndef CAUSEWAY_SHMEM_GENERIC_H
#define CAUSEWAY_SHMEM_GENERIC_H

#define CAUSEWAY_SHMEM_FIRST(...) CAUSEWAY_SHMEM_FIRST_(__VA_ARGS__, 0)
#define CAUSEWAY_SHMEM_FIRST_(first, ...) (first)
#define CAUSEWAY_SHMEM_SECOND(...) CAUSEWAY_SHMEM_SECOND_(__VA_ARGS__, 0, 0)
#define CAUSEWAY_SHMEM_SECOND_(first, second, ...) (second)

/* What a call with a pointer to any other type comes to: it does not compile. */
struct causeway_shmem_no_such_type;
extern struct causeway_shmem_no_such_type* causeway_shmem_no_such_type;

#define CAUSEWAY_SHMEM_WITH_CONTEXT(TYPES, PLAIN, CONTEXT, ...)                                                        \
    _Generic(CAUSEWAY_SHMEM_FIRST(__VA_ARGS__),                                                                        \
        shmem_ctx_t: _Generic(CAUSEWAY_SHMEM_SECOND(__VA_ARGS__),                                                      \
            TYPES(CONTEXT) default: causeway_shmem_no_such_type),                                                      \
        TYPES(PLAIN) default: causeway_shmem_no_such_type)(__VA_ARGS__)
#define CAUSEWAY_SHMEM_BY_FIRST(TYPES, PLAIN, ...)                                                                     \
    _Generic(CAUSEWAY_SHMEM_FIRST(__VA_ARGS__), TYPES(PLAIN) default: causeway_shmem_no_such_type)(__VA_ARGS__)
#define CAUSEWAY_SHMEM_BY_SECOND(TYPES, PLAIN, ...)                                                                    \
    _Generic(CAUSEWAY_SHMEM_SECOND(__VA_ARGS__), TYPES(PLAIN) default: causeway_shmem_no_such_type)(__VA_ARGS__)

#define CAUSEWAY_SHMEM_PUT(NAME, TYPE) TYPE* : shmem_##NAME##_put,
#define CAUSEWAY_SHMEM_CTX_PUT(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_put,
#define shmem_put(...)                                                                                                 \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_PUT, CAUSEWAY_SHMEM_CTX_PUT, __VA_ARGS__)

#define CAUSEWAY_SHMEM_GET(NAME, TYPE) TYPE* : shmem_##NAME##_get,
#define CAUSEWAY_SHMEM_CTX_GET(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_get,
#define shmem_get(...)                                                                                                 \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_GET, CAUSEWAY_SHMEM_CTX_GET, __VA_ARGS__)

#define CAUSEWAY_SHMEM_PUT_NBI(NAME, TYPE) TYPE* : shmem_##NAME##_put_nbi,
#define CAUSEWAY_SHMEM_CTX_PUT_NBI(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_put_nbi,
#define shmem_put_nbi(...)                                                                                             \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_PUT_NBI, CAUSEWAY_SHMEM_CTX_PUT_NBI,          \
                                __VA_ARGS__)

#define CAUSEWAY_SHMEM_GET_NBI(NAME, TYPE) TYPE* : shmem_##NAME##_get_nbi,
#define CAUSEWAY_SHMEM_CTX_GET_NBI(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_get_nbi,
#define shmem_get_nbi(...)                                                                                             \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_GET_NBI, CAUSEWAY_SHMEM_CTX_GET_NBI,          \
                                __VA_ARGS__)

#define CAUSEWAY_SHMEM_P(NAME, TYPE) TYPE* : shmem_##NAME##_p,
#define CAUSEWAY_SHMEM_CTX_P(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_p,
#define shmem_p(...)                                                                                                   \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_P, CAUSEWAY_SHMEM_CTX_P, __VA_ARGS__)

#define CAUSEWAY_SHMEM_IPUT(NAME, TYPE) TYPE* : shmem_##NAME##_iput,
#define CAUSEWAY_SHMEM_CTX_IPUT(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_iput,
#define shmem_iput(...)                                                                                                \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_IPUT, CAUSEWAY_SHMEM_CTX_IPUT, __VA_ARGS__)

#define CAUSEWAY_SHMEM_IGET(NAME, TYPE) TYPE* : shmem_##NAME##_iget,
#define CAUSEWAY_SHMEM_CTX_IGET(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_iget,
#define shmem_iget(...)                                                                                                \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_IGET, CAUSEWAY_SHMEM_CTX_IGET, __VA_ARGS__)

#define CAUSEWAY_SHMEM_PUT_SIGNAL(NAME, TYPE) TYPE* : shmem_##NAME##_put_signal,
#define CAUSEWAY_SHMEM_CTX_PUT_SIGNAL(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_put_signal,
#define shmem_put_signal(...)                                                                                          \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_PUT_SIGNAL, CAUSEWAY_SHMEM_CTX_PUT_SIGNAL,    \
                                __VA_ARGS__)

#define CAUSEWAY_SHMEM_PUT_SIGNAL_NBI(NAME, TYPE) TYPE* : shmem_##NAME##_put_signal_nbi,
#define CAUSEWAY_SHMEM_CTX_PUT_SIGNAL_NBI(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_put_signal_nbi,
#define shmem_put_signal_nbi(...)                                                                                      \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_PUT_SIGNAL_NBI,                               \
                                CAUSEWAY_SHMEM_CTX_PUT_SIGNAL_NBI, __VA_ARGS__)

#define CAUSEWAY_SHMEM_G(NAME, TYPE) TYPE* : shmem_##NAME##_g, const TYPE* : shmem_##NAME##_g,
#define CAUSEWAY_SHMEM_CTX_G(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_g, const TYPE* : shmem_ctx_##NAME##_g,
#define shmem_g(...)                                                                                                   \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_G, CAUSEWAY_SHMEM_CTX_G, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_COMPARE_SWAP(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_compare_swap,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_COMPARE_SWAP(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_compare_swap,
#define shmem_atomic_compare_swap(...)                                                                                 \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_AMO_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_COMPARE_SWAP,                      \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_COMPARE_SWAP, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_FETCH_INC(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_fetch_inc,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_INC(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_fetch_inc,
#define shmem_atomic_fetch_inc(...)                                                                                    \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_AMO_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_FETCH_INC,                         \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_INC, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_INC(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_inc,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_INC(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_inc,
#define shmem_atomic_inc(...)                                                                                          \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_AMO_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_INC,                               \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_INC, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_FETCH_ADD(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_fetch_add,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_ADD(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_fetch_add,
#define shmem_atomic_fetch_add(...)                                                                                    \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_AMO_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_FETCH_ADD,                         \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_ADD, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_ADD(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_add,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_ADD(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_add,
#define shmem_atomic_add(...)                                                                                          \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_AMO_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_ADD,                               \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_ADD, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_COMPARE_SWAP_NBI(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_compare_swap_nbi,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_COMPARE_SWAP_NBI(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_compare_swap_nbi,
#define shmem_atomic_compare_swap_nbi(...)                                                                             \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_AMO_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_COMPARE_SWAP_NBI,                  \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_COMPARE_SWAP_NBI, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_FETCH_INC_NBI(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_fetch_inc_nbi,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_INC_NBI(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_fetch_inc_nbi,
#define shmem_atomic_fetch_inc_nbi(...)                                                                                \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_AMO_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_FETCH_INC_NBI,                     \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_INC_NBI, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_FETCH_ADD_NBI(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_fetch_add_nbi,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_ADD_NBI(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_fetch_add_nbi,
#define shmem_atomic_fetch_add_nbi(...)                                                                                \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_AMO_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_FETCH_ADD_NBI,                     \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_ADD_NBI, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_FETCH(NAME, TYPE)                                                                        \
    TYPE* : shmem_##NAME##_atomic_fetch, const TYPE* : shmem_##NAME##_atomic_fetch,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH(NAME, TYPE)                                                                    \
    TYPE* : shmem_ctx_##NAME##_atomic_fetch, const TYPE* : shmem_ctx_##NAME##_atomic_fetch,
#define shmem_atomic_fetch(...)                                                                                        \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_EXTENDED_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_FETCH,                        \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_SET(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_set,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_SET(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_set,
#define shmem_atomic_set(...)                                                                                          \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_EXTENDED_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_SET,                          \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_SET, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_SWAP(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_swap,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_SWAP(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_swap,
#define shmem_atomic_swap(...)                                                                                         \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_EXTENDED_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_SWAP,                         \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_SWAP, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_FETCH_NBI(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_fetch_nbi,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_NBI(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_fetch_nbi,
#define shmem_atomic_fetch_nbi(...)                                                                                    \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_EXTENDED_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_FETCH_NBI,                    \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_NBI, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_SWAP_NBI(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_swap_nbi,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_SWAP_NBI(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_swap_nbi,
#define shmem_atomic_swap_nbi(...)                                                                                     \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_EXTENDED_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_SWAP_NBI,                     \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_SWAP_NBI, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_AND(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_and,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_AND(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_and,
#define shmem_atomic_and(...)                                                                                          \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_BITWISE_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_AND,                           \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_AND, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_FETCH_AND(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_fetch_and,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_AND(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_fetch_and,
#define shmem_atomic_fetch_and(...)                                                                                    \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_BITWISE_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_FETCH_AND,                     \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_AND, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_FETCH_AND_NBI(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_fetch_and_nbi,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_AND_NBI(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_fetch_and_nbi,
#define shmem_atomic_fetch_and_nbi(...)                                                                                \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_BITWISE_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_FETCH_AND_NBI,                 \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_AND_NBI, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_OR(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_or,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_OR(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_or,
#define shmem_atomic_or(...)                                                                                           \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_BITWISE_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_OR,                            \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_OR, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_FETCH_OR(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_fetch_or,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_OR(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_fetch_or,
#define shmem_atomic_fetch_or(...)                                                                                     \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_BITWISE_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_FETCH_OR,                      \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_OR, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_FETCH_OR_NBI(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_fetch_or_nbi,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_OR_NBI(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_fetch_or_nbi,
#define shmem_atomic_fetch_or_nbi(...)                                                                                 \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_BITWISE_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_FETCH_OR_NBI,                  \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_OR_NBI, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_XOR(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_xor,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_XOR(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_xor,
#define shmem_atomic_xor(...)                                                                                          \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_BITWISE_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_XOR,                           \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_XOR, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_FETCH_XOR(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_fetch_xor,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_XOR(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_fetch_xor,
#define shmem_atomic_fetch_xor(...)                                                                                    \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_BITWISE_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_FETCH_XOR,                     \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_XOR, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ATOMIC_FETCH_XOR_NBI(NAME, TYPE) TYPE* : shmem_##NAME##_atomic_fetch_xor_nbi,
#define CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_XOR_NBI(NAME, TYPE) TYPE* : shmem_ctx_##NAME##_atomic_fetch_xor_nbi,
#define shmem_atomic_fetch_xor_nbi(...)                                                                                \
    CAUSEWAY_SHMEM_WITH_CONTEXT(CAUSEWAY_SHMEM_BITWISE_OWN_TYPES, CAUSEWAY_SHMEM_ATOMIC_FETCH_XOR_NBI,                 \
                                CAUSEWAY_SHMEM_CTX_ATOMIC_FETCH_XOR_NBI, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL(NAME, TYPE) TYPE* : shmem_##NAME##_wait_until,
#define shmem_wait_until(...)                                                                                          \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL_ALL(NAME, TYPE) TYPE* : shmem_##NAME##_wait_until_all,
#define shmem_wait_until_all(...)                                                                                      \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL_ALL, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL_ANY(NAME, TYPE) TYPE* : shmem_##NAME##_wait_until_any,
#define shmem_wait_until_any(...)                                                                                      \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL_ANY, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL_SOME(NAME, TYPE) TYPE* : shmem_##NAME##_wait_until_some,
#define shmem_wait_until_some(...)                                                                                     \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL_SOME, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL_ALL_VECTOR(NAME, TYPE) TYPE* : shmem_##NAME##_wait_until_all_vector,
#define shmem_wait_until_all_vector(...)                                                                               \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL_ALL_VECTOR, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL_ANY_VECTOR(NAME, TYPE) TYPE* : shmem_##NAME##_wait_until_any_vector,
#define shmem_wait_until_any_vector(...)                                                                               \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL_ANY_VECTOR, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL_SOME_VECTOR(NAME, TYPE) TYPE* : shmem_##NAME##_wait_until_some_vector,
#define shmem_wait_until_some_vector(...)                                                                              \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_WAIT_UNTIL_SOME_VECTOR, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_TEST(NAME, TYPE) TYPE* : shmem_##NAME##_test,
#define shmem_test(...) CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_TEST, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_TEST_ALL(NAME, TYPE) TYPE* : shmem_##NAME##_test_all,
#define shmem_test_all(...)                                                                                            \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_TEST_ALL, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_TEST_ANY(NAME, TYPE) TYPE* : shmem_##NAME##_test_any,
#define shmem_test_any(...)                                                                                            \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_TEST_ANY, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_TEST_SOME(NAME, TYPE) TYPE* : shmem_##NAME##_test_some,
#define shmem_test_some(...)                                                                                           \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_TEST_SOME, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_TEST_ALL_VECTOR(NAME, TYPE) TYPE* : shmem_##NAME##_test_all_vector,
#define shmem_test_all_vector(...)                                                                                     \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_TEST_ALL_VECTOR, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_TEST_ANY_VECTOR(NAME, TYPE) TYPE* : shmem_##NAME##_test_any_vector,
#define shmem_test_any_vector(...)                                                                                     \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_TEST_ANY_VECTOR, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_TEST_SOME_VECTOR(NAME, TYPE) TYPE* : shmem_##NAME##_test_some_vector,
#define shmem_test_some_vector(...)                                                                                    \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_WAIT_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_TEST_SOME_VECTOR, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_BROADCAST(NAME, TYPE) TYPE* : shmem_##NAME##_broadcast,
#define shmem_broadcast(...)                                                                                           \
    CAUSEWAY_SHMEM_BY_SECOND(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_BROADCAST, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_COLLECT(NAME, TYPE) TYPE* : shmem_##NAME##_collect,
#define shmem_collect(...) CAUSEWAY_SHMEM_BY_SECOND(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_COLLECT, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_FCOLLECT(NAME, TYPE) TYPE* : shmem_##NAME##_fcollect,
#define shmem_fcollect(...)                                                                                            \
    CAUSEWAY_SHMEM_BY_SECOND(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_FCOLLECT, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_ALLTOALL(NAME, TYPE) TYPE* : shmem_##NAME##_alltoall,
#define shmem_alltoall(...)                                                                                            \
    CAUSEWAY_SHMEM_BY_SECOND(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_ALLTOALL, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_ALLTOALLS(NAME, TYPE) TYPE* : shmem_##NAME##_alltoalls,
#define shmem_alltoalls(...)                                                                                           \
    CAUSEWAY_SHMEM_BY_SECOND(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_ALLTOALLS, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_AND_REDUCE(NAME, TYPE) TYPE* : shmem_##NAME##_and_reduce,
#define shmem_and_reduce(...)                                                                                          \
    CAUSEWAY_SHMEM_BY_SECOND(CAUSEWAY_SHMEM_REDUCE_BITS_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_AND_REDUCE, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_OR_REDUCE(NAME, TYPE) TYPE* : shmem_##NAME##_or_reduce,
#define shmem_or_reduce(...)                                                                                           \
    CAUSEWAY_SHMEM_BY_SECOND(CAUSEWAY_SHMEM_REDUCE_BITS_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_OR_REDUCE, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_XOR_REDUCE(NAME, TYPE) TYPE* : shmem_##NAME##_xor_reduce,
#define shmem_xor_reduce(...)                                                                                          \
    CAUSEWAY_SHMEM_BY_SECOND(CAUSEWAY_SHMEM_REDUCE_BITS_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_XOR_REDUCE, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_MIN_REDUCE(NAME, TYPE) TYPE* : shmem_##NAME##_min_reduce,
#define shmem_min_reduce(...)                                                                                          \
    CAUSEWAY_SHMEM_BY_SECOND(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_MIN_REDUCE, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_MAX_REDUCE(NAME, TYPE) TYPE* : shmem_##NAME##_max_reduce,
#define shmem_max_reduce(...)                                                                                          \
    CAUSEWAY_SHMEM_BY_SECOND(CAUSEWAY_SHMEM_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_MAX_REDUCE, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_SUM_REDUCE(NAME, TYPE) TYPE* : shmem_##NAME##_sum_reduce,
#define shmem_sum_reduce(...)                                                                                          \
    CAUSEWAY_SHMEM_BY_SECOND(CAUSEWAY_SHMEM_SUM_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_SUM_REDUCE, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_PROD_REDUCE(NAME, TYPE) TYPE* : shmem_##NAME##_prod_reduce,
#define shmem_prod_reduce(...)                                                                                         \
    CAUSEWAY_SHMEM_BY_SECOND(CAUSEWAY_SHMEM_SUM_OWN_TYPES, CAUSEWAY_SHMEM_ONLY_PROD_REDUCE, __VA_ARGS__)

/* Of a team, or of an active set. */
#define shmem_sync(...)                                                                                                \
    _Generic(CAUSEWAY_SHMEM_FIRST(__VA_ARGS__), shmem_team_t: shmem_team_sync, default: shmem_sync)(__VA_ARGS__)

/* Names of OpenSHMEM before 1.4. */

#define CAUSEWAY_SHMEM_ONLY_SWAP(NAME, TYPE) TYPE* : shmem_##NAME##_swap,
#define shmem_swap(...) CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_OLD_SWAP_TYPES, CAUSEWAY_SHMEM_ONLY_SWAP, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_SET(NAME, TYPE) TYPE* : shmem_##NAME##_set,
#define shmem_set(...) CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_OLD_SWAP_TYPES, CAUSEWAY_SHMEM_ONLY_SET, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_FETCH(NAME, TYPE) TYPE* : shmem_##NAME##_fetch, const TYPE* : shmem_##NAME##_fetch,
#define shmem_fetch(...) CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_OLD_SWAP_TYPES, CAUSEWAY_SHMEM_ONLY_FETCH, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_CSWAP(NAME, TYPE) TYPE* : shmem_##NAME##_cswap,
#define shmem_cswap(...)                                                                                               \
    CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_OLD_ATOMIC_TYPES, CAUSEWAY_SHMEM_ONLY_CSWAP, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_FINC(NAME, TYPE) TYPE* : shmem_##NAME##_finc,
#define shmem_finc(...) CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_OLD_ATOMIC_TYPES, CAUSEWAY_SHMEM_ONLY_FINC, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_INC(NAME, TYPE) TYPE* : shmem_##NAME##_inc,
#define shmem_inc(...) CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_OLD_ATOMIC_TYPES, CAUSEWAY_SHMEM_ONLY_INC, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_FADD(NAME, TYPE) TYPE* : shmem_##NAME##_fadd,
#define shmem_fadd(...) CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_OLD_ATOMIC_TYPES, CAUSEWAY_SHMEM_ONLY_FADD, __VA_ARGS__)

#define CAUSEWAY_SHMEM_ONLY_ADD(NAME, TYPE) TYPE* : shmem_##NAME##_add,
#define shmem_add(...) CAUSEWAY_SHMEM_BY_FIRST(CAUSEWAY_SHMEM_OLD_ATOMIC_TYPES, CAUSEWAY_SHMEM_ONLY_ADD, __VA_ARGS__)

/* Types of their own in C, each once. */
#define CAUSEWAY_SHMEM_REDUCE_BITS_OWN_TYPES(X)                                                                        \
    X(uchar, unsigned char)                                                                                            \
    X(ushort, unsigned short)                                                                                          \
    X(uint, unsigned int)                                                                                              \
    X(ulong, unsigned long) X(ulonglong, unsigned long long) X(short, short) X(int, int) X(long, long)                 \
        X(longlong, long long) X(int8, int8_t)
#define CAUSEWAY_SHMEM_SUM_OWN_TYPES(X)                                                                                \
    CAUSEWAY_SHMEM_OWN_TYPES(X) X(complexf, float _Complex) X(complexd, double _Complex)
#define CAUSEWAY_SHMEM_OLD_SWAP_TYPES(X) CAUSEWAY_SHMEM_OLD_ATOMIC_TYPES(X) X(float, float) X(double, double)

#endif
