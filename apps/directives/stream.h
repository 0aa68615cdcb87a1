/* SPDX-License-Identifier: Apache-2.0 */
/* The five kernels of BabelStream (Deakin et al., 2018): their numbers, values and parts. */
#define SCALAR 0.4
#define FIRST_A 0.1
#define FIRST_B 0.2
#define FIRST_C 0.0
/* Element i's share of these values. All differ: a GPU keeps an array of one value in less space, and then reads it
   faster than memory can be read. */
static double share_of(int i) {
    const unsigned long mixed = (i + 1ul) * 0x9e3779b97f4a7c15ul;
    return 1 + (mixed >> 12) * (1.0 / (1ul << 52));
}
enum { COPY, MULTIPLY, ADD, TRIAD, DOT };
