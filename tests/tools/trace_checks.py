# SPDX-License-Identifier: Apache-2.0
"""What the tests of `causeway trace` share: timelines that are checked, and timelines that are made up."""
import pathlib

from perf_test import check

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


def made_transfer(begin, end, limit=None, **more):
    told = {"waited_us": 3, "moved": 1000, "strategy": "pipelined", **({"limit_us": limit} if limit else {}), **more}
    return {"name": "a file -> device buffer", "ph": "X", "cat": "failure" if "error" in more else "transfer", "pid": 0, "tid": 1,
            "ts": begin, "dur": end - begin, "args": told}


RANK = {"rank": 0, "ranks": 1, "host": "a", "clock": "reference", "clock_uncertainty_ns": 0, "ended": True, "cut": False,
        "commands_without_times": 0}
