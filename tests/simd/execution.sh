#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the loops of kernels.c, matrix_kernels.c and padded_rows.c with the plug-in for each vector width of this processor, and runs them beside those
# compiled without optimisation. `every_target` has processors of other kinds, too, for which few loops come out otherwise.
set -euo pipefail

if [ $# -lt 3 ]; then
    echo "usage: execution.sh CLANG PLUGIN FLOATING_POINT (strict or fast) [every_target]" >&2
    exit 2
fi
clang=$1 plugin=$2 floating=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. "$here/processor.sh"
targets=("-march=haswell")
! has_avx512 || targets+=("-march=skylake-avx512 -mprefer-vector-width=512")
if [ "${4-}" = every_target ]; then
    # A processor whose masked stores are slow, so that fewer of the loops get masks.
    targets+=("-march=haswell -mtune=znver3")
    ! has_avx512 || targets+=("-march=skylake-avx512 -mprefer-vector-width=256")
fi
arithmetic=()
[ "$floating" = strict ] || arithmetic=(-ffast-math -ffp-contract=off)

"$clang" -O1 -Wall -Wextra -c "$here/execution.c" -o "$work/execution.o"
# compare KERNELS TARGET ARGUMENT...: both versions of the kernels, beside one another.
compare() {
    local kernels=$1 target=$2 common=(-w)
    shift 2
    # Matrices are multiplied with fused operations in both versions, loops with them in none.
    [ "$kernels" = matrix_kernels ] || common+=(-ffp-contract=off)
    # shellcheck disable=SC2086
    [ -e "$work/reference.$kernels.o" ] || "$clang" -O0 $target -mno-avx512f "${common[@]}" -D TABLE=reference_kernels -c "$here/$kernels.c" \
        -o "$work/reference.$kernels.o"
    # shellcheck disable=SC2086
    "$clang" -O3 $target "${arithmetic[@]}" "${common[@]}" -fplugin="$plugin" -fpass-plugin="$plugin" \
        -mllvm -causeway-simd-report="$work/report" ${padding:+-mllvm $padding} -D TABLE=tested_kernels -c "$here/$kernels.c" -o "$work/tested.o"
    "$clang" "$work/execution.o" "$work/reference.$kernels.o" "$work/tested.o" -lm -o "$work/execution"
    local changed
    changed=$(grep -c ': done in ' "$work/report" || true)
    echo "$kernels, $target, $floating: $changed loops changed"
    [ "$changed" -gt 0 ] || { echo "FAILED: the plug-in changed nothing, so nothing is tested"; exit 1; }
    "$work/execution" "$floating" "$@"
    rm "$work/report"
}
padding=
for target in "${targets[@]}"; do
    compare kernels "$target" 460
    # Where a product is read again as a factor, a rounding that differs grows.
    # shellcheck disable=SC2046
    compare matrix_kernels "$target" 300 $([ "$floating" = fast ] || echo overlapping)
done
compare padded_rows "${targets[-1]}" 460
padding=-causeway-simd-padded
compare kernels "${targets[-1]}" 460 padded
