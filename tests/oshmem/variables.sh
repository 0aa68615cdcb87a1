#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the variables of OpenSHMEM 1.5, section 8, do. Usage: variables.sh OSHCC MPIRUN SOURCE
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -O2 "$3" -o "$folder/program" || exit 1
case $($2 --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *open-mpi*) options="--oversubscribe" ;;
*) options="" ;;
esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset SHMEM_VERSION SHMEM_INFO SHMEM_DEBUG SMA_VERSION SMA_INFO SMA_DEBUG SMA_SYMMETRIC_SIZE
failed=0
# variables text
expect() {
    env $1 timeout 60 $2 $options -n 1 "$folder/program" "" >"$folder/output" 2>&1
    grep -q -e "$3" "$folder/output" || { echo "FAILED: $1: no '$3' in:"; cat "$folder/output"; failed=1; }
}
# At least as much as was asked for, in whole pages; what follows the letter does not count.
for size in "0 4096" "4097 8192" "3.1M 3252224" ".5m 524288" "20kk 20480" "1e6 1003520"; do
    expect "SHMEM_INFO=1 SHMEM_SYMMETRIC_SIZE=${size% *}" "$2" "with K, M, G or T: ${size#* } here"
done
for size in -1 lots 1x nan inf 1e30G; do
    expect "SHMEM_SYMMETRIC_SIZE=$size" "$2" "shmem_init: SHMEM_SYMMETRIC_SIZE=$size is no size"
done
# Any value counts.
for value in 1 0 no; do
    expect "SHMEM_VERSION=$value" "$2" "^Causeway: OpenSHMEM 1.5$"
    expect "SMA_VERSION=$value" "$2" "^Causeway: OpenSHMEM 1.5$"
    expect "SHMEM_DEBUG=$value" "$2" "^causeway: PE 0 of 1: process"
done
timeout 60 $2 $options -n 1 "$folder/program" "" >"$folder/output" 2>&1
grep -q -i causeway "$folder/output" && { echo "FAILED: without variables:"; cat "$folder/output"; failed=1; }
exit $failed
