#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What ends an OpenSHMEM job: with the call and the cause, and soon. Usage: refusals.sh OSHCC MPIRUN SOURCE
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -O2 "$3" -o "$folder/program" || exit 1
case $($2 --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *open-mpi*) options="--oversubscribe" ;;
*) options="" ;;
esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
launcher="$2 $options" started=0
# WHAT
fail() {
    : >"$folder/failed"
    { echo "FAILED: $1: status $status:"; cat "$output"; } >&2
}
# PES ARGUMENT...: status and output of the program, whose file is its own
run() {
    output=$(mktemp "$folder/output.XXXXXX")
    pes=$1
    shift
    timeout 60 $launcher -n "$pes" "$folder/program" "$@" >"$output" 2>&1
    status=$?
}
check_refusal() {
    run 2 "$1"
    [ $status -ne 0 ] && [ $status -ne 124 ] && grep -q -e "$2" "$output" || fail "$1, not '$2'"
}
check_status() {
    run 2 "$1"
    [ $status -eq "$2" ] || fail "$1, not status $2"
}
check_exit_behind_mpi() {
    run 2 exit_behind_mpi "$1"
    [ $status -eq "$1" ] && grep -q "the last words" "$output" && ! grep -q "is gone" "$output" || fail "exit behind MPI_Finalize, not $1"
}
check_heap() {
    run 1 ""
    grep -q ": $1 here" "$output" || fail "a heap of $1 bytes"
}
# COMMAND...: beside others, as launchers wait most of the time; two at once
beside() {
    "$@" &
    started=$((started + 1))
    [ $((started % 2)) -ne 0 ] || wait
}
# WHAT TEXT
expect() { beside check_refusal "$@"; }
expect early "causeway: shmem_barrier_all: shmem_init comes first"
expect local "shmem_long_p: the address .* is not symmetric"
expect pe "shmem_long_p: there is no PE 17: they are 0 to 1"
expect set "shmem_long_max_to_all: the active set of 4 PEs from 0 on, at distances of 1, does not fit: there are 2 PEs"
expect late "shmem_barrier_all: shmem_finalize has been called"
expect late_put "shmem_long_p: shmem_finalize has been called"
expect again "shmem_init: shmem_finalize has been called"
# By its status: Open MPI 4.1 now and then loses its own message about it.
beside check_status exit 7
beside check_status error 3
# MPI, which ends the others otherwise, is over.
for status_of_all in 0 7; do beside check_exit_behind_mpi $status_of_all; done
expect all_err "the last words"
expect killed "is gone\|signal 9\|KILLED"
beside check_status "" 0
wait
# More memory than the node has: at the start, and when it is asked for.
export SHMEM_SYMMETRIC_SIZE=900T
expect "" "causeway: shmem_init: making 900 TiB of memory that processes share\|Cannot allocate memory"
SHMEM_SYMMETRIC_SIZE=$(awk '/^MemTotal:/ { print int($2 / 1024 * 0.9) }' /proc/meminfo)M
expect memory "shmem_malloc: PEs of this node ask for .* each and are 2, but it has no more than\|Cannot allocate memory"
# The older name of the variable, and the newer one, which counts.
export SHMEM_INFO=1 SMA_SYMMETRIC_SIZE=1M SHMEM_SYMMETRIC_SIZE=
beside check_heap 1048576
export SHMEM_SYMMETRIC_SIZE=2M
beside check_heap 2097152
wait
[ ! -e "$folder/failed" ]
