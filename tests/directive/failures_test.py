#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a program with directives says before it ends because it cannot go on. Usage: failures_test.py COMPILER"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPILER = sys.argv.pop(1)

HEAD = """#include <CL/cl.h>
#include <openacc.h>
#include <stdlib.h>
#include <sys/resource.h>
static int a[64], b[64];
static char other[64];
static void use(int *p, int n) {}
static cl_mem small(void) { return clCreateBuffer(acc_get_current_opencl_context(), CL_MEM_READ_WRITE, 16, NULL, NULL); }
static cl_mem of_another_context(void) {
    cl_device_id one = acc_get_current_opencl_device();
    return clCreateBuffer(clCreateContext(NULL, 1, &one, NULL, NULL, NULL), CL_MEM_READ_WRITE, 16, NULL, NULL);
}
"""

# Statements, of whose directives the last fails, and what is said of it.
DIRECTIVES = [
    ("#pragma acc data present(a)\n{}", "data: 'a' is not present on device 0"),
    ("#pragma acc parallel present(a[0:8])\na[0] = 1;", "parallel: 'a' is not present on device 0"),
    ("#pragma acc update self(a)", "update: 'a' is not present on device 0"),
    ("#pragma acc host_data use_device(a)\nuse(a, 1);", "host_data: 'a' is not present on device 0"),
    ("int *p = a;\n#pragma acc parallel deviceptr(p)\np[0] = 1;", "parallel: 'p' is not present on device 0"),
    ("int *p = a;\n#pragma acc enter data copyin(p)", "enter data: 'p' is a pointer without a section, and nothing is mapped there"),
    ("#pragma acc enter data copyin(a[0:4])\n#pragma acc parallel present(a[2:8])\na[2] = 1;", r"parallel: the range \[0x\w+, 0x\w+\) is only partly mapped, by \[0x\w+, 0x\w+\)"),
    ("#pragma acc enter data copyin(a[4:4])\n#pragma acc enter data copyin(a[0:6])", r"enter data: a part of the range \[0x\w+, 0x\w+\) is mapped already"),
    ("int *p = a + 2;\n#pragma acc enter data copyin(a[0:4])\n#pragma acc parallel loop\nfor (int i = 0; i < 8; i++) p[i] = 1;",
     r"parallel loop: of the range \[0x\w+, 0x\w+\) of 'p', which is in no clause, only a part is mapped, by \[0x\w+, 0x\w+\): a data clause must say which elements are meant, as p\[0:n\]"),
    ("int *p = a + 4;\n#pragma acc enter data copyin(a[8:4])\n#pragma acc parallel loop\nfor (int i = 0; i < 16; i++) p[i] = 1;",
     r"parallel loop: of the range \[0x\w+, 0x\w+\) of 'p', which is in no clause, only a part is mapped, by \[0x\w+, 0x\w+\)"),
    ("int *p = a;\n#pragma acc parallel loop\nfor (int i = 0; i < 8; i++) p[b[i]] = 1;",
     r"parallel loop: 'p' is not present on device 0, and which of its elements the region uses is not seen before it runs: a data clause must name them, as copy\(p\[0:n\]\)"),
    ("int *p = a;\n#pragma acc parallel loop\nfor (int i = 0; i < 8; i++) { int *q[1] = {p + 8}; q[0][i] = p[0]; }",
     "parallel loop: 'p' is not present on device 0, and which of its elements the region uses is not seen before it runs"),
    ("int (*p)[8] = (int(*)[8])a;\n#pragma acc parallel loop\nfor (int i = 0; i < 8; i++) { int *q = p[0]; q[i + 8] = 1; }",
     "parallel loop: 'p' is not present on device 0, and which of its elements the region uses is not seen before it runs"),
    ("int *p = a, m = 1;\n#pragma acc enter data copyin(m)\n#pragma acc serial present(m)\nm = 40;\n#pragma acc parallel loop present(m)\nfor (int i = 0; i < m; i++) p[i] = 1;",
     "parallel loop: 'p' is not present on device 0, and which of its elements the region uses is not seen before it runs"),
    ("int *r[2] = {a, b}, **p = r;\n#pragma acc parallel\np[0][0] = 1;",
     r"parallel: 'p' is not present on device 0: a data clause must name its rows, as p\[0:n\]\[0:m\]"),
    ("int *r[2] = {a, b}, **p = r;\n#pragma acc enter data copyin(p[0:2])\n#pragma acc parallel present(p)\np[0][0] = 1;",
     "parallel: 'p' is present on device 0 without what its pointers point to$"),
    ("int *r[2] = {a, b}, **p = r;\n#pragma acc enter data copyin(p[0:2])\n#pragma acc parallel present(p[0:2][0:4])\np[0][0] = 1;",
     "parallel: 'p' is present on device 0 without what its pointers point to now"),
    ("int *r[2] = {a, b}, **p = r;\n#pragma acc enter data copyin(b)\n#pragma acc enter data copyin(p[0:2][0:4])",
     "enter data: what a pointer in 'p' points to is mapped already, apart from other rows"),
    ("#pragma acc enter data copyin(a[0:4]) deviceid(0)\n#pragma acc enter data copyin(a[0:8]) deviceid(1)\n"
     "#pragma acc update peer to(a[0:8]) to_device(0) from(a[0:8]) from_device(1)", "update peer: 'a' is only partly present on device 0"),
    ("#pragma acc enter data copyin(a)\n#pragma acc update peer to(a[0:8]) to_device(0) from(a[0:4]) from_device(0)", "update peer: 'a' has 32 bytes in 'to' and 16 in 'from'"),
    ("static int c[8][8];\n#pragma acc enter data copyin(a, c)\n#pragma acc update peer to(c[0:2][0:4]) to_device(0) from(a[0:12]) from_device(0)",
     "update peer: 'c' has rows of other lengths in 'to' than in 'from'"),
    ("#pragma acc update peer to(a[0:8]) to_device(0) from(a[0:8]) from_device(9)", "update peer: there is no device 9: devices count from 0 to "),
    ("acc_map_buffer(a, of_another_context(), 0, 16);\n#pragma acc update device(a[0:4])", r"update: clEnqueue\w+Buffer failed with OpenCL's code -\d+"),
    ("acc_map_buffer(a, of_another_context(), 0, 16);\n#pragma acc enter data copyin(b)\n#pragma acc update peer to(a[0:4]) to_device(0) from(b[0:4]) from_device(0)",
     "update peer: copying 'a' between devices was refused: "),
]

ROUTINES = [
    ("acc_set_device_type(acc_device_radeon);", "acc_set_device_type: there is no device of this type"),
    ("acc_set_device_num(9, acc_device_not_host);", r"acc_set_device_num: there is no device 9 of this type; there are \d+, from 0 on"),
    ("acc_malloc((size_t)1 << 60);", r"acc_malloc: device 0 \(.*\) has no 1152921504606846976 bytes: OpenCL's code -\d+"),
    ("acc_free(a);", r"acc_free: this is no address that acc_malloc\(\) gave"),
    ("acc_update_self(a, sizeof a);", "acc_update_self: the memory is not present on device 0"),
    ("acc_copyin(a, 16);\nacc_update_device(a, 32);", r"acc_update_device: the range \[0x\w+, 0x\w+\) is only partly mapped, by "),
    ("acc_memcpy_to_device(a, other, 4);", "acc_memcpy_to_device: this is no address of device 0"),
    ("acc_memcpy_from_device(other, acc_malloc(16), 17);", "acc_memcpy_from_device: the range goes beyond its device memory"),
    ("acc_memcpy_from_device(other, (char *)acc_malloc(16) + 8, -1);", "acc_memcpy_from_device: the range goes beyond its device memory"),
    ("acc_copyin(a, 16);\nacc_map_data(a, acc_malloc(16), 16);", "acc_map_data: the memory is mapped already"),
    ("acc_copyin(a, 16);\nacc_map_buffer(a, small(), 0, 16);", "acc_map_buffer: the memory is mapped already"),
    ("acc_map_buffer(a, small(), 4, 16);", "acc_map_buffer: the range goes beyond the buffer, which has 16 bytes"),
    ("acc_map_buffer(a, NULL, 0, 16);", "acc_map_buffer: clGetMemObjectInfo failed with OpenCL's code -38"),
    ("acc_copyin(a, 16);\nacc_unmap_data(a);", r"acc_unmap_data: the memory was not mapped by acc_map_data\(\)"),
    ("acc_copyin(a, 16);\nacc_update_peer(a, 0, a, 1, 16);", "acc_update_peer: 'the range' is not present on device 1"),
    ("#pragma acc enter data copyin(a)\nsetrlimit(RLIMIT_AS, &(struct rlimit){0, 0});\nacc_deviceptr(a);", "acc_deviceptr: no addresses are left for 256 bytes of device memory"),
]


class failures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        text = HEAD
        cls.lines = []
        for number, (statements, _) in enumerate(DIRECTIVES + ROUTINES):
            text += f"static void f{number}(void) {{\n"
            directives = [at for at, line in enumerate(statements.splitlines(), 1) if line.startswith("#")]
            cls.lines.append(text.count("\n") + max(directives, default=0))
            text += statements + "\n}\n"
        calls = ", ".join(f"f{number}" for number in range(len(DIRECTIVES + ROUTINES)))
        text += f"int main(int count, char **words) {{ void (*all[])(void) = {{{calls}}}; all[atoi(words[1])](); return 0; }}\n"
        cls.compile("fails", text)

    @classmethod
    def path(cls, name):
        return pathlib.Path(cls.folder.name) / name

    @classmethod
    def compile(cls, name, text):
        cls.path(name + ".c").write_text(text, encoding="utf-8")
        subprocess.run([COMPILER, "-w", "-DCL_TARGET_OPENCL_VERSION=120", name + ".c", "-o", name, "-lOpenCL"], cwd=cls.folder.name, check=True, timeout=120)

    @classmethod
    def translate_and_change(cls, name, change):
        cls.path(name + ".c").write_text("int a[4];\nint main(void) {\n#pragma acc parallel loop copy(a)\nfor (int i = 0; i < 4; i++) a[i] = i;\nreturn 0; }\n", encoding="utf-8")
        subprocess.run([COMPILER, "--translate", "out", name + ".c"], cwd=cls.folder.name, check=True, timeout=120)
        translated = cls.path(f"out/{name}.c")
        text = translated.read_text(encoding="utf-8")
        changed = change(text)
        assert changed != text
        translated.write_text(changed, encoding="utf-8")
        library = str(pathlib.Path(COMPILER).parent.parent / "lib")
        subprocess.run(["gcc", "-w", f"out/{name}.c", "-L" + library, "-Wl,-rpath," + library, "-lcauseway_acc", "-o", name], cwd=cls.folder.name, check=True, timeout=120)

    def said(self, *words, **environment):
        done = subprocess.run(words, cwd=self.folder.name, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **environment})
        self.assertEqual(done.returncode, 1, f"{words}: {done.stdout}{done.stderr}")
        return done.stderr

    def test_a_directive_names_file_and_line(self):
        for number, (statements, sentence) in enumerate(DIRECTIVES):
            with self.subTest(statements):
                self.assertRegex(self.said("./fails", str(number)), rf"(?m)^causeway: fails\.c:{self.lines[number]}: {sentence}")

    def test_a_routine_names_itself(self):
        for number, (statements, sentence) in enumerate(ROUTINES, len(DIRECTIVES)):
            with self.subTest(statements):
                self.assertRegex(self.said("./fails", str(number)), rf"(?m)^causeway: {sentence}")

    def test_a_machine_without_devices_has_no_number_of_one(self):
        self.compile("none", "int main(void) {\n#pragma acc parallel deviceid(0)\n{}\nreturn 0; }\n")
        self.assertIn("causeway: none.c:2: parallel: there is no device 0: OpenCL has none here", self.said("./none", OCL_ICD_VENDORS="/absent/"))

    def test_a_driver_that_refuses_kernels_is_quoted(self):
        self.translate_and_change("bad", lambda text: text.replace("__kernel", "__colonel"))
        said = self.said("./bad")
        self.assertRegex(said, r"(?m)^causeway: bad\.c:3: parallel loop: device 0 \(.*\) could not compile the kernels of this source:$")
        self.assertIn("__colonel", said)

    def test_code_of_another_compiler_is_refused(self):
        """The library checks the layout before it looks at anything else."""
        def older(text):  # than layouts
            text = text.replace("    int layout;\n", "").replace(", CAUSEWAY_ACC_LAYOUT, ", ", ")
            return text.replace("    const struct causeway_acc_location* location;\n    long device;", "    const struct causeway_acc_location* location;\n    double other[9];\n    long device;")
        for name, change, sentence in (("older", older, r"older than libcauseway_acc \S+ \(layout 0 of generated code, where the library has [1-9]\d*\): compile"),
                                       ("newer", lambda text: text.replace("CAUSEWAY_ACC_LAYOUT = ", "CAUSEWAY_ACC_LAYOUT = 9"), r"newer than libcauseway_acc \S+ \(layout 9\d+ of ")):
            with self.subTest(name):
                self.translate_and_change(name, change)
                self.assertRegex(self.said("./" + name), rf"(?m)^causeway: {name}\.c:3: parallel loop: compiled by a causeway-cc that is {sentence}")

    def test_a_routine_that_kernels_of_other_sources_cannot_have_is_named(self):
        self.path("calls.c").write_text("#pragma acc routine seq\nint other(int);\nint main(void) { int a[4];\n#pragma acc parallel loop copyout(a)\n"
                                        "for (int i = 0; i < 4; i++) a[i] = other(i);\nreturn 0; }\n", encoding="utf-8")
        for source, sentence in (("int other(int x) { return x; }\n", "no source of the program offers the routine 'other' to such a call: "),
                                 ("#pragma acc routine seq\nint other(int x) {\nstatic int n;\nreturn n += x; }\n",
                                  r"a kernel calls the routine 'other': other\.c:3: not supported: the static variable 'n'")):
            with self.subTest(source):
                self.path("other.c").write_text(source, encoding="utf-8")
                subprocess.run([COMPILER, "-w", "calls.c", "other.c", "-o", "calls"], cwd=self.folder.name, check=True, timeout=120)
                self.assertRegex(self.said("./calls"), rf"(?m)^causeway: calls\.c:4: parallel loop: {sentence}")


if __name__ == "__main__":
    unittest.main(verbosity=1)
