# SPDX-License-Identifier: Apache-2.0
"""Options, information, constants, lifetimes, threads, and the libraries beneath."""

import ctypes
import gc
import re
import threading
import time
import weakref
from pathlib import Path

import causeway
import causeway._commands
import causeway._errors
import causeway._host_memory
import causeway._info
import causeway._library
import causeway._mpi
import numpy as np
import pyopencl as cl
import pytest
from causeway import symmetric
from mpi4py import MPI

from conftest import pattern, python

ROOT = Path(__file__).parents[2]


def test_options_are_read_set_and_put_back():
    before = causeway.options["block"]
    with causeway.options.set(block="2M", depth=3):
        assert (causeway.options["block"], causeway.options["depth"]) == (str(2 << 20), "3")
    assert causeway.options["block"] == before
    with pytest.raises(KeyError, match="blok"):
        causeway.options["blok"] = 1
    with pytest.raises(ValueError):
        causeway.options["depth"] = "many"


def test_options_are_a_mapping():
    known = dict(causeway.options)
    table = (ROOT / "src/base/options.def").read_text()
    assert list(known) == re.findall(r"^CAUSEWAY_OPTION\((\w+)", table, re.MULTILINE)
    assert all(causeway.options[name] == value for name, value in known.items())
    assert "block" in causeway.options and "blok" not in causeway.options and 0 not in causeway.options
    assert len(causeway.options) == len(known) and causeway.options.get("blok") is None


def test_the_version_is_the_headers():
    header = (ROOT / "include/causeway/causeway.h").read_text()
    assert f'CAUSEWAY_VERSION "{causeway.__version__}"' in header
    # The package has its own, as a source distribution has neither the header nor the project.
    assert f'\nversion = "{causeway.__version__}"\n' in (ROOT / "bindings/python/pyproject.toml").read_text()
    assert f"project(causeway VERSION {causeway.__version__} " in (ROOT / "CMakeLists.txt").read_text()


def test_numbers_are_those_of_the_header():
    headers = ("CL/cl_data_transfer.h", "causeway/symmetric.h")
    text = "".join((ROOT / "include" / header).read_text() for header in headers)
    values = dict(re.findall(r"#define CL_(\w+) \(?(-?\w+)\)?", text))
    for prefix, names in (
        ("SIGNAL_", symmetric._SIGNALS),
        ("ATOMIC_", symmetric._ATOMICS),
        ("REDUCE_", symmetric._REDUCTIONS),
    ):
        for name, number in names.items():
            assert int(values[prefix + name.upper()], 0) == number
    for kind in causeway.CommandType:
        assert int(values["COMMAND_" + kind.name], 0) == kind
    for name in ("END_OF_FILE", "IO_ERROR", "MESSAGE_TRUNCATED", "PEER_FAILED", "CANCELLED"):
        assert int(values["TRANSFER_" + name], 0) == getattr(causeway._errors, name)
    source = Path(causeway._info.__file__).read_text()
    asked = dict(re.findall(r"^    (\w+) = _\w+\((0x\w+)", source, re.MULTILINE))
    assert len(asked) == 17
    for name, number in asked.items():
        assert int(values["TRANSFER_" + name.upper()], 0) == int(number, 0)


def test_commands_are_numbered_as_in_the_header():
    header = (ROOT / "include/causeway/packed.h").read_text()
    numbered = dict(re.findall(r"CAUSEWAY_PACKED_(\w+) = (\d+)", header))
    commands = [each for each in vars(causeway._commands).values() if isinstance(each, causeway._commands._Command)]
    assert len(commands) == len(numbered) == 8
    for command in commands:
        name = re.sub("([a-z])([A-Z])", r"\1_\2", command.name.removeprefix("clEnqueue")).upper()
        assert int(numbered[name]) == command.number


def test_arguments_that_their_types_cannot_hold_are_refused(machine):
    buffer = machine.buffer(8)
    for function in (causeway.enqueue_send, causeway.enqueue_recv):
        with pytest.raises(causeway.Error, match="argument 6 is 1099511627776"):
            function(machine.in_order, buffer, MPI.COMM_SELF, 0, tag=1 << 40)
        with pytest.raises(TypeError, match="clEnqueue.*Buffer: "):
            function(machine.in_order, buffer, MPI.COMM_SELF, 0, tag=1.5)
    with pytest.raises(causeway.Error):
        causeway.enqueue_send(machine.in_order, buffer, MPI.COMM_SELF, 0, size=-1)
    enqueue = causeway._library.enqueue_packed
    for command, words, told in ((99, bytes(64), "no packed command 99"), (0, bytes(48), "7 arguments got 6"), (0, None, "null")):
        assert enqueue(command, words, len(words or b"") // 8) == -30
        assert told in causeway.last_error()


def test_objects_of_another_kind_are_refused(machine, tmp_path):
    """C would take the address of anything for that of a queue."""
    queue, buffer = machine.in_order, machine.buffer(8)
    event, self_ = cl.enqueue_marker(queue), MPI.COMM_SELF
    with open(tmp_path / "file", "w+b") as file:
        for other in (buffer, machine.context, event, None, queue.int_ptr):
            with pytest.raises(TypeError, match="CommandQueue is wanted here, not " + type(other).__name__):
                causeway.enqueue_read_to_file(other, buffer, file)
            for queues in ((other, queue), (queue, other)):
                with pytest.raises(TypeError, match="CommandQueue"):
                    causeway.peer_copy(queues[0], buffer, queues[1], buffer)
            for function in (causeway.enqueue_send, causeway.enqueue_recv):
                with pytest.raises(TypeError, match="CommandQueue"):
                    function(other, buffer, self_, 0)
            for function in (causeway.enqueue_send_rect, causeway.enqueue_recv_rect):
                with pytest.raises(TypeError, match="CommandQueue"):
                    function(other, buffer, self_, 0, region=(8,))
            with pytest.raises(TypeError, match="CommandQueue"):
                causeway.enqueue_sendrecv(other, buffer, buffer, self_, 0, 0)
        for other in (queue, buffer, machine.context, None, event.int_ptr):
            with pytest.raises(TypeError, match="Event is wanted here, not " + type(other).__name__):
                causeway.enqueue_read_to_file(queue, buffer, file, wait_for=[event, other])
            for function in (causeway.transfer_info, causeway.cancel):
                with pytest.raises(TypeError, match="Event"):
                    function(other)
        assert file.seek(0, 2) == 0
    for other in (queue, buffer, None):
        with pytest.raises(TypeError, match="Context"):
            causeway.Graph(other)
        with pytest.raises(TypeError, match="Context"):
            causeway.event_from_request(other, MPI.REQUEST_NULL)
    with pytest.raises(TypeError, match="Device"):
        causeway.Graph(machine.context, queue)
    for other in (MPI.BYTE, MPI.REQUEST_NULL, None):
        with pytest.raises(TypeError, match="communicator"):
            causeway.enqueue_send(queue, buffer, other, 0)
        with pytest.raises(TypeError, match="communicator"):
            causeway.send(b"12345678", other, 0)
    with pytest.raises(TypeError, match="request"):
        causeway.event_from_request(machine.context, self_)
    with pytest.raises(TypeError, match="request"):
        causeway.start(MPI.Request())
    with pytest.raises(TypeError, match="status"):
        causeway.recv(bytearray(8), self_, 0, status=self_)


def test_information_is_an_object(machine, tmp_path):
    path = tmp_path / "file"
    pattern(100_000).tofile(path)
    queue, buffer = machine.in_order, machine.buffer(100_000)
    begin = time.monotonic_ns()
    with open(path, "rb") as file:
        event = causeway.enqueue_write_from_file(queue, buffer, file, blocking=True)
    info = causeway.transfer_info(event)
    assert info.status == cl.command_execution_status.COMPLETE
    assert info.command_type is causeway.CommandType.WRITE_BUFFER_FROM_FILE
    assert info.command_queue == queue and info.context == machine.context
    assert begin < info.time_queued <= info.time_submitted <= info.time_started <= info.time_ended
    assert info.strategy and info.block_size and info.depth and info.lanes
    assert info.error_message == "" and info.errno == 0
    assert info.as_dict()["bytes_moved"] == 100_000
    assert "write_buffer_from_file" in repr(info)
    with pytest.raises(causeway.Error) as caught:
        causeway.transfer_info(cl.UserEvent(machine.context))
    assert caught.value.code == cl.status_code.INVALID_EVENT


def test_peers_of_two_contexts(machine):
    there = cl.Context([machine.other_device])
    queue, contents = cl.CommandQueue(there), pattern(10_000)
    source, target = machine.buffer(contents), cl.Buffer(there, cl.mem_flags.READ_WRITE, 10_000)
    event = causeway.peer_copy(machine.in_order, source, queue, target)
    copied = np.empty_like(contents)
    cl.enqueue_copy(queue, copied, target, wait_for=[event])
    assert np.array_equal(copied, contents)
    with pytest.raises(causeway.Error) as caught:
        causeway.peer_copy(queue, target, queue, target, target_offset=5, size=100)
    assert caught.value.code == cl.status_code.MEM_COPY_OVERLAP


def test_everything_may_be_released_with_transfers_in_flight(machine, tmp_path):
    contents = pattern(4_000_000)
    path = tmp_path / "file"
    gate = cl.UserEvent(machine.context)

    def enqueue():
        queue = cl.CommandQueue(machine.context)
        buffer = machine.buffer(contents)
        with open(path, "wb") as file:
            return causeway.enqueue_read_to_file(queue, buffer, file, wait_for=[gate])

    event = enqueue()
    gc.collect()
    gate.set_status(cl.command_execution_status.COMPLETE)
    causeway.wait_for_events([event])
    assert path.read_bytes() == contents.tobytes()


def test_an_event_that_nobody_keeps_does_no_harm(machine, tmp_path):
    path = tmp_path / "file"
    contents = pattern(100_000)
    for _ in range(20):
        with open(path, "wb") as file:
            causeway.enqueue_read_to_file(machine.in_order, machine.buffer(contents), file)
    machine.in_order.finish()
    assert path.read_bytes() == contents.tobytes()


def test_host_memory_is_kept_until_its_event_is_complete(machine):
    class Owner:
        pass

    gate, owner = cl.UserEvent(machine.context), Owner()
    alive = weakref.ref(owner)
    causeway._host_memory.keep_until_complete(gate, owner)
    del owner
    gc.collect()
    assert alive() is not None
    gate.set_status(cl.command_execution_status.COMPLETE)
    causeway._host_memory.keep_until_complete(gate, None)
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("blocking", [True, False])
def test_other_threads_run_while_one_waits(machine, tmp_path, blocking):
    path = tmp_path / "file"
    path.write_bytes(bytes(4096))
    gate, buffer = cl.UserEvent(machine.context), machine.buffer(4096)
    opened = threading.Timer(0.05, lambda: gate.set_status(cl.command_execution_status.COMPLETE))
    opened.start()
    with open(path, "rb") as file:
        # With the lock held, the timer's thread would never open the gate.
        event = causeway.enqueue_write_from_file(machine.in_order, buffer, file, wait_for=[gate], blocking=blocking)
    causeway.wait_for_events([event])
    opened.join()


def test_threads_share_a_queue(machine, tmp_path):
    contents = [pattern(50_000) for _ in range(4)]
    failures = []

    def work(number):
        try:
            path = tmp_path / str(number)
            buffer = machine.buffer(contents[number])
            for _ in range(10):
                with open(path, "w+b") as file:
                    stored = causeway.enqueue_read_to_file(machine.out_of_order, buffer, file)
                    causeway.enqueue_write_from_file(
                        machine.out_of_order, buffer, file, file_offset=0, wait_for=[stored], blocking=True
                    )
            assert path.read_bytes() == contents[number].tobytes()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_two_loaders_show_the_same_platforms(machine):
    # pyopencl's wheels bring a loader of their own, and libcauseway has the system's: a handle's calls go through the
    # table of its driver, so it does not matter whose loader gave it, as long as both have loaded the same driver.
    ours = causeway._library.library
    count = ctypes.c_uint()
    ours.clGetPlatformIDs(0, None, ctypes.byref(count))
    platforms = (ctypes.c_void_p * count.value)()
    ours.clGetPlatformIDs(count, platforms, None)
    assert set(platforms) == {platform.int_ptr for platform in cl.get_platforms()}


def test_two_mpis_in_one_process_are_refused():
    own = causeway._mpi._mpi_library_of(causeway._library.library)
    assert "libmpi" in own
    with pytest.raises(ImportError, match=r"/elsewhere/libmpi.so.12.*MPI4PY_MPIABI"):
        causeway._mpi._require_same_library(own, "/elsewhere/libmpi.so.12")


# Once is enough for what has no ranks.
alone = pytest.mark.skipif(MPI.COMM_WORLD.size != 1, reason="starts a program of its own")


@alone
def test_importing_does_not_initialise_mpi():
    result = python("import sys, causeway; sys.exit('mpi4py.MPI' in sys.modules)")
    assert (result.returncode, result.stderr) == (0, "")


SINGLE = """
import mpi4py
mpi4py.rc.thread_level = "single"
import causeway
from causeway import symmetric
from mpi4py import MPI
for function in causeway.send, causeway.isend, causeway.recv, causeway.irecv:
    try:
        function(bytearray(8), MPI.COMM_SELF, 0)
    except MPI.Exception as error:
        print(error.Get_error_class() == MPI.ERR_OTHER, error)
"""


@alone
def test_messages_below_thread_multiple_say_what_is_missing():
    ended = python(SINGLE)
    lines = ended.stdout.splitlines()
    assert len(lines) == 4 and all(line.startswith("True ") and "MPI_THREAD_MULTIPLE" in line for line in lines), ended


@alone
def test_a_library_that_is_not_there_is_named():
    result = python("import causeway", LIBCAUSEWAY="/nowhere/libcauseway.so.0")
    assert result.returncode != 0
    assert "cannot load /nowhere/libcauseway.so.0" in result.stderr and "LIBCAUSEWAY" in result.stderr


COUNTS_FEWER = """
import ctypes, sys
count = sys.getrefcount
sys.getrefcount = lambda each: count(each) - 4  # other versions of Python count other references
import causeway.graph
memory = ctypes.create_string_buffer(64)
for keeps in False, True:
    try:
        with causeway.graph._Tokens() as tokens:
            kept = tokens.view(ctypes.addressof(memory), 64)[:8] if keeps else None
    except BufferError:
        print(keeps)
"""


@alone
def test_a_kept_slice_is_noticed_however_python_counts_references():
    ended = python(COUNTS_FEWER)
    assert ended.stdout == "True\n", ended.stderr


def test_the_program_of_the_readme_runs(tmp_path, monkeypatch):
    text = (ROOT / "bindings/python/README.md").read_text()
    program = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "README.md", "exec"), {})
    assert (tmp_path / "output.bin").stat().st_size == 4 << 20
