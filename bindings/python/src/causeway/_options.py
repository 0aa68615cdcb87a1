# SPDX-License-Identifier: Apache-2.0
"""Options of the library at run time."""

from __future__ import annotations

import contextlib
import ctypes
import json
from collections.abc import Iterator, Mapping

from . import _library
from ._errors import last_error


class Options(Mapping[str, str]):
    """`causeway.options["block"] = "4M"`: holds for transfers that start afterwards. docs/options.md lists them.

    Read as any mapping: `dict(causeway.options)` has them all."""

    def __iter__(self) -> Iterator[str]:
        text = ctypes.create_string_buffer(_library.options_text(None, 0) + 4096)  # another thread may set a longer value
        _library.options_text(text, len(text))
        return iter([each["name"] for each in json.loads(text.value)])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, name: str) -> str:
        if not isinstance(name, str):
            raise KeyError(name)
        length = _library.option_get(name.encode(), None, 0)
        if length < 0:
            raise KeyError(last_error())
        text = ctypes.create_string_buffer(length + 1)
        _library.option_get(name.encode(), text, len(text))
        return text.value.decode()

    def __setitem__(self, name: str, value: str | int) -> None:
        if _library.option_set(name.encode(), str(value).encode()) == 0:
            return
        reason = last_error()
        _ = self[name]  # a KeyError for a name that does not exist
        raise ValueError(reason)

    @contextlib.contextmanager
    def set(self, **values: str | int) -> Iterator[None]:
        """Sets options for the body of a `with` statement; for the whole process, as all options."""
        before = {name: self[name] for name in values}
        try:
            for name, value in values.items():
                self[name] = value
            yield
        finally:
            for name, old in before.items():
                self[name] = old


options = Options()
