# SPDX-License-Identifier: Apache-2.0
"""Kernels with several items in one give what they gave; those whose items wait for each other, or know of their group, are refused.

Usage: coarsened.py COARSEN"""
import pathlib
import subprocess
import sys
import tempfile

import numpy
import pyopencl as cl

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
flags = cl.mem_flags
items = 1030  # no multiple of the factors

kernels = {
    "plain": "__kernel void plain(__global const float* from, __global float* to) { to[get_global_id(0)] = 2 * from[get_global_id(0)]; }",
    "returns": """__kernel void returns(__global const float* from, __global float* to) {
        size_t i = get_global_id(0);
        if (i % 3 == 0) return;
        float kept = 0;
        while (kept < from[i]) kept += 100;
        to[i] = kept;
    }""",
    "strides": """__kernel void strides(__global const float* from, __global float* to) {
        for (size_t i = get_global_id(0); i < 3 * get_global_size(0); i += get_global_size(0)) to[i] = from[i] + get_global_size(0);
    }""",
    "macros": """#define ID get_global_id(0)
    #define BODY to[ID] = from[ID] - SHIFT
    float unchanged(float a); // declared before
    __attribute__((always_inline)) inline float more(float a) { return a + 1; }
    /* __kernel void macros( */ kernel __attribute__((work_group_size_hint(16, 1, 1)))
    void macros(global const float* restrict from, // a comment, with a brace {
                global float* restrict to) { BODY; to[ID] = more(to[ID]); }
    float unchanged(float a) { return a; }""",
    "planes": """__kernel void planes(__global const float* from, __global float* to) {
        uint dimension = 0;
        size_t x = get_global_id(dimension), y = get_global_id(1);
        to[y * get_global_size(0) + x] = from[x] * get_work_dim() + 1000 * y + get_global_size(1);
    }""",
    "offsets": """__kernel void offsets(__global const float* from, __global float* to) {
        to[get_global_id(0)] = from[get_global_id(0) - get_global_offset(0)];
    }""",
}
refused = {
    "barrier": "__kernel void k(__global float* to) { to[get_global_id(0)] = 1; barrier(CLK_GLOBAL_MEM_FENCE); to[0] = 2; }",
    "get_local_id": "uint lane(void) { return get_local_id(0); } __kernel void k(__global float* to) { to[get_global_id(0)] = lane(); }",
    "get_group_id": "#define GROUP get_group_id(0)\n__kernel void k(__global float* to) { to[get_global_id(0)] = GROUP; }",
    "local memory": "__kernel void k(__global float* to) { __local float t[4]; t[0] = 1; to[get_global_id(0)] = t[0]; }",
    "local memory, tile": "typedef __local float* scratch; __kernel void k(__global float* to, scratch tile) { to[get_global_id(0)] = tile[0]; }",
    "asks for get_global_id": "size_t me(void) { return get_global_id(0); } __kernel void k(__global float* to) { to[me()] = 1; }",
    "a work-group size": "__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void k(__global float* to) { to[get_global_id(0)] = 1; }",
    "stands in a macro": "#define MAKE(name) __kernel void name(__global float* to) { to[get_global_id(0)] = 1; }\nMAKE(k)",
    "there is no kernel": "__kernel void other(__global float* to) { to[get_global_id(0)] = 1; }",
    "error:": "__kernel void k(__global float* to) { to[get_global_id(0)] = not_declared; }",
}


def coarsen(folder, kernel, source, factor=2, order="adjacent"):
    path = folder / "kernel.cl"
    path.write_text(source)
    return subprocess.run([sys.argv[1], "--kernel", kernel, "--factor", str(factor), "--items", str(items), "--order", order, path,
                           "--", "-D", "SHIFT=7"], capture_output=True, text=True, check=False)


def result(name, source, width):
    """What the kernel leaves in its buffer, launched with so many items in the first dimension."""
    values = numpy.arange(4 * items, dtype=numpy.float32)
    given = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=values)
    made = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=-values)
    kernel = cl.Kernel(cl.Program(context, source).build("-D SHIFT=7"), name)
    kernel.set_args(given, made)
    shape = (width, 3) if name == "planes" else (width,)
    cl.enqueue_nd_range_kernel(queue, kernel, shape, None, global_work_offset=(5,) if name == "offsets" else None)
    cl.enqueue_copy(queue, values, made)
    return values


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for name, source in kernels.items():
        expected = result(name, source, items)
        for order, factor in (("adjacent", 2), ("adjacent", 1000), ("interleaved", 16)):
            done = coarsen(folder, name, source, factor, order)
            assert done.returncode == 0, (name, done.stderr)
            got = result(name, done.stdout, (items + factor - 1) // factor)
            assert (got == expected).all(), (name, order, factor, numpy.flatnonzero(got != expected)[:5])
    for why, source in refused.items():
        done = coarsen(folder, "k", source)
        assert done.returncode == 1 and not done.stdout and why in done.stderr, (why, done.stdout, done.stderr)
    assert subprocess.run([sys.argv[1], "--kernel", "k"], capture_output=True, check=False).returncode == 2
