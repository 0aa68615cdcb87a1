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
failed=0
# what text
expect() {
    timeout 30 $2 $3 -n 2 "$folder/program" "$1" >"$folder/output" 2>&1
    status=$?
    [ $status -ne 0 ] && [ $status -ne 124 ] || { echo "FAILED: $1: status $status"; failed=1; }
    grep -q -e "$4" "$folder/output" || { echo "FAILED: $1: no '$4' in:"; cat "$folder/output"; failed=1; }
}
expect early "$2" "$options" "causeway: shmem_barrier_all: shmem_init comes first"
expect local "$2" "$options" "shmem_long_p: the address .* is not symmetric"
expect pe "$2" "$options" "shmem_long_p: there is no PE 17: they are 0 to 1"
expect set "$2" "$options" "shmem_long_max_to_all: the active set of 4 PEs from 0 on, at distances of 1, does not fit: there are 2 PEs"
expect late "$2" "$options" "shmem_barrier_all: shmem_finalize has been called"
expect late_put "$2" "$options" "shmem_long_p: shmem_finalize has been called"
expect again "$2" "$options" "shmem_init: shmem_finalize has been called"
# By its status: Open MPI 4.1 now and then loses its own message about it.
timeout 30 $2 $options -n 2 "$folder/program" exit >"$folder/output" 2>&1
status=$?
[ $status -eq 7 ] || { echo "FAILED: exit: status $status, not 7"; cat "$folder/output"; failed=1; }
timeout 30 $2 $options -n 2 "$folder/program" error >"$folder/output" 2>&1
status=$?
[ $status -eq 3 ] || { echo "FAILED: error: status $status, not 3"; cat "$folder/output"; failed=1; }
# MPI, which ends the others otherwise, is over.
for status_of_all in 0 7; do
    timeout 60 $2 $options -n 2 "$folder/program" exit_behind_mpi $status_of_all >"$folder/output" 2>&1
    status=$?
    [ $status -eq $status_of_all ] && grep -q "the last words" "$folder/output" && ! grep -q "is gone" "$folder/output" ||
        { echo "FAILED: exit behind MPI_Finalize: status $status, not $status_of_all"; cat "$folder/output"; failed=1; }
done
expect all_err "$2" "$options" "the last words"
expect killed "$2" "$options" "is gone\|signal 9\|KILLED"
timeout 30 $2 $options -n 2 "$folder/program" "" || { echo "FAILED: a program that does nothing wrong"; failed=1; }
# More memory than the node has: at the start, and when it is asked for.
SHMEM_SYMMETRIC_SIZE=900T expect "" "$2" "$options" "causeway: shmem_init: making 900 TiB of memory that processes share\|Cannot allocate memory"
most=$(awk '/^MemTotal:/ { print int($2 / 1024 * 0.9) }' /proc/meminfo)
SHMEM_SYMMETRIC_SIZE=${most}M expect memory "$2" "$options" "shmem_malloc: PEs of this node ask for .* each and are 2, but it has no more than\|Cannot allocate memory"
# The older name of the variable, and the newer one, which counts.
for newer in "" 2M; do
    SHMEM_INFO=1 SMA_SYMMETRIC_SIZE=1M SHMEM_SYMMETRIC_SIZE=$newer timeout 30 $2 $options -n 1 "$folder/program" "" >"$folder/output" 2>&1
    bytes=$((${newer:+2 *} 1048576))
    grep -q ": $bytes here" "$folder/output" || { echo "FAILED: a heap of $bytes bytes:"; cat "$folder/output"; failed=1; }
done
exit $failed
