#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PEs that wait for more of one that has ended: the job must end, with the call and the PE that left. Usage: left_pe.sh OSHCC MPIRUN
# SOURCE PES [LIBRARY], which is preloaded: one that has each PE on a node of its own
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -O2 -Wall -Wextra -Werror -std=gnu11 "$3" -o "$folder/program" || exit 1
case $($2 --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *open-mpi*) options="--oversubscribe" ;;
*) options="" ;;
esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun=$2 pes=$4 library=$5 failed=0
# WAY HOW: status and output of the program
run() {
    timeout -k 5 120 $mpirun $options -n $pes env ${library:+LD_PRELOAD=$library} "$folder/program" "$1" "$2" >"$folder/output" 2>&1
    status=$?
}
# WAY HOW [CALL]
expect_end() {
    run "$1" "$2"
    [ $status -ne 0 ] && [ $status -ne 124 ] && ! grep -q "goes on" "$folder/output" &&
        grep -q "causeway: PE .: ${3:-$1}: PE 1 .*ended" "$folder/output" ||
        { echo "FAILED: $1 beside $2: status $status"; cat "$folder/output"; failed=1; }
}
for how in exit return finalize; do
    expect_end shmem_barrier_all $how
    expect_end shmem_long_wait_until $how
done
for way in patient helped fork; do
    run $way exit
    [ $status -eq 0 ] && [ "$(grep -c '^right' "$folder/output")" -eq $pes ] ||
        { echo "FAILED: nothing wrong, $way: status $status"; cat "$folder/output"; failed=1; }
done
for way in shmem_sync_all shmem_team_sync shmem_team_destroy shmem_team_split_strided shmem_long_sum_reduce shmem_long_broadcast \
    shmem_long_sum_to_all shmem_barrier shmem_malloc shmem_free; do
    expect_end $way exit
done
expect_end lock exit ".*"
exit $failed
