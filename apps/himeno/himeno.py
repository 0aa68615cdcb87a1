# SPDX-License-Identifier: Apache-2.0
"""The Himeno benchmark in Python: causeway.cpp with pyopencl and mpi4py.

usage: causeway run -n RANKS python himeno.py [SIZE [ITERATIONS]]
"""

import re
import sys
import time
from pathlib import Path

import causeway
import numpy as np
import pyopencl as cl
from mpi4py import MPI

SIZES = {"XS": (32, 32, 64), "S": (64, 64, 128), "M": (128, 128, 256), "L": (256, 256, 512)}
COEFFICIENTS = [1, 1, 1, 1 / 6, 0, 0, 0, 1, 1, 1, 0, 1]
RELAXATION = np.float32(0.8)

# The kernel of the C++ versions.
KERNEL = re.search(r'R"\((.*?)\)";', Path(__file__).with_name("problem.cpp").read_text(), re.DOTALL).group(1)


def initial_pressure(planes, rows, columns):
    plane = np.arange(planes, dtype=np.float32)
    values = plane * plane / np.float32((planes - 1) ** 2)
    return np.broadcast_to(values[:, None, None], (planes, rows, columns)).copy()


class Problem:
    """One rank's part of the grid: planes 0 and `planes` + 1 are halo, half A the upper ones, half B the lower."""

    def __init__(self, size, comm):
        all_planes, self.rows, self.columns = size
        self.comm = comm
        inner = all_planes - 2
        self.planes = inner // comm.size + (comm.rank < inner % comm.size)
        first = comm.rank * (inner // comm.size) + min(comm.rank, inner % comm.size)
        devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
        self.context = cl.Context([devices[comm.rank % len(devices)]])
        self.queues = [cl.CommandQueue(self.context) for _ in range(2)]
        # communication begin
        out_of_order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        self.exchanges = cl.CommandQueue(self.context, properties=out_of_order)
        # communication end

        cells = self.rows * self.columns
        start = initial_pressure(*size)[first : first + self.planes + 2]
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        self.pressure = [cl.Buffer(self.context, flags, hostbuf=start) for _ in range(2)]
        constant = [np.full_like(start, value) for value in COEFFICIENTS]
        self.coefficients = [cl.Buffer(self.context, flags, hostbuf=value) for value in constant]
        self.residuals = cl.Buffer(self.context, flags, hostbuf=np.zeros(self.planes * cells, np.float32))
        options = [f"-DROWS={self.rows}", f"-DCOLUMNS={self.columns}", f"-DPLANE={cells}", "-DSLAB=1"]
        program = cl.Program(self.context, KERNEL).build(options)

        limit, cpu = self.queues[0].device.max_work_group_size, self.queues[0].device.type & cl.device_type.CPU
        columns = min(limit, self.columns if cpu else 64)
        self.local_size = (columns, min(limit // columns, 8 if cpu else 4), 1)
        upper = self.planes // 2
        self.parts = {"A": (1, upper), "B": (1 + upper, self.planes - upper)}
        plane = self.plane_bytes = cells * 4
        last = self.planes
        self.halos = {  # neighbour, what it needs of ours, where what we need of it belongs
            "A": (comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL, plane, 0),
            "B": (comm.rank + 1 if comm.rank + 1 < comm.size else MPI.PROC_NULL, last * plane, (last + 1) * plane),
        }
        self.kernels = {}
        for parity in range(2):
            for half, (begin, planes) in self.parts.items():
                kernel = cl.Kernel(program, "jacobi")
                own, other = self.pressure[parity], self.pressure[1 - parity]
                bounds = (np.int32(begin), np.int32(begin + planes), np.int32(begin - 1))
                kernel.set_args(own, other, *self.coefficients, self.residuals, *bounds, RELAXATION)
                self.kernels[parity, half] = kernel

    def jacobi(self, queue, half, iteration, wait_for):
        kernel = self.kernels[iteration % 2, half]
        size = (self.columns, self.rows, self.parts[half][1])
        return cl.enqueue_nd_range_kernel(queue, kernel, size, self.local_size, wait_for=wait_for)

    # communication begin
    def exchange(self, half, pressure, computed):
        neighbour, ours, theirs = self.halos[half]
        size = self.plane_bytes
        ranges = {"send_offset": ours, "send_size": size, "recv_offset": theirs, "recv_size": size}
        return causeway.enqueue_sendrecv(
            self.exchanges, pressure, pressure, self.comm, neighbour, neighbour, **ranges, wait_for=computed
        )

    # communication end

    def run(self, iterations):
        """Takizawa et al. 2015, Listing 4: events order everything, the host only keeps an iteration ahead."""
        first, second = ("A", "B") if self.comm.rank % 2 == 0 else ("B", "A")
        pressure = self.pressure
        computed, exchanged = [[], []], [[], []]
        for iteration in range(iterations):
            last = computed[0] + computed[1] + exchanged[0] + exchanged[1]
            one = [self.jacobi(self.queues[0], first, iteration, computed[1] + exchanged[1])]
            # communication begin
            early = [self.exchange(second, pressure[iteration % 2], computed[1])]
            # communication end
            two = [self.jacobi(self.queues[1], second, iteration, computed[0] + early)]
            # communication begin
            late = [self.exchange(first, pressure[1 - iteration % 2], one)]
            # communication end
            for queue in self.queues:
                queue.flush()
            if last:
                causeway.wait_for_events(last)
            computed, exchanged = [one, two], [early, late]
        causeway.wait_for_events(computed[0] + computed[1] + exchanged[0] + exchanged[1])

    def gosa(self):
        residuals = np.empty(self.planes * self.rows * self.columns, np.float32)
        cl.enqueue_copy(self.queues[0], residuals, self.residuals)
        return self.comm.allreduce(residuals.sum(dtype=np.float64))


def solve_on_host(size, iterations):
    """gosa after `iterations`, where most of the benchmark's coefficients are 0 or 1. Rounds where the kernel does
    (fma)."""
    p = initial_pressure(*size)
    a3, relaxation = np.float64(np.float32(1 / 6)), np.float64(RELAXATION)
    for _ in range(iterations):
        inner = p[1:-1, 1:-1, 1:-1]
        around = p[2:, 1:-1, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, 1:-1, 2:]
        around = around + p[:-2, 1:-1, 1:-1] + p[1:-1, :-2, 1:-1] + p[1:-1, 1:-1, :-2]
        ss = (around * a3 - inner).astype(np.float32)
        p[1:-1, 1:-1, 1:-1] = inner + relaxation * ss
    return (ss.astype(np.float64) ** 2).sum()


def main():
    name, iterations = (sys.argv[1:] + ["S", "50"][len(sys.argv) - 1 :])[:2]
    size, iterations = SIZES[name], int(iterations)
    comm = MPI.COMM_WORLD
    problem = Problem(size, comm)
    problem.run(iterations)
    gosa = problem.gosa()
    comm.Barrier()
    begin = time.perf_counter()
    problem.run(iterations)  # again: everything is compiled by now
    seconds = comm.allreduce(time.perf_counter() - begin, MPI.MAX)
    expected = solve_on_host(size, iterations)
    if comm.rank == 0:
        flops = 34 * (size[0] - 2) * (size[1] - 2) * (size[2] - 2) * iterations
        print(
            f"Himeno {name}, {comm.size} rank(s), {iterations} iterations: "
            f"{flops / seconds / 1e6:.0f} MFLOPS, gosa {gosa:.6e}"
        )
    if abs(gosa - expected) > 1e-5 * expected:
        sys.exit(f"WRONG: gosa is {gosa:.6e}, should be {expected:.6e}")


if __name__ == "__main__":
    main()
