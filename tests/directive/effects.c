/* SPDX-License-Identifier: Apache-2.0 */
/* What C evaluates once, or not at all: each function is one rule, and says if it is broken. */
#include <stdio.h>

static int failures;
static void expect(int holds, const char* rule) {
    if (holds) return;
    failures++;
    fprintf(stderr, "effects: broken: %s\n", rule);
}

enum { gangs = 32, rounds = 2000 };

static int next_of(int* at) { return (*at)++; }

/* Threads that meet at one sum have to try again. */
static void atomic_values(void) {
    int sum = 0, other = 0, counts[gangs], seen[gangs];
    double product = 0, weights[rounds];
    for (int i = 0; i < rounds; i++) weights[i] = i % 2 ? 0.5 : 1.5;
#pragma acc parallel loop gang num_gangs(gangs) copyin(weights) copy(sum, other, product) copyout(counts, seen)
    for (int g = 0; g < gangs; g++) {
        int k = 0, calls = 0, before = -1;
#pragma acc loop seq
        for (int r = 0; r < rounds; r++) {
#pragma acc atomic update
            product += weights[k++];
#pragma acc atomic
            sum = 1 + sum + (next_of(&calls), 1);
#pragma acc atomic capture
            {
                before = other;
                other = other - next_of(&calls) + next_of(&calls);
            }
        }
        counts[g] = k + calls;
        seen[g] = before >= 0 && before < gangs * rounds;
    }
    int wrong = 0;
    for (int g = 0; g < gangs; g++) wrong += counts[g] != 4 * rounds || !seen[g];
    expect(!wrong && product == gangs * rounds, "the value of an atomic update is computed once");
    expect(sum == 2 * gangs * rounds && other == gangs * rounds, "also its parts on both sides of the variable");
}

int main(void) {
    atomic_values();
    if (failures == 0) puts("effects: all rules hold");
    return failures != 0;
}
