// SPDX-License-Identifier: Apache-2.0
// Runs every loop of kernels.c as compiled without optimisation and as compiled with the plug-in, for n from 0 to a
// limit, on arrays that end or begin at an unmapped page. Results must be the same, bit for bit; those of fast
// arithmetic nearly. usage: execution strict|fast [LIMIT [overlapping|padded]]
#define _GNU_SOURCE
#include "kernels.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const struct kernel reference_kernels[], tested_kernels[];

static const char* running = "nothing";
static long running_n;

static void say_fault(int signal) {
    char text[200];
    int length = snprintf(text, sizeof text, "FAULT (signal %d) in %s, n = %ld\n", signal, running, running_n);
    (void)!write(2, text, (size_t)length);
    _exit(1);
}

enum { variants = 8 }; // of what arrays contain
enum { room = 4096 }; // of an array, in bytes; a page that nobody may touch lies before it and behind

static char* guarded(void) {
    char* pages = mmap(0, 3 * room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + room, room, PROT_READ | PROT_WRITE)) perror("mmap"), exit(2);
    return pages + room;
}

static void fill(char* array, enum element type, unsigned seed) {
    for (unsigned i = 0; i < room; ++i) {
        seed = seed * 1664525 + 1013904223;
        array[i] = (char)(seed >> 24);
    }
    // Small numbers: no overflow of signed sums, no numbers that are none.
    for (unsigned i = 0; i < room / 4; ++i)
        if (type == type_of_f32)
            ((float*)array)[i] = (float)((signed char)array[4 * i]) / 8 + 0.01f;
        else if (type == type_of_i32 || type == type_of_u32)
            ((int*)array)[i] = (signed char)array[4 * i];
    for (unsigned i = 0; i < room / 8; ++i)
        if (type == type_of_f64)
            ((double*)array)[i] = (double)((signed char)array[8 * i]) / 8 + 0.01;
        else if (type == type_of_i64)
            ((int64_t*)array)[i] = (signed char)array[8 * i];
    for (unsigned i = 0; i < room / 2; ++i)
        if (type == type_of_i16) ((int16_t*)array)[i] = (int16_t)((signed char)array[2 * i] / 8);
    for (unsigned i = 0; i < room; ++i)
        if (type == type_of_i8) array[i] = (char)(array[i] / 16);
}

static enum element operand_type(const struct kernel* kernel, int b) {
    size_t size = b ? kernel->b_size : kernel->a_size;
    if (size == kernel->c_size) return kernel->type;
    const char* name = strrchr(kernel->name, '_') + 1;
    const char* names[] = {"i8", "i16", "i32", "i64", "u32", "f32", "f64"};
    for (int t = 0; t < 7; ++t)
        if (strcmp(name, names[t]) == 0) return (enum element)t;
    return kernel->type;
}

// Sums have up to 300 terms of at most 256 each, in any order.
static int nearly(enum element type, const char* name, const char* x, const char* y) {
    if (type == type_of_f32) {
        for (unsigned i = 0; i < room / 4; ++i) {
            const float expected = ((const float*)x)[i];
            // Products of up to 256, up to four of them and the element before, which may cancel each other.
            const float allowed = strstr(name, "sum")     ? 2
                                  : strstr(name, "sized") ? 1e-3f
                                                          : 1e-5f * fmaxf(1, fabsf(expected));
            if (!(fabsf(expected - ((const float*)y)[i]) <= allowed)) return 0;
        }
    } else if (type == type_of_f64) {
        for (unsigned i = 0; i < room / 8; ++i)
            if (!(fabs(((const double*)x)[i] - ((const double*)y)[i]) <= 1e-8 * fmax(1, fabs(((const double*)x)[i]))))
                return 0;
    } else {
        return 0;
    }
    return 1;
}

int main(int argc, char** argv) {
    if (argc < 2 || (strcmp(argv[1], "strict") && strcmp(argv[1], "fast"))) {
        fprintf(stderr, "usage: execution strict|fast [LIMIT [overlapping|padded]]\n");
        return 2;
    }
    const int fast = strcmp(argv[1], "fast") == 0;
    const long limit = argc > 2 ? atol(argv[2]) : 300;
    // Kernels that promise by `restrict` that arrays do not overlap cannot be called so.
    const int places_of_fixed = argc > 3 && strcmp(argv[3], "overlapping") == 0 ? 19 : 5;
    // What lies in the 64 bytes behind an array is nobody's then.
    const size_t padding = argc > 3 && strcmp(argv[3], "padded") == 0 ? 64 : 0;
    signal(SIGSEGV, say_fault);
    signal(SIGBUS, say_fault);
    signal(SIGILL, say_fault);
    signal(SIGFPE, say_fault);
    char *reference[3], *tested[3];
    for (int i = 0; i < 3; ++i) reference[i] = guarded(), tested[i] = guarded();
    static char sources[7][variants][room];
    for (int type = 0; type < 7; ++type)
        for (unsigned v = 0; v < variants; ++v) fill(sources[type][v], (enum element)type, v);
    long runs = 0, bad = 0;
    for (const struct kernel *r = reference_kernels, *t = tested_kernels; r->name; ++r, ++t) {
        // These loops end before their arrays do, so what lies behind their last element is not padding.
        if (padding && (strstr(r->name, "neighbours_") || strstr(r->name, "rows_") || strstr(r->name, "byte_counter_")))
            continue;
        const size_t size[3] = {r->c_size, r->a_size, r->b_size};
        for (long n = 0; n <= limit; ++n) {
            if (r->only && n != r->only) continue;
            // 0: all end at the page; then all begin behind it; then begin one to three elements later, each another.
            for (int place = 0; place < (r->only ? places_of_fixed : n < 80 ? 3 : 2); ++place) {
                if (place >= 5 && strstr(r->name, "_apart_")) break; // it promises that they do not overlap
                void *p[3], *q[3];
                for (int i = 0; i < 3; ++i) {
                    const enum element type = i == 0 ? r->type : operand_type(r, i == 2);
                    const char* source = sources[type][(n + 3 * i + place) % variants];
                    memcpy(reference[i], source, room);
                    memcpy(tested[i], source, room);
                    const size_t offset = place == 0   ? room - (size_t)n * size[i] - padding
                                          : place == 1 ? 0
                                          : place < 5  ? size[i] * (size_t)(place - 1) * (size_t)(i + 1)
                                                       : size[i] * 64;
                    p[i] = reference[i] + offset;
                    q[i] = tested[i] + offset;
                }
                // Places 5 and later: `a`, then `b`, lie in `c`, a few elements apart.
                if (place >= 5) {
                    const int other = place % 2 ? 1 : 2;
                    const size_t apart = (size_t)(place - 5) / 2 * 3 * size[0];
                    p[other] = (char*)p[0] + apart;
                    q[other] = (char*)q[0] + apart;
                }
                running = r->name;
                running_n = n;
                r->run(p[0], p[1], p[2], n);
                t->run(q[0], q[1], q[2], n);
                ++runs;
                for (int i = 0; padding && i < 3; ++i) {
                    memset((char*)p[i] + (size_t)n * size[i], 0, padding);
                    memset((char*)q[i] + (size_t)n * size[i], 0, padding);
                }
                int same = 1;
                for (int i = 0; i < 3; ++i) {
                    const enum element type = i == 0 ? r->type : operand_type(r, i == 2);
                    same &= memcmp(reference[i], tested[i], room) == 0 ||
                            (fast && nearly(type, r->name, reference[i], tested[i]));
                }
                if (!same && ++bad <= 20) printf("DIFFERS: %s, n = %ld, place %d\n", r->name, n, place);
            }
        }
    }
    printf("%ld runs, %ld differ\n", runs, bad);
    return bad != 0 || runs == 0;
}
