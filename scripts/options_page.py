#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes docs/options.md from the option table; with --check, says whether it is up to date.
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
table = (root / "src/base/options.def").read_text()
page = root / "docs/options.md"

head = """<!-- Made from src/base/options.def by scripts/options_page.py: edit those. -->
# Options

Every option can be set in the environment as `CAUSEWAY_<NAME>`, read at the first call, and at run time by
`causeway_option_set("<name>", "<value>")`, which holds for transfers that start afterwards. The I/O threads that `lanes`
asks for are there from the first transfer on; later it can only be lowered. Sizes take the suffixes `K`, `M` and `G`.
Where the values are off and on, 0 and 1 mean the same. What the platform reads cannot be set at run time.
A variable that starts with `CAUSEWAY_` and is no option is ignored with a warning on standard error.

| option | environment | default | values | what it does |
|---|---|---|---|---|
"""


def size(text: str) -> str:
    match = re.fullmatch(r"(\d+)(?:ull)? << (\d+)", text)
    value = int(match[1]) << int(match[2]) if match else int(text)
    for shift, unit in ((40, "T"), (30, "G"), (20, "M"), (10, "K")):
        if value and value % (1 << shift) == 0:
            return f"{value >> shift}{unit}"
    return str(value)


rows = []
pattern = r'^CAUSEWAY_OPTION\((\w+), (\w+), ([^,]+), ([^,]+), ([^,]+), "([^"]*)", (\w+),\s*"([^"]*)"\)'
for name, kind, default, low, high, unit, reader, sentence in re.findall(pattern, table, re.M):
    if kind in ("choice", "on_off"):
        words = unit.split("|")
        default, values = words[int(default)], ", ".join(words)
    elif kind == "text":
        default, values = "(empty)", f"a {unit}"
    else:
        show = size if kind == "bytes" else str
        default, values = show(default), f"{show(low)} to {show(high)} {unit}"
    if reader == "platform":
        sentence += " Read from the environment alone."
    rows.append(f"| `{name}` | `CAUSEWAY_{name.upper()}` | {default} | {values} | {sentence} |")

if len(rows) != len(re.findall(r"^CAUSEWAY_OPTION\(", table, re.M)):
    sys.exit("options_page: a row of the table is not understood")
text = head + "\n".join(rows) + "\n"
if "--check" in sys.argv:
    if not page.exists() or page.read_text() != text:
        sys.exit("docs/options.md is out of date: run scripts/options_page.py")
else:
    page.write_text(text)
