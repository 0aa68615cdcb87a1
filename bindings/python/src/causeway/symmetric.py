# SPDX-License-Identifier: Apache-2.0
"""One-sided device memory (causeway/symmetric.h): a heap of the same size on every rank, with pyopencl's arrays in it.

Every rank of a communicator is a processing element (PE) with one device. `init`, `empty`, `zeros`, `free`, `barrier`
and `finalize` are collective: all PEs call them, in the same order. An array of the heap, or a contiguous part of one,
then names the same elements on every PE; `put`, `get` and signals say which PE they mean, and that one takes no part.
The order in which others see what they do is in docs/memory-model.md.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import POINTER, byref, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl as cl
import pyopencl.array

from . import _mpi
from ._commands import DeviceArray, DeviceMemory, WaitList, _awaited, _location, _range
from ._errors import failed, refused
from ._handles import context_handle, device_handle, event_handle, queue_handle
from ._info import TransferInfo
from ._library import HANDLE, declare

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = [
    "atomic",
    "barrier",
    "empty",
    "fence",
    "finalize",
    "free",
    "get",
    "give_up",
    "init",
    "pe",
    "pes",
    "put",
    "quiet",
    "reduce",
    "signal",
    "wait",
    "zeros",
]

_EVENTS = [c_uint32, c_void_p, POINTER(c_void_p)]
_pe = declare("causeway_symmetric_pe", [])
_pes = declare("causeway_symmetric_pes", [])
_finalize = declare("causeway_symmetric_finalize", [])
_give_up = declare("causeway_symmetric_give_up", [])
_align = declare("causeway_symmetric_align", [c_size_t, c_size_t], c_void_p)
_calloc = declare("causeway_symmetric_calloc", [c_size_t, c_size_t], c_void_p)
_free = declare("causeway_symmetric_free", [c_void_p])
_buffer = declare("causeway_symmetric_buffer", [c_void_p, POINTER(c_size_t), POINTER(c_int)], c_void_p)
_address = declare("causeway_symmetric_address", [HANDLE, c_size_t], c_void_p)
_move = [HANDLE, HANDLE, c_uint32, c_size_t, c_size_t, c_void_p]
_put = declare("clEnqueuePut", [*_move, c_int, *_EVENTS])
_put_signal = declare("clEnqueuePutSignal", [*_move, c_void_p, c_uint64, c_uint32, c_int, *_EVENTS])
_get = declare("clEnqueueGet", [*_move, c_int, *_EVENTS])
_signal = declare("clEnqueueSignal", [HANDLE, c_uint32, c_void_p, c_uint64, c_uint32, c_int, *_EVENTS])
_wait = declare("clEnqueueWordWait", [HANDLE, c_uint32, c_void_p, c_size_t, c_uint32, c_uint64, *_EVENTS])
_atomic = declare(
    "clEnqueueSymmetricAtomic",
    [HANDLE, c_uint32, c_uint32, c_size_t, c_void_p, c_uint64, c_uint64, c_int, HANDLE, c_size_t, *_EVENTS],
)
_fence = declare("clEnqueueFence", [HANDLE, *_EVENTS])
_quiet = declare("clEnqueueQuiet", [HANDLE, c_uint32, *_EVENTS])
_barrier = declare("clEnqueueSymmetricBarrier", [HANDLE, c_uint32, *_EVENTS])
_reduce = declare(
    "clEnqueueSymmetricReduce",
    [HANDLE, c_uint32, c_void_p, c_void_p, c_size_t, c_uint32, c_uint32, *_EVENTS],
)

_COMPARISONS = {"==": 0, "!=": 1, ">": 2, ">=": 3, "<": 4, "<=": 5}
_SIGNED = 0x100
_SIGNALS = {"set": 0, "add": 1}
_ATOMICS = {"fetch": 0, "set": 1, "add": 2, "inc": 3, "compare_swap": 4, "swap": 5, "and": 6, "or": 7, "xor": 8}
_REDUCTIONS = {"sum": 0, "prod": 1, "min": 2, "max": 3, "and": 4, "or": 5, "xor": 6}
_ELEMENTS = {"i1": 0, "u1": 1, "i2": 2, "u2": 3, "i4": 4, "u4": 5, "i8": 6, "u8": 7, "f4": 8, "f8": 9}


def _number_of(names: dict[str, int], name: str) -> int:
    if name not in names:
        raise ValueError(f"{name!r} is none of {', '.join(names)}")
    return names[name]


def _check(name: str, code: int) -> None:
    if code:
        raise refused(name, code)


class Heap:
    """This process's part in the symmetric memory. Ends with its `with` block.

    If the block raises, this PE gives up: what the others wait for fails with an error that names it.
    """

    def __enter__(self) -> Heap:
        return self

    def __exit__(self, raised: type[BaseException] | None, *_: object) -> None:
        if _pe() < 0:
            return
        if raised is None:
            finalize()
        else:
            give_up()


def init(context: cl.Context, device: cl.Device, comm: MPI.Comm, heap_bytes: int) -> Heap:
    """Makes this rank of `comm` a PE with `device` and a heap of `heap_bytes` in its memory. Collective."""
    mpi = _mpi.bound()
    given = (context_handle(context), device_handle(device), mpi.handle_of(comm), heap_bytes)
    _check("causeway_symmetric_init", mpi.symmetric_init(*given))
    return Heap()


def finalize() -> None:
    """Waits for the one-sided commands of all PEs, and gives the heap back; its arrays are void. Collective."""
    _check("causeway_symmetric_finalize", _finalize())


def give_up() -> None:
    """Gives the heap back at once, because this PE's program has failed. What the others wait for fails, too."""
    _check("causeway_symmetric_give_up", _give_up())


def pe() -> int:
    """The number of this PE; -1 if this process is none."""
    return int(_pe())


def pes() -> int:
    """How many PEs there are."""
    return int(_pes())


def _array(queue: cl.CommandQueue, shape: int | tuple[int, ...], dtype: Any, address: int | None, name: str) -> Any:
    if not address:
        raise refused(name, cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE)
    offset = c_size_t()
    buffer = cl.Buffer.from_int_ptr(_buffer(address, byref(offset), None), retain=True)
    return cl.array.Array(queue, shape, dtype, data=buffer, offset=offset.value)


def _bytes_of(shape: int | tuple[int, ...], dtype: Any) -> int:
    """At least one: an array without elements is on the heap, too."""
    return max(int(np.prod(shape, dtype=np.int64)) * int(np.dtype(dtype).itemsize), 1)


def empty(queue: cl.CommandQueue, shape: int | tuple[int, ...], dtype: Any) -> Any:
    """A `pyopencl.array.Array` on the heap, with undefined contents. Collective. `free` gives it back."""
    return _array(queue, shape, dtype, _align(64, _bytes_of(shape, dtype)), "causeway_symmetric_align")


def zeros(queue: cl.CommandQueue, shape: int | tuple[int, ...], dtype: Any) -> Any:
    """The same, with zeros."""
    return _array(queue, shape, dtype, _calloc(_bytes_of(shape, dtype), 1), "causeway_symmetric_calloc")


def free(array: DeviceArray) -> None:
    """Gives an array back, whose first element must be its own. Collective."""
    _check("causeway_symmetric_free", _free(_address_of(array)))


def _address_of(array: DeviceArray) -> int:
    address = _address(array.base_data.int_ptr, array.offset)
    if not address:
        raise ValueError("the array is not in the symmetric heap")
    if not getattr(array, "flags").forc:
        raise ValueError("the array is not contiguous")
    return int(address)


def _word(array: DeviceArray) -> tuple[int, int, bool]:
    """Address, bytes, and whether it has a sign."""
    kind = np.dtype(array.dtype)
    if kind.kind not in "iu" or kind.itemsize not in (4, 8) or array.nbytes != kind.itemsize:
        raise TypeError("a word is one element of 32 or 64 bits, such as words[3:4]")
    return _address_of(array), kind.itemsize, kind.kind == "i"


def _signal_word(array: DeviceArray) -> int:
    address, size, _ = _word(array)
    if size != 8:
        raise TypeError("a signal is one element of 64 bits, such as signals[3:4]")
    return address


def _run(name: str, enqueue: Callable[..., int], *given: Any, wait_for: WaitList, blocking: bool = False) -> cl.Event:
    events = tuple(wait_for) if wait_for else ()
    handles = (c_void_p * len(events))(*map(event_handle, events)) if events else None
    made = c_void_p()
    code = enqueue(*given, len(events), handles, byref(made))
    if made.value is None:
        raise refused(name, code)
    event = cl.Event.from_int_ptr(made.value, retain=False)
    if blocking and event.command_execution_status < 0:
        raise failed(TransferInfo(event), name)
    return event


def put(
    queue: cl.CommandQueue,
    source: DeviceMemory,
    target: DeviceArray,
    pe: int,
    *,
    signal: DeviceArray | None = None,
    value: int = 1,
    operation: str = "set",
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """Puts `source`, any device memory, into `target` of PE `pe`; then sets `signal` there to `value`, or adds it.

    Who sees the signal sees the bytes.
    """
    handle, offset, size = _range(queue, source, 0, None)
    if size > target.nbytes:
        raise ValueError(f"{size} bytes do not fit into the target's {target.nbytes}")
    moved = (queue_handle(queue), handle, blocking, offset, size, _address_of(target))
    events = _awaited(wait_for, source)
    if signal is None:
        return _run("clEnqueuePut", _put, *moved, pe, wait_for=events, blocking=blocking)
    then = (_signal_word(signal), value, _number_of(_SIGNALS, operation), pe)
    return _run("clEnqueuePutSignal", _put_signal, *moved, *then, wait_for=events, blocking=blocking)


def get(
    queue: cl.CommandQueue,
    target: DeviceMemory,
    source: DeviceArray,
    pe: int,
    *,
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """Gets `source` of PE `pe` into `target`, any device memory, as much as that has room for."""
    handle, offset, size = _range(queue, target, 0, None)
    size = min(size, source.nbytes)
    moved = (queue_handle(queue), handle, blocking, offset, size, _address_of(source))
    return _run("clEnqueueGet", _get, *moved, pe, wait_for=_awaited(wait_for, target), blocking=blocking)


def signal(
    queue: cl.CommandQueue,
    word: DeviceArray,
    value: int,
    pe: int,
    *,
    operation: str = "set",
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """Sets the signal `word` of PE `pe` to `value`, or adds it."""
    given = (queue_handle(queue), blocking, _signal_word(word), value, _number_of(_SIGNALS, operation), pe)
    return _run("clEnqueueSignal", _signal, *given, wait_for=wait_for, blocking=blocking)


def wait(
    queue: cl.CommandQueue,
    word: DeviceArray,
    value: int,
    comparison: str = ">=",
    *,
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """Is complete when this PE's `word` compares with `value`; what was put before it was signalled is there then."""
    address, size, has_sign = _word(word)
    how = _number_of(_COMPARISONS, comparison) | (_SIGNED if has_sign else 0)
    given = (queue_handle(queue), blocking, address, size, how, value & 0xFFFF_FFFF_FFFF_FFFF)
    return _run("clEnqueueWordWait", _wait, *given, wait_for=wait_for, blocking=blocking)


def atomic(
    queue: cl.CommandQueue,
    operation: str,
    word: DeviceArray,
    pe: int,
    operand: int = 0,
    compared: int = 0,
    *,
    result: DeviceMemory | None = None,
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """An atomic operation on `word` of PE `pe`: fetch, set, add, inc, compare_swap, swap, and, or, xor.

    What was there before goes to `result`.
    """
    address, size, _ = _word(word)
    handle, offset = (None, 0) if result is None else _location(queue, result)
    mask = 0xFFFF_FFFF_FFFF_FFFF
    given = (queue_handle(queue), blocking, _number_of(_ATOMICS, operation), size, address, operand & mask)
    rest = (compared & mask, pe, handle, offset)
    events = wait_for if result is None else _awaited(wait_for, result)
    return _run("clEnqueueSymmetricAtomic", _atomic, *given, *rest, wait_for=events, blocking=blocking)


def fence(queue: cl.CommandQueue, *, wait_for: WaitList = None) -> cl.Event:
    """One-sided commands of this PE that come behind it begin when those before it have ended."""
    return _run("clEnqueueFence", _fence, queue_handle(queue), wait_for=wait_for)


def quiet(queue: cl.CommandQueue, *, wait_for: WaitList = None, blocking: bool = False) -> cl.Event:
    """The same, and fails with the first failure of a command before it."""
    return _run("clEnqueueQuiet", _quiet, queue_handle(queue), blocking, wait_for=wait_for, blocking=blocking)


def barrier(queue: cl.CommandQueue, *, wait_for: WaitList = None, blocking: bool = False) -> cl.Event:
    """A fence that is complete when all PEs have come to theirs. Collective."""
    given = (queue_handle(queue), blocking)
    return _run("clEnqueueSymmetricBarrier", _barrier, *given, wait_for=wait_for, blocking=blocking)


def reduce(
    queue: cl.CommandQueue,
    target: DeviceArray,
    source: DeviceArray,
    operation: str = "sum",
    *,
    wait_for: WaitList = None,
    blocking: bool = False,
) -> cl.Event:
    """Element by element of all PEs' `source`: sum, prod, min, max, and, or, xor. Collective; all have the result."""
    kind = np.dtype(source.dtype)
    if np.dtype(target.dtype) != kind or target.nbytes != source.nbytes:
        raise TypeError("target and source differ in type or size")
    element = _number_of(_ELEMENTS, kind.str[1:])
    what = (source.nbytes // kind.itemsize, element, _number_of(_REDUCTIONS, operation))
    given = (queue_handle(queue), blocking, _address_of(target), _address_of(source), *what)
    events = _awaited(_awaited(wait_for, source), target)
    return _run("clEnqueueSymmetricReduce", _reduce, *given, wait_for=events, blocking=blocking)
