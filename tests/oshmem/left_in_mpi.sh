#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PEs that wait in MPI for one that has ended: the job must end, with the PE that left and the call. Usage: left_in_mpi.sh OSHCC MPIRUN
# SOURCE PES [LIBRARY], which is preloaded: one that has each PE on a node of its own
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -O2 -Wall -Wextra -Werror -std=gnu11 "$3" -o "$folder/program" || exit 1
case $($2 --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *open-mpi*) options="--oversubscribe" recovers="--enable-recovery" ;;
*) options="" recovers="-disable-auto-cleanup" ;;
esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 SHMEM_PATIENCE=2
mpirun=$2 pes=$4 library=$5 failed=0
# WAY HOW: status and output of the program
run() {
    timeout -k 5 100 $mpirun $options -n $pes env ${library:+LD_PRELOAD=$library} "$folder/program" "$1" "$2" >"$folder/output" 2>&1
    status=$?
}
# WAY HOW TEXT
expect_end() {
    run "$1" "$2"
    [ $status -ne 0 ] && [ $status -ne 124 ] && ! grep -q "goes on" "$folder/output" && grep -q "$3" "$folder/output" ||
        { echo "FAILED: $1 beside $2: status $status"; cat "$folder/output"; failed=1; }
}
for how in exit return finalize; do
    for way in MPI_Barrier MPI_Recv; do
        expect_end $way $how "causeway: PE 1: shmem_finalize: PE 1 has ended .* PE . in $way"
    done
done
# Between nodes, MPI goes on behind MPI_Finalize.
last=MPI_Finalize
[ -z "$library" ] || last=
for way in MPI_Allreduce MPI_Waitall $last; do
    expect_end $way exit "causeway: PE 1: shmem_finalize: PE 1 has ended .* PE . in $way"
done
expect_end mixed exit "causeway: PE 1: shmem_finalize: PE 1 has ended .* PE 0 in MPI_Recv"
run slow none
[ $status -eq 0 ] && [ "$(grep -c '^right' "$folder/output")" -eq $pes ] ||
    { echo "FAILED: nothing wrong, slow: status $status"; cat "$folder/output"; failed=1; }
# A launcher that does nothing about it. Its status is its own.
options="$options $recovers"
run MPI_Barrier kill
[ $status -ne 124 ] && ! grep -q "goes on" "$folder/output" && grep -q "PE 1 is gone" "$folder/output" ||
    { echo "FAILED: MPI_Barrier beside kill: status $status"; cat "$folder/output"; failed=1; }
exit $failed
