#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `causeway trace` and of CAUSEWAY_TRACE, as users start them.

Usage: trace_test.py --program CAUSEWAY --run-with RUN_WITH.SH [--mpiexec PATH] [--runtime NAME] TEST
"""
import fcntl
import json
import math
import os
import pathlib
import pty
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import termios
import time
from html import unescape

from perf_test import SKIPPED, check, run_one_of

PHASES = {"M": {"args"}, "X": {"ts", "dur"}, "s": {"ts", "id", "cat"}, "f": {"ts", "id", "cat", "bp"}, "C": {"ts", "args"}}
HIMENO = ["--size", "XS", "--version", "causeway", "--iterations", "6", "--rounds", "1"]


def program_beside(given, name):
    return pathlib.Path(given.program).parent / name


def check_events(whole, ranks):
    """What viewers of trace events count on; returns the events by phase and category."""
    check(set(whole) >= {"traceEvents", "otherData"}, f"no trace: {set(whole)}")
    found, lanes, arrows = {}, {}, {}
    for event in whole["traceEvents"]:
        phase = event["ph"]
        check(phase in PHASES and {"name", "pid", "tid", *PHASES[phase]} <= set(event), f"this event is not whole: {event}")
        check(0 <= event["pid"] < ranks, f"no such rank: {event}")
        check(phase == "M" or event["ts"] > 0, f"no time: {event}")
        found.setdefault((phase, event.get("cat")), []).append(event)
        if phase == "X":
            check(event["dur"] >= 0, f"it ends before it begins: {event}")
            lanes.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
        if phase in "sf":
            arrows.setdefault((event["cat"], event["id"]), {}).setdefault(phase, []).append(event)
    for lane, slices in lanes.items():
        slices.sort()
        for before, after in zip(slices, slices[1:]):
            check(after[0] >= before[1] - 0.002, f"slices of lane {lane} overlap: {before}, {after}")
    for name, ends in arrows.items():
        check(set(ends) == {"s", "f"} and len(ends["s"]) == len(ends["f"]) == 1, f"arrow {name} has ends {ends}")
        # Of two ranks each has seen its own end.
        slack = 1000 if name[0] == "message" else 0.002
        check(ends["s"][0]["ts"] <= ends["f"][0]["ts"] + slack, f"arrow {name} flies back in time: {ends}")
    named = {(event["pid"], event["tid"]) for event in found[("M", None)] if event["name"] == "thread_name"}
    check(set(lanes) <= named, f"lanes without names: {set(lanes) - named}")
    return found


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


TELLS_SIGNALS = """
import signal, sys
def tell(number, frame):
    if number == signal.SIGTERM:
        signal.signal(number, signal.SIG_IGN)
    print(signal.Signals(number).name, flush=True)
    if number == signal.SIGTERM:
        sys.exit(5)
for number in signal.SIGINT, signal.SIGHUP, signal.SIGTERM:
    if signal.getsignal(number) == signal.SIG_IGN:
        print("ignores", signal.Signals(number).name)
    else:
        signal.signal(number, tell)
print("ready", flush=True)
while True:
    signal.pause()
"""


def signals(start, given):
    """A program has the signals that causeway trace was sent, and those of a terminal once; what was ignored stays so."""
    with tempfile.TemporaryDirectory() as folder:
        command = [given.run_with, "none", "--", given.program, "trace", "-o", str(pathlib.Path(folder, "t.json")), "--",
                   sys.executable, "-c", TELLS_SIGNALS]

        def told(send, words=("ready",), **settings):
            """What the program says when `send` has acted on causeway trace, and SIGTERM came after the last of `words`."""
            run = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **settings)
            lines = []
            for line in run.stdout:
                lines.append(line.strip())
                if lines[-1] == "ready":
                    send(run)
                if lines[-1] == words[-1]:
                    run.send_signal(signal.SIGCONT)
                    run.send_signal(signal.SIGTERM)
            check(run.wait() == 5, f"exit status {run.returncode}, {lines}")
            return lines

        for number in signal.SIGINT, signal.SIGHUP:
            lines = told(lambda run, number=number: run.send_signal(number), (number.name,))
            check(lines == ["ready", number.name, "SIGTERM"], f"{number.name} to the process: {lines}")
        outer, inner = pty.openpty()

        def while_stopped(send):
            """Not both by the group and, some time later, by causeway trace."""
            def act(run):
                run.send_signal(signal.SIGSTOP)
                os.waitpid(run.pid, os.WUNTRACED)
                send(run)
            return told(act, ("SIGINT",), stdin=inner, start_new_session=True,
                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

        for whom, send in (("the group", lambda run: os.killpg(run.pid, signal.SIGINT)), ("^C", lambda run: os.write(outer, b"\x03"))):
            lines = while_stopped(send)
            check(lines == ["ready", "SIGINT", "SIGTERM"], f"{whom}: {lines}")
        for file in outer, inner:
            os.close(file)
        # As nohup starts it.
        lines = told(lambda run: run.send_signal(signal.SIGHUP), preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        check(lines == ["ignores SIGHUP", "ready", "SIGTERM"], f"nohup: {lines}")


def made_transfer(begin, end, limit=None, **more):
    told = {"waited_us": 3, "moved": 1000, "strategy": "pipelined", **({"limit_us": limit} if limit else {}), **more}
    return {"name": "a file -> device buffer", "ph": "X", "cat": "failure" if "error" in more else "transfer", "pid": 0, "tid": 1,
            "ts": begin, "dur": end - begin, "args": told}


RANK = {"rank": 0, "ranks": 1, "host": "a", "clock": "reference", "clock_uncertainty_ns": 0, "ended": True, "cut": False,
        "commands_without_times": 0}


def summary(start, given):
    """What the table says of a timeline of which all is known."""
    command = {"name": "k", "ph": "X", "cat": "command", "pid": 0, "tid": 2, "ts": 150, "dur": 50, "args": {}}
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")

        def table(*transfers, ranks=1):
            events = [{"name": "causeway_rank", "ph": "M", "pid": 0, "tid": 0, "args": {**RANK, "ranks": ranks}},
                      command, *transfers]
            timeline.write_text(json.dumps({"traceEvents": events, "otherData": {"job": "j"}}), encoding="utf-8")
            run = start("trace", "summary", "--json", timeline, runtime="none")
            check(run.returncode == 0, "no summary", run)
            return json.loads(run.stdout)["ranks"][0], start("trace", "summary", timeline, runtime="none")

        # 50, 80 and 20 per cent of the limit; one of which no limit is known, and one that failed.
        rank, run = table(made_transfer(100, 200, 50), made_transfer(200, 300, 80), made_transfer(300, 400, 20),
                          made_transfer(400, 500), made_transfer(500, 600, 99, error="broken"))
        route, = rank["routes"]
        check((route["percent_of_limit"], route["transfers"], route["failed"], route["median_us"]) == (50, 5, 1, 100), f"{route}")
        check(route["bytes_per_second"] == 4000 / 400e-6 and route["median_wait_us"] == 3, f"{route}")
        check(rank["hidden"] == 0.1 and rank["moving_us"] == 500, f"{rank}")
        check(re.search(r"a file -> device buffer +5 +1 +3\.00 us +100 us +100 us +10\.0 MB/s +50 % +pipelined", run.stdout), "the table", run)
        # One failed before it was planned.
        refused = made_transfer(50, 60, error="refused", strategy="")
        rank, run = table(refused, made_transfer(100, 200), made_transfer(200, 300))
        check(rank["routes"][0]["strategy"] == "pipelined", f"{rank}")
        rank, run = table(made_transfer(50, 60, error="broken"))
        check(rank["routes"][0]["strategy"] == "pipelined", f"{rank}")
        rank, run = table(made_transfer(100, 200))
        check(rank["routes"][0]["percent_of_limit"] is None and re.search(r" 10\.0 MB/s +pipelined", run.stdout) and "of limit" not in run.stdout, "no limit", run)
        waiting = made_transfer(100, 4_000_100)
        waiting["cat"] = "pending"
        waiting["args"] |= {"pending": True, "waits_for": "rank 1 to send with tag 5"}
        rank, run = table(made_transfer(100, 200), waiting)
        check(rank["routes"][0]["pending"] == 1 and rank["routes"][0]["median_us"] == 100, f"{rank}")
        check("pending at the end: 1 transfers\n  rank 0: a file -> device buffer, for 4.00 s, waits for rank 1 to send with tag 5"
              in run.stdout, "what is pending", run)
        rank, run = table(made_transfer(100, 200), ranks=4)
        check(re.search("1 of 4 ranks were recorded.* mpirun -x CAUSEWAY_TRACE -x LD_PRELOAD", run.stdout), "missing ranks", run)


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


def killed(start, given):
    """A rank that is killed leaves what it has recorded, and `causeway trace` adds it."""
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")
        start("trace", "-o", timeline, "--", program_beside(given, "killed_peer"), ranks=2)
        summary = start("trace", "summary", "--json", timeline, runtime="none", ranks=1)
        check(summary.returncode == 0, "no summary", summary)
        ranks = json.loads(summary.stdout)["ranks"]
        check([rank["rank"] for rank in ranks] == [0, 1], f"ranks {ranks}")
        check(any(not rank["ended"] for rank in ranks), "nobody was killed")
        check(os.listdir(folder) == ["t.json"], f"parts are left: {os.listdir(folder)}")


IDLE_PROGRAM = """
import pyopencl, sys
context = pyopencl.Context(pyopencl.get_platforms()[0].get_devices()[:1])
queue = pyopencl.CommandQueue(context)
buffer = pyopencl.Buffer(context, pyopencl.mem_flags.READ_WRITE, 4096)
source = "kernel void last_%d(global float *x) { x[get_global_id(0)] *= 2; }"
program = pyopencl.Program(context, " ".join(source % number for number in range(4))).build()
for number in range(4):
    getattr(program, "last_%d" % number)(queue, (1024,), None, buffer)
queue.finish()
sys.stdin.read()
"""


def killed_idle(start, given):
    """What a program did before it was killed is there, though it has done nothing for a while."""
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")
        script = pathlib.Path(folder, "program.py")
        script.write_text(IDLE_PROGRAM, encoding="utf-8")
        command = [given.program, "trace", "-o", timeline, "--", pathlib.Path(__file__).parent.parent / "python" / "run.sh",
                   pathlib.Path(given.program).parent.parent / "lib" / "libcauseway.so", script]
        with subprocess.Popen([given.run_with, "pocl", "--", *command], stdin=subprocess.PIPE, text=True) as run:
            # A kernel's name is in the part just before the kernel is, and behind the kernels before.
            for _ in range(600):
                parts = list(pathlib.Path(folder).glob("t.json.*.part"))
                seen = parts[0].read_bytes().count(b"last_3") if parts else 0
                if seen > 0 or run.poll() is not None:
                    break
                time.sleep(0.05)
            check(run.poll() is None and seen > 0, f"the commands are not there: {seen}")
            os.kill(int(parts[0].name.split(".")[-2]), signal.SIGKILL)
            run.communicate()
        commands = check_events(json.loads(timeline.read_text(encoding="utf-8")), 1)[("X", "command")]
        check([event["name"] for event in commands][:3] == ["last_0", "last_1", "last_2"], f"commands {commands}")


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


def fork(start, given):
    """A child has its parent's file mapped, and writes nothing there."""
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")
        run = subprocess.run([given.run_with, "pocl", "--", program_beside(given, "forking_program")], text=True,
                             capture_output=True, check=False, timeout=60, env={**os.environ, "CAUSEWAY_TRACE": str(timeline)})
        check(run.returncode == 0, "the program fails", run)
        seen = check_events(json.loads(timeline.read_text(encoding="utf-8")), 1)[("X", "command")]
        check([event["name"] for event in seen] == ["the parent's"], f"commands {seen}")
        check(os.listdir(folder) == ["t.json"], f"not one file: {os.listdir(folder)}")


def programs(start, given):
    """Programs behind one `causeway trace` are in one timeline, told apart, also those that are one rank after another."""
    with tempfile.TemporaryDirectory() as folder:
        timeline, program = pathlib.Path(folder, "t.json"), program_beside(given, "example_peer_copy")
        run = start("trace", "-o", timeline, "--", "sh", "-c", f"{program} && {program}; true")
        check(run.returncode == 0, "the programs fail", run)
        found = check_events(json.loads(timeline.read_text(encoding="utf-8")), 2)
        check({event["pid"] for event in found[("X", "transfer")]} == {0, 1}, "not two processes")
        summary = start("trace", "summary", timeline, runtime="none")
        check(summary.stdout.startswith("2 programs of 1 rank on "), "not two of one rank", summary)
        check("were recorded" not in summary.stdout and "compared" not in summary.stdout, "a rank or a clock is missing", summary)


def parts(start, given):
    """Of a timeline that no browser opens a part is shown."""
    with tempfile.TemporaryDirectory() as folder:
        timeline, shown = pathlib.Path(folder, "t.json"), pathlib.Path(folder, "t.html")
        events = [{"name": "causeway_rank", "ph": "M", "pid": 0, "tid": 0, "args": RANK},
                  *(made_transfer(1e6 * at, 1e6 * at + 10) for at in range(1, 11))]
        text = json.dumps({"otherData": {"job": "j"}, "traceEvents": events})
        timeline.write_text(text + " " * (200 << 20), encoding="utf-8")
        run = start("trace", "view", timeline, runtime="none")
        check(run.returncode == 1 and "9.000 seconds by --from and --to" in run.stderr and not shown.exists(), "no refusal", run)
        timeline.write_text(text, encoding="utf-8")
        run = start("trace", "view", "--from", "2", "--to", "4.5", timeline, runtime="none")
        check(run.returncode == 0, "no page", run)
        times = sorted(float(time) for time in re.findall(r'"ts":([0-9.e]+)', shown.read_text(encoding="utf-8")))
        check(times == [3e6, 4e6, 5e6], f"events at {times}")
        for wrong in (["--from", "3", "--to", "2"], ["--from", "-1"]):
            run = start("trace", "view", *wrong, timeline, runtime="none")
            check(run.returncode == 2, f"{wrong} is taken", run)


def nothing(start, given):
    """What goes wrong is said, and what the program says is passed on."""
    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "t.json")
        for words, status, message in (
                (["trace"], 2, "no program"), (["trace", "--ouput", "x"], 2, "did you mean --output?"),
                (["trace", "veiw", "t.json"], 2, "did you mean view?"), (["trace", "sumary", "x"], 2, "did you mean summary?"),
                (["trace", "view"], 2, "timeline"), (["trace", "summary", "--jsn", "x"], 2, "did you mean --json?"),
                (["trace", "-o", timeline, "--", "true"], 1, "nothing was recorded"),
                (["trace", "-o", timeline, "--", "sh", "-c", "exit 7"], 7, "nothing was recorded: the program ended with status 7"),
                (["trace", "-o", timeline, "--", "/nonexistent/program"], 127, "No such file"),
                (["trace", "summary", timeline], 1, "cannot read"), (["trace", "summary", __file__], 1, "not a timeline")):
            run = start(*words, runtime="none")
            check(run.returncode == status and message in run.stderr, f"{words}: status {status}, '{message}'", run)
        # What a file cannot be made for is not started.
        mark = pathlib.Path(folder, "started")
        for place, why in (pathlib.Path(folder, "none", "t.json"), "No such file or directory"), (folder, "is a directory"):
            run = start("trace", "-o", place, "--", "touch", mark, runtime="none")
            check(run.returncode == 1 and why in run.stderr and not mark.exists(), f"{place}: {why}", run)
        pipe, link = pathlib.Path(folder, "pipe"), pathlib.Path(folder, "link")
        os.mkfifo(pipe)
        link.symlink_to("gone")
        for place, why in ((pipe, "no regular file"), ("/dev/null", "no regular file"),
                           (link, "a link to a file that is not there")):
            run = start("trace", "-o", place, "--", "touch", mark, runtime="none")
            check(run.returncode == 1 and why in run.stderr and not mark.exists(), f"{place}: {why}", run)
        # A file that is no timeline stays; one that is, or is empty, makes room.
        other = pathlib.Path(folder, "program")
        other.write_text("#!/bin/sh\n", encoding="utf-8")
        run = start("trace", "-o", other, "--", "touch", mark, runtime="none")
        check(run.returncode == 1 and f"{other}: it is there and is no timeline" in run.stderr and not mark.exists(), "not refused", run)
        perf = ["perf", "--routes", "file-read", "--sizes", "4K", "--strategies", "auto", "--repetitions", "1", "--directory", folder]
        run = start(*perf, environment={"CAUSEWAY_TRACE": str(other)})
        check(run.returncode == 0 and "no timeline is recorded" in run.stderr and f"{other} is there" in run.stderr, "no warning", run)
        check(other.read_text(encoding="utf-8") == "#!/bin/sh\n" and not list(pathlib.Path(folder).glob("*.part")), "it is overwritten", run)
        # What takes the timeline's place before the program begins to record keeps it from recording, and is left alone.
        run = start("trace", "-o", timeline, "--", "sh", "-c", 'mkdir "$1" && shift && exec "$@"', "sh", timeline,
                    given.program, *perf)
        check(run.returncode == 1 and f"the timeline {timeline} is no regular file" in run.stderr
              and "nothing was recorded" in run.stderr, "a failure is not told of", run)
        check(not list(pathlib.Path(folder).glob("*.part")), "a part is left", run)
        timeline.rmdir()
        # What is recorded and cannot be added, as the place was taken since, is told of, and kept.
        taking = '(while ! ls "$1".*.part >"$2" 2>&1; do sleep 0.02; done; mkdir "$1") & shift 2; exec "$@"'
        run = start("trace", "-o", timeline, "--", "sh", "-c", taking, "sh", timeline, "/dev/null", given.program, *perf, "--seconds", "2")
        told = f"opening the timeline {timeline}: Is a directory; what was not added stays"
        check(run.returncode == 1 and told in run.stderr, "a failure is not told of", run)
        timeline.rmdir()
        run = start("trace", "summary", timeline, runtime="none")
        check(run.returncode == 0 and not list(pathlib.Path(folder).glob("*.part")), "what was not added is lost", run)
        timeline.unlink()
        run = start("trace", "-o", timeline, "--", "touch", timeline, runtime="none")
        check(run.returncode == 1 and "nothing was recorded" in run.stderr, "an empty file is a timeline", run)
        for _ in range(2):
            run = start("trace", "-o", timeline, "--", given.program, *perf)
            check(run.returncode == 0 and start("trace", "summary", timeline).returncode == 0, "a timeline is not replaced", run)
        timeline.unlink()
        # A page does not take its timeline's place.
        text = json.dumps({"traceEvents": [{"name": "causeway_rank", "ph": "M", "pid": 0, "tid": 0, "args": RANK}],
                           "otherData": {"job": "j"}})
        pathlib.Path(folder, "link.html").symlink_to("halo.json")
        for name, page_name in ("halo.html", None), ("halo.json", "halo.json"), ("halo.json", "link.html"):
            shown = pathlib.Path(folder, name)
            shown.write_text(text, encoding="utf-8")
            run = start("trace", "view", *(["-o", pathlib.Path(folder, page_name)] if page_name else []), shown, runtime="none")
            check(run.returncode == 2 and "take the place" in run.stderr and shown.read_text(encoding="utf-8") == text,
                  f"a page in place of {name}", run)
        # Nor that of another file, which may have the default name.
        whole = json.loads(text)
        whole["traceEvents"].append(made_transfer(1000, 2000))
        shown.write_text(json.dumps(whole), encoding="utf-8")
        other = pathlib.Path(folder, "halo.html")
        for more in [], ["-o", other]:
            other.write_text("<!DOCTYPE html>\n<p>mine", encoding="utf-8")
            run = start("trace", "view", *more, shown, runtime="none")
            check(run.returncode == 1 and f"{other} is there and is no page" in run.stderr, "not refused", run)
            check(other.read_text(encoding="utf-8") == "<!DOCTYPE html>\n<p>mine", "it is overwritten", run)
            other.write_text("", encoding="utf-8")
            for _ in range(2):
                run = start("trace", "view", *more, shown, runtime="none")
                check(run.returncode == 0 and other.stat().st_size > 1000, "a page is not replaced", run)
        # Nor is there one of nothing.
        for ends, words, status, message in ((None, (), 1, "has nothing to show"), (2e6, ("--from", "2.5"), 2, "has 1.999 seconds")):
            events = [made_transfer(1000, ends)] if ends else []
            shown.write_text(json.dumps({**json.loads(text), "traceEvents": json.loads(text)["traceEvents"] + events}), encoding="utf-8")
            run = start("trace", "view", *words, "-o", pathlib.Path(folder, "empty.html"), shown, runtime="none")
            check(run.returncode == status and message in run.stderr and not pathlib.Path(folder, "empty.html").exists(), message, run)
        run = start(*perf, environment={"CAUSEWAY_TRACE": "/nonexistent/t.json"})
        check(run.returncode == 0 and "no timeline is recorded" in run.stderr and "/nonexistent" in run.stderr,
              "a timeline that cannot be made stops the program, or is not told of", run)


def look(shown, address="", width=1250):
    """What a real browser makes of a page: what its body says of itself, and the whole of it."""
    known = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
    browser = next(filter(None, map(shutil.which, known)), None)
    if browser is None:
        print("trace_test: skipped: no Chromium (scripts/setup.sh browser)")
        sys.exit(SKIPPED)
    run = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={shown.parent}/profile",
                          f"--window-size={width},800", "--virtual-time-budget=3000", "--dump-dom", f"file://{shown}{address}"],
                         text=True, capture_output=True, check=False, timeout=120)
    body = re.search(r"<body([^>]*)>", run.stdout)
    check(body and 'data-ready="yes"' in body[1], "the page does not come up", run)
    return dict(re.findall(r'data-([a-z]+)="([^"]*)"', body[1])), run.stdout


def pictures(start, given):
    """Those of the tutorial are made by the browser that scripts/setup.sh installs."""
    script = pathlib.Path(given.run_with).resolve().parent / "tutorial_pictures.py"
    with tempfile.TemporaryDirectory() as folder:
        def told():
            return subprocess.run([sys.executable, script, "--bin", "/nonexistent"], text=True, capture_output=True,
                                  check=False, env={**os.environ, "PATH": folder}).stderr

        check("no Chromium" in told(), "none is missed")
        browser = pathlib.Path(folder, "chromium-headless-shell")
        browser.touch(mode=0o755)
        check("no Chromium" not in told() and "/nonexistent/causeway" in told(), f"it is not found: {told()}")


def page(start, given):
    """The page shows all slices and follows arrows in a real browser, without network."""
    with tempfile.TemporaryDirectory() as folder:
        timeline, shown = pathlib.Path(folder, "t.json"), pathlib.Path(folder, "t.html")
        run = start("trace", "-o", timeline, "--", program_beside(given, "himeno"), *HIMENO, ranks=2)
        check(run.returncode == 0, "the program fails", run)
        run = start("trace", "view", timeline, runtime="none", ranks=1)
        check(run.returncode == 0 and run.stdout.strip() == str(shown), "no page", run)
        text = shown.read_text(encoding="utf-8")
        check(not re.search(r"""(src|href)\s*=\s*["']?http|@import|fetch\(""", text), "the page needs the network")
        events = json.loads(timeline.read_text(encoding="utf-8"))["traceEvents"]
        slices = sum(event["ph"] == "X" for event in events)
        arrows = sum(event["ph"] == "s" for event in events)
        last = max(event["args"]["transfer"] for event in events if event.get("cat") == "transfer" and event["pid"] == 1)

        seen, html = look(shown)
        check(int(seen["slices"]) == slices, f"{seen['slices']} of {slices} slices are known")
        check(int(seen["arrows"]) == arrows, f"{seen['arrows']} of {arrows} arrows are known")
        check(int(seen["path"]) > 2 and int(seen["rows"]) < int(seen["lanes"]) + 2 * 5, f"no critical path, or nothing is folded: {seen}")
        seen, html = look(shown, f"#rank=1&transfer={last}")
        check("rank 0" in seen["selected"], f"selected: {seen['selected']}")
        check(int(seen["chain"]) >= 2, "nothing waited for anything")
        check("<dt>strategy</dt>" in html and "waited for" in html, "no details")


# Stands before the page's own script: keeps what is drawn since the picture was cleared.
WATCH = """<script>
window.drawn = [];
const painter = CanvasRenderingContext2D.prototype;
for (const name of ["clearRect", "fillRect", "bezierCurveTo"]) {
  const real = painter[name];
  painter[name] = function (...at) {
    if (name === "clearRect") window.drawn = [];
    window.drawn.push([name, this.fillStyle, ...at]);
    real.apply(this, at);
  };
}
</script>"""

# Stands behind it: does what a user's hand does, and writes down what is seen after each step.
HAND = """<script>
const picture = document.getElementById("canvas"), steps = {};
const slices = () => window.drawn.filter(each => each[0] === "fillRect" && ["#2f6bb8", "#287a4b"].includes(each[1]));
const see = name => {
  const body = document.body.dataset;
  steps[name] = {from: Number(body.from), to: Number(body.to), slices: slices().map(each => each.slice(1)),
    arrows: window.drawn.filter(each => each[0] === "bezierCurveTo").length, selected: body.selected};
};
const mouse = (kind, x, y, more = {}) => picture.dispatchEvent(new (kind === "wheel" ? WheelEvent : MouseEvent)(kind,
  {clientX: x, clientY: y + picture.getBoundingClientRect().top, bubbles: true, cancelable: true, ...more}));
const key = name => window.dispatchEvent(new KeyboardEvent("keydown", {key: name}));
see("address");
steps.width = picture.clientWidth;
const ratio = picture.width / picture.clientWidth, [, , left, top_, wide, high] = slices()[0];
steps.pixel = [...picture.getContext("2d").getImageData((left + wide - 3) * ratio, (top_ + 1) * ratio, 1, 1).data];
const [, , x, y] = slices()[1];
mouse("mousedown", x + 5, y + 5);
mouse("mouseup", x + 5, y + 5);
see("click");
steps.details = document.getElementById("details").innerText;
mouse("wheel", 250 + (picture.clientWidth - 250) / 4, 100, {deltaY: -100});
see("wheel");
key("0"); see("all");
key("w"); see("in");
key("d"); see("right");
mouse("mousedown", 500, 100, {buttons: 1});
mouse("mousemove", 600, 100, {buttons: 1});
mouse("mouseup", 600, 100);
see("drag");
key("Escape"); see("escape");
key("0");
mouse("mousedown", 300, 5, {buttons: 1});
mouse("mousemove", 400, 5, {buttons: 1});
mouse("mouseup", 400, 5);
see("range");
steps.range = {length: Number(document.body.dataset.range), text: document.getElementById("details").innerText};
key("Escape");
const search = document.getElementById("search");
const find = text => { search.value = text; search.dispatchEvent(new Event("input")); return Number(document.body.dataset.found); };
steps.found = [find("k"), document.body.dataset.selected, find("no such name"), find("")];
key("Escape");
const press = id => { document.getElementById(id).click(); return Number(document.body.dataset.rows); };
steps.rows = [press("unfold"), press("fold"), press("unfold")];
steps.contrast = Math.min(...[...Object.values(colours), ...palette, ...Object.values(block_colours)].map(each => contrast_of(each, ink_on(each))));
steps.texts = ["--ink", "--pale", "--warn"].map(name => {
  const of = getComputedStyle(document.documentElement), colour = which => {
    const text = of.getPropertyValue(which).trim();
    return text.length === 4 ? "#" + [...text.slice(1)].map(each => each + each).join("") : text;
  };
  return Math.min(contrast_of(colour(name), colour("--back")), contrast_of(colour(name), colour("--band")));
});
steps.fits = document.documentElement.scrollWidth <= window.innerWidth;
steps.causes = document.getElementById("causes").innerText;
document.querySelector("#causes [data-part]").click();
steps.followed = document.body.dataset.selected;
steps.names = ["a-device, Portable Computing Language 3.1: queue 1", "NVIDIA H200, NVIDIA CUDA 580.1: copy in", "ranks of a node, Open MPI v4.1.4: send", "transfers"].map(short_name);
document.body.insertAdjacentHTML("beforeend", `<pre id="steps">${JSON.stringify(steps)}</pre>`);
</script>"""


def drawing(start, given):
    """What is drawn, and where, of a timeline of which all is known; how it follows the address, the mouse and the keys."""
    def lane(number, name):
        return {"name": "thread_name", "ph": "M", "pid": 0, "tid": number, "args": {"name": name}}

    def arrow(phase, lane_number, at):
        return {"name": "waits for", "cat": "waits for", "id": 1, "ph": phase, "pid": 0, "tid": lane_number, "ts": at, "bp": "e"}

    command = {"name": "k", "ph": "X", "cat": "command", "pid": 0, "tid": 2, "ts": 1150, "dur": 50, "args": {}}
    events = [{"name": "causeway_rank", "ph": "M", "pid": 0, "tid": 0, "args": RANK}, lane(1, "transfers"), lane(2, "queue"),
              made_transfer(1100, 1200, 50, transfer=1, strategy="<!--<script>"), made_transfer(1300, 1400, 80, transfer=2), command,
              arrow("s", 2, 1200), arrow("f", 1, 1300)]
    with tempfile.TemporaryDirectory() as folder:
        timeline, shown = pathlib.Path(folder, "t.json"), pathlib.Path(folder, "t.html")
        timeline.write_text(json.dumps({"traceEvents": events, "otherData": {"job": "j"}}), encoding="utf-8")
        run = start("trace", "view", timeline, runtime="none")
        check(run.returncode == 0, "no page", run)
        text = shown.read_text(encoding="utf-8")
        shown.write_text(text.replace("<head>", "<head>" + WATCH).replace("</body>", HAND + "</body>"), encoding="utf-8")
        html = look(shown, "#from=0&to=300")[1]
        small = re.search(r'<pre id="steps">({.*})</pre>', look(shown, "#from=0&to=300", width=700)[1])
        check(small, "nothing is drawn at 700 pixels")
        narrow = json.loads(unescape(small[1]))
    # Half of a transfer's limit and four fifths; half of one of two equal transfers is beside the kernel.
    check("<td>65 %</td>" in html and "<td>25 %</td>" in html, f"the table: {html[-3000:]}")
    told = re.search(r'<pre id="steps">({.*})</pre>', html)
    check(told, "nothing is drawn: the hand found no slices")
    steps = json.loads(unescape(told[1]))
    width = steps["width"] - 250  # beside the names of lanes

    def check_picture(name, begin, end, **more):
        """Times count from the first slice."""
        seen = steps[name]
        check(abs(seen["from"] - begin) < 0.01 and abs(seen["to"] - end) < 0.01, f"{name}: {begin} to {end}: {seen}")
        place = lambda time: 250 + width * min(max((time - begin) / (end - begin), 0), 1)
        expected = [("#2f6bb8", 0, 100), ("#2f6bb8", 200, 300), ("#287a4b", 50, 100)]
        expected = [(colour, place(left), place(right)) for colour, left, right in expected if right >= begin and left <= end]
        drawn = [(colour, x, x + wide) for colour, x, _, wide, _ in seen["slices"]]
        check(len(drawn) == len(expected) and all(one[0] == other[0] and abs(one[1] - other[1]) < 0.1 and abs(one[2] - other[2]) < 1.1
                                                  for one, other in zip(drawn, expected)), f"{name}: {drawn}, not {expected}")
        for what, value in more.items():
            check(seen[what] == value, f"{name}: {what}: {seen[what]}")
        return begin, end

    check_picture("address", 0, 300, arrows=0, selected="")
    check(steps["pixel"] == [0x2f, 0x6b, 0xb8, 255], f"the first transfer has the colour {steps['pixel']}")
    check_picture("click", 0, 300, arrows=1, selected="a file -> device buffer")
    check(re.search(r"of limit\s+80 %", steps["details"]) and "waited for" in steps["details"], f"{steps['details']}")
    span = 300 * math.exp(-0.2)
    check_picture("wheel", 75 - span / 4, 75 + span * 3 / 4, arrows=1)  # what is below the mouse stays there
    check_picture("all", -3, 303)
    begin, end = check_picture("in", 150 - 153 * 0.7, 150 + 153 * 0.7)
    by = 0.2 * (end - begin)
    begin, end = check_picture("right", begin + by, end + by)
    by = 100 / width * (end - begin)
    check_picture("drag", begin - by, end - by, arrows=1)
    check_picture("escape", begin - by, end - by, arrows=0, selected="")
    check(abs(steps["range"]["length"] - 100 / width * 306) < 0.1 and "rank 0, transfer" in steps["range"]["text"], f"the range: {steps['range']}")
    check(steps["found"] == [1, "k", 0, 0], f"found: {steps['found']}")
    check(steps["rows"] == [3, 1, 3], f"rows unfolded, folded and again: {steps['rows']}")
    check(steps["contrast"] >= 4.5 and min(steps["texts"]) >= 4.5, f"contrast: {steps['contrast']}, {steps['texts']}")
    check("Largest gaps" in steps["causes"] and "Critical path: 2 steps" in steps["causes"], f"the causes: {steps['causes']}")
    check(steps["followed"], "a link of the critical path selects nothing")
    check(steps["names"] == ["PoCL · queue 1", "NVIDIA H200 · copy in", "MPI · send", "transfers"], f"names: {steps['names']}")
    check(steps["fits"] and narrow["fits"] and abs(narrow["width"] - 700) < 20, f"at 700 pixels: {narrow['fits']}, {narrow['width']}")


TESTS = {"cluster": cluster, "commands": commands, "killed_idle": killed_idle, "names": names, "himeno": himeno, "limit": limit, "summary": summary, "ordinary": ordinary, "files": files,
         "fork": fork, "graph": graph, "python": python, "killed": killed, "nothing": nothing, "page": page, "drawing": drawing,
         "pictures": pictures, "parts": parts, "programs": programs, "signals": signals}


if __name__ == "__main__":
    run_one_of(TESTS)
