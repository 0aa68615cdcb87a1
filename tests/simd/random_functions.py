#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random functions of `omp declare simd`, with loops, switches and ways out, in loops that call them, beside code that was not optimised.
Usage: random_functions.py CLANG PLUGIN [--seed N] [--programs N]"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

FUNCTIONS = 8
MAIN = """
#include <stdio.h>
#include <string.h>
void vector(unsigned *, const unsigned *, const unsigned *, unsigned, int);
void scalar(unsigned *, const unsigned *, const unsigned *, unsigned, int);
int main(void) {
    unsigned x[100], y[100], state = 7;
    for (int n = 0; n < 100; n += 7) {
        for (int i = 0; i < 100; i++) {
            state = state * 1664525 + 1013904223, x[i] = state >> 9;
            state = state * 1664525 + 1013904223, y[i] = state >> 20;
        }
        unsigned a[800] = {0}, b[800] = {0};
        vector(a, x, y, (unsigned)n, n);
        scalar(b, x, y, (unsigned)n, n);
        if (memcmp(a, b, sizeof a)) return printf("n = %d differs\\n", n), 1;
    }
    return 0;
}
"""


def expression(chance, names, depth=0):
    kind = chance.randrange(9 if depth < 3 else 2)
    if kind == 0:
        return str(chance.randrange(1, 9))
    if kind in (1, 2):
        return chance.choice(names)
    a = expression(chance, names, depth + 1)
    if kind > 4:
        return f"({a} {chance.choice('+-*^&')} {expression(chance, names, depth + 1)})"
    b = expression(chance, names, depth + 1)
    if kind == 3:
        return f"({a} / ({b} | 1))"
    return f"({a} < {b} ? {expression(chance, names, depth + 1)} : {expression(chance, names, depth + 1)})"


def statements(chance, names, depth, in_loop):
    made = []
    for _ in range(chance.randrange(1, 4)):
        kind = chance.randrange(8)
        if kind < 3:
            made.append(f"{chance.choice('abc')} = {expression(chance, names)};")
        elif kind == 3 and depth < 3:
            made.append(f"if ({expression(chance, names)} & 1) {{ {statements(chance, names, depth + 1, in_loop)} }} "
                        f"else {{ {statements(chance, names, depth + 1, in_loop)} }}")
        elif kind == 4 and depth < 3:
            counter = f"i{depth}"
            made.append(f"for (unsigned {counter} = 0; {counter} < {chance.randrange(2, 6)}u + ({chance.choice(names)} & 3); {counter}++) "
                        f"{{ {statements(chance, names + [counter], depth + 1, True)} }}")
        elif kind == 5 and in_loop:
            made.append(f"if ({expression(chance, names)} & 2) {chance.choice(['break;', 'continue;', f'return {chance.choice(names)};'])}")
        elif kind == 6 and depth < 3:
            made.append(f"switch ({expression(chance, names)} & 3) {{ case 0: {statements(chance, names, depth + 1, False)} "
                        f"case 1: {statements(chance, names, depth + 1, False)} break; default: {statements(chance, names, depth + 1, False)} }}")
        else:
            made.append(f"if ({expression(chance, names)} & 4) return {expression(chance, names)};")
    return "\n".join(made)


def program(seed):
    chance = random.Random(seed)
    text, calls = "", ""
    for number in range(FUNCTIONS):
        text += ("#pragma omp declare simd uniform(c)\n"
                 f"static unsigned f{number}(unsigned a, unsigned b, unsigned c) {{ for (unsigned k = 0; k < 3u + (a & 3); k++) {{ "
                 f"{statements(chance, ['a', 'b', 'c', 'k'], 1, True)} }} return a ^ b; }}\n")
        condition = "if (x[i] & 8) " if number % 2 else ""
        calls += f"#pragma omp simd\nfor (int i = 0; i < n; i++) {condition}o[{number * 100} + i] = f{number}(x[i], y[i], z);\n"
    return text + f"void NAME(unsigned *restrict o, const unsigned *x, const unsigned *y, unsigned z, int n) {{\n{calls}}}\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("clang")
    parser.add_argument("plugin")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=1)
    given = parser.parse_args()
    macros = subprocess.run([given.clang, "-march=native", "-dM", "-E", "-x", "c", "/dev/null"], capture_output=True, text=True, check=True).stdout
    if "__AVX2__" not in macros:
        print("skipped: this processor has no AVX2")
        sys.exit(77)
    targets = [["-mavx2"], ["-march=native"], ["-march=native", "-mprefer-vector-width=512"]]
    for seed in range(given.seed, given.seed + given.programs):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "f.c").write_text(program(seed))
            (folder / "main.c").write_text(MAIN)
            subprocess.run([given.clang, "-O0", "-w", "-DNAME=scalar", "-c", "f.c", "-o", "scalar.o"], cwd=folder, check=True)
            for target in targets:
                subprocess.run([given.clang, "-O3", *target, "-w", "-fopenmp-simd", f"-fpass-plugin={given.plugin}", f"-fplugin={given.plugin}",
                                "-mllvm", "-causeway-simd-report=report", "-DNAME=vector", "-c", "f.c", "-o", "vector.o"], cwd=folder, check=True)
                made = (folder / "report").read_text().count(" is there for lanes")
                (folder / "report").unlink()
                subprocess.run([given.clang, "-w", "main.c", "vector.o", "scalar.o", "-o", "program"], cwd=folder, check=True)
                done = subprocess.run([folder / "program"], capture_output=True, text=True, timeout=60)
                if done.returncode != 0 or made == 0:
                    sys.exit(f"seed {seed}, {' '.join(target)}: status {done.returncode}, {made} functions for lanes {done.stdout}")
    print(f"{given.programs} programs, none differs")


if __name__ == "__main__":
    main()
