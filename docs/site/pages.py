#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gathers the pages of the site from the tree, in a newcomer's order. Usage: pages.py FOLDER

The first page is the first screen of README.md and what landing.md has; the rest of README.md is the page "overview". Pages
keep their places, so that links between them hold as in the tree. Files that pages link to, such as programs, become pages
that show them. Of the public headers and the Python package each function gets an anchor of its own.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import reference

TREE = pathlib.Path(__file__).resolve().parent.parent.parent

# A page that is missing here is an error of Sphinx's.
CONTENTS = {
    "First steps": ["overview.md", "docs/tutorial.md", "docs/cookbook.md", "docs/packages.md", "docs/graph.md", "docs/tasks.md", "docs/directives.md", "docs/python.md", "examples/README.md"],
    "Using it": ["docs/timeline.md", "docs/measuring.md", "docs/performance.md", "docs/tuning.md", "docs/study.md", "docs/platform.md", "docs/cluster-programs.md", "docs/simd.md",
                 "docs/one-sided.md", "docs/openshmem.md", "docs/applications.md", "docs/bt-mz.md"],
    "Reference": ["docs/api.md", "docs/reference", "docs/memory-model.md", "docs/options.md", "docs/man", "include", "bindings/python/README.md"],
    "Inside": ["docs/architecture.md", "docs/decisions", "CONTRIBUTING.md", "SECURITY.md", "docs/testing.md", "benchmarks/results/README.md",
               "benchmarks/results/performance.md",
               "CHANGELOG.md"],
}
RECORDS = pathlib.Path("benchmarks/results/decisions")  # behind the decisions that link to them: in no list
FIRST_SCREEN_ENDS = "## A short program"  # of README.md
GENERATED = {"docs/man", "docs/decisions", "docs/reference", "include"}  # pages that are lists of others
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".sh": "sh"}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def listing(pages):
    return "\n".join(["```{toctree}", *pages, "```", ""])


def slug(name):
    """The anchor of a heading of that name."""
    return re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-")


class site:
    def __init__(self, folder):
        self.folder = folder
        self.gathered = set()
        self.functions = {}  # by header

    def add_page(self, page):
        """The page without the markers of tests, its links turned to where their targets are on the site."""
        text = (TREE / page).read_text(encoding="utf-8")
        text = re.sub(r"^ *<!--.*?-->\n", "", text, flags=re.M | re.S)

        def turned(match):
            target = pathlib.Path(os.path.normpath(page.parent / match[2]))
            source = TREE / target
            if "://" in match[2] or not source.exists():
                return match[0]  # what does not exist, Sphinx finds
            if str(target) == "README.md":
                place = pathlib.Path("index.md")
            elif str(target) in GENERATED:
                place = target / "index.md"
            elif source.suffix == ".md":
                place = target
            elif source.suffix in (".png", ".svg"):
                self.copy(target)
                place = target
            elif source.is_file():
                self.show(target)
                place = target.with_name(target.name + ".md")
            else:
                self.show_folder(target)
                place = target / "index.md"
            return match[1] + os.path.relpath(place, page.parent) + (match[3] or "") + match[4]

        if str(page) == "README.md":
            text, rest = text.split(FIRST_SCREEN_ENDS, 1)
            write(self.folder / "overview.md", "# Overview\n\n" + LINK.sub(turned, FIRST_SCREEN_ENDS + rest))
        text = LINK.sub(turned, text)
        if page.parent == RECORDS:
            text = "---\norphan: true\n---\n" + text
        if str(page) == "README.md":
            page = pathlib.Path("index.md")
            text += (TREE / "docs/site/landing.md").read_text(encoding="utf-8")
            for title, pages in CONTENTS.items():
                names = [f"{each}/index" if each in GENERATED else each.removesuffix(".md") for each in pages]
                text += "\n" + listing([":hidden:", f":caption: {title}", "", *names])
        write(self.folder / page, text)

    def copy(self, file):
        (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TREE / file, self.folder / file)

    def show(self, file):
        """A page with the file's text; of all files, only headers are in a list of contents."""
        if file in self.gathered:
            return
        self.gathered.add(file)
        listed = file.is_relative_to("include")
        title = file.relative_to("include") if listed else file
        orphan = "" if listed else "---\norphan: true\n---\n"
        text = (TREE / file).read_text(encoding="utf-8")
        language = LANGUAGES.get(file.suffix, "text")
        functions = ""
        if listed:
            read = reference.of_c if language == "c" else reference.of_cpp
            entries = self.functions.setdefault(file, read(text))
            functions = "".join(reference.section(each, language) + "\n" for each in entries) + "## The header\n\n"
        write(self.folder / file.with_name(file.name + ".md"),
              f"{orphan}# `{title}`\n\n{functions}````{language}\n{text}````\n")

    def show_folder(self, folder):
        """A page that lists the files of the folder, and their pages."""
        files = sorted(path.relative_to(TREE) for path in (TREE / folder).iterdir() if path.is_file())
        for file in files:
            self.show(file)
        write(self.folder / folder / "index.md", f"---\norphan: true\n---\n# `{folder}`\n\n" +
              "".join(f"- [`{file.name}`]({file.name}.md)\n" for file in files))

    def add_headers(self):
        headers = sorted(path.relative_to(TREE) for path in (TREE / "include").rglob("*.h*"))
        lines = []
        for header in headers:
            self.show(header)
            about = re.search(r"^(?:/\* (.*?)(?:\*/|$)|// (.*)$)", (TREE / header).read_text().split("\n", 1)[1], re.M)
            name = header.relative_to("include")
            lines.append(f"- [`{name}`]({name}.md): {(about[1] or about[2]).strip()}")
        names = [str(header.relative_to("include")) for header in headers]
        write(self.folder / "include/index.md", "# Headers\n\nThe comments of the public headers say of each function what "
              "it takes, does and refuses.\n\n" + "\n".join(lines) + "\n\n" + listing([":hidden:", "", *names]))

    def add_reference(self):
        """A list of all functions, each a link to its anchor; those of Python stand on pages of their own."""
        modules = reference.of_python(TREE / "bindings/python/src/causeway")
        lists, pages = {"C": [], "C++": []}, []
        for header, entries in self.functions.items():
            known = lists["C++" if LANGUAGES[header.suffix] == "cpp" else "C"]
            known += [(each.name, f"../../{header}.md") for each in entries]
        for module, entries in modules.items():
            text = "".join(reference.section(each, "python") + "\n" for each in entries)
            write(self.folder / f"docs/reference/{module}.md", f"# Python: `{module}`\n\n{text}")
            pages.append(module)
            lists[f"Python, `{module}`"] = [(each.name, f"{module}.md") for each in entries]
        text = "# Functions\n\nEvery public function, by language; each links to what its header or docstring says.\n"
        for title, names in lists.items():
            ordered = sorted(set(names), key=lambda each: each[0].lower())
            links = [f"[`{name}`]({page}#{slug(name)})" for name, page in ordered]
            text += f"\n## {title}\n\n" + ",\n".join(links) + "\n"
        write(self.folder / "docs/reference/index.md", text + "\n" + listing([":hidden:", "", *pages]))

    def add_man_pages(self):
        names = []
        for source in sorted((TREE / "docs").glob("*.1")):
            text = subprocess.run(["mandoc", "-T", "markdown", source], text=True, capture_output=True, check=True).stdout
            # Its headings stand below the page's own, and its header and footer are not for the web.
            body = re.sub(r"^# (.*)$", lambda match: f"## {match[1].capitalize()}", text.split("\n\n", 1)[1], flags=re.M)
            write(self.folder / f"docs/man/{source.name}.md", f"# {source.stem}(1)\n\n" + body.rsplit("\n\n", 1)[0] + "\n")
            names.append(source.name)
        write(self.folder / "docs/man/index.md", "# Manual pages\n\n" + listing(names))

    def add_decisions(self):
        names = sorted(path.stem for path in (TREE / "docs/decisions").glob("*.md"))
        for name in names:
            self.add_page(pathlib.Path("docs/decisions", f"{name}.md"))
        write(self.folder / "docs/decisions/index.md", "# Decisions\n\n" + listing(names))


def main():
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    made = site(folder)
    pages = [each for section in CONTENTS.values() for each in section if each not in GENERATED and each != "overview.md"]
    pages += [str(path.relative_to(TREE)) for path in (TREE / "docs").glob("*.md")]
    pages += [str(path.relative_to(TREE)) for path in (TREE / RECORDS).glob("*.md")]
    for page in sorted({"README.md", *pages}):
        made.add_page(pathlib.Path(page))
    made.add_headers()
    made.add_reference()
    made.add_man_pages()
    made.add_decisions()


if __name__ == "__main__":
    main()
