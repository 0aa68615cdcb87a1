# SPDX-License-Identifier: Apache-2.0
"""Stream graphs: name kernels and streams, connect them, execute; memory, copies and overlap are the library's."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Sequence
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import pyopencl as cl

from . import _mpi
from ._errors import refused
from ._files import APPEND, BinaryFile, descriptor_of, move_to, position_of
from ._handles import context_handle, device_handle
from ._host_memory import HostRange
from ._library import HANDLE, declare

if TYPE_CHECKING:
    from mpi4py import MPI

#: The size of a stream that ends when its function, file or rank says so.
ENDLESS = 2**64 - 1
_TOKEN_FAILED = ctypes.c_size_t(-1).value
_FUNCTION_FAILED = -5  # any negative code: the exception itself is what the caller gets

_Reader = CFUNCTYPE(c_size_t, c_void_p, c_uint64, c_void_p, c_size_t)
_Writer = CFUNCTYPE(c_int32, c_void_p, c_uint64, c_void_p, c_size_t)
_HostFunction = CFUNCTYPE(c_int32, c_void_p, c_uint64, POINTER(c_void_p), POINTER(c_void_p))


class _Kernel(ctypes.Structure):
    _fields_ = [
        ("source", c_char_p),
        ("function", c_char_p),
        ("options", c_char_p),
        ("binary", c_void_p),
        ("binary_size", c_size_t),
        ("kernel", c_void_p),
        ("context", c_void_p),
        ("device", c_void_p),
        ("parameters", c_void_p),
        ("parameters_size", c_size_t),
        ("work_dim", c_uint32),
        ("global_size", c_size_t * 3),
        ("local_size", c_size_t * 3),
        ("item_size", c_size_t),
    ]


class _Edge(ctypes.Structure):
    _fields_ = [
        ("source_position", c_uint32),
        ("target_position", c_uint32),
        ("produced_size", c_size_t),
        ("consumed_size", c_size_t),
        ("delay_size", c_size_t),
        ("initial", c_void_p),
        ("before_size", c_size_t),
        ("after_size", c_size_t),
    ]


_create = declare("causeway_graph_create", [HANDLE, HANDLE, c_void_p])
_release = declare("causeway_graph_release", [HANDLE], None)
_memory = [HANDLE, c_char_p, c_void_p, c_size_t, c_size_t]
_add_input_stream = declare("causeway_graph_add_input_stream", _memory)
_add_output_stream = declare("causeway_graph_add_output_stream", _memory)
_add_input_function = declare(
    "causeway_graph_add_input_function", [HANDLE, c_char_p, _Reader, HANDLE, c_uint64, c_size_t]
)
_add_output_function = declare(
    "causeway_graph_add_output_function", [HANDLE, c_char_p, _Writer, HANDLE, c_uint64, c_size_t]
)
_descriptor = [HANDLE, c_char_p, c_int, c_int64, c_uint64, c_size_t]
_add_input_descriptor = declare("causeway_graph_add_input_descriptor", _descriptor)
_add_output_descriptor = declare("causeway_graph_add_output_descriptor", _descriptor)
_set_file_offset = declare("causeway_graph_set_file_offset", [HANDLE, c_char_p, c_int64])
_use_page_locked = declare("causeway_graph_use_page_locked", [HANDLE, c_char_p])
_add_kernel = declare("causeway_graph_add_kernel", [HANDLE, c_char_p, POINTER(_Kernel)])
_set_argument = declare("causeway_graph_set_argument", [HANDLE, c_char_p, c_uint32, c_size_t, c_void_p])
_add_host_function = declare("causeway_graph_add_host_function", [HANDLE, c_char_p, _HostFunction, HANDLE])
_connect_edge = declare("causeway_graph_connect_edge", [HANDLE, c_char_p, c_char_p, POINTER(_Edge)])
_connect = declare("causeway_graph_connect", [HANDLE, c_char_p, c_uint32, c_char_p, c_uint32, c_size_t])
_initialize = declare("causeway_graph_initialize", [HANDLE])
_execute = declare("causeway_graph_execute", [HANDLE])
_stop = declare("causeway_graph_stop", [HANDLE])
_token_size = declare("causeway_graph_token_size", [HANDLE, c_char_p, POINTER(c_size_t)])
_token_count = declare("causeway_graph_token_count", [HANDLE, c_char_p, POINTER(c_uint64)])
_explain = declare("causeway_graph_explain", [HANDLE], c_char_p)
_to_dot = declare("causeway_graph_to_dot", [HANDLE], c_char_p)


class Rank(NamedTuple):
    """The other end of a stream: a graph of another rank."""

    comm: MPI.Comm
    rank: int
    tag: int = 0


class _File(NamedTuple):
    """A stream at the position of its file."""

    name: str
    file: BinaryFile
    size: int | None
    is_input: bool


Reader = Callable[[int, memoryview], int]
Writer = Callable[[int, memoryview], None]
HostFunction = Callable[[int, list[memoryview], list[memoryview]], None]


class _Tokens:
    """Tokens as a function sees them, for one call: their memory is other tokens' afterwards."""

    def __init__(self) -> None:
        self._seen: list[tuple[Any, memoryview]] = []

    def view(self, address: int, size: int) -> memoryview:
        memory = (ctypes.c_char * size).from_address(address) if size else bytearray()
        view = memoryview(memory).cast("B")
        self._seen.append((memory, view))
        return view

    def view_to_read(self, address: int, size: int) -> memoryview:
        view = self.view(address, size).toreadonly()
        self._seen.append((None, view))
        return view

    def __enter__(self) -> _Tokens:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        kept = False
        for seen in self._seen:
            try:
                seen[1].release()
            except BufferError:  # an array has been made of it
                kept = True
        # A slice is a view of its own, which only the memory knows of.
        kept = kept or _most_references(self._seen) > _references_of_ours
        if kept and kind is None:
            raise BufferError("the function keeps a view of its token, whose memory is used again; copy the token")


def _most_references(seen: list[tuple[Any, memoryview]]) -> int:
    return max((sys.getrefcount(memory) for memory, _ in seen if memory is not None), default=0)


# Python 3.14 counts fewer of them than those before.
_references_of_ours = _most_references([(bytearray(), memoryview(b""))])


class Graph:
    """A stream graph whose kernels run on `device` of `context` (its first) unless they say otherwise.

    A context manager, which stops the run that another thread is in and waits for its end; else `release` or the
    garbage collector ends it. Not for use by two threads at once, but for `stop` and `token_count`. docs/graph.md explains nodes, tokens, delays and windows.
    """

    def __init__(self, context: cl.Context, device: cl.Device | None = None) -> None:
        self._handle = c_void_p()
        self._state = threading.Condition()  # guards _handle and _running
        self._running: list[int] = []  # threads in execute
        self._kept: list[Any] = []  # memory and functions that the graph uses
        self._files: list[_File] = []  # of streams at the positions of their files
        self._raised: BaseException | None = None
        where = context_handle(context), device_handle(device or context.devices[0])
        code = _create(*where, ctypes.byref(self._handle))
        self._check(code, "causeway_graph_create")

    def release(self) -> None:
        """Ends the graph. A `RuntimeError` while it executes."""
        with self._state:
            if self._running:
                raise RuntimeError("the graph is being executed: stop() it, and release it when execute() has returned")
            handle, self._handle = self._handle, c_void_p()
        _release(handle)
        self._kept.clear()

    def __enter__(self) -> Graph:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._state:
            # A function of the graph would wait for itself.
            while self._running and threading.get_ident() not in self._running:
                _stop(self._handle)  # without effect before the run begins
                self._state.wait(0.01)
            self.release()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _release(self._handle)

    @staticmethod
    def _check(code: int, routine: str) -> None:
        if code:
            raise refused(routine, code)

    def add_input(
        self,
        name: str,
        source: Any,
        *,
        size: int | None = None,
        token_size: int = 0,
        file_offset: int | None = None,
    ) -> None:
        """A stream that begins in host memory, a function, a file that can seek (object or descriptor), or a
        `Rank`.

        Memory has its own size; the others `size` bytes, or end by themselves. A function fills the token that it
        is given (and may not keep) and returns its size, or 0 at the end. A `token_size` of 0 is the library's choice,
        for memory.

        Without `file_offset` each run begins at the file's position, and leaves that behind the last token that it
        took; with one, each run begins there, and the position stays.
        """
        self._add(name, source, size, token_size, file_offset, is_input=True)

    def add_output(
        self,
        name: str,
        target: Any,
        *,
        size: int | None = None,
        token_size: int = 0,
        file_offset: int | None = None,
    ) -> None:
        """A stream that ends in writable host memory, a function that takes tokens, a file, or a `Rank`.

        A file is written where `add_input` would read it; in append mode, without `file_offset`, at its end.
        """
        self._add(name, target, size, token_size, file_offset, is_input=False)

    def _add(
        self, name: str, end: Any, size: int | None, token_size: int, file_offset: int | None, *, is_input: bool
    ) -> None:
        total = ENDLESS if size is None else size
        key = name.encode()
        if isinstance(end, Rank):
            mpi = _mpi.bound()
            add = mpi.add_graph_input if is_input else mpi.add_graph_output
            code = add(self._handle, key, end.rank, end.tag, mpi.handle_of(end.comm), total, token_size)
        elif isinstance(end, int) or hasattr(end, "fileno"):
            add = _add_input_descriptor if is_input else _add_output_descriptor
            descriptor = descriptor_of(end)
            at = position_of(end, written=not is_input) if file_offset is None else file_offset
            if file_offset is not None and file_offset < 0:
                raise ValueError(f"stream '{name}': the file offset {file_offset} is negative")
            code = add(self._handle, key, descriptor, at, total, token_size)
            if file_offset is None and not code:
                self._files.append(_File(name, end, size, is_input))
        elif callable(end):
            add, call = (
                (_add_input_function, _Reader(self._reader(end)))
                if is_input
                else (_add_output_function, _Writer(self._writer(end)))
            )
            self._kept.append(call)
            code = add(self._handle, key, call, None, total, token_size)
        else:
            memory = HostRange(end, writable=not is_input)
            self._kept.append(memory)
            if size not in (None, memory.size):
                raise ValueError(f"stream '{name}': the memory has {memory.size} bytes, not {size}")
            add = _add_input_stream if is_input else _add_output_stream
            code = add(self._handle, key, memory.address, memory.size, token_size)
        self._check(code, "causeway_graph_add_" + ("input" if is_input else "output"))

    def use_page_locked(self, stream: str) -> None:
        """The memory of a stream is page-locked (a mapped ALLOC_HOST_PTR buffer): devices copy to and from it."""
        self._check(_use_page_locked(self._handle, stream.encode()), "causeway_graph_use_page_locked")

    # An exception must not pass through C: it is kept for execute(), and the run ends.

    def _reader(self, function: Reader) -> Callable[[int | None, int, int, int], int]:
        def read(user: int | None, number: int, token: int, size: int) -> int:
            try:
                with _Tokens() as tokens:
                    return int(function(number, tokens.view(token, size)))
            except BaseException as error:
                self._raised = error
                return _TOKEN_FAILED

        return read

    def _writer(self, function: Writer) -> Callable[[int | None, int, int, int], int]:
        def write(user: int | None, number: int, token: int, size: int) -> int:
            try:
                with _Tokens() as tokens:
                    function(number, tokens.view_to_read(token, size))
                return 0
            except BaseException as error:
                self._raised = error
                return _FUNCTION_FAILED

        return write

    def add_kernel(
        self,
        name: str,
        kernel: cl.Kernel | str | bytes,
        function: str | None = None,
        *,
        options: str = "",
        parameters: Any = None,
        global_size: Sequence[int] = (),
        local_size: Sequence[int] = (),
        item_size: int = 0,
        device: cl.Device | None = None,
        context: cl.Context | None = None,
    ) -> None:
        """A kernel: pyopencl's, or OpenCL C or a binary for the device, and the name of its function.

        Its arguments are `parameters` by value (anything with the buffer protocol, such as a NumPy scalar), inputs,
        outputs; see `set_argument`. Instead of a `global_size`, `item_size` asks for a work item per so many bytes
        of the first output.
        """
        given = HostRange(parameters, writable=False) if parameters is not None else None
        described = _Kernel(
            options=options.encode(),
            context=context_handle(context) if context else None,
            device=device_handle(device) if device else None,
            parameters=given.address if given else None,
            parameters_size=given.size if given else 0,
            work_dim=len(global_size),
            global_size=(c_size_t * 3)(*global_size),
            local_size=(c_size_t * 3)(*local_size),
            item_size=item_size,
        )
        code = HostRange(kernel, writable=False) if isinstance(kernel, bytes) else None
        if isinstance(kernel, cl.Kernel):
            described.kernel = kernel.int_ptr
        else:
            described.function = (function or name).encode()
        if isinstance(kernel, str):
            described.source = kernel.encode()
        if code:
            described.binary, described.binary_size = code.address, code.size
        self._check(_add_kernel(self._handle, name.encode(), ctypes.byref(described)), "causeway_graph_add_kernel")

    def set_argument(self, kernel: str, index: int, value: Any) -> None:
        """Gives a value to an argument that is no input and no output: a `pyopencl.Buffer`,
        `pyopencl.LocalMemory`, or bytes by value."""
        if isinstance(value, cl.LocalMemory):
            code = _set_argument(self._handle, kernel.encode(), index, value.size, None)
        elif isinstance(value, cl.MemoryObjectHolder):
            self._kept.append(value)  # an argument does not retain its buffer
            handle = c_void_p(value.int_ptr)
            code = _set_argument(self._handle, kernel.encode(), index, ctypes.sizeof(handle), ctypes.byref(handle))
        else:
            given = HostRange(value, writable=False)
            code = _set_argument(self._handle, kernel.encode(), index, given.size, given.address)
        self._check(code, "causeway_graph_set_argument")

    def add_function(
        self, name: str, function: HostFunction, *, inputs: Sequence[int], outputs: Sequence[int]
    ) -> None:
        """A node that runs on the host, in the thread of `execute`: `function(number, inputs, outputs)`.

        `inputs` and `outputs` say how many bytes the function sees of each token, by position.
        """

        def call(user: int | None, number: int, taken: Any, given: Any) -> int:
            try:
                with _Tokens() as tokens:
                    read = [tokens.view_to_read(taken[at], size) for at, size in enumerate(inputs)]
                    written = [tokens.view(given[at], size) for at, size in enumerate(outputs)]
                    function(number, read, written)
                return 0
            except BaseException as error:
                self._raised = error
                return _FUNCTION_FAILED

        kept = _HostFunction(call)
        self._kept.append(kept)
        self._check(_add_host_function(self._handle, name.encode(), kept, None), "causeway_graph_add_host_function")

    def connect(
        self,
        source: str,
        target: str,
        token_size: int = 0,
        *,
        source_position: int = 0,
        target_position: int = 0,
        consumed_size: int | None = None,
        delay_size: int = 0,
        initial: Any = None,
        before_size: int = 0,
        after_size: int = 0,
    ) -> None:
        """Connects an output with an input. `token_size` is what a firing of the source gives; of the target
        takes, unless `consumed_size` says otherwise. The rest is `causeway_edge`'s: delays for loops, and
        windows."""
        key, other = source.encode(), target.encode()
        if consumed_size is None and not (delay_size or initial is not None or before_size or after_size):
            code = _connect(self._handle, key, source_position, other, target_position, token_size)
        else:
            values = HostRange(initial, writable=False) if initial is not None else None
            edge = _Edge(
                source_position=source_position,
                target_position=target_position,
                produced_size=token_size,
                consumed_size=token_size if consumed_size is None else consumed_size,
                delay_size=values.size if values else delay_size,
                initial=values.address if values else None,
                before_size=before_size,
                after_size=after_size,
            )
            code = _connect_edge(self._handle, key, other, ctypes.byref(edge))
        self._check(code, "causeway_graph_connect")

    def initialize(self) -> None:
        """Checks the graph, allocates its buffers, binds its kernels. Once."""
        self._check(_initialize(self._handle), "causeway_graph_initialize")

    def execute(self) -> None:
        """Runs to the end of all streams. Other threads of Python go on meanwhile. What a function raises is
        raised here."""
        with self._state:
            self._running.append(threading.get_ident())
        self._raised = None
        try:
            begins = [self._begin(each) for each in self._files]
            code = _execute(self._handle)
            if not code or self._raised is not None:
                for each, begin in zip(self._files, begins):
                    self._end(each, begin)
        finally:
            with self._state:
                self._running.remove(threading.get_ident())
                self._state.notify_all()
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        self._check(code, "causeway_graph_execute")

    def _begin(self, stream: _File) -> int:
        """Has the stream begin at its file's position, which is returned."""
        descriptor_of(stream.file)  # writes what Python has buffered
        position = position_of(stream.file, written=not stream.is_input)
        self._check(_set_file_offset(self._handle, stream.name.encode(), position), "causeway_graph_set_file_offset")
        return position

    def _end(self, stream: _File, begin: int) -> None:
        if begin == APPEND:
            return
        passed = self.token_count(stream.name) * self.token_size(stream.name)
        if stream.size is not None:
            passed = min(passed, stream.size)
        if stream.is_input:
            descriptor = stream.file if isinstance(stream.file, int) else stream.file.fileno()
            passed = min(passed, max(os.fstat(descriptor).st_size - begin, 0))
        move_to(stream.file, begin + passed)

    def stop(self) -> None:
        """From any thread, also from a function of the graph: the run ends early, without an error."""
        with self._state:
            code = _stop(self._handle)
        self._check(code, "causeway_graph_stop")

    def token_size(self, stream: str) -> int:
        """After `initialize`: bytes of a token, also where the library chose them."""
        size = c_size_t()
        self._check(_token_size(self._handle, stream.encode(), ctypes.byref(size)), "causeway_graph_token_size")
        return size.value

    def token_count(self, stream: str) -> int:
        """From any thread: how many tokens the run, or else the last one, has begun with."""
        count = c_uint64()
        with self._state:
            code = _token_count(self._handle, stream.encode(), ctypes.byref(count))
        self._check(code, "causeway_graph_token_count")
        return count.value

    def _text(self, function: Any) -> str:
        text = function(self._handle)
        if text is None:
            raise refused(function.__name__, -59)  # CL_INVALID_OPERATION: not initialised
        return str(text.decode())

    def explain(self) -> str:
        """After `initialize`: stages, buffers, bytes and the predicted time of a period."""
        return self._text(_explain)

    def to_dot(self) -> str:
        """The graph for Graphviz."""
        return self._text(_to_dot)
