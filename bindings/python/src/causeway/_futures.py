# SPDX-License-Identifier: Apache-2.0
"""The ends of transfers as futures, for threads that wait and for coroutines."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import os
import struct
import threading
from ctypes import c_int, c_uint64

import pyopencl as cl

from . import _library
from ._errors import failed, refused
from ._handles import event_handle
from ._info import TransferInfo

_notify = _library.declare("causeway_notify", [_library.HANDLE, c_int, c_uint64])
_note = struct.Struct("=Qq")


class _Notes:
    """A pipe that the library writes to when a transfer is over, and the thread that reads it.

    No function of Python is called by the library's thread, which may outlive the interpreter.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards the start
        self._writing = -1
        self._numbers = itertools.count()
        # Of any thread: only by calls that others see as one step.
        self._pending: dict[int, tuple[concurrent.futures.Future[cl.Event], cl.Event]] = {}

    def follow(self, event: cl.Event) -> concurrent.futures.Future[cl.Event]:
        handle = event_handle(event)
        with self._lock:
            if self._writing < 0:
                reading, self._writing = os.pipe()
                threading.Thread(target=self._listen, args=(reading,), name="causeway-futures", daemon=True).start()
        future: concurrent.futures.Future[cl.Event] = concurrent.futures.Future()
        future.set_running_or_notify_cancel()  # a transfer is cancelled by `cancel`
        number = next(self._numbers)
        self._pending[number] = future, event
        if code := _notify(handle, self._writing, number):
            del self._pending[number]
            raise refused("clSetTransferCallback", code)
        return future

    def _listen(self, reading: int) -> None:
        text = b""
        while True:
            text += os.read(reading, 4096)
            whole = len(text) - len(text) % _note.size
            for number, status in _note.iter_unpack(text[:whole]):
                future, event = self._pending.pop(number)
                if status < 0:
                    future.set_exception(failed(TransferInfo(event)))
                else:
                    future.set_result(event)
            text = text[whole:]


_notes = _Notes()


def as_future(event: cl.Event) -> concurrent.futures.Future[cl.Event]:
    """Done when the transfer is: its result is the event, its exception the `TransferError`.

    Raises `Error` (INVALID_EVENT) for an event that is no transfer's. What is added by `add_done_callback` runs in a
    thread that all futures of transfers share.
    """
    return _notes.follow(event)


async def completion(event: cl.Event) -> cl.Event:
    """For coroutines: `await completion(event)` gives the event when the transfer is complete, or raises the
    `TransferError`. The loop goes on meanwhile. To stop waiting does not stop the transfer."""
    return await asyncio.shield(asyncio.wrap_future(_notes.follow(event)))
