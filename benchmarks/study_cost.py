#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the platform and a study of it cost a program: the vendor alone, the platform, and the study, in turn.

Usage: study_cost.py --build FOLDER --vendors FOLDER [--rounds N] -- PROGRAM [ARGUMENT]...
Prints medians and quartiles of wall and processor time, and what the platform adds to the vendor and the study to the platform, by
the medians of the ratios of each round. On a machine that does other things, processor time says more than wall time.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def run(program, environment):
    """Wall and processor seconds of one run."""
    begin = time.monotonic()
    child = subprocess.Popen(program, env={**os.environ, **environment}, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"study_cost: {program[0]} ended with status {child.returncode}")
    return time.monotonic() - begin, used.ru_utime + used.ru_stime


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:8.3f} ({low:.3f} to {high:.3f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--vendors", required=True)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("program", nargs="+")
    given = parser.parse_args()
    vendors = given.vendors.rstrip("/") + "/"
    platform = {"OCL_ICD_VENDORS": f"{given.build}/share/causeway/opencl-vendors/", "CAUSEWAY_VENDORS": vendors}
    with tempfile.TemporaryDirectory() as folder:
        ways = {"vendor alone": {"OCL_ICD_VENDORS": vendors}, "platform": platform, "study": {**platform, "CAUSEWAY_STUDY": folder}}
        for environment in ways.values():
            run(given.program, environment)  # what is compiled once
        times = {way: [] for way in ways}
        for number in range(given.rounds):
            order = list(ways) if number % 2 == 0 else list(reversed(ways))
            for way in order:
                times[way].append(run(given.program, ways[way]))
    print(f"{' '.join(given.program)}; {given.rounds} rounds")
    for way, values in times.items():
        print(f"{way:14} wall {quartiles([wall for wall, _ in values])} s, processors {quartiles([used for _, used in values])} s")
    for kind, at in (("wall", 0), ("processors", 1)):
        for before, after in (("vendor alone", "platform"), ("platform", "study")):
            ratios = [late[at] / early[at] for early, late in zip(times[before], times[after])]
            print(f"{after} over {before}, {kind}: {100 * (statistics.median(ratios) - 1):+.2f} %")


if __name__ == "__main__":
    main()
