# SPDX-License-Identifier: Apache-2.0
"""Handles of pyopencl's objects, of the right kind: C would take any address for what it asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyopencl as cl

# For enqueues: pyopencl's own getters, which look at the kind as they go. Their TypeError does not say what is wanted.
bare_queue_handle: Callable[[Any], int] = vars(cl.CommandQueue)["int_ptr"].fget
bare_event_handle: Callable[[Any], int] = vars(cl.Event)["int_ptr"].fget


def wrong_kind(wanted: str, given: Any) -> TypeError:
    return TypeError(f"{wanted} is wanted here, not {type(given).__name__}")


def _handle(kind: type, name: str) -> Callable[[Any], int]:
    def of(given: Any) -> int:
        if isinstance(given, kind):
            return int(given.int_ptr)  # type: ignore[attr-defined]
        raise wrong_kind(name, given)

    return of


queue_handle = _handle(cl.CommandQueue, "a pyopencl.CommandQueue")
event_handle = _handle(cl.Event, "a pyopencl.Event")
context_handle = _handle(cl.Context, "a pyopencl.Context")
device_handle = _handle(cl.Device, "a pyopencl.Device")
