#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speedup of the applications of apps/cluster over ranks of Causeway's platform, one device each.

Runs each problem on one device of the driver alone, on one device of Causeway's platform, and on as many ranks as
wanted, in turn, several times. Results must be the same, bit for bit. Prints medians, and the speedup over the driver
alone: of computing, and with the way of the input to the devices and of the result to all ranks.
"""

import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A second of work, of one core or of one large GPU.
SIZES = {
    "small": {
        "black-scholes": "--size 131072 --runs 100",
        "binomial": "--size 2048 --runs 2",
        "cp": "--size 512 --atoms 4096",
        "n-body": "--size 8192 --steps 5",
        "matmul": "--size 1024",
        "ep": "--size S",
    },
    "large": {
        "black-scholes": "--size 16777216 --runs 4000",
        "binomial": "--size 1048576 --runs 50",
        "cp": "--size 8192 --atoms 40960",
        "n-body": "--size 1048576 --steps 2",
        "matmul": "--size 16384",
        "ep": "--size D",
    },
}
# Gives a rank, or a single process, one device: of processors a core each, of GPUs one each.
ONE_CORE = "export POCL_DEVICES=pthread POCL_MAX_PTHREAD_COUNT=1"
ONE_GPU = "export CAUSEWAY_DEVICES=gpu:${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-0}}"
DEVICE = re.compile(r"the first is (.*); medians")
LINE = re.compile(
    r"^(?P<problem>\S+) +(?P<size>\S.*?)  +(?P<load>[\d.]+) +(?P<compute>[\d.]+) +\([\d. -]+\) +(?P<read>[\d.]+)"
    r" +(?P<rate>[\d.]+ \S+) +(?P<digest>[0-9a-f]{16})$", re.MULTILINE)


class Way:
    """One way to run a problem, with what its runs have shown."""

    def __init__(self, devices, of, launcher, options):
        self.name = f"{devices} of {of}"
        self.launcher = launcher
        self.options = ["--devices", str(devices), *options]
        self.environment = {"CAUSEWAY_CLUSTER": "1" if "--ranks" in launcher else "0"}
        self.computing, self.whole, self.rates = [], [], []

    def run(self, problem, size, arguments):
        verify = ["--verify"] if arguments.verify else []
        one_device = ONE_GPU if arguments.on_gpus else ONE_CORE
        command = [ROOT / "scripts/run_with.sh", arguments.runtime, *self.launcher, "--", "sh", "-c",
                   one_device + '; exec "$0" "$@"', arguments.build / "bin/cluster_apps", *self.options,
                   "--rounds", arguments.rounds, *verify, problem, *size.split()]
        done = subprocess.run([str(word) for word in command], env=os.environ | self.environment, capture_output=True,
                              text=True, timeout=arguments.timeout)
        lines = [match.groupdict() for match in LINE.finditer(done.stdout)]
        if done.returncode != 0 or not lines:
            raise RuntimeError(f"{self.name}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        # The slowest rank's.
        self.computing.append(max(float(line["compute"]) for line in lines))
        self.whole.append(max(sum(float(line[part]) for part in ("load", "compute", "read")) for line in lines))
        self.rates.append(min((line["rate"] for line in lines), key=lambda rate: float(rate.split()[0])))
        for line in done.stderr.splitlines():
            if arguments.stats and line.startswith("causeway: "):
                print(f"    {self.name}, {problem}: {line.removeprefix('causeway: ')}")
        return {line["digest"] for line in lines}, f"{lines[0]['size']}, on {DEVICE.search(done.stdout)[1]}"


def ways(arguments):
    icd = arguments.build / "share/causeway/opencl-vendors/causeway.icd"
    on_causeway = ["--platform", "Causeway", *(["--attach"] if arguments.attach else [])]
    yield Way(1, "the driver alone", [], [])
    yield Way(1, "Causeway's platform", ["--platform", icd], on_causeway)
    for ranks in arguments.ranks:
        launcher = ["--platform", icd, "--ranks", str(ranks)]
        yield Way(ranks, "as many ranks", launcher, on_causeway)


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def describe_machine(arguments):
    processor = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                      if line.startswith("model name")), platform.machine())
    print(f"commit     {arguments.commit or first_line('git', '-C', str(ROOT), 'rev-parse', '--short=10', 'HEAD')}")
    print(f"processor  {processor}, {os.cpu_count()} cores")
    print(f"kernel     {platform.system()} {platform.release()}")
    if arguments.on_gpus:
        print(f"device     {first_line('nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader')}")
    print(f"MPI        {first_line('mpirun', '--version')}")
    print(f"command    {' '.join(sys.argv)}")
    print(f"load       {os.getloadavg()[0]:.1f} processes at the start; medians of {arguments.repeats} times "
          f"{arguments.rounds} rounds")
    print(flush=True)


def measure(problem, arguments):
    size = SIZES[arguments.sizes][problem]
    all_ways = list(ways(arguments))
    digests, words = set(), ""
    for _ in range(arguments.repeats):
        for way in all_ways:
            found, words = way.run(problem, size, arguments)
            digests |= found
    print(f"{problem}: {words}; " + ("all results are the same" if len(digests) == 1 else "THE RESULTS DIFFER"))
    print(f"    {'devices':26} {'compute s':>10} {'speedup':>8} {'with input and result s':>24} {'speedup':>8}  rate")
    alone = all_ways[0]
    for way in all_ways:
        computing, whole = statistics.median(way.computing), statistics.median(way.whole)
        speedup = statistics.median(alone.computing) / computing
        whole_speedup = statistics.median(alone.whole) / whole
        rate = sorted(way.rates, key=lambda rate: float(rate.split()[0]))[len(way.rates) // 2]
        print(f"    {way.name:26} {computing:10.4f} {speedup:8.2f} {whole:24.4f} {whole_speedup:8.2f}  {rate}", flush=True)
    return len(digests) == 1


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runtime", help="as for scripts/run_with.sh: pocl, intel; nvidia or system for GPUs")
    parser.add_argument("--ranks", default="2", help="with commas between (default: 2)")
    parser.add_argument("--problems", default=",".join(SIZES["small"]), help="with commas between (default: all)")
    parser.add_argument("--sizes", choices=SIZES, help="default: large for nvidia and system, else small")
    parser.add_argument("--attach", action="store_true", help="with clAttachBufferToDevice")
    parser.add_argument("--verify", action="store_true", help="check each result with the host's")
    parser.add_argument("--stats", action="store_true", help="show what CAUSEWAY_STATS=1 says")
    parser.add_argument("--rounds", type=int, default=3, help="in each process (default: 3)")
    parser.add_argument("--repeats", type=int, default=3, help="processes of each kind (default: 3)")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for one process (default: 300)")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--commit", help="that is measured (default: what git says)")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    arguments.problems = arguments.problems.split(",")
    if unknown := set(arguments.problems) - set(SIZES["small"]):
        parser.error(f"no problem {', '.join(unknown)}")
    arguments.ranks = [int(ranks) for ranks in arguments.ranks.split(",")]
    arguments.on_gpus = arguments.runtime in ("nvidia", "system")
    arguments.sizes = arguments.sizes or ("large" if arguments.on_gpus else "small")
    return arguments


def main():
    arguments = parse()
    if arguments.stats:
        os.environ["CAUSEWAY_STATS"] = "1"
    describe_machine(arguments)
    right = True
    for problem in arguments.problems:
        try:
            right = measure(problem, arguments) and right
        except (RuntimeError, subprocess.TimeoutExpired) as error: # the others are still worth something
            print(f"{problem}: FAILED: {error}", flush=True)
            right = False
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
