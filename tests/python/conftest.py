# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share: a device for each rank, queues, neighbours. Every rank runs every
test."""

import faulthandler
import itertools
import os
import subprocess
import sys

import numpy as np
import pyopencl as cl
import pytest
from mpi4py import MPI


@pytest.fixture(autouse=True)
def _watched():
    """A rank whose neighbour failed waits for it: the stacks say where, and the job ends."""
    faulthandler.dump_traceback_later(240, exit=True)


mf = cl.mem_flags


class Machine:
    """This rank's device, and memory on it."""

    def __init__(self):
        devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
        self.device = devices[MPI.COMM_WORLD.rank % len(devices)]
        self.other_device = devices[(MPI.COMM_WORLD.rank + 1) % len(devices)]
        self.context = cl.Context([self.device])
        self.in_order = cl.CommandQueue(self.context)
        out_of_order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        self.out_of_order = cl.CommandQueue(self.context, properties=out_of_order)

    def buffer(self, contents):
        """A buffer with the bytes of an array, or of so many undefined bytes."""
        if isinstance(contents, int):
            return cl.Buffer(self.context, mf.READ_WRITE, contents)
        return cl.Buffer(self.context, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=contents)

    def read(self, buffer, wait_for=None, offset=0, size=None):
        size = buffer.size - offset if size is None else size
        contents = np.empty(size, np.uint8)
        cl.enqueue_copy(self.out_of_order, contents, buffer, src_offset=offset, wait_for=wait_for)
        return contents


@pytest.fixture(scope="session")
def machine():
    return Machine()


@pytest.fixture(params=["in_order", "out_of_order"])
def queue(machine, request):
    return getattr(machine, request.param)


@pytest.fixture(scope="session")
def comm():
    own = MPI.COMM_WORLD.Dup()
    yield own
    own.Barrier()
    own.Free()


@pytest.fixture
def right(comm):
    return (comm.rank + 1) % comm.size


@pytest.fixture
def left(comm):
    return (comm.rank - 1) % comm.size


_seeds = itertools.count()


def pattern(size, seed=None):
    """Bytes that no other call gives."""
    return np.random.default_rng(next(_seeds) if seed is None else seed).integers(0, 256, size, np.uint8)


def python(program, *arguments, **environment):
    """Runs a program by itself: no rank of this job."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("OMPI_MCA", "OMPI_COMM", "PM"))
    }
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )
