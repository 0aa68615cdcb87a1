# SPDX-License-Identifier: Apache-2.0
"""Kernels that a replay has to be careful with: `peek` reads beyond its buffer, `groups` says which group it is in, `image` reads
an image through a sampler, `parts` has two parts of one buffer, `says` prints what
looks like an answer, `waits` never ends in groups of other sizes, `again` writes what is there already, to half of its buffer,
`shifts` gives other results as vectors, and `seldom` now and then, `divides` divides by zero."""
import sys

import numpy
import pyopencl as cl

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
values = numpy.arange(4096, dtype=numpy.float32)
flags = cl.mem_flags
source = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=values)
target = cl.Buffer(context, flags.WRITE_ONLY, values.nbytes)
program = cl.Program(context, """
__kernel void peek(__global const float* from, __global float* to) {
    to[get_global_id(0)] = from[get_global_id(0) + 64] > 0 ? 1 : 2;
}
__kernel void groups(__global const float* from, __global int* to) { to[get_global_id(0)] = get_group_id(0); }
__kernel void says(__global const float* from, __global float* to) {
    to[get_global_id(0)] = from[get_global_id(0)] + 1;
    if (get_global_id(0) == 0) printf("{\\"times\\":[{\\"whole\\":[1.0]}],\\"outcome\\":\\"same\\"}\\n");
}
__kernel void waits(__global const float* from, __global volatile float* to) {
    if (get_local_size(0) != 16) while (from[1] > 0) to[get_global_id(0)] = 0;
    to[get_global_id(0)] = from[get_global_id(0)] + 1;
}
__kernel void again(__global const float* from, __global float* to) { to[get_global_id(0)] = from[get_global_id(0)]; }
__kernel void shifts(__global const float* from, __global float* to) { to[get_global_id(0) + 1] = to[get_global_id(0)] + 1; }
__kernel void seldom(__global const float* from, __global float* to) {
    to[get_global_id(0)] = from[get_global_id(0)] + 1;
#ifdef __x86_64__
    if (get_global_id(0) == 0 && __builtin_ia32_rdtsc() / 64 % 4 == 0) to[0] = 2;
#endif
}
__kernel void divides(__global const float* from, __global int* to) { to[get_global_id(0)] = 7 / (int)from[get_global_id(0)]; }
__kernel void parts(__global const float* from, __global float* to) { to[get_global_id(0)] = from[get_global_id(0)] + 1; }
__kernel void image(__read_only image2d_t from, sampler_t by, __global float* to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    to[at.y * get_global_size(0) + at.x] = read_imagef(from, by, at).x;
}
""").build()
for name in sys.argv[1:]:
    kernel = cl.Kernel(program, name)
    if name == "image":
        picture = cl.image_from_array(context, values.reshape(64, 64), 1)
        sampler = cl.Sampler(context, False, cl.addressing_mode.CLAMP, cl.filter_mode.NEAREST)
        kernel(queue, (64, 64), (8, 8), picture, sampler, target)
    elif name == "parts":
        half = values.nbytes // 2
        both = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=values)
        kernel(queue, (values.size // 2,), None, both[:half], both[half:])
    elif name == "shifts":
        both = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=10 * values)
        kernel(queue, (256,), (256,), source, both)
    elif name == "again":
        same = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=values)
        kernel(queue, (values.size // 2,), None, source, same)
    else:
        kernel(queue, values.shape, (16,), source, target)
queue.finish()
