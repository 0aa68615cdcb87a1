# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Transfers from Python, step by step
#
# A tutorial in cells: editors and Jupyter (by Jupytext) show them as a notebook, and as a script it runs from top to
# bottom:
#
#     causeway run -n 2 python docs/tutorial_python.py
#
# The tests do that. You need pyopencl, mpi4py and the package `causeway` ([how to install
# it](../bindings/python/README.md)).

# %%
import tempfile

import causeway
import numpy as np
import pyopencl as cl
from mpi4py import MPI

world = MPI.COMM_WORLD
right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
devices = [device for platform in cl.get_platforms() for device in platform.get_devices()]
context = cl.Context([devices[world.rank % len(devices)]])
# Events say what comes after what; the queue itself keeps no order.
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE)
flags = cl.mem_flags

# %% [markdown]
# ## 1. From a file to a kernel to a file
#
# In pyopencl alone the host reads the file, copies, waits, copies and writes. Here each step is a command, and each
# names the event of the one before. All three lines return at once.

# %%
count = 1 << 20
values = np.arange(count, dtype=np.float32)
source = tempfile.TemporaryFile()
values.tofile(source)
source.seek(0)
target = tempfile.TemporaryFile()

twice = cl.Program(context, "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }").build().twice
buffer = cl.Buffer(context, flags.READ_WRITE, values.nbytes)

loaded = causeway.enqueue_write_from_file(queue, buffer, source)
computed = twice(queue, (count,), None, buffer, wait_for=[loaded])
stored = causeway.enqueue_read_to_file(queue, buffer, target, wait_for=[computed])
# The host is free here.
causeway.wait_for_events([stored])

target.seek(0)
assert np.array_equal(np.fromfile(target, np.float32), 2 * values)

# %% [markdown]
# The events are pyopencl's: they work in every `wait_for`. What the library knows of a transfer is one call away.

# %%
info = causeway.transfer_info(loaded)
milliseconds = (info.time_ended - info.time_started) / 1e6
if world.rank == 0:
    print(f"{info.bytes_moved} bytes in {milliseconds:.2f} ms, {info.strategy} in blocks of {info.block_size}")

# %% [markdown]
# ## 2. From a device to the device of another rank
#
# No `enqueue_copy` to the host, no `Isend`, no `wait` in between: the kernel of the other rank waits for the message,
# the message waits for the kernel here. With one rank it sends to itself.

# %%
incoming = cl.Buffer(context, flags.READ_WRITE, values.nbytes)
received = causeway.enqueue_recv(queue, incoming, world, left, tag=1)
sent = causeway.enqueue_send(queue, buffer, world, right, tag=1, wait_for=[stored])
computed = twice(queue, (count,), None, incoming, wait_for=[received])

result = np.empty_like(values)
cl.enqueue_copy(queue, result, incoming, wait_for=[computed])
assert np.array_equal(result, 4 * values)
causeway.wait_for_events([sent])

# %% [markdown]
# ## 3. From host memory to the device of another rank
#
# `isend` takes anything with the buffer protocol, and its request is mpi4py's. The device at the other end receives
# with `enqueue_recv` as before.

# %%
received = causeway.enqueue_recv(queue, incoming, world, left, tag=2)
request = causeway.isend(values * world.rank, world, right, tag=2)
cl.enqueue_copy(queue, result, incoming, wait_for=[received])
request.Wait()
assert np.array_equal(result, values * left)

# %% [markdown]
# The other way round, any request of mpi4py becomes an event that commands can wait for, here one of a collective
# operation.

# %%
total = np.empty(count, np.float32)
reduced = causeway.event_from_request(context, world.Iallreduce(result, total))
written = cl.enqueue_copy(queue, buffer, total, is_blocking=False, wait_for=[reduced])
causeway.wait_for_events([written])
assert np.allclose(total, values * sum(range(world.size)))

# %% [markdown]
# ## 4. When something fails
#
# The event fails, what waits for it does not run, and `wait_for_events` raises what happened, with the cause.

# %%
try:
    beyond = causeway.enqueue_write_from_file(queue, buffer, source, file_offset=1 << 20)
    causeway.wait_for_events([beyond])
except causeway.EndOfFileError as error:
    assert error.info.bytes_moved == values.nbytes - (1 << 20)
    if world.rank == 0:
        print(error)
else:
    raise AssertionError("the file has no such bytes")

# %% [markdown]
# ## 5. A stream through kernels
#
# Data that does not fit goes through a graph: name streams and kernels, connect them, execute. Buffers, copies and
# overlap are the library's; the streams may be arrays, files, functions or other ranks ([more](graph.md)).

# %%
doubled = np.empty_like(values)
with causeway.Graph(context) as graph:
    graph.add_input("values", values)
    graph.add_output("doubled", doubled)
    graph.add_kernel(
        "twice",
        "kernel void twice(global const float *x, global float *y) { y[get_global_id(0)] = 2 * x[get_global_id(0)]; }",
        item_size=4,
    )
    graph.connect("values", "twice")
    graph.connect("twice", "doubled")
    graph.initialize()
    graph.execute()
    if world.rank == 0:
        print(graph.explain())
assert np.array_equal(doubled, 2 * values)

# %% [markdown]
# `apps/himeno/himeno.py` is a whole solver that exchanges halos in this way, beside its versions in C++.

# %%
if world.rank == 0:
    print("every step gave what it should")
