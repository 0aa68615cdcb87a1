#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws times over problem sizes on one and several devices, as Figures 2, 3, 6 and 8 of the multi-GPU OpenACC paper
(2015), from what `benchmarks/directives.sh --figures` printed, or the table of it in a record.

Of two times of one problem, size, number of devices and version, the later one counts.

Usage: scripts/directives_figures.py PICTURE MACHINE DEVICES[,DEVICES]... RECORD...
       scripts/directives_figures.py docs/pictures/directives_figures_h100.png 'four H100' 1,2,4 benchmarks/results/nvidia-h100-x4/directives.txt
"""
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402

PROBLEMS = {"s3d": ("Figure 2: S3D", "points"), "matmul": ("Figures 3 (a) and 6: matrix product", "rows"),
            "heat": ("Figures 3 (b) and 8: heat, 50 steps", "rows of the grid")}
COLOURS = {"directives": "#2e8b57", "hybrid": "#c44e52", "OpenCL": "#777777"}
LABELS = {"directives": "extension", "hybrid": "hybrid (OpenMP)", "OpenCL": "OpenCL by hand"}
STYLES = ["-", "--", "-.", ":"]


def times(paths):
    """By problem, version and devices: milliseconds by size."""
    found = {}

    def add(problem, version, devices, size, time):
        if time != "-":
            found.setdefault(problem, {}).setdefault((version, int(devices)), {})[int(size)] = float(time)

    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                row = re.match(r" *(\w+) +all +n (\d+) +devices (\d+) +(directives|OpenCL|hybrid) +([\d.]+) ms", line)
                if row and row[1] in PROBLEMS:
                    add(row[1], row[4], row[3], row[2], row[5])
                row = re.match(r" *(\w+) +(\d+) +(\d+) +([\d.]+|-) +([\d.]+|-) +([\d.]+|-)$", line.rstrip())
                if row and row[1] in PROBLEMS:
                    for version, time in zip(("directives", "OpenCL", "hybrid"), row.groups()[3:]):
                        add(row[1], version, row[3], row[2], time)
    return found


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    picture, machine, counts = sys.argv[1], sys.argv[2], [int(count) for count in sys.argv[3].split(",")]
    found = times(sys.argv[4:])
    figure, axes = plot.subplots(1, len(PROBLEMS), figsize=(13, 4.2))
    for at, (problem, (title, size)) in zip(axes, PROBLEMS.items()):
        for version, colour in COLOURS.items():
            for devices, style in zip(counts, STYLES):
                series = sorted(found.get(problem, {}).get((version, devices), {}).items())
                if series:
                    at.plot(*zip(*series), color=colour, linestyle=style, marker="o", markersize=4,
                            label=f"{LABELS[version]}, {devices} device{'s' if devices > 1 else ''}")
        at.set_xscale("log", base=2)
        at.set_yscale("log")
        at.set_title(title, fontsize=10)
        at.set_xlabel(size)
        at.grid(alpha=0.3)
    axes[0].set_ylabel("ms")
    figure.legend(*axes[1].get_legend_handles_labels(), loc="lower center", ncols=6, fontsize=8)
    figure.suptitle(f"The paper's figures on {machine}", fontsize=11)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main()
