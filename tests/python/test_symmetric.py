# SPDX-License-Identifier: Apache-2.0
"""Arrays on the symmetric heap, and what goes between those of different ranks."""

import causeway
import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest
from causeway import symmetric


@pytest.fixture
def heap(machine, comm):
    with symmetric.init(machine.context, machine.device, comm, 16 << 20) as made:
        yield made


@pytest.mark.parametrize("count", [1, 1000, 300_000])
def test_a_put_brings_its_bytes_and_then_its_signal(heap, machine, queue, left, right, count):
    target = symmetric.zeros(queue, count, np.int32)
    signals = symmetric.zeros(queue, 2, np.uint64)
    source = cl.array.to_device(machine.in_order, np.arange(count, dtype=np.int32) + 1000 * symmetric.pe())
    symmetric.put(queue, source, target, right, signal=signals[1:2], value=7)
    waited = symmetric.wait(queue, signals[1:2], 7, "==")
    causeway.wait_for_events([waited])
    assert causeway.transfer_info(waited).command_type == causeway.CommandType.WORD_WAIT
    assert np.array_equal(target.get(machine.in_order), np.arange(count) + 1000 * left)
    symmetric.barrier(queue, blocking=True)
    symmetric.free(signals)
    symmetric.free(target)


def test_a_get_reads_what_another_rank_has(heap, machine, queue, right):
    source = symmetric.empty(machine.in_order, (4, 5), np.float64)
    source.fill(float(symmetric.pe())).finish()
    symmetric.barrier(queue, blocking=True)
    target = cl.array.zeros(machine.in_order, 5, np.float64)
    symmetric.get(queue, target, source[2], right, blocking=True)
    assert (target.get(machine.in_order) == right).all()
    symmetric.barrier(queue, blocking=True)


def test_words_count_what_all_add(heap, machine, queue, comm):
    words = symmetric.zeros(queue, 4, np.int32)
    before = cl.array.zeros(machine.in_order, 1, np.int32)
    for _ in range(10):
        symmetric.atomic(queue, "add", words[3:4], 0, -2)
    symmetric.quiet(queue, blocking=True)
    symmetric.barrier(queue, blocking=True)
    symmetric.atomic(queue, "fetch", words[3:4], 0, result=before, blocking=True)
    assert before.get(machine.in_order)[0] == -20 * comm.size
    if symmetric.pe() == 0:
        symmetric.wait(queue, words[3:4], 0, "<", blocking=True)
    symmetric.barrier(queue, blocking=True)


@pytest.mark.parametrize("kind", [np.int32, np.uint64, np.float32])
def test_a_reduction_combines_all(heap, machine, queue, comm, kind):
    source, target = (symmetric.empty(machine.in_order, 33, kind) for _ in range(2))
    source.set(np.arange(33, dtype=kind) + symmetric.pe(), machine.in_order)
    symmetric.reduce(queue, target, source, blocking=True)
    expected = sum(np.arange(33) + pe for pe in range(comm.size))
    assert np.array_equal(target.get(machine.in_order), expected)
    symmetric.reduce(queue, target, source, "max", blocking=True)
    assert np.array_equal(target.get(machine.in_order), np.arange(33) + comm.size - 1)


def test_signals_go_alone(heap, queue, left, right):
    words = symmetric.zeros(queue, 1, np.uint64)
    symmetric.signal(queue, words, 2, right, operation="add")
    symmetric.fence(queue)
    symmetric.signal(queue, words, 3, right, operation="add")
    symmetric.wait(queue, words, 5, "==", blocking=True)
    symmetric.barrier(queue, blocking=True)


def test_what_makes_no_sense_is_refused_by_name(heap, machine, queue):
    words = symmetric.zeros(queue, 8, np.uint64)
    elsewhere = cl.array.zeros(machine.in_order, 8, np.uint64)
    with pytest.raises(ValueError, match="not in the symmetric heap"):
        symmetric.put(queue, elsewhere, elsewhere, 0)
    with pytest.raises(ValueError, match="do not fit"):
        symmetric.put(queue, words, words[:2], 0)
    with pytest.raises(ValueError, match="not contiguous"):
        symmetric.put(queue, elsewhere[:4], words[::2], 0)
    with pytest.raises(TypeError, match="a word is one element"):
        symmetric.wait(queue, words, 1)
    with pytest.raises(TypeError, match="a signal is one element of 64 bits"):
        symmetric.signal(queue, symmetric.zeros(queue, 1, np.int32), 1, 0)
    with pytest.raises(ValueError, match="'=' is none of ==, !=, >"):
        symmetric.wait(queue, words[:1], 1, "=")
    with pytest.raises(causeway.Error, match="there is no PE 99"):
        symmetric.put(queue, elsewhere, words, 99)
    with pytest.raises(causeway.Error, match="has no room"):
        symmetric.zeros(queue, 1 << 28, np.uint64)


@pytest.mark.parametrize("others", ["wait for a signal", "meet in a barrier", "end their blocks"])
def test_a_block_that_raises_on_one_rank_ends_those_of_the_others(machine, queue, comm, others):
    def body():
        words = symmetric.zeros(queue, 1, np.uint64)
        if symmetric.pe() == 0:
            raise ZeroDivisionError
        if others == "wait for a signal":
            symmetric.wait(queue, words, 1, blocking=True)
        elif others == "meet in a barrier":
            symmetric.barrier(queue, blocking=True)

    first = comm.rank == 0
    expected = ZeroDivisionError if first else (causeway.Error, causeway.TransferError)
    with pytest.raises(expected, match=None if first else "PE 0 has given up: its program failed"):
        with symmetric.init(machine.context, machine.device, comm, 1 << 20):
            body()
    assert symmetric.pe() == -1
    with symmetric.init(machine.context, machine.device, comm, 1 << 20):
        symmetric.barrier(queue, blocking=True)


def test_there_is_no_heap_before_it_is_made(machine, queue):
    assert symmetric.pe() == -1
    with pytest.raises(causeway.Error, match="this process is no PE"):
        symmetric.barrier(queue)


def test_nothing_is_put_got_and_reduced(heap, machine, queue, left, right):
    nothing, also = symmetric.empty(queue, 0, np.int32), symmetric.zeros(queue, (0, 3), np.int32)
    words = symmetric.zeros(queue, 4, np.int32)
    signals = symmetric.zeros(queue, 1, np.uint64)
    ordinary = cl.array.empty(machine.in_order, 0, np.int32)
    for one in (nothing, also, ordinary, words[2:2], words[4:]):
        for other in (nothing, also, words, words[2:2], words[4:]):
            symmetric.put(queue, one, other, right, blocking=True)
            symmetric.get(queue, one, other, right, blocking=True)
    for one, other in ((nothing, also), (words[1:1], nothing), (words[4:], words[:0])):
        symmetric.reduce(queue, one, other, blocking=True)
    symmetric.put(queue, ordinary, nothing, right, signal=signals, value=3)
    symmetric.wait(queue, signals, 3, "==", blocking=True)
    symmetric.barrier(queue, blocking=True)
    assert not words.get(machine.in_order).any()
    symmetric.free(also)
    symmetric.free(nothing)
