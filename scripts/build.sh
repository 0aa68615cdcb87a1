#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures a preset of CMakePresets.json and builds it, or the target that TARGET names, into build/PRESET.
# Usage: build.sh PRESET tests|no-tests [CMAKE_OPTION]...
# no-tests: leaves the tests out, unless the folder has them already. JOBS: how many compilations at once.
set -euo pipefail
case ${1-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac

if [ $# -lt 2 ]; then
    echo "usage: scripts/build.sh PRESET tests|no-tests [CMAKE_OPTION]..." >&2
    exit 2
fi
preset=$1
tests=$2
shift 2
cd "$(dirname "${BASH_SOURCE[0]}")/.."

options=()
case $tests in
tests) options+=(-D CAUSEWAY_BUILD_TESTS=ON) ;;
# Taking the tests out and putting them back would configure anew each time.
*) [ -e "build/$preset/build.ninja" ] || options+=(-D CAUSEWAY_BUILD_TESTS=OFF) ;;
esac

# What was compiled before need not be compiled again; without debug information (-g) in whichever folder.
if command -v ccache >/dev/null; then
    export CCACHE_BASEDIR=${CCACHE_BASEDIR-$PWD}
    # Precompiled headers: what ccache needs to take them; and it hashes each once, not for every source.
    export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros} CCACHE_INODECACHE=${CCACHE_INODECACHE-1}
    export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER-ccache} CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
fi

# With two MPIs installed, plain mpicc and mpirun are whichever was chosen last: name Open MPI's.
if [ "$preset" != mpich ] && command -v mpicc.openmpi >/dev/null && command -v mpirun.openmpi >/dev/null; then
    options+=(-D MPI_C_COMPILER="$(command -v mpicc.openmpi)"
        -D MPI_CXX_COMPILER="$(command -v mpicxx.openmpi)"
        -D MPIEXEC_EXECUTABLE="$(command -v mpirun.openmpi)")
fi

cmake --preset "$preset" --log-level=NOTICE "${options[@]}" "$@"
cmake --build "build/$preset" -j "${JOBS:-$(nproc)}" ${TARGET:+--target "$TARGET"}
