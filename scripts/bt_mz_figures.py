#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws speed-up and share of the exchange over ranks, as Figures 1 to 3 of the OpenSHMEM and OpenACC paper (2014), from
what bt_mz printed.

Left: speed-up over one processor core (the version `host` on one rank) where that was measured, else over the quickest version
on the fewest ranks. Middle: speed-up of each version over itself on one rank, for each rank ("efficiency"). Right: the share.
With --shared all ranks have the same cores; then the middle is not divided by the number of ranks. A version is drawn if it
ran on the fewest ranks, too.

DEVICE is a part of the device's name; ranks beyond MOST are left out (default: 8). Of two runs of one version, class and number
of ranks, the later one counts: put first those records whose runs others replace. Left out are runs that failed their check,
and the run below a line that begins with "# ": it had options.

Usage: scripts/bt_mz_figures.py [--shared] PICTURE CLASS@DEVICE[:MOST][,...] RECORD...
The pictures of docs/bt-mz.md, with r=benchmarks/results and p=docs/pictures/bt_mz_figures:
       scripts/bt_mz_figures.py ${p}_h200.png C@H200:2,B@H200:2,D@H200:2 $r/nvidia-h200-x2/bt-mz.txt
       scripts/bt_mz_figures.py ${p}_h100.png C@H100:4,B@H100:4,D@H100:4 $r/nvidia-h100-x{2,4}/bt-mz.txt
       scripts/bt_mz_figures.py --shared ${p}_processors.png W@cpu,A@cpu $r/nvidia-h200-x2/bt-mz.txt
"""
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402

COLOURS = {"host": "#777777", "staged": "#c44e52", "messages": "#e0a030", "one_sided": "#2e8b57", "openshmem": "#3b76c4",
           "directives": "#8a5fb0"}


def runs(paths, kind, device):
    """By version and ranks: milliseconds a step and the exchange's share in per cent; and the device's whole name."""
    found, name, ranks, has_options = {}, "", None, False
    for path in paths:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                head = re.match(r"bt_mz: class (\w+), (\d+) zones? of .*?(\d+) ranks?, .*; (.+)", line)
                if line.startswith("# "):
                    ranks, has_options = None, True
                elif head:
                    fits = head[1] == kind and head[2] != "1" and (device in head[4] or head[4] == "host") and not has_options
                    ranks = int(head[3]) if fits else None
                    name = head[4] if fits and head[4] != "host" else name
                    has_options = False
                row = re.match(r"(\w+) +[\d.]+ +([\d.]+) +(-?[\d.]+)% ", line)
                if row and ranks and row[1] in COLOURS and "WRONG" not in line:
                    found.setdefault(row[1], {})[ranks] = float(row[2]), float(row[3])
    return found, name


def draw(axes, versions, most, shared):
    """Returns what the speed-ups on the left are over."""
    speed, own, share = axes
    serial = versions.get("host", {}).get(1)
    every = sorted({count for at in versions.values() for count in at if count <= most})
    versions = {version: at for version, at in versions.items() if every[0] in at}
    base = serial[0] if serial else min(at[every[0]][0] for at in versions.values())
    least = 0
    for version, at in versions.items():
        counts = sorted(count for count in at if count <= most)
        look = {"color": COLOURS[version], "marker": "o", "label": version, "alpha": 0.8}
        speed.plot(counts, [base / at[count][0] for count in counts], **look)
        if version != "host":
            of_each = [1 if shared else count / every[0] for count in counts]
            own.plot(counts, [100 * at[every[0]][0] / at[count][0] / more for count, more in zip(counts, of_each)], **look)
            share.plot(counts, [at[count][1] for count in counts], **look)
            least = min(least, *(at[count][1] for count in counts))
    first = base / min(at[every[0]][0] for at in versions.values())
    if not shared:
        speed.plot(every, [first * count / every[0] for count in every], color="#bbbbbb", linestyle=":", label="ideal")
    for each in axes:
        each.set_xticks(every)
        each.set_xlabel("ranks")
        each.grid(alpha=0.3)
    if serial:
        speed.set_yscale("log")
    else:
        speed.set_ylim(bottom=0)
    # Shares of some per cent lie beside shares of 80, and noise makes some negative.
    share.set_yscale("symlog", linthresh=10, linscale=1.5)
    ticks = [-20, -10, -5, -1, 0, 2, 4, 6, 8, 10, 20, 40, 60, 100]
    share.set_ylim(least * 1.2, 100)
    share.set_yticks([tick for tick in ticks if tick >= least * 1.2], minor=False)
    share.set_yticks([], minor=True)
    share.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    return "one processor core" if serial else f"the quickest version on {every[0]} rank{'s' if every[0] > 1 else ''}"


def main():
    arguments = sys.argv[1:]
    shared = "--shared" in arguments
    if shared:
        arguments.remove("--shared")
    if len(arguments) < 3:
        sys.exit(__doc__)
    picture, *records = arguments[0], *arguments[2:]
    wanted = [each.partition("@")[::2] for each in arguments[1].split(",")]
    figure, axes = plot.subplots(len(wanted), 3, figsize=(13, 3.6 * len(wanted)), squeeze=False)
    for row, (kind, device) in zip(axes, wanted):
        device, _, most = device.partition(":")
        found, name = runs(records, kind, device)
        if not found:
            sys.exit(f"bt_mz_figures: no run of class {kind} on {device or 'a device'} in {', '.join(records)}")
        base = draw(row, found, int(most or 8), shared)
        row[0].set_title(f"class {kind}, {name}:\nspeed-up over {base}", fontsize=9)
        row[1].set_title(f"class {kind}: speed-up of each version over itself on\none rank, " +
                         ("%" if shared else "for each rank, % (efficiency)"), fontsize=9)
        row[2].set_title(f"class {kind}: the exchange, % of the time", fontsize=9)
    figure.legend(*axes[0][0].get_legend_handles_labels(), fontsize=8, loc="upper right", ncols=7)
    figure.suptitle("BT-MZ", fontsize=11, x=0.05)
    figure.tight_layout()
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main()
