# SPDX-License-Identifier: Apache-2.0
"""Transfers as commands of pyopencl's queues."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from ctypes import addressof, c_size_t
from typing import TYPE_CHECKING, Any, Protocol

import pyopencl as cl

from . import _library, _mpi
from ._errors import failed, refused
from ._files import APPEND, BinaryFile, descriptor_of, move_to, position_of
from ._handles import bare_event_handle, bare_queue_handle, event_handle, queue_handle
from ._info import TransferInfo

if TYPE_CHECKING:
    from mpi4py import MPI

_enqueue = _library.enqueue_packed
_adopt = cl.Event.from_int_ptr
_Memory = cl.MemoryObjectHolder


class DeviceArray(Protocol):
    """A `pyopencl.array.Array`: a range of a buffer, which has to be contiguous but for the commands with boxes."""

    base_data: Any
    offset: int
    nbytes: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any
    events: list[cl.Event]


WaitList = Iterable[cl.Event] | None
DeviceMemory = cl.MemoryObjectHolder | DeviceArray


class _Command:
    """A function of CL/cl_data_transfer.h, called with all its arguments in one piece (causeway/packed.h)."""

    def __init__(self, number: int, name: str) -> None:
        self.number, self.name = number, name

    def __call__(
        self, queue: cl.CommandQueue, arguments: tuple[Any, ...], wait_for: WaitList, blocking: bool
    ) -> cl.Event:
        """Enqueues. A blocking command that fails still has an event, which says why; a refused one has none."""
        events = tuple(wait_for) if wait_for else ()  # alive until the call is over, whoever made them
        try:
            words = (bare_queue_handle(queue), *arguments, *map(bare_event_handle, events))
        except TypeError:
            queue_handle(queue)
            for each in events:
                event_handle(each)
            raise
        count = len(words)
        try:
            packed = _packers[count](*words)
        except struct.error as error:
            raise TypeError(f"{self.name}: {error}") from None
        event = _enqueue(self.number, packed, count)
        if event < 0:
            raise refused(self.name, event)
        adopted = _adopt(event, False)
        if blocking and adopted.command_execution_status < 0:
            raise failed(TransferInfo(adopted), self.name)
        return adopted


class _Packers(dict[int, Callable[..., bytes]]):
    """By the number of words, of 64 bits."""

    def __missing__(self, count: int) -> Callable[..., bytes]:
        return self.setdefault(count, struct.Struct(f"{count}q").pack)


_packers = _Packers()


# As causeway/packed.h numbers them.
_write_from_file = _Command(0, "clEnqueueWriteBufferFromFile")
_read_to_file = _Command(1, "clEnqueueReadBufferToFile")
_peer_copy = _Command(2, "clEnqueuePeerCopyBuffer")
_send = _Command(3, "clEnqueueSendBuffer")
_recv = _Command(4, "clEnqueueRecvBuffer")
_sendrecv = _Command(5, "clEnqueueSendrecvBuffer")
_send_rect = _Command(6, "clEnqueueSendBufferRect")
_recv_rect = _Command(7, "clEnqueueRecvBufferRect")


class _Nothing(int):
    """The handle of a buffer that stands for the memory of an array without elements, which has none. Keeps it alive."""

    buffer: cl.Buffer

    def __new__(cls, queue: cl.CommandQueue) -> _Nothing:
        queue_handle(queue)
        buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 1)
        self = super().__new__(cls, buffer.int_ptr)
        self.buffer = buffer
        return self


def _range(queue: cl.CommandQueue, memory: DeviceMemory, offset: int, size: int | None) -> tuple[int, int, int]:
    """Handle, offset and size in bytes."""
    if isinstance(memory, _Memory):
        return memory.int_ptr, offset, memory.size - offset if size is None else size
    handle, begin = _location(queue, memory)
    if not getattr(memory, "flags").forc:
        raise ValueError("the array is not contiguous; send a box of it (enqueue_send_rect)")
    size = memory.nbytes - offset if size is None else size
    if offset < 0 or size < 0 or offset + size > memory.nbytes:
        raise ValueError(f"{size} bytes at {offset} are not within the array's {memory.nbytes} bytes")
    return handle, begin + offset, size


def _location(queue: cl.CommandQueue, memory: DeviceMemory) -> tuple[int, int]:
    """Handle of the buffer, and where in it the memory begins."""
    if isinstance(memory, _Memory):
        return memory.int_ptr, 0
    base = getattr(memory, "base_data", None)
    if base is None and getattr(memory, "nbytes", None) == 0 and hasattr(memory, "base_data"):
        return _Nothing(queue), 0
    if not isinstance(base, _Memory):
        name = type(memory).__name__
        raise TypeError(f"neither a buffer nor an array in one (shared virtual memory is none): {name}")
    return base.int_ptr, memory.offset


def _awaited(wait_for: WaitList, *memories: DeviceMemory) -> WaitList:
    """With what the contents of arrays depend on, as pyopencl's own operations have it. Even a blocking copy of
    pyopencl may be under way when it returns (Intel's CPU runtime 2026)."""
    for memory in memories:
        if not isinstance(memory, _Memory):
            wait_for = [*(wait_for or ()), *memory.events]
    return wait_for


class _Box:
    """As pyopencl does it: what is left out is 0, and 1 in a region."""

    def __init__(
        self,
        queue: cl.CommandQueue,
        memory: DeviceMemory,
        origin: Sequence[int],
        region: Sequence[int],
        pitches: Sequence[int],
    ) -> None:
        self.handle, begin = _location(queue, memory)
        origin, region = _extended("buffer_origin", origin, 3, 0), _extended("region", region, 3, 1)
        row_pitch, slice_pitch = _extended("buffer_pitches", pitches, 2, 0)
        if not isinstance(memory, _Memory) and hasattr(memory, "strides"):
            row = row_pitch or region[0]
            _require_within(memory, origin, region, (1, row, slice_pitch or row * region[1]))
        self.is_empty = 0 in region  # OpenCL has no such boxes
        three = c_size_t * 3
        # C gets their addresses.
        self.origin, self.region = three(origin[0] + begin, *origin[1:]), three(*region)
        self.words = addressof(self.origin), addressof(self.region), row_pitch, slice_pitch


def _extended(name: str, numbers: Sequence[int], count: int, rest: int) -> tuple[int, ...]:
    numbers = tuple(numbers)
    if len(numbers) > count or min(numbers, default=0) < 0:
        raise ValueError(f"{name} has at most {count} numbers, none of them negative: {numbers}")
    return (*numbers, *[rest] * (count - len(numbers)))


def _require_within(
    array: DeviceArray, origin: Sequence[int], region: Sequence[int], pitches: Sequence[int]
) -> None:
    """The buffer is larger than a slice of it, so that nobody else notices."""
    begin = sum(at * pitch for at, pitch in zip(origin, pitches))
    end = begin + sum((size - 1) * pitch for size, pitch in zip(region, pitches)) + 1
    reached = sum((size - 1) * stride for size, stride in zip(array.shape, array.strides) if stride > 0)
    has = 0 if 0 in array.shape else reached + array.dtype.itemsize
    if 0 not in region and end > has:
        raise ValueError(f"the box ends {end} bytes behind the array's first element, the array after {has}")


def _file_command(
    command: _Command,
    queue: cl.CommandQueue,
    memory: DeviceMemory,
    file: BinaryFile,
    file_offset: int | None,
    offset: int,
    size: int | None,
    wait_for: WaitList,
    blocking: bool,
) -> cl.Event:
    handle, offset, size = _range(queue, memory, offset, size)
    descriptor = descriptor_of(file)
    at = position_of(file, written=command is _read_to_file) if file_offset is None else _checked_offset(file_offset)
    arguments = (handle, blocking, offset, size, descriptor, at)
    event = command(queue, arguments, _awaited(wait_for, memory), blocking)
    if file_offset is None and at != APPEND:
        # At once, not when the bytes have moved: the next command goes on behind this one.
        move_to(file, at + size)
    return event


def _checked_offset(file_offset: int) -> int:
    """C takes -1 for the end of the file."""
    if file_offset < 0:
        raise ValueError(f"the file offset {file_offset} is negative")
    return file_offset


def enqueue_write_from_file(
    queue: cl.CommandQueue,
    dest: DeviceMemory,
    file: BinaryFile,
    *,
    file_offset: int | None = None,
    offset: int = 0,
    size: int | None = None,
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """Reads `size` bytes of a file into device memory at `offset`.

    `file` is a binary file object or a descriptor, and may be closed right after the call. Without `file_offset`
    the bytes come from its position, which moves on at once. Fails with `EndOfFileError` if the file is shorter.
    An array without elements is a transfer of 0 bytes, in all of these functions.
    """
    return _file_command(_write_from_file, queue, dest, file, file_offset, offset, size, wait_for, blocking)


def enqueue_read_to_file(
    queue: cl.CommandQueue,
    src: DeviceMemory,
    file: BinaryFile,
    *,
    file_offset: int | None = None,
    offset: int = 0,
    size: int | None = None,
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """Writes `size` bytes of device memory from `offset` to a file, as `enqueue_write_from_file` reads them.

    In append mode, without `file_offset`, they go to the end that the file has when they are written.
    """
    return _file_command(_read_to_file, queue, src, file, file_offset, offset, size, wait_for, blocking)


def peer_copy(
    source_queue: cl.CommandQueue,
    source: DeviceMemory,
    target_queue: cl.CommandQueue,
    target: DeviceMemory,
    *,
    source_offset: int = 0,
    target_offset: int = 0,
    size: int | None = None,
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """Copies between buffers of any two devices, contexts or vendors; the event belongs to the target's context."""
    source_handle, source_offset, size = _range(source_queue, source, source_offset, size)
    target_handle, target_offset, size = _range(target_queue, target, target_offset, size)
    handles = (source_handle, queue_handle(target_queue), target_handle)
    arguments = (*handles, blocking, source_offset, target_offset, size)
    return _peer_copy(source_queue, arguments, _awaited(wait_for, source, target), blocking)


def enqueue_send(
    queue: cl.CommandQueue,
    src: DeviceMemory,
    comm: MPI.Comm,
    dest: int,
    tag: int = 0,
    *,
    offset: int = 0,
    size: int | None = None,
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """Sends device memory to rank `dest` of `comm`. Matched by `enqueue_recv`, `recv` and `irecv` of this package."""
    mpi = _mpi.bound()
    handle, offset, size = _range(queue, src, offset, size)
    arguments = (handle, blocking, offset, size, dest, tag, mpi.handle_of(comm))
    return _send(queue, arguments, _awaited(wait_for, src), blocking)


def enqueue_recv(
    queue: cl.CommandQueue,
    dest: DeviceMemory,
    comm: MPI.Comm,
    source: int,
    tag: int = 0,
    *,
    offset: int = 0,
    size: int | None = None,
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """Receives at most `size` bytes from rank `source` of `comm`; `MPI.ANY_SOURCE` and `MPI.ANY_TAG` match."""
    mpi = _mpi.bound()
    handle, offset, size = _range(queue, dest, offset, size)
    arguments = (handle, blocking, offset, size, source, tag, mpi.handle_of(comm))
    return _recv(queue, arguments, _awaited(wait_for, dest), blocking)


def enqueue_sendrecv(
    queue: cl.CommandQueue,
    src: DeviceMemory,
    dest: DeviceMemory,
    comm: MPI.Comm,
    dest_rank: int,
    source_rank: int,
    *,
    send_tag: int = 0,
    recv_tag: int = 0,
    send_offset: int = 0,
    send_size: int | None = None,
    recv_offset: int = 0,
    recv_size: int | None = None,
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """Sends and receives at once; completes when both have. The ranges must not overlap."""
    mpi = _mpi.bound()
    source, send_offset, send_size = _range(queue, src, send_offset, send_size)
    target, recv_offset, recv_size = _range(queue, dest, recv_offset, recv_size)
    ends = (send_offset, send_size, dest_rank, send_tag, recv_offset, recv_size, source_rank, recv_tag)
    arguments = (source, target, blocking, *ends, mpi.handle_of(comm))
    return _sendrecv(queue, arguments, _awaited(wait_for, src, dest), blocking)


def enqueue_send_rect(
    queue: cl.CommandQueue,
    src: DeviceMemory,
    comm: MPI.Comm,
    dest: int,
    tag: int = 0,
    *,
    region: Sequence[int],
    buffer_origin: Sequence[int] = (),
    buffer_pitches: Sequence[int] = (),
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """Sends a box of a buffer, packed row by row: bytes, rows, slices, as in `pyopencl.enqueue_copy`.

    Of an array the origin is its first element, and the box ends where its last one does or before."""
    mpi = _mpi.bound()
    box = _Box(queue, src, buffer_origin, region, buffer_pitches)
    if box.is_empty:
        nothing = (box.handle, blocking, 0, 0, dest, tag, mpi.handle_of(comm))
        return _send(queue, nothing, _awaited(wait_for, src), blocking)
    arguments = (box.handle, blocking, *box.words, dest, tag, mpi.handle_of(comm))
    return _send_rect(queue, arguments, _awaited(wait_for, src), blocking)


def enqueue_recv_rect(
    queue: cl.CommandQueue,
    dest: DeviceMemory,
    comm: MPI.Comm,
    source: int,
    tag: int = 0,
    *,
    region: Sequence[int],
    buffer_origin: Sequence[int] = (),
    buffer_pitches: Sequence[int] = (),
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """Receives into a box of a buffer or array; a shorter message fills the first rows."""
    mpi = _mpi.bound()
    box = _Box(queue, dest, buffer_origin, region, buffer_pitches)
    if box.is_empty:
        nothing = (box.handle, blocking, 0, 0, source, tag, mpi.handle_of(comm))
        return _recv(queue, nothing, _awaited(wait_for, dest), blocking)
    arguments = (box.handle, blocking, *box.words, source, tag, mpi.handle_of(comm))
    return _recv_rect(queue, arguments, _awaited(wait_for, dest), blocking)


def wait_for_events(events: Iterable[cl.Event]) -> None:
    """As `pyopencl.wait_for_events`, but raises what happened: the `TransferError` of the first transfer that
    failed."""
    waited = list(events)
    try:
        cl.wait_for_events(waited)
    except cl.Error as error:
        for event in waited:
            try:
                info = TransferInfo(event)
            except cl.LogicError:
                continue  # a command of OpenCL's own
            if info.status < 0:
                failure = failed(info)
                raise failure from failure.__cause__ or error
        raise
