#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time of the nanopowder simulation over ranks, both ways (Takizawa et al. 2015, Figure 7), with kernels and
coefficients of the same size.

usage: python3 scripts/nanopowder_ranks.py RUNTIME BUILD_FOLDER PICTURE [STEPS [ROUNDS]] (RUNTIME as for
scripts/run_with.sh)
"""

import re
import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402

RANKS = range(1, 9)
VERSIONS = ["baseline", "causeway"]


def main(runtime, build, picture, steps="20", rounds="3"):
    run_with = Path(__file__).with_name("run_with.sh")
    program = Path(build).resolve() / "bin" / "nanopowder"
    seconds = {version: [] for version in VERSIONS}
    for ranks in RANKS:
        command = [run_with, runtime, "--ranks", str(ranks), "--", program, "--steps", steps, "--rounds", rounds, "--verify"]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        print(output, flush=True)
        for version in VERSIONS:
            seconds[version].append(float(re.search(rf"^{version} +([\d.]+)", output, re.MULTILINE)[1]))
    figure, axes = plot.subplots(figsize=(6, 4))
    for offset, version in ((-0.2, VERSIONS[0]), (0.2, VERSIONS[1])):
        axes.bar([place + offset for place in range(len(RANKS))], seconds[version], 0.38, label=version)
    axes.set_xticks(range(len(RANKS)), [str(ranks) for ranks in RANKS])
    axes.set_xlabel("ranks")
    axes.set_ylabel(f"seconds for {steps} steps")
    axes.legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    if not 4 <= len(sys.argv) <= 6:
        sys.exit(__doc__)
    main(*sys.argv[1:])
