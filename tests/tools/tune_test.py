#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `causeway tune` and of what CAUSEWAY_EXPLAIN prints, as users start them.

Usage: tune_test.py --program CAUSEWAY --run-with RUN_WITH.SH [--mpiexec PATH] [--sanitizer KIND] [--runtime NAME] TEST
"""
import json
import os
import pathlib
import re
import stat
import tempfile

from perf_test import check, run_one_of

OPERATIONS = {"copy in", "copy out", "map in", "map out", "read", "write", "send", "receive", "window", "link", "link in"}
EXPLAINED = re.compile(
    r"causeway: .+ -> .+, \d+ [KMGT]?i?B: [a-z-]+, block \d+ [KMGT]?i?B, depth \d+, I/O threads \d+, "
    r"(by rules|by figures( \(next best: [a-z-]+, [\d.]+ (us|ms|s)\))?|forced by options); "
    r"expected (nothing|[\d.]+ (us|ms|s)), took [\d.]+ (us|ms|s), [\d.e+-]+ GB/s(, beside others)?")


class cache:
    """A folder for the figures, and the environment that leads there."""

    def __init__(self, folder, mode="auto"):
        self.environment = {"XDG_CACHE_HOME": folder, "CAUSEWAY_TUNER": mode}
        self.file = pathlib.Path(folder, "causeway", "tuner.json")

    def stages(self):
        return json.loads(self.file.read_text(encoding="utf-8"))["stages"]


def check_stages(stages, wanted):
    """The operations are those that are wanted, with times that grow."""
    found = {stage["operation"] for stage in stages}
    check(found >= wanted, f"operations {found} are measured, not {wanted}")
    check(found <= OPERATIONS, f"unknown operations: {found}")
    for stage in stages:
        times = stage["seconds"]
        check(len(times) == 7 and times[0] > 0 and times == sorted(times), f"no times: {stage}")
        check(stage["bytes_per_second_at_once"] > 0 and stage["gap_at_once"] > 0, f"no limits: {stage}")
        check(stage["seen"] > 1e9 and stage["place"], f"no sense: {stage}")


def devices(start, _):
    """The devices are measured, kept for the user alone, shown, and forgotten."""
    with tempfile.TemporaryDirectory() as folder:
        kept = cache(folder)
        run = start("tune", "--json", pathlib.Path(folder, "figures.json"), environment=kept.environment)
        check(run.returncode == 0 and not run.stderr, "tune fails", run)
        check_stages(kept.stages(), {"copy in", "copy out", "map in", "map out"})
        written = json.loads(pathlib.Path(folder, "figures.json").read_text(encoding="utf-8"))
        check(written["stages"] == kept.stages(), "--json has other figures than the file", run)
        check(stat.S_IMODE(kept.file.stat().st_mode) == 0o600, "others may read the file", run)
        for word in ("copy in", "map out", str(kept.file)):
            check(word in run.stdout, f"the table has no {word}", run)
        check(re.search(r"^measured in \d+\.\d\d s: \S", run.stdout, re.MULTILINE), "it does not say how long it took", run)
        check(written["measured"] and all(each["seconds"] > 0 for each in written["measured"]), "--json has no times", run)
        shown = start("tune", "--show", environment=kept.environment)
        check("measured in" not in shown.stdout, "--show measures", shown)
        table = [line.rsplit(maxsplit=2)[0] for line in run.stdout.splitlines() if line.startswith("  ")]
        check(all(line in shown.stdout for line in table), "--show has another table", shown)
        run = start("tune", "--clear", environment=kept.environment)
        check(run.returncode == 0 and not kept.file.exists(), "--clear leaves the file", run)
        run = start("tune", "--show", environment=kept.environment)
        check("nothing is known yet" in run.stdout, "--clear leaves figures", run)
        linked = start("tune", environment=kept.environment | {"CAUSEWAY_BRIDGE": "host"})
        check(linked.returncode == 0, "tune fails where devices have a link", linked)
        check_stages(kept.stages(), {"copy in", "link", "link in"})


def directory(start, _):
    """A file system is measured, and nothing stays in it."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as measured:
        kept = cache(folder)
        run = start("tune", "--directory", measured, "--json", "-", environment=kept.environment)
        check(run.returncode == 0, "tune --directory fails", run)
        check(json.loads(run.stdout)["stages"] == kept.stages(), "standard output has other figures", run)
        check_stages(kept.stages(), {"read", "write"})
        check(any(stage["place"].startswith("file system ") for stage in kept.stages()), "no file system", run)
        check(not os.listdir(measured), "something was left in the directory", run)


def ranks(start, _):
    """Two ranks measure their messages; one of them keeps the figures."""
    with tempfile.TemporaryDirectory() as folder:
        kept = cache(folder)
        run = start("tune", ranks=2, environment=kept.environment)
        check(run.returncode == 0, "tune with two ranks fails", run)
        check_stages(kept.stages(), {"send", "receive"})
        check(run.stdout.count("kept in") == 1, "not one rank speaks", run)
        run = start("tune", "--directory", folder, ranks=2, environment=kept.environment)
        check(run.returncode == 2 and "without mpirun" in run.stderr, "--directory with ranks is not refused", run)


def explained(start, _):
    """CAUSEWAY_EXPLAIN=1 says a whole line of each transfer: by rules, then by figures."""
    with tempfile.TemporaryDirectory() as folder:
        kept = cache(folder)
        perf = ["perf", "--routes", "file-read", "--sizes", "4K,64K,4M", "--strategies", "auto,pinned",
                "--repetitions", "1", "--directory", folder]
        kept.environment["CAUSEWAY_EXPLAIN"] = "1"
        for mode, reason in (("off", "by rules"), ("auto", "by figures")):
            if mode == "auto":
                quiet = {**kept.environment, "CAUSEWAY_EXPLAIN": "0"}
                check(start("tune", "--directory", folder, environment=quiet).returncode == 0, "tune fails")
            run = start(*perf, environment={**kept.environment, "CAUSEWAY_TUNER": mode})
            lines = [line for line in run.stderr.splitlines() if "causeway: " in line]
            check(run.returncode == 0 and len(lines) > 20, f"{mode}: {len(lines)} lines", run)
            for line in lines:
                check(EXPLAINED.fullmatch(line), f"{mode}: this line is not whole: {line}")
            check(any(reason in line for line in lines), f"{mode}: no choice {reason}", run)
            check(any("forced by options" in line for line in lines), f"{mode}: nothing was forced", run)
            check(mode == "off" or any(reason in line and "expected nothing" not in line for line in lines),
                  "no figures are told", run)


def arguments(start, _):
    """Wrong arguments end with status 2."""
    for words, message in ((["--shw"], "did you mean --show?"), (["--show", "--clear"], "exclude each other"),
                           (["--device", "many"], "--device"), (["--device", "99"], "from 0"), (["now"], "now")):
        run = start("tune", *words)
        check(run.returncode == 2 and message in run.stderr, f"tune {words} is not refused", run)
    run = start("tune", "--json", "/nonexistent/figures.json", environment={"CAUSEWAY_TUNER": "auto"})
    check(run.returncode == 2 and "/nonexistent/figures.json" in run.stderr, "a file that cannot be made passes", run)
    check("measured in" not in run.stdout, "it is said after all has been measured", run)
    run = start("tune", "--directory", "/nonexistent", environment={"CAUSEWAY_TUNER": "auto"})
    check(run.returncode == 1 and "/nonexistent" in run.stderr, "a directory that is not there passes", run)


def bad_files(start, _):
    """A file that is damaged, of another version or unreadable gives one warning, and the program goes on."""
    with tempfile.TemporaryDirectory() as folder:
        kept = cache(folder)
        kept.file.parent.mkdir()
        foreign = '{"version": 99, "stages": []}'
        for text, warning in (("{", "it is damaged"), (foreign, "version 99")):
            kept.file.write_text(text, encoding="utf-8")
            run = start("tune", environment=kept.environment)
            check(run.returncode == (text == foreign) and "copy in" in run.stdout, "tune with such a file", run)
            check(("kept in" in run.stdout) == (text != foreign), "it says where figures are that are not kept", run)
            check(run.stderr.count(warning) >= 1 and run.stderr.count("are ignored") == 1, "not one warning", run)
            if text == foreign:
                check(kept.file.read_text(encoding="utf-8") == foreign, "the file of another version has changed", run)
            else:
                check_stages(kept.stages(), {"copy in"})
        kept.file.unlink()
        kept.file.mkdir()
        run = start("tune", environment=kept.environment)
        check(run.returncode == 1 and "warning" in run.stderr and "\nnot kept: " in run.stdout,
              "a directory in the file's place is not told of", run)
        run = start("tune", environment={**kept.environment, "XDG_CACHE_HOME": "/proc/nowhere"})
        check(run.returncode == 1 and run.stderr.count("are not kept") == 1, "an impossible folder is not told of", run)
        check("kept in" not in run.stdout and "\nnot kept: " in run.stdout, "an impossible folder has figures", run)


def modes(start, _):
    """With the tuner fixed or off nothing is measured; fixed reads the file and never changes it."""
    with tempfile.TemporaryDirectory() as folder:
        kept = cache(folder)
        check(start("tune", "--directory", folder, environment=kept.environment).returncode == 0, "tune fails")
        before = kept.file.read_bytes()
        perf = ["perf", "--routes", "file-read", "--sizes", "64K", "--strategies", "auto", "--repetitions", "20",
                "--directory", folder]
        for mode in ("fixed", "off"):
            environment = {**kept.environment, "CAUSEWAY_TUNER": mode}
            run = start("tune", environment=environment)
            check(run.returncode == 1 and "auto" in run.stderr, f"{mode}: tune is not refused", run)
            run = start("tune", "--show", environment=environment)
            check(("copy in" in run.stdout) == (mode == "fixed"), f"{mode}: other figures are known", run)
            run = start(*perf, environment={**environment, "CAUSEWAY_EXPLAIN": "1"})
            check(run.returncode == 0 and ("by figures" in run.stderr) == (mode == "fixed"), f"{mode}: plans", run)
        check(kept.file.read_bytes() == before, "the file has changed", None)
        run = start(*perf, environment=kept.environment)
        check(run.returncode == 0 and kept.file.read_bytes() != before, "what was learnt is not kept", run)


TESTS = {"devices": devices, "directory": directory, "ranks": ranks, "explained": explained, "arguments": arguments,
         "bad_files": bad_files, "modes": modes}


if __name__ == "__main__":
    run_one_of(TESTS)
