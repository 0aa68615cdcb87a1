#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds a stranger's project with find_package(Causeway COMPONENTS simd), and one that asks another compiler for the plug-in.
set -euo pipefail

if [ $# -ne 3 ]; then
    echo "usage: stranger.sh CLANG BUILD_DIR LIBDIR" >&2
    exit 2
fi
clang=$1 build=$2 libdir=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What the rules of installation put there for this component.
prefix=$work/prefix
cmake --install "$build/compiler/simd" --prefix "$prefix" >/dev/null
mkdir -p "$prefix/$libdir/cmake/Causeway"
cp "$build"/package/CausewayConfig*.cmake "$here/../../cmake/CausewaySimd.cmake" "$prefix/$libdir/cmake/Causeway"

quiet() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }
quiet cmake -S "$here/stranger" -B "$work/clang" -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_C_COMPILER="$clang"
quiet cmake --build "$work/clang"
grep 'rows.c: done in add: 31 iterations are 4 steps of 8 lanes, the last one masked' "$work/clang/report.txt"
if grep -q __AVX2__ <("$clang" -march=native -dM -E -x c /dev/null); then "$work/clang/rows"; fi

if command -v gcc >/dev/null; then
    quiet cmake -S "$here/stranger" -B "$work/gcc" -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_C_COMPILER=gcc
    grep -A1 'causeway_simd(rows): C is compiled without the plug-in' "$work/log"
    quiet cmake --build "$work/gcc"
fi

# Without the plug-in the package says so.
rm "$prefix/$libdir/causeway/libcauseway_simd.so"
if cmake -S "$here/stranger" -B "$work/none" -D CMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1; then
    echo "FAILED: found a plug-in that is not there"
    exit 1
fi
tr -s ' \n' ' ' <"$work/log" | grep -o 'this Causeway was built without LLVM 19, so it has no SIMD plug-in'
