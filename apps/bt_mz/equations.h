/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The equations of BT: the right-hand side at a point, and the solution of one line of a zone. One text for the host,
 * for OpenCL C and for directives. RNR-94-007, section 4, has the system; directions are 0 to 2, and momentum along
 * direction d is component 1 + d. Loops over components have to be unrolled: devices keep arrays in registers then.
 */
#ifndef BT_MZ_EQUATIONS_H
#define BT_MZ_EQUATIONS_H

#ifdef __OPENCL_VERSION__
#define FIELD global
#else
#define FIELD
#endif
/* Loops are unrolled for devices only: in OpenCL C, and in OpenACC regions. */
#if defined(__OPENCL_VERSION__) || defined(_OPENACC)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

/* With POINTS_TOGETHER, the components of a point are adjacent in memory. Otherwise one component of adjacent points
 * is, so that the work-items of a device read adjacent values. */
#ifdef POINTS_TOGETHER
#define AT(component, point, points) ((point) * 5 + (component))
#define ENTRY(entry, entries, point, points, line, lines) (((line) * (points) + (point)) * (entries) + (entry))
#else
#define AT(component, point, points) ((component) * (points) + (point))
#define ENTRY(entry, entries, point, points, line, lines) (((entry) * (points) + (point)) * (lines) + (line))
#endif

#define HEAT_RATIO 1.4 /* c1 */
#define HEAT_RATIO_LESS_1 0.4 /* c2 */
#define VISCOSITY 0.1 /* c3 c4 */
#define CONDUCTION (1.4 * 1.4 * 0.1) /* c1 c5 c3 c4 */
#define DISSIPATION 0.25 /* the largest of the directions' diffusions, by 4 */
/* Second-order diffusion along direction d. */
#define DIFFUSION(d) ((d) == 2 ? 1.0 : 0.75)
/* The factor of the viscosity of momentum along e, in direction d. */
#define STRESS(e, d) ((e) == (d) ? 4.0 / 3.0 : 1.0)

/* The conserved values of a point, and those derived from them: velocity, 1 / density, kinetic energy per mass. */
typedef struct point_values {
    double u[5], v[3], per_density, kinetic;
} point_values;

static inline point_values point_at(FIELD const double* u, int at, int points) {
    point_values p;
    UNROLL
    for (int m = 0; m < 5; m++) p.u[m] = u[AT(m, at, points)];
    p.per_density = 1.0 / p.u[0];
    UNROLL
    for (int e = 0; e < 3; e++) p.v[e] = p.u[1 + e] * p.per_density;
    p.kinetic = 0.5 * (p.v[0] * p.v[0] + p.v[1] * p.v[1] + p.v[2] * p.v[2]);
    return p;
}

/* Adds the flux differences along direction d at `here` to `sum`. `before` and `behind` are its neighbours along d. */
static inline void add_fluxes(double* sum, const point_values* before, const point_values* here,
                              const point_values* behind, int d, double per_step) {
    const double first = 0.5 * per_step, second = per_step * per_step, viscous = VISCOSITY * second;
    UNROLL
    for (int m = 0; m < 5; m++) sum[m] += DIFFUSION(d) * second * (behind->u[m] - 2.0 * here->u[m] + before->u[m]);
    sum[0] -= first * (behind->u[1 + d] - before->u[1 + d]);
    UNROLL
    for (int e = 0; e < 3; e++)
        sum[1 + e] += STRESS(e, d) * viscous * (behind->v[e] - 2.0 * here->v[e] + before->v[e]) -
                      first * (behind->u[1 + e] * behind->v[d] - before->u[1 + e] * before->v[d]);
    const double inner_before = before->u[4] - before->u[0] * before->kinetic;
    const double inner_behind = behind->u[4] - behind->u[0] * behind->kinetic;
    sum[1 + d] -= first * HEAT_RATIO_LESS_1 * (inner_behind - inner_before);
    sum[4] += viscous *
                  ((1.0 - 1.4 * 1.4) * (behind->kinetic - 2.0 * here->kinetic + before->kinetic) +
                   (behind->v[d] * behind->v[d] - 2.0 * here->v[d] * here->v[d] + before->v[d] * before->v[d]) / 6.0 +
                   1.4 * 1.4 *
                       (behind->u[4] * behind->per_density - 2.0 * here->u[4] * here->per_density +
                        before->u[4] * before->per_density)) -
              first * ((behind->u[4] + HEAT_RATIO_LESS_1 * inner_behind) * behind->v[d] -
                       (before->u[4] + HEAT_RATIO_LESS_1 * inner_before) * before->v[d]);
}

/* Fourth-order dissipation at point `i` of a line of n points that lie `stride` apart; near its ends one-sided. */
static inline void add_dissipation(double* sum, FIELD const double* u, int at, int stride, int i, int n, int points) {
    const double centre = i == 1 || i == n - 2 ? 5.0 : 6.0;
    UNROLL
    for (int m = 0; m < 5; m++) {
        double value = centre * u[AT(m, at, points)];
        if (i > 1) value -= 4.0 * u[AT(m, at - stride, points)];
        if (i > 2) value += u[AT(m, at - 2 * stride, points)];
        if (i < n - 2) value -= 4.0 * u[AT(m, at + stride, points)];
        if (i < n - 3) value += u[AT(m, at + 2 * stride, points)];
        sum[m] -= DISSIPATION * value;
    }
}

/* Sets `sum` to the sum of the spatial derivatives at an inner point, without the forcing term. */
static inline void space_derivatives(double* sum, FIELD const double* u, int i, int j, int k, int nx, int ny, int nz,
                                     double per_x, double per_y, double per_z) {
    const int points = nx * ny * nz, at = (k * ny + j) * nx + i;
    const point_values here = point_at(u, at, points);
    UNROLL
    for (int m = 0; m < 5; m++) sum[m] = 0.0;
    {
        const point_values before = point_at(u, at - 1, points), behind = point_at(u, at + 1, points);
        add_fluxes(sum, &before, &here, &behind, 0, per_x);
        add_dissipation(sum, u, at, 1, i, nx, points);
    }
    {
        const point_values before = point_at(u, at - nx, points), behind = point_at(u, at + nx, points);
        add_fluxes(sum, &before, &here, &behind, 1, per_y);
        add_dissipation(sum, u, at, nx, j, ny, points);
    }
    {
        const point_values before = point_at(u, at - nx * ny, points), behind = point_at(u, at + nx * ny, points);
        add_fluxes(sum, &before, &here, &behind, 2, per_z);
        add_dissipation(sum, u, at, nx * ny, k, nz, points);
    }
}

/*
 * Row r of flux_by F + viscous_by N + diagonal I, where F and N are the Jacobians of the convective and of the viscous
 * fluxes along d at p.
 */
static inline void jacobian_row(double* row, const point_values* p, int d, int r, double flux_by, double viscous_by,
                                double diagonal) {
    const double vd = p->v[d], energy = p->u[4] * p->per_density;
    UNROLL
    for (int c = 0; c < 5; c++) row[c] = 0.0;
    if (r == 0) {
        row[1 + d] = flux_by;
    } else if (r < 4) {
        const int e = r - 1;
        const double viscous = viscous_by * VISCOSITY * STRESS(e, d) * p->per_density;
        row[0] = -flux_by * p->v[e] * vd - viscous * p->v[e];
        row[1 + e] = flux_by * vd;
        row[1 + d] += flux_by * p->v[e];
        if (e == d) {
            row[0] += flux_by * HEAT_RATIO_LESS_1 * p->kinetic;
            UNROLL
            for (int f = 0; f < 3; f++) row[1 + f] -= flux_by * HEAT_RATIO_LESS_1 * p->v[f];
            row[4] = flux_by * HEAT_RATIO_LESS_1;
        }
        row[1 + e] += viscous;
    } else {
        const double conduction = viscous_by * CONDUCTION * p->per_density;
        row[0] = flux_by * (2.0 * HEAT_RATIO_LESS_1 * p->kinetic - HEAT_RATIO * energy) * vd - conduction * energy;
        UNROLL
        for (int e = 0; e < 3; e++) {
            const double viscous = viscous_by * VISCOSITY * STRESS(e, d) * p->per_density - conduction;
            row[0] -= viscous * p->v[e] * p->v[e];
            row[1 + e] = viscous * p->v[e] - flux_by * HEAT_RATIO_LESS_1 * p->v[e] * vd;
        }
        row[1 + d] += flux_by * (HEAT_RATIO * energy - HEAT_RATIO_LESS_1 * p->kinetic);
        row[4] = flux_by * HEAT_RATIO * vd + conduction;
    }
    row[r] += diagonal;
}

/* The blocks of a line's system, before, on and behind the diagonal: factors for jacobian_row() along direction d. */
#define BEFORE_FACTORS(d, dt, per_step)                                                                                \
    -0.5 * (dt) * (per_step), -(dt) * (per_step) * (per_step), -(dt) * (per_step) * (per_step) * DIFFUSION(d)
#define HERE_FACTORS(d, dt, per_step)                                                                                  \
    0.0, 2.0 * (dt) * (per_step) * (per_step), 1.0 + 2.0 * (dt) * (per_step) * (per_step) * DIFFUSION(d)
#define BEHIND_FACTORS(d, dt, per_step)                                                                                \
    0.5 * (dt) * (per_step), -(dt) * (per_step) * (per_step), -(dt) * (per_step) * (per_step) * DIFFUSION(d)

/* Solves b x = (c, f) for the 5 x 5 block b: multiplies c and f by the inverse of b in place, and overwrites b. */
static inline void eliminate(double* b, double* c, double* f) {
    UNROLL
    for (int p = 0; p < 5; p++) {
        const double pivot = 1.0 / b[p * 5 + p];
        UNROLL
        for (int n = p + 1; n < 5; n++) b[p * 5 + n] *= pivot;
        UNROLL
        for (int n = 0; n < 5; n++) c[p * 5 + n] *= pivot;
        f[p] *= pivot;
        UNROLL
        for (int r = 0; r < 5; r++) {
            if (r == p) continue;
            const double factor = b[r * 5 + p];
            UNROLL
            for (int n = p + 1; n < 5; n++) b[r * 5 + n] -= factor * b[p * 5 + n];
            UNROLL
            for (int n = 0; n < 5; n++) c[r * 5 + n] -= factor * c[p * 5 + n];
            f[r] -= factor * f[p];
        }
    }
}

/* A line along direction d of a zone: its first point, how its points lie, and its number among the zone's lines. */
typedef struct grid_line {
    int first, stride, n, line, lines;
    int items; /* lines along d that are taken together */
} grid_line;

/* Returns line number `item` of those taken together: along x the lines of `rows` rows from first_row on, along y and z
 * all lines of the zone. */
static inline grid_line line_of(int d, int nx, int ny, int nz, int first_row, int rows, int item) {
    const int across = d == 0 ? ny - 2 : nx - 2, up = (d == 2 ? ny : nz) - 2, together = d == 0 ? rows : across;
    const int a = (d == 0 ? first_row : 1) + item % together, b = 1 + item / together;
    grid_line at;
    at.line = (b - 1) * across + a - 1;
    at.lines = across * up;
    at.items = together * up;
    at.n = d == 0 ? nx : d == 1 ? ny : nz;
    at.stride = d == 0 ? 1 : d == 1 ? nx : nx * ny;
    at.first = d == 0 ? (b * ny + a) * nx : d == 1 ? b * ny * nx + a : b * nx + a;
    return at;
}

/*
 * Solves one line of n points along d, which begin at `first` and lie `stride` apart. It is number `line` of `lines`,
 * from 0. The solution replaces the right-hand side; with add_to it is also added to the field. `work` has 25 values
 * for each inner point.
 */
static inline void solve_line(int d, FIELD double* u, FIELD double* rhs, FIELD double* work, int first, int stride,
                              int n, int points, int line, int lines, double dt, double per_step, int add_to) {
    double c[25], f[5];
    point_values before = point_at(u, first, points), here = point_at(u, first + stride, points);
    for (int i = 1; i < n - 1; i++) {
        const int at = first + i * stride;
        double b[25], right[5];
        UNROLL
        for (int m = 0; m < 5; m++) right[m] = rhs[AT(m, at, points)];
        UNROLL
        for (int r = 0; r < 5; r++) jacobian_row(b + r * 5, &here, d, r, HERE_FACTORS(d, dt, per_step));
        if (i > 1) {
            UNROLL
            for (int r = 0; r < 5; r++) {
                double a[5];
                jacobian_row(a, &before, d, r, BEFORE_FACTORS(d, dt, per_step));
                UNROLL
                for (int m = 0; m < 5; m++) {
                    right[r] -= a[m] * f[m];
                    UNROLL
                    for (int e = 0; e < 5; e++) b[r * 5 + e] -= a[m] * c[m * 5 + e];
                }
            }
        }
        const point_values behind = point_at(u, at + stride, points);
        UNROLL
        for (int r = 0; r < 5; r++) jacobian_row(c + r * 5, &behind, d, r, BEHIND_FACTORS(d, dt, per_step));
        eliminate(b, c, right);
        UNROLL
        for (int e = 0; e < 25; e++) work[ENTRY(e, 25, i, n, line, lines)] = c[e];
        UNROLL
        for (int m = 0; m < 5; m++) rhs[AT(m, at, points)] = f[m] = right[m];
        before = here;
        here = behind;
    }
    /* The boundary values do not change: behind the last inner point there is nothing to subtract. */
    UNROLL
    for (int m = 0; m < 5; m++)
        if (add_to) u[AT(m, first + (n - 2) * stride, points)] += f[m];
    for (int i = n - 3; i > 0; i--) {
        const int at = first + i * stride;
        double x[5];
        UNROLL
        for (int r = 0; r < 5; r++) {
            x[r] = rhs[AT(r, at, points)];
            UNROLL
            for (int m = 0; m < 5; m++) x[r] -= work[ENTRY(r * 5 + m, 25, i, n, line, lines)] * f[m];
        }
        UNROLL
        for (int m = 0; m < 5; m++) {
            rhs[AT(m, at, points)] = f[m] = x[m];
            if (add_to) u[AT(m, at, points)] += x[m];
        }
    }
}

#endif
