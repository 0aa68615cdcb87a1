# SPDX-License-Identifier: Apache-2.0
"""Where in a file transfers and graphs take place: one file object means one thing in all functions."""

import os

import causeway
import numpy as np
import pyopencl as cl
import pytest

from conftest import pattern

TOKEN = 64


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.bin"


@pytest.fixture
def opened(request, path):
    """Opens the file as `open` does, or as the descriptor behind that."""
    files = []

    def open_it(mode):
        files.append(open(path, mode, buffering=0 if request.param == "descriptor" else -1))
        return files[-1].fileno() if request.param == "descriptor" else files[-1]

    yield open_it
    for each in files:
        each.close()


both_forms = pytest.mark.parametrize("opened", ["object", "descriptor"], indirect=True)


def position_of(file):
    return os.lseek(file, 0, os.SEEK_CUR) if isinstance(file, int) else file.tell()


def append_elsewhere(path, text):
    """As another program does."""
    with open(path, "ab") as other:
        other.write(text)


@both_forms
def test_append_mode_writes_at_the_end_that_the_file_has_then(machine, path, opened):
    path.write_bytes(b"begin ")
    contents = pattern(100_000)
    buffer = machine.buffer(contents)
    file = opened("ab")
    held = cl.UserEvent(machine.context)
    event = causeway.enqueue_read_to_file(machine.in_order, buffer, file, wait_for=[held])
    append_elsewhere(path, b"meanwhile ")
    held.set_status(cl.command_execution_status.COMPLETE)
    event.wait()
    append_elsewhere(path, b" end")
    assert path.read_bytes() == b"begin meanwhile " + contents.tobytes() + b" end"


def test_what_python_has_buffered_comes_before_what_is_appended(machine, path):
    buffer = machine.buffer(np.frombuffer(b"transfer ", np.uint8))
    with open(path, "ab") as file:
        file.write(b"first ")
        causeway.enqueue_read_to_file(machine.in_order, buffer, file, blocking=True)
        file.write(b"last")
    assert path.read_bytes() == b"first transfer last"


def test_a_place_that_is_told_counts_in_append_mode_too(machine, path):
    path.write_bytes(bytes(8))
    with open(path, "ab") as file:
        causeway.enqueue_read_to_file(
            machine.in_order, machine.buffer(pattern(4, 1)), file, file_offset=2, blocking=True
        )
        with pytest.raises(ValueError, match="negative"):
            causeway.enqueue_read_to_file(machine.in_order, machine.buffer(4), file, file_offset=-1)
    assert path.read_bytes() == bytes(2) + pattern(4, 1).tobytes() + bytes(2)


@both_forms
def test_append_mode_reads_at_the_position(machine, path, opened):
    contents = pattern(64)
    path.write_bytes(contents.tobytes())
    file = opened("a+b")
    os.lseek(file, 16, os.SEEK_SET) if isinstance(file, int) else file.seek(16)
    buffer = machine.buffer(32)
    event = causeway.enqueue_write_from_file(machine.in_order, buffer, file)
    assert position_of(file) == 48
    assert np.array_equal(machine.read(buffer, [event]), contents[16:48])


def test_what_python_has_read_ahead_is_forgotten_when_a_transfer_writes(machine, path):
    path.write_bytes(bytes(100))
    with open(path, "r+b") as file:
        assert file.read(10) == bytes(10)  # Python has read all of it
        causeway.enqueue_read_to_file(machine.in_order, machine.buffer(pattern(20, 2)), file, blocking=True)
        file.seek(10)
        assert file.read(20) == pattern(20, 2).tobytes()
        assert file.tell() == 30


def copy_of(machine, source, target, **streams):
    """A graph that copies bytes from one stream to another."""
    graph = causeway.Graph(machine.context)
    graph.add_input("in", source, token_size=TOKEN, **streams.get("input", {}))
    graph.add_output("out", target, token_size=TOKEN, **streams.get("output", {}))
    graph.add_kernel(
        "copy", "kernel void copy(global const char *from, global char *to) { size_t i = get_global_id(0); to[i] = from[i]; }",
        "copy", item_size=1,
    )
    graph.connect("in", "copy", TOKEN)
    graph.connect("copy", "out", TOKEN)
    graph.initialize()
    return graph


@both_forms
def test_a_graph_writes_behind_what_was_written(machine, path, opened):
    contents = pattern(3 * TOKEN)
    file = opened("wb")
    os.write(file, b"header") if isinstance(file, int) else file.write(b"header")
    with copy_of(machine, contents, file) as graph:
        graph.execute()
        assert position_of(file) == 6 + 3 * TOKEN
        os.write(file, b"trailer") if isinstance(file, int) else file.write(b"trailer")
        graph.execute()
        assert position_of(file) == 13 + 6 * TOKEN
    if not isinstance(file, int):
        file.flush()
    assert path.read_bytes() == b"header" + contents.tobytes() + b"trailer" + contents.tobytes()


@both_forms
def test_a_graph_reads_behind_what_was_read(machine, path, opened):
    contents = pattern(6 + 4 * TOKEN)
    path.write_bytes(contents.tobytes())
    file = opened("rb")
    header = os.read(file, 6) if isinstance(file, int) else file.read(6)
    assert header == contents[:6].tobytes()
    taken = np.zeros(2 * TOKEN, np.uint8)
    with copy_of(machine, file, taken) as graph:
        for run in range(2):
            taken[:] = 0
            graph.execute()
            begin = 6 + run * 2 * TOKEN
            assert np.array_equal(taken, contents[begin : begin + 2 * TOKEN])
            assert position_of(file) == begin + 2 * TOKEN
        if not isinstance(file, int):
            assert file.read() == b""


def test_a_graph_begins_again_at_a_place_that_is_told(machine, path):
    contents = pattern(4 * TOKEN)
    path.write_bytes(contents.tobytes())
    taken = np.zeros(2 * TOKEN, np.uint8)
    with open(path, "rb") as file, copy_of(machine, file, taken, input={"file_offset": TOKEN}) as graph:
        for _ in range(2):
            taken[:] = 0
            graph.execute()
            assert np.array_equal(taken, contents[TOKEN : 3 * TOKEN])
            assert file.tell() == 0
        with pytest.raises(ValueError, match="negative"):
            graph.add_input("other", file, token_size=TOKEN, file_offset=-1)


@both_forms
def test_a_graphs_output_in_append_mode_is_appended(machine, path, opened):
    contents = pattern(5 * TOKEN)
    path.write_bytes(b"begin ")
    file = opened("ab")
    with copy_of(machine, contents, file) as graph:
        append_elsewhere(path, b"meanwhile ")
        graph.execute()
        append_elsewhere(path, b" between ")
        graph.execute()
    assert path.read_bytes() == b"begin meanwhile " + contents.tobytes() + b" between " + contents.tobytes()


def test_a_graph_that_was_not_initialised_says_so(machine, path):
    with open(path, "wb") as file, causeway.Graph(machine.context) as graph:
        graph.add_output("out", file, token_size=TOKEN)
        with pytest.raises(causeway.Error, match="initiali"):
            graph.execute()
