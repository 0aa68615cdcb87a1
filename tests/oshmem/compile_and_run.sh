#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles a program by the wrapper and runs it. Usage: compile_and_run.sh OSHCC RUN_WITH MPIRUN SOURCE PES [RUNTIME]
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $4 in
*.cpp) export CAUSEWAY_OSHCC_COMPILER=c++ language=c++11 ;;
*) language=${STANDARD:-c11} ;;
esac
# As a stranger compiles it, with addresses that differ from process to process.
# shellcheck disable=SC2086 # several flags
"$1" -O2 $FLAGS -Wall -Wextra -Werror -std=$language -fPIE -pie "$4" -o "$folder/program" -lpthread
"$2" "${6:-none}" --ranks "$5" --mpiexec "$3" -- env ${PRELOADED:+"LD_PRELOAD=$PRELOADED"} "$folder/program" >"$folder/output"
cat "$folder/output"
[ "$(grep -c '^right' "$folder/output")" = "$5" ] || { echo "FAILED: not all of $5 PEs say that they are right"; exit 1; }
