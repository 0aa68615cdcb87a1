#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much faster the database of smith_waterman comes to the device than by fread and clEnqueueWriteBuffer, over
the size of blocks (Takizawa et al. 2015, Figure 4), for data in the page cache and on the disk.

usage: scripts/run_with.sh pocl -- python3 scripts/smith_waterman_blocks.py BUILD_FOLDER PICTURE [MEGABYTES]
       python3 scripts/smith_waterman_blocks.py TABLE PICTURE     draws a table that was printed before
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402

CHUNKS = [256 << 10, 1 << 20, 4 << 20, 16 << 20]
BLOCKS = [64 << 10 << step for step in range(9)]
ROUNDS = 5


def times(program, queries, database, arguments, **environment):
    """Seconds of plain and Causeway, medians of searches in turn."""
    command = [program, "search", queries, database, "--transfers-only", "--rounds", str(ROUNDS), *arguments]
    output = subprocess.run(
        command, env={**os.environ, **environment}, check=True, capture_output=True, text=True
    ).stdout
    return [float(re.search(rf"^{name} +([\d.]+)", output, re.MULTILINE)[1]) for name in ("plain", "causeway")]


def short(size):
    return f"{size >> 20}M" if size >= 1 << 20 else f"{size >> 10}K"


def measure(build, megabytes):
    """Rows of the table as they come: where, chunk, block ("chosen" for the library's), plain, Causeway, improvement."""
    program = Path(build).resolve() / "bin" / "smith_waterman"
    # Beside the build, as /tmp may be memory.
    with tempfile.TemporaryDirectory(dir=build) as folder:
        fasta, queries = f"{folder}/database.fa", f"{folder}/queries.fa"
        subprocess.run([program, "generate", fasta, str(megabytes * 1_000_000)], check=True)
        subprocess.run([program, "generate", queries, "100"], check=True)
        for chunk in CHUNKS:
            database = f"{folder}/{chunk}"
            subprocess.run([program, "pack", fasta, database, str(chunk)], check=True)
            for where, arguments in (("cache", []), ("disk", ["--cold"])):
                for block in [0, *(block for block in BLOCKS if block <= chunk)]:
                    forced = {"CAUSEWAY_BLOCK": str(block)} if block else {}
                    plain, causeway = times(program, queries, database, arguments, **forced)
                    name = short(block) if block else "chosen"
                    yield where, short(chunk), name, plain, causeway, 100 * (plain / causeway - 1)
            os.unlink(database)


def recorded(table):
    """The same rows from a file that holds the table."""
    for line in Path(table).read_text(encoding="utf-8").splitlines():
        found = re.fullmatch(r"(cache|disk) +(\w+) +(\w+) +([\d.]+) +([\d.]+) +(-?[\d.]+) %", line)
        if found:
            yield *found.groups()[:3], *map(float, found.groups()[3:])


def draw(rows, picture):
    figure, panels = plot.subplots(1, 2, figsize=(10, 4), sharey=True)
    panel_of = dict(zip(("cache", "disk"), panels))
    sizes = {short(block): block for block in BLOCKS}
    lines = {}
    for where, chunk, block, _, _, gain in rows:
        points, chosen = lines.setdefault((where, chunk), ([], []))
        if block == "chosen":
            chosen.append(gain)
        else:
            points.append((sizes[block], gain))
    for (where, chunk), (points, chosen) in lines.items():
        line = panel_of[where].plot(*zip(*points), marker="o", label=f"chunks of {chunk}")[0]
        panel_of[where].axhline(chosen[0], color=line.get_color(), linestyle=":", linewidth=1)
    for panel, where in zip(panels, ("in the page cache", "on the disk")):
        panel.set_xscale("log", base=2)
        panel.set_xticks(BLOCKS, [short(block) for block in BLOCKS])
        panel.set_title(f"database {where}")
        panel.set_xlabel("block of a transfer (dotted: the library's choice)")
        panel.axhline(0, color="black", linewidth=0.5)
    panels[0].set_ylabel("improvement over fread and write, %")
    panels[0].legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=90)


def main(source, picture, megabytes="200"):
    if Path(source).is_file():
        draw(recorded(source), picture)
        return
    print(f"{'where':6} {'chunk':>6} {'block':>6} {'plain':>9} {'causeway':>9} {'improvement':>12}", flush=True)
    rows = []
    for row in measure(source, int(megabytes)):
        where, chunk, block, plain, causeway, gain = row
        print(f"{where:6} {chunk:>6} {block:>6} {plain:9.4f} {causeway:9.4f} {gain:10.1f} %", flush=True)
        rows.append(row)
    draw(rows, picture)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
