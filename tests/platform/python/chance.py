# SPDX-License-Identifier: Apache-2.0
"""Enqueues as many commands as chance, time and the system say, by pyopencl: ranks that are told otherwise part."""
import concurrent.futures
import os
import random
import secrets
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
import uuid
from multiprocessing import shared_memory

import numpy as np
import pyopencl as cl

platform = cl.get_platforms()[0]
context = cl.Context(platform.get_devices())
queue = cl.CommandQueue(context)
told = 0


def tell(number):
    global told
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 1 + int(number) % 4093)
    cl.enqueue_fill_buffer(queue, buffer, np.uint8(0), 0, 1)
    queue.finish()
    told += 1


for number in (
    random.SystemRandom().getrandbits(32),
    secrets.randbits(32),
    uuid.uuid4().int,
    uuid.uuid1().int,
    np.random.default_rng().integers(1 << 31),
    np.random.randint(1 << 31),
    random.Random().getrandbits(32),
    time.time_ns(),
    time.perf_counter_ns(),
    os.getpid(),
    os.cpu_count(),
    int.from_bytes(os.urandom(4), "little"),
    sys.stdout.isatty(),
    hash("a word"),
    random.getrandbits(32),  # of a generator that was there before OpenCL
    os.readlink("/proc/self"),
):
    tell(number)

def keep_data():
    """In libraries that write files: the second rank would find what the first one has left."""
    folder = tempfile.mkdtemp()
    connection = sqlite3.connect(folder + "/data")
    connection.execute("create table numbers (number integer)")
    connection.execute("insert into numbers values (7)")
    connection.commit()
    tell(connection.execute("select sum(number) from numbers").fetchone()[0])
    connection.close()
    tell(os.path.getsize(folder + "/data"))
    shutil.rmtree(folder)
    one = shared_memory.SharedMemory(create=True, size=64)
    other = shared_memory.SharedMemory(one.name)
    one.buf[0] = 9
    tell(other.buf[0])
    other.close()
    one.close()
    one.unlink()


keep_data()


kind = "venv" if sys.prefix != sys.base_prefix else "shared" if "shared_python" in os.readlink("/proc/self/exe") else "static"


def disturb(is_over):
    while not is_over.is_set():
        sum(range(100))


def use_threads():
    """They wait for the interpreter, and for each other, a different number of times on each rank."""
    is_over = threading.Event()
    disturber = threading.Thread(target=disturb, args=(is_over,))
    sys.setswitchinterval(1e-6)
    disturber.start()
    for _ in range(100):
        brief = threading.Thread(target=int)
        brief.start()
        tell(sum(range(3000)))
        brief.join()
        is_over.wait(1e-5)
        tell(time.monotonic_ns())
    is_over.set()
    disturber.join()
    # How many threads a pool begins, and how often it asks for the time, is chance.
    for _ in range(20):
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            tell(sum(pool.map(abs, range(20))))


if kind != "static":  # there, taking a lock asks for the time as the program does
    count = told
    use_threads()
    told = count

# Its kernels, which its cache would give another identifier each time.
program = cl.Program(context, "__kernel void one(__global int *to) { to[get_global_id(0)] = 1; }").build()
result = np.zeros(16, np.int32)
buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, result.nbytes)
program.one(queue, result.shape, None, buffer)
cl.enqueue_copy(queue, result, buffer)
assert result.sum() == 16
print("agreed on", told, "numbers in", kind)
