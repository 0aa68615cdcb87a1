#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: see_races.sh OCLGRIND COMPILER SOURCE [OPTION_OF_OCLGRIND]...    runs SOURCE's kernels in oclgrind; fails if it reports anything
set -euo pipefail
oclgrind=$1
compiler=$2
source=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$compiler" -O1 -w "$source" -o "$folder/program" -lm
# hwloc's plug-in asks for OpenCL devices inside of MPI_Init.
HWLOC_COMPONENTS=-opencl ACC_DEVICE_REPEAT=2 "$oclgrind" --data-races "$@" --log "$folder/log" "$folder/program"
if [ -s "$folder/log" ]; then
    head -n 60 "$folder/log"
    exit 1
fi
