#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures OpenSHMEM's calls beside those of other libraries.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: benchmarks/oshmem/run.sh [OPTION]... calls|sustained|network|loopback

  calls      puts, gets, atomics and barriers of one node; in turn with Open MPI's oshmem, if its oshcc is there
  sustained  puts of 8 bytes by three PEs to one, and whether all have come
  network    puts and gets beside MPI_Send, between two network namespaces (root)
  loopback   the same over TCP in one machine, as fast as it goes; both need BUILD/lib/libpretend_nodes.so of the tests

  --build FOLDER   default: build/release
  --pes LIST       of calls, one run each (default: 2,4,8)
  --rounds N       of each run (default: 9; between nodes: 7)
  --repeats N      runs of each kind, in turn (default: 3)
  --seconds N      of sustained (default: 60)
  --rates LIST     of network (default: 1gbit,10gbit)
  --mib N          of each round between nodes (default: 32)
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/release pes=2,4,8 rounds= repeats=3 seconds=60 rates=1gbit,10gbit mib=32 what=
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$(realpath "$2"); shift 2 ;;
    --pes) pes=$2; shift 2 ;;
    --rounds) rounds=$2; shift 2 ;;
    --repeats) repeats=$2; shift 2 ;;
    --seconds) seconds=$2; shift 2 ;;
    --rates) rates=$2; shift 2 ;;
    --mib) mib=$2; shift 2 ;;
    --help) usage; exit 0 ;;
    calls | sustained | network | loopback) what=$1; shift ;;
    *) usage >&2; exit 2 ;;
    esac
done
[ -n "$what" ] || { usage >&2; exit 2; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
launcher=$(command -v mpirun.openmpi || command -v mpirun)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

load() { cut -d' ' -f1 /proc/loadavg; }
# A run that fails or hangs is said, and does not end the others.
run() {
    timeout -k 5 "$((seconds + 60))" "$launcher" --oversubscribe "$@" || echo "status $?"
}
compile() { "$build/bin/causeway-oshcc" -O2 -std=c11 "$@"; }

commit=$(git -C "$root" describe --always --dirty --abbrev=10 2>/dev/null || echo unknown)
echo "# commit $commit; $(sed -n 's/^model name.*: //p;T;q' /proc/cpuinfo), $(nproc) processors; $("$launcher" --version 2>&1 | sed -n 1p)"
case $what in
calls)
    compile -DWITH_MPI "$here/calls.c" -o "$work/calls.Causeway"
    libraries=Causeway
    if command -v oshcc >/dev/null && oshcc -O2 -std=c11 "$here/calls.c" -o "$work/calls.oshmem"; then libraries+=" oshmem"; fi
    for ((i = 1; i <= repeats; i++)); do
        for n in ${pes//,/ }; do
            for library in $libraries; do
                echo "== run $i, $n PEs, $library, load $(load)"
                run -n "$n" "$work/calls.$library" "${rounds:-9}"
            done
        done
    done
    ;;
sustained)
    compile "$here/sustained_puts.c" -o "$work/sustained_puts"
    echo "== 4 PEs, load $(load)"
    run -n 4 "$work/sustained_puts" "$seconds"
    ;;
network | loopback)
    # Memory can be shared between network namespaces: a library pretends that it cannot.
    compile "$here/messages.c" -o "$work/messages"
    printf '#!/bin/sh\nexec env LD_PRELOAD="%s" PROCESSES_PER_NODE=1 "%s" %s %s\n' "$build/lib/libpretend_nodes.so" "$work/messages" "${rounds:-7}" "$mib" >"$work/program"
    chmod +x "$work/program"
    for ((i = 1; i <= repeats; i++)); do
        echo "== run $i, load $(load)"
        if [ $what = loopback ]; then
            run -n 2 --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo "$work/program"
        else
            "$root/benchmarks/network.sh" --rates "$rates" --program "$work/program" || echo "status $?"
        fi
    done
    ;;
esac
