# SPDX-License-Identifier: Apache-2.0
"""Reads functions with their comments from public headers, and with their docstrings from the Python package."""
import ast
import pathlib
import re
import textwrap
from dataclasses import dataclass


@dataclass
class entry:
    """A function or type: `name` is its heading, `code` its declaration."""
    name: str
    text: str
    code: str


def plain(comment):
    """A comment as a paragraph of Markdown, whose signs mean nothing in comments but `code`."""
    parts = re.split(r"(`[^`]*`)", comment)
    return "".join(part if i % 2 else re.sub(r"([*_<\[\]#|~])", r"\\\1", part) for i, part in enumerate(parts))


def laid_out(code, most=84):
    """A declaration in lines that fit."""
    code = re.sub(r"\s+", " ", code)
    if len(code) <= most or "(" not in code:
        return code
    head, rest = code.split("(", 1)
    return f"{head}(\n" + textwrap.fill(rest, most, initial_indent="    ", subsequent_indent="    ", break_long_words=False)


def of_c(text):
    """Functions of a C header: CAUSEWAY_API or CAUSEWAY_EXPORT, and the comment above; what has none shares the last one's."""
    found, comment, end = [], "", 0
    pattern = re.compile(r"/\*(?P<comment>.*?)\*/|^(?P<code>CAUSEWAY_(?:API|EXPORT)\b[^;]*;)", re.M | re.S)
    for match in pattern.finditer(text):
        between, end = text[end:match.start()], match.end()
        if match["comment"] is not None:
            if "\n" not in between or text[:match.start()].endswith("\n"):
                comment = re.sub(r"^ *\* ?", "", match["comment"], flags=re.M).strip()
            continue
        if re.search(r"^(#|typedef|struct|enum)", between, re.M):
            comment = ""
        name = re.search(r"(\w+)\s*\(", re.sub(r"^CAUSEWAY_\w+", "", match["code"]))
        if name:
            found.append(entry(name[1], plain(comment), laid_out(re.sub(r"^CAUSEWAY_\w+ ", "", match["code"]))))
    return found


def of_cpp(text):
    """Types and functions of a C++ header with a comment of `///` above them, or on their line."""
    found, comment, owner, depth = [], [], None, 0
    for line in text.split("\n"):
        bare = line.strip()
        if bare.startswith("///"):
            comment.append(bare[3:].strip())
            continue
        kind = re.match(r"(?:template <[^>]*> *)?(class|struct|enum class) (\w+)", bare)
        call = re.match(r"(?:template <.*?> *)?[\w:<>,&*\[\] ]*?\b(~?\w+)\s*\(", bare)
        if kind and not bare.endswith(";"):
            if not line.startswith(" "):
                owner = kind[2]
            name = kind[2]
        elif call and comment and not re.match(r"(return|if|for|while|switch|check|assert)\b", bare):
            name = f"{owner}::{call[1]}" if owner and line.startswith("    ") else call[1]
        else:
            name = None
        if name and comment:
            found.append(entry(name, plain(" ".join(comment)), re.sub(r"\s*(\{.*|;)$", "", bare)))
        if bare == "};" and not line.startswith(" "):
            owner = None
        if bare:
            comment = []
    return found


def of_python(folder):
    """What each module says is public."""
    modules = {}
    for path in sorted(folder.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_") and ast.get_docstring(node):
                module = "causeway" if path.stem.startswith("_") else f"causeway.{path.stem}"
                modules.setdefault(module, []).extend(of_python_node(node, ""))
    return modules


def of_python_node(node, owner):
    name = owner + node.name
    if isinstance(node, ast.FunctionDef):
        returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        code = laid_out(f"{name}({ast.unparse(node.args)}){returns}")
        return [entry(name, ast.get_docstring(node) or "", code)]
    members = [each for each in node.body if isinstance(each, ast.FunctionDef) and not each.name.startswith("_") and ast.get_docstring(each)]
    bases = ", ".join(ast.unparse(each) for each in node.bases)
    return [entry(name, ast.get_docstring(node), f"class {name}({bases})" if bases else f"class {name}"),
            *(found for each in members for found in of_python_node(each, name + "."))]


def section(of, language, level="##"):
    """The heading of an entry is its anchor."""
    text = f"\n\n{of.text}" if of.text else ""
    return f"{level} `{of.name}`\n\n```{language}\n{of.code}\n```{text}\n"


def headers(tree):
    return sorted(path.relative_to(tree) for path in pathlib.Path(tree, "include").rglob("*.h*"))
