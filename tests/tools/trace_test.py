#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of what `causeway trace` and CAUSEWAY_TRACE record.

Usage: trace_test.py --program CAUSEWAY --run-with RUN_WITH.SH [--mpiexec PATH] [--runtime NAME] TEST
"""
import json
import math
import os
import pathlib
import re
import statistics
import sys
import tempfile

from perf_test import SKIPPED, check, run_one_of
from trace_checks import HIMENO, RANK, check_events, made_transfer, program_beside


def himeno(start, given):
    """Two ranks in one file: transfers, blocks, kernels by name, and what waited for what."""
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")
        run = start("trace", "-o", timeline, "--", program_beside(given, "himeno"), *HIMENO, ranks=2)
        check(run.returncode == 0 and "MFLOPS" in run.stdout, "the program fails", run)
        check(os.listdir(folder) == ["t.json"], f"not one file: {os.listdir(folder)}")
        found = check_events(json.loads(timeline.read_text(encoding="utf-8")), 2)
        kernels = [event for event in found[("X", "command")] if event["name"].startswith("jacobi")]
        check({event["pid"] for event in kernels} == {0, 1}, "no kernels by name")
        check(len(kernels) >= 2 * 2 * 6, f"{len(kernels)} kernels")
        transfers = found[("X", "transfer")]
        names = {event["name"] for event in transfers}
        check(names == {"device buffer -> rank 0", "device buffer -> rank 1", "rank 0 -> device buffer",
                        "rank 1 -> device buffer"}, f"routes {names}")
        check(len(found[("s", "message")]) == len(transfers) / 2, "not one arrow for each message")
        # Each kernel but the first ones waits for an exchange, and each exchange for a kernel.
        check(len(found[("s", "waits for")]) >= len(transfers), "too few arrows")
        moved = {}
        for event in found[("X", "block")]:
            moved.setdefault((event["pid"], event["args"]["transfer"], event["name"]), []).append(event["args"].get("bytes", 0))
        for event in transfers:
            check(event["args"]["moved"] == event["args"]["bytes"] > 0, f"not all was moved: {event}")
        check(any(name == "copy out" for _, _, name in moved), f"no copies: {set(name for _, _, name in moved)}")
        for rank in 0, 1:
            requests = [event["args"]["value"] for event in found[("C", None)]
                        if event["name"] == "MPI requests" and event["pid"] == rank]
            check(max(requests, default=0) >= 2, f"MPI requests of rank {rank}: {requests}")
        summary = start("trace", "summary", timeline, runtime="none", ranks=1)
        check(summary.returncode == 0 and re.search(r"^2 ranks on .*^hidden +\d+ %", summary.stdout, re.M | re.S), "the summary", summary)
        table = json.loads(start("trace", "summary", "--json", timeline, runtime="none", ranks=1).stdout)
        check([rank["rank"] for rank in table["ranks"]] == [0, 1], f"ranks: {table}")
        check(all(0 <= rank["hidden"] <= 1 for rank in table["ranks"]), f"hidden: {table}")
        check(sum(rank["transfers"] for rank in table["ranks"]) == len(transfers), "transfers are lost")


def files(start, given):
    """One process, by the environment alone: each block is read, written and copied once."""
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")
        run = start("perf", "--routes", "file", "--sizes", "1M", "--strategies", "pipelined", "--blocks", "256K",
                    "--repetitions", "1", "--directory", folder, environment={"CAUSEWAY_TRACE": str(timeline)})
        check(run.returncode == 0, "the program fails", run)
        found = check_events(json.loads(timeline.read_text(encoding="utf-8")), 1)
        names = {event["name"] for event in found[("X", "block")]}
        check({"read", "write"} <= names, f"activities {names}")
        forced = [event for event in found[("X", "transfer")] if event["args"].get("strategy") == "pipelined"]
        check(forced and all(event["args"]["chosen_by"] == "options" and event["args"]["block"] == 262144 for event in forced),
              "no transfer with the forced block")
        for name in ("copy in", "copy out"):
            blocks = {}
            for event in found[("X", "block")]:
                if event["name"] == name:
                    blocks.setdefault(event["args"]["transfer"], []).append(event["args"]["offset"])
            check(blocks and all(sorted(each) == [0, 262144, 524288, 786432] for each in blocks.values()),
                  f"{name}: blocks {blocks}")


def graph(start, given):
    """The firings of a stream graph."""
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")
        run = start("trace", "-o", timeline, "--", program_beside(given, "example_graph_edges"))
        check(run.returncode == 0, "the program fails", run)
        found = check_events(json.loads(timeline.read_text(encoding="utf-8")), 1)
        numbers = {}
        for event in found[("X", "firing")]:
            numbers.setdefault((event["tid"], event["name"]), []).append(event["args"]["number"])
        check(len({name for _, name in numbers}) >= 3, f"actors {set(numbers)}")


def limit(start, given):
    """With figures of the machine each transfer is seen beside what its slowest stage would take."""
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")
        environment = {"XDG_CACHE_HOME": folder, "CAUSEWAY_TUNER": "auto"}
        # What it measures is seen, and is no transfer.
        run = start("trace", "-o", timeline, "--", program_beside(given, "causeway"), "tune", "--directory", folder,
                    environment=environment)
        check(run.returncode == 0, "tune fails", run)
        found = check_events(json.loads(timeline.read_text(encoding="utf-8")), 1)
        check(len(found[("X", "measuring")]) > 20 and ("X", "transfer") not in found, f"was measured: {found.keys()}")
        table = json.loads(start("trace", "summary", "--json", timeline, runtime="none", ranks=1).stdout)
        check(table["ranks"][0]["transfers"] == 0 and table["ranks"][0]["moving_us"] == 0, f"it is counted: {table}")
        environment["CAUSEWAY_TUNER"] = "fixed"
        run = start("trace", "-o", timeline, "--", program_beside(given, "causeway"), "perf", "--routes", "file-read", "--sizes", "1M",
                    "--repetitions", "1", "--strategies", "auto", "--directory", folder, environment=environment)
        check(run.returncode == 0, "the program fails", run)
        found = check_events(json.loads(timeline.read_text(encoding="utf-8")), 1)
        transfers = [event for event in found[("X", "transfer")] if event["args"].get("limit_us")]
        check(len(transfers) == len(found[("X", "transfer")]) > 0, f"limits of {len(transfers)} transfers")
        table = json.loads(start("trace", "summary", "--json", timeline, runtime="none", ranks=1).stdout)
        for route in table["ranks"][0]["routes"]:
            shares = [100 * event["args"]["limit_us"] / event["dur"] for event in transfers if event["name"] == route["route"]]
            check(math.isclose(route["percent_of_limit"], statistics.median(shares), rel_tol=0.01), f"{route}: {shares}")


def one_sided(start, given):
    """One-sided commands by what they do, in the timeline and in what CAUSEWAY_EXPLAIN says."""
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")
        run = start("trace", "-o", timeline, "--", program_beside(given, "symmetric_ring"), ranks=2,
                    environment={"CAUSEWAY_EXPLAIN": "1"})
        check(run.returncode == 0, "the program fails", run)
        transfers = check_events(json.loads(timeline.read_text(encoding="utf-8")), 2)[("X", "transfer")]
        for rank in 0, 1:
            routes = {event["name"] for event in transfers if event["pid"] == rank}
            for route in (f"device buffer -> PE {1 - rank} at 0 B", "the word at 4032 B -> signal", "a reduction -> host memory",
                          "an allocation in the symmetric heap"):
                check(route in routes, f"no {route} of rank {rank}: {routes}")
                moved = r", 4000 B: .*" if "PE" in route or "reduction" in route else ""
                check(re.search(f"^causeway: {route}{moved}, took [0-9.]+ [um]?s", run.stderr, re.M), f"{route} is not explained", run)


PYTHON_PROGRAM = """
import pyopencl, sys
context = pyopencl.Context(pyopencl.get_platforms()[0].get_devices()[:1])
queue = pyopencl.CommandQueue(context)
buffer = pyopencl.Buffer(context, pyopencl.mem_flags.READ_WRITE, 4096)
program = pyopencl.Program(context, "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }").build()
program.twice(queue, (1024,), None, buffer).wait()
import causeway
with open(sys.argv[1], "wb") as file:
    causeway.enqueue_read_to_file(queue, buffer, file, wait_for=[program.twice(queue, (1024,), None, buffer)]).wait()
"""


def ordinary(start, given):
    """A program that knows nothing of this library: its kernels and copies make a timeline, too."""
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")
        run = start("trace", "-o", timeline, "--", program_beside(given, "tutorial_1_ordinary"),
                    pathlib.Path(folder, "plate"), 8, 2000, 3, 3, ranks=2)
        check(run.returncode == 0, "the program fails", run)
        found = check_events(json.loads(timeline.read_text(encoding="utf-8")), 2)
        commands = found[("X", "command")]
        for rank in 0, 1:
            names = [event["name"] for event in commands if event["pid"] == rank]
            # Before its three steps it runs the kernel seven times, and writes the plate.
            check((names.count("heat"), names.count("read buffer"), names.count("write buffer")) == (10, 7, 7),
                  f"commands of rank {rank}: {names}")
            # Where its host waits: rows are exchanged twice in a step, and the plate is stored once.
            calls = [event for event in found[("X", "mpi")] if event["pid"] == rank]
            sent = [event["args"]["bytes"] for event in calls if event["name"] == "MPI_Sendrecv"]
            check(sent == [8000] * 6, f"messages of rank {rank}: {calls}")
            stored = [event["args"]["bytes"] for event in found[("X", "file")] if event["pid"] == rank and event["name"] == "fwrite"]
            check(stored == [32000], f"files of rank {rank}: {found[('X', 'file')]}")


def commands(start, given):
    """Every command of OpenCL that moves bytes or computes is seen, and called by its kind, kernels by their names."""
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")
        run = start("trace", "-o", timeline, "--", program_beside(given, "every_command"))
        check(run.returncode == 0, "the program fails", run)
        seen = check_events(json.loads(timeline.read_text(encoding="utf-8")), 1)[("X", "command")]
        enqueued = run.stdout.splitlines()
        for kind in ("copy buffer", "migrate", "fill image", "SVM copy"):
            check(kind in enqueued, f"the program has not enqueued {kind}", run)
        check(sorted(event["name"] for event in seen) == sorted(enqueued), f"seen: {sorted(event['name'] for event in seen)}", run)


def python(start, given):
    """Libraries that only Python sees: an OpenCL of pyopencl's own, and ours when it has long been at work."""
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")
        script = pathlib.Path(folder, "program.py")
        script.write_text(PYTHON_PROGRAM, encoding="utf-8")
        run = start("trace", "-o", timeline, "--", pathlib.Path(__file__).parent.parent / "python" / "run.sh",
                    pathlib.Path(given.program).parent.parent / "lib" / "libcauseway.so", script, pathlib.Path(folder, "out"))
        if run.returncode == SKIPPED:
            print(run.stdout)
            sys.exit(SKIPPED)
        check(run.returncode == 0, "the program fails", run)
        found = check_events(json.loads(timeline.read_text(encoding="utf-8")), 1)
        check([event["name"] for event in found[("X", "command")]] == ["twice"] * 2, f"commands {found[('X', 'command')]}")
        check(len(found[("X", "transfer")]) == 1, f"transfers {found[('X', 'transfer')]}")


def cluster(start, given):
    """A cluster: what each rank's devices did, in one file, and no rank is asked after it has ended."""
    for ranks in 1, 2:
        with tempfile.TemporaryDirectory() as folder:
            timeline = pathlib.Path(folder, "t.json")
            run = start("trace", "-o", timeline, "--", given.program, "run", "--cluster", "-n", str(ranks), program_beside(given, "every_device"))
            count = re.search(r"(\d+) devices", run.stdout)
            check(run.returncode == 0 and count, "the program fails", run)
            commands = check_events(json.loads(timeline.read_text(encoding="utf-8")), ranks)[("X", "command")]
            for rank in range(ranks):
                names = [event["name"] for event in commands if event["pid"] == rank]
                # What each of its devices has run; reads are the platform's own moves to all ranks.
                of_rank = int(count.group(1)) // ranks
                check((names.count("add_one"), names.count("fill buffer")) == (5 * of_rank, of_rank), f"commands of rank {rank}: {names}")


def names(start, given):
    """Names come from anywhere: they neither break the page nor move the terminal's cursor."""
    with tempfile.TemporaryDirectory() as folder:
        timeline, shown = pathlib.Path(folder, "t.json"), pathlib.Path(folder, "t.html")
        strange = "@EVENTS@ @SUMMARY@ \x1b[2J\x9b1m\r\n</script><b> -> device buffer"
        transfer = {**made_transfer(100, 200), "name": strange}
        rank = {**RANK, "host": "\x1b]0;title\x07"}
        events = [{"name": "causeway_rank", "ph": "M", "pid": 0, "tid": 0, "args": rank},
                  {"name": "thread_name", "ph": "M", "pid": 0, "tid": 1, "args": {"name": "@EVENTS@"}}, transfer]
        timeline.write_text(json.dumps({"traceEvents": events, "otherData": {"job": "@EVENTS@"}}), encoding="utf-8")
        run = start("trace", "summary", timeline, runtime="none")
        check(run.returncode == 0 and "@EVENTS@ @SUMMARY@ \\x1b[2J\\xc2\\x9b1m\\x0d\\x0a</script>" in run.stdout, "the summary", run)
        check(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", run.stdout), "control characters", run)
        run = start("trace", "view", timeline, runtime="none")
        check(run.returncode == 0, "no page", run)
        text = shown.read_text(encoding="utf-8")
        for element in "events", "summary":
            inside = re.search(f'<script type="application/json" id="{element}">(.*?)</script>', text, re.DOTALL).group(1)
            check(strange in all_texts(json.loads(inside)), f"the {element} of the page: {inside[:500]}")


def all_texts(of):
    """Every string in a value of JSON."""
    if isinstance(of, str):
        yield of
    elif isinstance(of, dict):
        for key, each in of.items():
            yield key
            yield from all_texts(each)
    elif isinstance(of, list):
        for each in of:
            yield from all_texts(each)


TESTS = {"cluster": cluster, "commands": commands, "files": files, "graph": graph, "himeno": himeno, "limit": limit, "names": names, "one_sided": one_sided, "ordinary": ordinary, "python": python}


if __name__ == "__main__":
    run_one_of(TESTS)
