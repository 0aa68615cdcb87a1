#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# BT-MZ by all versions: times, shares of the exchange, what each option of the kernels gives, BT itself, and lines of
# communication code.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: benchmarks/bt_mz.sh [OPTION]... [OUT]

  OUT              where the figures go, besides the terminal
  --build DIR      (default: build/release)
  --runtime NAME   of scripts/run_with.sh (default: pocl)
  --classes LIST   (default: S,W)
  --ranks LIST     (default: 1,2)
  --rounds N       timed runs of each version, taken in turn (default: 3)
  --steps N        fewer than the class has: results are not verified then
  --kernels CLASS  of the kernels' options, which run on one rank (default: W)
  --one-zone LIST  classes of BT itself (default: W)
  --host           a serial version, too
  --programs-only  the versions on these classes and ranks, and nothing else
  --lines          lines of communication code of each version, and nothing else
TEXT
}

# Set-up, packing, sending, waiting and placing; not the loops that copy values of faces, which all versions have. What
# several versions share counts for each of them.
lines_of() {
    local version=$1
    shift
    scripts/communication_lines.py "${@/#/apps/bt_mz/}" | awk -v version="$version" 'NR > 1 { sum += $2 } END { print version, sum }'
}
lines_of_versions() {
    lines_of host host.cpp host_exchange.cpp
    lines_of staged staged.cpp host_exchange.cpp
    lines_of messages messages.cpp
    lines_of one_sided one_sided.cpp inbox.{hpp,cpp} device_heap.cpp main.cpp
    lines_of openshmem openshmem.cpp inbox.hpp shmem_inbox.cpp device_heap.cpp main.cpp
    lines_of directives directives.{cpp,c} inbox.hpp shmem_inbox.cpp device_heap.cpp main.cpp
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build/release
runtime=pocl
classes=S,W
ranks=1,2
rounds=3
steps=()
options=W
one_zone=W
host=
whole=yes
out=/dev/null
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2; shift 2 ;;
    --runtime) runtime=$2; shift 2 ;;
    --classes) classes=$2; shift 2 ;;
    --ranks) ranks=$2; shift 2 ;;
    --rounds) rounds=$2; shift 2 ;;
    --steps) steps=(--steps "$2"); shift 2 ;;
    --kernels) options=$2; shift 2 ;;
    --one-zone) one_zone=$2; shift 2 ;;
    --host) host=host,; shift ;;
    --programs-only) whole=; shift ;;
    --lines) lines_of_versions; exit ;;
    --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) out=$1; shift ;;
    esac
done
program=$build/bin/bt_mz
directives=
if "$program" --help | grep ', directives' >/dev/null; then directives=,directives; fi
run() {
    local count=$1
    shift
    scripts/run_with.sh "$runtime" --ranks "$count" -- "$program" --rounds "$rounds" "${steps[@]}" "$@"
}

{
    for class in ${classes//,/ }; do
        for count in ${ranks//,/ }; do
            run "$count" --class "$class" --versions "${host}staged,messages,one_sided,openshmem$directives"
            [ -n "$whole" ] && [ "$count" -gt 1 ] || continue
            echo "# dealt again"
            run "$count" --class "$class" --versions "staged,messages,one_sided,openshmem$directives" --deal-again 3
        done
    done
    [ -n "$whole" ] || exit 0
    echo "# kernels of class $options: fields that move, then one change behind the other"
    run 1 --class "$options" --versions messages --kernels fused --move-fields --steps 5
    for kernels in whole split coalesced preloaded fused; do
        echo "# $kernels"
        run 1 --class "$options" --versions messages --kernels $kernels
    done
    echo "# BT, one zone"
    for class in ${one_zone//,/ }; do run 1 --class "$class" --one-zone --versions "${host}messages$directives"; done
    echo "# lines of communication of each version"
    lines_of_versions
} | tee "$out"
