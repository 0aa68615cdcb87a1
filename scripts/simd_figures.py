#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws Figures 2 to 6 of the SIMD paper (2015) from a record of benchmarks/simd/run.sh and of the program simd.

Figure 2: the workloads; 3: short rows; 4: alignment; 5: matrices; 6: Mandelbrot in vectors, threads, and both.

Usage: scripts/simd_figures.py PICTURE RECORD
       scripts/simd_figures.py docs/pictures/simd_figures_h100.png benchmarks/results/nvidia-h100-x2/simd.txt
"""
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402

GREY, GREEN, ORANGE = "#777777", "#2e8b57", "#e0a030"


def tables(path):
    """Each table's heading, and its rows by name: a time in each column."""
    heading, columns = "", []
    for line in open(path, encoding="utf-8"):
        if line.startswith("== "):
            heading, columns = line[3:].strip(), []
        elif re.match(r"(ns|ms) {2,}", line):
            columns = re.split(r" {2,}", line.strip())[1:]
            rows = {}
            yield heading, rows
        elif columns:
            cells = re.split(r" {2,}", line.strip())
            if len(cells) < len(columns) + 1 or not re.fullmatch(r"[\d.]+", cells[1]):
                columns = []
            else:
                rows[cells[0]] = dict(zip(columns, map(float, [cell for cell in cells[1:] if re.fullmatch(r"[\d.]+", cell)])))


def bars(axes, title, names, series, unit="×"):
    """`series`: label, colour and a number for each name."""
    for at, (label, colour, numbers) in enumerate(series):
        shift = (at - (len(series) - 1) / 2) * 0.8 / len(series)
        axes.bar([k + shift for k in range(len(names))], numbers, 0.8 / len(series), label=label, color=colour)
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right", fontsize=8)
    axes.axhline(1, color="#bbbbbb", linewidth=0.8)
    axes.set_title(title, fontsize=10)
    axes.set_ylabel(unit)
    axes.legend(fontsize=8)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    picture, record = sys.argv[1:]
    found = dict(tables(record))
    rows, matrices, alignment = found["rows"], found["matrices"], found["alignment"]
    workloads = {int(heading.split()[-2]): table for heading, table in found.items() if heading.startswith("workloads, plug-in")}
    figure, axes = plot.subplots(2, 3, figsize=(15, 8))

    alone = workloads[min(workloads)]
    names = list(alone)[:5]
    compiler = found.get(f"workloads, clang, {min(workloads)} threads", alone)
    bars(axes[0][0], "Figure 2: workloads, speed-up over scalar code", names,
         [("clang 19", GREY, [compiler[name]["scalar"] / compiler[name]["vectors"] for name in names]),
          ("plug-in", GREEN, [alone[name]["scalar"] / alone[name]["vectors"] for name in names])])

    names = [name for name in rows if re.fullmatch(r"float (n = )?\d\d?", name)]
    bars(axes[0][1], "Figure 3: rows of floats, beside clang 19 at 512 bits", names,
         [(label, colour, [rows[name]["clang-512"] / rows[name][way] for name in names])
          for label, colour, way in (("GCC 12", ORANGE, "gcc-512"), ("plug-in", GREEN, "plug-in-512"))])
    axes[0][1].set_yscale("log", base=2)
    axes[0][1].yaxis.set_major_formatter(lambda value, _: f"{value:g}")

    names = [name for name in alignment if name.startswith("misaligned") and int(name.split()[-1]) >= 250]
    bars(axes[0][2], "Figure 4: y += s x on misaligned arrays, beside clang 19", [name.split(", ")[1] for name in names],
         [(label, colour, [alignment[name]["clang-512"] / alignment[name][way] for name in names])
          for label, colour, way in (("GCC 12", ORANGE, "gcc-512"), ("plug-in", GREEN, "plug-in-512"))])

    bars(axes[1][0], "Figure 5: 4 x 4 matrices, beside the better of clang's widths", list(matrices),
         [(label, colour, [min(matrices[name]["clang"], matrices[name]["clang-512"]) / matrices[name][way] for name in matrices])
          for label, colour, way in (("GCC 12", ORANGE, "gcc-512"), ("plug-in", GREEN, "plug-in-512"))])

    mandelbrot = {count: table["Mandelbrot"] for count, table in sorted(workloads.items())}
    serial = min(row["scalar"] for row in mandelbrot.values())
    names, ratios = ["vectors"], [serial / min(row["vectors"] for row in mandelbrot.values())]
    for count, row in list(mandelbrot.items())[1:]:
        names += [f"{count} threads", f"both, {count} threads"]
        ratios += [serial / row["scalar, threads"], serial / row["vectors, threads"]]
    bars(axes[1][1], "Figure 6: Mandelbrot, speed-up over serial scalar code", names, [("plug-in", GREEN, ratios)])
    axes[1][1].set_yscale("log", base=2)
    axes[1][1].yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    for bar, ratio in enumerate(ratios):
        axes[1][1].text(bar, ratio, f"{ratio:.1f}", ha="center", va="bottom", fontsize=8)
    axes[1][2].axis("off")
    figure.tight_layout()
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    main()
