#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `causeway tasks`. Usage: command_test.py PROGRAM"""
import json
import pathlib
import subprocess
import sys
import tempfile


def run(*arguments):
    return subprocess.run([sys.argv[1], "tasks", *arguments], text=True, capture_output=True, timeout=50, check=False)


def check(holds, what, done=None):
    if not holds:
        sys.exit(f"{what}\n{done.stdout}\n{done.stderr}" if done else what)


def far_tasks(path, *arguments):
    """How many tasks of a modelled Map are shown in the colours of mostly far memory, and how many in those of near memory."""
    done = run("simulate", "map", "--distribution", "coarse", *arguments, "--timeline", str(path))
    check(done.returncode == 0, "a timeline", done)
    slices = [event for event in json.loads(path.read_text(encoding="utf-8"))["traceEvents"] if event["ph"] == "X"]
    check(all((event["args"]["remote"] < 0.2) == (event["cname"] == "good") for event in slices), "green is near memory")
    far = sum(event["cname"] == "rail_response" for event in slices)
    return far, sum(event["cname"] == "good" for event in slices)


def check_colours(path):
    """What the timelines of the paper's Figures 8, 10 and 11 show."""
    check(far_tasks(path, "--policy", "locality") == (0, 48), "Figure 8: near memory under locality")
    check(far_tasks(path, "--policy", "work-stealing")[0] > 36, "Figure 8: far memory under stealing")
    tiles = ("--machine", "tilepro64")
    check(far_tasks(path, *tiles, "--policy", "locality") == (0, 63), "Figure 10: the own home cache under locality")
    check(far_tasks(path, *tiles, "--policy", "work-stealing")[0] > 50, "Figure 10: other tiles' caches under stealing")
    stolen = [far_tasks(path, *tiles, "--policy", "locality-paper", "--vicinity", size)[0] for size in ("1", "4", "8", "16", "0")]
    check(stolen[0] == 0 and 0 < stolen[1] < stolen[2] < min(stolen[3:]), f"Figure 11: more is stolen in larger vicinities: {stolen}")


def main():
    done = run("simulate", "map", "--regret")
    check(done.returncode == 0 and done.stdout.startswith("modelled: map on opteron48, distribution coarse\n"), "map", done)
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()[2:]}
    check(set(rows) == {"work-stealing", "central", "locality", "locality-paper"}, "all policies", done)
    check(float(rows["locality"][0]) < float(rows["work-stealing"][0]), "locality is faster", done)
    check(rows["locality"][1] == "0.0%", "locality moves nothing between nodes", done)
    check("best: " in done.stdout, "regret names the best schedule", done)

    with tempfile.TemporaryDirectory() as folder:
        timeline = pathlib.Path(folder, "map.json")
        done = run("simulate", "map", "--machine", "node:2 core:3 pu:1", "--policy", "locality", "--timeline", str(timeline))
        check(done.returncode == 0, "a timeline", done)
        events = json.loads(timeline.read_text(encoding="utf-8"))
        slices = [event for event in events["traceEvents"] if event["ph"] == "X"]
        check(len(slices) == 48 and {event["tid"] for event in slices} == set(range(6)), "48 tasks on 6 workers")
        arrows = sum(event["ph"] == "s" for event in events["traceEvents"])
        check(0 < arrows == sum(event["args"]["came"] != "own" for event in slices), "an arrow for each deal and steal")
        check("modelled" in events["otherData"]["title"], "the timeline says that it is modelled")
        check_colours(pathlib.Path(folder, "colours.json"))
        record = pathlib.Path(folder, "run.tasks")
        record.write_text("causeway tasks 2\ntask -1 0 0 2000000 0 0 0 -1 own -1\nregion 4096 64 3 0\n"
                          "task -1 0 2000000 3000000 0 1 1999000 0 stolen 0.5\n"
                          "region 4096 64 3 0\n", encoding="utf-8")
        done = run("simulate", str(record), "--policy", "central", "--machine", "node:1 core:2 pu:1")
        check(done.returncode == 0 and abs(float(done.stdout.splitlines()[2].split()[1]) - 3.0) < 0.1, "a chain of 3 ms", done)
        done = run("timeline", str(record), "-o", str(timeline))
        check(done.returncode == 0, "as it was", done)
        events = json.loads(timeline.read_text(encoding="utf-8"))["traceEvents"]
        check([event["ph"] for event in events] == ["M", "M", "X", "M", "X", "s", "f"], "lanes, tasks, and an arrow for the steal")
        check(events[4]["args"] == {"came": "stolen", "remote": 0.5} and events[5]["tid"] == 0 and events[6]["tid"] == 1, "the steal")
        record.write_text("causeway tasks 2\ntask -1 0 9 2 0 0 0 -1 own -1\n", encoding="utf-8")
        done = run("simulate", str(record))
        check(done.returncode == 2 and "line 2" in done.stderr, "a bad record names its line", done)

    for words, part in ((("simulate", "tetris"), "tetris"), (("simulate", "map", "--machine", "nowhere.xml"), "nowhere.xml"),
                        (("simulate", "map", "--timeline", "x.json"), "--policy"), (("timeline", "none.tasks"), "none.tasks"),
                        (("simulate", "map", "--vicinity", "5"), "vicinity")):
        done = run(*words)
        check(done.returncode != 0 and part in done.stderr, f"{words} is refused", done)


if __name__ == "__main__":
    main()
