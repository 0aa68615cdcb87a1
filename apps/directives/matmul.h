/* SPDX-License-Identifier: Apache-2.0 */
static inline double a_at(int i, int k) { return (i * 7 + k * 3) % 11 * 0.125 - 0.5; }
static inline double b_at(int k, int j) { return (k * 5 + j * 2) % 13 * 0.0625 - 0.25; }
