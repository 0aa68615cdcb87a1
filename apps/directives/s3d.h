/* SPDX-License-Identifier: Apache-2.0 */
/* Heat capacity and enthalpy of a mixture by NASA's polynomials of 7 coefficients, in two ranges of temperature. The
 * species are made up; points, ranges and sums are those of calc_mixcp and calc_mixenth in S3D. */
#define SPECIES 22
#define MIDDLE 1000.0
static inline double temperature_at(int point) { return 400.0 + point * 37L % 2100; }
static inline double fraction_at(int species, int point) { return (1 + (species * 5 + point) % 7) / (4.0 * SPECIES); }
static inline double coefficient(int range, int species, int power) {
    static const double scale[7] = {2.0, 1e-3, 3e-7, 2e-11, 1e-15, 300.0, 1.0};
    return scale[power] * (1 + 0.1 * ((species * 3 + power + range) % 5)) * (power % 2 ? -1 : 1);
}
