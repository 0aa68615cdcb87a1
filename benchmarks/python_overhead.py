# SPDX-License-Identifier: Apache-2.0
"""What an enqueue costs in Python beyond the same call in C. usage: python_overhead.py C_LOOP.so"""

import ctypes
import statistics
import sys
import tempfile
import time

import causeway
import numpy as np
import pyopencl as cl

# A few at a time: what is in flight takes time of the calls too, on few processors.
ROUNDS, COUNT = 500, 8

enqueue_reads = ctypes.CDLL(sys.argv[1]).enqueue_reads
enqueue_reads.restype = ctypes.c_double
handle = ctypes.c_void_p
enqueue_reads.argtypes = [handle, handle, ctypes.c_int, handle, ctypes.c_int, ctypes.c_void_p]

device = cl.get_platforms()[0].get_devices()[0]
context = cl.Context([device])
out_of_order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
queue = cl.CommandQueue(context, properties=out_of_order)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)


def in_c(descriptor, before):
    events = (handle * COUNT)()
    seconds = enqueue_reads(queue.int_ptr, buffer.int_ptr, descriptor, before.int_ptr, COUNT, events)
    assert seconds >= 0, causeway.last_error()
    return seconds, [cl.Event.from_int_ptr(event, retain=False) for event in events]


def in_python(descriptor, before):
    begin = time.perf_counter()
    events = [
        causeway.enqueue_write_from_file(queue, buffer, descriptor, file_offset=0, size=64, wait_for=[before])
        for _ in range(COUNT)
    ]
    return time.perf_counter() - begin, events


with tempfile.TemporaryFile() as file:
    np.zeros(64, np.uint8).tofile(file)
    times = {in_c: [], in_python: []}
    before = cl.enqueue_marker(queue)
    before.wait()
    for round_ in range(2 * ROUNDS):
        way = (in_c, in_python)[round_ % 2]
        seconds, events = way(file.fileno(), before)
        causeway.wait_for_events(events)
        times[way].append(seconds / COUNT * 1e6)

print(f"{device.name}, pyopencl {cl.VERSION_TEXT}, Python {sys.version.split()[0]}, causeway {causeway.__version__}")
for way, name in ((in_c, "C"), (in_python, "Python")):
    lower, median, upper = statistics.quantiles(times[way], n=4)
    print(f"an enqueue in {name:6} {median:6.1f} us ({lower:.1f} - {upper:.1f})")
differences = [python - c for c, python in zip(times[in_c], times[in_python])]
print(f"Python beyond C      {statistics.median(differences):6.1f} us")
