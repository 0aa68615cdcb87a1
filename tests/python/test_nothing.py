# SPDX-License-Identifier: Apache-2.0
"""Arrays without elements, in every function: a transfer of 0 bytes, for which the other rank does not wait in vain."""

import causeway
import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

EMPTY = {
    "empty": lambda queue: cl.array.empty(queue, 0, np.float32),
    "no rows": lambda queue: cl.array.empty(queue, (0, 3), np.float32),
    "from the host": lambda queue: cl.array.to_device(queue, np.empty(0, np.int8)),
    "slice": lambda queue: cl.array.zeros(queue, 10, np.int32)[5:5],
    "rows of a slice": lambda queue: cl.array.zeros(queue, (4, 4), np.int32)[:0],
    "slice at the end": lambda queue: cl.array.zeros(queue, 10, np.int32)[10:],
}
every_kind = pytest.mark.parametrize("kind", EMPTY)


@pytest.fixture
def nothing(machine, kind):
    return EMPTY[kind](machine.in_order)


def bytes_moved(event):
    causeway.wait_for_events([event])
    return causeway.transfer_info(event).bytes_moved


@every_kind
@pytest.mark.parametrize("blocking", [True, False])
def test_files(machine, nothing, tmp_path, blocking):
    path = tmp_path / "file.bin"
    path.write_bytes(b"stays")
    with open(path, "r+b") as file:
        assert bytes_moved(causeway.enqueue_read_to_file(machine.in_order, nothing, file, blocking=blocking)) == 0
        assert bytes_moved(causeway.enqueue_write_from_file(machine.in_order, nothing, file, blocking=blocking)) == 0
        assert file.tell() == 0
    assert path.read_bytes() == b"stays"


@every_kind
def test_peer_copies(machine, nothing):
    other = cl.array.empty(machine.out_of_order, 0, np.int8)
    assert bytes_moved(causeway.peer_copy(machine.in_order, nothing, machine.out_of_order, other)) == 0
    assert bytes_moved(causeway.peer_copy(machine.out_of_order, other, machine.in_order, nothing)) == 0


@every_kind
def test_messages_between_devices(machine, comm, left, right, nothing):
    queue = machine.out_of_order
    received = causeway.enqueue_recv(queue, nothing, comm, left, 7)
    assert bytes_moved(causeway.enqueue_send(queue, nothing, comm, right, 7)) == 0
    assert bytes_moved(received) == 0
    assert causeway.transfer_info(received).mpi_source == left
    both = causeway.enqueue_sendrecv(queue, nothing, nothing, comm, right, left, send_tag=8, recv_tag=8)
    assert bytes_moved(both) == 0


@every_kind
def test_boxes(machine, comm, left, right, nothing):
    queue = machine.out_of_order
    received = causeway.enqueue_recv_rect(queue, nothing, comm, left, 9, region=(0, 2))
    assert bytes_moved(causeway.enqueue_send_rect(queue, nothing, comm, right, 9, region=(12, 0))) == 0
    assert bytes_moved(received) == 0


def test_boxes_of_buffers_without_bytes(machine, comm, left, right):
    queue, buffer = machine.out_of_order, machine.buffer(64)
    received = causeway.enqueue_recv(queue, buffer, comm, left, 10)
    causeway.wait_for_events([causeway.enqueue_send_rect(queue, buffer, comm, right, 10, region=(8, 0, 2))])
    assert bytes_moved(received) == 0


@every_kind
def test_messages_between_host_and_device(machine, comm, left, right, nothing):
    queue = machine.out_of_order
    received = causeway.enqueue_recv(queue, nothing, comm, left, 11)
    causeway.send(np.empty((0, 3)), comm, right, 11)
    assert bytes_moved(received) == 0
    sent = causeway.enqueue_send(queue, nothing, comm, right, 12)
    causeway.recv(bytearray(), comm, left, 12)
    assert bytes_moved(sent) == 0
    request = causeway.irecv(np.empty(0), comm, left, 13)
    causeway.isend(b"", comm, right, 13).Wait()
    request.Wait()


def test_arrays_are_still_checked(machine, comm, tmp_path):
    array = cl.array.empty(machine.in_order, 0, np.float32)
    with open(tmp_path / "file.bin", "wb") as file, pytest.raises(ValueError, match="not within"):
        causeway.enqueue_read_to_file(machine.in_order, array, file, size=4)
    with open(tmp_path / "file.bin", "wb") as file, pytest.raises(TypeError, match="neither a buffer nor an array"):
        causeway.enqueue_read_to_file(machine.in_order, object(), file)
