# SPDX-License-Identifier: Apache-2.0
"""Descriptors of Python's file objects, where these read and write nothing but what lies behind them."""

from __future__ import annotations

import io
from typing import IO, Any

BinaryFile = IO[bytes] | int


def descriptor_of(file: Any) -> int:
    """Of a binary file or a descriptor; what Python has buffered is written first.

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
