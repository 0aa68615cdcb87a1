#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws speed-up and share of the exchange over ranks, as Figures 1 to 3 of the OpenSHMEM and OpenACC paper (2014), from
what bt_mz printed.

Speed-ups are over one processor core (the version `host` on one rank) where that was measured, else over the quickest version
on the fewest ranks. DEVICE is a part of the device's name; ranks beyond MOST are left out (default: 8). Of two runs of one version, class and number of ranks, the later one
counts: put first those records whose runs others replace. Left out are runs that failed their check, and the run below a line
that begins with "# ": it had options.

Usage: scripts/bt_mz_figures.py PICTURE CLASS@DEVICE[:MOST][,...] RECORD...
       scripts/bt_mz_figures.py docs/pictures/bt_mz_figures_h100.png C@H100:4 benchmarks/results/nvidia-h100-x{2,4}/bt-mz.txt
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


def draw(speed, share, versions, most):
    serial = versions.get("host", {}).get(1)
    every = sorted({count for at in versions.values() for count in at if count <= most})
    base = serial[0] if serial else min(at[every[0]][0] for at in versions.values() if every[0] in at)
    for version, at in versions.items():
        counts = sorted(count for count in at if count <= most)
        look = {"color": COLOURS[version], "marker": "o", "label": version}
        speed.plot(counts, [base / at[count][0] for count in counts], **look)
        if version != "host":
            share.plot(counts, [at[count][1] for count in counts], **look)
    first = base / min(at[every[0]][0] for at in versions.values() if every[0] in at)
    speed.plot(every, [first * count / every[0] for count in every], color="#bbbbbb", linestyle=":", label="ideal")
    for axes in (speed, share):
        axes.set_xticks(every)
        axes.set_xlabel("ranks")
        axes.grid(alpha=0.3)
    if serial:
        speed.set_yscale("log")
    else:
        speed.set_ylim(bottom=0)
    share.set_ylim(0, 100)
    return "one processor core" if serial else f"the quickest version on {every[0]} rank{'s' if every[0] > 1 else ''}"


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    picture = sys.argv[1]
    wanted = [each.partition("@")[::2] for each in sys.argv[2].split(",")]
    figure, axes = plot.subplots(len(wanted), 2, figsize=(10, 3.6 * len(wanted)), squeeze=False)
    for (speed, share), (kind, device) in zip(axes, wanted):
        device, _, most = device.partition(":")
        found, name = runs(sys.argv[3:], kind, device)
        if not found:
            sys.exit(f"bt_mz_figures: no run of class {kind} on {device or 'a device'} in {', '.join(sys.argv[3:])}")
        base = draw(speed, share, found, int(most or 8))
        speed.set_title(f"class {kind}, {name}:\nspeed-up over {base}", fontsize=9)
        share.set_title(f"class {kind}: the exchange, % of the time", fontsize=9)
    axes[0][0].legend(fontsize=8)
    figure.suptitle("BT-MZ", fontsize=11)
    figure.tight_layout()
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main()
