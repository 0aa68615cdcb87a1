/* SPDX-License-Identifier: Apache-2.0 */
/* The five kernels of BabelStream (Deakin et al., 2018): their numbers, values and parts. */
#define SCALAR 0.4
#define FIRST_A 0.1
#define FIRST_B 0.2
#define FIRST_C 0.0
enum { COPY, MULTIPLY, ADD, TRIAD, DOT };
