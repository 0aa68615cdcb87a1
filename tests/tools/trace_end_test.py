#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of how `causeway trace` starts programs, and of how these end.

Usage: trace_end_test.py --program CAUSEWAY --run-with RUN_WITH.SH [--mpiexec PATH] [--runtime NAME] TEST
"""
import fcntl
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import termios
import time

from perf_test import check, run_one_of
from trace_checks import RANK, check_events, made_transfer, program_beside

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
source = "kernel void %s(global float *x) { x[get_global_id(0)] *= 2; }"
program = pyopencl.Program(context, source % "early" + source % "the_last").build()
for _ in range(40):
    program.early(queue, (1024,), None, buffer)
queue.finish()
program.the_last(queue, (1024,), None, buffer)
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
            for _ in range(1200):
                parts = list(pathlib.Path(folder).glob("t.json.*.part"))
                seen = parts[0].read_bytes().count(b"the_last") if parts else 0
                if seen > 0 or run.poll() is not None:
                    break
                time.sleep(0.05)
            check(run.poll() is None and seen > 0, f"the commands are not there: {seen}")
            os.kill(int(parts[0].name.split(".")[-2]), signal.SIGKILL)
            run.communicate()
        commands = check_events(json.loads(timeline.read_text(encoding="utf-8")), 1)[("X", "command")]
        check([event["name"] for event in commands].count("early") == 40, f"commands {commands}")


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
        run = start("trace", "-o", pathlib.Path(folder, "\x1b[2J.json"), "--", given.program, *perf)
        check(run.returncode == 0 and "\\x1b[2J.json" in run.stderr and "\x1b" not in run.stderr, "control characters", run)
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


TESTS = {"fork": fork, "killed": killed, "killed_idle": killed_idle, "nothing": nothing, "programs": programs, "signals": signals}


if __name__ == "__main__":
    run_one_of(TESTS)
