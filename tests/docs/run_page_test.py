#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of run_page.py: what it must find wrong with a page. Usage: run_page_test.py BUILD"""
import pathlib
import subprocess
import sys
import tempfile

RUN_PAGE = pathlib.Path(__file__).with_name("run_page.py")

# name: (page, the exit status, what is said)
PAGES = {
    "blocks share one shell": (
        "```sh\nx=5\n```\n\n   ```sh\n   echo $x > out; cat out\n   ```\n<!-- output -->\n```\n5\n```\n", 0, "2 of 2"),
    "a failing command": ("```sh\ntrue\n```\n\n```sh\nfalse\ntrue\n```\n", 1, ":5: status 1"),
    "a failing hidden command": ("<!-- run:\nfalse\n-->\n```sh\ntrue\n```\n", 1, ":1: status 1"),
    "a failing part of a pipe": ("```sh\nfalse | true\n```\n", 1, ":1: status 1"),
    "other output": ("```sh\necho 5\n```\n<!-- output -->\n```\n6\n```\n", 1, "something else"),
    "more output": ("```sh\necho 5; echo 6\n```\n<!-- output -->\n```\n5\n```\n", 1, "something else"),
    "elided output": ("```sh\nseq 9; echo a b\n```\n<!-- output -->\n```\n1\n…\na …\n```\n", 0, "1 of 1"),
    "other numbers": (
        "```sh\necho 'took  5.5 s'\n```\n<!-- output: numbers -->\n```\ntook 12.25 s\n```\n", 0, "1 of 1"),
    "a file": ("<!-- file: a.txt -->\n```c\n5\n```\n```sh\ngrep 5 a.txt\n```\n", 0, "1 of 1"),
    "a program that the page has not put on the path": ("```sh\ncauseway --version\n```\n", 1, "command not found"),
    "left out": ("<!-- not run: no network -->\n```sh\nfalse\n```\n<!-- output -->\n```\n6\n```\n", 0, "no network"),
    "left out without a reason": ("<!-- not run -->\n```sh\nfalse\n```\n", 1, "without a reason"),
    "an unknown marker": ("<!-- ouput -->\n```\n5\n```\n", 1, "no marker 'ouput'"),
    "a marker of no block": ("<!-- slow: why -->\n\ntext\n```sh\ntrue\n```\n", 1, "no block below"),
    "a command that is skipped": ("```sh\nexit 77\n```\n", 77, ":1: status 77"),
    "a command that does not end": ("```sh\nsleep 100 | cat\n```\n", 1, "no end after"),
}

failures = 0
with tempfile.TemporaryDirectory() as folder:
    page = pathlib.Path(folder, "page.md")
    for name, (text, status, said) in PAGES.items():
        page.write_text(text, encoding="utf-8")
        run = subprocess.run([RUN_PAGE, page, "--build", sys.argv[1],
                              "--timeout", "0.5" if "not end" in name else "60"],
                             text=True, capture_output=True, check=False)
        answer = run.stdout + run.stderr
        if run.returncode != status or said not in answer:
            failures += 1
            print(f"FAILED: {name}: status {run.returncode}\n{answer}")
sys.exit(1 if failures else 0)
