#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `causeway run` and `causeway completion`, as users start them.

Usage: run_test.py --program CAUSEWAY --run-with RUN_WITH.SH [--mpiexec PATH] [--sanitizer KIND] TEST
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from perf_test import check, run_one_of


def ranks(start, given):
    """A program on two ranks, its words, its environment and its exit status."""
    script = 'echo "rank $OMPI_COMM_WORLD_RANK$PMI_RANK of $OMPI_COMM_WORLD_SIZE$PMI_SIZE: $1 $CAUSEWAY_BLOCK $HWLOC_COMPONENTS"'
    run = start("run", "-n", "2", "--", "sh", "-c", script, "sh", "--dry-run", runtime="none",
                environment={"CAUSEWAY_BLOCK": "8K"})
    lines = sorted(run.stdout.split("\n"))
    check(run.returncode == 0 and [f"rank {n} of 2: --dry-run 8K -opencl" for n in (0, 1)] == lines[1:], "two ranks", run)
    for words in (["sh", "-c", "exit 3"], ["--", "sh", "-c", "exit 3"]):
        run = start("run", "-n", "1", *words, runtime="none")
        check(run.returncode == 3, "the exit status is not passed on", run)
    run = start("run", "-n", "2", pathlib.Path(given.program).parent / "example_listing3")
    check(run.returncode == 0, "an example fails", run)


def dry(start, given):
    """--dry-run prints a command that a shell takes, and starts nothing."""
    run = start("run", "-n", "3", "--dry-run", "--launcher-option", "--quiet", "/nonexistent/a program", "it's", "--x",
                runtime="none")
    check(run.returncode == 0, "--dry-run fails", run)
    words = [word for word in shlex.split(run.stdout) if "=" not in word]
    check(words[1:3] == ["-n", "3"] and words[-4:] == ["--quiet", "/nonexistent/a program", "it's", "--x"], "the words", run)
    check(os.access(words[0], os.X_OK), f"{words[0]} is no launcher", run)


def arguments(start, given):
    """Wrong arguments end with status 2 and say what to do."""
    for words, message in (([], "no program"), (["-n", "0", "true"], "at least one"), (["--rnks", "2", "true"], "--ranks"),
                           (["-n", "two", "true"], "--ranks")):
        run = start("run", *words, runtime="none")
        check(run.returncode == 2 and message in run.stderr, f"run {words} is not refused", run)
    run = start("run", "-n", "2", "true", runtime="none", ranks=2)
    check(run.returncode == 2 and "rank of a job already" in run.stderr, "run under a launcher is not refused", run)
    run = start("rnu", runtime="none")
    check(run.returncode == 2 and "did you mean run?" in run.stderr, "a wrong word gets no right one", run)


def helps(start, given):
    """Each command's help teaches: what for, examples that begin with its name, and exit statuses."""
    for words in ([], ["info"], ["run"], ["perf"], ["tune"], ["trace"], ["trace", "view"], ["trace", "summary"], ["completion"]):
        run = start(*words, "--help", runtime="none")
        check(run.returncode == 0 and "Exit status: " in run.stdout, f"{words}: no exit status", run)
        examples = run.stdout.partition("Examples:\n")[2]
        check(re.search(rf"^  .*\b{' '.join(['causeway', *words])}\b", examples, re.M), f"{words}: no example", run)
        check(all(len(line) <= 120 for line in run.stdout.splitlines()), f"{words}: lines too long", run)
        check(("PROGRAM" in run.stdout.split("\n\n")[0]) == (words in (["run"], ["trace"])), f"{words}: the usage", run)


def completion(start, given):
    """Completion scripts are for their shells, and know every command and option."""
    help_text = start("--help", runtime="none").stdout
    commands = re.findall(r"^  ([a-z]+) ", help_text.split("Subcommands:")[1].split("Examples:")[0], re.M)
    options = {name: set(re.findall(r"--[a-z-]+", " ".join(re.findall(r"^  \S*--\S+", start(name, "--help", runtime="none").stdout, re.M))))
               for name in commands}
    for shell in ("bash", "zsh", "fish"):
        text = start("completion", shell, runtime="none").stdout
        for name in commands:
            check(name in text, f"{shell} does not know {name}")
            for option in options[name]:
                check(option in text or f"-l {option[2:]} " in text, f"{shell} does not know {name} {option}")
        if shutil.which(shell):
            checked = subprocess.run([shell, "-n"], input=text, text=True, capture_output=True, check=False)
            check(checked.returncode == 0, f"{shell} does not take its script", checked)
    ask = "\n".join([start("completion", "bash", runtime="none").stdout, 'COMP_WORDS=(causeway trace --ou)', "COMP_CWORD=2",
                     "_causeway", 'echo "${COMPREPLY[@]}"'])
    told = subprocess.run(["bash"], input=ask, text=True, capture_output=True, check=False)
    check(told.stdout.strip() == "--output", "bash completes another word", told)
    run = start("completion", "bsh", runtime="none")
    check(run.returncode == 2 and "did you mean bash?" in run.stderr, "a wrong shell is not refused", run)


TESTS = {"ranks": ranks, "dry": dry, "arguments": arguments, "helps": helps, "completion": completion}


if __name__ == "__main__":
    run_one_of(TESTS)
