#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A heap of libcauseway's is taken for device memory only if its PEs are OpenSHMEM's. Usage: foreign_heap.sh RUN_WITH MPIRUN PROGRAM RUNTIME
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
run() { timeout 60 "$run_with" "$runtime" --ranks 2 --mpiexec "$mpirun" -- "$program" "$1" >"$folder/output" 2>&1; }
run_with=$1 mpirun=$2 program=$3 runtime=$4
run all
status=$?
[ $status -ne 77 ] || exit 77
[ $status -eq 0 ] && [ "$(grep -c '^right' "$folder/output")" = 2 ] || { echo "FAILED: all: status $status"; cat "$folder/output"; failed=1; }
# over text
refuse() {
    run "$1"
    status=$?
    [ $status -ne 0 ] && [ $status -ne 124 ] || { echo "FAILED: $1: status $status"; failed=1; }
    for text in "shmemg_malloc: causeway_symmetric_init must have been called by all PEs or by none" "$2" "not provided"; do
        grep -q -e "$text" "$folder/output" || { echo "FAILED: $1: no '$text' in:"; cat "$folder/output"; failed=1; }
    done
}
refuse reordered "this one is PE [01] of 2 and there PE [01] of 2"
refuse split "this one is PE [01] of 2 and there PE 0 of 1"
refuse first "this one is PE \(1 of 2 and there none\|0 of 2 and there PE 0 of 1\)"
exit $failed
