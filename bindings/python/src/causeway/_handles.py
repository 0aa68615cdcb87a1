# SPDX-License-Identifier: Apache-2.0
"""Handles of pyopencl's objects, of the right kind: C would take any address for what it asked for."""

from __future__ import annotations

from typing import Any

import pyopencl as cl

# Looked up once, as each enqueue asks.
_Context = cl.Context
_Event = cl.Event
_Queue = cl.CommandQueue


def wrong_kind(wanted: str, given: Any) -> TypeError:
    return TypeError(f"{wanted} is wanted here, not {type(given).__name__}")


def queue_handle(queue: Any) -> int:
    if isinstance(queue, _Queue):
        return queue.int_ptr
    raise wrong_kind("a pyopencl.CommandQueue", queue)


def event_handle(event: Any) -> int:
    if isinstance(event, _Event):
        return event.int_ptr
    raise wrong_kind("a pyopencl.Event", event)


def context_handle(context: Any) -> int:
    if isinstance(context, _Context):
        return context.int_ptr
    raise wrong_kind("a pyopencl.Context", context)


def device_handle(device: Any) -> int:
    if isinstance(device, cl.Device):
        return device.int_ptr
    raise wrong_kind("a pyopencl.Device", device)
