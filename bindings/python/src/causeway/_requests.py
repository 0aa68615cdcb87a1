# SPDX-License-Identifier: Apache-2.0
"""Messages between host memory here and a device there, and MPI's requests as events."""

from __future__ import annotations

import ctypes
import gc
import weakref
from typing import Any

import pyopencl as cl
from mpi4py import MPI

from . import _mpi
from ._errors import last_error, refused
from ._handles import context_handle, wrong_kind
from ._host_memory import HostRange, keep_for_ever, keep_until_complete

# By identity: requests of mpi4py have no hash.
_started: weakref.WeakValueDictionary[int, MPI.Prequest] = weakref.WeakValueDictionary()


class Request(MPI.Request):
    """A request of `isend` or `irecv`: for every function of mpi4py that takes requests. Holds the host memory."""

    _memory: HostRange | None

    def __new__(cls, memory: HostRange) -> Request:
        self = super().__new__(cls)
        self._memory = memory
        return self

    def Free(self) -> None:
        """As of any request: gives it up. Its memory is kept."""
        self._keep_memory()
        super().Free()

    def __del__(self) -> None:
        self._keep_memory()

    def _keep_memory(self) -> None:
        # Given up before it was complete: nobody can tell when its memory is free.
        if self and getattr(self, "_memory", None) is not None:
            keep_for_ever(self._memory)


class MessageError(MPI.Exception):
    """MPI's error, with what the library says of it."""

    text = ""

    def __str__(self) -> str:
        return f"{self.text} ({super().__str__()})" if self.text else str(super().__str__())


def _check(code: int) -> None:
    if code:
        error = MessageError(code)
        error.text = last_error()
        raise error


def _message(data: Any, writable: bool, comm: MPI.Comm, rank: int, tag: int) -> tuple[HostRange, tuple[Any, ...]]:
    mpi = _mpi.bound()
    memory = HostRange(data, writable=writable)
    if memory.size > 0x7FFFFFFF:
        raise ValueError(f"{memory.size} bytes are more than a message of MPI can count; send parts")
    return memory, (memory.address, memory.size, mpi.device, rank, tag, mpi.handle_of(comm))


def send(data: Any, comm: MPI.Comm, dest: int, tag: int = 0) -> None:
    """Sends host memory to the device of another rank (`MPI_Send` with `MPI_CL_MEM`; there: `enqueue_recv`)."""
    memory, arguments = _message(data, False, comm, dest, tag)
    _check(_mpi.bound().send(*arguments))


def isend(data: Any, comm: MPI.Comm, dest: int, tag: int = 0) -> Request:
    """As `send`, but returns at once."""
    memory, arguments = _message(data, False, comm, dest, tag)
    request = Request(memory)
    _check(_mpi.bound().isend(*arguments, MPI._addressof(request)))
    return request


def recv(data: Any, comm: MPI.Comm, source: int, tag: int = 0, status: MPI.Status | None = None) -> None:
    """Receives into writable host memory from the device of another rank (there: `enqueue_send`)."""
    memory, arguments = _message(data, True, comm, source, tag)
    if status is None:
        status = MPI.Status()
    elif not isinstance(status, MPI.Status):
        raise wrong_kind("a status of mpi4py", status)
    _check(_mpi.bound().recv(*arguments, MPI._addressof(status)))


def irecv(data: Any, comm: MPI.Comm, source: int, tag: int = 0) -> Request:
    """As `recv`, but returns at once."""
    memory, arguments = _message(data, True, comm, source, tag)
    request = Request(memory)
    _check(_mpi.bound().irecv(*arguments, MPI._addressof(request)))
    return request


def start(request: MPI.Prequest) -> None:
    """Starts a persistent request whose event is wanted: `MPI.Prequest.Start` does not tell the library that it
    persists."""
    if not isinstance(request, MPI.Prequest):
        raise wrong_kind("a persistent request of mpi4py", request)
    if code := _mpi.bound().start(MPI._addressof(request)):
        raise MPI.Exception(code)  # of MPI alone
    _started[id(request)] = request


def _keeps_a_pickle(request: MPI.Request) -> bool:
    """Whether it is of `comm.irecv`: what it keeps is bytes to unpickle (mpi4py 4; a plain buffer before)."""
    kinds = {type(each).__name__ for each in gc.get_referents(request)}
    return not kinds.isdisjoint(("_p_req_buf", "buffer", "memory"))


def event_from_request(context: cl.Context, request: MPI.Request) -> cl.Event:
    """An event that completes when a request of mpi4py or of `isend` and `irecv` does.

    Of mpi4py's receives those of arrays: `comm.Irecv`. What `comm.irecv` gets is unpickled by its request's `wait`.
    The request becomes `MPI.REQUEST_NULL`, and its memory is kept until then. A persistent one (started with
    `start`) stays the caller's, not to be touched until the event completes.
    """
    if not isinstance(request, MPI.Request):
        raise wrong_kind("a request of mpi4py", request)
    if _keeps_a_pickle(request):
        raise TypeError("the object that irecv of mpi4py receives comes out of the request alone; use Irecv, of an array")
    if isinstance(request, MPI.Prequest) and _started.get(id(request)) is not request:
        raise TypeError("a persistent request becomes an event if causeway.start() has started it")
    code = ctypes.c_int()
    event = _mpi.bound().event_from_request(context_handle(context), MPI._addressof(request), ctypes.byref(code))
    if code.value:
        raise refused("clCreateEventFromMPIRequest", code.value)
    if not isinstance(request, MPI.Prequest):
        # The library knows persistent ones by their handles, does not see mpi4py free them, and MPI uses them again.
        ctypes.memmove(MPI._addressof(request), MPI._addressof(MPI.REQUEST_NULL), MPI._sizeof(MPI.Request))
    adopted = cl.Event.from_int_ptr(event, retain=False)
    keep_until_complete(adopted, request)
    return adopted
