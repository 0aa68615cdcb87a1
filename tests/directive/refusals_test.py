#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What causeway-cc refuses, notes and warns of. Usage: refusals_test.py COMPILER"""
import re
import unittest

from compiling import COMPILER, compiling

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


class refusals(compiling):
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


if __name__ == "__main__":
    unittest.main(verbosity=1)
