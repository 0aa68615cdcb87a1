#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles allocations.c for arrays that are padded, for each vector extension of this processor, and runs it with memory of causeway_malloc().
set -euo pipefail

if [ $# -ne 3 ]; then
    echo "usage: allocations.sh CLANG PLUGIN BUILD (which has lib/libcauseway_tasks.so)" >&2
    exit 2
fi
clang=$1 plugin=$2 build=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

. "$here/processor.sh"
targets=("-march=haswell" "-march=haswell -mtune=znver3")
if has_avx512; then
    targets+=("-march=skylake-avx512 -mprefer-vector-width=512")
fi
for target in "${targets[@]}"; do
    # shellcheck disable=SC2086
    "$clang" -O3 $target -Wall -Wextra -Werror -fplugin="$plugin" -fpass-plugin="$plugin" -mllvm -causeway-simd-padded \
        -I"$here/../../include" "$here/allocations.c" "$build/lib/libcauseway_tasks.so" -Wl,-rpath,"$build/lib" -o "$work/allocations"
    echo "$target"
    "$work/allocations"
done
