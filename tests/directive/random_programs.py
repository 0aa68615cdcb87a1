#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random programs with directives, on a device and as the host version, which have to print the same.

usage: random_programs.py COMPILER [--count N] [--seed S] [--batch N] [--keep FOLDER] [--no-lone-threads]
       random_programs.py COMPILER --reductions all|some

A program is one function; a source holds a batch of them. --reductions tests each operator, type and level instead.
"""
import argparse
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROWS, COLUMNS = 13, 17
SIZE = ROWS * COLUMNS

HEAD = f"""
#include <math.h>
#include <stdio.h>
#include <string.h>
enum {{ R = {ROWS}, C = {COLUMNS}, N = R * C }};
static unsigned a[N], b[N], c[N], m[R][C], k[R][C], pool[4 * N];
static double x[N], y[N];
static unsigned hash;
static void start(unsigned seed) {{
    for (unsigned i = 0; i < N; i++) {{
        a[i] = i * 7 + seed, b[i] = i * i ^ seed, c[i] = 3 * i + 1, x[i] = (i * 5 + seed) % 64, y[i] = i % 32;
        m[i / C][i % C] = i + seed, k[i / C][i % C] = i * 3;
    }}
    for (unsigned i = 0; i < 4 * N; i++) pool[i] = i * 11 ^ seed;
}}
static void add(const void* from, size_t bytes) {{
    for (size_t i = 0; i < bytes; i++) hash = (hash ^ ((const unsigned char*)from)[i]) * 16777619u;
}}
static void finish(int number) {{
    hash = 2166136261u;
    add(a, sizeof a), add(b, sizeof b), add(c, sizeof c), add(m, sizeof m), add(k, sizeof k), add(x, sizeof x), add(y, sizeof y), add(pool, sizeof pool);
    printf("%d: %u\\n", number, hash);
}}
#pragma acc routine seq
static unsigned mix(unsigned p, unsigned q) {{ return p > q ? p * 3 + q : (p ^ q) + 1; }}
static unsigned bump(unsigned* p) {{ return *p += 3; }}
static void put(unsigned* to, unsigned p) {{ *to ^= p * 5; }}
static unsigned square(unsigned p) {{ return p * p; }}
static unsigned half(unsigned p) {{ return square(p) / 2 + mix(p, 3); }}
static unsigned third(unsigned p) {{ return half(p) - square(p + 1); }}
static unsigned in_row(const unsigned* row, unsigned j) {{ return row[j % C]; }}
static unsigned in_rows(unsigned (*rows)[C], unsigned i, unsigned j) {{ return in_row(rows[i % R], j) + rows[(i + 1) % R][j % C]; }}
static unsigned in_matrix(int n, unsigned matrix[][n], int i, int j) {{ return matrix[i][j] * 3 + in_row(matrix[i], 2); }}
static unsigned from_row(unsigned (*rows)[C], unsigned i, unsigned j) {{ return (*(rows + i))[j % C] + in_row(rows[0], j) + (&rows[i] - rows); }}
static unsigned in_part(int n, unsigned (*part)[n], int j) {{ unsigned (*next)[n] = part; next++; return (*part)[j] + (*next)[j] + next[-1][0]; }}
static void change_row(unsigned* row, int n, unsigned p) {{ for (int j = 0; j < n; j++) row[j] += j ^ p; }}
"""


class generator:
    """Writes one function. What iterations of a loop that is spread write, no other iteration touches."""

    def __init__(self, seed, lone_threads):
        self.random = random.Random(seed)
        self.lone_threads = lone_threads

    def chance(self, share):
        return self.random.random() < share

    def pick(self, *of):
        return self.random.choice(of)

    def value(self, names, reads, depth=2):
        """An unsigned expression of the variables and of the arrays' elements."""
        if depth == 0 or self.chance(0.25):
            kind = self.random.randrange(3)
            if kind == 0 or not names:
                return f"{self.random.randrange(1, 50)}u"
            name = self.pick(*names)
            if kind == 1 or not reads:
                return f"(unsigned){name}"
            array = self.pick(*reads)
            if array in "mk" and self.chance(0.4):
                return self.pick(f"in_row({array}[{name} % R], {name})", f"in_rows({array}, {name}, {name} + 1)", f"in_row({array}[{name} % (R - 1)] + 1, {name})",
                                 f"in_row(*({array} + {name} % R), {name})", f"in_rows({array} + {name} % 2, 3, {name})", f"(*({array} + {name} % R))[{name} % C]",
                                 f"in_row(&{array}[{name} % (R - 1)][2], {name})")
            index = self.pick(name, f"({name} + {self.random.randrange(1, 9)})", f"({name} * 3 + 1)")
            return f"{array}[{index} % N]" if array in "abc" else f"{array}[{index} % R][({name} + 2) % C]"
        one, other = self.value(names, reads, depth - 1), self.value(names, reads, depth - 1)
        kind = self.random.randrange(10)
        if kind == 9:
            first, second = self.pick("square", "half", "third"), self.pick("square", "half", "third")
            return self.pick(f"({first}({one}) {self.pick('+', '^')} {second}({other}))", f"mix({first}({one}), {second}({other}))", f"{first}({second}({one}))")
        if kind < 6:
            return f"({one} {'+-*^&|'[kind]} {other})"
        if kind == 6:
            return f"({one} > {other} ? {one} : {other})"
        if kind == 7:
            return f"mix({one}, {other})"
        return f"({one} >> {self.random.randrange(1, 5)})"

    def levels(self, *allowed):
        """Of a loop, with sizes. Several gangs would each run a loop that is not spread over them: a race of the program's own."""
        levels = " ".join(level for level in allowed if self.chance(0.6))
        return levels + self.sizes(gangs=not levels or "gang" in levels)

    def sizes(self, gangs=True):
        return "".join(f" {clause}({self.random.randrange(1, most)})" for clause, most in
                       (("num_gangs", 7 if gangs else 2), ("num_workers", 4), ("vector_length", 9)) if self.chance(0.4))

    def extra(self):
        clauses = ""
        if self.chance(0.15):
            clauses += f" if({self.pick('seed > 2', '1', 'seed % 2')})"
        if self.chance(0.2):
            clauses += f" async({self.random.randrange(3)})"
        return clauses

    def arrays(self):
        names = ["a", "b", "c"]
        self.random.shuffle(names)
        return names

    def elementwise(self):
        target, other, read = self.arrays()
        text = f"#pragma acc parallel loop {self.levels('gang', 'worker', 'vector')}{self.extra()}"
        text += self.pick("", f" copy({target}) copyin({read})", f" copyin({read}[0:N])", " private(t)", " firstprivate(s)")
        first, step = self.random.randrange(4), self.random.randrange(1, 4)
        head = self.pick(f"int i = {first}; i < N; i += {step}", f"int i = N - 1; i >= {first}; i -= {step}", "int i = 0; i != N; i++",
                         f"long i = {first}; i <= N - 2; i++", f"unsigned i = {first}; N > i; i++")
        body = f"{{ t = {self.value(['i', 's'], [read])}; {target}[i] {self.pick('=', '+=', '^=', '*=')} t + {self.value(['i', 't'], [read])};"
        body += self.pick("", f" if (t % 3 == 1) {target}[i] += {self.value(['i'], [read])};",
                          f" for (int j = 0; j < (int)(i % 5); j++) {{ if (j == 3) break; {target}[i] += {read}[j] * i; }}",
                          f" switch (t % 4) {{ case 0: {target}[i]++; break; case 1: {target}[i] += 5; default: {target}[i] ^= 9; }}",
                          f" unsigned w[3]; for (int j = 0; j < 3; j++) w[j] = {read}[(i + j) % N]; {target}[i] -= w[i % 3];")
        private = "" if "private(t)" in text else " private(t)"
        return f"{text}{private}\nfor ({head}) {body} }}\n"

    def nested(self):
        target, read = self.pick(("m", "k"), ("k", "m"))
        reads = self.pick([read], ["a", read], ["a", "b"])
        what = f"{target}[i][j] {self.pick('=', '+=', '-=')} {self.value(['i', 'j', 's'], reads)};"
        shape = self.random.randrange(4)
        if shape == 0:
            how = self.pick("collapse(2)", f"tile({self.random.randrange(1, 6)}, {self.random.randrange(1, 6)})", "tile(*, *)")
            return (f"#pragma acc parallel loop {how} {self.levels('gang', 'worker', 'vector')}{self.extra()}\n"
                    f"for (int i = 0; i < R; i++) for (int j = 1; j < C; j++) {{ {what} }}\n")
        outer, inner = self.pick(("gang", "worker vector"), ("gang worker", "vector"), ("gang", "vector"), ("gang", "seq"), ("", ""))
        if shape == 1:
            return (f"#pragma acc parallel loop {outer}{self.sizes()}{self.extra()}\nfor (int i = 0; i < R; i++) {{\n"
                    f"unsigned u = {self.value(['i', 's'], ['c'])};\n#pragma acc loop {inner}\n"
                    f"for (int j = 0; j < C; j++) {{ {what} {target}[i][j] += u; }}\n}}\n")
        kind = self.pick("+", "^", "|", "max")
        step = "u = u > v ? u : v;" if kind == "max" else f"u {kind}= v;"
        if inner == "seq":
            inner = "vector"
        return (f"#pragma acc parallel{self.sizes()}{self.extra()}\n{{\n#pragma acc loop {outer or 'gang'}\nfor (int i = 0; i < R; i++) {{\n"
                f"unsigned u = i;\n#pragma acc loop {inner or 'vector'} reduction({kind}:u)\n"
                f"for (int j = 0; j < C; j++) {{ unsigned v = {self.value(['i', 'j', 's'], reads)}; {step} }}\n"
                f"{target}[i][{self.random.randrange(COLUMNS)}] = u;\n}}\n}}\n")

    def reduced(self):
        _, _, read = self.arrays()
        kind, step = self.pick(("+", "t += {};"), ("+", "t = t + {};"), ("^", "t ^= {};"), ("|", "t |= {};"), ("&", "t &= {};"),
                               ("max", "if ({0} > t) t = {0};"), ("min", "t = t < {0} ? t : {0};"), ("*", "t *= {} | 1u;"))
        step = step.format(self.value(["i"], [read], 1))
        if self.chance(0.5):
            region = f"#pragma acc parallel loop reduction({kind}:t) {self.levels('gang', 'worker', 'vector')}\nfor (int i = 0; i < N; i++) {{ {step} }}\n"
        else:
            region = (f"#pragma acc parallel{self.sizes()}\n{{\n#pragma acc loop gang {self.pick('', 'worker', 'vector', 'worker vector')} reduction({kind}:t)\n"
                      f"for (int i = 0; i < N; i++) {{ {step} }}\n}}\n")
        return f"t = {self.random.randrange(1, 90)};\n{region}a[{self.random.randrange(SIZE)}] ^= t;\n"

    def sums(self):
        kind, step = self.pick(("+", "z += x[i] * y[i];"), ("max", "z = z > x[i] ? z : x[i];"), ("min", "if (x[i] < z) z = x[i];"))
        return (f"z = {self.random.randrange(9)};\n#pragma acc parallel loop reduction({kind}:z) {self.levels('gang', 'vector')}\n"
                f"for (int i = 0; i < N; i++) {step}\nx[{self.random.randrange(SIZE)}] = z;\n"
                f"#pragma acc kernels\nfor (int i = 0; i < N; i++) y[i] = x[i] * 0.5 - y[i];\n")

    def kernels(self):
        """Loops whose iterations may meet: the compiler has to see which do."""
        loops = []
        for _ in range(self.random.randrange(1, 4)):
            target, other, read = self.arrays()
            shift = self.random.randrange(1, 4)
            head = self.pick(f"{{0}} = {shift}; {{0}} < {{1}}; {{0}} += {shift}", f"{{0}} = {{1}} - 1; {{0}} >= {shift}; {{0}}--",
                             f"{{0}} = 0; {{0}} != {{1}}; {{0}}++", "{0} = {1}; {0} < 3; {0}++")
            leave = self.pick("", f"if ({read}[{{0}}] % 5 == 2) break; ", f"if ({read}[{{0}}] % 3 == 1) continue; ")
            loops.append(self.pick(
                # Variables that are used after their loop: an iteration's own, and `q` of the function.
                f"for (int i = 0; i < N; i++) {{ int v; unsigned u = 0; for ({head.format('v', '(i % 19)')}) {{ {leave.format('v')}u += {read}[v] ^ i; }}"
                f" {target}[i] += u + v; }}",
                f"q = {shift}; for ({head.format('q', 'N')}) {{ {leave.format('q')}{target}[q] += {read}[q]; }} {other}[3] ^= q;",
                f"q = {shift}; for (int i = 0; i < R; i++) {{ for ({head.format('q', 'C')}) {{ {leave.format('q')}m[i][q] += i; }} {target}[i] += q; }}",
                f"q = {shift}; for (int i = 1; i < R; i++) {{ k[i][0] ^= q; for ({head.format('q', '(C - i)')}) {{ {leave.format('q')}k[i][q] += m[i][q]; }} }}"
                f" {other}[4] += q;",
                f"for (int i = 0; i < N; i++) {target}[i] = {self.value(['i', 's'], [read, target])};",
                f"for (int i = {shift}; i < N; i++) {target}[i] += {target}[i - {shift}];",
                f"for (int i = 0; i < N - {shift}; i++) {target}[i] = {target}[i + {shift}] + {read}[i];",
                f"for (int i = 0; i < N / 2; i++) {target}[2 * i] = {target}[2 * i + 1] ^ {read}[i];",
                f"for (int i = 0; i < N / 2; i++) {target}[i] = {target}[2 * i] ^ {read}[i];",
                f"for (int i = 0; i < R; i++) for (int j = 0; j < C; j++) {target}[i * C + j] += {read}[j * R + i];",
                "for (int i = 1; i < R; i++) for (int j = 0; j < C; j++) m[i][j] += m[i - 1][j];",
                "for (int i = 0; i < R; i++) for (int j = 1; j < C; j++) k[i][j] = k[i][j - 1] * 3 + m[i][j];",
                f"for (int i = 0; i < N; i++) {target}[{read}[i] % N] = i;",
                f"for (int i = 0; i < N; i++) {{ t = {self.value(['i'], [read])}; {other}[i] = t * 2; }}",
                f"t = {self.value(['s'], [])}; for (int i = 0; i < N; i++) {self.pick(f't += {read}[i]', f't = t ^ {read}[i]', f'if ({read}[i] > t) t = {read}[i]')}; {target}[5] = t;",
                f"t = {self.value(['s'], [])}; {target}[3] = t;"))
        auto = self.chance(0.3)
        if auto:
            return "".join(f"#pragma acc parallel loop auto\n{loop}\n" for loop in loops if loop.startswith("for"))
        region = f"#pragma acc kernels{self.extra()}\n{{\n" + "\n".join(loops) + "\n}\n"
        if "q = " in region and self.chance(0.5):
            region += ("#pragma acc wait\n" if "async" in region else "") + f"s += q * {self.random.randrange(1, 9)};\n"
        return region

    def serial(self):
        target, _, read = self.arrays()
        return (f"#pragma acc serial{self.extra()}\n{{ unsigned u = {self.value(['s'], [read])};\n"
                f"for (int i = 1; i < N; i++) {{ u = mix(u, {read}[i]); {target}[i] += u + {target}[i - 1]; if (u % 41 == 0) continue; {target}[0]++; }} }}\n")

    def atomics(self):
        target, _, read = self.arrays()
        return (f"#pragma acc parallel loop {self.levels('gang', 'vector')}\nfor (int i = 0; i < N; i++) {{\n"
                f"#pragma acc atomic update\n{target}[{read}[i] % 7] += {self.value(['i'], [read])};\n}}\n")

    def structure(self, tag, depth=1):
        """The definition, and the names of what can be set in it: whole numbers that all its types hold."""
        members, names = "", []
        for number in range(self.random.randrange(1, 5)):
            name = f"m{number}"
            where = self.pick("", "", "", " __attribute__((packed))", f" __attribute__((aligned({self.pick(2, 4, 8, 16)})))")
            if depth and self.chance(0.4):
                inner, below = self.structure("", 0)
                members += f"{inner} {name}{where};\n"
                names += [f"{name}.{each}" for each in below]
            elif self.chance(0.2):
                members += f"{self.pick('char', 'short', 'double')} {name}[3]{where};\n"
                names.append(f"{name}[{self.random.randrange(3)}]")
            else:
                members += f"{self.pick('char', 'short', 'unsigned', 'float', 'double', 'long')} {name}{where};\n"
                names.append(name)
        attributes = self.pick("", " __attribute__((packed))", " __attribute__((aligned(16)))", " __attribute__((packed, aligned(4)))")
        pack = depth and self.chance(0.3)
        text = f"{self.pick('struct', 'struct', 'union')}{attributes} {tag} {{\n{members}}}"
        return (f"#pragma pack(push, {self.pick(1, 2, 4)})\n{text};\n#pragma pack(pop)\n" if pack else text + ";\n" if depth else text), names

    def structures(self):
        """Of one tag in all functions, each with a layout of its own."""
        definition, names = self.structure("S")
        kind = re.search(r"(union|struct)[^{]* S \{", definition).group(1) + " S"
        one, other = self.pick(*names), self.pick(*names)
        step = self.pick(f"v[i].{one} = (v[i].{other} > 9 ? 2 : 1) + i % 50;", f"{kind} w = v[i]; w.{one} = i % 90; v[i] = w;",
                         f"v[i].{other} = i % 77; a[i] += (unsigned)v[i].{one};",
                         f"{kind} w = {{.{one} = i % 90}}; a[i] += (unsigned)w.{one};", f"{kind} w = {{.{other} = 3, .{one} = i % 90}}; a[i] += (unsigned)w.{one};",
                         f"{kind} w = ({kind}){{.{one} = a[i] % 90}}; a[i] += (unsigned)w.{one};", f"v[i].{one} = ({kind}){{.{one} = i % 80}}.{one};")
        sums = " + ".join(f"3 * (unsigned)v[i].{name}" for name in names)
        return (f"{{\n{definition}{kind} v[N];\nmemset(v, 1, sizeof v);\nfor (int i = 0; i < N; i++) v[i].{names[-1]} = i % 100;\n"
                f"#pragma acc parallel loop {self.levels('gang', 'worker', 'vector')} {self.pick('copy(v)', 'copy(v[0:N])', '')}\n"
                f"for (int i = 0; i < N; i++) {{ {step} }}\n"
                f"a[0] += sizeof({kind});\nfor (int i = 0; i < N; i++) a[i] += {sums};\n}}\n")

    def addressed(self):
        """Scalars whose address functions are given: one for all iterations in `kernels`, one for each where they are private."""
        target, _, read = self.arrays()
        first = self.value(["s"], [])
        if self.chance(0.5):
            step = self.pick(f"{target}[i] = bump(&t) ^ {read}[i];", f"put(&t, {read}[i]); {target}[i] += t;", f"if ({read}[i] % 3 == 1) {target}[i] ^= bump(&t);",
                             f"{{ unsigned u = i; put(&u, t); bump(&t); {target}[i] = u; }}", f"x[i] = modf(y[i] * 0.25, &z) + z; {target}[i] += bump(&{target}[i]);",
                             f"{{ int e; x[i] += frexp(y[i], &e); {target}[i] += e; }}")
            return (f"t = {first};\n#pragma acc kernels{self.extra()}\n{{\n{self.pick('', f'{read}[2] ^= t + 1; ')}for (int i = 0; i < N; i++) {{ {step} }}\n}}\n#pragma acc wait\n"
                    f"a[{self.random.randrange(SIZE)}] ^= t + (unsigned)z;\n")
        step = self.pick(f"t = {self.value(['i', 's'], [read])}; {target}[i] += bump(&t); {target}[i] ^= t;", f"t = i; put(&t, {read}[i]); bump(&t); {target}[i] = t;",
                         f"t = 3; for (int j = 0; j < (int)(i % 5); j++) bump(&t); {target}[i] -= t;", f"t = i; unsigned* at = i % 2 ? &t : &v; v = {read}[i]; bump(at); {target}[i] = t + v;")
        return f"#pragma acc parallel loop {self.levels('gang', 'worker', 'vector')}{self.extra()} private(t, v)\nfor (int i = 0; i < N; i++) {{ {step} }}\n"

    def rows(self):
        """Pointers to rows, of constant and of variable length, in regions and as arguments of functions."""
        variable = self.chance(0.4)
        n = self.random.randrange(4, 20)
        one, other = self.random.sample(range(3), 2)
        if variable:
            declared = f"int n = {n};\nunsigned (*g)[n] = (unsigned (*)[n])(pool + {one} * R * 20), (*h)[n] = (unsigned (*)[n])(pool + {other} * R * 20);\n"
        else:
            declared = f"int n = C;\nunsigned (*g)[C] = {self.pick('m', f'(unsigned (*)[C])(pool + {one} * R * 20)')}, (*h)[C] = k;\n"
        sections = self.pick("", " copy(g[0:R]) copyin(h[0:R])", " copy(g[0:R][0:n]) copyin(h[0:R])")
        read = self.pick("h[i][j]", "h[(i + 3) % R][j]", "in_matrix(n, h, i, j)", "in_matrix(n, h, (i + j) % R, j)", "in_matrix(n, h + i, 0, j)", "in_part(n, h + i % (R - 1), j)", "in_part(n, &h[i / 2], j)",
                         "(*(h + i))[j]", "*(*(h + (i + 1) % R) + j)", *([] if variable else ["from_row(h + i / 2, i / 3, j)", "from_row(&h[i % 4], 2, j)", "in_rows(h, i, j)", "in_row(h[i] + 0, j)", "in_row(&h[i][0], j)"]))
        how = self.pick("kernels", "parallel loop", "parallel loop collapse(2)", f"parallel loop {self.levels('gang', 'worker', 'vector')}")
        target = self.pick("g[i][j]", "g[i][j]", "(*(g + i))[j]")
        loop = f"for (int i = 0; i < R; i++) for (int j = 0; j < n; j++) {target} {self.pick('=', '+=', '^=')} {read} + {self.value(['i', 'j', 's'], ['a'], 1)};"
        if self.chance(0.4) and "collapse" not in how:
            loop = f"for (int i = 0; i < R; i++) {{ {self.pick('change_row(g[i], n, i);', 'change_row(&g[i][1], n - 1, h[i][2]);', 'change_row(g[i] + 1, n - 2, s); put(&g[i][0], i);', 'change_row(*(g + i), n, s);', 'unsigned (*at)[n] = g + i; change_row(*at, n, s + i);'.replace('[n]', '[n]' if variable else '[C]'))} }}"
        if self.chance(0.2):
            loop = "for (int i = 1; i < R; i++) change_row(g[i], n, in_row(g[i - 1], 3 % n));" if how == "kernels" else loop
        # What functions use of a pointer is not seen, nor what `*` reads of rows.
        if not sections and any(part in loop for part in ("in_", "from_row", "change_row", "*(")):
            sections = " copy(g[0:R]) copyin(h[0:R])"
        return f"{{\n{declared}#pragma acc {how}{sections}{self.extra()}\n{loop}\n#pragma acc wait\n(void)g, (void)h;\n}}\n"

    def pooled(self):
        """Pointers in no clause into one array: side by side in `parallel`, anywhere in `kernels`."""
        count = self.random.randrange(2, SIZE)
        kernels = self.chance(0.5)
        places = [1 + (self.random.randrange(3 * SIZE - 2) if kernels else count * at) for at in self.random.sample(range(3), 3)]

        def read(name):
            # The compiler does not see what the last two conditions say of i.
            return self.pick(f"{name}[i]", f"{name}[i / 2]", f"{name}[n - 1 - i]", f"{name}[(i + 1) % n]", f"(i > 0 ? {name}[i - 1] : 3)",
                             f"(i + 1 < n ? {name}[i + 1] : 5)", f"(i * i > 0 ? {name}[i - 1] : 7)", f"(2 * i < 2 * n - 2 ? {name}[i + 1] : 9)")
        loop = (f"for (int i = {self.pick(0, 0, 1)}; i < n; i++) {{ {self.pick('', 'if (i == 1) continue; ')}"
                f"p[i] {self.pick('=', '+=', '^=')} {read('q')} {self.pick('+', '^', '*')} {read('r')}; }}\n")
        directive = "kernels" if kernels else f"parallel loop {self.levels('gang', 'worker', 'vector')}"
        pointers = ", ".join(f"*{name} = pool + {place}" for name, place in zip("pqr", places))
        return f"{{\nint n = {count};\nunsigned {pointers};\n#pragma acc {directive}\n{loop}}}\n"

    def heads(self):
        """Loops that C counts by its conversions, or only as it goes, over the elements around pool's middle."""
        n, step = self.random.randrange(5, 40), self.pick(1, 2, 3)
        counted = [f"int i = n; i != 0; i += -1", f"int i = {n * step}; i != 0; i -= st", "int i = 0; i != st * n; i = i + st", "long i = n * -st; i != 0; i += st",
                   f"int i = 0; i != {-n * step}; i += -st", "int i = -2; i < un; i++", "unsigned i = zero - 1; i < un; i++", "unsigned i = un - 1; i < 2 * un; i += st",
                   "unsigned char i = big; i < n; i++", "short i = big; i > 250; i--", "long i = -3; i < many; i++", "unsigned i = n - 1; i != ~0u; i--",
                   "size_t i = many - 1; i != (size_t)-1; i--", "int i = -un; i <= (int)un; i++", "int i = -(int)un; i < n; i += st", "int i = un; i >= -st; i -= st",
                   "unsigned short i = 65536 + st; i <= un; i++", "long i = un; (int)un - n < i; i--", "signed char i = big; i < n; i++"]
        as_it_goes = ["int i = 0; i < e; i++", "int i = n; i > e; i--", "int i = 0; i <= n * 0.5; i++", "int i = 0; i < n; i += 1.5", "float i = 0; i < n; i++",
                      "unsigned i = un; i <= un; i -= 1", "int i = 0; i < left--; i++", "size_t i = many; i-- > 0;", "int i = zero; i < many * 0.75; i += st"]
        region = "kernels" if self.chance(0.6) else f"parallel loop {self.levels('gang', 'worker', 'vector')}"
        head = self.pick(*counted, *(as_it_goes if region == "kernels" else []))
        at = "(int)i" if head.startswith("float") else "i"
        # The range of what cannot be counted is not seen.
        target = f"pool[2 * N + {at}]" if head in as_it_goes or ("!=" in head and "st" in head) or self.chance(0.2) else f"p[{at}]"
        read = self.pick("a", "b", "c")
        value = self.pick(f"{read}[({at} + 4 * N) % N]", f"(unsigned){at} * 3", f"mix({at}, {read}[({at} + 4 * N) % N])")
        guard = self.pick("", "", f"if ({at} == 2) continue; ", f"if ({at} > zero) ")
        return (f"{{\nint n = {n}, st = {step}, big = 256 + {self.random.randrange(30)}, left = n;\nunsigned un = {self.random.randrange(3, 20)}, zero = 0, *p = pool + 2 * N;\n"
                f"size_t many = n;\ndouble e = {self.random.randrange(4)}.{self.random.randrange(10)};\n(void)p, (void)st, (void)big, (void)left, (void)un, (void)zero, (void)many, (void)e;\n"
                f"#pragma acc {region}\nfor ({head}) {{ {guard}{target} {self.pick('=', '+=', '^=')} {value}; }}\na[{self.random.randrange(SIZE)}] ^= left;\n}}\n")

    def lone(self):
        """What happens once in a gang, beside loops over its workers or lanes. Gang i has row i, and elements i."""
        levels = self.pick("worker", "vector", "worker vector")

        def spread():
            return (f"\n#pragma acc loop {levels}\nfor (int j = {self.random.randrange(3)}; j < C; j++) "
                    f"m[i][j] {self.pick('+=', '^=', '=')} {self.pick('t', 'u', 'k[i][j]', 'a[i]', 'j')} + {self.pick('j * 3', 'b[i]', 'i')};\n")

        def once():
            return self.pick("t = bump(&b[i]);", "t += c[i]++;", "u ^= a[i] -= 2;", f"m[i][{self.random.randrange(COLUMNS)}] ^= a[i] + t;", "b[i] += m[i][3] | m[i][t % C];", "put(&m[i][i], t);", "if (t & 1) { for (int r = 1; r < C; r++) m[i][r] += m[i][r - 1]; a[i] += half(t) + square(u); }", "change_row(k[i], C, t);",
                             "if (a[i]++ % 3 == 1) b[i] += t;", "if (c[i] & 1) u += bump(&c[i]); else b[i] ^= u;", "for (int r = 0; r < 3; r++) c[i] = c[i] * 3 + r;",
                             "\n#pragma acc atomic capture\n{ t = c[i]; c[i] += 2; }\n", "\n#pragma acc atomic update\na[i] += t;\n", "k[i][u % C] += 5;",
                             f"if (b[i] & {self.pick(1, 2)}) {{{spread()}}} else a[i] ^= 9;", f"for (int w = 2; w > 0; w--) {{ {spread()} b[i] += w; }}")
        body = " ".join(self.pick(spread, once, once)() for _ in range(self.random.randrange(2, 7)))
        return (f"#pragma acc parallel loop gang{self.sizes()}{self.pick('', ' copy(m, a, b, c)')}\n"
                f"for (int i = 0; i < R; i++) {{ unsigned t = i, u = {self.random.randrange(9)}; {spread()} {body} k[i][2] += t ^ u; }}\n")

    def copies(self):
        """Arrays and sections that are private or firstprivate, also where they are present with other values."""
        present = self.chance(0.5)
        what = self.pick("f", "q[0:4]", "f, q[0:4]")
        before = f"#pragma acc enter data copyin(f, q[0:4])\n" if present else ""
        behind = "#pragma acc exit data delete(f, q[0:4])\n" if present else ""
        values = ", ".join(str(self.random.randrange(1, 99)) for _ in range(4))
        read = " + ".join(name + "[i % 4]" for name in "fq" if name in what)
        alone = f"#pragma acc parallel num_gangs(1) num_workers(1) vector_length(1) {self.pick('first', '')}private({what})\n{{ "
        alone += " ".join(f"{name}[0] = 50; {name}[3] = {name}[0] * 2; b[7] += {name}[3];" for name in "fq" if name in what) + " }\n"
        spread = f"#pragma acc parallel loop {self.levels('gang', 'worker', 'vector')} firstprivate({what})\nfor (int i = 0; i < N; i++) c[i] += {read};\n"
        own = (f"#pragma acc parallel loop {self.levels('gang', 'vector')} private({what})\nfor (int i = 0; i < N; i++) {{ "
               + " ".join(f"{name}[i % 4] = i; b[i] ^= {name}[i % 4];" for name in "fq" if name in what) + " }\n")
        regions = "".join(self.pick(alone, spread, own) for _ in range(self.random.randrange(1, 4)))
        return (f"{{\nunsigned f[4] = {{{values}}}, g[4] = {{{values}}}, *q = g;\n{before}f[{self.random.randrange(4)}] = g[{self.random.randrange(4)}] = seed + 3;\n"
                f"{regions}{behind}a[{self.random.randrange(SIZE)}] ^= f[0] + f[3] * g[0] + g[3];\n}}\n")

    def region(self):
        return self.pick(self.elementwise, self.elementwise, self.nested, self.nested, self.reduced, self.sums, self.kernels, self.kernels, self.serial,
                         self.atomics, self.structures, self.pooled, self.heads, self.heads, self.copies, self.addressed, self.rows, self.lone if self.lone_threads else self.heads)()

    def function(self, number):
        text = ""
        for _ in range(self.random.randrange(1, 5)):
            region = self.region()
            if "async" in region:
                region += "#pragma acc wait\n"
            text += region
        # Around regions only: what the host does between them would see old values, and so would a region that it runs.
        only_regions = " if(" not in text and not any(line.startswith(("a[", "x[")) for line in text.splitlines())
        shape = self.random.randrange(3) if only_regions else 0
        everything = "a, b, c, m, k, x, y"
        if shape == 1:
            text = f"#pragma acc data copy({everything})\n{{\n{text}}}\n"
        elif shape == 2:
            text = (f"#pragma acc enter data copyin({everything})\n{text}#pragma acc update self(a, m)\n"
                    f"#pragma acc exit data copyout({everything})\n")
        return f"static void program{number}(unsigned seed) {{\nunsigned s = seed * 3 + 1, t = 0, v = 0;\nint q = 0;\ndouble z = 0;\n(void)s, (void)t, (void)v, (void)q, (void)z;\n{text}}}\n"


def batch(seeds, lone_threads):
    text = HEAD + "".join(generator(seed, lone_threads).function(seed) for seed in seeds)
    return text + "int main(void) {\n" + "".join(f"start({seed % 11}); program{seed}({seed % 11}); finish({seed});\n" for seed in seeds) + "return 0;\n}\n"


INTEGERS = ["char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long"]
STEPS = {"+": "t = t + v[i]", "*": "t = t * v[i]", "max": "t = t > v[i] ? t : v[i]", "min": "t = t < v[i] ? t : v[i]", "&": "t &= v[i] | 3",
         "|": "t |= v[i]", "^": "t ^= v[i]", "&&": "t = t && v[i]", "||": "t = t || v[i] > 1"}
REALS = ["float", "double"]
LEVELS = [" ".join(levels) for count in (1, 2, 3) for levels in itertools.combinations(("gang", "worker", "vector"), count)]


def reductions(kind, every):
    """A source for each type, with every operator and level, or with half of the operators and a level of each.

    Values are small powers of two and few, so that products and sums are exact in any order.
    """
    text = f"#include <stdio.h>\nstatic {kind} v[99];\n"
    calls = ""
    for number, operation in enumerate(STEPS):
        if operation in "&|^" and kind not in INTEGERS:
            continue
        if not every and (number + (INTEGERS + REALS).index(kind)) % 2:
            continue
        levels = LEVELS if every else [LEVELS[(number * 3 + len(kind)) % len(LEVELS)]]
        for level in levels:
            name = f"f{number}_{LEVELS.index(level)}"
            text += (f"static void {name}(void) {{\n{kind} t = {5 if operation != '&&' else 1};\n"
                     f"#pragma acc parallel loop {level} reduction({operation}:t) copyin(v) num_gangs(3) num_workers(2) vector_length(8)\n"
                     f"for (int i = 0; i < 99; i++) {STEPS[operation]};\nprintf(\"{operation.replace('%', '%%')} {level}: %g\\n\", (double)t);\n}}\n")
            calls += f"{name}();\n"
    return text + f"int main(void) {{\nfor (int i = 0; i < 99; i++) v[i] = i % 33 == 1 ? 2 : 1;\n{calls}return 0;\n}}\n"


def outputs(compiler, folder, name, text):
    """What the program prints on the device, and as the host version."""
    source = pathlib.Path(folder) / f"{name}.c"
    source.write_text(text, encoding="utf-8")
    program = source.with_suffix("")
    made = subprocess.run([compiler, "-O1", "-w", str(source), "-o", str(program), "-lm"], capture_output=True, text=True, timeout=300, check=False)
    if made.returncode != 0:
        return made.stderr, None
    found = []
    for extra in ({}, {"ACC_DEVICE_TYPE": "host"}):
        done = subprocess.run([str(program)], capture_output=True, text=True, timeout=600, env={**os.environ, **extra}, check=False)
        # A driver's compiler may warn, of code that is right.
        found.append(done.stdout + ("" if done.returncode == 0 else f"status {done.returncode}\n{done.stderr}"))
    program.unlink()
    return found[0], found[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("compiler")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--keep")
    parser.add_argument("--no-lone-threads", action="store_true", help="no statements of one thread beside loops of several: PoCL 3.1 loses some of their writes")
    parser.add_argument("--reductions", choices=("all", "some"))
    asked = parser.parse_args()
    if asked.reductions:
        sources = {kind.replace(" ", "_"): reductions(kind, asked.reductions == "all") for kind in INTEGERS + REALS}
    else:
        seeds = range(asked.seed, asked.seed + asked.count)
        sources = {f"random{seeds[at]}": batch(seeds[at:at + asked.batch], not asked.no_lone_threads) for at in range(0, len(seeds), asked.batch)}
    wrong = compared = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.keep or scratch
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        for name, text in sources.items():
            device, host = outputs(asked.compiler, folder, name, text)
            if host is None:
                print(f"{name}: not compiled:\n{device}")
                wrong += 1
                continue
            lines, wanted = device.splitlines(), host.splitlines()
            compared += len(wanted)
            if any(line.startswith("status ") for line in wanted):
                print(f"{name}: the host version ends so:\n{host}")
                wrong += 1
            elif lines != wanted:
                different = [f"{one!r} instead of {other!r}" for one, other in itertools.zip_longest(lines, wanted) if one != other]
                wrong += len(different)
                print(f"{name}: " + "; ".join(different[:8]))
    print(f"{compared} compared, {wrong} wrong")
    return 1 if wrong or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
