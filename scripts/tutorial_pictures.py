#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/pictures/tutorial_*.png: the page of `causeway trace view` of each program of the tutorial, as Chromium shows
it. Of several runs the one that took least is shown. Let nobody else have the processors meanwhile.

Usage: scripts/run_with.sh pocl -- scripts/tutorial_pictures.py [--bin build/release/bin] [--output docs/pictures] [--runs 3]
       scripts/tutorial_pictures.py --recorded FOLDER --suffix _h100

FOLDER has PROGRAM-RUN.json, recorded elsewhere: on a machine with GPUs, say, that has no browser.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = {"tutorial_1_ordinary": 2.3, "tutorial_2_commands": 2.3, "tutorial_3_overlap": 2.3, "tutorial_4_files": 3.5}
STEPS, EVERY = 30, 10
SIZE = (1180, 580)


def took_of(timeline):
    """From the first to the last event, in microseconds."""
    events = [event for event in json.loads(timeline.read_text(encoding="utf-8"))["traceEvents"] if event["ph"] == "X"]
    kernels = [event["ts"] for event in events if event["name"] == "heat"]
    return max(event["ts"] + event["dur"] for event in events) - min(kernels)


def record(programs, program, folder, runs):
    """The timeline of the quickest run."""
    best = None
    for run in range(runs):
        timeline = folder / f"{program}-{run}.json"
        said = subprocess.run([programs / "causeway", "trace", "-o", timeline, "--", programs / "causeway", "run", "-n", "2",
                               "--", programs / program, folder / "plate"], check=True, text=True, stdout=subprocess.PIPE,
                              env={**os.environ, "POCL_MAX_PTHREAD_COUNT": "1", "POCL_CPU_MAX_CU_COUNT": "1"}).stdout
        took = float(re.search(r"steps in ([\d.]+) ms", said)[1])
        print(f"{program}: {took} ms")
        if best is None or took < best[0]:
            best = (took, timeline)
    return best[1]


def window_of(timeline, steps):
    """From before a step in which the plate is stored, in microseconds since the timeline's begin."""
    events = [event for event in json.loads(timeline.read_text(encoding="utf-8"))["traceEvents"] if event["ph"] == "X"]
    begin = min(event["ts"] for event in events)
    kernels = sorted(event["ts"] - begin for event in events if event["name"] == "heat" and event["pid"] == 0)
    first, last = kernels[2], kernels[-1]  # behind those of the set-up
    a_step = (last - first) / STEPS
    middle = kernels[2 + round((len(kernels) - 2) * (2 * EVERY - 1) / STEPS)]
    return middle - 0.15 * a_step, middle + (steps - 0.15) * a_step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("docs/pictures"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--recorded", type=pathlib.Path)
    parser.add_argument("--suffix", default="")
    given = parser.parse_args()
    known = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
    browser = next(filter(None, map(shutil.which, known)), None)
    if browser is None:
        sys.exit("no Chromium (scripts/setup.sh browser)")
    programs = given.bin.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for program, steps in PROGRAMS.items():
            if given.recorded:
                timeline = min(given.recorded.glob(f"{program}-*.json"), key=took_of)
            else:
                timeline = record(programs, program, folder, given.runs)
            print(subprocess.run([programs / "causeway", "trace", "summary", timeline], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout)
            page = folder / f"{program}.html"
            subprocess.run([programs / "causeway", "trace", "view", "-o", page, timeline], check=True, stdout=subprocess.DEVNULL)
            begin, end = window_of(timeline, steps)
            picture = given.output / f"{program}{given.suffix}.png"
            subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                            f"--user-data-dir={folder}/profile", f"--window-size={SIZE[0]},{SIZE[1]}",
                            "--virtual-time-budget=3000", f"--screenshot={picture}",
                            f"file://{page}#from={begin:.0f}&to={end:.0f}"], check=True, capture_output=True)


if __name__ == "__main__":
    main()
