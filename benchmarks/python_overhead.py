# SPDX-License-Identifier: Apache-2.0
"""What an enqueue costs in Python beyond the same call in C. usage: python_overhead.py C_LOOP.so"""

import ctypes
import statistics
import sys
import tempfile
import time

import causeway
import pyopencl as cl

# A few at a time: what is in flight takes time of the calls too, on few processors.
ROUNDS, COUNT = 500, 8

in_c = ctypes.CDLL(sys.argv[1])
handle = ctypes.c_void_p
in_c.enqueue_reads.argtypes = [handle, handle, ctypes.c_int, handle, ctypes.c_int, handle]
in_c.enqueue_messages.argtypes = [handle, handle, handle, handle, ctypes.c_int, handle]
in_c.enqueue_reads.restype = in_c.enqueue_messages.restype = ctypes.c_double

device = cl.get_platforms()[0].get_devices()[0]
context = cl.Context([device])
out_of_order = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
queue = cl.CommandQueue(context, properties=out_of_order)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
before = cl.enqueue_marker(queue)
before.wait()


def loop_in_c(function, what):
    """A loop over a function in C: the seconds that it took, and the events of what it enqueued."""

    def run():
        events = (handle * COUNT)()
        seconds = function(queue.int_ptr, buffer.int_ptr, what, before.int_ptr, COUNT, events)
        assert seconds >= 0, causeway.last_error()
        return seconds, [cl.Event.from_int_ptr(event, retain=False) for event in events]

    return run


def loop(enqueue_all):
    """The same in Python."""

    def run():
        begin = time.perf_counter()
        events = enqueue_all()
        return time.perf_counter() - begin, events

    return run


def reads(file, file_offset):
    return [
        causeway.enqueue_write_from_file(queue, buffer, file, file_offset=file_offset, size=64, wait_for=[before])
        for _ in range(COUNT)
    ]


def messages():
    ends = {"send_size": 32, "recv_offset": 32, "recv_size": 32}
    return [
        causeway.enqueue_sendrecv(queue, buffer, buffer, MPI.COMM_SELF, 0, 0, wait_for=[before], **ends)
        for _ in range(COUNT)
    ]


def measure(ways):
    """In turn; prints what each way took, and what the others took beyond the first, which is in C."""
    times = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            seconds, events = way()
            causeway.wait_for_events(events)
            times[name].append(seconds / COUNT * 1e6)
    in_c_times = next(iter(times.values()))
    for name, own in times.items():
        lower, median, upper = statistics.quantiles(own, n=4)
        beyond = statistics.median(each - c for c, each in zip(in_c_times, own))
        print(f"{name:18} {median:7.1f} {f'({lower:.1f} - {upper:.1f})':17} {beyond:6.1f}")


print(f"{device.name}, pyopencl {cl.VERSION_TEXT}, Python {sys.version.split()[0]}, causeway {causeway.__version__}")
print(f"{'an enqueue, us':18}  median (quartiles)      beyond C")
with tempfile.TemporaryFile() as file:
    file.write(bytes(64 * COUNT * ROUNDS))
    file.seek(0)
    ways = {
        "a read, in C": loop_in_c(in_c.enqueue_reads, file.fileno()),
        "of a descriptor": loop(lambda: reads(file.fileno(), 0)),
        "of a file object": loop(lambda: reads(file, 0)),
        "at its position": loop(lambda: reads(file, None)),
    }
    measure(ways)

# Not before: reads are slower where messages are looked for as well.
from mpi4py import MPI

measure({"a message, in C": loop_in_c(in_c.enqueue_messages, MPI._addressof(MPI.COMM_SELF)), "a message": loop(messages)})
