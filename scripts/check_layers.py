#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every #include in src/, and in the programs beside it, keeps to the layers of docs/architecture.md.

Usage: scripts/check_layers.py [SOURCE_FOLDER]
Prints file:line and the broken rule for each offence; exits 1 if there is one.
"""
import pathlib
import re
import sys

# part: the parts whose headers it may include, beside its own. A new folder in src/ gets its line here.
MAY_USE = {
    "base": set(),
    "cl": {"base"},
    "comm": {"base"},
    "bridge": {"base"},
    "topology": {"base"},
    "transfer": {"base", "cl", "topology"},
    "tasks": {"base", "topology"},
    "endpoints": {"base", "bridge", "cl", "comm", "topology", "transfer"},
    "graph": {"base", "cl", "transfer"},
    "trace": {"base", "cl", "transfer"},
}
LEVELS_0_TO_3 = set(MAY_USE)
MAY_USE["runtime"] = LEVELS_0_TO_3
MAY_USE["platform"] = {"base", "runtime"}
for part in ("capi", "acc", "oshmem"):
    MAY_USE[part] = LEVELS_0_TO_3 | {"runtime"}

# Programs, in folders beside src/: the parts that they may include, beside public headers and their own.
PROGRAMS = {"apps": set(), "benchmarks": set(), "compiler": {"base"}, "examples": set(), "tools": {"base"}}

# Headers from outside: what matches may be included by these parts alone.
FOREIGN = [
    (re.compile(r"mpi\.h"), {"comm"}),
    (re.compile(r"hwloc(/.*|\.h)"), {"topology"}),
    (re.compile(r"vulkan/.*"), {"bridge"}),
    (re.compile(r"(CL|OpenCL)/.*"), {"acc", "cl", "endpoints", "graph", "runtime", "capi", "platform"}),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
SUFFIXES = {".hpp", ".cpp", ".h", ".c", ".def", ".inl"}


def part_of(path):
    """The part of a file named relative to src/, as "transfer" or, for one of several endpoints, "endpoints/file".

    An endpoint is a folder in endpoints/, or the files there whose names share their first word.
    """
    if path.parts[0] != "endpoints" or len(path.parts) < 2:
        return path.parts[0]
    if len(path.parts) > 2:
        return f"endpoints/{path.parts[1]}"
    return f"endpoints/{re.split(r'[_.]', path.name)[0]}"


def broken_rule(source, path, quoted, angled):
    """Says which rule an include of the file `path` (relative to src/) breaks; None if it keeps them all."""
    name = quoted or angled
    for pattern, parts in FOREIGN:
        if pattern.fullmatch(name) and path.parts[0] not in parts:
            return f"<{name}> is for {', '.join(sorted(parts))} only"

    if not (source / name).is_file():
        if quoted and (source / path.parent / name).is_file():
            return f'"{name}": a project header is named relative to src/'
        return None
    if angled:
        return f"<{name}>: a project header stands in quotes"

    target = pathlib.PurePosixPath(name)
    own, other = part_of(path), part_of(target)
    if own == other:
        return None
    if path.parts[0] == target.parts[0]:
        return f'{own} may not use "{name}": an endpoint never names another one'
    if target.parts[0] not in MAY_USE[path.parts[0]]:
        allowed = ", ".join(sorted(MAY_USE[path.parts[0]])) or "the standard library"
        return f'{path.parts[0]} may not use "{name}": it may use {allowed}'
    return None


def offences_of_programs(source):
    """As `offences`, of what lies beside src/."""
    for folder, may_use in PROGRAMS.items():
        for file in sorted((source.parent / folder).rglob("*")):
            if file.suffix not in SUFFIXES:
                continue
            own = [place for place in file.parents if place.is_relative_to(source.parent / folder)]
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                name = match and match.group(1)
                if not name or not (source / name).is_file() or any((place / name).is_file() for place in own):
                    continue
                if pathlib.PurePosixPath(name).parts[0] not in may_use:
                    yield file, number, f'{folder}/ may not use "{name}", but public headers'


def offences(source):
    """Yields (file, line number, rule) for every include that breaks one."""
    yield from offences_of_programs(source)
    for file in sorted(source.rglob("*")):
        if file.suffix not in SUFFIXES or not file.is_file():
            continue
        path = pathlib.PurePosixPath(file.relative_to(source).as_posix())
        if len(path.parts) < 2 or path.parts[0] not in MAY_USE:
            yield file, 1, "no part of the architecture has this folder"
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            rule = match and broken_rule(source, path, *match.groups())
            if rule:
                yield file, number, rule


def main(arguments):
    default = pathlib.Path(__file__).resolve().parent.parent / "src"
    source = pathlib.Path(arguments[1]) if len(arguments) > 1 else default
    if not source.is_dir():
        print(f"{source}: no such folder", file=sys.stderr)
        return 2
    count = 0
    for file, number, rule in offences(source):
        print(f"{file}:{number}: {rule}")
        count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
