#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts lines of code between the marks "communication begin" and "communication end", without blank lines and
comments: communication_lines.py FILE..."""

import re
import sys
from pathlib import Path

COMMENT = re.compile(r"^(//|#)")
MARK = re.compile(r"^(?://|#|/\*) communication (begin|end)\b")


def count(path):
    """All lines of code, and those of communication."""
    inside, lines, communication = False, 0, 0
    for line in Path(path).read_text().splitlines():
        line = line.strip()
        if mark := MARK.match(line):
            if inside == (mark.group(1) == "begin"):
                sys.exit(f'{path}: unpaired "{line}"')
            inside = not inside
        elif line and not COMMENT.match(line):
            lines += 1
            communication += inside
    if inside:
        sys.exit(f'{path}: "communication begin" without an end')
    return lines, communication


print(f"{'lines':>6} {'communication':>14}  file")
for path in sys.argv[1:]:
    lines, communication = count(path)
    print(f"{lines:6} {communication:14}  {path}")
