# SPDX-License-Identifier: Apache-2.0
"""Transfers between device memory and files, MPI ranks and other devices, as commands of pyopencl's queues.

Importing this package does not import mpi4py; what takes a communicator does, by the communicator it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _library
from ._commands import (
    enqueue_read_to_file,
    enqueue_recv,
    enqueue_recv_rect,
    enqueue_send,
    enqueue_send_rect,
    enqueue_sendrecv,
    enqueue_write_from_file,
    peer_copy,
    wait_for_events,
)
from ._errors import (
    CancelledError,
    EndOfFileError,
    Error,
    FileError,
    PeerFailedError,
    TransferError,
    TruncatedError,
    last_error,
)
from ._futures import as_future, completion
from ._info import CommandType, TransferInfo, cancel, transfer_info
from ._mpi import attach_communicator
from ._options import Options, options
from .graph import ENDLESS, Graph, Rank

if TYPE_CHECKING:
    from ._requests import Request, event_from_request, irecv, isend, recv, send, start

#: The version of the library that is running.
__version__: str = _library.version().decode()

_with_mpi = ("Request", "event_from_request", "irecv", "isend", "recv", "send", "start")


def __getattr__(name: str) -> Any:
    # These are classes and functions of mpi4py's, whose import initialises MPI: not before they are used.
    if name in _with_mpi:
        from . import _requests

        return globals().setdefault(name, getattr(_requests, name))
    raise AttributeError(f"module 'causeway' has no attribute '{name}'")


__all__ = [
    "ENDLESS",
    "CancelledError",
    "CommandType",
    "EndOfFileError",
    "Error",
    "FileError",
    "Graph",
    "Options",
    "PeerFailedError",
    "Rank",
    "Request",
    "TransferError",
    "TransferInfo",
    "TruncatedError",
    "__version__",
    "as_future",
    "attach_communicator",
    "cancel",
    "completion",
    "enqueue_read_to_file",
    "enqueue_recv",
    "enqueue_recv_rect",
    "enqueue_send",
    "enqueue_send_rect",
    "enqueue_sendrecv",
    "enqueue_write_from_file",
    "event_from_request",
    "irecv",
    "isend",
    "last_error",
    "options",
    "peer_copy",
    "recv",
    "send",
    "start",
    "transfer_info",
    "wait_for_events",
]
