#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PEs that wait in MPI for one that has ended: the job must end, with the PE that left and the call.
# shellcheck source=tests/oshmem/leaving.sh
. "$(dirname "$0")/leaving.sh"
export SHMEM_PATIENCE=2
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
expect_right slow none
expect_right writes "$folder/file"
expect_right spawns none
SHMEM_PATIENCE=5
expect_right stopped none
SHMEM_PATIENCE=2
# A launcher that does nothing about it. Its status is its own.
options="$options $recovers"
run MPI_Barrier kill
[ $status -ne 124 ] && ! grep -q "goes on" "$output" && grep -q "PE 1 is gone" "$output" || fail "MPI_Barrier beside kill"
report
