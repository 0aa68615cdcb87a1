#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws results of `causeway perf --json`: Figures 3 and 5 of the paper for the machine that was measured.

Usage: perf_plot.py PICTURE RESULTS.json...
       perf_plot.py --check                    # exits with 1 if matplotlib is missing
"""
import json
import sys

try:
    import matplotlib

    matplotlib.use("Agg")  # no display is needed
    import matplotlib.pyplot as pyplot
except ImportError as error:
    if sys.argv[1:] != ["--check"]:
        print(f"perf_plot: {error}; Debian's package is python3-matplotlib", file=sys.stderr)
    sys.exit(1)

# Panels in order: routes, title, names of the naive and the limiting series. The first route with results counts.
FILE_SERIES = "serial (fread, write)", "limit (file read, pinned copy)"
PANELS = [
    (["file-read"], "Figure 3: file in the page cache to device", *FILE_SERIES),
    (["file-read-cold"], "Figure 3: file on disk to device", *FILE_SERIES),
    (["rank-one-way/two-devices", "rank-one-way/same-device"], "Figure 5: device to device between two ranks",
     "serial (read, MPI, write)", "limit (MPI, copies)"),
]
BLOCK_COLOURS = pyplot.get_cmap("viridis")


def size_text(size):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def series_of(results):
    """Lines by label: auto, each strategy with its own blocks, and each with the blocks that were forced."""
    lines = {}
    for result in results:
        label = result["strategy"]
        lines.setdefault(label, {}).setdefault(result["size_bytes"], []).append(result)
    return lines


def split_by_block(by_size):
    """Of one strategy: the first row of a size is the strategy's own choice, the others have a block forced."""
    own, forced = {}, {}
    for size, rows in by_size.items():
        own[size] = rows[0]["bytes_per_second"]
        for row in rows[1:]:
            forced.setdefault(row["block_bytes"], {})[size] = row["bytes_per_second"]
    return own, forced


def draw_line(axes, points, label, **style):
    sizes = sorted(points)
    axes.plot(sizes, [points[size] / 1e6 for size in sizes], label=label, **style)


def draw_panel(axes, results, title, naive, limit):
    draw_line(axes, {r["size_bytes"]: r["limit_bytes_per_second"] for r in results}, limit, color="black", linewidth=2)
    draw_line(axes, {r["size_bytes"]: r["naive_bytes_per_second"] for r in results}, naive, color="grey",
              linestyle="--", marker="x")
    blocks = sorted({row["block_bytes"] for row in results})
    for strategy, by_size in series_of(results).items():
        own, forced = split_by_block(by_size)
        style = {"color": "red", "linewidth": 2, "marker": "o"} if strategy == "auto" else {"marker": "."}
        draw_line(axes, own, strategy, **style)
        if strategy != "pipelined":
            continue
        for block, points in sorted(forced.items()):
            colour = BLOCK_COLOURS(blocks.index(block) / max(len(blocks) - 1, 1))
            draw_line(axes, points, f"pipelined ({size_text(block)})", color=colour, marker=".", linestyle=":")
    axes.set_title(title)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    sizes = sorted({row["size_bytes"] for row in results})
    axes.set_xticks(sizes, [size_text(size) for size in sizes], rotation=45, ha="right")
    axes.set_xlabel("size of the transfer")
    axes.set_ylabel("sustained bandwidth (MB/s)")
    axes.grid(True, which="both", alpha=0.2)
    axes.legend(fontsize="small")


def main(arguments):
    if arguments[1:] == ["--check"]:
        return 0
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    picture, files = arguments[1], arguments[2:]
    by_route, machines = {}, []
    for file in files:
        try:
            with open(file, encoding="utf-8") as opened:
                measured = json.load(opened)
            machines.append(measured.get("machine", {}).get("device", ""))
            for result in measured["results"]:
                by_route.setdefault(result["route"], []).append(result)
        except OSError as error:
            print(f"perf_plot: {file}: {error.strerror}", file=sys.stderr)
            return 1
        except (ValueError, LookupError, TypeError, AttributeError):
            print(f"perf_plot: {file} is no file of causeway perf --json", file=sys.stderr)
            return 1

    panels = []
    for routes, *texts in PANELS:
        found = next((by_route[route] for route in routes if route in by_route), None)
        if found:
            panels.append((found, texts))
    if not panels:
        wanted = ", ".join(route for routes, *_ in PANELS for route in routes)
        print(f"perf_plot: nothing to draw: the results have none of the routes {wanted}", file=sys.stderr)
        return 1
    figure, axes = pyplot.subplots(1, len(panels), figsize=(7.5 * len(panels), 6), squeeze=False)
    try:
        for axis, (results, texts) in zip(axes[0], panels):
            draw_panel(axis, results, *texts)
    except (ValueError, LookupError, TypeError) as error:
        print(f"perf_plot: {', '.join(files)}: not as causeway perf --json writes it: {error!r}", file=sys.stderr)
        return 1
    figure.suptitle("; ".join(sorted(set(filter(None, machines)))))
    figure.tight_layout()
    figure.savefig(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
