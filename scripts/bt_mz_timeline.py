#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/bt_mz_timeline.png: one step of BT-MZ on two ranks, by several versions, from recorded timelines.

The late rows' queue has a row of its own. Of all steps, the one that took rank 0 least time is shown: others may have had
the processors in the rest. Each rank has the clock of its device.

Usage: scripts/run_with.sh pocl -- scripts/bt_mz_timeline.py [--program build/release/bin/causeway] [--output FILE]
                                                             [--class NAME] [--recorded FOLDER]
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot  # noqa: E402

VERSIONS = {
    "staged": "staged: the field goes to the host and back",
    "messages": "messages: MPI messages as commands",
    "one_sided": "one_sided: puts with signals",
    "openshmem": "openshmem: puts between heaps in device memory, by the host",
    "directives": "directives: OpenACC, and the same puts",
}
STEPS = 12
COPIES = {"read buffer", "write buffer", "map", "unmap"}
ROWS = {"solving": "#2e8b57", "solving late rows": "#8fc9a3", "boundary values, by kernels": "#e0a030", "copies and transfers": "#3b76c4"}


def record(given, version, folder):
    timeline = pathlib.Path(folder, f"{version}.json")
    if not timeline.exists():
        program = pathlib.Path(given.program).parent / "bt_mz"
        subprocess.run([given.program, "trace", "-o", timeline, "--", given.program, "run", "-n", "2", "--", program, "--class",
                        given.kind, "--versions", version, "--steps", str(STEPS)], check=True, stdout=subprocess.DEVNULL)
    return json.loads(timeline.read_text(encoding="utf-8"))["traceEvents"]


def row_of(event, packing, queues):
    """`queues`: those that solve along z, of each rank; late rows have another one."""
    if event.get("cat") == "transfer":
        # Who waits for a signal moves nothing.
        return None if event["name"].startswith("the word") else "copies and transfers"
    if event.get("cat") != "command":
        return None
    if event["name"] in COPIES:
        return "copies and transfers"
    if event["name"] == packing:
        return "boundary values, by kernels"
    return "solving" if (event["pid"], event["tid"]) in queues else "solving late rows"


def draw(axes, events, title):
    slices = sorted((event for event in events if event["ph"] == "X"), key=lambda event: event["ts"])
    kernels = {event["name"] for event in slices if event.get("cat") == "command"} - COPIES
    # Directives' kernels are named by their lines: what copies faces comes first, what solves along z last.
    lines = sorted((name for name in kernels if name.startswith("acc_")), key=lambda name: int(name.rsplit("_", 1)[1]))
    packing, last = (lines[0], lines[-1]) if lines else ("copy_faces", "solve_z")
    queues = {(event["pid"], event["tid"]) for event in slices if event["name"] == last}
    ends = [event["ts"] + event["dur"] for event in slices if event["pid"] == 0 and event["name"] == last]
    # Behind the steps, directives solve as often without an exchange.
    ends = ends[:STEPS + 1]
    begin, end = min(zip(ends[1:], ends[2:]), key=lambda step: step[1] - step[0])
    labels = []
    for number in (0, 1):
        for row, (name, colour) in enumerate(ROWS.items()):
            y = -(len(ROWS) + 1) * number - row
            shown = [(event["ts"] - begin, event["dur"]) for event in slices
                     if event["pid"] == number and row_of(event, packing, queues) == name and event["ts"] < end
                     and event["ts"] + event["dur"] > begin]
            axes.broken_barh(shown, (y - 0.4, 0.8), facecolors=colour, edgecolor=colour, linewidth=0.8,
                             label=name if number == 0 else None)
        labels.append((-(len(ROWS) + 1) * number - 1.5, f"rank {number}"))
    axes.set_yticks([y for y, _ in labels], [name for _, name in labels], fontsize=8)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x / 1000:g}")
    axes.set_xlabel("ms", fontsize=8, loc="right", labelpad=-2)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlim(0, end - begin)
    axes.set_ylim(-2 * len(ROWS) - 0.6, 0.6)
    axes.set_title(title, fontsize=9, loc="left")
    axes.grid(axis="x", alpha=0.3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/release/bin/causeway")
    parser.add_argument("--output", default="docs/pictures/bt_mz_timeline.png")
    parser.add_argument("--class", dest="kind", default="W")
    parser.add_argument("--recorded", help="folder of timelines recorded elsewhere, staged.json and so on")
    given = parser.parse_args()
    figure, axes = pyplot.subplots(len(VERSIONS), 1, figsize=(9, 9.2))
    with tempfile.TemporaryDirectory() as folder:
        for where, (version, title) in zip(axes, VERSIONS.items()):
            draw(where, record(given, version, given.recorded or folder), title)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncols=len(ROWS), fontsize=8)
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    figure.savefig(given.output, dpi=110)


if __name__ == "__main__":
    main()
