# SPDX-License-Identifier: Apache-2.0
"""Files as ends of transfers."""

import bz2
import gzip
import io
import lzma
import os
import tempfile
import threading

import causeway
import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest
from causeway import _host_memory

from conftest import pattern


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.bin"


@pytest.mark.parametrize("size", [0, 1, 4096, 3_000_001])
def test_a_file_goes_to_a_device_and_back(machine, queue, path, size):
    contents = pattern(size)
    contents.tofile(path)
    buffer = machine.buffer(max(size, 1))
    with open(path, "rb") as file:
        loaded = causeway.enqueue_write_from_file(queue, buffer, file, size=size)
    copy = path.with_suffix(".copy")
    with open(copy, "wb") as file:  # closed before the bytes move
        stored = causeway.enqueue_read_to_file(queue, buffer, file, size=size, wait_for=[loaded])
    stored.wait()
    assert copy.read_bytes() == contents.tobytes()


def test_a_transfer_and_kernels_order_one_another_by_events(machine, path):
    np.arange(1000, dtype=np.int32).tofile(path)
    source = "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }"
    twice = cl.Program(machine.context, source).build().twice
    buffer = machine.buffer(4000)
    queue = machine.out_of_order
    with open(path, "r+b") as file:
        loaded = causeway.enqueue_write_from_file(queue, buffer, file)
        computed = twice(queue, (1000,), None, buffer, wait_for=[loaded])
        stored = causeway.enqueue_read_to_file(queue, buffer, file, file_offset=0, wait_for=[computed])
    causeway.wait_for_events([stored])
    assert np.array_equal(np.fromfile(path, np.int32), 2 * np.arange(1000))


def test_commands_without_an_offset_follow_one_another_through_a_file(machine, path):
    contents = pattern(300)
    contents.tofile(path)
    buffer = machine.buffer(300)
    with open(path, "rb") as file:
        assert file.read(100) == contents[:100].tobytes()  # Python has read ahead
        first = causeway.enqueue_write_from_file(machine.out_of_order, buffer, file, size=100)
        second = causeway.enqueue_write_from_file(machine.out_of_order, buffer, file, size=100, offset=100)
        assert file.tell() == 300
    assert np.array_equal(machine.read(buffer, [first, second], size=200), contents[100:])


def test_what_python_has_buffered_is_written_first(machine, path):
    contents = pattern(100)
    with open(path, "wb") as file:
        file.write(b"head")
        stored = causeway.enqueue_read_to_file(machine.in_order, machine.buffer(contents), file)
        file.write(b"tail")
    stored.wait()
    assert path.read_bytes() == b"head" + contents.tobytes() + b"tail"


def test_a_descriptor_and_its_position(machine, path):
    contents = pattern(64)
    contents.tofile(path)
    buffer = machine.buffer(64)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.lseek(descriptor, 32, os.SEEK_SET)
        event = causeway.enqueue_write_from_file(machine.in_order, buffer, descriptor, size=32)
        assert os.lseek(descriptor, 0, os.SEEK_CUR) == 64
    finally:
        os.close(descriptor)
    assert np.array_equal(machine.read(buffer, [event], size=32), contents[32:])


def test_arrays_of_pyopencl_are_ranges_of_their_buffers(machine, path):
    contents = np.arange(100, dtype=np.float32)
    contents.tofile(path)
    array = cl.array.zeros(machine.in_order, 200, np.float32)
    with open(path, "rb") as file:
        causeway.enqueue_write_from_file(machine.in_order, array[100:], file, blocking=True)
        with pytest.raises(ValueError, match="contiguous"):
            causeway.enqueue_write_from_file(machine.in_order, array[::2], file)
        with pytest.raises(ValueError, match="not within"):
            causeway.enqueue_write_from_file(machine.in_order, array[:10], file, size=41)
    assert np.array_equal(array.get(), np.concatenate([np.zeros(100, np.float32), contents]))


@pytest.mark.parametrize("blocking", [True, False])
def test_a_file_that_ends_early_says_where(machine, path, blocking):
    pattern(1000).tofile(path)
    buffer = machine.buffer(4096)
    with open(path, "rb") as file, pytest.raises(causeway.EndOfFileError, match="file.bin") as caught:
        event = causeway.enqueue_write_from_file(machine.in_order, buffer, file, blocking=blocking)
        causeway.wait_for_events([event])
    assert caught.value.info.bytes_moved == 1000
    assert isinstance(caught.value, (EOFError, cl.RuntimeError))
    assert caught.value.code == -31001


@pytest.mark.parametrize("blocking", [True, False])
def test_a_full_disk_is_the_cause(machine, blocking):
    with open("/dev/full", "wb") as file, pytest.raises(causeway.FileError) as caught:
        event = causeway.enqueue_read_to_file(
            machine.in_order, machine.buffer(pattern(8192)), file, file_offset=0, blocking=blocking
        )
        causeway.wait_for_events([event])
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.errno == caught.value.info.errno == 28


def test_what_cannot_work_is_refused(machine, path):
    path.write_bytes(b"x" * 64)
    buffer = machine.buffer(64)
    with open(path, "rb") as file:
        with pytest.raises(causeway.Error) as caught:
            causeway.enqueue_read_to_file(machine.in_order, buffer, file)
        assert caught.value.code == cl.status_code.INVALID_VALUE
        assert file.tell() == 0, "the position stays"
        assert causeway.last_error() == caught.value.text != ""
        with pytest.raises(cl.LogicError):
            causeway.enqueue_write_from_file(machine.in_order, buffer, file, size=65)
    with open(path) as file, pytest.raises(TypeError, match="binary"):
        causeway.enqueue_write_from_file(machine.in_order, buffer, file)


@pytest.mark.parametrize("kind", [gzip, bz2, lzma])
def test_the_bytes_of_a_compressed_file_are_not_those_of_its_descriptor(machine, path, kind):
    with kind.open(path, "wb") as file:
        file.write(bytes(4096))
    buffer = machine.buffer(4096)
    with kind.open(path, "rb") as file, pytest.raises(TypeError, match="File is no plain file"):
        causeway.enqueue_write_from_file(machine.in_order, buffer, file, size=16)
    with kind.open(path, "ab") as file, pytest.raises(TypeError, match="File is no plain file"):
        causeway.enqueue_read_to_file(machine.in_order, buffer, file)
    with pytest.raises(TypeError, match="BytesIO is no plain file"):
        causeway.enqueue_read_to_file(machine.in_order, buffer, io.BytesIO())


@pytest.mark.parametrize("buffering", [0, -1])
@pytest.mark.parametrize("made", [tempfile.TemporaryFile, tempfile.NamedTemporaryFile])
def test_temporary_files_are_plain_ones(machine, made, buffering):
    contents = pattern(4096)
    with made("w+b", buffering=buffering) as file:
        causeway.enqueue_read_to_file(machine.in_order, machine.buffer(contents), file).wait()
        file.seek(0)
        assert file.read() == contents.tobytes()


def test_memory_is_kept_whatever_thread_enqueues_meanwhile():
    """Looking at the events of others lets other threads run."""

    class Transfer:
        status = cl.command_execution_status.RUNNING
        meanwhile = None

        @property
        def command_execution_status(self):
            if self.meanwhile:
                other, self.meanwhile = self.meanwhile, None
                thread = threading.Thread(target=_host_memory.keep_until_complete, args=other)
                thread.start()
                thread.join()
            return self.status

    before = set(_host_memory._in_flight)
    first, second, third = transfers = [Transfer() for _ in range(3)]
    try:
        _host_memory.keep_until_complete(first, "first")
        first.meanwhile = (second, "second")
        _host_memory.keep_until_complete(third, "third")
        mine = [_host_memory._in_flight[number][1] for number in set(_host_memory._in_flight) - before]
        assert sorted(mine) == ["first", "second", "third"]
    finally:
        for each in transfers:
            each.status = cl.command_execution_status.COMPLETE


def test_a_failure_reaches_what_waits_for_it(machine, path):
    path.write_bytes(b"x")
    buffer = machine.buffer(64)
    with open(path, "r+b") as file:
        failing = causeway.enqueue_write_from_file(machine.out_of_order, buffer, file, file_offset=0)
        behind = causeway.enqueue_read_to_file(machine.out_of_order, buffer, file, file_offset=0, wait_for=[failing])
    with pytest.raises(causeway.TransferError) as caught:
        causeway.wait_for_events([behind])
    assert caught.value.code == -14
    assert path.read_bytes() == b"x"
