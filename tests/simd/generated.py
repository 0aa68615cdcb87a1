#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the plug-in makes of a source, for each target that the source names. Usage: generated.py CLANG PLUGIN SOURCE

A line "// TARGET name = flags" compiles the source to assembly (with -emit-llvm to LLVM's language); the remarks and then that have to match its
lines "// name: ...", which are FileCheck's. In LLVM's own language comments begin with ";". No processor of the target is needed.
For a target whose name begins with "elsewhere" the plug-in may not change the assembly at all.
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def check(clang, plugin, source, name, flags):
    filecheck = pathlib.Path(clang).resolve().parent / "FileCheck"
    with tempfile.TemporaryDirectory() as folder:
        assembly = pathlib.Path(folder) / "out.s"
        include = pathlib.Path(__file__).resolve().parents[2] / "include"
        plain = [clang, *flags.split(), "-g0", f"-I{include}", "-S", "-o", assembly, "-fno-asynchronous-unwind-tables", source]
        if name.startswith("elsewhere"):
            subprocess.run(plain, check=True)
            unchanged = assembly.read_text()
        command = [*plain, f"-fplugin={plugin}", f"-fpass-plugin={plugin}", "-Rpass=causeway-simd", "-Rpass-missed=causeway-simd",
                   # A pass that changed a function has to say so.
                   "-mllvm", "-verify-analysis-invalidation"]
        compiled = subprocess.run(command, capture_output=True, text=True)
        if compiled.returncode != 0:
            print(compiled.stderr)
            return False
        remarks = [line for line in compiled.stderr.splitlines() if "remark:" in line or "warning:" in line]
        text = "\n".join(remarks) + "\n" + assembly.read_text()
        if name.startswith("elsewhere") and assembly.read_text() != unchanged:
            print(f"{source}: target {name} ({flags}): the plug-in changes the code\n{compiled.stderr}")
            return False
    checked = subprocess.run([filecheck, f"--check-prefix={name}", "--dump-input=fail", source], input=text,
                             capture_output=True, text=True)
    if checked.returncode != 0:
        print(f"{source}: target {name} ({flags})\n{checked.stdout}{checked.stderr}")
    return checked.returncode == 0


def main():
    clang, plugin, source = sys.argv[1:]
    targets = re.findall(r"^(?://|;) TARGET ([\w-]+) = (.*)$", pathlib.Path(source).read_text(), re.M)
    if not targets:
        sys.exit(f"{source} names no target")
    sys.exit(not all([check(clang, plugin, source, name, flags) for name, flags in targets]))


if __name__ == "__main__":
    main()
