#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a build into a temporary prefix, then builds and runs a stranger's project against it, both ways.
set -euo pipefail

if [ $# -ne 1 ]; then
    echo "usage: tests/install/run.sh BUILD_DIR" >&2
    exit 2
fi
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
run_with=$here/../../scripts/run_with.sh

cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

if [ -n "$(cached CAUSEWAY_SANITIZE)" ]; then
    echo "skipped: a library built with sanitizers is not for strangers"
    exit 77
fi
for tool in cmake pkg-config; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
cc=$(cached CMAKE_C_COMPILER)
cxx=$(cached CMAKE_CXX_COMPILER)
libdir=$(cached CMAKE_INSTALL_LIBDIR)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

step() { echo "== $*"; }

step install, and move
cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mv "$work/first" "$prefix"
test -e "$prefix/$libdir/libcauseway.so.0"
# Nothing that is read later names the place of the past, but for the platform's file, which loaders want so.
if grep -rlF "$work/first" "$prefix" | grep -v '/causeway\.icd$'; then
    echo "FAILED: these files name the folder that the tree was installed in"
    exit 1
fi

step install into DESTDIR
DESTDIR=$work/stage cmake --install "$build" --prefix /usr >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
test -e "$work/stage/usr/$libdir/libcauseway.so.0"
test -e "$work/stage/usr/include/CL/cl_data_transfer.h"
icd=share/causeway/opencl-vendors/causeway.icd
[ ! -e "$work/stage/usr/$icd" ] || test "$(cat "$work/stage/usr/$icd")" = "/usr/$libdir/causeway/libcauseway_icd.so"

# A stranger does not have our build's choices in his environment.
unset CMAKE_PREFIX_PATH PKG_CONFIG_PATH CPATH LIBRARY_PATH

# find_package PROJECT FOLDER C_COMPILER CXX_COMPILER FLAGS
find_package() {
    step "find_package: $1, $4 $5"
    cmake -S "$here/$1" -B "$work/$2" -D CMAKE_PREFIX_PATH="$prefix" -D CMAKE_C_COMPILER="$3" -D CMAKE_CXX_COMPILER="$4" \
        -D CMAKE_C_FLAGS="$5" -D CMAKE_CXX_FLAGS="$5" --no-warn-unused-cli >"$work/log" 2>&1 &&
        cmake --build "$work/$2" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}
compilers=("$cc $cxx" "clang-19 clang++-19")
for pair in "${compilers[@]}"; do
    read -r one other <<<"$pair"
    for level in -O0 -O3; do
        find_package project "project_${other##*/}$level" "$one" "$other" "$level"
    done
done
find_package project project "$cc" "$cxx" ""
find_package cpp_only_project cpp_only_project "$cc" "$cxx" -O0

step pkg-config
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
test "$(pkg-config --modversion causeway)" = "$(cached CMAKE_PROJECT_VERSION)"
read -ra cflags < <(pkg-config --cflags causeway)
read -ra libs < <(pkg-config --libs causeway)
mkdir "$work/pkg_config"
for pair in "${compilers[@]}"; do
    read -r one other <<<"$pair"
    for level in -O0 -O3; do
        "$one" -std=c99 -Wall -Wextra "$level" "${cflags[@]}" "$here/project/main.c" -o "$work/pkg_config/c_main" "${libs[@]}"
        for source in main mpi; do
            "$other" -Wall -Wextra "$level" "${cflags[@]}" "$here/project/$source.cpp" -o "$work/pkg_config/cpp_$source" "${libs[@]}"
        done
    done
done
sed -n '/^```c$/,/^```$/p' "$here/../../README.md" | sed '/^```/d' >"$work/pkg_config/readme.c"
"$cc" -std=c99 "${cflags[@]}" "$work/pkg_config/readme.c" -o "$work/pkg_config/readme" "${libs[@]}"

step "each public header alone, in C and C++"
mkdir "$work/headers"
for header in "$prefix"/include/CL/cl_*.h "$prefix"/include/causeway/*.h*; do
    name=${header#"$prefix"/include/}
    printf '#include <%s>\n' "$name" >"$work/headers/alone.cpp"
    cp "$work/headers/alone.cpp" "$work/headers/alone.c"
    "$cxx" -std=c++20 -Wall -Wextra -Werror -Wno-psabi -fsyntax-only "${cflags[@]}" "$work/headers/alone.cpp"
    [ "${name%.h}" = "$name" ] || "$cc" -std=c99 -Wall -Wextra -Werror -Wno-psabi -fsyntax-only "${cflags[@]}" "$work/headers/alone.c"
done

export LD_LIBRARY_PATH=$prefix/$libdir
if [ -e "$prefix/$libdir/libcauseway_tasks.so.0" ]; then
    step "tasks alone, without MPI and OpenCL"
    cmake -S "$here/tasks_project" -B "$work/tasks_project" -D CMAKE_PREFIX_PATH="$prefix" \
        -D CMAKE_CXX_COMPILER="$cxx" --no-warn-unused-cli >"$work/log" 2>&1 &&
        cmake --build "$work/tasks_project" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    "$work/tasks_project/cpp_main"
    read -ra cflags < <(pkg-config --cflags causeway_tasks)
    read -ra libs < <(pkg-config --libs causeway_tasks)
    printf '#include <causeway/omp_malloc.h>\nint main(void) { void *p = omp_malloc(9); causeway_free(p); return p == 0; }\n' \
        >"$work/pkg_config/tasks.c"
    "$cc" -std=c99 -Wall -Wextra "${cflags[@]}" "$work/pkg_config/tasks.c" -o "$work/pkg_config/tasks" "${libs[@]}"
    "$work/pkg_config/tasks"
    if ldd "$prefix/$libdir/libcauseway_tasks.so.0" | grep -E 'libmpi|libOpenCL'; then
        echo "FAILED: the library of tasks needs MPI or OpenCL"
        exit 1
    fi
fi
for program in project/c_main project/cpp_main project/mpi_main cpp_only_project/cpp_main cpp_only_project/mpi_main \
    pkg_config/c_main pkg_config/cpp_main pkg_config/cpp_mpi; do
    step "run $program"
    "$run_with" pocl -- "$work/$program"
done

if [ -e "$build/bin/causeway" ]; then
    for file in man/man1/causeway.1 bash-completion/completions/causeway zsh/site-functions/_causeway \
        fish/vendor_completions.d/causeway.fish; do
        test -s "$prefix/share/$file"
    done
    # It finds its libraries and what lies in share/ by itself.
    causeway() { env -u LD_LIBRARY_PATH "$run_with" pocl -- "$prefix/bin/causeway" "$@" >"$work/log"; }
    step run causeway
    causeway perf --routes file-read --sizes 64K --repetitions 1 --plot "$work/picture.png"
    test -s "$work/picture.png"
    causeway trace -o "$work/trace.json" -- "$work/project/c_main"
    causeway trace view "$work/trace.json"
    grep -qi '<html' "$work/trace.html"
    if [ -e "$prefix/$libdir/causeway/libcauseway_icd.so" ] && command -v clinfo >/dev/null; then
        causeway run --cluster -- clinfo -l
        grep -q '^Platform #0: Causeway$' "$work/log"
    fi
fi

step run the program of README.md
(
    cd "$work"
    head -c 4M /dev/zero | tr '\0' '@' >input.bin # every float is 0x40404040, and twice that 0x40c04040
    "$run_with" pocl -- pkg_config/readme
    head -c 4M /dev/zero | tr '\0' '@' | LC_ALL=C sed 's/@@@@/@@\xc0@/g' | cmp - output.bin
)
