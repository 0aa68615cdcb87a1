#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/himeno_timeline.png: two iterations of Himeno on two ranks, three times, from recorded timelines.

(a) and (b) are the hand-optimised version, whose communication is hidden where computing takes long enough, and holds up
the host where it does not; (c) is the version with transfers as commands. Let nobody else have the processors meanwhile.
 These are the situations of Figure 2 of Takizawa
et al., Scientific Programming 2015.

Usage: scripts/run_with.sh pocl -- scripts/himeno_timeline.py [--program build/release/bin/causeway] [--output FILE]
                                                              [--large SIZE] [--small SIZE] [--recorded FOLDER]
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot  # noqa: E402

COPIES = {"read buffer", "write buffer"}
COLOURS = {"A": "#2e8b57", "B": "#7fbf7b", "copy": "#3b76c4", "message": "#c3d5ee", "transfer": "#3b76c4"}
KERNELS_SHOWN = 4  # of a rank: two iterations
ITERATIONS = 100


def record(given, size, version, folder):
    timeline = pathlib.Path(folder, f"{version}-{size}.json")
    if timeline.exists():
        return json.loads(timeline.read_text(encoding="utf-8"))["traceEvents"]
    himeno = pathlib.Path(given.program).parent / "himeno"
    subprocess.run([given.program, "trace", "-o", timeline, "--", given.program, "run", "-n", "2", "--", himeno, "--size", size,
                    "--version", version, "--iterations", str(ITERATIONS), "--rounds", "1"], check=True, stdout=subprocess.DEVNULL)
    return json.loads(timeline.read_text(encoding="utf-8"))["traceEvents"]


class rank_events:
    """Kernels by half, and communication, of one rank."""

    def __init__(self, events, rank):
        lanes = {event["tid"]: event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] == "thread_name" and event["pid"] == rank}
        slices = sorted((event for event in events if event["ph"] == "X" and event["pid"] == rank), key=lambda event: event["ts"])
        self.kernels = [(event["ts"], event["dur"], "A" if lanes[event["tid"]].endswith("queue 1") else "B")
                        for event in slices if event["name"].startswith("jacobi")]
        self.copies = [(event["ts"], event["dur"]) for event in slices if event["name"] in COPIES]
        self.messages = [(a[0] + a[1], b[0] - a[0] - a[1]) for a, b in zip(self.pairs(slices), self.pairs(slices)[1:])
                         if a[2] == "read buffer" and b[2] == "write buffer"]
        self.transfers = [(event["ts"], event["dur"]) for event in slices if event["cat"] == "transfer" and event["args"]["flow"] == 0]

    @staticmethod
    def pairs(slices):
        return [(event["ts"], event["dur"], event["name"]) for event in slices if event["name"] in COPIES]

    def shortest_window(self, other):
        """Where so many kernels in a row took least, of those where the other rank had processors, too."""
        timed = self.kernels[-2 * ITERATIONS:]
        shown = [timed[i:i + KERNELS_SHOWN] for i in range(len(timed) - KERNELS_SHOWN)]
        # Between the runs that are timed a half may come twice.
        in_turn = [each for each in shown if all(a[2] != b[2] for a, b in zip(each, each[1:]))]
        windows = [(each[0][0], each[-1][0] + each[-1][1]) for each in in_turn]
        together = [(begin, end) for begin, end in windows
                    if sum(begin <= kernel[0] <= end for kernel in other.kernels) >= KERNELS_SHOWN - 1]
        return min(together or windows, key=lambda window: window[1] - window[0])


def draw(axes, events, title):
    ranks = [rank_events(events, rank) for rank in (0, 1)]
    begin, end = ranks[0].shortest_window(ranks[1])
    margin = 0.03 * (end - begin)
    rows = []

    def bars(name, spans, y, colour, **style):
        shown = [(at - begin, length) for at, length in spans if at + length > begin - margin and at < end + margin]
        axes.broken_barh(shown, (y + 0.12, 0.76), facecolors=colour, label=name, **style)

    for number, rank in enumerate(ranks):
        y = -4 * number
        for half in "AB":
            y -= 1
            bars(f"computing {half}", [kernel[:2] for kernel in rank.kernels if kernel[2] == half], y, COLOURS[half])
            rows.append((y + 0.5, f"rank {number}: {half}"))
        y -= 1
        bars("message, by the program", rank.messages if not rank.transfers else [], y, COLOURS["message"])
        bars("copy or transfer", rank.transfers or rank.copies, y, COLOURS["copy"], edgecolor=COLOURS["copy"], linewidth=0.8)
        rows.append((y + 0.5, "communication"))
    axes.set_yticks([y for y, _ in rows], [name for _, name in rows], fontsize=8)
    scale, unit = (1000, "ms") if end - begin > 3000 else (1, "µs")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x / scale:g}")
    axes.set_xlabel(unit, fontsize=8, loc="right", labelpad=-2)
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlim(-margin, end - begin + margin)
    axes.set_title(title, fontsize=9, loc="left")
    axes.grid(axis="x", alpha=0.3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/release/bin/causeway")
    parser.add_argument("--output", default="docs/pictures/himeno_timeline.png")
    parser.add_argument("--large", default="M")
    parser.add_argument("--small", default="XS")
    parser.add_argument("--commands", help="the grid of (c), by default that of (b)")
    parser.add_argument("--recorded", help="folder of timelines recorded elsewhere, hand-XS.json and so on")
    given = parser.parse_args()
    given.commands = given.commands or given.small
    figure, axes = pyplot.subplots(3, 1, figsize=(9, 7.6))
    with tempfile.TemporaryDirectory() as folder:
        for where, size, version, title in (
                (axes[0], given.large, "hand", f"(a) by hand, grid {given.large}: messages pass while the device computes"),
                (axes[1], given.small, "hand", f"(b) by hand, grid {given.small}: the host waits in one exchange before it can begin the next"),
                (axes[2], given.commands, "causeway", f"(c) transfers as commands, grid {given.commands}: the host is ahead, and waits in no exchange")):
            draw(where, record(given, size, version, given.recorded or folder), title)
    handles = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    figure.legend(handles.values(), handles.keys(), loc="lower center", ncols=4, fontsize=8)
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    figure.savefig(given.output, dpi=110)


if __name__ == "__main__":
    main()
