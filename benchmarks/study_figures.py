#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures 3 and 5 to 7 of Lee et al. 2015 for any programs: shares of the time in OpenCL's functions.

Usage: study_figures.py STUDY.json...
Reads what `causeway study -o STUDY.json -- PROGRAM` writes. One row for each: kernels and API (figure 3), six categories and the other
ten (5), making and releasing a context (6), and compilation without platform, device and context (7); then the mean of all.
"""
import json
import pathlib
import sys

SHOWN = ("platform", "device", "context", "program", "enqueued commands", "synchronisation")


def shares(process):
    categories = {each["category"]: each["seconds"] for each in process["categories"]}
    functions = {each["function"]: each["seconds"] for kind in process["categories"] for each in kind["functions"]}
    whole = process["in_calls"]
    kernels = min(process["kernel_seconds"], whole)
    set_up = sum(categories[each] for each in ("platform", "device", "context"))
    row = [kernels / whole, 1 - kernels / whole] + [categories[each] / whole for each in SHOWN]
    row.append(1 - sum(row[2:]))
    row += [functions.get(each, 0) / whole for each in ("clCreateContext", "clReleaseContext")]
    row.append(categories["program"] / (whole - set_up) if whole > set_up else 0)
    return row


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    heads = ("kernels", "API", *(each.split(" ")[0] for each in SHOWN), "other", "create", "release", "program")
    print(f"{'':24}" + f"{'figure 3':>20}{'figure 5':>20}{'':50}{'figure 6':>20}{'figure 7':>11}")
    print(f"{'percent':24}" + "".join(f"{each[:9]:>10}" for each in heads))
    rows = []
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            process = json.load(file)["processes"][0]
        if process["in_calls"] <= 0:
            continue
        rows.append(shares(process))
        print(f"{pathlib.Path(name).stem[:23]:24}" + "".join(f"{100 * each:10.2f}" for each in rows[-1]))
    if rows:
        print(f"{'mean':24}" + "".join(f"{100 * sum(column) / len(rows):10.2f}" for column in zip(*rows)))


if __name__ == "__main__":
    main()
