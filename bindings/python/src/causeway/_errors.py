# SPDX-License-Identifier: Apache-2.0
"""Exceptions: pyopencl's own classes, with the library's text, and the cause behind them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pyopencl as cl
from pyopencl import _cl

from . import _library

if TYPE_CHECKING:
    from ._info import TransferInfo

END_OF_FILE = -31001
IO_ERROR = -31002
MESSAGE_TRUNCATED = -31003
PEER_FAILED = -31004
CANCELLED = -31005


class _WithText(cl.Error):
    """Shows what the library says; pyopencl knows neither our codes nor our causes."""

    def __init__(self, routine: str, code: int, text: str) -> None:
        # pyopencl's attributes `code` and `routine` come from its record.
        super().__init__(_cl._ErrorRecord(routine, code, text))
        self.text = text

    def __str__(self) -> str:
        return f"{self.text} ({self.code})"


class Error(_WithText, cl.LogicError):
    """A call was refused and had no effect. Also a `pyopencl.LogicError`."""


class TransferError(_WithText, cl.RuntimeError):
    """A transfer failed after it was enqueued. `info` tells the rest. Also a `pyopencl.RuntimeError`."""

    info: TransferInfo


class EndOfFileError(TransferError, EOFError):
    """The file ended early; `info.bytes_moved` says where."""


class FileError(TransferError):
    """Reading or writing failed; `__cause__` is the OSError."""


class TruncatedError(TransferError):
    """The message was larger than the receive."""


class PeerFailedError(TransferError):
    """The other rank died, gave up or left MPI; or MPI failed."""


class CancelledError(TransferError):
    """The transfer was cancelled, by `cancel` or by the end of MPI or of the process."""


_classes: dict[int, type[TransferError]] = {
    END_OF_FILE: EndOfFileError,
    IO_ERROR: FileError,
    MESSAGE_TRUNCATED: TruncatedError,
    PEER_FAILED: PeerFailedError,
    CANCELLED: CancelledError,
}


def last_error() -> str:
    """Why the calling thread's last call was refused; empty if none was."""
    return str(_library.error_last_message().decode(errors="replace"))


def refused(routine: str, code: int) -> Error:
    """The exception for a call that returned `code`."""
    return Error(routine, code, last_error() or f"{routine} failed")


def failed(info: TransferInfo, routine: str = "transfer") -> TransferError:
    """The exception for a transfer that has failed, with its cause chained."""
    code = info.status
    error = _classes.get(code, TransferError)(routine, code, info.error_message or f"{routine} failed")
    error.info = info
    if info.errno:
        error.__cause__ = OSError(info.errno, os.strerror(info.errno))
    elif info.mpi_error_class:
        from mpi4py import MPI

        error.__cause__ = MPI.Exception(info.mpi_error_class)
    return error
