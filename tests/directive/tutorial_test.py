#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tutorial's programs print the same, and have what the page shows of them. Usage: tutorial_test.py COMPILER"""
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
page = (root / "docs/directives.md").read_text(encoding="utf-8").split("## From a serial loop")[1].split("## Options")[0]
steps = re.split(r"^\*\*\d\. ", page, flags=re.M)[1:]
programs = sorted((root / "examples/directives").glob("*.c"))
failures = [] if len(steps) == len(programs) == 5 else [f"{len(steps)} steps and {len(programs)} programs"]
said = set()
with tempfile.TemporaryDirectory() as folder:
    for step, program in zip(steps, programs):
        text = "".join(program.read_text(encoding="utf-8").split())
        if program.name not in step:
            failures.append(f"the page does not name {program.name}")
        for block in re.findall(r"```c\n(.*?)```", step, flags=re.S):
            if "".join(block.split()) not in text:
                failures.append(f"{program.name} does not have:\n{block}")
        subprocess.run([sys.argv[1], "-O1", "-Wall", str(program), "-o", f"{folder}/program"], check=True, timeout=120)
        said.add(subprocess.run([f"{folder}/program"], check=True, capture_output=True, text=True, timeout=120).stdout)
if len(said) != 1 or not next(iter(said)).startswith("sum "):
    failures.append(f"the programs print {said}")
sys.exit("\n".join(failures) or 0)
