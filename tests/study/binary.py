# SPDX-License-Identifier: Apache-2.0
"""A program with pyopencl that keeps binaries: what it launches was made by clCreateProgramWithBinary."""
import numpy
import pyopencl as cl

context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
built = cl.Program(context, """
__kernel void thrice(__global const float* from, __global float* to) {
    to[get_global_id(0)] = 3 * from[get_global_id(0)];
}
""").build()
program = cl.Program(context, context.devices, built.get_info(cl.program_info.BINARIES)).build()
values = numpy.arange(4096, dtype=numpy.float32)
source = cl.Buffer(context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
target = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, values.nbytes)
kernel = cl.Kernel(program, "thrice")
for _ in range(4):
    kernel(queue, values.shape, (16,), source, target)
result = numpy.empty_like(values)
cl.enqueue_copy(queue, result, target)
assert (result == 3 * values).all()
