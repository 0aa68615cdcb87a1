# SPDX-License-Identifier: Apache-2.0
"""Stream graphs described in Python."""

import gzip
import tempfile
import threading

import causeway
import numpy as np
import pyopencl as cl
import pytest

TWICE = (
    "kernel void twice(global const int *from, global int *to) { to[get_global_id(0)] = 2 * from[get_global_id(0)]; }"
)


def twice(graph, name="twice"):
    graph.add_kernel(name, TWICE, "twice", item_size=4)


def test_memory_goes_through_a_kernel(machine):
    given, taken = np.arange(1000, dtype=np.int32), np.zeros(1000, np.int32)
    with causeway.Graph(machine.context) as graph:
        graph.add_input("in", given)
        graph.add_output("out", taken)
        twice(graph)
        graph.connect("in", "twice")
        graph.connect("twice", "out")
        graph.initialize()
        for _ in range(2):
            taken[:] = 0
            graph.execute()
            assert np.array_equal(taken, 2 * given)
        assert graph.token_size("in") * graph.token_count("in") == 4000
        assert "twice" in graph.explain() and "digraph" in graph.to_dot()


def test_functions_files_and_host_nodes(machine, tmp_path):
    tokens = [np.full(64, number, np.int32) for number in range(5)]
    path = tmp_path / "out.bin"

    def read(number, token):
        if number == len(tokens):
            return 0
        token[:] = tokens[number].tobytes()
        return len(token)

    def increment(number, inputs, outputs):
        np.frombuffer(outputs[0], np.int32)[:] = np.frombuffer(inputs[0], np.int32) + number

    with open(path, "wb") as file, causeway.Graph(machine.context) as graph:
        graph.add_input("in", read, token_size=256)
        graph.add_output("out", file, token_size=256)
        graph.add_function("increment", increment, inputs=[256], outputs=[256])
        twice(graph)
        graph.connect("in", "twice", 256)
        graph.connect("twice", "increment", 256)
        graph.connect("increment", "out", 256)
        graph.initialize()
        graph.execute()
    expected = np.concatenate([2 * token + number for number, token in enumerate(tokens)])
    assert np.array_equal(np.fromfile(path, np.int32), expected)


def test_a_file_with_a_name_of_its_own_is_a_stream(machine):
    given, taken = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    with tempfile.NamedTemporaryFile() as file, causeway.Graph(machine.context) as graph:
        file.write(given.tobytes())
        file.seek(0)
        graph.add_input("in", file, token_size=256)
        graph.add_output("out", taken, token_size=256)
        twice(graph)
        graph.connect("in", "twice", 256)
        graph.connect("twice", "out", 256)
        graph.initialize()
        graph.execute()
    assert np.array_equal(taken, 2 * given)


def test_parameters_arguments_and_windows(machine):
    source = """kernel void smooth(int scale, global const int *from, global int *to, global const int *add) {
                    size_t i = get_global_id(0);
                    to[i] = scale * (from[i] + from[i + 1] + from[i + 2]) + *add; }"""
    given, taken = np.arange(40, dtype=np.int32), np.zeros(40, np.int32)
    with causeway.Graph(machine.context, machine.device) as graph:
        graph.add_input("in", given, token_size=40)
        graph.add_output("out", taken, token_size=40)
        graph.add_kernel("smooth", source, parameters=np.int32(3), item_size=4)
        graph.set_argument("smooth", 3, machine.buffer(np.array([100], np.int32)))
        graph.connect("in", "smooth", 40, before_size=4, after_size=4)
        graph.connect("smooth", "out", 40)
        graph.initialize()
        graph.execute()
    padded = np.pad(given, 1)
    assert np.array_equal(taken, 3 * (padded[:-2] + padded[1:-1] + padded[2:]) + 100)


def test_kernels_of_pyopencl_binaries_and_page_locked_memory(machine):
    program = cl.Program(machine.context, TWICE).build()
    pinned = cl.Buffer(machine.context, cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR, 4000)
    memory, _ = cl.enqueue_map_buffer(machine.in_order, pinned, cl.map_flags.WRITE, 0, 1000, np.int32)
    memory[:] = np.arange(1000)
    taken = np.zeros(1000, np.int32)
    with causeway.Graph(machine.context) as graph:
        graph.add_input("in", memory)
        graph.use_page_locked("in")
        graph.add_output("out", taken)
        graph.add_kernel("kernel", cl.Kernel(program, "twice"), item_size=4)
        graph.add_kernel("binary", program.get_info(cl.program_info.BINARIES)[0], "twice", item_size=4)
        graph.connect("in", "kernel")
        graph.connect("kernel", "binary")
        graph.connect("binary", "out")
        graph.initialize()
        graph.execute()
    assert np.array_equal(taken, 4 * np.arange(1000))


@pytest.mark.parametrize("at", ["reader", "node", "writer"])
def test_what_a_function_raises_comes_out_of_execute(machine, at):
    class Spilt(Exception):
        pass

    def spill(where, number):
        if where == at and number == 2:
            raise Spilt(where)

    def read(number, token):
        spill("reader", number)
        return len(token) if number < 4 else 0

    with causeway.Graph(machine.context) as graph:
        graph.add_input("in", read, token_size=16)
        graph.add_output("out", lambda number, token: spill("writer", number), token_size=16)
        graph.add_function("node", lambda number, inputs, outputs: spill("node", number), inputs=[16], outputs=[16])
        graph.connect("in", "node", 16)
        graph.connect("node", "out", 16)
        graph.initialize()
        with pytest.raises(Spilt, match=at):
            graph.execute()


@pytest.mark.parametrize("keep", [bytes, memoryview, np.frombuffer, lambda token: token[:4]])
@pytest.mark.parametrize("at", ["read", "node", "write"])
def test_a_view_is_no_longer_one_after_the_call(machine, at, keep):
    kept = []
    graph = causeway.Graph(machine.context)

    def see(here, token):
        if here == at:
            kept.append(keep(token))

    def read(number, token):
        see("read", token)
        return 64 if number < 3 else 0

    graph.add_input("in", read, token_size=64)
    graph.add_output("out", lambda number, token: see("write", token), token_size=64)
    graph.add_function("node", lambda number, taken, given: see("node", taken[0]), inputs=[64], outputs=[64])
    graph.connect("in", "node", 64)
    graph.connect("node", "out", 64)
    graph.initialize()
    if keep is bytes:  # a copy
        graph.execute()
        assert all(len(token) == 64 for token in kept)
    else:
        with pytest.raises(BufferError, match="copy the token"):
            graph.execute()
    graph.release()


def test_a_compressed_file_is_no_stream(machine, tmp_path):
    with gzip.open(tmp_path / "out.gz", "wb") as file, causeway.Graph(machine.context) as graph:
        with pytest.raises(TypeError, match="GzipFile is no plain file"):
            graph.add_output("out", file, token_size=256)


def test_a_wrong_graph_is_refused_with_names(machine):
    with causeway.Graph(machine.context) as graph:
        graph.add_input("in", bytes(16), token_size=4)
        with pytest.raises(causeway.Error, match="nobody"):
            graph.connect("in", "nobody", 4)
        with pytest.raises((BufferError, ValueError)):
            graph.add_output("out", bytes(16), token_size=4)
        with pytest.raises(causeway.Error):
            graph.explain()


def test_another_thread_watches_and_stops_an_endless_run(machine):
    started = threading.Event()
    with causeway.Graph(machine.context) as graph:
        graph.add_input("in", lambda number, token: len(token), token_size=16)
        graph.add_output("out", lambda number, token: started.set(), token_size=16)
        twice(graph)
        graph.connect("in", "twice", 16)
        graph.connect("twice", "out", 16)
        graph.initialize()
        run = threading.Thread(target=graph.execute)
        run.start()
        assert started.wait(60)
        assert graph.token_count("in") > 0
        graph.stop()
        run.join()


def endless(graph, started):
    graph.add_input("in", lambda number, token: len(token), token_size=16)
    graph.add_output("out", lambda number, token: started(), token_size=16)
    twice(graph)
    graph.connect("in", "twice", 16)
    graph.connect("twice", "out", 16)
    graph.initialize()


def test_a_graph_is_not_released_while_it_executes(machine):
    graph, refused, started = causeway.Graph(machine.context), [], threading.Event()

    def release():
        with pytest.raises(RuntimeError, match="being executed"):
            graph.release()
        with pytest.raises(RuntimeError, match="being executed"):  # by its own function: would wait for itself
            graph.__exit__(None, None, None)
        refused.append(True)
        started.set()

    endless(graph, release)
    run = threading.Thread(target=graph.execute)
    run.start()
    assert started.wait(60) and refused
    with pytest.raises(RuntimeError, match="being executed"):
        graph.release()
    assert graph.token_count("in") > 0
    graph.stop()
    run.join()
    graph.release()
    for call in (graph.execute, graph.stop, graph.initialize):
        with pytest.raises(causeway.Error):
            call()


@pytest.mark.parametrize("wait", [True, False])
def test_the_end_of_a_with_statement_ends_the_run(machine, wait):
    started = threading.Event()
    with causeway.Graph(machine.context) as graph:
        endless(graph, started.set)
        run = threading.Thread(target=graph.execute)
        run.start()
        assert not wait or started.wait(60)
        # It may not have begun yet.
        while not wait and not graph._running:
            pass
    run.join(60)
    assert not run.is_alive()


def test_graphs_of_two_ranks_are_connected(machine, comm, left, right):
    tokens, size = 8, 4096
    taken = np.zeros(tokens * size // 4, np.int32)
    given = np.arange(taken.size, dtype=np.int32) + comm.rank
    with causeway.Graph(machine.context) as sending, causeway.Graph(machine.context) as receiving:
        sending.add_input("memory", given, token_size=size)
        sending.add_output("rank", causeway.Rank(comm, right, 12), size=given.nbytes, token_size=size)
        receiving.add_input("rank", causeway.Rank(comm, left, 12), token_size=size)
        receiving.add_output("memory", taken, token_size=size)
        for graph, (begin, end) in ((sending, ("memory", "rank")), (receiving, ("rank", "memory"))):
            twice(graph)
            graph.connect(begin, "twice", size)
            graph.connect("twice", end, size)
            graph.initialize()
        run = threading.Thread(target=sending.execute)
        run.start()
        receiving.execute()
        run.join()
    assert np.array_equal(taken, 4 * (np.arange(taken.size) + left))
