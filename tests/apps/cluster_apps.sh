#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The applications for several devices have the same results, bit for bit, on the driver alone, on Causeway's platform
# in one process, and on ranks, with buffers that are attached to devices and without.
#
# usage: cluster_apps.sh RUN_WITH RUNTIME MPIEXEC PLATFORM_ICD CLUSTER_APPS CAUSEWAY
set -euo pipefail

run_with=$1 runtime=$2 mpiexec=$3 icd=$4 program=$5 causeway=$6
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

problems=(black-scholes --size 2048 --runs 5 binomial --size 64 --runs 2 cp --size 128 --atoms 2048
    ep --size 19 n-body --size 1024 --steps 5 matmul --size 512)
talking=("${problems[@]: -8}") # those whose devices give each other something, or get the same

# run NAME COUNT COMMAND...: leaves the COUNT problems and their digests, which all ranks that print have to agree on.
run() {
    local name=$1 count=$2 status=0
    shift 2
    "$@" >"$scratch/$name.out" || status=$?
    cat "$scratch/$name.out"
    [ $status -eq 0 ] || { echo "cluster_apps: $name: exit status $status" >&2; exit $status; }
    awk 'length($NF) == 16 && $NF ~ /^[0-9a-f]+$/ { print $1, $NF }' "$scratch/$name.out" | sort -u >"$scratch/$name"
    [ "$(wc -l <"$scratch/$name")" -eq "$count" ] || { echo "cluster_apps: $name: not $count results" >&2; exit 1; }
    [ -z "$(comm -13 "$scratch/alone" "$scratch/$name")" ] ||
        { echo "cluster_apps: $name: other results than the driver's" >&2; exit 1; }
}

on_ranks() { # RANKS: of one device each
    echo "$run_with" "$runtime" --mpiexec "$mpiexec" --platform "$icd" --ranks "$1" -- \
        env CAUSEWAY_CLUSTER=1 POCL_DEVICES=pthread "$program" --rounds 1
}

run alone 6 "$run_with" "$runtime" -- "$program" --rounds 1 --verify "${problems[@]}"
"$run_with" "$runtime" -- "$program" --rounds 1 --verify ep --size S # whose sums are published
if [ "$runtime" = pocl ]; then
    run one_process 6 "$run_with" pocl --platform "$icd" -- "$program" --rounds 1 --attach "${problems[@]}"
    run two_ranks 6 "$run_with" pocl -- env POCL_DEVICES=pthread \
        "$causeway" run --cluster -n 2 -- "$program" --rounds 1 --attach "${problems[@]}"
    run four_ranks 6 $(on_ranks 4) "${problems[@]}"
else # compiles each kernel in each process, which takes most of the time
    run two_ranks 6 $(on_ranks 2) --attach "${problems[@]}"
    run four_ranks 2 $(on_ranks 4) "${talking[@]}"
fi
