#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs killed_pe with 3 PEs for each moment of death and looks at the survivors. Usage: killed_pe.sh MPIRUN PROGRAM [LIBRARY], which is
# preloaded: one that has heaps served by messages
if [ "$1" = --rank ]; then
    # MPICH's launcher kills every rank when it finds that one was ended by a signal (4.0.2), but not for a shell that
    # exits; and it tells the survivors with SIGUSR1.
    trap '' USR1
    shift
    "$@"
    exit $?
fi
mpirun=$1
program=$2
[ -z "${3-}" ] || program="env LD_PRELOAD=$3 $program"
case $($mpirun --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *open-mpi*) options="--oversubscribe --enable-recovery" wrapped="$program" ;;
*) options="-disable-auto-cleanup" wrapped="$0 --rank $program" ;;
esac
output=$(mktemp)
trap 'rm -f "$output"' EXIT
before=$(ls /dev/shm 2>/dev/null | grep -ic causeway)
failed=0
for moment in idle putting changing in-a-barrier reducing; do
    timeout 100 $mpirun $options -n 3 $wrapped $moment >"$output" 2>&1
    cat "$output"
    [ "$(grep -c '^verdict: passed$' "$output")" = 2 ] || { echo "FAILED: $moment: not both survivors passed"; failed=1; }
done
[ "$(ls /dev/shm 2>/dev/null | grep -ic causeway)" -le "$before" ] || { echo "FAILED: memory is left in /dev/shm"; failed=1; }
[ $failed -eq 0 ] && echo "killed_pe: passed"
exit $failed
