// SPDX-License-Identifier: Apache-2.0
// The kernels of Lee et al. 2015, "OpenCL Performance Evaluation on Modern Multicore CPUs", written anew. PER_ITEM is
// how many items one work-item does, ILP how many independent chains it has.
#pragma once

namespace paper {

inline const char* const kernel_source = R"(
#ifndef PER_ITEM
#define PER_ITEM 1
#endif
#ifndef TILE
#define TILE 16
#endif
#ifndef ILP
#define ILP 1
#endif
#define EACH(i, n) for (uint k_ = 0, i = get_global_id(0) * PER_ITEM; k_ < PER_ITEM && i < (n); ++k_, ++i)

__kernel void square(__global const float* a, __global float* b, uint n) { EACH(i, n) b[i] = a[i] * a[i]; }

__kernel void vectoadd(__global const float* a, __global const float* b, __global float* c, uint n) { EACH(i, n) c[i] = a[i] + b[i]; }

__kernel void vectormul(__global const float* a, __global const float* b, __global float* c, uint n) { EACH(i, n) c[i] = a[i] * b[i]; }

__kernel void matrixmul_naive(__global const float* a, __global const float* b, __global float* c, uint n) {
    const uint x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (uint k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

__kernel void matrixmul(__global const float* a, __global const float* b, __global float* c, uint n) {
    __local float ta[TILE][TILE], tb[TILE][TILE];
    const uint x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
    float sum = 0;
    for (uint t = 0; t < n; t += TILE) {
        ta[ly][lx] = a[y * n + t + lx];
        tb[ly][lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; ++k) sum += ta[ly][k] * tb[k][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

__kernel void reduce(__global const float* a, __global float* sums, uint n, __local float* t) {
    const uint l = get_local_id(0), i = get_global_id(0);
    t[l] = i < n ? a[i] : 0;
    for (uint half_ = get_local_size(0) / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_) t[l] += t[l + half_];
    }
    if (l == 0) sums[get_group_id(0)] = t[0];
}

__kernel void histogram256(__global const uint* values, __global uint* bins, uint n) {
    __local uint t[256];
    for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) t[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_global_id(0) < n) atomic_inc(&t[values[get_global_id(0)] & 255]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < 256; i += get_local_size(0)) atomic_add(&bins[i], t[i]);
}

__kernel void prefixsum(__global const float* a, __global float* b, uint n, __local float* t) {
    const uint l = get_local_id(0), size = get_local_size(0);
    t[l] = a[get_global_id(0)];
    for (uint step = 1; step < size; step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const float before = l >= step ? t[l - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        t[l] += before;
    }
    b[get_global_id(0)] = t[l];
}

float normal(float d) {
    const float k = 1 / (1 + 0.2316419f * fabs(d));
    const float tail = 0.39894228f * exp(-0.5f * d * d) *
        (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1 - tail : tail;
}

__kernel void blackscholes(__global const float* price, __global const float* strike, __global float* call, uint n) {
    EACH(i, n) {
        const float s = price[i], x = strike[i], r = 0.02f, v = 0.3f, time = 1 + i % 8;
        const float d1 = (log(s / x) + (r + 0.5f * v * v) * time) / (v * sqrt(time)), d2 = d1 - v * sqrt(time);
        call[i] = s * normal(d1) - x * exp(-r * time) * normal(d2);
    }
}

// One option for each work-group of 255: the tree shrinks from its leaves.
__kernel void binomialoption(__global const float* price, __global float* value, uint n, __local float* t) {
    const uint l = get_local_id(0), steps = get_local_size(0) - 1;
    const float s = price[get_group_id(0)], dt = 1.0f / steps, up = exp(0.3f * sqrt(dt)), down = 1 / up;
    const float growth = exp(0.02f * dt), p = (growth - down) / (up - down);
    t[l] = fmax(100 - s * pow(up, (float)l) * pow(down, (float)(steps - l)), 0.0f);
    for (uint left = steps; left > 0; --left) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const float next = l < left ? (p * t[l + 1] + (1 - p) * t[l]) / growth : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < left) t[l] = next;
    }
    if (l == 0) value[get_group_id(0)] = t[0];
}

__kernel void cenergy(__global const float4* atoms, __global float* grid, uint n, uint count) {
    const uint w = get_global_size(0) * PER_ITEM, y = get_global_id(1);
    for (uint k = 0; k < PER_ITEM; ++k) {
        const uint x = get_global_id(0) * PER_ITEM + k;
        float sum = 0;
        for (uint a = 0; a < count; ++a) {
            const float dx = 0.1f * x - atoms[a].x, dy = 0.1f * y - atoms[a].y;
            sum += atoms[a].w * rsqrt(dx * dx + dy * dy + atoms[a].z);
        }
        if (y * w + x < n) grid[y * w + x] += sum;
    }
}

__kernel void phimag(__global const float* re, __global const float* im, __global float* mag, uint n) {
    EACH(i, n) mag[i] = re[i] * re[i] + im[i] * im[i];
}

__kernel void computeq(__global const float4* k, __global const float* x, __global float2* q, uint n, uint count) {
    EACH(i, n) {
        float re = 0, im = 0;
        for (uint j = 0; j < count; ++j) {
            const float angle = 6.2831853f * (k[j].x * x[i] + k[j].y * x[i] + k[j].z * x[i]);
            re += k[j].w * cos(angle);
            im += k[j].w * sin(angle);
        }
        q[i] = (float2)(re, im);
    }
}

__kernel void rhophi(__global const float* a, __global const float* b, __global float* c, uint n) {
    EACH(i, n) c[i] = a[i] * b[i] + b[i] * b[i] - a[i];
}

__kernel void computefhd(__global const float4* k, __global const float* x, __global float2* f, uint n, uint count) {
    EACH(i, n) {
        float re = 0, im = 0;
        for (uint j = 0; j < count; ++j) {
            const float angle = 6.2831853f * (k[j].x + k[j].y + k[j].z) * x[i];
            const float c = cos(angle), s = sin(angle);
            re += k[j].w * c - k[j].x * s;
            im += k[j].x * c + k[j].w * s;
        }
        f[i] = (float2)(re, im);
    }
}

// The same number of multiplications and additions, in ILP chains that do not depend on each other.
__kernel void ilp(__global const float* a, __global float* b, uint n) {
    const uint i = get_global_id(0);
    float v[ILP];
    for (uint c = 0; c < ILP; ++c) v[c] = a[i] + c;
    for (uint k = 0; k < 960 / ILP; ++k) {
#pragma unroll
        for (uint c = 0; c < ILP; ++c) v[c] = v[c] * 0.999f + 0.001f;
    }
    float sum = 0;
    for (uint c = 0; c < ILP; ++c) sum += v[c];
    b[i] = sum;
}

// Algorithm 1: each multiplication waits for the one before it.
__kernel void chain(__global const float* a, __global float* b, uint n) {
    EACH(i, n) {
        float v = a[i];
        const float w = 1.0001f;
        for (int k = 0; k < 64; ++k) v *= w;
        b[i] = v;
    }
}
)";

} // namespace paper
