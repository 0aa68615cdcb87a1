#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kills a PE while the others wait for it, each in another way, and looks whether they end and say why. The launcher is told to do nothing
# itself. Usage: killed_pe.sh OSHCC MPIRUN SOURCE [LIBRARY], which is preloaded: one that has each PE on a node of its own
if [ "$1" = --rank ]; then
    # MPICH's launcher kills every rank when it finds that one was ended by a signal (4.0.2), but not for a shell that
    # exits; and it tells the survivors with SIGUSR1.
    trap '' USR1
    shift
    "$@"
    exit $?
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -O2 -Wall -Wextra -Werror -std=c11 "$3" -o "$folder/program" || exit 1
program="env ${4:+LD_PRELOAD=$4} $folder/program"
case $($2 --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *open-mpi*) options="--oversubscribe --enable-recovery" wrapped="$program" ;;
*) options="-disable-auto-cleanup" wrapped="$0 --rank $program" ;;
esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
ways="wait barrier sum lock finalize putting"
# Memory of one node stays with those who have mapped it: what they do with it needs no answer.
[ -z "$4" ] || ways="$ways get put get_nbi put_nbi open_get open_put strided quiet atomic"
# LAUNCHER WAY
check() {
    timeout -k 5 120 $1 $options -n 3 $wrapped $2 >"$folder/output.$2" 2>&1
    status=$?
    # Its status is the launcher's own.
    grep -q "PE 2 is gone" "$folder/output.$2" && [ $status -ne 124 ] && ! grep -q "as if nothing" "$folder/output.$2" && return
    : >"$folder/failed"
    { echo "FAILED: $2: status $status"; cat "$folder/output.$2"; } >&2
}
started=0
for way in $ways; do
    check $2 $way &
    # Two at once: they wait for the launcher, most of the time.
    started=$((started + 1))
    [ $((started % 2)) -ne 0 ] || wait
done
wait
[ ! -e "$folder/failed" ]
