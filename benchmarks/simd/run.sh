#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles a file of kernels in every way that can be had here, and compares them.
# usage: run.sh PLUGIN KERNELS.c [FLAG...], as in run.sh build/release/lib/libcauseway_simd.so rows.c -ffast-math
set -euo pipefail

if [ $# -lt 2 ]; then
    sed -n '4s/^# //p' "$0" >&2
    exit 2
fi
plugin=$(realpath "$1") kernels=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ -e "$kernels" ] || kernels=$here/$kernels
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

common=(-O3 -march=native -shared -fPIC -I "$here" "$@")
with_plugin=("-fplugin=$plugin" "-fpass-plugin=$plugin")
ways=()
way() {
    local name=$1
    shift
    "$@" -o "$work/$name.so" "$kernels" -lm
    ways+=("$name=$work/$name.so")
}
if command -v gcc >/dev/null; then
    way gcc gcc "${common[@]}"
    way gcc-512 gcc "${common[@]}" -mprefer-vector-width=512
fi
way clang clang-19 "${common[@]}"
way clang-512 clang-19 "${common[@]}" -mprefer-vector-width=512
way plug-in clang-19 "${common[@]}" "${with_plugin[@]}"
way plug-in-512 clang-19 "${common[@]}" -mprefer-vector-width=512 "${with_plugin[@]}"

echo "# $(sed -n 's/^model name.*: //p;T;q' /proc/cpuinfo); $(clang-19 --version | head -1); $(gcc --version | head -1)"
echo "# $(basename "$kernels") $*; causeway $(git -C "$here" rev-parse --short HEAD)"
clang-19 -O2 "$here/compare.c" -ldl -lm -o "$work/compare"
"$work/compare" "${ways[@]}"
