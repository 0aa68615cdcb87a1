#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `causeway info`, and of what is said about the mistakes of the first day.

Usage: info_test.py --program CAUSEWAY --run-with RUN_WITH.SH [--mpiexec PATH] [--sanitizer KIND] [--preload LIBRARY]
                    [--runtime NAME] TEST
"""
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile

from perf_test import check, is_mpich, run_one_of


def facts(start, given):
    """Devices, MPI, memory, file systems and options, of one rank and of two."""
    for ranks in (1, 2):
        run = start("info", "--json", ranks=ranks)
        check(run.returncode == 0, "info fails", run)
        told = json.loads(run.stdout)
        check([each["rank"] for each in told["ranks"]] == list(range(ranks)), f"not {ranks} ranks", run)
        check(told["mpi"]["thread_level"] == "MPI_THREAD_MULTIPLE" and told["mpi"]["launcher"], "no MPI", run)
        for rank in told["ranks"]:
            devices = [device for platform in rank["platforms"] for device in platform["devices"]]
            check(devices and all(device["name"] and device["driver"] and device["memory_bytes"] > 0 for device in devices),
                  f"devices {devices}", run)
            check(rank["locked_memory_bytes"] == "unlimited" or rank["locked_memory_bytes"] >= 0, "no limit", run)
            check(all(each["file_system"] and each["free_bytes"] >= 0 for each in rank["directories"]), "no file system", run)
            check(next(each for each in rank["options"] if each["name"] == "tuner")["from"] == "environment", "no options", run)
        run = start("info", ranks=ranks)
        for text in (devices[0]["name"], told["mpi"]["library"], "page-locked memory", "CAUSEWAY_TUNER"):
            check(text in run.stdout, f"the text has no {text}", run)
        for text in ("launcher", "page-locked memory", "CAUSEWAY_TUNER", "direct access"):
            check(run.stdout.count(text) == (1 if text != "direct access" else 2), f"{text} is not said once", run)
        check("rank 0" not in run.stdout, "equal ranks are told apart", run)


def different(start, given):
    """Ranks that have different options and directories are told apart, and only in these."""
    with tempfile.TemporaryDirectory() as folder:
        words = shlex.join([given.program, "info", "--directory", "/proc"])
        script = f'[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 0 ] || {{ export CAUSEWAY_BLOCK=8K; set -- --directory {folder} "$@"; }}'
        given.program = shutil.which("sh")
        ranks = lambda *more: start("-c", f'{script}; exec {words} "$@"', "sh", *more, ranks=2)
        run = ranks()
        check(run.returncode == 0 and run.stdout.count("page-locked memory") == 1, "what is the same stands twice", run)
        here = os.uname().nodename
        for number, told, more in ((0, "options that are set:", ""), (1, "options that are set:", r"  block +8192 .*\n"),
                                   (0, "/proc: proc,", ""), (1, "/proc: proc,", rf"{folder}: ")):
            check(re.search(rf"^rank {number} on {here}:\n{told}.*\n{more}", run.stdout, re.M), f"rank {number}: {told}", run)
        told = json.loads(ranks("--json").stdout)["ranks"]
        check([len(rank["directories"]) for rank in told] == [1, 2], f"directories {told}")
        run = ranks("--options")
        check(run.stdout.count("CAUSEWAY_BLOCK=8192  (from the environment") == 1 and run.stdout.count("CAUSEWAY_BLOCK=0") == 1,
              "the options of two ranks", run)
        values = [next(each["value"] for each in rank["options"] if each["name"] == "block")
                  for rank in json.loads(ranks("--options", "--json").stdout)]
        check(values == ["0", "8192"], f"values {values}")


def options(start, given):
    """Every option of the page, its value and where that came from."""
    page = pathlib.Path(given.run_with).parent.parent / "docs" / "options.md"
    names = [line.split("`")[1] for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    told = json.loads(start("info", "--options", "--json", runtime="none", environment={"CAUSEWAY_BLOCK": "8K"}).stdout)
    check([each["name"] for each in told] == names, f"options {[each['name'] for each in told]}")
    block, depth = (next(each for each in told if each["name"] == name) for name in ("block", "depth"))
    check(block["value"] == "8192" and block["from"] == "environment" and block["default"] == "0", f"block: {block}")
    check(depth["from"] == "default" and depth["value"] == depth["default"], f"depth: {depth}")
    run = start("info", "--options", runtime="none", environment={"CAUSEWAY_DEPHT": "3"})
    check("did you mean depth?" in run.stderr, "a misspelt variable is not told of", run)
    check(all(f"CAUSEWAY_{name.upper()}=" in run.stdout for name in names), "the text lacks options", run)


def full_output(start, given):
    """What cannot be written is no success."""
    for words in ["info", "--json"], ["info", "--options"], ["completion", "bash"], ["--help"]:
        with open("/dev/full", "w", encoding="utf-8") as full:
            run = subprocess.run([given.run_with, "none", "--", given.program, *words], text=True, stdout=full,
                                 stderr=subprocess.PIPE, check=False)
        expect(run, 1, "causeway: standard output: ")


def expect(run, status, *texts):
    check(run.returncode == status, f"the status is not {status}", run)
    for text in texts:
        check(text in (run.stdout or "") + run.stderr, f"nothing says: {text}", run)


def set_up(start, given):
    """What is wrong with how OpenCL is looked for, and what to do."""
    expect(start("info", "--check"), 0)
    with tempfile.TemporaryDirectory() as folder:
        vendors = {"OCL_ICD_VENDORS": folder}
        check_alone = lambda environment: start("info", "--check", runtime="system", environment=environment)
        expect(check_alone({"OCL_ICD_VENDORS": folder + "/nowhere"}), 1, "which does not exist", "unset it",
               "no OpenCL device", "pocl-opencl-icd")
        expect(check_alone(vendors), 1, "has no .icd file", "unset it")
        pathlib.Path(folder, "gone.icd").write_text("/nonexistent/libvendor.so\n", encoding="utf-8")
        expect(check_alone(vendors), 1, "gone.icd names a library that cannot be loaded", "/nonexistent/libvendor.so",
               "end it with a slash")
    with tempfile.NamedTemporaryFile() as file:
        without_cache = ["env", "-u", "POCL_CACHE_DIR", f"XDG_CACHE_HOME={file.name}"]
        run = subprocess.run([given.run_with, "pocl", "--", *without_cache, given.program, "info", "--check"],
                             text=True, capture_output=True, check=False)
        expect(run, 1, "the OpenCL platform Portable Computing Language has no device", "POCL_CACHE_DIR")
        check("install an implementation" not in run.stdout + run.stderr, "the wrong advice", run)
    run = start("info", "--check", runtime="pocl", environment={"POCL_DEVICES": "basic"})
    expect(run, 1, "single-threaded device (basic, cpu-minimal) cannot wait for user events",
           "POCL_DEVICES=pthread, or cpu")
    # Beside another device it stops nothing.
    run = start("info", "--check", runtime="pocl", environment={"POCL_DEVICES": "pthread basic"})
    expect(run, 0, "note: PoCL's single-threaded device", "POCL_DEVICES=pthread, or cpu")
    # Names that no driver has, beside one that counts.
    for devices, wrong in (("cuda,pocl", "cuda"), ("nowhere:1,cpu", "nowhere")):
        run = start("info", "--check", runtime="pocl", environment={"CAUSEWAY_DEVICES": devices})
        expect(run, 0, f"CAUSEWAY_DEVICES names {wrong}, and no driver here is called so", "pocl.icd")
    run = start("info", "--check", runtime="pocl", environment={"CAUSEWAY_DEVICES": "pocl:0,gpu"})
    check("CAUSEWAY_DEVICES names" not in run.stdout + run.stderr, "what is right is called wrong", run)
    expect(start("info", "--check", "--directory", "/nonexistent"), 0, "No such file", "name a directory that is there")


def vendors(start, given):
    """Every form that the loader takes for OCL_ICD_VENDORS is right for `causeway info`, too, and wrong ones have reasons."""
    def look(value, *words):
        return start("info", *words, runtime="system", environment={"OCL_ICD_VENDORS": str(value)})

    default = pathlib.Path("/etc/OpenCL/vendors")
    if not (default / "pocl.icd").exists():
        print("info_test: skipped: PoCL is not installed (scripts/setup.sh build)")
        sys.exit(SKIPPED)
    library = (default / "pocl.icd").read_text(encoding="utf-8").splitlines()[0]
    loaded = subprocess.run(["sh", "-c", 'LD_PRELOAD="$1" cat /proc/self/maps', "sh", library], text=True, capture_output=True,
                            check=True)
    path = re.search(r"/\S*libpocl\S*", loaded.stdout)[0]
    for value in "", default, "pocl.icd", default / "pocl.icd", pathlib.Path(path).name, path:
        run = look(value, "--check")
        check("OCL_ICD_VENDORS" not in run.stdout, f"{value} is called wrong", run)
        expect(run, 0)
    if shutil.which("clinfo") and not given.sanitizer:  # whose library has to be the first one
        run = start("run", "--cluster", "clinfo", "-l", runtime="system", environment={"OCL_ICD_VENDORS": "pocl.icd"})
        check(run.stdout.startswith("Platform #0: Causeway\n") and "Device #0: " in run.stdout, "the platform finds no device", run)
    with tempfile.TemporaryDirectory() as folder:
        odd = pathlib.Path(folder, "odd.icd")
        odd.write_bytes(b"lib\xff.so\n")
        told = json.loads(look(odd, "--check", "--json").stdout)
        check("odd.icd names a library" in str(told["problems"]), f"{told['problems']}")
        odd.write_text("", encoding="utf-8")
        expect(look(odd, "--check"), 1, "its first line is empty")
    expect(look("libnone.so", "--check"), 1, "libnone.so, which cannot be loaded as a library", "unset it")
    # Its exit status says the same whatever it prints.
    run = look("/nonexistent.icd", "--check", "--json")
    expect(run, 1)
    check(any(each["stops"] and "does not exist" in each["what"] for each in json.loads(run.stdout)["problems"]), "no problem", run)
    expect(look("/nonexistent.icd", "--json"), 0)


def direct(start, given):
    """That no file can be made in a directory says nothing about direct access to those that are there."""
    for directory, why in ("/sys", "you may not write here"), ("/proc", "No such file or directory"):
        run = start("info", "--json", "--directory", directory)
        expect(run, 0)
        told = json.loads(run.stdout)
        check(told["ranks"][0]["directories"][0]["direct"] == f"not known: {why}", f"{told['ranks'][0]['directories']}")
        check(not any("page cache" in each["what"] for each in told["problems"]), f"{told['problems']}")


def bound(start, given):
    """A process that is bound to one processor of several is told of it, a free one is not."""
    free = os.sched_getaffinity(0)
    if len(free) < 2:
        sys.exit(77)
    run = start("info", "--check", runtime="pocl")
    check("may use one of the" not in run.stdout, "a free process is warned", run)
    os.sched_setaffinity(0, {min(free)})
    expect(start("info", "--check", runtime="pocl"), 0, "may use one of the", "--bind-to none", "--cpus-per-task")
    told = json.loads(start("info", "--json", runtime="pocl").stdout)["ranks"][0]
    check(told["usable_processors"] == 1 < told["processors"], f"processors {told}")
    os.sched_setaffinity(0, free)


def programs(start, given):
    """What a program is told that makes the same mistakes."""
    folder = pathlib.Path(given.program).parent

    def run(environment, *words, runtime="pocl"):
        return subprocess.run([given.run_with, runtime, "--", *map(str, words)], text=True, capture_output=True, check=False,
                              env={**os.environ, **environment})

    expect(run({"POCL_DEVICES": "basic"}, folder / "example_algorithm2_files"), 1, "use POCL_DEVICES=pthread, or cpu")
    expect(run({"OCL_ICD_VENDORS": "/nonexistent"}, folder / "stream", runtime="system"), 1, "no OpenCL device",
           "causeway info")
    with tempfile.TemporaryDirectory() as scratch:
        for example in "example_algorithm2_files", "tutorial_1_ordinary":
            ended = run({"OCL_ICD_VENDORS": "/nonexistent"}, folder / example, scratch + "/plate", runtime="system")
            check(ended.returncode != 0, "it runs without a device", ended)
            expect(ended, ended.returncode, "no OpenCL device", "causeway info")
    # The launcher is of another MPI: it says that there are two ranks, and MPI knows of one.
    expect(run({"OMPI_COMM_WORLD_SIZE": "2"} if is_mpich(given) else {"PMI_SIZE": "2"},
               folder / "work_in_flight", "exit-drain"), 0, "are of different MPIs", "causeway run")


def launcher(start, given):
    """No launcher: causeway info and causeway run say what to install. One rank needs none."""
    def alone(*words):
        return subprocess.run([given.program, *words], text=True, capture_output=True, check=False,
                              env={**os.environ, "PATH": "/nonexistent", "HWLOC_COMPONENTS": "-opencl",
                                   "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                   "OMPI_MCA_plm_rsh_agent": "/bin/true"})  # it looks for ssh there, too

    expect(alone("run", "-n", "2", "true"), 1, "no launcher of", "openmpi-bin")
    expect(alone("info", "--check"), 0, "note: no MPI launcher of")


def mistakes(start, given):
    """Those that need another machine: what `causeway info` and a program say of them."""
    def info(mistake, *words):
        return start("info", "--check", *words,
                     environment={"LD_PRELOAD": given.preload, "CAUSEWAY_TEST_MISTAKE": mistake})

    def stream(mistake, **settings):
        return subprocess.run([given.run_with, "pocl", "--", pathlib.Path(given.program).parent / "stream", "--size-mib", "16",
                               "--rounds", "1"], text=True, capture_output=True, check=False,
                              env={**os.environ, "LD_PRELOAD": given.preload, "CAUSEWAY_TEST_MISTAKE": mistake, **settings})

    expect(info("none"), 0)
    expect(info("thread level"), 1, "provides MPI_THREAD_SERIALIZED only", "take an MPI that was built with it")

    expect(info("direct access"), 0, "cannot be read past the page cache: Permission denied", "that you may write to")
    expect(stream("direct access", CAUSEWAY_DIRECT_IO="always"), 0, "goes through the page cache",
           "Permission denied", "this user must be allowed to open it")

    single = {"LD_PRELOAD": given.preload, "CAUSEWAY_TEST_MISTAKE": "single-threaded device"}
    example = pathlib.Path(given.program).parent / "example_algorithm2_files"
    refused = subprocess.run([given.run_with, "pocl", "--", example], text=True, capture_output=True, check=False,
                             env={**os.environ, **single})
    for run in info("single-threaded device"), refused:
        expect(run, 1, "single-threaded device (basic, cpu-minimal) cannot wait for user events",
               "POCL_DEVICES=pthread, or cpu")

    # Nobody has files without a name there, as NFS and Lustre have none.
    answers = [json.loads(start("info", "--json", environment=environment).stdout)["ranks"][0]["directories"]
               for environment in ({}, {"LD_PRELOAD": given.preload, "CAUSEWAY_TEST_MISTAKE": "unnamed files"})]
    check([each["direct"] for each in answers[0]] == [each["direct"] for each in answers[1]], f"{answers}")

    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, hard))
    expect(info("locked memory"), 0, "only 64 KiB of memory may be page-locked", "ulimit -l unlimited")
    expect(stream("locked memory", CAUSEWAY_STRATEGY="pinned"), 1, "page-locked staging memory: CL_OUT_OF_RESOURCES", "may lock 64 KiB", "ulimit -l unlimited")
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (soft, hard))

    with tempfile.TemporaryDirectory() as folder:
        other = "libmpi.so.99" if is_mpich(given) else "libmpich.so.12"
        second = shutil.copy(given.preload, pathlib.Path(folder, other))
        expect(start("info", "--check", environment={"LD_PRELOAD": second}), 1, "has two MPI libraries", other, "ldd")
        run = subprocess.run([given.run_with, "pocl", "--", pathlib.Path(given.program).parent / "work_in_flight", "exit-drain"],
                             text=True, capture_output=True, check=False, env={**os.environ, "LD_PRELOAD": second})
        expect(run, 0, "two MPI libraries", other, "ldd")


TESTS = {"facts": facts, "different": different, "options": options, "set_up": set_up, "bound": bound, "vendors": vendors,
         "direct": direct, "full_output": full_output, "programs": programs, "launcher": launcher, "mistakes": mistakes}


if __name__ == "__main__":
    run_one_of(TESTS)
