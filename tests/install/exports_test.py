#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what the libraries export with the functions that headers declare, as the compiler lists them.

Usage: exports_test.py --compiler MPICC --include FOLDER... --interface NAME LIBCAUSEWAY [--platform LIBCAUSEWAY_ICD]
                       [--preload LIBCAUSEWAY_TRACE]
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77


def exports(library):
    """name: version of every symbol that the library offers to others."""
    listed = subprocess.run(["nm", "--dynamic", "--defined-only", "--with-symbol-versions", library], text=True,
                            capture_output=True, check=True).stdout
    symbols = [line.split()[-1] for line in listed.splitlines() if line.split()[-2] != "A"]
    return {name: version for name, _, version in (symbol.partition("@@") for symbol in symbols)}


def declared(compiler, folders, headers):
    """The functions that the headers themselves declare, not those that they include."""
    with tempfile.TemporaryDirectory() as folder:
        source, listing = pathlib.Path(folder, "all.c"), pathlib.Path(folder, "listing")
        source.write_text("".join(f"#include <{header}>\n" for header in headers), encoding="utf-8")
        run = subprocess.run([compiler, "-fsyntax-only", "-aux-info", listing, *(f"-I{each}" for each in folders), source],
                             text=True, capture_output=True, check=False)
        if run.returncode != 0 or not listing.exists():
            print(f"skipped: {compiler} cannot list declarations (-aux-info)\n{run.stderr}")
            sys.exit(SKIPPED)
        lines = re.findall(r"^/\* (.*):\d+:\w+ \*/ extern .*?(\w+) \(", listing.read_text(encoding="utf-8"), re.M)
    return {name for path, name in lines if path.endswith(tuple(f"/{header}" for header in headers))}


def compare(library, found, wanted):
    for name in sorted(found - wanted):
        print(f"{library} exports {name}, which no header declares")
    for name in sorted(wanted - found):
        print(f"{library} does not export {name}")
    return found == wanted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", nargs="+", required=True, help="folders of headers, the library's own first")
    parser.add_argument("--interface", required=True, help="the version of the library's symbols")
    parser.add_argument("--platform", type=pathlib.Path)
    parser.add_argument("--preload", type=pathlib.Path)
    parser.add_argument("--tasks", type=pathlib.Path, help="libcauseway_tasks, which has headers of its own")
    given = parser.parse_args()

    own = pathlib.Path(given.include[0])
    headers = sorted(str(path.relative_to(own)) for path in own.glob("*/*.h") if not path.name.endswith("_mpi.h"))
    headers += sorted(str(path.relative_to(own)) for path in own.glob("*/*_mpi.h"))
    tasks_headers = [header for header in headers if "tasks" in header]
    headers = [header for header in headers if header not in tasks_headers]
    functions = declared(given.compiler, given.include, headers)
    if not functions:
        sys.exit("the headers declare no functions")
    found = exports(given.library)
    private = {name for name, version in found.items() if version == "CAUSEWAY_PRIVATE"}
    right = compare(given.library, set(found) - private, functions)
    right &= compare(
        f"{given.library} (for libcauseway_icd and libcauseway_acc)",
        private,
        {"causeway_cluster_join", "causeway_copy_beside_queues", "causeway_symmetric_allocation"},
    )
    for name in sorted(set(found) - private):
        if found[name] != given.interface:
            right = False
            print(f"{name} has the version '{found[name]}', not {given.interface}")
    if given.platform:
        # The last is for what `causeway run --cluster` puts in front of programs.
        right &= compare(given.platform, set(exports(given.platform)),
                         {"clGetExtensionFunctionAddress", "clIcdGetPlatformIDsKHR", "causeway_cluster_agree",
                          "causeway_cluster_process", "causeway_cluster_rank", "causeway_cluster_same"})
    if given.tasks:
        right &= compare(given.tasks, set(exports(given.tasks)), declared(given.compiler, given.include, tasks_headers))
    if given.preload:
        # It stands in front of OpenCL, of MPI, and of what reads and writes files.
        stranger = set(exports(given.preload)) - declared(given.compiler, given.include, ["CL/cl.h", "mpi.h", "stdio.h", "unistd.h"]) - {"pread64", "pwrite64"}
        right &= compare(given.preload, stranger, set())
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
