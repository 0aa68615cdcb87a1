#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which loops in kernels are spread, and what is said of those that are not. Usage: loops_test.py COMPILER

Each loop stands in a function of its own. What is kept in order depends on the iteration before, or does so for some values.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

COMPILER = str(pathlib.Path(sys.argv.pop(1)).resolve())

DECLARATIONS = """
struct pair { int x, y; };
struct block { int v[4]; } whole;
struct vectors { int *to, *from; };
union shared { int a[100]; short b[200]; } both;
int global[100];
static int before(int i) { return global[i - 1]; }
static int first(const int *p) { return p[0]; }
static int squared(int i) { int t[2]; t[0] = i; t[1] = t[0]; return t[0] * t[1]; }
static void store(int *p, int i) { p[i] = 0; }
#pragma acc routine seq
int elsewhere(const int *p);
"""

# What stands before the construct, and the loop. There are int n, m, k, *a, *b; unsigned u; double t[100][100].
SPREAD = [
    ("", "for (int i = n - 1; i >= 0; i--) a[i] *= 2;"),
    ("", "for (int i = 0; i < n; i++) a[2 * i] = a[2 * i + 1];"),
    ("", "for (int i = 0; i < n; i++) a[i + k] += 1;"),
    ("", "for (unsigned i = 0; i < u; i++) a[i] += 1;"),
    ("", "for (int i = 0; i < n; i++) { if (b[i]) continue; a[i] = 1; }"),
    ("", "for (int i = 0; i < n; i++) { int c; for (c = 0; c < 9; c++) if (c * c > i) break; a[i] = c; }"),
    ("", "for (int i = 0; i < n; i++) { int s = 0; for (int j = b[i]; j < b[i + 1]; j++) s += b[b[j]]; a[i] = s; }"),
    ("", "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) a[i * n + j] = b[i * n + j - 1] + b[i * n + j + 1];"),
    ("", "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) a[i * n + j + 1] = a[i * n + j - 1];"),
    ("", "for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) a[i * n + j] = 2;"),
    ("", "for (int i = 0; i < n; i++) { a[i * 64] = 3; for (int j = 1; j < 64; j++) a[i * 64 + j] += a[i * 64]; }"),
    ("int i, j;", "for (i = 0; i < m; i++) { for (j = 0; j < n; j++) a[i * n + j] = 2; for (j = 1; j < n; j++) a[i * n + j] += 3; }"),
    ("", "for (int i = 0; i < k; i++) for (int j = 0; j < m; j++) for (int l = 0; l < n; l++) a[(i * m + j) * n + l] += 1;"),
    ("", "for (int j = 0; j < n; j++) for (int i = 1; i < n; i++) t[i][j] = t[i - 1][j];"),
    ("", "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) t[i][j] *= 2;"),
    ("", "for (int i = 1; i < n; i++) { const int *q = &b[i - 1]; a[i] = q[0]; }"),
    ("", "for (int i = 0; i < n; i++) { struct pair p = {i, 2}; p.x += p.y; a[i] = p.x; }"),
    ("", "for (int i = 0; i < n; i++) { int c[3]; c[0] = i; c[1] = 2; a[i] = c[0] + c[1]; }"),
    ("struct pair *p = (void *)a;", "for (int i = 0; i < n; i++) p[i].x = p[i].y + 1;"),
    ("struct block *p = (void *)a;", "for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) p[i].v[j] += 1;"),
    ("", "for (int i = 0; i < n; i++) a[i] = squared(i);"),
    ("int c[4];", "\n#pragma acc loop auto private(c)\nfor (int i = 0; i < n; i++) { for (int j = 0; j < 4; j++) c[j] = i + j; a[i] = c[3]; }"),
]
SPREAD += [
    ("", "for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) { const int at = i + j * n; a[at] += b[at]; }"),
    ("", "for (int i = 0; i < n; i++) { int at = i + k, next = 2 * at; a[next] = a[next + 1]; }"),
    ("", "for (int j = 0; j < m; j++) { const long row = j * (long)64; for (int i = 0; i < 64; i++) a[j * 64 + i] = b[row]; }"),
    ("", "int *q = a; for (int i = 0; i < n; i++) q[i] = q[i] + b[i];"),
    ("", "for (int i = 0; i < n; i++) { int c[3]; int *q = c; q[0] = i; a[i] = b[q[0]]; }"),
]
# Unsigned subscripts that do not wrap around, or wrap to elements that no other iteration has.
SPREAD += [
    ("", "for (unsigned i = 0; i < u; i++) a[i + k] += 1;"),
    ("long far = k;", "for (unsigned i = 0; i < u; i++) a[far + (i + u)] += 1;"),
    ("", "for (unsigned i = 0; i < 60000u; i++) a[i * 65536u] += 1;"),
    ("", "for (unsigned i = 0; i < 1000; i++) for (unsigned j = 0; j < 64; j++) a[i * 64 + j] += 1;"),
    ("", "for (unsigned long i = 0; i < u; i++) for (unsigned long j = 0; j < u; j++) a[i * u + j] += 1;"),
]
MEET = "iterations may meet at elements of 'a'"
SPREAD.append(("struct vectors s = {a, b}, *p = &s;", "for (int i = 0; i < n; i++) p->to[i] = s.from[i] + p->to[i];"))
WRAPS = "an unsigned subscript of 'a' may wrap around"
KEPT = [
    ("", "for (int i = 0; i < n; i++) store(a, i);", "it calls 'store', which writes memory"),
    ("", "for (int i = 0; i < n; i++) a[i] = elsewhere(b);", "it calls 'elsewhere', which is given a pointer"),
    ("", "for (int i = 1; i < n; i++) a[i] = a[i - 1];", MEET),
    ("struct vectors s = {a, b};", "for (int i = 1; i < n; i++) s.to[i] = s.to[i - 1];", "iterations may meet at elements of 's.to'"),
    ("struct vectors s = {a, b};", "for (int i = 1; i < n; i++) s.to[i] = *s.to;", "'s.to' is used other than by subscripts"),
    ("", "for (int i = n - 2; i >= 0; i += -1) a[i] = a[i + 1];", MEET),
    ("", "for (int i = 0; i < n; i++) a[i] = a[n - 1 - i];", MEET),
    ("", "for (int i = 0; i < n; i++) a[i + k] = a[i];", MEET),
    ("", "for (int i = 0; i < n; i++) a[k * i] += 1;", MEET),
    ("", "for (int i = -3; i < n; i++) a[i * i + 9] += 1;", MEET),
    ("", "for (int i = 0; i < n; i++) a[b[i]] += 1;", MEET),
    ("", "for (int i = 0; i < n; i++) { unsigned char c = i; a[c] += 1; }", MEET),
    ("", "for (unsigned i = 0; i < u; i++) a[i * 65536u] += 1;", WRAPS),
    ("", "for (unsigned i = 0; i < 100000u; i++) a[i * 65536u] += 1;", WRAPS),
    ("long far = k;", "for (unsigned i = 0; i < u; i++) a[far + i * 65536u] += 1;", WRAPS),
    ("", "for (int i = 0; i < n; i++) { const long at = k + i * 65536u + 0l; a[at] += 1; }", WRAPS),
    ("", "for (unsigned i = 0; i < u; i++) for (unsigned j = 0; j < u; j++) a[i * u + j] += 1;", WRAPS),
    ("", "for (int i = 0; i < n; i++) for (int j = 0; j < 65536; j++) a[i * 65536u + j] += 1;", WRAPS),
    ("", "for (unsigned i = 0; i < u; i++) { a[i * 64] = 3; for (unsigned j = 1; j < 64; j++) a[i * 64 + j] += 1; }", WRAPS),
    ("", "for (unsigned i = 0; i < 9; i++) a[(i * 2 + -1) + 1l] += 1;", WRAPS),
    ("", "for (long i = 0; i < n; i++) for (long j = 0; j < u - 1; j++) a[i * u + j] += 1;", MEET),
    ("", "for (unsigned i = 0; i < u; i++) { const unsigned at = i * 65536u; a[at + 0l] += 1; }", MEET),
    ("", "for (int i = 0; i < n; i++) { int at = i; at /= 2; a[at] += 1; }", MEET),
    ("", "for (int i = 0; i < n; i++) { const short at = i; a[at] += 1; }", MEET),
    ("", "for (int i = 1; i < n; i++) { const int at = i - 1; a[i] = a[at]; }", MEET),
    ("int j = 0;", "for (int i = 0; i < m; i++) { const int at = j; for (j = 0; j < n; j++) a[i * n + at] += 1; }", "'j' may have a value of another iteration"),
    # A row may have no elements, other loops' elements, one too many, or be left.
    ("", "for (int i = 0; i < m; i++) { a[i * n] += 1; for (int j = 0; j < n; j++) a[i * n + j] *= 2; }", MEET),
    ("", "for (int i = 0; i < m; i++) { a[i * n] += 1; for (int j = 0; j < n; j++) b[i * n + j] = 0; }", MEET),
    ("int j;", "for (int i = 0; i < m; i++) { for (j = 0; j < n; j++) {} for (j = 0; j < 2 * n; j++) a[i * n + j] += 1; }", MEET),
    ("", "for (int i = 0; i < m; i++) { int j = 0; for (j = 0; j < n; j++) {} for (; j < 2 * n; j++) a[i * n + j] += 1; }", MEET),
    ("", "for (int i = 0; i < m; i++) for (int j = 0; j <= n; j++) a[i * n + j] += 1;", MEET),
    ("", "for (int i = 0; i < m; i++) for (int j = -1; j < n; j++) a[i * n + j] += 1;", MEET),
    ("", "for (int i = k; i < n; i++) for (int j = i + 1; j < n; j++) a[i * n + j] = 2;", MEET),
    ("", "for (int i = 0; i < n; i++) for (int j = 0; j < 65; j++) a[i * 64 + j] += 1;", MEET),
    ("", "for (int i = 1; i < n; i++) for (int j = 0; j < n; j++) a[i * n + j] = a[(i - 1) * n + j];", MEET),
    ("", "for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) t[i][j] = t[i - 1][j - 1];", "iterations may meet at elements of 't'"),
    ("", "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) t[i][j] = t[j][i];", "iterations may meet at elements of 't'"),
    # Scalars that go from iteration to iteration.
    ("int c = 0;", "for (int i = 0; i < n; i++) { a[i] = c; c = b[i]; }", "'c' is written by every iteration"),
    ("int c = 0;", "for (int i = 0; i < n; i++) { while (c < i) c++; a[c] = i; }", "'c' is written by every iteration"),
    ("int j = 0;", "for (int i = 0; i < m; i++) { b[i] = j; for (j = 0; j < i; j++) {} }", "'j' may have a value of another iteration"),
    ("int c = 0;", "for (int i = 0; i < n; i++) { a[i] = c; c = i;\n#pragma acc loop private(c)\nfor (int j = 0; j < 4; j++) { c = j; b[4 * i + j] = c; } }",
     "'c' is written by every iteration"),
    ("int c = 0;", "for (int i = 0; i < n; i++) { int *q = &c; a[i] = *q; *q = i; }", "'c' is written by every iteration"),
    # Other ways to the same elements.
    ("", "for (int i = 1; i < n; i++) { int *q = a + i - 1; a[i] = q[0]; }", "'a' is used other than by subscripts"),
    ("", "for (int i = 1; i < n; i++) { int *q = b; q = a; a[i] = q[i - 1]; }", "what a pointer points to is read"),
    ("", "for (int i = 1; i < n; i++) a[i] = (i > 3 ? a : b)[i - 1];", "what a pointer points to is read"),
    ("", "for (int i = 1; i < n; i++) a[i] = first(a + i - 1);", "'a' is used other than by subscripts"),
    ("", "for (int i = 1; i < n; i++) global[i] = before(i);", "'global' is used other than by subscripts"),
    ("", "for (int i = 0; i < n; i++) both.a[i] = both.b[i];", "'both' is used other than by subscripts"),
    ("", "int *q = a; for (int i = 1; i < n; i++) a[i] = q[i - 1] + 1;", "'a' is used other than by subscripts"),
    ("", "int *from = a, *to = a; for (int i = 1; i < n; i++) to[i] = from[i - 1] + 1;", "'a' is used other than by subscripts"),
    ("", "int *q; q = a; for (int i = 1; i < n; i++) a[i] = q[i - 1] + 1;", "what a pointer points to is read"),
    ("", "for (int i = 1; i < n; i++) { int *q[1] = {a}; q[0][i] = q[0][i - 1] + 1; }", "what a pointer points to is written"),
    ("", "for (int i = 1; i < n; i++) { const int *p = b + (a - b); a[i] = p[i - 1] + 1; }", "what a pointer points to is read"),
    ("", "for (int i = 1; i < n; i++) { const int *p = (k, a); a[i] = p[i - 1] + 1; }", "what a pointer points to is read"),
    ("int *p;", "\n#pragma acc loop auto private(p)\nfor (int i = 1; i < n; i++) { p = a; p[i] = p[i - 1] + 1; }", "what a pointer points to is written"),
    ("int j = 0;", "for (int i = 0; i < n; i++) for (j = j + 1; j < 10; j++) b[i] += 1;", "'j' is written by every iteration"),
    ("", "for (int i = 1; i < 4; i++) { struct block was = whole; whole.v[i] = was.v[i - 1]; }", "'whole' is used as a whole, and its elements are written"),
    # How many iterations there are.
    ("", "for (int i = a[0]; i < n; i++) a[i] = 10;", "its beginning depends on what it writes"),
    ("", "for (int i = 0; i < n; i++) { if (a[i] == 0) break; b[i] = 1; }", "an iteration may leave it"),
]

# Reductions that no clause names, and what the report says of them. `s` and `d` are declared outside.
REDUCED = [
    ("int s = 0;", "for (int i = 0; i < n; i++) s += a[i];", "+:s"),
    ("int s = 0;", "for (int i = 0; i < n; i++) { s = s + a[i] - b[i]; }", "+:s"),
    ("int s = 0;", "for (int i = 0; i < n; i++) if (a[i] > 3) ++s;", "+:s"),
    ("int s = 1;", "for (int i = 0; i < n; i++) s = (k * s) * 2;", "*:s"),
    ("double d = 0;", "for (int i = 1; i < 99; i++) for (int j = 1; j < 99; j++) d = __builtin_fmax(d, t[i][j]);", "max:d"),
    ("double d = 0;", "for (int i = 0; i < n; i++) d = t[0][i] < d ? t[0][i] : d;", "min:d"),
    ("int s = 0;", "for (int i = 0; i < n; i++) s = s < a[i] ? s : a[i];", "min:s"),
    ("double d = 0;", "for (int i = 0; i < n; i++) if (t[0][i] >= d) { d = t[0][i]; }", "max:d"),
    ("unsigned char s = 0;", "for (int i = 0; i < n; i++) s |= a[i];", "|:s"),
    ("_Bool s = 1;", "for (int i = 0; i < n; i++) s = a[i] > 2 && s;", "&&:s"),
    ("int s = 0;", "\n#pragma acc loop independent\nfor (int i = 0; i < n; i++) s ^= a[i];", "^:s"),
]
# Each iteration uses what the one before left, or would round otherwise.
NOT_REDUCED = [
    ("int s = 0;", "for (int i = 0; i < n; i++) a[i] = s += b[i];"),
    ("int s = 0;", "for (int i = 0; i < n; i++) { s += b[i]; a[i] = s; }"),
    ("int s = 0;", "for (int i = 0; i < n; i++) if (s < 9) s += b[i];"),
    ("int s = 0;", "for (int i = 0; i < n; i++) { s += b[i]; s *= 2; }"),
    ("int s = 0;", "for (int i = 0; i < n; i++) s = b[i] - s;"),
    ("int s = 0;", "for (int i = 0; i < n; i++) s += s;"),
    ("int s = 0;", "for (int i = 0; i < n; i++) s /= 2;"),
    ("int s = 0;", "for (int i = 0; i < n; i++) s += 0.5;"),
    ("int s = 0;", "for (int i = 0; i < n; i++) s = s + t[0][i];"),
    ("int s = 0;", "for (unsigned i = 0; i < u; i++) if (i > s) s = i;"),
    ("int s = 0;", "for (int i = 0; i < n; i++) if (b[i] > s) s = b[i] + 1;"),
    ("int s = 0;", "for (int i = 0; i < n; i++) if (b[i] > s) s = b[i]; else s = 1;"),
    ("int s = 0;", "for (int i = 0; i < n; i++) s = s > b[i] ? s : b[i + 1];"),
    ("int s = 0; int *p = &s;", "int *q = &s; for (int i = 0; i < n; i++) { s += b[i]; a[i] = *q; }"),
    # Takes a NaN, and then the next value.
    ("double s = 0;", "for (int i = 0; i < n; i++) s = s < t[0][i] ? s : t[0][i];"),
    ("double s = 0;", "for (int i = 0; i < n; i++) s = s && b[i];"),
    ("volatile int s = 0;", "for (int i = 0; i < n; i++) s += b[i];"),
    ("_Bool s = 0;", "for (int i = 0; i < n; i++) s ^= b[i];"),
]


class loops(unittest.TestCase):
    def reports(self, loop_list):
        """What is said of the first loop of each function."""
        text, starts = DECLARATIONS, []
        for number, (head, loop) in enumerate(loop_list):
            text += f"void f{number}(int n, int m, int k, unsigned u, int *a, int *b, double t[100][100]) {{\n{head}\n#pragma acc kernels\n{{\n"
            starts.append(text.count("\n") + 1)
            text += loop + "\n}\n}\n"
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "loops.c").write_text(text, encoding="utf-8")
            done = subprocess.run([COMPILER, "-w", "--report", "--translate", "out", "loops.c"], cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = {}
        for line, how in re.findall(r"loop at loops\.c:(\d+): (.*)", done.stdout + done.stderr):
            said.setdefault(int(line), how)
        return [said[min(line for line in said if line >= start)] for start in starts]

    def test_independent_loops_are_spread(self):
        for (head, loop), how in zip(SPREAD, self.reports(SPREAD)):
            with self.subTest(head + loop):
                self.assertIn("gang", how)

    def test_loops_that_may_depend_on_their_order_keep_it(self):
        for (head, loop, why), how in zip(KEPT, self.reports([each[:2] for each in KEPT])):
            with self.subTest(head + loop):
                self.assertIn("in order, as " + why, how)

    def test_reductions_without_a_clause_are_found(self):
        for (head, loop, what), how in zip(REDUCED, self.reports([each[:2] for each in REDUCED])):
            with self.subTest(head + loop):
                self.assertRegex(how, rf"gang.*, reduction\({re.escape(what)}\) found")

    def test_what_is_no_reduction_keeps_its_order(self):
        for (head, loop), how in zip(NOT_REDUCED, self.reports(NOT_REDUCED)):
            with self.subTest(head + loop):
                self.assertIn("in order, as 's' is written by every iteration", how)


if __name__ == "__main__":
    unittest.main()
