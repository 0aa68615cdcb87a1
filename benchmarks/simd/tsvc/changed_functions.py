#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the names of the functions whose instructions differ between two objects that were compiled with -ffunction-sections.
Usage: changed_functions.py A.o B.o"""
import re
import subprocess
import sys


def instructions(path):
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    functions = {}
    for section in re.split(r"\n\nDisassembly of section ", text)[1:]:
        name, code = section.split(":", 1)
        code = re.sub(r"(\.rodata[.\w]*|\.LCPI\w+)([+-]0x[0-9a-f]+)?", r"\1", code)  # constants are numbered by file
        functions[name.removeprefix(".text.")] = re.sub(r"<[^>]*>", "", code)
    return functions


a, b = map(instructions, sys.argv[1:])
print(" ".join(name for name in a if name in b and a[name] != b[name]))
