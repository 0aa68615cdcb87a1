#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a page of the documentation, as its readers do, and compares what they print with the page.

Every ```sh block is run, in order, by one shell, in a scratch folder that looks like the source tree with the build in
build/release; its programs are not on the path, as they are not on a reader's. What a page says beyond that stands in
comments, which its readers do not see:

  <!-- run: COMMANDS -->       runs COMMANDS (also several lines) here: makes what the page takes for granted
  <!-- file: NAME -->          the block below is the file NAME
  <!-- not run: REASON -->     the block below is not run, and REASON says why and what tests it instead
  <!-- slow: REASON -->        the block below is run with --slow only
  <!-- output -->              the block below is what the last commands printed; `…` stands for any text in a line, and
                               alone in a line for any lines
  <!-- output: numbers -->     the same, and every number stands for any number
"""
import argparse
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

SKIPPED = 77
MARKERS = ("run", "file", "not run", "slow", "output")


class page_error(Exception):
    """The page is not what this program understands."""


def parts_of(text):
    """The page's blocks and hidden commands in order: (line, kind or language, marker, marker's text, content)."""
    pattern = re.compile(r"""
        ^\ *<!--\ *(?P<marker>[a-z ]+?)\ *(?::\s*(?P<about>.*?))?\s*-->\ *\n |
        ^(?P<indent>\ *)```(?P<language>\S*)\ *\n(?P<content>.*?)^\ *```\ *$
        """, re.X | re.M | re.S)
    marker, marker_end, about = None, None, None
    for match in pattern.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["content"] is None:
            if match["marker"] not in MARKERS:
                raise page_error(f"line {line}: no marker '{match['marker']}'; there are {', '.join(MARKERS)}")
            if match["marker"] == "run":
                yield line, "hidden", None, None, match["about"] or ""
            else:
                marker, about, marker_end = match["marker"], match["about"] or "", match.end()
                if text[marker_end:].lstrip(" ")[:3] != "```":
                    raise page_error(f"line {line}: no block below the marker '{marker}'")
            continue
        content = re.sub(f"^{match['indent']}", "", match["content"], flags=re.M)
        yield line, match["language"], marker if marker_end == match.start() else None, about, content


def expected_lines(content, numbers):
    """A regular expression for the output that a block shows."""
    def fits(line):
        pieces = []
        for piece in re.split(r"(…|\s+|\d+(?:\.\d+)?)", line.rstrip()):
            if piece == "…":
                pieces.append(r".*")
            elif piece.isspace():
                pieces.append(r"[ \t]+")
            elif numbers and re.fullmatch(r"\d+(?:\.\d+)?", piece):
                # A column of numbers is aligned by blanks, of which a longer number leaves fewer.
                pieces.append(r"\d+(?:\.\d+)?")
            else:
                pieces.append(re.escape(piece))
        return "".join(pieces) + r"[ \t]*\n"

    return "".join(r"(?:.*\n)*" if line.strip() == "…" else fits(line) for line in content.splitlines())


def make_scratch(folder, tree, build):
    """Links to all of the tree, so that a page's paths hold and what it writes stays out of the tree."""
    listed = subprocess.run(["git", "-C", tree, "ls-files"], text=True, capture_output=True, check=False)
    names = {name.split("/")[0] for name in listed.stdout.split("\n") if name} or \
        {entry.name for entry in tree.iterdir() if entry.name != "build"}
    for name in sorted(names | {".venv"}):
        if (tree / name).exists():
            (folder / name).symlink_to(tree / name)
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(build)
    (folder / "home").mkdir()


def make_commands(folder, tree, build):
    """The commands that have to be this build's: its MPI's, and a make that works in the tree, where CMake built."""
    folder.mkdir()
    make = folder / "make"
    make.write_text(f'#!/bin/sh\nexec {shutil.which("make")} --no-print-directory -C {shlex.quote(str(tree))} "$@"\n')
    make.chmod(0o755)
    cache = (build / "CMakeCache.txt").read_text()
    for name, variable in (("mpirun", "MPIEXEC_EXECUTABLE"), ("mpicc", "MPI_C_COMPILER"),
                           ("mpicxx", "MPI_CXX_COMPILER")):
        found = re.search(f"^{variable}:[A-Z]*=(.+)$", cache, re.M)
        path = found and shutil.which(found[1])
        if path:
            (folder / name).symlink_to(path)


def make_script(page, scratch, slow):
    """The shell's script; its steps as [line, commands, expression for their output]; (line, reason) of what is left
    out."""
    script = ["set -euo pipefail", "shopt -s inherit_errexit"]
    steps, left_out = [], []
    last = None
    for line, language, marker, about, content in parts_of(page.read_text(encoding="utf-8")):
        if marker in ("not run", "slow") and not about:
            raise page_error(f"line {line}: '{marker}' without a reason")
        if marker == "file":
            (scratch / about).write_text(content, encoding="utf-8")
        elif marker == "output":
            if last is None:
                raise page_error(f"line {line}: output of no commands")
            if last >= 0:
                steps[last][2] = expected_lines(content, about == "numbers")
        elif language in ("sh", "hidden"):
            if marker == "not run" or (marker == "slow" and not slow):
                left_out.append((line, f"{marker}: {about}"))
                last = -1
                continue
            last = len(steps)
            steps.append([line, content, None])
            # Its number says how far the shell came.
            script += [f'exec >"$DOCS_OUTPUT/{last}" 2>&1', content]
    return "\n".join([*script, "exit 0"]) + "\n", steps, left_out


def run_page(page, tree, build, slow, timeout):
    """Says what is wrong. Returns the status to exit with; a command that is skipped (77) skips the page."""
    with tempfile.TemporaryDirectory(prefix="causeway-page-") as temporary:
        scratch, output = pathlib.Path(temporary, "tree"), pathlib.Path(temporary, "output")
        scratch.mkdir()
        output.mkdir()
        make_scratch(scratch, tree, build)
        make_commands(pathlib.Path(temporary, "commands"), tree, build)
        script, steps, left_out = make_script(page, scratch, slow)
        (output / "script").write_text(script, encoding="utf-8")

        home = scratch / "home"
        environment = {**os.environ, "DOCS_OUTPUT": str(output), "HOME": str(home),
                       "XDG_CACHE_HOME": str(home / ".cache"),
                       "PATH": os.pathsep.join([f"{temporary}/commands", os.environ["PATH"]]),
                       # A page that calls pip says where else it installs.
                       "PIP_REQUIRE_VIRTUALENV": "1",
                       # Two ranks on one core are as good as on two, to see that a command works.
                       "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
        # A command that waits for ever ends with all that it started.
        shell = subprocess.Popen(["bash", str(output / "script")], cwd=scratch, env=environment, start_new_session=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            said, _ = shell.communicate(timeout=timeout)
            trouble = f"status {shell.returncode}" if shell.returncode else None
            skipped = shell.returncode == SKIPPED
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            said, _ = shell.communicate()
            trouble, skipped = f"no end after {timeout} seconds", False

        printed = [output / str(number) for number in range(len(steps))]
        reached = [path.read_text(encoding="utf-8", errors="replace") for path in printed if path.exists()]
        failed = False
        for number, text in enumerate(reached):
            line, commands, expected = steps[number]
            if trouble and number == len(reached) - 1:
                failed = True
                print(f"{page}:{line}: {trouble}\n-- commands\n{commands}-- they printed\n{text}")
            elif expected is not None and not re.fullmatch(expected, text):
                failed = True
                print(f"{page}:{line}: printed something else than the page shows\n-- commands\n{commands}"
                      f"-- they printed\n{text}")
        if not reached and trouble:
            failed = True
            print(f"{page}: {trouble}\n{said.decode(errors='replace')}")
        for line, reason in left_out:
            print(f"{page}:{line}: {reason}")
        print(f"{page}: {len(reached)} of {len(steps)} blocks run, {len(left_out)} left out")
        return SKIPPED if skipped else int(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the folder of the build")
    parser.add_argument("--slow", action="store_true", help="run what takes long, too")
    parser.add_argument("--timeout", type=float, default=240, help="seconds that the page may take (default 240)")
    given = parser.parse_args()
    tree = pathlib.Path(__file__).resolve().parent.parent.parent
    build = given.build.resolve()
    if not (build / "bin/causeway").exists():
        print("skipped: the program causeway is not built")
        sys.exit(SKIPPED)
    try:
        sys.exit(run_page(given.page.resolve(), tree, build, given.slow, given.timeout))
    except page_error as error:
        sys.exit(f"{given.page}: {error}")


if __name__ == "__main__":
    main()
