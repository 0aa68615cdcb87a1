#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: [PRELOADED=LIBRARY] compile_and_run.sh COMPILER SOURCE [OPTION]...    compiles SOURCE with the options and runs it
set -euo pipefail
compiler=$1
source=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$compiler" -O1 -Wall "$source" "$@" -o "$folder/program" -lm
LD_PRELOAD=${PRELOADED-} "$folder/program"
