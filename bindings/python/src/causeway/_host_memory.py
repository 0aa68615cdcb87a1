# SPDX-License-Identifier: Apache-2.0
"""Host memory of any object with the buffer protocol, kept alive for as long as C uses it."""

from __future__ import annotations

import atexit
import ctypes
import itertools
import re
from typing import Any

import numpy as np
import pyopencl as cl

# Of any thread: only by calls that others see as one step.
_in_flight: dict[int, tuple[cl.Event, Any]] = {}
_numbers = itertools.count()


class HostRange:
    """Address and size of an object's memory. The object cannot give its memory up while this lives."""

    def __init__(self, owner: Any, *, writable: bool) -> None:
        view = memoryview(owner)
        # But for the names of a structure's fields.
        if "O" in view.format and "O" in re.sub(":[^:]*:", "", view.format):
            raise TypeError("the memory holds references to Python's objects, which mean nothing elsewhere")
        # The transpose of what is contiguous in Fortran's order is so in C's.
        flat: Any = owner if view.c_contiguous or not view.f_contiguous else np.asarray(view).T
        self.array = np.frombuffer(flat, np.uint8) if view.nbytes else np.empty(0, np.uint8)
        if writable and not self.array.flags.writeable and self.array.size:
            raise BufferError("the object's memory is read-only")
        self.address: int = self.array.ctypes.data
        self.size: int = self.array.nbytes


def keep_for_ever(kept: Any) -> None:
    """For memory that the library may still use when Python ends: one more reference, which nobody gives back."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


def keep_until_complete(event: cl.Event, kept: Any) -> None:
    """Holds `kept` until `event` has ended; what has ended is let go at the next call."""
    complete = cl.command_execution_status.COMPLETE
    for number, (other, _) in list(_in_flight.items()):
        if other.command_execution_status <= complete:
            _in_flight.pop(number, None)
    _in_flight[next(_numbers)] = (event, kept)


@atexit.register
def _outlive_python() -> None:
    # Python frees objects before transfers are ended (Py_AtExit).
    for pair in _in_flight.values():
        keep_for_ever(pair)
