#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles functions.c with the plug-in for each vector extension of this processor, and runs it beside code that was not optimised.
set -euo pipefail

if [ $# -ne 2 ]; then
    echo "usage: functions.sh CLANG PLUGIN" >&2
    exit 2
fi
clang=$1 plugin=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. "$here/processor.sh"
targets=("-mavx2 -mfma")
if has_avx512; then
    targets+=("-march=skylake-avx512 -mprefer-vector-width=512" "-march=skylake-avx512 -mprefer-vector-width=256")
fi
"$clang" -O1 -Wall -Wextra -c "$here/functions_main.c" -o "$work/main.o"
"$clang" -O0 -ffp-contract=off "-DNAME(x)=x##_scalar" -c "$here/functions.c" -o "$work/scalar.o"
# Clang 22 leaves a loop that calls a function which reads memory, and warns of it.
tolerated=()
[ "$("$clang" -dumpversion | cut -d. -f1)" -lt 22 ] || tolerated=(-Wno-error=pass-failed)
for target in "${targets[@]}"; do
    # shellcheck disable=SC2086
    "$clang" -O3 $target -Wall -Wextra -Werror "${tolerated[@]}" -ffp-contract=off -fopenmp-simd -fplugin="$plugin" -fpass-plugin="$plugin" \
        -mllvm -causeway-simd-report="$work/report" "-DNAME(x)=x##_vector" -c "$here/functions.c" -o "$work/vector.o"
    made=$(grep -c ' is there for lanes' "$work/report")
    echo "$target: $made functions for lanes"
    [ "$made" = 7 ] || { cat "$work/report"; exit 1; }
    "$clang" "$work"/{main,scalar,vector}.o -lm -o "$work/program"
    "$work/program"
    rm "$work/report"
done
