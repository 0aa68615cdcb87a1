#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many gangs, workers and lanes regions are launched with. Usage: launches_test.py COMPILER"""
import os
import re
import unittest

from compiling import COMPILER, compiling

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


class launches(compiling):
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


if __name__ == "__main__":
    unittest.main(verbosity=1)
