#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# MPI and OpenSHMEM in one program, begun and ended in every order. Usage: with_mpi.sh OSHCC MPICC RUN_WITH MPIRUN SOURCE
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CAUSEWAY_OSHCC_COMPILER=$2 "$1" -O2 -Wall -Wextra -Werror -std=c11 "$5" -o "$folder/program" || exit 1
failed=0
for order in mpi-shmem-shmem-mpi mpi-shmem-mpi-shmem shmem-mpi-shmem-mpi shmem-mpi-mpi-shmem; do
    timeout 60 "$3" none --ranks 2 --mpiexec "$4" -- "$folder/program" $order >"$folder/output" 2>&1
    status=$?
    [ $status -eq 0 ] && [ "$(grep -c '^right' "$folder/output")" = 2 ] ||
        { echo "FAILED: $order: status $status"; cat "$folder/output"; failed=1; }
done
# The variables that every implementation reads.
SHMEM_VERSION=1 SHMEM_INFO=1 SHMEM_DEBUG=1 SHMEM_SYMMETRIC_SIZE=3M timeout 60 "$3" none --ranks 2 --mpiexec "$4" -- "$folder/program" >"$folder/output" 2>&1
for text in "OpenSHMEM 1.5$" "SHMEM_SYMMETRIC_SIZE  .* 3145728 here" "PE 1 of 2: process [0-9]*, heap of 3145728 bytes"; do
    grep -q -e "$text" "$folder/output" || { echo "FAILED: no '$text' in:"; cat "$folder/output"; failed=1; }
done
exit $failed
