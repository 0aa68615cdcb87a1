#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `causeway study`, as its users start it."""
import argparse
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent


# Of trials that end when all are done: a slow machine needs some minutes.
budget = ("--budget", "10m")


def run(given, *words, status=0, timeout=840, begin_with=(), stdin=None):
    """Runs `causeway study` with these words on the runtime of the test."""
    command = [given.run_with, given.runtime, "--", *begin_with, given.program, "study", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, stdin=stdin)
    if done.returncode == 77:
        sys.exit(77)
    assert done.returncode == status, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def study_of(given, *program, options=(), status=0, **how):
    """What `causeway study -o` writes of a program."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "study.json"
        done = run(given, "-o", path, *options, "--", *program, status=status, **how)
        return json.loads(path.read_text()), done


def category(process, name):
    return next(each for each in process["categories"] if each["category"] == name)


def calls(process, function):
    return sum(each["count"] for kind in process["categories"] for each in kind["functions"] if each["function"] == function)


def check_sums(process):
    """Nothing is counted twice or lost."""
    parts = sum(part["seconds"] for part in process["parts"])
    assert abs(parts - process["wall"]) < 1e-3 + 0.01 * process["wall"], process["parts"]
    assert all(part["seconds"] >= 0 for part in process["parts"])
    assert len(process["categories"]) == 16
    for kind in process["categories"]:
        assert kind["calls"] == sum(each["count"] for each in kind["functions"])


def test_c(given):
    study, done = study_of(given, given.vectors)
    assert "done" in done.stdout
    (process,) = study["processes"]
    check_sums(process)
    kernels = {kernel["kernel"]: kernel for kernel in process["kernels"]}
    assert set(kernels) == {"square", "add"}
    (square,), (add,) = kernels["square"]["sizes"], kernels["add"]["sizes"]
    assert (square["count"], square["global"], square["local"]) == (3, [65536], None)
    assert (add["count"], add["global"], add["local"]) == (2, [65536], [64])
    assert square["bytes_each"] == add["bytes_each"] == 2 * 4 * 65536
    assert square["timed"] == 3 and square["seconds"] > 0 and 0 < square["shortest"] <= square["longest"]
    assert square["gb_per_s"] > 0 and square["of_machine"] > 0
    copies = {copy["function"]: copy for copy in process["copies"]}
    assert len(copies) == len(process["copies"]), "writes of one size to buffers of other flags are one row"
    assert set(copies) == {"clEnqueueWriteBuffer", "clEnqueueReadBuffer", "clEnqueueMapBuffer", "clEnqueueUnmapMemObject"}
    assert copies["clEnqueueWriteBuffer"]["bytes"] == 2 * 4 * 65536 and copies["clEnqueueWriteBuffer"]["blocking"] == 1
    assert copies["clEnqueueReadBuffer"]["blocking"] == 0
    assert calls(process, "clSetKernelArg") == 5 == category(process, "arguments")["calls"]
    assert calls(process, "clFinish") == 3 and calls(process, "clBuildProgram") == 1
    assert category(process, "enqueued commands")["calls"] == 8 and category(process, "map")["calls"] == 2
    assert process["compilation"] == next(each["seconds"] for each in category(process, "program")["functions"]
                                          if each["function"] == "clBuildProgram")
    assert process["still_running"] == 0
    assert process["observer"]["calls"] == sum(kind["calls"] for kind in process["categories"])
    assert study["machine"]["copy_gb_per_s"] > 0
    for word in ("compiling kernels", "square", "65536 / the driver's choice", "65536 / 64", "clEnqueueMapBuffer", "measuring took"):
        assert word in done.stdout, done.stdout


def test_cpp(given):
    study, _ = study_of(given, given.threads)
    (process,) = study["processes"]  # the child of fork() has none of its own
    check_sums(process)
    (kernel,) = process["kernels"]
    (size,) = kernel["sizes"]
    assert (size["count"], size["timed"], size["global"], size["local"]) == (2, 2, [64, 16], [8, 4])
    launches = next(each for each in category(process, "enqueued commands")["functions"]
                    if each["function"] == "clEnqueueNDRangeKernel")
    assert launches["count"] == 2 and launches["seconds"] > 0 and launches["seconds_in_other_threads"] > 0
    reads = next(each for each in category(process, "enqueued commands")["functions"] if each["function"] == "clEnqueueReadBuffer")
    blocking = next(part["seconds"] for part in process["parts"] if part["part"] == "blocking commands")
    assert reads["count"] == 2 and abs(blocking - reads["seconds"]) < 1e-6, (blocking, reads)
    assert process["devices"][0]["compute_units"] > 0


def test_python(given):
    python = root / ".venv" / "bin" / "python"
    study, _ = study_of(given, python, here / "vectors.py")
    (process,) = study["processes"]
    check_sums(process)
    (kernel,) = process["kernels"]
    assert kernel["kernel"] == "twice" and kernel["count"] == 4
    assert kernel["sizes"][0]["local"] == [16]


def test_processes(given):
    with tempfile.TemporaryDirectory() as folder:
        # Names do not move the terminal's cursor.
        strange = pathlib.Path(folder, "vectors\x1b[2J")
        strange.symlink_to(pathlib.Path(given.vectors).resolve())
        study, done = study_of(given, "sh", "-c", f"'{strange}' && {given.threads}")
    assert "vectors\\x1b[2J" in done.stdout and "\x1b" not in done.stdout, done.stdout
    assert [process["program"] for process in study["processes"]] == [str(strange), given.threads]
    for process in study["processes"]:
        check_sums(process)


def test_status(given):
    study, _ = study_of(given, given.vectors, "3", status=3)
    assert study["status"] == 3 and len(study["processes"]) == 1
    done = run(given, "--", "true", status=1)
    assert "called nothing of OpenCL" in done.stderr
    done = run(given, "--", "/no/such/program", status=127)
    assert "/no/such/program" in done.stderr
    done = run(given, status=2)
    assert "no program" in done.stderr
    done = run(given, "-o", "/no/such/folder/study.json", "--", given.vectors, status=2)
    assert "/no/such/folder/study.json" in done.stderr


def test_json(given):
    done = run(given, "--json", "--", given.vectors)
    first = done.stdout.index("{")
    study = json.loads(done.stdout[first:])
    assert study["processes"][0]["kernels"]


def variants_of(launch, kind):
    return [each for each in launch["variants"] if each["kind"] == kind]


def test_replay(given):
    """Variants of a launch have the launch's results."""
    study, done = study_of(given, given.vectors, options=(*budget, "--launches", "1"))
    (process,) = study["processes"]
    (launch,) = process["launches"]
    assert launch["kernel"] in ("square", "add") and launch["global"] == [65536]
    reference = launch["reference"]
    assert reference["intact"] and reference["repeats"] and reference["changed"] + reference["disturbed"] == 1, reference
    assert 1 <= launch["sizes_tried"] <= max(12, launch["sizes_possible"] // 20) and launch["sizes_wrong"] == 0
    for each in launch["variants"]:
        assert each["outcome"] == "same", each
        assert each["speedup"] > 0 and each["low"] <= each["speedup"] <= each["high"] and each["repetitions"] > 0, each
    (mapped,) = variants_of(launch, "transfer")
    assert mapped["before"] > 0 and mapped["seconds"] > 0
    assert {each["what"].split(",")[0] for each in variants_of(launch, "allocation")} == {
        "buffers of the device", "CL_MEM_ALLOC_HOST_PTR", "CL_MEM_USE_HOST_PTR"}
    assert len(variants_of(launch, "alignment")) == 3 and len(variants_of(launch, "access")) == 2
    compilers = {each["what"].split(" ")[0] for each in variants_of(launch, "knob") if "VECTORIZER" in each["what"] or "METHOD" in each["what"]}
    assert compilers >= {"pocl": {"POCL_WORK_GROUP_METHOD=loops", "POCL_WORK_GROUP_METHOD=cbs"},
                         "intel": {f"CL_CONFIG_CPU_VECTORIZER_MODE={width}" for width in (1, 8, 16)}}.get(given.runtime, set()), compilers
    assert variants_of(launch, "bound") or given.runtime not in ("pocl", "intel") or launch["stopped_early"]
    if (pathlib.Path(given.program).parent.parent / "lib" / "causeway" / "coarsen").exists():
        assert len(variants_of(launch, "coalesced")) == 14
    assert process["findings"] == sorted(process["findings"], key=lambda each: -each["gain"])
    for finding in process["findings"]:
        assert finding["sentence"] and finding["figure"] and finding["change"] and finding["sure"] in ("sure", "likely", "not sure")
        assert 0 <= finding["gain"] <= process["wall"] and abs(finding["share"] - finding["gain"] / process["wall"]) < 1e-6
    assert "in other ways" in done.stdout and done.stdout.count("done") == 1  # it ran twice


def test_input(given):
    """The run that records launches reads the file that the first one read."""
    with tempfile.TemporaryFile("w+") as file:
        file.write("a line before\ngo\n")
        file.flush()
        file.seek(len("a line before\n"))
        program = ("sh", "-c", "read -r word && test $word = go && exec \"$@\"", "sh", given.vectors)
        study, _ = study_of(given, *program, options=("--budget", "1s", "--launches", "1"), stdin=file)
    assert len(study["processes"][0]["launches"]) == 1


def test_interrupt(given):
    """^C while launches are tried ends that, and what is known is told."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "study.json"
        command = [given.run_with, given.runtime, "--", given.program, "study", "--budget", "1h", "--launches", "1", "-o", path, "--",
                   given.vectors]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as study:
            children = pathlib.Path(f"/proc/{study.pid}/task/{study.pid}/children")
            while study.poll() is None and not any("replay-launch" in name_of(child) for child in children.read_text().split()):
                time.sleep(0.01)
            study.send_signal(signal.SIGINT)
            assert study.wait(timeout=600) == 0
        (launch,) = json.loads(path.read_text())["processes"][0]["launches"]
    assert launch["stopped_early"] and len(launch["variants"]) < 20, launch


def name_of(process):
    try:
        return pathlib.Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""  # it has ended


def test_vendors(given):
    """Launches are done again where CAUSEWAY_VENDORS alone names the drivers."""
    elsewhere = ("sh", "-c", "CAUSEWAY_VENDORS=$OCL_ICD_VENDORS OCL_ICD_VENDORS=/no/such/folder/ exec \"$@\"", "sh")
    study, _ = study_of(given, given.vectors, options=("--budget", "1s", "--launches", "1"), begin_with=elsewhere)
    (launch,) = study["processes"][0]["launches"]
    assert "error" not in launch and launch["reference"]["intact"], launch


def test_names(given):
    """Drivers that OCL_ICD_FILENAMES names are Causeway's to find: Khronos' loader would show them to the program."""
    named = ("sh", "-c", "OCL_ICD_FILENAMES=$(cat $OCL_ICD_VENDORS/*.icd) OCL_ICD_VENDORS=/no/such/folder/ exec \"$@\"", "sh")
    study, _ = study_of(given, "sh", "-c", "test -z \"$OCL_ICD_FILENAMES\" && exec \"$@\"", "sh", given.vectors, begin_with=named)
    assert calls(study["processes"][0], "clEnqueueNDRangeKernel") > 0, study["processes"]


def test_driver(given):
    """A launch is done again by the driver that did it, also where the loader shows others: Debian's ignores OCL_ICD_FILENAMES."""
    named = ("sh", "-c", "OCL_ICD_FILENAMES=$(cat $OCL_ICD_VENDORS/intel.icd) OCL_ICD_VENDORS=$OCL_ICD_VENDORS/pocl.icd CAUSEWAY_DEVICES=libintel exec \"$@\"", "sh")
    study, done = study_of(given, given.vectors, options=("--budget", "1s", "--launches", "1"), begin_with=named)
    (process,) = study["processes"]
    assert ["libintel" in each["driver"] for each in process["devices"]] == [True], process["devices"]
    (launch,) = process["launches"]
    assert launch["reference"]["intact"], (launch, done.stderr)


def test_shares(given):
    """Figures 3 to 7 are there for each device, also where the platform would be told to leave one out."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "paper.json"
        done = run(given, "--paper", "--figures", "3-7", "--seconds", "0.001", "-o", path, begin_with=("env", "CAUSEWAY_DEVICES=pocl"))
        told = json.loads(path.read_text())
    devices = {row["device"] for row in told["rows"]}
    assert len(devices) == 2 and not told["findings"], (devices, told["findings"])
    for device in devices:
        figures = {row["figure"] for row in told["rows"] if row["device"] == device}
        assert figures == {"3", "4", "5", "6", "7", "3-7", "3-7 kept"}, (device, figures, done.stderr)
    for words in (("--paper", "--figures", "3-"), ("--paper", "--figures", "2"), ("--figures", "3", "--", given.vectors)):
        run(given, *words, status=2)


def test_binary(given):
    """A program that came as a binary is done again from what the driver has of it."""
    python = root / ".venv" / "bin" / "python"
    study, done = study_of(given, python, here / "binary.py", options=budget)
    (launch,) = study["processes"][0]["launches"]
    assert launch["kernel"] == "thrice" and "error" not in launch, launch
    assert launch["reference"]["repeats"] and launch["sizes_tried"] > 1 and launch["sizes_wrong"] == 0, launch
    assert variants_of(launch, "size") and all(each["outcome"] == "same" for each in variants_of(launch, "size")), launch["variants"]
    assert [each["outcome"] for each in variants_of(launch, "coalesced")] in (["refused"], []), launch["variants"]
    assert "cannot be recorded" not in done.stderr, done.stderr


def odd(given, *kernels, options=budget):
    python = root / ".venv" / "bin" / "python"
    study, _ = study_of(given, python, here / "odd_kernels.py", *kernels, options=options)
    (process,) = study["processes"]
    return {launch["kernel"]: launch for launch in process["launches"]}, process["findings"]


def test_overrun(given):
    """What a kernel does beyond its buffer is found, and told."""
    launches, findings = odd(given, "peek")
    assert launches["peek"]["error"]["fault"] == "beyond its end" and launches["peek"]["error"]["object"] == 0
    (finding,) = (each for each in findings if "could not be done again" in each["sentence"])
    assert finding["figure"] == "memory beyond the end of buffer 0 was touched" and "outside of its buffers" in finding["change"], finding


def test_divides(given):
    """PoCL steps over a division by zero, in a replay as in the program."""
    if platform.machine() != "x86_64":
        sys.exit(77)
    launches, _ = odd(given, "divides", options=("--budget", "1s"))
    assert "error" not in launches["divides"], launches


def test_groups(given):
    """Sizes that change results are left out."""
    launches, findings = odd(given, "groups")
    launch = launches["groups"]
    assert launch["sizes_wrong"] > 0
    assert all(each["local"] == [16] for each in launch["sizes"])
    assert not any("work-group size" in finding["sentence"] for finding in findings)
    for each in variants_of(launch, "coalesced"):
        assert each["outcome"] == "refused" and "get_group_id" in each["why"]


def test_image(given):
    launches, _ = odd(given, "image")
    launch = launches["image"]
    assert launch["reference"]["intact"] and launch["reference"]["changed"] == 1
    assert launch["sizes_wrong"] == 0 and len(launch["sizes"]) > 3


def test_parts(given):
    """Parts of one buffer that lie apart are buffers of their own."""
    launches, _ = odd(given, "parts")
    launch = launches["parts"]
    assert launch["reference"]["intact"] and launch["reference"]["changed"] == 1 and launch["sizes_wrong"] == 0, launch


def test_again(given):
    """A launch that writes what is there already, to a part of a buffer, is seen to write."""
    launches, _ = odd(given, "again", options=("--budget", "1s"))
    assert (launches["again"]["reference"]["changed"], launches["again"]["reference"]["disturbed"]) == (0, 1), launches


def test_printing(given):
    """What a kernel prints is not taken for an answer."""
    launches, _ = odd(given, "says")
    launch = launches["says"]
    assert launch["reference"]["intact"] and launch["sizes_wrong"] == 0, launch
    assert all(each["seconds"] < 1 for each in launch["variants"] if "seconds" in each), launch["variants"]


def test_shifts(given):
    """What the driver gives when it is told otherwise is compared as well."""
    launches, findings = odd(given, "shifts")
    outcomes = {each["what"].split(" ")[0]: each["outcome"] for each in variants_of(launches["shifts"], "knob")}
    assert launches["shifts"]["reference"]["repeats"], launches
    assert (outcomes["POCL_AFFINITY=1"], outcomes["POCL_WORK_GROUP_METHOD=loops"]) == ("same", "different"), outcomes
    assert not any("POCL_WORK_GROUP_METHOD=loops" in finding["change"] for finding in findings), findings


def test_seldom(given):
    """A launch whose results differ now and then makes no variant wrong."""
    if platform.machine() != "x86_64":
        sys.exit(77)
    launches, findings = odd(given, "seldom")
    launch = launches["seldom"]
    assert not launch["reference"]["repeats"] and launch["sizes_wrong"] == 0, launch
    assert {each["outcome"] for each in launch["variants"] if "seconds" in each} == {"unknown"}, launch["variants"]
    assert all(finding["sure"] == "not sure" for finding in findings if "results could not be compared" in finding["figure"]), findings


def test_endless(given):
    """A variant that does not end is given up with the budget; it is not called wrong, and what was found before is told."""
    launches, findings = odd(given, "waits", options=("--budget", "10s"))
    launch = launches["waits"]
    assert launch["stopped_early"] and launch["sizes_tried"] > 0, launch
    # No size reaches its own limit, which is at least 20 s.
    assert not any(each["kind"] == "size" and each["outcome"] == "failed" for each in launch["variants"]), launch["variants"]
    assert not any("work-group size" in finding["sentence"] for finding in findings), findings


def test_page(given):
    """The page has all figures, and no text of a program can end its element."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "study.html"
        run(given, "--page", page, "--", given.vectors)
        text = page.read_text()
    begin = text.index('id="study">') + len('id="study">')
    study = json.loads(text[begin:text.index("</script>", begin)])
    assert study["processes"][0]["kernels"] and "src=" not in text and "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_timeline(given):
    """Each command that was timed is a slice of the timeline, which the other tools read."""
    with tempfile.TemporaryDirectory() as folder:
        path, page, told = (pathlib.Path(folder) / name for name in ("timeline.json", "timeline.html", "study.json"))
        run(given, "--timeline", path, "-o", told, "--", given.vectors)
        events = json.loads(path.read_text())["traceEvents"]
        (process,) = json.loads(told.read_text())["processes"]
        summary = json.loads(subprocess.run([given.program, "trace", "summary", "--json", path], capture_output=True, check=True).stdout)
        subprocess.run([given.program, "trace", "view", "-o", page, path], check=True, capture_output=True)
        assert "square" in page.read_text()
    slices = [event for event in events if event["ph"] == "X"]
    for kernel in process["kernels"]:
        timed = sum(size["timed"] for size in kernel["sizes"])
        mine = [each for each in slices if each["name"] == kernel["kernel"]]
        assert len(mine) == timed > 0, (kernel, len(mine))
        assert abs(sum(each["dur"] for each in mine) / 1e6 - kernel["seconds"]) < 1e-6 * len(mine) + 1e-3 * kernel["seconds"]
    lanes = {}
    for each in sorted(slices, key=lambda one: one["ts"]):
        assert each["ts"] >= lanes.get(each["tid"], 0) - 0.001, each
        lanes[each["tid"]] = each["ts"] + each["dur"]
    (rank,) = summary["ranks"]
    assert rank["commands"] == len(slices) and rank["ended"], rank


def test_paper(given):
    """Every figure and table has its rows, and every finding a verdict."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "paper.json"
        run(given, "--paper", "--seconds", "0.001", "-o", path, "--page", path.with_suffix(".html"), timeout=1740)
        told = json.loads(path.read_text())
        page = path.with_suffix(".html").read_text()
    figures = {row["figure"] for row in told["rows"]}
    shares = {"3", "4", "5", "6", "7"}
    assert figures >= shares | {"3-7", "3-7 kept", "8", "11", "13", "14", "16", "18", "20", "22", "23", "24", "25 in", "25 out", "26", "27"}, figures
    for figure in ("3", "4", "5"):
        for series in {row["series"] for row in told["rows"] if row["figure"] == figure}:
            values = [row["value"] for row in told["rows"] if (row["figure"], row["series"]) == (figure, series)]
            assert abs(sum(values) - 1) < 0.001 and len(values) == {"3": 2, "4": 16, "5": 7}[figure], (figure, series, values)
    # Each has a counterpart with OpenMP, which gives the same. The program is built only with OpenMP.
    vectors = {row["series"] for row in told["rows"] if row["figure"] in ("28", "algorithm 1")}
    if platform.machine() != "x86_64" or "avx2" in pathlib.Path("/proc/cpuinfo").read_text():
        assert figures >= {"28", "algorithm 1"} | ({"table 7"} if len(os.sched_getaffinity(0)) > 1 else set()), figures
        assert vectors >= {each["application"] for each in told["tables"] if each["table"] in ("3", "4")} | {"ILP", "Chain"}, vectors
    memory = {(row["figure"], row["x"]): row["value"] for row in told["rows"] if row["series"] == "Square 10000"}
    ways = {row["x"]: row["seconds"] for row in told["rows"] if (row["figure"], row["series"]) == ("22, 26, 27", "Square 10000")}
    assert abs(memory[("22", "read-write, host")] - ways["read-write, host, copy"] / ways["read-write, host, map"]) < 1e-3, memory
    assert abs(memory[("26", "device, copy")] - ways["read-write, device, copy"] / ways["read-only/write-only, device, copy"]) < 1e-3, memory
    assert abs(memory[("27", "read-write, map")] - ways["read-write, device, map"] / ways["read-write, host, map"]) < 1e-3, memory
    counted = {"9", "9 kernel", "10", "12", "12 kernel", "15", "15 kernel", "15 share", "17", "17 kernel", "19", "19 kernel", "21", "21 kernel"}
    timed = [row for row in told["rows"] if row["figure"] not in counted | shares]
    assert all(row["seconds"] > 0 for row in timed), [row for row in timed if row["seconds"] <= 0]
    if platform.machine() == "x86_64":
        assert figures >= counted, figures
        steps = {(row["figure"], row["series"], row["x"]): row["value"] for row in told["rows"] if row["figure"] in counted}
        whole, kernel = steps[("9", "Square 2000", "1")], steps[("9 kernel", "Square 2000", "1")]
        assert 2000 / 16 <= kernel < whole, (kernel, whole)
        assert abs(steps[("10", "Square 2000", "1")] - kernel / whole) < 1e-4
        # More groups have to be begun. Of a launch's other instructions some are waits, whose number differs.
        assert steps[("15 kernel", "Square 2000", "1000")] < steps[("15 kernel", "Square 2000", "100")]
    entries = {(each["table"], each["application"], each["column"]): each["text"] for each in told["tables"]}
    assert entries[("3", "Reduction 640000", "local")] == "256" and entries[("4", "CP", "global")] == "64x512"
    assert entries[("5", "Square 10000", "100x")] == "100"
    assert [each["text"] for each in told["tables"] if each["application"] == "Matrixmul 256" and each["table"] == "6"][0] == "16x16"
    inside = page.split('<script type="application/json" id="paper">')[1].split("</script>")[0]
    assert json.loads(inside) == told and "src=" not in page
    assert all(f'["{figure}", "' in page for figure in figures), [figure for figure in figures if f'["{figure}", "' not in page]
    assert len(told["findings"]) == 7
    assert all(each["verdict"] in ("holds", "holds in part", "holds no more") and each["figure"] for each in told["findings"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--run-with", required=True)
    parser.add_argument("--runtime", default="pocl")
    parser.add_argument("--vectors", required=True)
    parser.add_argument("--threads", required=True)
    parser.add_argument("test")
    arguments = parser.parse_args()
    globals()[f"test_{arguments.test}"](arguments)
