# SPDX-License-Identifier: Apache-2.0
"""What is known of a transfer."""

from __future__ import annotations

import ctypes
import enum
from ctypes import c_int32, c_size_t, c_uint32, c_uint64
from typing import Any

import pyopencl as cl

from . import _library
from ._errors import refused
from ._handles import event_handle


class CommandType(enum.IntEnum):
    """What a transfer is."""

    WRITE_BUFFER_FROM_FILE = 0x0CA50001
    READ_BUFFER_TO_FILE = 0x0CA50002
    SEND_BUFFER = 0x0CA50003
    RECV_BUFFER = 0x0CA50004
    SENDRECV_BUFFER = 0x0CA50005
    PEER_COPY_BUFFER = 0x0CA50006
    PUT = 0x0CA50010
    GET = 0x0CA50011
    PUT_SIGNAL = 0x0CA50012
    SIGNAL = 0x0CA50013
    SIGNAL_WAIT = 0x0CA50014
    SYMMETRIC_ATOMIC = 0x0CA50015
    FENCE = 0x0CA50016
    QUIET = 0x0CA50017
    SYMMETRIC_BARRIER = 0x0CA50018
    WORD_WAIT = 0x0CA50019
    SYMMETRIC_BROADCAST = 0x0CA5001A
    SYMMETRIC_COLLECT = 0x0CA5001B
    SYMMETRIC_ALL_TO_ALL = 0x0CA5001C
    SYMMETRIC_REDUCE = 0x0CA5001D


def _ask(event: cl.Event, name: int, kind: Any) -> Any:
    value = kind()
    code = _library.get_transfer_info(event.int_ptr, name, ctypes.sizeof(value), ctypes.byref(value), None)
    if code:
        raise refused("clGetTransferInfo", code)
    return value.value


def _number(name: int, kind: Any, text: str) -> property:
    return property(lambda self: _ask(self.event, name, kind), doc=text)


def _text(name: int, text: str) -> property:
    def ask(self: TransferInfo) -> str:
        size = c_size_t()
        code = _library.get_transfer_info(self.event.int_ptr, name, 0, None, ctypes.byref(size))
        if code:
            raise refused("clGetTransferInfo", code)
        # A running transfer's text may have grown meanwhile: ask for more than it said.
        return str(_ask(self.event, name, ctypes.c_char * (size.value + 256)).decode(errors="replace"))

    return property(ask, doc=text)


class TransferInfo:
    """What `clGetTransferInfo` answers for an event, asked anew at each access. Keeps the event alive."""

    event: cl.Event

    def __init__(self, event: cl.Event) -> None:
        event_handle(event)
        self.event = event
        _ = self.status  # refuses an event that is no transfer's

    status = _number(0x0CA50100, c_int32, "A `pyopencl.command_execution_status`, or a negative code")
    bytes_moved = _number(0x0CA50104, c_size_t, "So far; the sum of both ways for a send-receive")
    bytes_sent = _number(0x0CA50105, c_size_t, "So far")
    bytes_received = _number(0x0CA50106, c_size_t, "So far")
    mpi_source = _number(0x0CA50107, c_int32, "The rank that `MPI.ANY_SOURCE` matched")
    mpi_tag = _number(0x0CA50108, c_int32, "The tag that `MPI.ANY_TAG` matched")
    errno = _number(0x0CA50109, c_int32, "0, or the error number behind a failure")
    mpi_error_class = _number(0x0CA5010A, c_int32, "0, or MPI's error class behind a failure")
    error_message = _text(0x0CA5010B, "Empty, or what failed, where and why")
    strategy = _text(0x0CA5010C, 'How the bytes move, such as "mapped"; empty until planned')
    block_size = _number(0x0CA5010D, c_size_t, "Bytes of a block")
    depth = _number(0x0CA5010E, c_uint32, "Blocks in flight")
    lanes = _number(0x0CA5010F, c_uint32, "I/O threads that read or write at once")
    time_queued = _number(0x0CA50110, c_uint64, "Nanoseconds of `time.monotonic_ns`; 0 while not reached")
    time_submitted = _number(0x0CA50111, c_uint64, "As `time_queued`")
    time_started = _number(0x0CA50112, c_uint64, "As `time_queued`")
    time_ended = _number(0x0CA50113, c_uint64, "As `time_queued`")

    @property
    def command_type(self) -> CommandType | None:
        """None for the event of an MPI request."""
        kind = _ask(self.event, 0x0CA50101, c_uint32)
        return CommandType(kind) if kind in CommandType._value2member_map_ else None

    @property
    def command_queue(self) -> cl.CommandQueue | None:
        """The queue that the transfer was enqueued in; None for the event of an MPI request."""
        queue = _ask(self.event, 0x0CA50102, ctypes.c_void_p)
        return cl.CommandQueue.from_int_ptr(queue, retain=True) if queue else None

    @property
    def context(self) -> cl.Context:
        return cl.Context.from_int_ptr(_ask(self.event, 0x0CA50103, ctypes.c_void_p), retain=True)

    def as_dict(self) -> dict[str, Any]:
        """Every number and text by its name."""
        names = [name for name, kind in vars(TransferInfo).items() if isinstance(kind, property)]
        return {name: getattr(self, name) for name in names if name not in ("command_queue", "context")}

    def __repr__(self) -> str:
        kind = self.command_type
        what = kind.name.lower() if kind else "request"
        return f"<causeway.TransferInfo {what}: status {self.status}, {self.bytes_moved} bytes, {self.strategy!r}>"


def transfer_info(event: cl.Event) -> TransferInfo:
    """What is known of the transfer behind `event`. Raises `Error` (INVALID_EVENT) if that is no transfer's."""
    return TransferInfo(event)


def cancel(event: cl.Event) -> None:
    """Asks a transfer to stop; it then fails with `CancelledError`. Raises `Error` if it is complete already."""
    code = _library.cancel_transfer(event_handle(event))
    if code:
        raise refused("clCancelTransfer", code)
