# SPDX-License-Identifier: Apache-2.0
"""The functions that need MPI, declared when mpi4py and its communicators come into play."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from ctypes import c_char_p, c_int, c_size_t, c_void_p
from typing import TYPE_CHECKING, Any

from . import _library
from ._handles import wrong_kind
from ._library import HANDLE, declare

if TYPE_CHECKING:
    from mpi4py import MPI


class _Origin(ctypes.Structure):
    """Dl_info of <dlfcn.h>."""

    _fields_ = [("file", c_char_p), ("base", c_void_p), ("symbol", c_char_p), ("address", c_void_p)]


def _mpi_library_of(shared_object: ctypes.CDLL) -> str:
    """The file that gives `shared_object`, or what it was linked with, its MPI."""
    origin = _Origin()
    dladdr = ctypes.CDLL(None).dladdr
    dladdr(ctypes.cast(shared_object.MPI_Comm_rank, c_void_p), ctypes.byref(origin))
    return os.path.realpath(os.fsdecode(origin.file)) if origin.file else "an unknown file"


def _require_same_library(ours: str, theirs: str) -> None:
    # Handles of one MPI mean nothing to another, and two in one process would each wait for the other's ranks.
    if ours != theirs:
        raise ImportError(
            f"mpi4py uses {theirs}, but libcauseway was built with {ours}. Choose mpi4py's MPI "
            f"(MPI4PY_MPIABI=openmpi or mpich; else install mpi4py with MPICC of that MPI), or build "
            f"libcauseway with mpi4py's."
        )


def _signed(handle_of: Callable[[Any], int]) -> Callable[[Any], int]:
    """MPICH's handles are of type int, many of them negative; mpi4py gives them as if they were pointers."""
    return lambda wrapped: c_int(handle_of(wrapped)).value


def _of_communicators(comm_class: type, handle_of: Callable[[Any], int]) -> Callable[[Any], int]:
    """mpi4py gives the handle of any of its objects."""

    def checked(comm: Any) -> int:
        if isinstance(comm, comm_class):
            return handle_of(comm)
        raise wrong_kind("a communicator of mpi4py", comm)

    return checked


class Bound:
    """The functions of libcauseway, typed for mpi4py's MPI."""

    def __init__(self) -> None:
        from mpi4py import MPI

        _require_same_library(_mpi_library_of(_library.library), _mpi_library_of(ctypes.CDLL(MPI.__file__)))
        # A pointer in Open MPI, an int in MPICH.
        self._handle = c_void_p if MPI._sizeof(MPI.Comm) == ctypes.sizeof(c_void_p) else c_int
        handle_of: Any = MPI._handleof if self._handle is c_void_p else _signed(MPI._handleof)
        self.handle_of = _of_communicators(MPI.Comm, handle_of)
        comm, datatype, request = self._handle, self._handle, c_void_p
        message = [c_int, c_int, comm]  # rank, tag
        self.event_from_request = declare("clCreateEventFromMPIRequest", [HANDLE, request, c_void_p], c_void_p)
        self.attach_communicator = declare("clAttachCommunicator", [comm])
        self.symmetric_init = declare("causeway_symmetric_init", [HANDLE, HANDLE, comm, c_size_t])
        self.device = declare("causeway_mpi_cl_mem", [], datatype)()
        host = [c_void_p, c_int, datatype, *message]
        self.send = declare("causeway_mpi_send", host)
        self.isend = declare("causeway_mpi_isend", [*host, request])
        self.recv = declare("causeway_mpi_recv", [*host, c_void_p])
        self.irecv = declare("causeway_mpi_irecv", [*host, request])
        self.start = declare("causeway_mpi_start", [request])
        self.add_graph_input = declare(
            "causeway_graph_add_input_rank", [HANDLE, c_char_p, *message, ctypes.c_uint64, c_size_t]
        )
        self.add_graph_output = declare(
            "causeway_graph_add_output_rank", [HANDLE, c_char_p, *message, ctypes.c_uint64, c_size_t]
        )
        # mpi4py ends MPI in such a function too, and these run last come, first served: transfers in flight end before
        # MPI does, after every exit handler in Python. MPICH would end them too late (docs/api.md, Lifetimes).
        end_transfers = ctypes.cast(_library.library.causeway_mpi_end_transfers, c_void_p)
        if ctypes.pythonapi.Py_AtExit(end_transfers) != 0:
            raise ImportError("Python has no room for another exit function (Py_AtExit)")


@functools.cache
def bound() -> Bound:
    """Raises ImportError if mpi4py is missing, or uses another MPI than libcauseway."""
    return Bound()


def attach_communicator(comm: MPI.Comm) -> None:
    """Gives the transfers on `comm` a message space of their own. Collective, before the first transfer on it."""
    from ._errors import refused

    code = bound().attach_communicator(bound().handle_of(comm))
    if code:
        raise refused("clAttachCommunicator", code)
