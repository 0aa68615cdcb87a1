#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What causeway-cc refuses, reports and stands in for. Usage: compiler_test.py COMPILER"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

COMPILER = sys.argv.pop(1)

WRONG_HEAD = """int rand(void); double nexttoward(double x, long double y); static int hidden, kept;
#pragma acc declare create(kept)
#pragma acc routine gang
static void by_gangs(int *a) { a[0] = 1; }
#pragma acc routine worker
static void by_workers(int *a) { a[0] = 1; }
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int even(int n); static int odd(int n) { return n && even(n - 1); } static int even(int n) { return !n || odd(n - 1); }
static int calls(int n) { return n > 3 && odd(n); }
static int uses(void) { return hidden; } static int sees(void) { return kept; } void f(int n, int *a, double x) {
"""

# The lines of a function with `int n, int *a, double x`, and what is said of one of them: line, and a part of the sentence.
REFUSED = [
    ("#pragma acc paralel", 1, "OpenACC has no directive 'paralel'"),
    ("#pragma acc", 1, "expected an OpenACC directive"),
    ("#pragma acc parallel coppy(x)\n{}", 1, "'coppy' is no clause of 'parallel'"),
    ("#pragma acc parallel num_gangs\n{}", 1, "the clause 'num_gangs' needs an argument"),
    ("#pragma acc parallel copy(x\n{}", 1, "expected ')' to end the clause 'copy'"),
    ("#pragma acc parallel copy(x,,x)\n{}", 1, "expected an argument of the clause 'copy'"),
    ("#pragma acc parallel 3\n{}", 1, "expected a clause of 'parallel'"),
    ("#pragma acc enter data copyin(a[0:n:2])", 1, "it has one colon"),
    ("#pragma acc enter data copyin(a[0:n", 1, "expected ')'"),
    ("#pragma acc enter data copyin(a[0:n), a[0:n])", 1, "expected ']'"),
    ("#pragma acc enter data copyin(a[:])", 1, "the section of the pointer 'a' needs a length"),
    ("#pragma acc enter data copyin(x[0:2])", 1, "'x' is no array and no pointer"),
    ("int b[4];\n#pragma acc enter data copyin(b[0:2][0:2])", 2, "'b' has fewer dimensions than sections"),
    ("int ***r = 0;\n#pragma acc enter data copyin(r[0:2][0:2][0:2])", 2, "a section through a pointer inside 'r'"),
    ("int **r = 0;\n#pragma acc enter data copyin(r[0:2][:])", 2, "the section of the pointer 'r' needs a length"),
    ("int **r = 0;\n#pragma acc update peer to(r[0:2][0:2]) to_device(1) from(r[0:2][0:2]) from_device(0)", 2, "several rows of 'r' at once in 'update peer'"),
    ("int **r = 0;\n#pragma acc parallel private(r[0:2][0:2])\n{ r[0][0] = 1; }", 2, "for each thread a copy of what the pointers in 'r' point to"),
    ("int **r = 0;\n#pragma acc parallel loop gang\nfor (int i = 0; i < 4; i++) {\n#pragma acc loop private(r[0:2][0:2])\nfor (int j = 0; j < 4; j++) r[0][0] = 1; }", 4,
     "for each thread a copy of what the pointers in 'r' point to"),
    ("int **r = 0;\n#pragma acc parallel present(r)\n{ r[0] = r[1]; }", 3, "a region that changes pointers in memory"),
    ("int **r = 0;\n#pragma acc parallel present(r)\n{ r[0]++; }", 3, "a region that changes pointers in memory"),
    ("int **r = 0;\n#pragma acc parallel present(r)\n{ a[0] = **r; }", 3, "'r', a pointer to pointers, in a region but for its elements"),
    ("#pragma acc enter data copyin(a[0:n]) copyin(missing)", 1, "undeclared identifier 'missing'"),
    ("#pragma acc enter data copyin(lazily: a[0:n])", 1, "takes no modifier 'lazily'"),
    ("#pragma acc update", 1, "'update' needs one of the clauses"),
    ("#pragma acc update peer to(a[0:n]) to_device(1)", 1, "'update peer' needs"),
    ("#pragma acc parallel copy(x) copyin(x)\n{}", 1, "'x' is in two clauses"),
    ("#pragma acc parallel default(all)\n{}", 1, "'default' takes 'none' or 'present'"),
    ("#pragma acc parallel loop default(none)\nfor (int i = 0; i < 4; i++) a[i] = 0;", 1, "'a' is in no data clause"),
    ("#pragma acc kernels default(none)\nx = 1;", 1, "'x' is in no data clause"),
    ("#pragma acc kernels default(none)\nfor (int i = 0; i < 4; i++) x += i;", 1, "'x' is in no data clause"),
    ("#pragma acc parallel reduction(x)\n{}", 1, "expected an operator and ':'"),
    ("#pragma acc parallel reduction(/:n)\n{}", 1, "OpenACC has no reduction '/'"),
    ("#pragma acc parallel reduction(+:a)\n{}", 1, "a reduction of 'a'"),
    ("#pragma acc parallel\n{\n#pragma acc loop reduction(+:a)\nfor (int i = 0; i < 4; i++) {}\n}", 3, "no scalar variable"),
    ("#pragma acc parallel loop\nn = 1;", 1, "must stand before a 'for' loop"),
    ("#pragma acc parallel loop\nfor (;;) {}", 2, "it does not begin with"),
    ("#pragma acc parallel loop\nfor (double y = 0; y < 4; y++) {}", 2, "its variable is no integer"),
    ("#pragma acc parallel loop\nfor (int i = 0; n < 4; i++) {}", 2, "its condition is no comparison of its variable"),
    ("#pragma acc parallel loop\nfor (int i = 0; i < 4; i *= 2) {}", 2, "it does not step by"),
    ("#pragma acc parallel loop\nfor (int i = 0; i < 4; i--) {}", 2, "it steps away from its end"),
    ("#pragma acc parallel loop\nfor (unsigned i = n; i < 4; i -= 1) {}", 2, "it steps away from its end"),
    ("#pragma acc parallel loop\nfor (int i = n; i > 4; i -= -1) {}", 2, "it steps away from its end"),
    ("#pragma acc parallel loop\nfor (int i = 0; i < 4; i += 0) {}", 2, "its step is 0"),
    ("#pragma acc parallel loop\nfor (int i = 0; i < x; i++) {}", 2, "its end is no integer"),
    ("#pragma acc parallel loop\nfor (int i = 0; i < n * 0.5; i++) {}", 2, "its end is no integer"),
    ("#pragma acc parallel loop\nfor (int i = 0; i < n; i += 1.5) {}", 2, "its step is no integer"),
    ("#pragma acc parallel loop\nfor (int i = 0; i < n; i = i + x) {}", 2, "its step is no integer"),
    ("#pragma acc parallel loop\nfor (__int128 i = 0; i < n; i++) {}", 2, "it counts with more than 64 bits"),
    ("#pragma acc parallel loop\nfor (_Bool i = 0; i < n; i++) {}", 2, "its variable is no integer"),
    ("#pragma acc parallel loop\nfor (unsigned char i = 0; i < 256; i++) {}", 2, "its condition always holds"),
    ("#pragma acc parallel loop\nfor (unsigned i = n; i >= 0; i--) {}", 2, "its condition always holds"),
    ("#pragma acc parallel loop\nfor (int i = 0; i < n--; i++) {}", 2, "its first value, end or step changes something"),
    ("#pragma acc parallel loop\nfor (int i = n++; i < 9; i++) {}", 2, "its first value, end or step changes something"),
    ("#pragma acc parallel loop\nfor (int i = 0; i < 4; i++) i = 2;", 2, "its body changes 'i'"),
    ("#pragma acc parallel loop\nfor (int i = 0; i < 4; i++) { if (a[i]) break; a[i] = 1; }", 2, "this leaves a loop whose iterations may run side by side"),
    ("#pragma acc parallel loop collapse(n)\nfor (int i = 0; i < 4; i++) {}", 1, "'collapse' needs a constant"),
    ("#pragma acc parallel loop collapse(2)\nfor (int i = 0; i < 4; i++) n = 1;", 1, "'collapse' needs 2 loops"),
    ("#pragma acc parallel loop collapse(2)\nfor (int i = 0; i < 4; i++)\nfor (int j = i; j < 4; j++) {}", 3, "depends on 'i'"),
    ("#pragma acc parallel loop seq gang\nfor (int i = 0; i < 4; i++) {}", 1, "'seq' excludes"),
    ("#pragma acc parallel loop gang\nfor (int i = 0; i < 4; i++) {\n#pragma acc loop gang\nfor (int j = 0; j < 4; j++) {}\n}", 3,
     "a 'gang' loop inside a 'gang' loop"),
    ("#pragma acc kernels loop gang(2) vector(2)\nfor (int i = 0; i < 4; i++) {\n#pragma acc loop gang(2) vector(2)\nfor (int j = 0; j < 4; j++) {}\n}", 3,
     "a 'gang' loop inside a 'gang' loop"),
    ("#pragma acc parallel loop worker\nfor (int i = 0; i < 4; i++) {\n#pragma acc loop worker\nfor (int j = 0; j < 4; j++) {}\n}", 3,
     "a 'worker' loop inside a 'worker' loop"),
    ("#pragma acc kernels loop vector\nfor (int i = 0; i < 4; i++) {\n#pragma acc loop gang\nfor (int j = 0; j < 4; j++) {}\n}", 3,
     "a 'gang' loop inside a 'vector' loop"),
    ("#pragma acc parallel loop gang vector\nfor (int i = 0; i < 4; i++) {\n#pragma acc loop worker\nfor (int j = 0; j < 4; j++) {}\n}", 3,
     "a 'worker' loop inside a 'vector' loop"),
    ("#pragma acc parallel loop tile(2, 2)\nfor (int i = 0; i < 4; i++) n = 1;", 1, "'tile' needs 2 loops"),
    ("#pragma acc parallel loop tile(2) collapse(2)\nfor (int i = 0; i < 4; i++)\nfor (int j = 0; j < 4; j++) {}", 1, "'tile' excludes 'collapse'"),
    ("#pragma acc parallel\n{ rand(); }", 2, "a call of 'rand', whose definition is not in this source, and which no 'routine' declares"),
    ("#pragma acc parallel\n{ goto end; end:; }", 2, "'goto' in a region"),
    ("#pragma acc parallel loop\nfor (int i = 0; i < 4; i++) { if (a[i]) goto next; a[i] = 1; next:; }", 2, "'goto' in a region"),
    ("#pragma acc parallel\n{ return; }", 2, "'return' out of a region"),
    ("#pragma acc parallel\n{ long double y = x; }", 2, "the type 'long double'"),
    ("struct { int k, v[]; } *f = (void *)a;\n#pragma acc parallel present(f)\n{ f->k = f->v[2]; }", 1, "a structure with a flexible array member"),
    ("#pragma acc parallel\n{ int b[n]; b[0] = 1; }", 2, "an array of variable length inside a region"),
    ("#pragma acc parallel\n{ static int s; s = 1; }", 2, "the static variable 's'"),
    ("#pragma acc parallel\na[0] = a[1]++ ?: 3;", 2, "'?:' of an expression with side effects"),
    ("#pragma acc parallel\n{ const int *p = (int[]){1, 2}; a[0] = p[1]; }", 2, "a pointer to a compound literal"),
    ("#pragma acc parallel\n{ const char *s = \"hello\"; a[0] = s[1]; }", 2, "a pointer to a string literal"),
    ("#pragma acc parallel\n{ const char *s; s = n ? \"hello\" + 1 : 0; a[0] = s[1]; }", 2, "a pointer to a string literal"),
    ("#pragma acc parallel\n{ int v = 1, w = 2, *t[2] = {&v, &w}; a[0] = *t[n & 1]; }", 2, "an array of pointers to variables of a thread"),
    ("#pragma acc parallel\n{ int v = 1, *t[2]; t[1] = &v; a[0] = *t[1]; }", 2, "an array of pointers to variables of a thread"),
    ("long at = 64;\n#pragma acc parallel\n*(double *)at -= 5;", 3, "a pointer made from an integer of the host"),
    ("long at = 64;\n#pragma acc parallel\n{ double *p = at; *p = 5; }", 3, "a pointer made from an integer of the host"),
    ("#pragma acc parallel\nswitch (a[0]) { case 0 ... 9999: a[1] = 2; }", 2, "a range of more than 1,024 cases"),
    ("int ***r = 0;\n#pragma acc parallel\n{ r[0][0][0] = 1; }", 3, "a subscript of a pointer in 'r'"),
    ("#pragma acc parallel\n{ struct { int *p; } s = {a}; s.p[0] = 1; }", 2, "a pointer in a structure, 'p'"),
    ("struct { int *p; } s = {a};\n#pragma acc parallel\n{ s.p = 0; }", 3, "a region that changes pointers in memory"),
    ("struct { int *p; } s = {a}, *q;\n#pragma acc parallel firstprivate(q)\n{ q->p[0] = 1; q = &s; }", 3, "a region that changes 'q' and uses 'q->p'"),
    ("struct { struct { int *p; } in; } s, t;\n#pragma acc parallel\n{ s.in.p[0] = 1; s.in = t.in; }", 3, "a region that changes 's' and uses 's.in.p'"),
    ("struct { int *p; } s = {a};\n#pragma acc parallel private(s.p)\n{ s.p[0] = 1; }", 2, "'s.p' in the clause 'private' is no variable"),
    ("#pragma acc kernels loop\nfor (int i = 1; i < a[0]; i++) a[0] = i;", 2, "a loop that changes its own end"),
    ("#pragma acc kernels loop\nfor (int i = 1; i < a[0]; i++) { if (a[i] == 9) break; a[0] = i; }", 2, "a loop that changes its own end"),
    ("#pragma acc kernels loop\nfor (int i = 0; i < n; i++) { if (a[i]) n = i; a[i] = 2; }", 2, "a loop that changes its own end"),
    ("#pragma acc parallel\n{ int m = n, t;\n#pragma acc loop seq private(t)\nfor (int i = 0; i < m; i++) { t = a[i]; if (t) m = i; } }", 4, "a loop that changes its own end, but for 'loop seq' without"),
    ("#pragma acc serial loop copy(n)\nfor (int i = 0; i < n; i++) if (a[i]) n = i;", 2, "a loop that changes its own end, but for"),
    ("#pragma acc parallel loop seq copy(n)\nfor (int i = 0; i < n; i++) if (a[i]) n = i;", 2, "a loop that changes its own end, but for"),
    ("static int g;\n#pragma acc declare link(missing)", 2, "undeclared identifier 'missing'"),
    ("#pragma acc parallel\n{ n = uses(); }", 0, "the global variable 'hidden' in a function that a region calls"),
    ("#pragma acc parallel copy(n)\n{ n = __func__[0]; }", 2, "the function's name ('__func__')"),
    ("#pragma acc parallel copy(n)\n{ n = L\"a\"[0]; }", 2, "a string of wide characters"),
    ("double (*rows)[n] = 0;\n#pragma acc parallel copy(n)\n{ n = sizeof(*rows); }", 3, "'sizeof' of an array or row of variable length"),
    ("#pragma acc parallel copy(x)\n{ x = nexttoward(x, 2); }", 2, "a call of 'nexttoward', which takes a 'long double'"),
    ("#pragma acc parallel\n{ n = ({ int b = a[0]; b; }); }", 2, "a statement inside an expression"),
    ("#pragma acc parallel copy(n)\n{ n = fib(n); }", 2, "recursion: 'fib' calls itself"),
    ("#pragma acc kernels\nfor (int i = 0; i < n; i++) a[i] = even(i);", 2, "recursion: 'even' calls itself through 'odd'"),
    ("#pragma acc serial copy(n)\n{ n = calls(n); }", -1, "recursion: 'odd' calls itself through 'even'"),
    ("int (*g)(void) = rand;\n#pragma acc parallel\n{ n = g(); }", 3, "a call through a pointer"),
    ("#pragma acc parallel\n{ int (*g)(void) = rand; n = g(); }", 2, "a pointer to a function"),
    ("short s[2];\n#pragma acc parallel copy(s)\n{\n#pragma acc atomic\ns[0]++;\n}", 4, "'atomic' for a type of other than 4 or 8 bytes"),
    ("#pragma acc parallel\n{\n#pragma acc atomic\n{ n = 1; a[0] = 2; a[1] = 3; }\n}", 3, "this form of 'atomic'"),
    ("#pragma acc parallel copy(a[0:n])\n{\n#pragma acc atomic\na[0] = a[0] > 3 ? a[0] : a[n++];\n}", 4, "a side effect in 'atomic' beside the update"),
    ("int v[4];\n#pragma acc parallel copy(a[0:n], v)\n{\n#pragma acc atomic capture\nv[n++] = a[0] += 2;\n}", 5, "a side effect in 'atomic' beside the update"),
    ("#pragma acc parallel\n{ int **q; *q = a; }", 2, "a pointer to pointers"),
    ("#pragma acc parallel\n{ _Complex double z = x; }", 2, "complex numbers ('_Complex')"),
    ("double _Complex z[4];\n#pragma acc parallel copyin(z[0:4])\n{ x = __real__ z[n] + 1; }", 3, "complex numbers ('_Complex')"),
    ("double _Complex z = 0; double creal(double _Complex);\n#pragma acc parallel\n{ x = 2 * creal(z); }", 3, "complex numbers ('_Complex')"),
    ("double _Complex z[4];\n#pragma acc parallel copyout(z)\n{ z[n] =\nx + 1.0i; }", 3, "complex numbers ('_Complex')"),
    ("double _Complex z = 0;\n#pragma acc parallel loop reduction(+:z)\nfor (int i = 0; i < 4; i++) z += i;", 2, "complex numbers ('_Complex')"),
    ("struct { double _Complex z; } s;\n#pragma acc parallel copyout(s)\n{ s.z = x; }", 3, "complex numbers ('_Complex')"),
    ("struct { char c; int i; } __attribute__((packed)) s;\n#pragma acc parallel copyout(s)\n{ int *p = &s.i; *p = n; }", 3,
     "the address of a member that its packed structure misaligns"),
    ("struct { char c; short h[2]; } __attribute__((packed)) s[2];\n#pragma acc parallel copyout(s)\n{ short *p = s[1].h; *p = n; }", 3,
     "the address of a member that its packed structure misaligns"),
    ("struct { char c; struct { int i; } in; } __attribute__((packed)) s;\n#pragma acc parallel copyout(s)\n{\n#pragma acc atomic\ns.in.i++;\n}", 4,
     "'atomic' for a member that its packed structure misaligns"),
    ("typedef int loose __attribute__((aligned(1)));\n#pragma acc parallel copy(a[0:n])\n{ *(loose *)&a[1] = 1; }", 3,
     "a pointer to 'loose', whose alignment is less than its type's"),
    ("typedef int loose __attribute__((aligned(2))); loose *p = a;\n#pragma acc parallel copy(p[0:n])\n{ p[1] = 1; }", 3,
     "a pointer to 'loose', whose alignment is less than its type's"),
    ("typedef struct { int i; } in, loose __attribute__((aligned(2))); loose *p = (void *)a;\n#pragma acc parallel copy(p[0:n])\n{ p->i = 1; }", 3,
     "a pointer to 'loose', whose alignment is less than its type's"),
    ("struct { char c; } __attribute__((aligned(256))) s;\n#pragma acc parallel copyout(s)\n{ s.c = n; }", 1,
     "a structure that is aligned to more than 128 bytes"),
    ("#pragma acc parallel\n{ struct { int low : 3; } g; g.low = n; }", 2, "a structure with bit-fields"),
    ("struct { int m[4]; } s;\n#pragma acc host_data use_device(s.m)\n{}", 2, "'s.m' in 'use_device' is no variable"),
    ("struct { int m; } *s = 0;\n#pragma acc enter data copyin(s[0:2].m)", 2, "'.m' after a section in the clause 'copyin'"),
    ("struct { int m; } s;\n#pragma acc parallel copy(s.m)\n{ s.m = 1; }", 2, "'s.m' in the clause 'copy' is no variable"),
    ("#pragma acc parallel\n{ __asm__(\"nop\"); }", 2, "this statement in a region"),
    ("#pragma acc parallel\n{ void *p = &&out; out:; }", 2, "this expression in a region"),
    ("#pragma acc parallel\n{\n#pragma acc parallel\n{}\n}", 3, "'parallel' inside a compute region"),
    ("#pragma acc parallel\n{\n#pragma acc data copy(n)\n{}\n}", 3, "'data' inside a compute region"),
    ("#pragma acc parallel\n{\n#pragma acc wait\n}", 3, "'wait' inside a compute region"),
    ("struct { int m; } s;\n#pragma acc parallel\n{\n#pragma acc loop private(s.m)\nfor (int i = 0; i < 4; i++) {}\n}", 4, "'s.m' in the clause 'private'"),
    ("struct { int m; } s = {0};\n#pragma acc parallel loop reduction(+:s)\nfor (int i = 0; i < 4; i++) s.m += 1;", 2, "no scalar variable"),
    ("#pragma acc parallel num_gangs(1, 2)\n{}", 1, "the clause 'num_gangs' takes one argument"),
    ("#pragma acc parallel if(n) if(x)\n{}", 1, "'parallel' has two clauses 'if'"),
    ("#pragma acc exit data copyout(x) finalize(1)", 1, "the clause 'finalize' takes no argument"),
    ("#pragma acc parallel loop gang(dim:2)\nfor (int i = 0; i < 4; i++) a[i] = 1;", 1, "'dim' in the clause 'gang'"),
    ("#pragma acc parallel loop collapse(force:2)\nfor (int i = 0; i < 4; i++)\nfor (int j = 0; j < 4; j++) a[i] = 1;", 1, "'force' in the clause 'collapse'"),
    ("#pragma acc parallel\n{ a[0] = rand != 0; }", 2, "'rand' in a region"),
    ("#pragma acc parallel private(kept)\n{ a[0] = sees(); }", 2, "a copy for each thread of 'kept', which the called"),
    ("#pragma acc parallel copy(a[0:n])\n{ int b[2] = {1, 2}; int *p = a; if (n) p = b; p[0] = 1; }", 2,
     "the pointer 'p' both to memory of the device and to variables of a thread"),
    ("#pragma acc parallel\n{ int local(void); a[0] = 1; }", 2, "this declaration in a region"),
    ("#pragma acc enter data copyin([0:2])", 1, "expected a variable in the clause 'copyin'"),
    ("int ***r = 0;\n#pragma acc parallel present(r)\n{ a[0] = r != 0; }", 2, "'r', a pointer to pointers, in a region"),
    ("struct u *p = 0;\n#pragma acc parallel present(p)\n{ a[0] = p != 0; }", 1, "a structure that is not defined"),
    ("struct { int k, : 2; } s;\n#pragma acc parallel copy(s)\n{ s.k = 1; }", 1, "a structure with bit-fields"),
    ("#pragma acc parallel\n{ __int128 z = x; a[0] = z; }", 2, "the type '__int128'"),
    ("#pragma acc set", 1, "'set' needs one of the clauses"),
    ("#pragma acc host_data use_device(x)\n{}", 1, "the scalar 'x' in 'use_device'"),
    ("#pragma acc parallel\n{\n#pragma acc update self(a[0:n])\n}", 3, "'update' inside a compute region"),
]

# What OpenACC forbids, though each line by itself would do.
FORBIDDEN = [
    ("while (n) {\n#pragma acc parallel\n{ if (a[0]) break; }\n}", 3, "'break' leaves the construct 'parallel', which has to run to its end"),
    ("for (;;) {\n#pragma acc kernels\n{ if (a[0]) continue; a[0] = 1; }\n}", 3, "'continue' leaves the construct 'kernels'"),
    ("switch (n) { case 1:;\n#pragma acc serial\n{ break; }\n}", 3, "'break' leaves the construct 'serial'"),
    ("#pragma acc data copy(a[0:n])\n{ if (n) return; }", 2, "'return' leaves the construct 'data'"),
    ("while (n) {\n#pragma acc data copy(a[0:n])\n{ if (n) break; }\n}", 3, "'break' leaves the construct 'data'"),
    ("#pragma acc host_data use_device(a)\n{ goto out; }\nout:;", 2, "'goto' leaves the construct 'host_data'"),
    ("goto in;\n#pragma acc data copy(a[0:n])\n{ in:; }", 1, "'goto' enters the construct 'data'"),
    ("#pragma acc parallel\n{\n#pragma acc atomic\na[0] = a[1] + 3;\n}", 4, "an update by 'atomic' has what it changes on its right side, too"),
    ("#pragma acc parallel loop vector\nfor (int i = 0; i < 4; i++) by_gangs(a);", 2, "'by_gangs' is a routine for 'gang', and this loop is spread over 'vector' already"),
    ("#pragma acc parallel loop gang\nfor (int i = 0; i < 4; i++) by_gangs(a);", 2, "'by_gangs' is a routine for 'gang', and this loop is spread over 'gang' already"),
    ("#pragma acc parallel loop gang worker\nfor (int i = 0; i < 4; i++) { a[i] = 0; by_workers(a); }", 2, "'by_workers' is a routine for 'worker'"),
    ("#pragma acc parallel loop reduction(&:x)\nfor (int i = 0; i < 4; i++) x += 1;", 1, "'&' reduces integers, and 'x' is of type 'double'"),
    ("float y[2] = {0};\n#pragma acc parallel\n{\n#pragma acc loop reduction(^:y)\nfor (int i = 0; i < 4; i++) y[0] += 1;\n}", 4, "'^' reduces integers, and 'y' is of type 'float'"),
    ("#pragma acc enter data copyin(a[0:-3])", 1, "a section of 'a' has a length below 0"),
    ("int b[10];\n#pragma acc enter data copyin(b[5:10])", 2, "a section of 'b' ends at 15, and there are 10 elements"),
    ("int b[10];\n#pragma acc update self(b[-1:2])", 2, "a section begins before 'b'"),
    ("int b[3][4];\n#pragma acc parallel copy(b[0:3][2:3])\n{ b[0][2] = 1; }", 2, "a section of 'b' ends at 5, and there are 4 elements"),
    ("#pragma acc enter data async(1)", 1, "'enter data' needs one of the clauses 'copyin', 'create', 'attach'"),
    ("#pragma acc exit data finalize", 1, "'exit data' needs one of the clauses 'copyout', 'delete', 'detach'"),
    ("#pragma acc host_data\n{}", 1, "'host_data' needs the clause 'use_device'"),
    ("#pragma acc serial num_gangs(3)\n{}", 1, "'num_gangs' is no clause of 'serial'"),
    ("#pragma acc parallel async(2.5)\n{}", 1, "'async' takes an integer, and this is of type 'double'"),
    ("#pragma acc parallel num_gangs(x)\n{}", 1, "'num_gangs' takes an integer"),
    ("#pragma acc parallel vector_length(0)\n{}", 1, "'vector_length' takes a number above 0"),
    ("#pragma acc parallel loop tile(0)\nfor (int i = 0; i < 4; i++) a[i] = 0;", 1, "'tile' takes a number above 0"),
    ("#pragma acc parallel deviceid(-1)\n{}", 1, "devices count from 0"),
    ("#pragma acc wait(devnum:-2:1)", 1, "devices count from 0"),
    ("#pragma acc update self(a[0:n]) deviceid(1.0)", 1, "'deviceid' takes an integer"),
    ("int b[4];\n#pragma acc parallel deviceptr(b)\n{ b[0] = 1; }", 2, "'b' in 'deviceptr' is no pointer"),
    ("if (n)\n#pragma acc update self(a[0:n])", 2, "'update' cannot be the only statement here; put it into braces"),
    ("for (; n; n--)\n#pragma acc wait", 2, "'wait' cannot be the only statement here"),
    ("#pragma acc routine(rand) seq", 1, "'routine' stands outside of functions"),
]

# The same at file scope, behind `int g, h[4], *p; extern int e[];`.
REFUSED_OUTSIDE = [
    ("#pragma acc declare copy(g)", "'copy' of 'declare' belongs into a function"),
    ("#pragma acc declare present(h)", "'present' of 'declare' belongs into a function"),
    ("#pragma acc declare create(missing)", "there is no variable 'missing'"),
    ("#pragma acc declare create(h[0:2])", "a section in 'declare' outside of functions"),
    ("#pragma acc declare copyin(e)", "'declare' of 'e', whose size is not known here"),
    ("#pragma acc declare create(g) copyin(g)", "'g' is in two clauses of 'declare'"),
    ("int again(int n) { return n > 0 ? again(n - 1) : 0; }\n#pragma acc routine(again) seq", "recursion: 'again' calls itself, and is a 'routine'"),
    ("#pragma acc declare wait", "'wait' is no clause of 'declare'"),
    ("#pragma acc declare create", "the clause 'create' needs an argument"),
]

LOOPS = """
void f(int n, int *a, int *b, double m[n][n]) {
    #pragma acc kernels present(a[0:n], b[0:n])
    {
        for (int i = 0; i < n; i++) a[i] = b[i];
        for (int i = 1; i < n; i++) a[i] = a[i - 1];
        for (int i = 0; i < n; i++) a[b[i]] = 1;
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) m[i][j] = a[i];
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i * n + j] = 1;
        for (int i = 0; i < 9; i++) a[2 * i] = a[2 * i + 1];
    }
    #pragma acc parallel loop gang present(a[0:n])
    for (int i = 0; i < n; i++) {
        #pragma acc loop seq
        for (int j = 0; j < n; j++) a[i] += j;
    }
}
int g(int n, int *a, int *s) {
    int q = 0;
    #pragma acc parallel loop present(a[0:n], s[0:4]) reduction(+:s[0:4])
    for (int i = 0; i < n; i++) s[i % 4] += a[i];
    #pragma acc kernels present(a[0:n])
    for (int i = 0; i < n; i++) { for (q = 0; q < 3; q++) a[i] = q; }
    #pragma acc parallel loop gang present(a[0:n])
    for (int i = 0; i < n; i++) {
        #pragma acc loop
        for (int j = 0; j < 3; j++) {
            #pragma acc loop worker vector
            for (int k = 0; k < 3; k++) a[i * 9 + j * 3 + k] = i;
        }
    }
    return q;
}
"""
LOOPS_REPORT = [(5, "gang vector"), (6, "in order, as iterations may meet at elements of 'a'"), (7, "in order, as"),
                (8, "gang"), (9, "gang"), (10, "gang vector"), (13, "gang vector"), (15, "in order, as 'seq' says so"),
                (21, "in order, as it reduces an array"), (23, "in order, as 'q' is read after it"),
                (27, "in order, as all levels are taken by loops around it and in it")]

QUIET = """#include <math.h>
#include <openacc.h>
#pragma acc routine seq
static double twice(double x) { return 2 * x; }
static double kept[9];
#pragma acc declare create(kept)
int main(void) {
    static double a[9], b[9], rows[3][4];
    double *pointers[3] = {rows[0], rows[1], rows[2]}, sum = 0, most = 0;
    #pragma acc data copy(a) copyin(pointers[0:3][0:4]) create(b[0:9])
    {
        #pragma acc parallel loop gang vector private(most) reduction(+:sum) async(1) if(sum < 1)
        for (int i = 0; i < 9; i++) { most = twice(i); a[i] = most + pointers[i % 3][1]; kept[i] = 1; sum += 1; }
        #pragma acc wait(1)
        #pragma acc kernels
        for (int i = 0; i < 9; i++) most = fmax(most, a[i]);
        #pragma acc serial
        { b[0] = a[0]; }
        #pragma acc parallel loop
        for (int i = 0; i < 9; i++) {
            #pragma acc atomic update
            a[0] += 1;
        }
        #pragma acc update self(a[0:3]) if_present
        #pragma acc host_data use_device(a)
        { (void)a; }
    }
    #pragma acc enter data copyin(a[0:9]) deviceid(0)
    #pragma acc enter data copyin(a[0:9]) deviceid(1)
    #pragma acc update peer to(a[0:2]) to_device(1) from(a[0:2]) from_device(0)
    #pragma acc wait device(1)
    #pragma acc exit data delete(a) finalize deviceid(1)
    #pragma acc exit data copyout(a[0:9]) deviceid(0)
    return most > sum;
}
"""

SPREAD = """
int main(void) {
    static int a[1000], b[1000], sum = 0;
    #pragma acc kernels copyin(b) copy(a)
    {
        for (int i = 0; i < 1000; i++) a[i] = b[i];
        for (int i = 1; i < 1000; i++) a[i] += a[i - 1];
        for (int i = 0; i < 1000; i++) sum += a[i] + 1;
    }
    #pragma acc parallel loop auto copyin(b) copy(a)
    for (int i = 0; i < 1000; i++) a[i] = b[i];
    #pragma acc parallel loop num_gangs(3) num_workers(2) vector_length(4) gang worker vector copy(a)
    for (int i = 0; i < 1000; i++) a[i]++;
    #pragma acc serial loop copy(a)
    for (int i = 0; i < 1000; i++) a[i]++;
    int *p = a, *q = a;
    #pragma acc data copy(a)
    {
        #pragma acc kernels present(p[0:1000], q[0:1000])
        for (int i = 1; i < 1000; i++) p[i] = q[i - 1] + 1;
    }
    return a[999] != 1001 || a[0] != 2 || sum != 1000;
}
"""

HALVES = {
    "one.c": "#include \"shared.h\"\nint values[N];\nint main(void) { fill(values); for (int i = 0; i < N; i++) if (values[i] != i * FACTOR) return 1; return 0; }\n",
    "two.c": "#include \"shared.h\"\nvoid fill(int *v) {\n    COPIED(v)\n    for (int i = 0; i < N; i++) v[i] = i * FACTOR;\n}\n",
    "shared.h": "#define N 100\n#define TEXT(x) #x\n#define DO(x) _Pragma(TEXT(x))\n#define COPIED(v) DO(acc parallel loop copyout(v[0:N]))\nvoid fill(int *v);\n"
                "#if _OPENACC < 201711\n#error no OpenACC\n#endif\n",
}

HYBRID = """
#include <omp.h>
#include <openacc.h>
#include <stdio.h>
int main(void) {
    enum { n = 200 };
    static int a[n];
    int wrong = 0;
    #pragma omp parallel num_threads(2) reduction(+:wrong)
    {
        const int id = omp_get_thread_num();
        acc_set_device_num(id, acc_device_not_host);
        #pragma acc data copyout(a[id*n/2:n/2])
        {
            #pragma acc parallel loop present(a[id*n/2:n/2])
            for (int i = id * n / 2; i < (id + 1) * n / 2; i++) a[i] = i + acc_on_device(acc_device_not_host);
        }
        wrong += acc_get_device_num(acc_device_not_host) != id;
    }
    for (int i = 0; i < n; i++) wrong += a[i] != i + 1;
    if (wrong) fprintf(stderr, "%d wrong\\n", wrong);
    return wrong != 0;
}
"""


ROW = """#include <stdio.h>
int row[31], added[31];
void add(void) {
    #define count 31
    for (int i = 0; i < count; i++) row[i] = added[i] * 3 + 2;
}
int main(void) {
    #pragma acc parallel loop copyout(added)
    for (int i = 0; i < count; i++) added[i] = i;
    add();
    printf("%d\\n", row[30]);
}
"""


class compiler(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return str(pathlib.Path(self.folder.name) / name)

    def write(self, name, text):
        pathlib.Path(self.path(name)).write_text(text, encoding="utf-8")
        return name

    def run_program(self, *words, fails=False, **environment):
        done = subprocess.run(words, cwd=self.folder.name, capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
        self.assertEqual(done.returncode != 0, fails, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def test_refuses_wrong_programs_and_says_where(self):
        for body, line, sentence in REFUSED + FORBIDDEN:
            with self.subTest(body):
                self.write("wrong.c", WRONG_HEAD + body + "\n}\n")
                said = self.run_program(COMPILER, "-c", "wrong.c", fails=True)
                first = said.splitlines()[0]
                self.assertRegex(first, rf"^wrong\.c:{line + WRONG_HEAD.count(chr(10))}:\d+: error: ")
                self.assertIn(sentence, first)
                self.assertIn("^", said)

    def test_refuses_wrong_declarations_outside_of_functions(self):
        for directive, sentence in REFUSED_OUTSIDE:
            with self.subTest(directive):
                self.write("wrong.c", "int g, h[4], *p; extern int e[];\n" + directive + "\nint main(void) { return 0; }\n")
                self.assertRegex(self.run_program(COMPILER, "-c", "wrong.c", fails=True), rf"^wrong\.c:2:\d+: error: .*{re.escape(sentence)}")

    def test_says_what_a_command_lacks(self):
        self.write("right.c", "int main(void) {\n#pragma acc parallel\n{}\nreturn 0; }\n")
        for words, sentence in ((["--host-compiler"], "--host-compiler needs an argument"), (["right.c", "right.c", "-c", "-o", "x.o"], "-o names one file"),
                                (["--host-compiler", "./absent", "right.c"], "./absent: No such file"), (["--keep", "--translate", "right.c/x", "right.c"], "right.c/x/right.c: Not a")):
            with self.subTest(words):
                self.assertIn("causeway-cc: " + sentence, self.run_program(COMPILER, *words, fails=True))
        self.assertIn("a folder for intermediate files, ", self.run_program(COMPILER, "right.c", fails=True, TMPDIR="/absent"))

    def test_notes_the_loop_that_has_the_level_already(self):
        self.write("twice.c", "void f(int *a) {\n#pragma acc parallel loop gang present(a)\nfor (int i = 0; i < 4; i++) {\n#pragma acc loop gang\nfor (int j = 0; j < 4; j++) {}\n}\n}\n")
        self.assertRegex(self.run_program(COMPILER, "-c", "twice.c", fails=True), r"(?s)twice\.c:4:\d+: error: .*twice\.c:2:\d+: note: the outer loop")

    def test_notes_where_a_variable_in_no_clause_is_declared(self):
        self.write("none.c", "int a[4];\nvoid f(void) {\n#pragma acc parallel default(none)\na[0] = 1;\n}\n")
        self.assertRegex(self.run_program(COMPILER, "-c", "none.c", fails=True), r"(?s)none\.c:3:\d+: error: .*none\.c:1:5: note: declared here")

    def test_warns_of_results_that_a_region_loses(self):
        for directive, body, lost in (("parallel loop", "most = __builtin_fmax(most, a[i]);", "most"), ("parallel loop", "most += a[i];", "most"), ("serial loop", "t = a[i] + t;", "t"),
                                      ("parallel loop reduction(max:most)", "most = __builtin_fmax(most, a[i]);", ""), ("kernels loop", "most += a[i];", ""),
                                      ("parallel loop", "t = 0; for (k = 0; k < 9; k++) t += a[k]; a[i] = t;", ""), ("parallel loop copy(most)", "most += a[i];", ""),
                                      ("parallel loop private(t)", "t = a[i]; t += 1; a[i] = t;", "")):
            with self.subTest(directive + ": " + body):
                self.write("loses.c", f"int main(void) {{ static double a[9]; double most = 0, t = 0; int k;\n#pragma acc {directive}\n"
                                      f"for (int i = 0; i < 9; i++) {{ {body} }}\nreturn most > 0 || t > 0; }}\n")
                self.assertNotIn("warning", self.run_program(COMPILER, "-w", "-c", "loses.c"))
                said = self.run_program(COMPILER, "-c", "loses.c")
                if lost:
                    self.assertIn(f"loses.c:2:9: warning: '{lost}' is in no clause, and so firstprivate: what the region makes of it is lost; 'reduction' on the loop keeps it", said)
                else:
                    self.assertNotIn("warning", said)

    def test_generated_code_is_quiet(self):
        self.write("quiet.c", QUIET)
        for host in ("gcc", "clang-19"):
            for standard in ("c99", "gnu17"):
                with self.subTest(host + " " + standard):
                    self.run_program(COMPILER, "--host-compiler", host, "--no-simd", f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-c", "quiet.c")
        self.write("strict.c", """double strict(int n, double *x);
double strict(int n, double *x) {
    double s = 0;
    int i;
    #pragma acc parallel loop copy(x[0:n]) reduction(+:s) private(i)
    for (i = 0; i < n; i++) { double t = x[i] + 1; s += t; x[i] = t; }
    #pragma acc update self(x[0:n]) if_present
    return s;
}
""")
        for warnings in ("-pedantic", "-pedantic-errors", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wredundant-decls", "-Wstrict-prototypes"):
            with self.subTest(warnings):
                self.run_program(COMPILER, "--host-compiler", "gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", warnings, "-c", "strict.c")

    def test_members_without_names(self):
        self.write("members.c", """#include <stdio.h>
typedef struct { int k; struct { int p, q; union { int u; float f; }; }; union { long l; double d; }; } whole;
int main(void) {
    whole s = {1, {2, 3, {4}}, {5}}, many[9];
    #pragma acc parallel copy(s)
    { s.p += s.q * 10 + s.u * 100 + s.l * 1000 + s.k; s.d = 0.5; }
    #pragma acc parallel loop copyout(many)
    for (int i = 0; i < 9; i++) { whole w = s; w.k = i; w.f = i / 2.0f; many[i] = w; }
    printf("%d %d %g %g %g\\n", s.p, s.q, s.d, many[5].f, many[8].d);
}
""")
        self.run_program(COMPILER, "members.c", "-o", "members")
        self.assertEqual(self.run_program("./members"), "5433 3 0.5 2.5 0.5\n")

    def test_sources_share_declared_variables(self):
        self.write("shared.h", "extern int values[8], factor;\n#pragma acc declare create(values) copyin(factor)\nvoid fill(void);\n")
        self.write("one.c", '#include "shared.h"\nint values[8], factor = 3;\nint main(void) {\n    fill();\n#pragma acc parallel loop\n'
                            "    for (int i = 0; i < 8; i++) values[i] += factor;\n#pragma acc update self(values)\n    return values[7] != 24; }\n")
        self.write("two.c", '#include "shared.h"\nvoid fill(void) {\n#pragma acc parallel loop\n    for (int i = 0; i < 8; i++) values[i] = i * factor;\n}\n')
        self.run_program(COMPILER, "-fPIC", "-shared", "two.c", "-o", "libtwo.so")
        self.run_program(COMPILER, "one.c", "-L.", "-ltwo", "-Wl,-rpath,.", "-o", "shared")
        self.run_program("./shared")
        self.run_program("./shared", ACC_DEVICE_TYPE="host")

    def test_sources_share_loop_variables(self):
        self.write("counts.c", "int k, r[8], seen(void);\nint main(void) {\n#pragma acc kernels\nfor (k = 0; k < 8; k++) r[k] = k;\nreturn seen() != 8; }\n")
        self.write("sees.c", "extern int k;\nint seen(void) { return k; }\n")
        self.run_program(COMPILER, "counts.c", "sees.c", "-o", "program")
        self.run_program("./program")

    def test_reports_how_loops_are_spread(self):
        self.write("loops.c", LOOPS)
        said = self.run_program(COMPILER, "--report", "-c", "loops.c")
        for line, how in LOOPS_REPORT:
            self.assertIn(f"loop at loops.c:{line}: {how}", said)

    def test_reports_pointers_whose_elements_it_cannot_tell(self):
        self.write("lists.c", "void f(int *a, int *b, int *c, int n) {\n#pragma acc parallel loop\nfor (int i = 0; i < n; i++) a[b[i]] = c[i / 2];\n}\n")
        said = self.run_program(COMPILER, "--report", "-c", "lists.c")
        unknown = ": in no clause, and which of its elements the region uses is not seen before it runs: it has to be present"
        for name, known in (("a", False), ("b", True), ("c", True)):
            self.assertEqual(f"    {name}{unknown}\n" not in said, known, said)

    def test_what_tells_a_range_grows_no_faster_than_the_region(self):
        """Each bound is written once, however many others it is a part of."""
        clamps = "".join(f"int {v} = {of}; if ({v} < 0) {v} = 0; if ({v} >= n) {v} = n - 1; "
                         for v, of in (("x", "i - s"), ("y", "x * 2 + i"), ("z", "(y + x) % n + (y > x ? y : x)"), ("w", "(z * y + x) % n"), ("u", "w + z - y"), ("v", "(u * w) % n")))
        self.write("range.c", f"void f(int n, int s, const float *a, float *b) {{\n#pragma acc parallel loop\nfor (int i = 0; i < n; i++) {{ {clamps}b[i] = a[(v * n + u) * n + x] + a[w]; }} }}")
        said = self.run_program(COMPILER, "--keep", "--report", "-c", "range.c")
        self.assertIn("a: IMPLICIT_READ, as much as its loops use", said)
        text = pathlib.Path(self.path("range.host.c")).read_text(encoding="utf-8")
        bounds = re.findall("const long __acc_limit.*", text)
        self.assertTrue(20 < len(bounds) < 500, len(bounds))
        self.assertLess(max(map(len, bounds)), 200)

    def test_compiles_separately_and_hands_unknown_options_on(self):
        for name, text in HALVES.items():
            self.write(name, text)
        self.run_program(COMPILER, "-O2", "-g", "-DFACTOR=3", "-MMD", "-fno-strict-aliasing", "-c", "one.c")
        self.run_program(COMPILER, "-O2", "-g", "-DFACTOR=3", "-fPIC", "-shared", "two.c", "-o", "libtwo.so")
        self.assertIn("shared.h", pathlib.Path(self.path("one.d")).read_text(encoding="utf-8"))
        self.run_program(COMPILER, "one.o", "-L.", "-ltwo", "-Wl,-rpath,.", "-o", "program")
        self.run_program("./program")
        self.run_program(COMPILER, "-DFACTOR=4", "one.c", "two.c", "-o", "both")
        self.run_program("./both")
        self.assertIn("error", self.run_program(COMPILER, "-DFACTOR=(", "-c", "one.c", fails=True))

    def test_leaves_sources_to_read_and_to_build_elsewhere(self):
        for name, text in HALVES.items():
            self.write(name, text)
        self.run_program(COMPILER, "--keep", "-DFACTOR=3", "-c", "two.c")
        self.assertIn("__kernel", pathlib.Path(self.path("two.cl")).read_text(encoding="utf-8"))
        self.assertIn('# 4 "two.c"', pathlib.Path(self.path("two.host.c")).read_text(encoding="utf-8"))
        self.run_program(COMPILER, "--translate", "out", "-DFACTOR=3", "one.c", "two.c")
        library = str(pathlib.Path(COMPILER).parent.parent / "lib")
        self.run_program("gcc", "-w", "out/one.c", "out/two.c", "-L" + library, "-Wl,-rpath," + library, "-lcauseway_acc", "-o", "program")
        self.run_program("./program")

    def test_terms_of_a_reduction_join_in_any_order_and_others_do_not(self):
        self.write("sums.c", """double sums(int n, const double *a, float *lost) {
    double s = 0, p = 1;
    float f = 0;
    int k = 0;
    #pragma acc parallel loop copyin(a[0:n]) copy(f) reduction(+:s,f,k) reduction(*:p)
    for (int i = 0; i < n; i++) {
        double t = 0;
        for (int j = 0; j < 4; j++) t += a[i] * j;
        s -= t;
        p *= a[i];
        f += a[i];
        k += i;
    }
    *lost = f;
    double q = 0;
    #pragma acc parallel loop seq copyin(a[0:n]) reduction(+:q)
    for (int i = 0; i < n; i++) q += a[i];
    return s + p + k + q;
}
int main(void) { return 0; }
""")
        self.run_program(COMPILER, "--keep", "sums.c", "-o", "sums")
        text = pathlib.Path(self.path("sums.cl")).read_text(encoding="utf-8")
        # f is summed in double and rounded at each step, t belongs to one iteration, q's loop keeps its order, and whole numbers need no leave.
        self.assertEqual(sorted(re.findall(r"ACC_ANY_ORDER (\w+ .)= acc_term", text)), ["p *", "s -"])

    def test_types_and_assertions_leave_loops_of_kernels_apart(self):
        self.write("apart.c", """void f(int n, int *a) {
#pragma acc kernels copy(a[0:n])
{ _Static_assert(sizeof(int) == 4, "ints"); typedef struct { int k; } t; for (int i = 0; i < n; i++) a[i] = (t){i}.k; for (int i = 0; i < n; i++) a[i] += i; } }
""")
        self.run_program(COMPILER, "-c", "--keep", "apart.c")
        self.assertEqual(pathlib.Path(self.path("apart.cl")).read_text(encoding="utf-8").count("__kernel void"), 2)

    def test_one_thread_does_what_stands_together(self):
        """Drivers for processors took minutes over a barrier for each statement."""
        statements = ("a[0] = a[1] + n; a[2] = a[0]; for (int i = 1; i < n; i++) a[i] = a[i - 1] ^ a[i]; "
                      "for (int i = 1; i < n; i++) { a[2 * i] = i; a[3 * i] = -i; }")
        self.write("alone.c", f"void f(int n, int *a) {{\n#pragma acc kernels copy(a[0:n])\n{{ int s = n; for (int i = 0; i < n; i++) a[i] = s; {statements} }} }}")
        self.run_program(COMPILER, "-c", "--keep", "alone.c")
        text = pathlib.Path(self.path("alone.cl")).read_text(encoding="utf-8").split("__kernel", 1)[1]
        self.assertEqual(text.count("barrier("), 3, text)

    def test_clang_as_host_makes_full_vectors(self):
        self.write("row.c", ROW)
        clang = ("--host-compiler", "clang-19", "-O3", "-march=x86-64-v4")
        for options, is_full in (((), True), (("--no-simd",), False), (("-flto",), False)):
            with self.subTest(options):
                said = self.run_program(COMPILER, *clang, *options, "--report", "-c", "row.c")
                self.assertEqual("row.c:5:5: done in add: 31 iterations are " in said, is_full, said)
                self.assertNotIn("warning", said)
        self.run_program(COMPILER, "--host-compiler", "clang-19", "-O3", "row.c", "-o", "row")
        self.assertEqual(self.run_program("./row"), "92\n")
        self.write("row.cc", 'extern "C" ' + ROW.split("int main")[0].split("\n", 1)[1])
        self.assertIn("31 iterations are ", self.run_program(COMPILER, *clang, "--report", "-c", "row.cc"))

    def test_sources_with_vector_instructions_of_the_host(self):
        self.write("vectors.c", """#include <immintrin.h>
int main(void) {
    float v[8];
    #pragma acc parallel loop copyout(v)
    for (int i = 0; i < 8; i++) v[i] = i;
    __m128 four = _mm_loadu_ps(v);
    _mm_pause();
    _mm_storeu_ps(v, _mm_add_ps(four, four));
    return v[3] != 6 || v[7] != 7;
}
""")
        for level in ("-O0", "-O2"):
            self.run_program(COMPILER, level, "vectors.c", "-o", "vectors")
            self.run_program("./vectors")

    def test_prints_long_sums(self):
        terms = "".join(f" {sign} {at} * a[{at % 7}] / 3" for at, sign in enumerate(["+", "-"] * 200))
        self.write("sum.c", "int main(void) { int a[7] = {1, 2, 3, 4, 5, 6, 7}, host = 0" + terms + ", device = 1;\n"
                            "#pragma acc parallel loop copyin(a) copyout(device)\nfor (int i = 0; i < 1; i++) device = 0" + terms + ";\n"
                            "return host != device; }\n")
        self.run_program(COMPILER, "sum.c", "-o", "sum")
        self.run_program("./sum")

    def test_loops_that_are_proved_independent_are_spread_over_the_device(self):
        self.write("spread.c", SPREAD)
        self.run_program(COMPILER, "spread.c", "-o", "spread")
        said = self.run_program("./spread", ACC_NOTIFY="1")
        launches = [tuple(map(int, found)) for found in re.findall(r"^spread\.c:(\d+): .* (\d+) gangs of (\d+) workers of (\d+) lanes(?: for .*)?$", said, re.M)]
        sizes = [(line, gangs * workers * lanes) for line, gangs, workers, lanes in launches]
        self.assertEqual([line for line, _ in sizes], [4, 4, 4, 10, 12, 14, 19], said)
        self.assertGreater(sizes[0][1], 1, "an independent loop in kernels")
        self.assertEqual(sizes[1][1], 1, "a loop whose iterations meet")
        self.assertGreater(sizes[2][1], 1, "a reduction that no clause names")
        self.assertGreater(sizes[3][1], 1, "an independent loop that says auto")
        self.assertEqual(launches[4][1:], (3, 2, 4))
        self.assertEqual(sizes[5][1], 1, "a serial construct")
        self.assertEqual(sizes[6][1], 1, "arrays that overlap when the program runs")
        self.assertIn(": acc_spread_c_12 on device 0", said)

    def test_arrays_in_one_buffer_share_no_memory_unless_their_parts_do(self):
        self.write("parts.c", """#include <CL/cl.h>
#include <openacc.h>
enum { n = 1000 };
static void next(const int* x, int* y) {
    #pragma acc kernels loop present(x[0:n], y[0:n])
    for (int i = 0; i < n; i++) y[i] = x[i] + 1;
}
/* The value of `from_second` lies in another part than what the loop accesses by it. */
static void shift(const int* x, int* from_second) {
    #pragma acc kernels loop
    for (int i = 1; i < n; i++) from_second[i - n] = x[i - 1] + 1;
}
static void shift_present(const int* x, int* from_second) {
    #pragma acc kernels loop default(present)
    for (int i = 1; i < n; i++) from_second[i - n] = x[i - 1] + 1;
}
static void shift_without_sections(const int* x, int* from_second) {
    #pragma acc kernels loop present(x, from_second)
    for (int i = 1; i < n; i++) from_second[i - n] = x[i - 1] + 1;
}
int main(void) {
    static int first[n], second[n], third[n], all[2 * n];
    const size_t bytes = n * sizeof(int);
    cl_mem buffer = clCreateBuffer(acc_get_current_opencl_context(), CL_MEM_READ_WRITE, 2 * bytes, 0, 0);
    acc_map_buffer(first, buffer, 0, bytes);
    acc_map_buffer(second, buffer, bytes, bytes);
    acc_map_buffer(third, buffer, bytes - sizeof(int), bytes);
    #pragma acc update device(first)
    next(first, second);
    next(first, third);
    #pragma acc update self(third, second)
    for (int i = 0; i < n; i++) if (third[i] != 1 + (i == n - 1) || second[i] != 1 + (i == n - 2)) return 1;
    acc_map_buffer(all, buffer, 0, bytes);
    acc_map_buffer(all + n, buffer, bytes, bytes);
    shift(all, all + n);
    #pragma acc update self(all[0:n])
    for (int i = 0; i < n; i++) if (all[i] != i) return 2;
    all[0] = 1;
    #pragma acc update device(all[0:1])
    shift_present(all, all + n);
    #pragma acc update self(all[0:n])
    for (int i = 0; i < n; i++) if (all[i] != 1 + i) return 3;
    all[0] = 2;
    #pragma acc update device(all[0:1])
    shift_without_sections(all, all + n);
    #pragma acc update self(all[0:n])
    for (int i = 0; i < n; i++) if (all[i] != 2 + i) return 4;
    clReleaseMemObject(buffer);
    return 0;
}
""")
        self.run_program(COMPILER, "parts.c", "-o", "parts", "-lOpenCL")
        said = self.run_program("./parts", ACC_NOTIFY="1")
        gangs = list(map(int, re.findall(r"(\d+) gangs of", said)))
        self.assertEqual([count > 1 for count in gangs], [True, False, False, False, False], said)

    def test_groups_of_gpus_have_several_gangs_unless_they_have_workers(self):
        loops = [("", "vector"), ("num_workers(2) vector_length(32)", "worker vector"), ("vector_length(64)", "vector"), ("num_gangs(50)", "vector")]
        text = "int main(void) {\nstatic int a[999][999];\nint wrong = 0;\n"
        for clauses, levels in loops:
            text += (f"#pragma acc parallel loop gang {clauses} copy(a)\nfor (int i = 0; i < 999; i++) {{\n#pragma acc loop {levels}\n"
                     "for (int j = 0; j < 999; j++) a[i][j] += i * 7 + j; }\n")
        self.write("rows.c", text + "for (int i = 0; i < 999; i++) for (int j = 0; j < 999; j++) wrong += a[i][j] != 4 * (i * 7 + j);\nreturn wrong != 0; }\n")
        self.run_program(COMPILER, "rows.c", "-o", "rows")
        said = self.run_program("./rows", ACC_NOTIFY="1", ACC_LAUNCH_AS_GPU="1")
        launches = re.findall(r"(\d+) gangs of (\d+) workers of (\d+) lanes for 999 iterations(?:, (\d+) groups)?", said)
        if (os.cpu_count() or 1) < 100:  # beyond, the groups are too few for so many cores
            self.assertEqual(launches[0], ("250", "4", "64", "16"), said)
        self.assertEqual([found[1] for found in launches[1:]], ["2", "1", "1"], said)
        self.assertEqual([each.endswith(", one for each thread") for each in said.splitlines() if " gangs of " in each], [True, True, True, False], said)

    def test_gangs_of_gpus_have_no_lanes_without_iterations(self):
        text = "int main(void) {\nstatic int a[99][300];\nint wrong = 0;\n"
        for lanes in (20, 64, 100, 128):
            text += ("#pragma acc parallel loop gang copy(a)\nfor (int i = 0; i < 99; i++) {\n#pragma acc loop vector\n"
                     f"for (int j = 0; j < {lanes}; j++) a[i][j]++; }}\n")
        self.write("lanes.c", text + "for (int i = 0; i < 99; i++) wrong += a[i][19] != 4 || a[i][64] != 2 || a[i][127] != 1;\nreturn wrong; }\n")
        self.run_program(COMPILER, "lanes.c", "-o", "lanes")
        said = self.run_program("./lanes", ACC_NOTIFY="1", ACC_LAUNCH_AS_GPU="1")
        self.assertEqual(re.findall(r"99 gangs of 1 workers of (\d+) lanes", said), ["32", "64", "128", "128"], said)

    def test_loops_that_fill_a_gpu_have_large_groups(self):
        many = 2048 * max(64, os.cpu_count() or 1)
        text = f"int main(void) {{\nstatic float a[{many}];\nint wrong = 0;\n"
        for clauses, n in (("", many), ("", 1000), ("vector_length(64)", many), ("num_workers(2)", many)):
            levels = "gang worker vector" if "workers" in clauses else ""
            text += f"#pragma acc parallel loop {levels} {clauses} copy(a)\nfor (int i = 0; i < {n}; i++) a[i]++;\n"
        self.write("large.c", text + f"for (int i = 0; i < {many}; i++) wrong += a[i] != (i < 1000 ? 4 : 3);\nreturn wrong != 0; }}\n")
        self.run_program(COMPILER, "large.c", "-o", "large")
        said = self.run_program("./large", ACC_NOTIFY="1", ACC_LAUNCH_AS_GPU="1")
        self.assertEqual(re.findall(r"gangs of (\d+) workers of (\d+) lanes", said), [("1", "256"), ("1", "128"), ("1", "64"), ("2", "32")], said)
        # NVIDIA's driver allows no kernel more than 256 threads.
        self.write("limit.c", """#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
cl_int clGetKernelWorkGroupInfo(cl_kernel k, cl_device_id d, cl_kernel_work_group_info what, size_t bytes, void *to, size_t *needed) {
(void)k, (void)d, (void)what, (void)bytes, (void)needed; *(size_t *)to = 256; return CL_SUCCESS; }""")
        self.run_program("gcc", "-shared", "-fPIC", "limit.c", "-o", "liblimit.so")
        said = self.run_program("./large", ACC_NOTIFY="1", ACC_LAUNCH_AS_GPU="1", LD_PRELOAD="./liblimit.so")
        self.assertEqual(re.findall(r"workers of (\d+) lanes", said)[0], "256", said)

    def test_the_host_knows_how_often_the_loop_of_gangs_runs(self):
        """Launches on GPUs are as large as their loops, where that is known before."""
        heads = {"int i = 3; i < n; i++": 97, "int i = 0; i <= n; i += 7": 15, "int i = n - 1; i >= 1; i -= 2": 50,
                 "int i = n; i > 0; i--": 100, "int i = 0; i != n; i++": 100, "unsigned i = 5; i < (unsigned)n / 3; i++": 28,
                 "long i = -4; i < LAST; i++": 14, "int i = n; i < 3; i++": None, "int i = first[0]; i < n; i++": None}
        text = "enum { LAST = 10 };\nint main(void) {\nint n = 100, first[1] = {2}, sum = 0;\n"
        for head in heads:
            text += f"#pragma acc parallel loop gang copyin(first) reduction(+:sum)\nfor ({head}) sum += 1;\n"
        text += ("#pragma acc parallel loop gang collapse(2) reduction(+:sum)\nfor (int i = 0; i < n; i++) for (int j = 2; j < 5; j++) sum += 1;\n"
                 "#pragma acc parallel reduction(+:sum)\nfor (int k = 1; k < 3; k++) {\n#pragma acc loop gang\nfor (int i = k; i < n; i++) sum += 0; }\n"
                 f"return sum != {sum(times or 0 for times in heads.values()) + 98 + 300}; }}\n")
        self.write("trips.c", text)
        self.run_program(COMPILER, "trips.c", "-o", "trips")
        said = re.findall(r" lanes(?: for (\d+) iterations)?$", self.run_program("./trips", ACC_NOTIFY="1"), re.M)
        self.assertEqual([int(times) if times else None for times in said], [*heads.values(), 300, None])

    def test_host_threads_have_devices_of_their_own(self):
        self.write("hybrid.c", HYBRID)
        self.run_program(COMPILER, "-fopenmp", "hybrid.c", "-o", "hybrid")
        self.run_program("./hybrid", ACC_DEVICE_REPEAT="2")

    def test_runs_on_the_host(self):
        for name, text in HALVES.items():
            self.write(name, text)
        self.run_program(COMPILER, "-DFACTOR=3", "one.c", "two.c", "-o", "program")
        self.run_program("./program", ACC_DEVICE_TYPE="host")
        self.write("where.c", "#include <openacc.h>\nint main(void) { int a[9], there = 1;\n#pragma acc parallel loop copyout(a)\nfor (int i = 0; i < 9; i++) a[i] = i;\n"
                              "#pragma acc parallel copy(there)\nthere = acc_on_device(acc_device_not_host);\nreturn a[8] != 8 || there + acc_get_num_devices(acc_device_not_host); }\n")
        self.run_program(COMPILER, "where.c", "-o", "where")
        self.run_program("./where", fails=True)
        self.run_program("./where", OCL_ICD_VENDORS="/absent/")  # a machine without OpenCL
        self.run_program("./program", OCL_ICD_VENDORS=self.folder.name + "/")

    def test_stands_in_for_the_compiler_of_a_tree(self):
        for name, text in HALVES.items():
            self.write(name, text)
        self.write("Makefile", "CFLAGS = -O2 -DFACTOR=3\nprogram: one.o libtwo.a\n\t$(CC) $(CFLAGS) one.o -L. -ltwo -o $@\nlibtwo.a: two.o\n\t$(AR) rcs $@ $^\none.o two.o: shared.h\n")
        self.run_program("make", "CC=" + COMPILER)
        self.assertIn("acc_two_c_3", self.run_program("./program", ACC_NOTIFY="1"))
        # Scripts that find out what a compiler is like.
        self.assertIn("cc1", self.run_program(COMPILER, "-v", "one.c", "two.c", "-DFACTOR=3", "-o", "verbose"))
        self.assertIn("acc_two_c_3", self.run_program("./verbose", ACC_NOTIFY="1"))
        self.assertIn("version", self.run_program(COMPILER, "-v"))
        source = subprocess.run([COMPILER, "-x", "c", "-", "-o", self.path("piped")], input="int main(void) { return 0; }", text=True, check=False)
        self.assertEqual(source.returncode, 0)
        self.run_program("./piped")

    def test_prints_once_in_a_gang(self):
        self.write("print.c", "#include <stdio.h>\nstatic void say(int row) { printf(\"then %d\\n\", row); }\nint main(void) { int a[3][40];\n"
                              "#pragma acc parallel loop gang num_gangs(1) copyout(a)\nfor (int i = 0; i < 3; i++) { printf(\"row %d\\n\", i); say(i);\n"
                              "#pragma acc loop worker vector\nfor (int j = 0; j < 40; j++) a[i][j] = j; }\nreturn 0; }\n")
        self.run_program(COMPILER, "print.c", "-o", "print")
        for as_gpu in "01":
            lines = self.run_program("./print", ACC_LAUNCH_AS_GPU=as_gpu).split("\n")
            self.assertEqual(sum(each.startswith(("row", "then")) for each in lines), 6)

    def test_is_a_command_of_causeway_too(self):
        for name, text in HALVES.items():
            self.write(name, text)
        self.run_program(str(pathlib.Path(COMPILER).with_name("causeway")), "cc", "-O2", "-DFACTOR=3", "one.c", "two.c", "-o", "program")
        self.assertIn("acc_two_c_3", self.run_program("./program", ACC_NOTIFY="1"))

    def test_the_timeline_has_regions_by_file_and_line_for_each_device(self):
        self.run_program(COMPILER, "-w", str(pathlib.Path(__file__).with_name("matmul.c")), "-o", "matmul")
        self.run_program(str(pathlib.Path(COMPILER).with_name("causeway")), "trace", "-o", "matmul.json", "--", "./matmul", ACC_DEVICE_REPEAT="2")
        events = json.loads(pathlib.Path(self.path("matmul.json")).read_text(encoding="utf-8"))["traceEvents"]
        devices = int(re.findall(r"on (\d+) devices", self.run_program("./matmul", ACC_DEVICE_REPEAT="2"))[0])
        tracks = {each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"}
        regions = [tracks[each["tid"]] for each in events if each["name"] == "acc_matmul_c_29" and each["ph"] == "X"]
        self.assertEqual(len(set(regions)), devices, events)
        self.assertEqual(len(regions), devices, events)

    def test_takes_programs_that_name_all_their_data(self):
        for construct, loop in (("parallel loop firstprivate(by)", ""), ("parallel loop", ""), ("kernels copyin(by)", "\n#pragma acc loop ")):
            self.write("all.c", f"int main(void) {{ int a[9], s = 0, by = 2;\n#pragma acc {construct} default(none) copyout(a) {loop}reduction(+:s)\n"
                                "for (int i = 0; i < 9; i++) { int t = by * i; a[i] = t; s += t; }\nreturn s != 72 || a[8] != 16; }\n")
            self.run_program(COMPILER, "all.c", "-o", "all")
            self.run_program("./all")

    def test_variables_choose_the_device_to_begin_with(self):
        self.write("chosen.c", """#include <openacc.h>
#include <stdio.h>
int main(void) {
    int there = 0;
    #pragma acc parallel copyout(there)
    there = acc_on_device(acc_device_not_host);
    printf("%d %d\\n", there, acc_get_device_num(acc_device_not_host));
}
""")
        self.run_program(COMPILER, "chosen.c", "-o", "chosen")
        for type_of, number, said in (("", "", "1 0"), ("", "1", "1 1"), ("not_host", "1", "1 1"), ("opencl", "1", "1 1"), ("CPU", "", "1 0"), ("acc_device_opencl", "", "1 0"),
                                      ("host", "1", "0 0")):
            with self.subTest(type=type_of, number=number):
                self.assertEqual(self.run_program("./chosen", ACC_DEVICE_REPEAT="2", ACC_LAUNCH_AS_GPU="", ACC_DEVICE_TYPE=type_of, ACC_DEVICE_NUM=number), said + "\n")
        for type_of, number, said in (("radeon", "", "ACC_DEVICE_TYPE is 'radeon', and there is no device of this type"), ("gpus", "", "ACC_DEVICE_TYPE is 'gpus', which is none of 'host', "),
                                      ("cpu", "99", "ACC_DEVICE_NUM is '99', and devices of the type 'cpu' count from 0 to "), ("", "-1", "ACC_DEVICE_NUM is '-1', which is no number"),
                                      ("", "one", "ACC_DEVICE_NUM is 'one', which is no number from 0 on")):
            with self.subTest(type=type_of, number=number):
                self.assertIn("causeway: chosen.c:5: parallel: " + said, self.run_program("./chosen", fails=True, ACC_DEVICE_REPEAT="2", ACC_LAUNCH_AS_GPU="", ACC_DEVICE_TYPE=type_of, ACC_DEVICE_NUM=number))

    def test_failures_name_file_line_directive_and_variable(self):
        self.write("absent.c", "int main(void) {\n    static int a[4];\n    #pragma acc parallel present(a)\n    a[0] = 1;\n}\n")
        self.run_program(COMPILER, "absent.c", "-o", "absent")
        self.assertIn("absent.c:3: parallel: 'a' is not present on device 0", self.run_program("./absent", fails=True))
        self.write("number.c", "int main(void) {\n    #pragma acc parallel deviceid(99)\n    {}\n}\n")
        self.run_program(COMPILER, "number.c", "-o", "number")
        self.assertIn("number.c:2: parallel: there is no device 99", self.run_program("./number", fails=True))
        self.write("long.c", "int main(void) { unsigned n = 3000000000u, sum = 0;\n#pragma acc parallel loop reduction(+:sum)\nfor (unsigned i = 0; i < n; i++) sum++; }\n")
        self.run_program(COMPILER, "long.c", "-o", "long")
        self.assertIn("long.c:2: parallel loop: a loop has more than 2147483647 iterations", self.run_program("./long", fails=True))


if __name__ == "__main__":
    unittest.main(verbosity=1)
