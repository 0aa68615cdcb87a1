#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `causeway run` and `causeway completion`, as users start them.

Usage: run_test.py --program CAUSEWAY --run-with RUN_WITH.SH [--mpiexec PATH] [--sanitizer KIND] TEST
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile

from perf_test import check, is_mpich, run_one_of


def ranks(start, given):
    """A program on two ranks, its words, its environment and its exit status."""
    script = 'echo "rank $OMPI_COMM_WORLD_RANK$PMI_RANK of $OMPI_COMM_WORLD_SIZE$PMI_SIZE: $1 $CAUSEWAY_BLOCK $HWLOC_COMPONENTS"'
    run = start("run", "-n", "2", "--", "sh", "-c", script, "sh", "--dry-run", runtime="none",
                environment={"CAUSEWAY_BLOCK": "8K"})
    lines = sorted(run.stdout.split("\n"))
    check(run.returncode == 0 and [f"rank {n} of 2: --dry-run 8K -opencl,-gl" for n in (0, 1)] == lines[1:], "two ranks", run)
    for words in (["sh", "-c", "exit 3"], ["--", "sh", "-c", "exit 3"]):
        run = start("run", "-n", "1", *words, runtime="none")
        check(run.returncode == 3, "the exit status is not passed on", run)
    run = start("run", "-n", "2", pathlib.Path(given.program).parent / "example_listing3")
    check(run.returncode == 0, "an example fails", run)


def missing(start, given):
    """A program that cannot be started ends as in a shell, whatever the launcher would say."""
    with tempfile.TemporaryDirectory() as folder:
        def file(name, text, mode=0o755):
            path = pathlib.Path(folder, name)
            path.write_text(text, encoding="utf-8")
            path.chmod(mode)
            return path

        text = file("text", "no program", 0o644)
        for name, status, why in (("./missing", 127, "No such file"), ("no-such-program", 127, "No such file"),
                                  (pathlib.Path(folder, "a\x1b[2Jb"), 127, "a\\x1b[2Jb: No such file"),
                                  ("", 127, "No such file"), (file("script", "#!/nonexistent/sh\n"), 127, "No such file"),
                                  (text, 126, "Permission denied"), (folder, 126, "Permission denied"),
                                  (file("garbage", "\x7fELF"), 126, "Exec format error"), (text / "x", 126, "Not a directory")):
            for more in ([], ["--cluster"]):
                run = start("run", "-n", "2", *more, "--", name, runtime="none")
                check(run.returncode == status and why in run.stderr, f"{name} ends with {run.returncode}", run)


def dry(start, given):
    """--dry-run prints a command that a shell takes, and starts nothing."""
    for words in ["--ranks", "two"], ["-n", "2x"], ["--ranks="]:
        run = start("run", *words, "./app", runtime="none")
        check(run.returncode == 2 and "--ranks" in run.stderr, f"{words} is taken", run)
    run = start("run", "--ranks", "two", "./app", runtime="none")
    check("--ranks takes a number in digits, as in --ranks 2; 'two' is none" in run.stderr, "no word on numbers", run)
    run = start("run", "-n", "3", "--dry-run", "--launcher-option", "--quiet", "/nonexistent/a program", "it's", "--x",
                runtime="none")
    check(run.returncode == 0, "--dry-run fails", run)
    words = [word for word in shlex.split(run.stdout) if "=" not in word]
    check(words[1:3] == ["-n", "3"] and words[-4:] == ["--quiet", "/nonexistent/a program", "it's", "--x"], "the words", run)
    check(os.access(words[0], os.X_OK), f"{words[0]} is no launcher", run)

    def names_carrier(*more, **environment):
        run = start("run", "-n", "2", "--dry-run", *more, "true", runtime="none", environment=environment)
        return "OMPI_MCA_pml=ob1" in run.stdout

    # On one machine without such a network alone; what others have chosen stays.
    networks = ("/sys/class/infiniband", "/sys/class/cxi", "/dev/hfi1_0", "/dev/ipath")
    jobs = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "OMPI_MCA_orte_default_hostfile", "OMPI_MCA_pml")
    if not is_mpich(given) and not any(map(os.path.exists, networks)) and not any(name in os.environ for name in jobs):
        check(names_carrier(), "Open MPI looks for networks that are not there", run)
    check(not names_carrier(PBS_JOBID="1") and not names_carrier(OMPI_MCA_pml="cm")
          and not names_carrier("--launcher-option", "--quiet"), "a carrier is chosen for other machines", run)
    with tempfile.TemporaryDirectory() as home:
        settings = pathlib.Path(home, ".openmpi", "mca-params.conf")
        settings.parent.mkdir()
        settings.write_text("# mine\n pml = ucx\n")
        check(not names_carrier(HOME=home), "a carrier is chosen over the user's file", run)


def words_of_a_program(start, given):
    """A program's words are its own: the first -- behind its name, and names that this program has for itself."""
    def shown(*words, inside=()):
        run = start(*inside, "run", "--dry-run", *words, runtime="none")
        return [word for word in shlex.split(run.stdout) if "=" not in word], run

    for words, program in ((["-n", "2", "./app", "--", "input"], ["./app", "--", "input"]),
                           (["--", "./app", "--", "input"], ["./app", "--", "input"]),
                           (["-n2", "--launcher-option", "perf", "perf", "record", "./app"], ["perf", "perf", "record", "./app"]),
                           (["--ranks=2", "run", "-n", "2", "x"], ["run", "-n", "2", "x"]),
                           (["--cluster", "--", "info"], ["--cluster", "--", "info"])):
        told, run = shown(*words)
        check(run.returncode == 0 and told[-len(program):] == program, f"run {words}", run)
    for words in (["-np", "3", "true"], ["-np", "3", "--", "true"]):
        told, run = shown(*words)
        check(run.returncode == 0 and told[1:3] == ["-n", "3"], f"run {words}", run)
    with tempfile.TemporaryDirectory() as folder:
        trace = ["trace", "-o", pathlib.Path(folder, "t.json")]
        for inside in ([*trace, given.program], [*trace, "--", given.program]):
            told, run = shown("-n", "2", "--", "./program", inside=inside)
            check(told[-1:] == ["./program"] and "nothing was recorded" in run.stderr, "trace loses the inner launcher", run)
        run = start(*trace, "tune", "--version", runtime="none")
        check(run.returncode == 127 and "cannot start tune" in run.stderr, "trace takes a program for a command", run)
    for words, message in ((["perf", "--", "x"], "unexpected word x"), (["info", "--", "x"], "unexpected word x"),
                           (["info", "--", "run"], "unexpected word run"), (["perf", "run", "x"], "unexpected word run"),
                           (["tune", "--", "--show"], "--show"),
                           (["trace", "view", "t.json", "--", "x"], "x"), (["completion", "--", "bash", "zsh"], "unexpected word zsh")):
        run = start(*words, runtime="none")
        check(run.returncode == 2 and message in run.stderr, f"{words} is not refused", run)
    run = start("completion", "--", "bash", runtime="none")
    check(run.returncode == 0 and "complete " in run.stdout, "-- before an argument", run)


FAKE_SCONTROL = """#!/bin/sh
echo "MpiDefault              = ${FAKE_MPI_DEFAULT:-pmix_v4}"
"""
FAKE_SRUN = """#!/bin/sh
# Tells each task what Slurm tells it, beside what it tells the script that starts them.
if [ "$1" = --mpi=list ]; then
    printf 'MPI plugin types are...\\n\\t%s\\n\\tnone\\n' "${FAKE_MPI_TYPE:-cray_shasta}" >&2
    exit
fi
echo "srun $*" >>"$SRUN_LOG"
count=3 # one for each node of an allocation without -n
[ "$1" != -n ] || { count=$2; shift 2; }
while [ "${1#--}" != "$1" ]; do shift; done
task=0
while [ $task -lt $count ]; do
    SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=$count SLURM_PROCID=$task SLURM_LOCALID=$task "$@" || exit
    task=$((task + 1))
done
"""


def slurm(start, given):
    """A script of sbatch is no rank of its job, though it has a SLURM_PROCID: srun starts as many as the job has tasks."""
    with tempfile.TemporaryDirectory() as folder:
        srun, log = pathlib.Path(folder, "srun"), pathlib.Path(folder, "log")
        scontrol = pathlib.Path(folder, "scontrol")
        for file, text in ((srun, FAKE_SRUN), (scontrol, FAKE_SCONTROL)):
            file.write_text(text, encoding="utf-8")
            file.chmod(0o755)
        script = {"PATH": folder + ":" + os.environ["PATH"], "SRUN_LOG": str(log), "SLURM_JOB_ID": "17", "SLURM_PROCID": "0",
                  "SLURM_LOCALID": "0", "SLURM_TASK_PID": "1"}

        def tasks(*words, **more):
            log.write_text("", encoding="utf-8")
            run = start("run", *words, runtime="none", environment={**script, **more})
            return run, log.read_text(encoding="utf-8")

        show = ("sh", "-c", 'echo "task $SLURM_PROCID of $SLURM_STEP_NUM_TASKS"')
        two = {"SLURM_NTASKS": "2"}
        for words, settings, option, count in (([], two, "-n 2 ", 2), (["-n", "1"], two, "-n 1 ", 1), ([], {}, "", 3),
                                               ([], {**two, "SLURM_STEPID": "4294967291"}, "-n 2 ", 2),
                                               ([], {**two, "SLURM_STEP_ID": "4294967290"}, "-n 2 ", 2)):
            run, asked = tasks(*words, "--", *show, **settings)
            check(run.stdout.splitlines() == [f"task {n} of {count}" for n in range(count)], f"{words} in {settings}", run)
            check(asked.startswith(f"srun {option}--export=ALL --kill-on-bad-exit=1 sh"), f"srun was told {asked}")
        run, asked = tasks("--launcher-option", "--mpi=pmix", "--", given.program, "run", "true", SLURM_NTASKS="2")
        check(run.returncode == 2 and "rank of a job already" in run.stderr, "a task is not taken for a rank", run)
        check(asked.startswith("srun -n 2 --export=ALL --kill-on-bad-exit=1 --mpi=pmix "), f"srun was told {asked}")
        # As nohup starts it.
        run = start("run", "grep", "SigIgn", "/proc/self/status", runtime="none", environment={**script, "SLURM_NTASKS": "1"},
                    prepare=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        check(int(run.stdout.split()[-1], 16) & 1 << signal.SIGHUP - 1, "a hangup is not ignored any more", run)
        # Ranks need an interface to find each other by. Where the site has set none: the one of this MPI, else mpirun.
        for settings, told in (({"FAKE_MPI_TYPE": "pmix"}, "=1 --mpi=pmix sh"), ({"FAKE_MPI_TYPE": "pmi2"}, "=1 --mpi=pmi2 sh"),
                               ({"FAKE_MPI_TYPE": "pmix", "SLURM_MPI_TYPE": "cray_shasta"}, "=1 sh")):
            run, asked = tasks("--", *show, **two, FAKE_MPI_DEFAULT="none", **settings)
            our_type = "pmi2" if is_mpich(given) else "pmix"
            ours = "--mpi" not in told or settings["FAKE_MPI_TYPE"] == our_type
            check(asked.startswith("srun -n 2 ") and told in asked if ours else not asked, f"{settings}: srun was told {asked}", run)
        # The script itself is a process of its own for the other commands, too.
        run = start("info", "--json", environment=script)
        facts = json.loads(run.stdout)
        check("launched_ranks" not in facts["mpi"] and facts["mpi"]["launcher"] == str(srun), "info in a script", run)
        if not given.sanitizer:  # whose library has to be the first one
            timeline = pathlib.Path(folder, "timeline.json")
            run = start("trace", "--output", timeline, "--", pathlib.Path(given.program).parent / "stream", "--size-mib", "16",
                        "--rounds", "1", environment={**script, "SLURM_NTASKS": "2"})
            check(run.returncode == 0 and str(timeline) in run.stderr, "trace in a script", run)
        # Without srun it is mpirun, for all tasks.
        srun.unlink()
        if not shutil.which("srun"):  # a machine of a cluster has one of its own
            run = start("run", "--dry-run", "true", runtime="none", environment={**script, "SLURM_NTASKS": "2"})
            check(shlex.split(run.stdout.partition("mpi")[2])[1:3] == ["-n", "2"], "mpirun in a script", run)


def wrong_rank(start, given):
    """What one rank alone cannot do ends the others, too, and is said."""
    programs = pathlib.Path(given.program).parent
    for program, words in ((given.program, "tune --device 1"), (programs / "himeno", "--size XS --device 1"),
                           (programs / "nanopowder", "--device 1")):
        script = f'[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 0 ] || export POCL_DEVICES=pthread; exec timeout 60 {program} {words}'
        run = start("run", "-n", "2", "--", "sh", "-c", script)
        check(run.returncode == 1 and "rank 1: the platform has no device 1, only 1" in run.stderr, f"{program}", run)


def arguments(start, given):
    """Wrong arguments end with status 2 and say what to do."""
    for words, message in (([], "no program"), (["-n", "0", "true"], "at least one"), (["--rnks", "2", "true"], "--ranks"),
                           (["-n", "two", "true"], "--ranks")):
        run = start("run", *words, runtime="none")
        check(run.returncode == 2 and message in run.stderr, f"run {words} is not refused", run)
    run = start("run", "-n", "2", "true", runtime="none", ranks=2)
    check(run.returncode == 2 and "rank of a job already" in run.stderr, "run under a launcher is not refused", run)
    run = start("rnu", runtime="none")
    check(run.returncode == 2 and "did you mean run?" in run.stderr, "a wrong word gets no right one", run)


def check_man_page(start, words, help_text):
    """The manual page of a command has what its help has, in man's own form."""
    run = start("man-page", *words, runtime="none")
    check(run.returncode == 0 and run.stdout.count("\n.SH ") >= 7, f"no page of {words}", run)
    page = run.stdout.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")
    options = set(re.findall(r"^  (-\S+)", help_text, re.M))
    check(options == set(re.findall(r"^\.B (-\S+)", page, re.M)), f"{words}: the page has other options than {options}")
    text = help_text.partition("\nOptions:\n")[2].partition("\n\n")[2]
    text = re.sub(r"Subcommands:\n(  .*\n)*|Examples:\n|Exit status: ", "", text)
    missing = [line for line in text.splitlines() if line and line not in page.splitlines()]
    check(not missing, f"{words}: the page lacks {missing}")
    if shutil.which("mandoc"):
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=run.stdout, text=True, capture_output=True, check=False)
        wrong = [line for line in lint.stdout.splitlines() if "missing date" not in line]
        check(not wrong, f"{words}: {wrong}")


def helps(start, given):
    """Each command's help teaches: what for, examples that begin with its name, and exit statuses; so does its page."""
    for words in ([], ["info"], ["run"], ["perf"], ["tune"], ["trace"], ["trace", "view"], ["trace", "summary"], ["tasks"], ["tasks", "simulate"],
                  ["tasks", "timeline"], ["completion"]):
        run = start(*words, "--help", runtime="none")
        check(run.returncode == 0 and "Exit status: " in run.stdout, f"{words}: no exit status", run)
        examples = run.stdout.partition("Examples:\n")[2]
        check(re.search(rf"^  .*\b{' '.join(['causeway', *words])}\b", examples, re.M), f"{words}: no example", run)
        check(all(len(line) <= 120 for line in run.stdout.splitlines()), f"{words}: lines too long", run)
        check(("PROGRAM" in run.stdout.split("\n\n")[0]) == (words in (["run"], ["trace"])), f"{words}: the usage", run)
        if words:
            check_man_page(start, words, run.stdout)


def names_in_help(start, *words):
    """The long options and the commands of a command."""
    text = start(*words, "--help", runtime="none").stdout
    commands = text.partition("Subcommands:")[2].partition("\n\n")[0].partition("Examples:")[0]
    return (set(re.findall(r"--[a-z-]+", " ".join(re.findall(r"^  \S*--\S+", text, re.M)))),
            re.findall(r"^  ([a-z]+) ", commands, re.M))


def completion(start, given):
    """Completion scripts are for their shells, and know every command and option, and what belongs to which."""
    commands = [(name,) for name in names_in_help(start)[1]]
    commands += [(*outer, name) for outer in commands for name in names_in_help(start, *outer)[1]]
    check(("trace", "view") in commands and ("perf",) in commands, f"commands {commands}")
    known = {words: names_in_help(start, *words) for words in [(), *commands]}
    scripts = {shell: start("completion", shell, runtime="none").stdout for shell in ("bash", "zsh", "fish")}
    for shell, script in scripts.items():
        if shutil.which(shell):
            checked = subprocess.run([shell, "-n"], input=script, text=True, capture_output=True, check=False)
            check(checked.returncode == 0, f"{shell} does not take its script", checked)
    asked = [scripts["bash"]]
    for words in known:
        typed = shlex.join(["causeway", *words])
        for begin in "--", "":
            asked.append(f"COMP_WORDS=({typed} '{begin}'); COMP_CWORD={len(words) + 1}; _causeway; echo \"${{COMPREPLY[*]}}\"")
    told = subprocess.run(["bash"], input="\n".join(asked), text=True, capture_output=True, check=False)
    lines = iter(told.stdout.splitlines())
    for words, (options, inner) in known.items():
        check(set(next(lines).split()) == options, f"bash: options of {words}", told)
        check(set(next(lines).split()) == options | set(inner), f"bash: words of {words}", told)
        # Of other shells, which need not be there, what their scripts say.
        zsh = re.search(rf"^ *'{' '.join(words)}( '\*|')\) _arguments(.*)$", scripts["zsh"], re.M)
        check(not words or set(re.findall(r" '(--[a-z-]+)\[", zsh[2])) == options, f"zsh: options of {words}")
        seen = "; and ".join([*(f"__fish_seen_subcommand_from {word}" for word in words),
                              *([f"not __fish_seen_subcommand_from {' '.join(inner)}"] if inner else [])])
        fish = set(re.findall(rf"^complete -c causeway -n '{seen}' -l (\S+) ", scripts["fish"], re.M))
        check(not words or {f"--{name}" for name in fish} == options, f"fish: options of {words}")
        for name in inner:
            check(f"'{name}:" in scripts["zsh"] and f" -a {name} " in scripts["fish"], f"zsh and fish do not know {name}")
    run = start("completion", "bsh", runtime="none")
    check(run.returncode == 2 and "did you mean bash?" in run.stderr, "a wrong shell is not refused", run)


TESTS = {"missing": missing, "ranks": ranks, "dry": dry, "words_of_a_program": words_of_a_program, "slurm": slurm, "arguments": arguments, "wrong_rank": wrong_rank,
         "helps": helps, "completion": completion}


if __name__ == "__main__":
    run_one_of(TESTS)
