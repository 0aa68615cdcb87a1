#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording a timeline costs: runs of a program without, with CAUSEWAY_TRACE, and under causeway trace, in turn.

Usage: trace_cost.py [--rounds N] [--program causeway] [--pattern REGEX] -- COMMAND...
The pattern finds a figure in what COMMAND prints. Prints medians and quartiles, and differences in per cent.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile


def figure(command, pattern, environment):
    run = subprocess.run(command, text=True, capture_output=True, check=True, env={**os.environ, **environment})
    found = re.search(pattern, run.stdout, re.M)
    if not found:
        raise SystemExit(f"trace_cost: no figure in:\n{run.stdout}")
    return float(found[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--program", default="build/release/bin/causeway")
    parser.add_argument("--pattern", default=r"^causeway +(\d+)")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        timeline = str(pathlib.Path(folder, "t.json"))
        ways = {"without": (given.command, {}), "CAUSEWAY_TRACE": (given.command, {"CAUSEWAY_TRACE": timeline}),
                "causeway trace": ([given.program, "trace", "-o", timeline, "--", *given.command], {})}
        figures = {name: [] for name in ways}
        for number in range(given.rounds + 1):
            # Each way follows each other one equally often.
            order = list(ways)[number % 3:] + list(ways)[:number % 3]
            for name in order:
                value = figure(ways[name][0], given.pattern, ways[name][1])
                if number > 0:  # the first to warm up
                    figures[name].append(value)
    middle = {name: statistics.median(values) for name, values in figures.items()}
    for name, values in figures.items():
        low, _, high = statistics.quantiles(values, n=4)
        print(f"{name:16} {middle[name]:10.1f}  ({low:.1f} - {high:.1f})  {100 * (middle[name] / middle['without'] - 1):+6.2f} %")
    pairs = [100 * (b / a - 1) for a, b in zip(figures["without"], figures["CAUSEWAY_TRACE"])]
    print(f"round by round, CAUSEWAY_TRACE beside none: {statistics.median(pairs):+.2f} %")


if __name__ == "__main__":
    main()
