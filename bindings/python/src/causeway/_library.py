# SPDX-License-Identifier: Apache-2.0
"""Finds libcauseway, loads it, and declares the functions that need no MPI."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_int, c_int64, c_long, c_size_t, c_uint32, c_void_p
from pathlib import Path
from typing import Any

# pyopencl first: its handles exist before the library sees one.
import pyopencl as _pyopencl  # noqa: F401

HANDLE = c_void_p
STATUS = c_int

_SONAME = "libcauseway.so.0"


def _library_path() -> str:
    """LIBCAUSEWAY, else the library that the package was installed with, else the one that the system finds."""
    if chosen := os.environ.get("LIBCAUSEWAY"):
        return chosen
    try:
        from ._installed import LIBRARY
    except ImportError:  # run from the source tree
        return _SONAME
    # An absolute path stays what it is.
    return str(Path(__file__).parent / LIBRARY)


def _load() -> ctypes.CDLL:
    path = _library_path()
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"cannot load {path}: {error}. Install the library (make install), or name it in the environment "
            f"variable LIBCAUSEWAY; it needs the MPI and the OpenCL loader that it was built with."
        ) from error


#: Its functions release the interpreter lock while they run.
library = _load()


def declare(name: str, arguments: list[Any] | None, result: Any = STATUS) -> Any:
    """The C function `name`, with types; a call with other arguments raises instead of crashing."""
    function = getattr(library, name)
    function.argtypes = arguments
    function.restype = result
    return function


version = declare("causeway_version", [], c_char_p)
option_set = declare("causeway_option_set", [c_char_p, c_char_p])
option_get = declare("causeway_option_get", [c_char_p, c_char_p, c_size_t])
options_text = declare("causeway_options", [c_char_p, c_size_t], c_long)
error_last_message = declare("causeway_error_last_message", [], c_char_p)

get_transfer_info = declare("clGetTransferInfo", [HANDLE, c_uint32, c_size_t, c_void_p, POINTER(c_size_t)])
cancel_transfer = declare("clCancelTransfer", [HANDLE])
#: Without declared arguments, whose conversions would take most of a call's time: a c_int, bytes, a c_int.
enqueue_packed = declare("causeway_enqueue_packed", None, c_int64)
