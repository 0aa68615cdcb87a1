# SPDX-License-Identifier: Apache-2.0
"""A plain program with pyopencl: 4 launches of `twice`."""
import numpy
import pyopencl as cl

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
values = numpy.arange(4096, dtype=numpy.float32)
flags = cl.mem_flags
source = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=values)
target = cl.Buffer(context, flags.WRITE_ONLY, values.nbytes)
program = cl.Program(context, """
__kernel void twice(__global const float* from, __global float* to) {
    to[get_global_id(0)] = 2 * from[get_global_id(0)];
}
""").build()
kernel = cl.Kernel(program, "twice")
for _ in range(4):
    kernel(queue, values.shape, (16,), source, target)
result = numpy.empty_like(values)
cl.enqueue_copy(queue, result, target)
assert (result == 2 * values).all()
