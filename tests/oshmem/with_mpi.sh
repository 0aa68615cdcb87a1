#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# MPI and OpenSHMEM in one program, begun and ended in every order. Usage: with_mpi.sh OSHCC MPICC RUN_WITH MPIRUN SOURCE
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# MPI is found by the wrapper, by MPI's own wrapper that it calls, and in programs of several sources in two languages.
wrapped=$(CAUSEWAY_OSHCC_COMPILER=$2 "$1" --show "$5")
case $wrapped in
*MPICXX*) echo "FAILED: MPI's wrapper is told where MPI is: $wrapped" && exit 1 ;;
esac
CAUSEWAY_OSHCC_COMPILER=$2 "$1" -O2 -Wall -Wextra -Werror -std=c11 "$5" -o "$folder/wrapped" || exit 1
"$1" -O2 -Wall -Wextra -Werror -std=c11 "$5" -o "$folder/program" || exit 1
printf '#include <mpi.h>\n#include <shmem.h>\nint main() { int on; return MPI_Initialized(&on) || shmem_n_pes(); }\n' >"$folder/main.cpp"
CAUSEWAY_OSHCC_COMPILER=c++ "$1" -Wall -Wextra -Werror -c "$folder/main.cpp" -o "$folder/main.o" &&
    CAUSEWAY_OSHCC_COMPILER=c++ "$1" "$folder/main.o" -o "$folder/in_two_steps" || exit 1
# MPI may bring a shmem.h and a shmemx.h of its own.
printf '#include <mpi.h>\n#include <shmemx.h>\n' >"$folder/extensions.c"
"$1" -c "$folder/extensions.c" -o "$folder/extensions.o" 2>"$folder/output" && echo "FAILED: there are no extensions" && exit 1
grep -q "no extensions" "$folder/output" || { echo "FAILED: another message than that there are no extensions:"; cat "$folder/output"; exit 1; }
failed=0
timeout 60 "$3" none --ranks 2 --mpiexec "$4" -- "$folder/wrapped" mpi-shmem-shmem-mpi || failed=1
# ORDER [LEVEL]
expect_right() {
    timeout 60 "$run_with" none --ranks 2 --mpiexec "$mpirun" -- "$folder/program" "$@" >"$folder/output" 2>&1
    status=$?
    [ $status -eq 0 ] && [ "$(grep -c '^right' "$folder/output")" = 2 ] ||
        { echo "FAILED: $*: status $status"; cat "$folder/output"; failed=1; }
}
run_with=$3 mpirun=$4
for order in mpi-shmem-shmem-mpi mpi-shmem-mpi-shmem shmem-mpi-shmem-mpi shmem-mpi-mpi-shmem; do expect_right $order; done
# Any level that the program asks for is raised.
for level in single funneled serialized multiple; do
    expect_right mpi-shmem-shmem-mpi $level
    expect_right shmem-mpi-mpi-shmem $level
done
# The variables that every implementation reads.
SHMEM_VERSION=1 SHMEM_INFO=1 SHMEM_DEBUG=1 SHMEM_SYMMETRIC_SIZE=3M timeout 60 "$3" none --ranks 2 --mpiexec "$4" -- "$folder/program" >"$folder/output" 2>&1
for text in "OpenSHMEM 1.5$" "SHMEM_SYMMETRIC_SIZE  .* 3145728 here" "PE 1 of 2: process [0-9]*, heap of 3145728 bytes"; do
    grep -q -e "$text" "$folder/output" || { echo "FAILED: no '$text' in:"; cat "$folder/output"; failed=1; }
done
SMA_VERSION=1 SMA_INFO=1 SMA_DEBUG=1 timeout 60 "$3" none --ranks 2 --mpiexec "$4" -- "$folder/program" >"$folder/output" 2>&1
for text in "OpenSHMEM 1.5$" "SHMEM_SYMMETRIC_SIZE  .* here" "PE 1 of 2: process [0-9]*"; do
    grep -q -e "$text" "$folder/output" || { echo "FAILED: by the names before 1.4: no '$text' in:"; cat "$folder/output"; failed=1; }
done
exit $failed
