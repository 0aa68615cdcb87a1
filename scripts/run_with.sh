#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command with a chosen OpenCL runtime, on a number of MPI ranks, under a sanitizer's options.
set -euo pipefail
shopt -s inherit_errexit

usage() {
    cat <<'TEXT'
usage: scripts/run_with.sh RUNTIME [OPTION]... -- COMMAND...

  RUNTIME               pocl     two PoCL devices (POCL_DEVICES says otherwise)
                        intel    Intel's CPU runtime from .venv (scripts/setup.sh intel)
                        both     pocl and intel
                        nvidia   NVIDIA's driver
                        system   every runtime that the machine has
                        none     as system, without suppression files: for programs that use no OpenCL and no MPI
  --platform ICD        the program sees one platform, the one that ICD names, which finds RUNTIME behind it
  --ranks N             start N ranks
  --mpiexec PATH        the launcher of the MPI that COMMAND was built with (default: Open MPI's, else mpirun)
  --mpi-option OPTION   hand OPTION to the launcher; may be repeated
  --sanitizer KIND      COMMAND was built with the sanitizer `address` (with or without `undefined`) or `thread`

Exits with COMMAND's status, or 77 if the runtime is not installed.
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

die() { echo "run_with: $1" >&2; exit 2; }
skip() { echo "run_with: skipped: $1" >&2; exit 77; }

[ $# -gt 0 ] || { usage >&2; exit 2; }
case $1 in -h | --help) usage; exit 0 ;; esac
runtime=$1
shift
platform=
ranks=0
mpiexec=
mpi_options=()
sanitizer=
while [ $# -gt 0 ]; do
    case $1 in
    --platform) platform=$2; shift 2 ;;
    --ranks) ranks=$2; shift 2 ;;
    --mpiexec) mpiexec=$2; shift 2 ;;
    --mpi-option) mpi_options+=("$2"); shift 2 ;;
    --sanitizer) sanitizer=$2; shift 2 ;;
    --) shift; break ;;
    -*) die "no option $1" ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || die "no command"

# Prints the first file that matches a pattern.
first_match() {
    local match
    match=$(compgen -G "$1") && echo "${match%%$'\n'*}"
}

vendor_files() {
    local file
    case $1 in
    pocl)
        file=$(first_match '/etc/OpenCL/vendors/pocl*.icd') || skip "PoCL is not installed (scripts/setup.sh build)"
        echo "$file" ;;
    intel)
        file=$root/.venv/opencl-vendors/intel.icd
        [ -e "$file" ] && [ -e "$(cat "$file")" ] ||
            skip "Intel's OpenCL runtime is not installed (scripts/setup.sh intel)"
        echo "$file" ;;
    nvidia)
        # Containers have the driver's library without the file that names it.
        if ! file=$(first_match '/etc/OpenCL/vendors/nvidia*.icd'); then
            # A reader that ends at the first match would break the pipe.
            ldconfig -p | grep 'libnvidia-opencl\.so\.1' >/dev/null || skip "NVIDIA's OpenCL is not installed"
            file=$root/build/opencl-vendors/nvidia-driver/nvidia.icd
            mkdir -p "${file%/*}"
            echo libnvidia-opencl.so.1 >"$file"
        fi
        echo "$file" ;;
    both)
        vendor_files pocl
        vendor_files intel ;;
    esac
}

# Tests run side by side share the folder: it is made elsewhere, complete, and then moved into place.
make_vendor_folder() {
    local folder=$root/build/opencl-vendors/$runtime fresh file
    mkdir -p "$root/build/opencl-vendors"
    fresh=$(mktemp -d "$root/build/opencl-vendors/.$runtime.XXXXXX")
    for file in "$@"; do
        cp "$file" "$fresh/"
    done
    if ! diff -rq "$fresh" "$folder" >/dev/null 2>&1 && ! mv -T "$fresh" "$folder" 2>/dev/null; then
        # Either another run was first, or the folder is out of date.
        if ! diff -rq "$fresh" "$folder" >/dev/null; then
            rm -rf "$folder"
            mv -T "$fresh" "$folder"
        fi
    fi
    rm -rf "$fresh"
    echo "$folder"
}

case $runtime in
pocl | intel | nvidia | both)
    files=$(vendor_files "$runtime")
    mapfile -t files <<<"$files"
    # ocl-icd 2.3.2 takes a folder for one only with the slash.
    OCL_ICD_VENDORS=$(make_vendor_folder "${files[@]}")/
    export OCL_ICD_VENDORS
    unset OCL_ICD_FILENAMES ;;
system | none) ;;
*) die "no runtime '$runtime'" ;;
esac

if [ -n "$platform" ]; then
    [ "$runtime" = none ] || export CAUSEWAY_VENDORS=${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}
    OCL_ICD_VENDORS=$(dirname "$(realpath "$platform")")/
    export OCL_ICD_VENDORS
fi

export POCL_DEVICES=${POCL_DEVICES:-pthread pthread}
export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$root/build/pocl-cache}
mkdir -p "$POCL_CACHE_DIR"

# Figures of the tuner stay in the build tree too.
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$root/build/cache}

# hwloc's plugins ask for every OpenCL platform, and ten X displays, inside MPI_Init.
export HWLOC_COMPONENTS=-opencl,-gl
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

wrapper=()
if [ "$runtime" != none ]; then
    lsan_suppressions=suppressions=$root/tests/suppressions/lsan.txt:print_suppressions=0
    # Intel's runtime and PoCL copy in code that they compile at run time, which has no name to suppress.
    tsan_suppressions=suppressions=$root/tests/suppressions/tsan.txt:ignore_noninstrumented_modules=1:
    # LLVM, in PoCL, gives a thread a signal stack from the heap; the address sanitizer takes it for its own and unmaps it.
    asan_signal_stack=:use_sigaltstack=0
fi
# UCX, MPICH's transport, patches the allocator at start, and the thread sanitizer crashes on it.
[ -z "$sanitizer" ] || export UCX_MEM_EVENTS=no
case $sanitizer in
'') ;;
address | address,undefined)
    export ASAN_OPTIONS=detect_leaks=1${asan_signal_stack:-}${ASAN_OPTIONS:+:$ASAN_OPTIONS}
    export LSAN_OPTIONS=${lsan_suppressions:-}${LSAN_OPTIONS:+:$LSAN_OPTIONS}
    export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS} ;;
thread)
    export TSAN_OPTIONS=${tsan_suppressions:-}second_deadlock_stack=1:history_size=7${TSAN_OPTIONS:+:$TSAN_OPTIONS}
    # GCC's thread sanitizer refuses to start under the address randomisation of newer kernels.
    if setarch -R true 2>/dev/null; then
        wrapper=(setarch -R)
    fi ;;
*) die "no sanitizer '$sanitizer'" ;;
esac

launcher=()
if [ "$ranks" -gt 0 ]; then
    [ -n "$mpiexec" ] || mpiexec=$(command -v mpirun.openmpi || command -v mpirun || command -v mpiexec) ||
        skip "no MPI launcher"
    command -v "$mpiexec" >/dev/null || skip "no MPI launcher $mpiexec"
    launcher=("$mpiexec" -n "$ranks")
    # Ranks of a test share cores, and each has threads: Open MPI must neither count slots nor bind.
    if "$mpiexec" --version 2>&1 | grep -e 'Open MPI' -e OpenRTE >/dev/null; then
        launcher+=(--oversubscribe --bind-to none)
    fi
    launcher+=("${mpi_options[@]}")
fi

[ "$ranks" -gt 0 ] || exec "${wrapper[@]}" "$@"
# Open MPI's launcher (4.1.4) crashes now and then after MPI_Abort, in PMIx_server_finalize: that is a status like others here.
status=0
"${wrapper[@]}" "${launcher[@]}" "$@" || status=$?
exit "$status"
