#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What causeway-cc reports, generates and stands in for. Usage: compiler_test.py COMPILER"""
import json
import pathlib
import re
import subprocess
import unittest

from compiling import COMPILER, compiling

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


class compiler(compiling):
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
