#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Fills the tables of docs/performance.md and benchmarks/results/performance.md with the recorded figures; with --check, says
# whether they are up to date.
#
# A table stands behind a comment, of which each line is a row's name, sizes, and one source or two side by side:
#   <!-- table
#   rank to rank; 64M 1G; nvidia-h100-x2/perf.txt, ranks, rank-one-way/two-devices
#   -->
# "<!-- glance" has the rows of the page for users: name, size, machine, one source, and "us" where it is a latency.
# ("<!-- table of times" for microseconds instead of GB/s.) A source is a file under benchmarks/results, a part of it (the NAME
# of a line "== perf, NAME", or nothing), and a route. The library's own choice is taken: the first row of that route and size.
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
results = root / "benchmarks/results"
pages = [root / "docs/performance.md", results / "performance.md"]

row = re.compile(
    r"^(?P<route>\S+) +(?P<size>\d+ (?:B|[KMG]iB)) +auto \S+ +\d+ [KMG]?i?B +(?P<median>[\d.]+ [nmu]?s) +\([^)]*\)"
    r" +(?P<rate>\S+) +(?P<limit>\S+) +(?P<naive>\S+) +(?P<times>\S+) +(?P<percent>\S+)$"
)


def part_of(file: str, name: str) -> str:
    text = (results / file).read_text()
    if not name:
        return text
    for part in re.split(r"(?m)^== perf, ", text)[1:]:
        if part.splitlines()[0].strip() == name:
            return part
    sys.exit(f"{file} has no part {name}")


def figures(source: str, size: str) -> dict[str, str]:
    file, name, route = (each.strip() for each in source.split(","))
    part = part_of(file, name)
    if len(set(re.findall(r"commit ([0-9a-f]{7,})", part))) > 1:
        sys.exit(f"{source}: of several commits; name a part")
    wanted = re.sub(r"^(\d+)([BKMG])$", lambda m: f"{m[1]} {'B' if m[2] == 'B' else m[2] + 'iB'}", size)
    for line in part.splitlines():
        found = row.match(line)
        if found and found["route"] == route and found["size"] == wanted:
            return found.groupdict() | {"commit": re.search(r"commit (\w+)", part)[1][:10]}
    sys.exit(f"{source} has no row of {size}")


def short(text: str) -> str:
    value = float(text)
    if value >= 1000:
        return f"{int(float(f'{value:.3g}')):,}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def percent(text: str) -> str:
    return f"{float(text):.0f}" if float(text) >= 1 else f"{float(text):.1g}"


def microseconds(text: str) -> float:
    value, unit = text.split()
    return float(value) * {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}[unit]


def rates(found: dict[str, str]) -> list[str]:
    return [short(found["rate"]), short(found["limit"]), percent(found["percent"]), short(found["naive"]), short(found["times"])]


def times(found: dict[str, str]) -> list[str]:
    own = microseconds(found["median"])
    limit, naive = own * float(found["percent"]) / 100, own * float(found["times"])
    return [f"{own:.0f}", f"{limit:.0f}", percent(found["percent"]), f"{naive:.0f}", short(found["times"])]


def table(description: str, cells_of) -> str:
    lines = [[each.strip() for each in line.split(";")] for line in description.strip().splitlines()]
    beside = len(lines[0]) > 3
    if beside:
        out = ["| route | size | PoCL | % | Intel | % |", "|---|---|---|---|---|---|"]
    else:
        unit = " (us)" if cells_of is times else " (GB/s)"
        out = [f"| route | size | Causeway{unit} | limit | % | naive | x | commit |", "|---|---|---|---|---|---|---|---|"]
    for name, sizes, *sources in lines:
        for i, size in enumerate(sizes.split()):
            shown = f"{size[:-1]} {size[-1]}iB" if size[-1] != "B" else f"{size[:-1]} B"
            cells = [name if i == 0 else "", shown]
            for source in sources:
                found = figures(source, size)
                cells += [short(found["rate"]), percent(found["percent"])] if beside else [*cells_of(found), found["commit"]]
            out.append("|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|")
    return "\n".join(out) + "\n"


def glance(description: str) -> str:
    out = ["| path | size | by hand | Causeway | limit | unit | machine |", "|---|---|---|---|---|---|---|"]
    for line in description.strip().splitlines():
        name, size, machine, source, *unit = (each.strip() for each in line.split(";"))
        found = figures(source, size)
        own, limit, _, naive, _ = (times if unit else rates)(found)
        shown = f"{size[:-1]} {size[-1]}iB" if size[-1] != "B" else f"{size[:-1]} B"
        out.append(f"| {name} | {shown} | {naive} | **{own}** | {limit} | {'us' if unit else 'GB/s'} | {machine} |")
    return "\n".join(out) + "\n"


def filled(match) -> str:
    kind, lines = match[2], match[4]
    made = glance(lines) if kind == "glance" else table(lines, times if match[3] else rates)
    return match[1] + made + "\n"


outdated = []
for page in pages:
    old = page.read_text()
    new = re.sub(r"(<!-- (table|glance)( of times)?\n(.*?)-->\n\n)(?:\|[^\n]*\n)*\n*", filled, old, flags=re.S)
    if new == old:
        continue
    outdated.append(page)
    if "--check" not in sys.argv[1:]:
        page.write_text(new)
if "--check" in sys.argv[1:] and outdated:
    sys.exit(f"{', '.join(str(page.relative_to(root)) for page in outdated)}: out of date: scripts/performance_tables.py")
