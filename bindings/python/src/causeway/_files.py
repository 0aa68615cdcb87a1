# SPDX-License-Identifier: Apache-2.0
"""Descriptors and positions of Python's file objects, where these read and write nothing but what lies behind them."""

from __future__ import annotations

import fcntl
import io
import os
from typing import IO, Any

BinaryFile = IO[bytes] | int


def descriptor_of(file: Any) -> int:
    """Of a binary file or a descriptor; what Python has buffered is written first, and what it has read ahead of a file
    that is also written is forgotten.

    The descriptor of a compressed file (gzip, bz2, lzma) would move compressed bytes.
    """
    if isinstance(file, int):
        return file
    # What buffers has the file as `raw`, and a named temporary one without a buffer as `file`.
    plain = getattr(file, "raw", None) or getattr(file, "file", file)
    if not isinstance(plain, io.FileIO):
        if isinstance(file, io.TextIOBase):
            raise TypeError("open the file in binary mode: transfers move bytes")
        kind = type(file).__name__
        raise TypeError(f"{kind} is no plain file: transfers would pass it by; use its contents, or open()")
    if file.writable():
        file.flush()
    return int(file.fileno())


#: Stands for the end of the file, wherever that is at the time of the write (CL_TRANSFER_APPEND).
APPEND = -0x0CA50001


def position_of(file: BinaryFile, *, written: bool) -> int:
    """Where a transfer takes place that is not told: at the file's position, or `APPEND` if it writes in append mode."""
    descriptor = file if isinstance(file, int) else file.fileno()
    if written and fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND:
        return APPEND
    return os.lseek(file, 0, os.SEEK_CUR) if isinstance(file, int) else file.tell()


def move_to(file: BinaryFile, position: int) -> None:
    """Moves the file's position there, unless it is `APPEND`."""
    if position < 0:
        return
    if isinstance(file, int):
        os.lseek(file, position, os.SEEK_SET)
    else:
        file.seek(position)
