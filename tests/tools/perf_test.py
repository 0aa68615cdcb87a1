#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `causeway perf`, as its users start it.

Usage: perf_test.py --program CAUSEWAY --run-with RUN_WITH.SH [--mpiexec PATH] [--sanitizer KIND] [--preload LIBRARY]
                    [--runtime NAME] [--ranks N] TEST
"""
import argparse
import json
import math
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

FIELDS = ["route", "strategy", "size_bytes", "block_bytes", "median_seconds", "bytes_per_second",
          "limit_bytes_per_second", "naive_bytes_per_second", "percent_of_limit"]
SKIPPED = 77


def fail(text, run=None):
    print(f"perf_test: {text}")
    if run is not None:
        print(f"-- status {run.returncode}\n-- standard output\n{run.stdout}\n-- standard error\n{run.stderr}")
    sys.exit(1)


def check(holds, text, run=None):
    if not holds:
        fail(text, run)


def is_mpich(given):
    """Whether the launcher is MPICH's: Debian's mpirun.mpich is a link to mpiexec.hydra, and mpirun one to either MPI's."""
    return any(word in os.path.realpath(given.mpiexec or "") for word in ("mpich", "hydra"))


class starter:
    """Starts the program under scripts/run_with.sh."""

    def __init__(self, given):
        self.given = given

    def __call__(self, *arguments, runtime=None, ranks=None, environment=None, prepare=None):
        given = self.given
        command = [given.run_with, runtime or given.runtime]
        if given.mpiexec:
            command += ["--mpiexec", given.mpiexec]
        if given.sanitizer:
            command += ["--sanitizer", given.sanitizer]
        ranks = given.ranks if ranks is None else ranks
        if ranks > 1:
            command += ["--ranks", str(ranks)]
        run = subprocess.run([*command, "--", given.program, *map(str, arguments)], text=True, capture_output=True,
                             env={**os.environ, **(environment or {})}, preexec_fn=prepare, check=False)
        if run.returncode == SKIPPED:
            print(run.stderr)
            sys.exit(SKIPPED)
        return run


def listed_routes(start, ranks):
    """The names that --list gives for so many ranks."""
    run = start("perf", "--list", runtime="none", ranks=1)
    check(run.returncode == 0, "--list fails", run)
    one, two = run.stdout.split("Routes between two ranks")
    return re.findall(r"^  ([a-z0-9/-]+) ", one if ranks == 1 else two.split("Strategies")[0], re.M)


def check_results(results):
    check(results, "there are no results")
    for result in results:
        check(list(result) == FIELDS, f"the fields are {list(result)}")
        check(isinstance(result["route"], str) and isinstance(result["strategy"], str), f"no words: {result}")
        for field in FIELDS[2:]:
            value = result[field]
            check(type(value) in (int, float) and math.isfinite(value) and value > 0,
                  f"{field} is no positive number: {result}")
        size, rate, limit = result["size_bytes"], result["bytes_per_second"], result["limit_bytes_per_second"]
        check(math.isclose(rate, size / result["median_seconds"], rel_tol=1e-9), f"rate and time differ: {result}")
        check(math.isclose(result["percent_of_limit"], 100 * rate / limit, rel_tol=1e-9), f"per cent: {result}")
    # What is measured of a route and a size, is measured beside the library's own choice, once.
    groups = {}
    for result in results:
        groups.setdefault((result["route"], result["size_bytes"]), []).append(result)
    for name, group in groups.items():
        check(sum(each["strategy"] == "auto" for each in group) == 1, f"{name}: not one result of strategy auto")
        for field in ("limit_bytes_per_second", "naive_bytes_per_second"):
            check(len({each[field] for each in group}) == 1, f"{name}: {field} is not the same for all strategies")


def check_table(text, results, run):
    """The table has the results in the same order, and each line ends with the per cent of the limit."""
    table = text.split("\nParts of the limits")[0].split("\nroute ")[1]
    lines = [line for line in table.splitlines()[1:] if line.strip()]
    check(len(lines) == len(results), "table and JSON differ in their number of lines", run)
    for line, result in zip(lines, results):
        words = line.split()
        check(words[0] == result["route"], f"order: {line}", run)
        check(abs(float(words[-1]) - result["percent_of_limit"]) <= 0.051, f"last column: {line}", run)


def check_own_choices(written, run):
    """The ratio of the library's choice to the best that was forced, for each route and size where anything was."""
    groups = {}
    for result in written["results"]:
        groups.setdefault((result["route"], result["size_bytes"]), []).append(result["median_seconds"])
    ratios = {name: own / min(forced) for name, (own, *forced) in groups.items() if forced}
    told = {(each["route"], each["size_bytes"]): each for each in written["auto_over_best"]}
    check(told.keys() == ratios.keys(), f"choices of {sorted(told)}, not {sorted(ratios)}", run)
    for name, ratio in ratios.items():
        check(math.isclose(told[name]["auto_over_best"], ratio, rel_tol=1e-9), f"{name}: {told[name]}, not {ratio}", run)
        check(told[name]["as_good"] or ratio > 1.05, f"{name}: {told[name]}", run)
    good = sum(each["as_good"] for each in told.values())
    check(f"\n{good} of {len(told)} as good\n" in run.stdout, "the table does not say how many choices were good", run)


def quick(start, given):
    """--quick --table measures each route or says why not, in less than half a minute, and JSON and table agree."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "results.json")
        begun = time.monotonic()
        run = start("perf", "--quick", "--table", "--json", file)
        taken = time.monotonic() - begun
        check(run.returncode == 0, "perf --quick fails", run)
        check(given.sanitizer or taken < (30 if os.getloadavg()[0] < 2 * os.cpu_count() else 90), f"--quick took {taken:.0f} s", run)
        written = json.loads(file.read_text(encoding="utf-8"))
    results, notes = written["results"], written["notes"]
    check_results(results)
    check(len(written["details"]) == len(results), "not one entry of details for each result")
    check_table(run.stdout, results, run)
    check_own_choices(written, run)
    measured = {result["route"] for result in results}
    for route in listed_routes(start, given.ranks):
        explained = any(route in note or (route.endswith("/two-devices") and "between two devices" in note)
                        for note in notes)
        check(route in measured or explained, f"route {route} is neither measured nor is there a note", run)
    first = "file-read" if given.ranks == 1 else "rank-one-way/same-device"
    strategies = {result["strategy"] for result in results if result["route"] == first}
    check({"auto", "pinned", "pipelined"} <= strategies, f"{first} has only the strategies {strategies}", run)


def few_lines(start, given):
    """Without --table there is a line for each of a few routes, the largest first, and no ratio of what is equal."""
    begun = time.monotonic()
    run = start("perf", "--quick")
    taken = time.monotonic() - begun
    check(run.returncode == 0, "perf --quick fails", run)
    # Beside other work there is time for fewer lines.
    is_quiet = not given.sanitizer and os.getloadavg()[0] < 2 * os.cpu_count()
    check(not is_quiet or taken < 30, f"--quick took {taken:.0f} s", run)
    heading, *rest = run.stdout.split("\nroute ")[1].splitlines()
    lines = rest[:rest.index("")] if "" in rest else rest
    check("Causeway" in heading and "by hand" in heading and "limit" in heading, f"the heading is {heading}", run)
    check((4 if is_quiet else 1) <= len(lines) <= 10, f"{len(lines)} lines", run)
    units = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
    sizes = []
    for line in lines:
        found = re.fullmatch(r"[a-z/-]+ +(?:(\d+) ?(B|KiB|MiB)?) +[\d.e+-]+ (?:GB/s|us|ms|s) +[\d.e+-]+ (?:GB/s|us|ms|s) +(?:as fast|[\d.]+ x)  "
                             r"(?:by hand|[\d.e+-]+ (?:GB/s|us|ms|s)(?: \(\d+ %\))?)", line)
        check(found, f"the line is {line}", run)
        sizes.append(int(found[1]) * units[found[2] or "B"])
        check(not re.search(r" 1\.0 x|(10[1-9]|1[1-9]\d) %", line), f"a ratio that means nothing: {line}", run)
    check(sizes == sorted(sizes, reverse=True), f"sizes {sizes}", run)


def heading(start, _):
    """The heading names the options that hold for all rows, and not those that each row sets itself."""
    run = start("perf", "--routes", "peer-two-contexts", "--sizes", "64K", "--repetitions", "1",
                environment={"CAUSEWAY_STRATEGY": "pinned", "CAUSEWAY_BLOCK": "1M", "CAUSEWAY_DEPTH": "3"})
    check(run.returncode == 0, "perf fails", run)
    options = next((line for line in run.stdout.splitlines() if line.startswith("options ")), "")
    check("CAUSEWAY_DEPTH=3" in options, "an option is missing", run)
    check("CAUSEWAY_STRATEGY" not in options and "CAUSEWAY_BLOCK" not in options, "perf sets these itself", run)


def rounds(start, _):
    """Lines of fewer than five rounds say of how many they are."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "figures.json")
        run = start("perf", "--routes", "file-write", "--sizes", "64K,64M", "--strategies", "auto", "--seconds", "0.001",
                    "--table", "--json", str(file))
        check(run.returncode == 0, "perf fails", run)
        samples = [each["samples"] for each in json.loads(file.read_text(encoding="utf-8"))["details"]]
    lines = [line for line in run.stdout.splitlines() if re.match(r"file-write +\d+ \S+ +auto ", line)]
    check(len(lines) == len(samples) and min(samples) < 5, f"{samples} rounds", run)
    for line, count in zip(lines, samples):
        told = "(one round)" if count == 1 else f", of {count})" if count < 5 else "s)"
        check(told in line and (count < 5) == ("round)" in line or ", of " in line), f"'{told}' is not in '{line}'", run)


def links(start, _):
    """Where windows of devices cannot be had, the user and the timeline are told why."""
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40 << 20, 40 << 20))

    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "timeline.json")
        run = start("perf", "--routes", "peer-two-contexts", "--sizes", "4M", "--strategies", "device-window",
                    "--repetitions", "1", prepare=small_files,
                    environment={"CAUSEWAY_BRIDGE": "host", "CAUSEWAY_EXPLAIN": "1", "CAUSEWAY_TRACE": str(timeline)})
        check(run.returncode == 0, "perf fails", run)
        told = re.search("no window of the device for blocks that leave: .*File too large", run.stderr)
        check(told, "the user is not told", run)
        check(f"host memory; {told[0]}" in timeline.read_text(encoding="utf-8"), "the timeline does not say it", run)


def arguments(start, _):
    """Wrong arguments end with status 2 before anything is measured, and get the nearest right word."""
    wrong = [
        (["prf"], "did you mean perf?"),
        (["perf", "--rotes", "file"], "did you mean --routes?"),
        (["perf", "--routes", "fil-read"], "did you mean file-read?"),
        (["perf", "--routes", "rank-latncy"], "did you mean rank-latency?"),
        (["perf", "--strategies", "piplined"], "did you mean pipelined?"),
        (["perf", "--routes", "rank-one-way"], "causeway run -n 2 causeway perf"),
        (["perf", "--sizes", "1X"], "not a size: 1X"),
        (["perf", "--sizes", "8G"], "at most 2047M"),
        (["perf", "--repetitions", "0"], "--repetitions"),
        (["perf", "--repetitions", "many"], "--repetitions"),
        (["perf", "--file", "/nonexistent"], "/nonexistent"),
        (["perf", "--directory", "/nonexistent"], "/nonexistent"),
        (["perf", "--json", "/nonexistent/file"], "/nonexistent/file"),
        (["perf", "--json", "/tmp"], "cannot write /tmp"),
        (["perf", "--json"], "--json"),
        (["perf", "--device", "99"], "--device"),
        (["perf", "--from", "results.json"], "--plot"),
        (["perf", "--plot", "picture.txt"], ".png, .svg or .pdf"),
        (["perf", "file"], "unexpected word file"),
        ([], "perf"),
    ]
    for words, message in wrong:
        run = start(*words, runtime="pocl", ranks=1)
        check(run.returncode == 2, f"{words}: the status is not 2", run)
        check(message in run.stderr, f"{words}: no {message!r} in the message", run)
        check("by hand" not in run.stdout, f"{words}: something was measured", run)
    for words, message in ((["--help"], "perf"), (["perf", "--help"], "Examples:"), (["--version"], "causeway ")):
        run = start(*words, runtime="none", ranks=1)
        check(run.returncode == 0 and message in run.stdout, f"{words} does not help", run)


def wrong_ranks(start, _):
    """Routes of one process are refused between ranks, and so are more than two ranks, and a file that rank 0 cannot write."""
    run = start("perf", "--routes", "file", runtime="pocl", ranks=2)
    check(run.returncode != 0 and "runs in one process" in run.stderr, "file routes run on two ranks", run)
    run = start("perf", "--quick", runtime="pocl", ranks=3)
    check(run.returncode != 0 and "not 3" in run.stderr, "three ranks are not refused", run)
    run = start("perf", "--json", "/nonexistent/file", runtime="pocl", ranks=2)
    check(run.returncode != 0 and run.stderr.count("cannot write /nonexistent/file") == 1, "two ranks measure what none can write", run)
    check("by hand" not in run.stdout, "two ranks measure what none can write", run)


def no_room(start, _):
    """What the disk has no room for is a note, on whichever route, and the others are measured."""
    def at_most_8_mib():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20))

    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as elsewhere:
        results = pathlib.Path(elsewhere, "results.json")
        words = ["perf", "--table", "--sizes", "1M,64M", "--strategies", "pinned", "--blocks", "256K", "--repetitions", 1, "--seconds", "0.1",
                 "--directory", folder, "--json", results]
        run = start(*words, prepare=at_most_8_mib)
        check(run.returncode == 0, "a size without room ends the program", run)
        written = json.loads(results.read_text(encoding="utf-8"))
        measured = {(result["route"], result["size_bytes"] >> 20) for result in written["results"]}
        for route in "file-read", "kernel-file":
            check((route, 1) in measured, f"the size of {route} with room is not measured", run)
            check((route, 64) not in measured, f"there is a result of {route} for what had no room", run)
        check(("peer-two-contexts", 64) in measured, "what needs no file is not measured", run)
        for what in "the file routes", "kernel-file":
            note = f"64 MiB of {what} left out: "
            check(f"- {note}" in run.stdout and any(each.startswith(note) for each in written["notes"]), f"no note: {note}", run)
        check(not os.listdir(folder), "files are left behind", run)

        run = start("perf", "--routes", "kernel-file", "--sizes", "64M", "--directory", folder, prepare=at_most_8_mib)
        check(run.returncode == 1 and "nothing was measured" in run.stderr, "no room at all is no failure", run)
        check("- 64 MiB of kernel-file left out: " in run.stdout, "no note says why", run)


def choice(start, _):
    """Only the routes, sizes, strategies and blocks that were asked for; a file of the user's is read, not written."""
    with tempfile.TemporaryDirectory() as folder:
        data = bytes(range(256)) * 4096 + b"an odd end"
        file, results = pathlib.Path(folder, "input.bin"), pathlib.Path(folder, "results.json")
        file.write_bytes(data)
        file.chmod(0o444)
        run = start("perf", "--routes", "file-read,file-write", "--sizes", "4097,1M,16M", "--strategies", "pinned",
                    "--blocks", "256K", "--repetitions", "1", "--file", file, "--json", results, "--progress")
        check(run.returncode == 0, "reading a file of the user's fails", run)
        check(file.read_bytes() == data, "the user's file has changed", run)
        found = json.loads(results.read_text(encoding="utf-8"))
    check_results(found["results"])
    rows = [(row["route"], row["size_bytes"], row["strategy"]) for row in found["results"]]
    mib = 1 << 20
    check(rows == [("file-read", mib, "auto"), ("file-read", mib, "pinned"), ("file-read", mib, "pinned"),
                   ("file-read", 4097, "auto"), ("file-read", 4097, "pinned")], f"measured: {rows}", run)
    check(found["results"][2]["block_bytes"] == 256 << 10, "the block was not forced", run)
    check(any("file-write left out" in note for note in found["notes"]), "no note on file-write", run)
    for part in "order", "wake":
        shown = {limit["size_bytes"]: limit["counts"] for limit in found["limits"] if limit["part"] == part}
        check(shown == {4097: False, mib: False}, f"{part} is shown for {shown}", run)
    check("file-read, 1 MiB" in run.stderr, "--progress shows none", run)

    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder, "results.json")
        run = start("perf", "--routes", "file-read", "--sizes", "16M", "--strategies", "pinned", "--blocks", "1M", "--repetitions", "1",
                    "--json", results, environment={"CAUSEWAY_LANES": "1"})
        limits = json.loads(results.read_text(encoding="utf-8"))["limits"]
    for threads in {1, min(16, len(os.sched_getaffinity(0)))}:
        check(any(f"pread by {threads} thread" in limit["how"] for limit in limits), f"no raw read by {threads}: {limits}", run)


def wrong_data(start, given):
    """A transfer that moves other bytes than it should ends the program with status 1."""
    one = {"file-read": "clEnqueueWriteBufferFromFile", "file-read-in-a-row": "clEnqueueWriteBufferFromFile",
           "file-read-stream": "clEnqueueWriteBufferFromStdioFile",
           "file-write-growing": "clEnqueueReadBufferToFile", "file-write-stream": "clEnqueueReadBufferToStdioFile",
           "peer-two-contexts": "clEnqueuePeerCopyBuffer"}
    two = {"rank-one-way/same-device": "clEnqueueSendBuffer", "rank-blocking/same-device": "clEnqueueSendBuffer",
           "rank-both-ways/same-device": "clEnqueueSendrecvBuffer", "rank-host-to-device": "causeway_mpi_send"}
    for route, call in (one if given.ranks == 1 else two).items():
        words = ["perf", "--routes", route, "--sizes", "64K", "--repetitions", "1", "--strategies", "auto"]
        run = start(*words)
        check(run.returncode == 0, f"{route} fails already with right data", run)
        run = start(*words, environment={"LD_PRELOAD": given.preload, "CAUSEWAY_TEST_WRONG_DATA": call})
        check(run.returncode != 0, f"{route}: wrong data of {call} passes", run)
        check(f"{route}, 64 KiB, auto: wrong data from byte" in run.stderr, f"{route}: {call}: no clear message", run)


def moves_once(start, given):
    """Of transfers in a row, each is seen to move its bytes."""
    words = ["perf", "--routes", "rank-both-ways/same-device", "--sizes", "64K", "--repetitions", "1", "--strategies", "auto"]
    run = start(*words, environment={"LD_PRELOAD": given.preload, "CAUSEWAY_TEST_MOVES_ONCE": "1"})
    check(run.returncode != 0 and "wrong data from byte" in run.stderr, "only the first of a row moves bytes, and passes", run)


def own_memory(start, given):
    """Where devices have memory of their own, copies are in the limit, and between ranks of a node messages are not."""
    routes = "file-read,file-write,peer-two-contexts,kernel-file" if given.ranks == 1 else \
        "rank-one-way/same-device,rank-both-ways/same-device,rank-64-at-once/same-device,rank-host-to-device"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "results.json")
        run = start("perf", "--routes", routes, "--sizes", "64K,1M", "--repetitions", "1", "--strategies",
                    "mapped,pipelined", "--json", file,
                    environment={"LD_PRELOAD": given.preload, "CAUSEWAY_TEST_OWN_MEMORY": "1"})
        check(run.returncode == 0, "perf fails", run)
        written = json.loads(file.read_text(encoding="utf-8"))
    check_results(written["results"])
    small, large = 64 << 10, 1 << 20
    orders = {limit["size_bytes"] for limit in written["limits"] if limit["part"] == "order"}
    check(orders == (set() if given.ranks == 1 else {small}), f"order is shown for {orders}", run)
    expected = {
        1: {("file-read", large): {"pinned copy", "raw read"}, ("file-write", large): {"pinned copy", "raw write"},
            ("peer-two-contexts", large): {"copies"}, ("kernel-file", large): {"kernel", "transfer"}},
        2: {("rank-one-way/same-device", small): {"copies", "notice"}, ("rank-one-way/same-device", large): {"copies"},
            ("rank-both-ways/same-device", large): {"copies"}, ("rank-64-at-once/same-device", large): {"copies"},
            ("rank-host-to-device", large): {"copy", "raw MPI"}},
    }[given.ranks]
    for (route, size), parts in expected.items():
        limits = [limit for limit in written["limits"] if (limit["route"], limit["size_bytes"]) == (route, size)]
        counting = {limit["part"] for limit in limits if limit["counts"]}
        check(counting == parts, f"the limit of {route}, {size} bytes, consists of {counting}", run)
        # Of several ways to one part the fastest counts.
        slowest = max(min(limit["median_seconds"] for limit in limits if limit["part"] == part) for part in parts)
        result = next(each for each in written["results"] if (each["route"], each["size_bytes"]) == (route, size))
        if size == large:
            limit = result["limit_bytes_per_second"]
            expected_limit = max(size / slowest, result["naive_bytes_per_second"])
            check(math.isclose(limit, expected_limit, rel_tol=1e-9), f"the limit of {route} is not the slowest", run)
    check(not any(result["strategy"] == "mapped" for result in written["results"]
                  if result["route"] != "rank-host-to-device"), "mapped, where nothing can be mapped", run)


def sample_results():
    """What --json writes, for the routes of the figures."""
    results = []
    for route in ("file-read", "rank-one-way/two-devices"):
        for exponent in range(13, 31):
            size = 1 << exponent
            plans = [("auto", 1 << 18), ("mapped", size), ("pinned", size), ("pipelined", 1 << 18),
                     ("pipelined", 1 << 20), ("pipelined", 1 << 22)]
            for index, (strategy, block) in enumerate(plans):
                seconds = (10e-6 + size / 40e9) * (1 + index / 8)
                limit, naive = size / (5e-6 + size / 50e9), size / (20e-6 + size / 4e9)
                results.append(dict(zip(FIELDS, (route, strategy, size, block, seconds, size / seconds, limit, naive,
                                                 100 * size / seconds / limit))))
    return results


def plot(start, _):
    """--plot draws both figures; without matplotlib, or with nothing to draw, it says so."""
    with tempfile.TemporaryDirectory() as folder:
        results, picture = pathlib.Path(folder, "results.json"), pathlib.Path(folder, "picture.png")
        results.write_text(json.dumps({"machine": {"device": "a device"}, "results": sample_results()}),
                           encoding="utf-8")
        run = start("perf", "--from", results, "--plot", picture, runtime="none", ranks=1)
        check(run.returncode == 0, "--plot fails", run)
        content = picture.read_bytes()
        check(content.startswith(b"\x89PNG\r\n\x1a\n") and content.endswith(b"IEND\xaeB`\x82"), "no whole PNG", run)
        width, height = (int.from_bytes(content[at:at + 4], "big") for at in (16, 20))
        check(width > 1.5 * height > 300, f"not two panels side by side: {width} x {height}", run)

        vector = pathlib.Path(folder, "picture.svg")
        run = start("perf", "--from", results, "--plot", vector, runtime="none", ranks=1)
        check(run.returncode == 0, "--plot fails for SVG", run)
        text = vector.read_text(encoding="utf-8")
        for words in ("Figure 3", "Figure 5", "pipelined (4 MiB)", "serial (fread, write)", "limit (MPI, copies)"):
            check(f"<!-- {words}" in text, f"{words} is not in the picture")

        results.write_text(json.dumps({"results": []}), encoding="utf-8")
        run = start("perf", "--from", results, "--plot", picture, runtime="none", ranks=1)
        check(run.returncode == 1 and "nothing to draw" in run.stderr, "an empty picture passes", run)

        for text in ("int main;", "[]", "{}", '{"results": [1]}'):
            results.write_text(text, encoding="utf-8")
            run = start("perf", "--from", results, "--plot", picture, runtime="none", ranks=1)
            check(run.returncode == 1 and "is no file of causeway perf --json" in run.stderr and "Traceback" not in run.stderr,
                  f"no word of what is wrong with {text}", run)

        results.write_text('{"results": [{"route": "file-read"}]}', encoding="utf-8")
        run = start("perf", "--from", results, "--plot", picture, runtime="none", ranks=1)
        check(run.returncode == 1 and "not as causeway perf --json" in run.stderr and "Traceback" not in run.stderr,
              "no word of a result without figures", run)

        pathlib.Path(folder, "matplotlib.py").write_text("raise ImportError('no matplotlib')\n", encoding="utf-8")
        run = start("perf", "--from", results, "--plot", picture, runtime="none", ranks=1,
                    environment={"PYTHONPATH": folder})
        check(run.returncode == 2 and "python3-matplotlib" in run.stderr, "no word of the missing package", run)


def documented(start, given):
    """docs/measuring.md names every route, and the pages no other."""
    root = pathlib.Path(given.run_with).parent.parent
    measuring, performance = [(root / name).read_text(encoding="utf-8")
                              for name in ("docs/measuring.md", "benchmarks/results/performance.md")]
    routes = listed_routes(start, 1) + listed_routes(start, 2)
    for route in routes:
        name = route.split("/")[0]
        short = name.removeprefix("rank-latency")
        check(f"`{name}`" in measuring or f"`{short}`" in measuring, f"docs/measuring.md has no word of {name}")
    named = re.findall(r"--routes ([a-z0-9/,-]+)", measuring + performance)
    check(len(named) > 5, f"docs name no routes but {named}")
    for word in ",".join(named).split(","):
        check(any(route == word or route.startswith((word + "-", word + "/")) for route in routes), f"docs name a route {word}")


def man_page(start, given):
    """docs/causeway.1 names every option, and no other."""
    page = pathlib.Path(given.run_with).parent.parent / "docs" / "causeway.1"
    text = page.read_text(encoding="utf-8").replace(r"\-", "-")
    known = set(re.findall(r"--([a-z-]+)", start("--help", runtime="none", ranks=1).stdout.split("Subcommands")[0]))
    for command in (["info"], ["run"], ["perf"], ["tune"], ["trace"], ["trace", "view"], ["trace", "summary"], ["completion"],
                    ["study"], ["tasks", "simulate"], ["tasks", "timeline"]):
        text_of_command = start(*command, "--help", runtime="none", ranks=1).stdout
        known |= set(re.findall(r"^ +(?:-[a-z],)?--([a-z-]+)", text_of_command, re.MULTILINE))
    named = set(re.findall(r"Fl Fl ([a-z-]+)", text))
    check(named == known, f"{page} lacks {known - named}, and has {named - known} of its own")


TESTS = {"quick": quick, "few-lines": few_lines, "arguments": arguments, "wrong-ranks": wrong_ranks, "choice": choice, "heading": heading,
         "rounds": rounds, "links": links,
         "wrong-data": wrong_data, "moves-once": moves_once, "own-memory": own_memory, "plot": plot, "no-room": no_room,
         "documented": documented, "man-page": man_page}


def run_one_of(tests):
    """Runs the test that the command line names."""
    parser = argparse.ArgumentParser()
    for name in ("--program", "--run-with"):
        parser.add_argument(name, required=True)
    for name in ("--mpiexec", "--sanitizer", "--preload"):
        parser.add_argument(name, default="")
    parser.add_argument("--runtime", default="pocl")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("test", choices=tests)
    given = parser.parse_args()
    tests[given.test](starter(given), given)


if __name__ == "__main__":
    run_one_of(TESTS)
