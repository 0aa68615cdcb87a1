# SPDX-License-Identifier: Apache-2.0
"""Messages between devices, and between hosts and devices."""

import array
import gc
import weakref

import causeway
import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest
from mpi4py import MPI

from conftest import pattern


@pytest.mark.parametrize("size", [0, 8, 100_000, 5_000_000])
def test_devices_exchange(machine, queue, comm, left, right, size):
    outgoing, incoming = machine.buffer(pattern(size + 1, comm.rank)), machine.buffer(size + 1)
    received = causeway.enqueue_recv(machine.out_of_order, incoming, comm, left, 3, size=size)
    sent = causeway.enqueue_send(queue, outgoing, comm, right, 3, size=size)
    causeway.wait_for_events([sent, received])
    assert np.array_equal(machine.read(incoming, size=size), pattern(size + 1, left)[:size])
    info = causeway.transfer_info(received)
    assert (info.bytes_moved, info.mpi_source, info.mpi_tag) == (size, left, 3)


def test_sendrecv_moves_both_ways(machine, queue, comm, left, right):
    both = machine.buffer(np.concatenate([pattern(512, comm.rank), np.zeros(512, np.uint8)]))
    sizes = {"send_size": 512, "recv_offset": 512, "recv_size": 512}
    event = causeway.enqueue_sendrecv(queue, both, both, comm, right, left, **sizes)
    causeway.wait_for_events([event])
    assert np.array_equal(machine.read(both), np.concatenate([pattern(512, comm.rank), pattern(512, left)]))
    info = causeway.transfer_info(event)
    assert (info.bytes_sent, info.bytes_received, info.bytes_moved) == (512, 512, 1024)


def test_a_column_of_a_matrix_travels(machine, queue, comm, left, right):
    matrix = np.full((10, 8), comm.rank, np.int32)
    outgoing, incoming = machine.buffer(matrix), machine.buffer(np.full((10, 8), -1, np.int32))
    column = {"region": (4, 10), "buffer_pitches": (32,)}
    received = causeway.enqueue_recv_rect(queue, incoming, comm, left, buffer_origin=(28, 0), **column)
    sent = causeway.enqueue_send_rect(machine.out_of_order, outgoing, comm, right, buffer_origin=(4, 0), **column)
    causeway.wait_for_events([sent, received])
    result = machine.read(incoming).view(np.int32).reshape(10, 8)
    assert (result[:, 7] == left).all() and (result[:, :7] == -1).all()


@pytest.mark.parametrize("first_row", [0, 3])
def test_a_column_of_an_array_travels(machine, queue, comm, left, right, first_row):
    outgoing = cl.array.to_device(machine.in_order, np.full((10, 8), comm.rank, np.int32))
    incoming = cl.array.to_device(machine.in_order, np.full((10, 8), -1, np.int32))
    column = {"region": (4, 10 - first_row), "buffer_pitches": (32,)}
    received = causeway.enqueue_recv_rect(queue, incoming[first_row:, 7], comm, left, **column)
    waits = (event for event in outgoing.events)  # any iterable
    sent = causeway.enqueue_send_rect(
        machine.out_of_order, outgoing[first_row:, :2], comm, right, buffer_origin=(4,), wait_for=waits, **column
    )
    causeway.wait_for_events([sent, received])
    result = incoming.get()
    assert (result[first_row:, 7] == left).all() and (result[:first_row] == -1).all() and (result[:, :7] == -1).all()


def test_a_command_waits_for_what_an_array_depends_on(machine, comm, left, right):
    outgoing = cl.array.to_device(machine.in_order, np.zeros(1000, np.int32))
    outgoing.finish()
    written = cl.UserEvent(machine.context)
    outgoing.add_event(written)
    incoming = cl.array.to_device(machine.in_order, np.zeros(1000, np.int32))
    received = causeway.enqueue_recv(machine.out_of_order, incoming, comm, left)
    sent = causeway.enqueue_send(machine.out_of_order, outgoing, comm, right)
    cl.enqueue_copy(machine.in_order, outgoing.base_data, np.full(1000, comm.rank + 1, np.int32)).wait()
    written.set_status(cl.command_execution_status.COMPLETE)
    causeway.wait_for_events([sent, received])
    assert (incoming.get() == left + 1).all()


def test_what_is_neither_a_buffer_nor_an_array_in_one_is_refused(machine, comm):
    host = np.zeros(8, np.uint8)
    with pytest.raises(TypeError, match="ndarray"):
        causeway.enqueue_send(machine.in_order, host, comm, 0)
    with pytest.raises(TypeError, match="ndarray"):
        causeway.enqueue_send_rect(machine.in_order, host, comm, 0, region=(4,))
    array = cl.array.to_device(machine.in_order, np.zeros((4, 4), np.uint8))
    with pytest.raises(ValueError, match="enqueue_send_rect"):
        causeway.enqueue_send(machine.in_order, array[:, 1], comm, 0)


def test_a_box_beyond_its_array_is_refused(machine, comm):
    matrix = cl.array.to_device(machine.in_order, np.zeros((10, 8), np.int32))
    rows = {"buffer_pitches": (32,)}
    beyond = [
        (matrix[2:5], {"region": (32, 4), **rows}),
        (matrix[2:5], {"region": (32, 3), "buffer_origin": (0, 1), **rows}),
        (matrix[2:5], {"region": (32, 3), "buffer_origin": (4,), **rows}),
        (matrix[2:5, 3], {"region": (8, 3), **rows}),
        (matrix[2:5], {"region": (97,)}),
        (matrix[2:5], {"region": (16, 2, 2), "buffer_pitches": (16, 96)}),
        (matrix[:0], {"region": (1,)}),
    ]
    wrong = [
        (matrix, {"region": (4, 1, 1, 1)}),
        (matrix, {"region": (4,), "buffer_origin": (0, 0, 0, 0)}),
        (matrix, {"region": (4,), "buffer_pitches": (32, 320, 1)}),
        (matrix[2:5], {"region": (4,), "buffer_origin": (-4,)}),
        (matrix.base_data, {"region": (4, 1, 1, 1)}),
    ]
    for cases, told in ((beyond, "the box ends"), (wrong, "at most")):
        for memory, box in cases:
            for function in (causeway.enqueue_send_rect, causeway.enqueue_recv_rect):
                with pytest.raises(ValueError, match=told):
                    function(machine.in_order, memory, comm, MPI.PROC_NULL, **box)
    for memory, box in ((matrix[2:5], {"region": (32, 3), **rows}), (matrix[2:5, 3], {"region": (4, 3), **rows}),
                        (matrix[2:5, ::-1], {"region": (4,)}), (matrix, {"region": (8, 2, 5), "buffer_pitches": (32, 64)})):
        causeway.enqueue_send_rect(machine.in_order, memory, comm, MPI.PROC_NULL, blocking=True, **box)


def test_wildcards_match_and_say_what(machine, comm, left, right):
    incoming = machine.buffer(16)
    received = causeway.enqueue_recv(machine.in_order, incoming, comm, MPI.ANY_SOURCE, MPI.ANY_TAG)
    causeway.enqueue_send(machine.out_of_order, machine.buffer(pattern(16)), comm, right, 40 + comm.rank)
    causeway.wait_for_events([received])
    info = causeway.transfer_info(received)
    assert (info.mpi_source, info.mpi_tag) == (left, 40 + left)


def test_a_message_that_is_too_long_fails(machine, comm, left, right):
    received = causeway.enqueue_recv(machine.out_of_order, machine.buffer(8), comm, left, 5)
    sent = causeway.enqueue_send(machine.out_of_order, machine.buffer(pattern(200_000)), comm, right, 5)
    for event in (received, sent):
        with pytest.raises(causeway.TruncatedError):
            causeway.wait_for_events([event])


def test_what_a_host_message_fails_with_is_told(machine, comm, left, right):
    for function, partner in ((causeway.send, comm.size), (causeway.irecv, comm.size)):
        with pytest.raises(MPI.Exception, match=str(comm.size)) as caught:
            function(bytearray(8), comm, partner)
        assert caught.value.Get_error_class() == MPI.ERR_RANK
    sent = causeway.enqueue_send(machine.out_of_order, machine.buffer(pattern(200_000)), comm, right, 17)
    with pytest.raises(MPI.Exception, match="200000|larger|longer") as caught:
        causeway.recv(bytearray(8), comm, left, 17)
    assert caught.value.Get_error_class() == MPI.ERR_TRUNCATE
    with pytest.raises(causeway.TruncatedError):
        causeway.wait_for_events([sent])


def test_a_cancelled_receive_says_so(machine, comm, left):
    event = causeway.enqueue_recv(machine.out_of_order, machine.buffer(8), comm, left, 6)
    causeway.cancel(event)
    with pytest.raises(causeway.CancelledError):
        causeway.wait_for_events([event])
    with pytest.raises(causeway.Error) as caught:
        causeway.cancel(event)
    assert caught.value.code == cl.status_code.INVALID_OPERATION


def test_wrong_ranks_tags_and_communicators_are_refused(machine, comm):
    buffer = machine.buffer(8)
    for dest, tag, used in ((comm.size, 0, comm), (0, -5, comm), (0, 0, MPI.COMM_NULL)):
        with pytest.raises(causeway.Error) as caught:
            causeway.enqueue_send(machine.in_order, buffer, used, dest, tag)
        assert caught.value.code == cl.status_code.INVALID_VALUE
    with pytest.raises(TypeError):
        causeway.enqueue_send(machine.in_order, buffer, "world", 0)
    causeway.enqueue_send(machine.in_order, buffer, comm, MPI.PROC_NULL, blocking=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda bytes_: bytes_,
        lambda bytes_: np.frombuffer(bytes_, np.uint8),
        lambda bytes_: array.array("b", bytes_),
        bytearray,
        memoryview,
    ],
)
def test_any_host_memory_goes_to_a_device(machine, comm, left, right, make):
    incoming = machine.buffer(4096)
    received = causeway.enqueue_recv(machine.out_of_order, incoming, comm, left, 7)
    causeway.send(make(pattern(4096, comm.rank).tobytes()), comm, right, 7)
    causeway.wait_for_events([received])
    assert np.array_equal(machine.read(incoming), pattern(4096, left))


def test_an_array_in_fortrans_order_travels_as_it_lies(comm, left, right):
    outgoing = np.asfortranarray(np.arange(12, dtype=np.int32).reshape(3, 4) + comm.rank)
    outgoing.flags.writeable = False
    for receive in causeway.recv, causeway.irecv:
        incoming = np.asfortranarray(np.zeros((3, 4), np.int32))
        sent = causeway.isend(outgoing, comm, right, 17)
        received = receive(incoming, comm, left, 17)
        MPI.Request.Waitall([sent, received] if isinstance(received, MPI.Request) else [sent])
        assert np.array_equal(incoming, np.arange(12).reshape(3, 4) + left)
    causeway.send(outgoing, comm, MPI.PROC_NULL)
    with pytest.raises((BufferError, ValueError)):
        causeway.irecv(outgoing, comm, left)
    with pytest.raises((BufferError, ValueError)):
        causeway.send(outgoing[:, ::2], comm, MPI.PROC_NULL)
    with pytest.raises((BufferError, ValueError)):
        causeway.send(outgoing[::2], comm, MPI.PROC_NULL)


def test_requests_of_host_messages_are_mpi4pys(machine, comm, left, right):
    target = np.zeros(300_000, np.uint8)
    received = causeway.irecv(target, comm, left, 8)
    incoming = machine.buffer(300_000)
    device_received = causeway.enqueue_recv(machine.out_of_order, incoming, comm, left, 9)
    sent = causeway.isend(pattern(300_000, comm.rank), comm, right, 9)  # nobody else holds the memory
    device_sent = causeway.enqueue_send(
        machine.out_of_order, machine.buffer(pattern(300_000, comm.rank)), comm, right, 8
    )
    gc.collect()
    MPI.Request.Waitall([received, sent])
    causeway.wait_for_events([device_received, device_sent])
    assert np.array_equal(target, pattern(300_000, left))
    assert np.array_equal(machine.read(incoming), pattern(300_000, left))


def test_memory_that_cannot_be_written_is_refused(comm, left):
    with pytest.raises((BufferError, ValueError)):
        causeway.irecv(b"read only", comm, left)


def test_references_to_objects_are_no_memory_to_send(comm):
    for dtype in (object, [("x", "i4"), ("y", object)]):
        array = np.zeros(4, dtype)
        for function in (causeway.send, causeway.recv, causeway.isend, causeway.irecv):
            with pytest.raises(TypeError, match="objects"):
                function(array, comm, MPI.PROC_NULL)
    causeway.send(np.zeros(4, [("O", "i4"), ("NO", "f8")]), comm, MPI.PROC_NULL)  # names


def test_requests_become_events(machine, comm, left, right):
    buffer = machine.buffer(50_000)
    host = np.zeros(50_000, np.uint8)
    request = comm.Irecv(host, left, 10)
    arrived = causeway.event_from_request(machine.context, request)
    assert request == MPI.REQUEST_NULL
    written = cl.enqueue_copy(machine.out_of_order, buffer, host, is_blocking=False, wait_for=[arrived])
    machine.out_of_order.flush()
    left_ = causeway.event_from_request(machine.context, comm.Isend(pattern(50_000, comm.rank), right, 10))
    gc.collect()
    causeway.wait_for_events([written, left_])
    assert np.array_equal(machine.read(buffer), pattern(50_000, left))


def test_a_request_for_an_object_is_refused_and_keeps_it(machine, comm, left, right):
    """What was received would be lost with the request."""
    for receive in (lambda: comm.irecv(None, left, 16), lambda: comm.mprobe(left, 16).irecv()):
        sent = causeway.event_from_request(machine.context, comm.isend({"from": comm.rank}, right, 16))
        request = receive()
        with pytest.raises(TypeError, match="Irecv"):
            causeway.event_from_request(machine.context, request)
        assert request.wait() == {"from": left}
        causeway.wait_for_events([sent])


def test_a_request_that_fails_is_the_cause(machine, comm, left, right):
    if comm.size == 1:
        pytest.skip("Open MPI 4.1 reports no truncation of a message to oneself")
    arrived = causeway.event_from_request(machine.context, comm.Irecv(np.zeros(10, np.uint8), left, 12))
    comm.Send(pattern(100), right, 12)
    with pytest.raises(causeway.TransferError) as caught:
        causeway.wait_for_events([arrived])
    assert isinstance(caught.value.__cause__, MPI.Exception)
    assert caught.value.__cause__.Get_error_class() == caught.value.info.mpi_error_class == MPI.ERR_TRUNCATE


def test_a_persistent_request_stays_its_owners(machine, comm, left, right):
    incoming = np.zeros(16, np.uint8)
    request = comm.Recv_init(incoming, left, 11)
    with pytest.raises(TypeError, match="start"):
        causeway.event_from_request(machine.context, request)
    for seed in range(2):
        causeway.start(request)
        arrived = causeway.event_from_request(machine.context, request)
        comm.Send(pattern(16, seed), right, 11)
        causeway.wait_for_events([arrived])
        assert np.array_equal(incoming, pattern(16, seed))
    request.Free()


def test_a_request_with_the_handle_of_a_persistent_one_of_the_past_is_taken_over(machine, comm, left, right):
    persistent = comm.Ssend_init(pattern(16), right, 14)
    causeway.start(persistent)
    comm.Recv(np.zeros(16, np.uint8), left, 14)
    persistent.Wait()
    handle = MPI._handleof(persistent)
    persistent.Free()
    sent = [comm.Issend(pattern(16), right, 14) for _ in range(100)]
    again = [request for request in sent if MPI._handleof(request) == handle]
    events = [causeway.event_from_request(machine.context, request) for request in again]
    assert all(request == MPI.REQUEST_NULL for request in again)
    for _ in sent:
        comm.Recv(np.zeros(16, np.uint8), left, 14)
    MPI.Request.Waitall(sent)
    if events:
        causeway.wait_for_events(events)
    else:
        pytest.skip("this MPI did not use the handle again")


@pytest.mark.parametrize("give_up", [lambda request: None, lambda request: request.Free()])
def test_the_memory_of_a_request_that_is_given_up_stays(machine, comm, left, right, give_up):
    memory = pattern(300_000, comm.rank)
    alive = weakref.ref(memory)
    request = causeway.isend(memory, comm, right, 15)
    give_up(request)
    del memory, request
    gc.collect()
    assert alive() is not None
    incoming = machine.buffer(300_000)
    causeway.enqueue_recv(machine.in_order, incoming, comm, left, 15, blocking=True)
    assert np.array_equal(machine.read(incoming), pattern(300_000, left))


def test_a_message_space_of_its_own(machine, comm, left, right):
    private = comm.Dup()
    causeway.attach_communicator(private)
    incoming = machine.buffer(64)
    received = causeway.enqueue_recv(machine.out_of_order, incoming, private, left)
    causeway.enqueue_send(machine.out_of_order, machine.buffer(pattern(64, comm.rank)), private, right)
    causeway.wait_for_events([received])
    assert not private.Iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG)
    assert np.array_equal(machine.read(incoming), pattern(64, left))
    private.Barrier()
    private.Free()


def test_events_that_nobody_else_holds_live_until_the_call_is_over(machine):
    """A generator's are gone when it goes on to the next."""
    buffer = machine.buffer(pattern(64))
    for _ in range(50):
        sent = causeway.enqueue_send(
            machine.out_of_order, buffer, MPI.COMM_SELF, 0, wait_for=(cl.enqueue_marker(machine.out_of_order) for _ in range(8))
        )
        received = causeway.enqueue_recv(machine.out_of_order, machine.buffer(pattern(64)), MPI.COMM_SELF, 0)
        causeway.wait_for_events([sent, received])
