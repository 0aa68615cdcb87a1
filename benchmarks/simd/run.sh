#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles files of kernels in every way that can be had here, and compares their times and results: GCC 12, clang 19, by hand with
# intrinsics, and with the plug-in; at the default width and with vectors of 512 bits where the processor has them.
# usage: run.sh PLUGIN [KERNELS.c [FLAG...]], as in run.sh build/release/lib/libcauseway_simd.so rows.c -ffast-math
# Without KERNELS.c: all of them, which is the record of docs/simd.md, in about 5 minutes. ROUNDS=30 of each. BEFORE=PLUGIN: another one beside it.
set -euo pipefail

if [ $# -lt 1 ]; then
    sed -n 's/^# \(usage:.*\)/\1/p' "$0" >&2
    exit 2
fi
plugin=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ $# -eq 1 ]; then
    for set in rows.c "rows.c -ffast-math" matrices.c alignment.c "alignment.c -D CAUSEWAY_PADDED"; do
        # shellcheck disable=SC2086
        "${BASH_SOURCE[0]}" "$plugin" $set
        echo
    done
    exit
fi
kernels=$2
shift 2
[ -e "$kernels" ] || kernels=$here/$kernels
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Where a loop begins within a cache line is chance: the same for all.
common=(-O3 -march=native -falign-loops=64 -falign-functions=64 -shared -fPIC -I "$here" "$@")
widths=("")
native=$(clang-19 -march=native -dM -E -x c /dev/null)
if grep -q __AVX512VL__ <<<"$native"; then widths+=("-512"); fi
with() { printf -- '-fplugin=%s\n-fpass-plugin=%s\n' "$1" "$1"; }
ways=()
way() {
    local name=$1 file=$2
    shift 2
    "$@" -o "$work/$name.so" "$file" -lm
    ways+=("$name=$work/$name.so")
}
compiled() { # NAME COMPILER FLAG...
    local name=$1 width
    shift
    for width in "${widths[@]}"; do
        way "$name$width" "$kernels" "$@" "${common[@]}" ${width:+-mprefer-vector-width=512}
    done
}
if command -v gcc >/dev/null; then compiled gcc gcc; fi
compiled clang clang-19
by_hand=$here/by_hand/$(basename "$kernels")
if [ -e "$by_hand" ]; then way by-hand "$by_hand" clang-19 "${common[@]}"; fi
mapfile -t flags < <(with "${BEFORE-}")
[ -z "${BEFORE-}" ] || compiled before clang-19 "${flags[@]}"
mapfile -t flags < <(with "$plugin")
compiled plug-in clang-19 "${flags[@]}"

echo "# $(sed -n 's/^model name.*: //p;T;q' /proc/cpuinfo); $(clang-19 --version | head -1); $(gcc --version | head -1)"
echo "# $(basename "$kernels") $*; causeway $(git -C "$here" rev-parse --short HEAD); load $(cut -d ' ' -f 1 /proc/loadavg)"
clang-19 -O2 "$here/compare.c" -ldl -lm -o "$work/compare"
"$work/compare" "${ROUNDS:-30}" "${ways[@]}"
