// SPDX-License-Identifier: Apache-2.0
// Algorithm 5 of the paper: a function whose loop ends early, for the lanes of a loop that calls it.
// TARGET wide = -O3 -march=sapphirerapids -mprefer-vector-width=512 -fopenmp-simd
// TARGET avx2 = -O2 -march=haswell -fopenmp-simd
// TARGET sse = -O3 -march=x86-64 -fopenmp-simd -Wno-pass-failed
// TARGET elsewhere-avx = -O3 -march=sandybridge -fopenmp-simd -Wno-pass-failed
// TARGET elsewhere-sve = -O3 --target=aarch64-linux-gnu -march=armv9-a -fopenmp-simd -ffreestanding -Wno-pass-failed
// TARGET plain = -O3 -march=sapphirerapids -mprefer-vector-width=512

// wide: remark: its function mandel is there for lanes, whose branches are masks [-Rpass=causeway-simd]
// wide: lanes, the rest by single vectors and a masked step
// avx2: remark: its function mandel is there for lanes, whose branches are masks [-Rpass=causeway-simd]
// avx2: remark: its function called has no form for lanes: it calls a function [-Rpass-missed=causeway-simd]
// sse-NOT: lanes
// elsewhere-avx-NOT: [-Rpass=causeway-simd]
// elsewhere-sve-NOT: [-Rpass=causeway-simd]
// plain-NOT: lanes, whose

// wide-LABEL: {{^}}row:
// wide: callq mandel.lanes
// avx2-LABEL: {{^}}row:
// avx2: callq mandel.lanes
#pragma omp declare simd uniform(max_iter)
static int mandel(float c_re, float c_im, int max_iter) {
    float z_re = c_re, z_im = c_im;
    int i;
    for (i = 0; i < max_iter; i++) {
        if (z_re * z_re + z_im * z_im > 4.f) break;
        const float new_re = z_re * z_re - z_im * z_im, new_im = 2.f * z_re * z_im;
        z_re = c_re + new_re;
        z_im = c_im + new_im;
    }
    return i;
}

void row(int *restrict out, const float *restrict x, float y, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) out[i] = mandel(x[i], y, 256);
}

int unknown(int);
#pragma omp declare simd
static int called(int x) {
    while (x & 12) x = unknown(x);
    return x;
}

#pragma clang diagnostic ignored "-Wpass-failed"
// Its loop stays, and the call is inlined as without the plug-in.
// avx2-LABEL: {{^}}refused:
// avx2-NOT: callq called
// avx2: callq unknown
// avx2: retq
void refused(int *restrict out, const int *restrict x, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) out[i] = called(x[i]);
}

// The same where the function has a form for lanes, but the loop cannot use it.
// avx2-LABEL: {{^}}refused_later:
// avx2-NOT: callq scaled
// avx2: callq unknown
// avx2: retq
#pragma omp declare simd
static int scaled(int x) {
    while (x > 100) x -= x / 3;
    return x;
}
void refused_later(int *restrict out, const int *restrict x, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) out[i] = scaled(x[i]) + unknown(i);
}

// Who asks for a call has it.
// avx2-LABEL: {{^}}asked_for:
// avx2: callq called_by_wish
// avx2: retq
#pragma omp declare simd
static int called_by_wish(int x) {
    while (x & 12) x = unknown(x);
    return x;
}
void asked_for(int *restrict out, const int *restrict x, int n) {
#pragma omp simd
    for (int i = 0; i < n; i++) [[clang::noinline]] out[i] = called_by_wish(x[i]);
}

// wide-LABEL: {{^}}mandel.lanes:
// wide: vcmp{{.*}}ps {{.*}}%zmm{{[0-9]+}}, %k{{[0-9]}}
// wide: retq
// avx2-LABEL: {{^}}mandel.lanes:
// avx2: vcmp{{.*}}ps {{.*}}%ymm
// avx2: retq
