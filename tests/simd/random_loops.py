#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles random loops without optimisation and with the plug-in, and compares all that they write.

Usage: random_loops.py CLANG PLUGIN [--seed N] [--loops N] [--flags FLAG...]
What a seed gives is the same everywhere; a difference prints the loop.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

TYPES = {"unsigned char": "u8", "unsigned short": "u16", "unsigned": "u32", "unsigned long": "u64", "float": "f32",
         "double": "f64"}
ROOM = 512  # elements of an array; loops stay within the middle

PRELUDE = """
#include <math.h>
#include <stdio.h>
#include <string.h>
enum { room = %d };
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long u64;
typedef float f32; typedef double f64;
static union { u8 u8[room]; u16 u16[room]; u32 u32[room]; u64 u64[room]; f32 f32[room]; f64 f64[room]; } array[4];
static u64 result;
static void fill(int seed) {
    static const int kinds[] = {%s};
    result = 0;
    for (int a = 0; a < 4; ++a) {
        u32 x = (u32)seed * 2654435761u + (u32)a * 97u + 1u;
        for (int i = 0; i < room; ++i) {
            x = x * 1664525u + 1013904223u;
            const u32 v = x >> 24;
            switch ((kinds[seed %% (int)(sizeof kinds / sizeof *kinds)] >> (4 * a)) & 15) {
            case 0: array[a].u8[i] = (u8)v; break;
            case 1: array[a].u16[i] = (u16)(v * 3); break;
            case 2: array[a].u32[i] = v * 77; break;
            case 3: array[a].u64[i] = v * 1001ul; break;
            case 4: array[a].f32[i] = (f32)((int)v - 128) / 64; break;
            default: array[a].f64[i] = (f64)((int)v - 128) / 64; break;
            }
        }
    }
}
static u64 hash(void) {
    u64 h = 14695981039346656037ul ^ result;
    for (size_t i = 0; i < sizeof array; ++i)
        h = (h ^ ((const u8 *)array)[i]) * 1099511628211ul;
    return h;
}
"""


class loop:
    """One function with a random loop, on four arrays of random types."""

    def __init__(self, name, rng):
        self.rng = rng
        self.name = name
        # Often all of one type, as in most programs.
        one = rng.choice(list(TYPES.values()))
        self.types = [one if rng.random() < 0.7 else rng.choice(list(TYPES.values())) for _ in range(4)]
        self.step = rng.choice([1] * 12 + [2, 3, -1, -1])
        self.sums = []
        self.text = self.write()

    def kinds(self):
        return sum(list(TYPES.values()).index(t) << (4 * a) for a, t in enumerate(self.types))

    def index(self):
        offset = self.rng.choice([0] * 8 + [1, -1, 3, 8, 17, -16])
        index = f"i{offset:+d}" if offset else "i"
        chance = self.rng.random()
        if chance < 0.05:
            return f"2 * ({index}) - 64"
        if chance < 0.08:
            return "70"
        if chance < 0.1:
            return f"300 - ({index})"
        return index

    def element(self):
        a = self.rng.randrange(4)
        return f"p{a}[{self.index()}]"

    def is_float(self, a):
        return self.types[a].startswith("f")

    def expression(self, floating, depth=0):
        chance = self.rng.random()
        if depth > 2 or chance < 0.35:
            a = self.rng.randrange(4)
            element = f"p{a}[{self.index()}]"
            if floating == self.is_float(a):
                return element if floating else f"(u64){element}"
            return f"(f64)(int)({element} & 63)" if floating else f"(u64)(long)(4 * {element})"
        if chance < 0.45:
            return self.rng.choice(["1.5f", "0.25", "3"] if floating else ["3u", "255u", "100000u", "(u32)i"])
        if chance < 0.55:
            x, y = self.expression(floating, depth + 1), self.expression(floating, depth + 1)
            return f"({x} < {y} ? {self.expression(floating, depth + 2)} : {y})"
        if floating and chance < 0.6:
            return f"fabs({self.expression(True, depth + 1)})"
        operators = ["+", "-", "*"] if floating else ["+", "-", "*", "&", "|", "^"]
        if not floating and chance < 0.62:
            return f"({self.expression(False, depth + 1)} {self.rng.choice(['<<', '>>'])} {self.rng.randrange(8)})"
        x, y = self.expression(floating, depth + 1), self.expression(floating, depth + 1)
        return f"({x} {self.rng.choice(operators)} {y})"

    def statement(self):
        chance = self.rng.random()
        if chance < 0.2:
            floating = self.rng.random() < 0.3
            s = f"s{len(self.sums)}"
            operator = self.rng.choice(["+", "+", "+", "*"] if floating else ["+", "+", "^", "|", "&", "*"])
            self.sums.append(("f64" if self.rng.random() < 0.5 else "f32") if floating else self.rng.choice(["u32", "u64", "u8"]))
            scaled = f"0.01f * ({self.expression(True, 1)})" if floating and operator == "*" else self.expression(floating, 1)
            return f"{s} = {s} {operator} ({self.sums[-1]})({scaled});"
        if chance < 0.24:
            s = f"s{len(self.sums)}"
            self.sums.append("u64")
            return self.rng.choice([f"{s} = (u64)i;", f"{s} = {self.expression(False, 1)};",
                                    f"if ({self.expression(False, 1)} > {s}) {s} = {self.expression(False, 1)};"])
        if chance < 0.27:
            return f"if (({self.expression(False, 2)}) == 77u) break;"
        a = self.rng.randrange(4)
        store = f"p{a}[{self.index()}] = ({self.types[a]})({self.expression(self.is_float(a))});"
        if chance < 0.4:
            return f"if ({self.expression(False, 2)} & 1) {store}"
        return store

    def write(self):
        rng = self.rng
        body = " ".join(self.statement() for _ in range(rng.choice([1, 1, 1, 2, 2, 3])))
        length = rng.choice(["n"] * 3 + [str(rng.randrange(1, 70))])
        counter = rng.choice(["long", "int", "unsigned", "unsigned short"])
        if self.step == -1:
            head = f"for (int i = 64 + (int){length} - 1; i >= 64; --i)"
        elif self.step == 1 and rng.random() < 0.15:
            head = f"for (int r = 0; r < 3; ++r) for ({counter} i = 64; i < 64 + {length}; ++i)"
        else:
            head = f"for ({counter} i = 64; i < 64 + {length}; i += {self.step})"
        loop = f"{head} {{ {body} }}"
        if self.step == 1 and head.startswith(f"for ({counter} ") and rng.random() < 0.2:
            # Pointers that walk while a number falls to nought.
            walking = re.sub(r"\bp(\d)\[i(?:([+-]\d+))?\]", lambda found: f"q{found[1]}[{found[2] or 0}]", body)
            walkers = " ".join(f"{t} *q{a} = p{a} + 64;" for a, t in enumerate(self.types))
            loop = (f"{walkers} {counter} i = 64, m = {length};\n    if (m > 0) do {{ {walking} ++i, ++q0, ++q1, ++q2, ++q3; }} "
                    f"while ({rng.choice(['--m', '--m > 0'])});")
        # Pointers that may name one array, or promise that they do not.
        place = [f"array[{a}].{self.types[a]}" for a in range(4)]
        if rng.random() < 0.2 and self.types[0] == self.types[1]:
            place[1] = f"array[0].{self.types[0]} + {rng.randrange(0, 40)}"
        promise = "restrict " if "array[0]" not in place[1] and rng.random() < 0.5 else ""
        arguments = ", ".join(f"{self.types[a]} *{promise}p{a}" for a in range(4))
        variables = " ".join(f"{t} s{k} = {k + 1};" for k, t in enumerate(self.sums))
        results = " ".join(f"{{ u64 b = 0; memcpy(&b, &s{k}, sizeof s{k}); result = result * 31 + b; }}"
                           for k in range(len(self.sums)))
        return (f"__attribute__((noinline)) static void {self.name}_({arguments}, int n) {{ (void)n, (void)p0, (void)p1, (void)p2, (void)p3; "
                f"{variables}\n    {loop}\n    {results}\n}}\n"
                f"static void {self.name}(int n) {{ {self.name}_({', '.join(place)}, n); }}\n")


def program(loops, rng):
    lengths = sorted(rng.sample(range(0, 40), 8)) + sorted(rng.sample(range(40, 200), 5))
    text = PRELUDE % (ROOM, ", ".join(str(each.kinds()) for each in loops)) + "\n".join(each.text for each in loops)
    text += "static void (*const all[])(int) = {" + ", ".join(each.name for each in loops) + "};\n"
    text += "static const int lengths[] = {" + ", ".join(map(str, lengths)) + "};\n"
    return text + """
int main(void) {
    for (int f = 0; f < (int)(sizeof all / sizeof *all); ++f)
        for (int l = 0; l < (int)(sizeof lengths / sizeof *lengths); ++l) {
            fill(f);
            all[f](lengths[l]);
            printf("%d %d %016lx\\n", f, lengths[l], hash());
        }
    return 0;
}
"""


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("clang")
    parser.add_argument("plugin")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--loops", type=int, default=200)
    parser.add_argument("--flags", nargs=argparse.REMAINDER, default=["-march=native"])
    given = parser.parse_args()
    if " avx2 " not in pathlib.Path("/proc/cpuinfo").read_text():
        print("skipped: this processor has no AVX2")
        sys.exit(77)
    rng = random.Random(given.seed)
    loops = [loop(f"loop_{k}", rng) for k in range(given.loops)]
    common = [given.clang, "-std=gnu99", "-w", "-ffp-contract=off", "-fno-strict-aliasing"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        source = folder / "loops.c"
        source.write_text(program(loops, rng))
        run([*common, "-O0", source, "-lm", "-o", folder / "reference"])
        run([*common, "-O3", *given.flags, f"-fplugin={given.plugin}", f"-fpass-plugin={given.plugin}", "-mllvm",
             f"-causeway-simd-report={folder}/report", source, "-lm", "-o", folder / "tested"])
        expected, got = run([folder / "reference"]).splitlines(), run([folder / "tested"]).splitlines()
        changed = sum(": done in " in line for line in (folder / "report").read_text().splitlines())
    differing = sorted({int(e.split()[0]) for e, g in zip(expected, got) if e != g})
    for k in differing[:5]:
        print(f"DIFFERS (seed {given.seed}):\n{loops[k].text}")
    print(f"{len(loops)} loops, {changed} changed by the plug-in, {len(expected)} runs, {len(differing)} loops differ")
    sys.exit(bool(differing) or len(expected) != len(got) or changed == 0)


if __name__ == "__main__":
    main()
