#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs with directives beside the same in OpenCL by hand: times, and lines of code.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: benchmarks/directives.sh [OPTION]... [OUT]

  OUT                where the figures go, besides the terminal
  --build DIR        the build that has causeway-cc and libcauseway_acc (default: build/release)
  --translated DIR   use the host C in DIR, for machines without LLVM; `--translate-only DIR` leaves it there
  --devices LIST     numbers of devices (default: 1,2)
  --repeats N        (default: 9)
  --figures          also the sizes of the paper's figures 2, 3, 6 and 8
  --small            small sizes, to try the script itself
Prefix the command with scripts/run_with.sh to choose a runtime; ACC_DEVICE_REPEAT=2 offers each device twice.
TEXT
}

# Threads that wait for each other leave the cores to OpenCL devices that are CPUs.
export OMP_WAIT_POLICY=passive
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=build/release
translated=
only=
devices=1,2
repeats=9
figures=
small=
out=/dev/null
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2; shift 2 ;;
    --translated) translated=$2; shift 2 ;;
    --translate-only) only=$2; shift 2 ;;
    --devices) devices=$2; shift 2 ;;
    --repeats) repeats=$2; shift 2 ;;
    --figures) figures=yes; shift ;;
    --small) small=yes; shift ;;
    --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) out=$1; shift ;;
    esac
done

sources=apps/directives
if [ -n "$only" ]; then
    "$build/bin/causeway-cc" -fopenmp -O3 --translate "$only" $sources/*_directives.c $sources/*_hybrid.c
    exit
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
program=$scratch/directives
plain=("$sources"/main.c "$sources"/problems.c "$sources"/*_opencl.c)
if [ -n "$translated" ]; then
    gcc -fopenmp -O3 -w -D_GNU_SOURCE -I"$sources" "$translated"/*.c "${plain[@]}" -o "$program" \
        -L"$build/lib" -Wl,-rpath,"$PWD/$build/lib" -Iinclude -lcauseway_acc -lcauseway -lOpenCL -lm
else
    "$build/bin/causeway-cc" -fopenmp -O3 -w -Iinclude "$sources"/*.c -o "$program" -L"$build/lib" -Wl,-rpath,"$PWD/$build/lib" -lcauseway -lOpenCL -lm
fi

lines() { sed 's|/\*.*\*/||; s|^[ \t]*/\*.*||' "$1" | grep -vcE '^[[:space:]]*($|#include|\*)'; }

{
    echo "# lines of code: with directives, in OpenCL by hand"
    for problem in launch stream jacobi heat s3d matmul peer; do
        printf '%-7s %4d %4d\n' "$problem" "$(lines "$sources/${problem}_directives.c")" "$(lines "$sources/${problem}_opencl.c")"
    done
    for count in ${devices//,/ }; do
        echo "# $count devices"
        if [ -n "$small" ]; then
            "$program" all "$count" 200 "$repeats"
        else
            "$program" all "$count" 0 "$repeats"
        fi
        [ -n "$figures" ] || continue
        # Figure 2: S3D by points; 3 (a) and 6: matrices; 3 (b) and 8: grids.
        if [ -n "$small" ]; then
            points=1000 matrices=64 grids=64
        else
            points='262144 1048576 4194304 8388608 16777216' matrices='1024 2048 4096 8192' grids='512 1024 2048 4096'
        fi
        echo "# figure 2, $count devices"
        for n in $points; do "$program" s3d "$count" "$n" "$repeats"; done
        echo "# figures 3a and 6, $count devices"
        for n in $matrices; do "$program" matmul "$count" "$n" 3; done
        echo "# figures 3b and 8, $count devices"
        for n in $grids; do "$program" heat "$count" "$n" 3; done
    done
} | tee "$out"
