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


def queue_handle(queue: Any) -> int:
    if isinstance(queue, cl.CommandQueue):
        return queue.int_ptr
    raise wrong_kind("a pyopencl.CommandQueue", queue)


def event_handle(event: Any) -> int:
    if isinstance(event, cl.Event):
        return event.int_ptr
    raise wrong_kind("a pyopencl.Event", event)


def context_handle(context: Any) -> int:
    if isinstance(context, cl.Context):
        return context.int_ptr
    raise wrong_kind("a pyopencl.Context", context)


def device_handle(device: Any) -> int:
    if isinstance(device, cl.Device):
        return device.int_ptr
    raise wrong_kind("a pyopencl.Device", device)
