#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the named groups need and what is missing; does nothing, without network, when all is there.
set -euo pipefail
shopt -s inherit_errexit

usage() {
    cat <<'TEXT'
usage: scripts/setup.sh [--check] GROUP...

  --check    installs nothing: says by name what is missing, and exits with 1 if something is

  build      compiler, CMake, Ninja, OpenCL headers and loader, PoCL, Open MPI, CLI11 and nlohmann/json
  test       GoogleTest, Python 3 with matplotlib, clinfo
  intel      the second OpenCL of the tests: Intel's CPU runtime, from PyPI into .venv (x86-64 only)
  python     what the tests of the Python package and of smith_waterman need (pyopencl, mpi4py, Biopython, ...),
             from PyPI into .venv
  compilers  Clang and LLVM 19, on which the directive compiler and the SIMD plug-in are built
  tasks      hwloc, which tells the task scheduler where memory and processors are, and SimGrid, beside which the tests
             run its simulator
  nodes      QEMU and a kernel: the tests' machine with 8 memory nodes (x86-64 only)
  lint       clang-format and clang-tidy 19
  mpich      the second MPI of the tests
  site       Sphinx, from PyPI into .venv, and mandoc, for the documentation as a site
  package    debhelper, lintian and mmdebstrap, which make and try the Debian packages
  browser    Chromium without a window, for the test of the page that causeway trace view makes
  sanitize   the run-time libraries of the address, undefined and thread sanitizers, of g++ and of Clang 19
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Pinned, so that two machines test the same runtime.
intel_packages=(intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0)
python_packages=(pyopencl==2026.1.4 mpi4py==4.1.2 pytest==9.2.0 mypy==2.4.1 biopython==1.88)
site_packages=(sphinx==9.0.4 myst-parser==5.2.0 furo==2025.12.19)

# The interpreter of Debian's Python as a library.
shared_python() { /usr/bin/python3 -c 'import sys; print("libpython%d.%d" % sys.version_info[:2])' 2>/dev/null || echo python3; }

debian_packages() {
    case $1 in
    build) echo g++ cmake ninja-build pkg-config ocl-icd-opencl-dev opencl-headers pocl-opencl-icd \
        libopenmpi-dev openmpi-bin libcli11-dev nlohmann-json3-dev libvulkan-dev ;;
    test) echo libgtest-dev libgmock-dev python3 python3-matplotlib clinfo ;;
    intel) echo python3 python3-venv ;;
    python) echo python3 python3-venv "$(shared_python)" ;;
    site) echo python3 python3-venv mandoc ;;
    package) echo build-essential debhelper dh-python lintian mmdebstrap python3 ;;
    compilers) echo clang-19 llvm-19-dev libclang-19-dev oclgrind ;;
    tasks) echo libhwloc-dev libsimgrid-dev ;;
    nodes)
        [ "$(uname -m)" = x86_64 ] || return 0
        echo qemu-system-x86 cpio
        # Ubuntu's small kernel has another name.
        if grep -q '^ID=ubuntu' /etc/os-release; then echo linux-image-virtual; else echo linux-image-cloud-amd64; fi ;;
    lint) echo clang-format-19 clang-tidy-19 ;;
    mpich) echo mpich libmpich-dev ;;
    sanitize) echo g++ clang-19 libclang-rt-19-dev ;; # g++ brings its own
    esac
}

# Runs apt-get as root.
apt_get() {
    local sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}

install_debian_packages() {
    local missing
    # dpkg-query fails for a package it has never heard of; its answer for the others still counts.
    missing=$(comm -23 <(printf '%s\n' "$@" | sort -u) \
        <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' | sort -u))
    [ -n "$missing" ] || return 0
    # shellcheck disable=SC2086
    set -- $missing
    if [ "$(id -u)" -ne 0 ] && ! has_command sudo; then
        echo "setup: missing packages; as root: apt-get install $*" >&2
        return 1
    fi
    echo "setup: installing $*"
    apt_get update || echo "setup: apt-get update failed; trying with the package lists that are there" >&2
    apt_get install -y --no-install-recommends "$@"
}

has_command() { command -v "$1" >/dev/null 2>&1; }
has_header() { printf '#include <%s>\n' "$1" | c++ -E -x c++ - >/dev/null 2>&1; }
has_library() { echo 'int main() {}' | c++ -x c++ - -o /dev/null "-l$1" >/dev/null 2>&1; }
has_sanitizer() { echo 'int main() {}' | c++ -x c++ - -o /dev/null "-fsanitize=$1" >/dev/null 2>&1; }
has_matplotlib() { python3 -c 'import matplotlib' 2>/dev/null || /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; }
has_python_venv() { find_python >/dev/null; }
has_pocl() { compgen -G '/etc/OpenCL/vendors/pocl*.icd' >/dev/null; }
has_browser() {
    has_command chromium-headless-shell || has_command chromium || has_command chromium-browser || has_command google-chrome
}
has_clang_headers() { [ -e "$(llvm-config-19 --includedir 2>/dev/null)/clang/AST/AST.h" ]; }
has_lint() { has_command clang-format-19 && has_command clang-tidy-19; }
has_clang_sanitizers() { echo 'int main() {}' | clang++-19 -x c++ - -o /dev/null -fsanitize=address,undefined >/dev/null 2>&1; }
has_kernel() { compgen -G '/boot/vmlinuz-*' >/dev/null; }
has_mpich() { has_command mpicc.mpich && has_command mpirun.mpich; }

# Prints "name of the piece" for each one of the group that is missing.
missing_pieces() {
    local name
    while IFS='|' read -r name check; do
        [ -n "$name" ] || continue
        $check || echo "$name"
    done < <(case $1 in
    build) cat <<'TEXT'
a C++20 compiler (c++)|has_command c++
CMake 3.22 or newer|has_command cmake
Ninja|has_command ninja
pkg-config|has_command pkg-config
OpenCL headers (CL/cl.h)|has_header CL/cl.h
OpenCL loader (libOpenCL)|has_library OpenCL
PoCL, an OpenCL for the CPU (/etc/OpenCL/vendors/pocl.icd)|has_pocl
MPI compiler wrapper (mpicc)|has_command mpicc
MPI launcher (mpirun)|has_command mpirun
CLI11 (CLI/App.hpp)|has_header CLI/App.hpp
nlohmann/json (nlohmann/json.hpp)|has_header nlohmann/json.hpp
Vulkan headers (vulkan/vulkan_core.h)|has_header vulkan/vulkan_core.h
TEXT
        ;;
    test) cat <<'TEXT'
GoogleTest (gtest/gtest.h)|has_header gtest/gtest.h
GoogleMock (gmock/gmock.h)|has_header gmock/gmock.h
Python 3 (python3)|has_command python3
matplotlib for Python 3|has_matplotlib
clinfo|has_command clinfo
TEXT
        ;;
    intel | python) echo 'Python 3 with venv and ensurepip|has_python_venv' ;;
    site) cat <<'TEXT'
Python 3 with venv and ensurepip|has_python_venv
mandoc|has_command mandoc
TEXT
        ;;
    package) cat <<'TEXT'
dpkg-buildpackage|has_command dpkg-buildpackage
debhelper (dh)|has_command dh
lintian|has_command lintian
mmdebstrap|has_command mmdebstrap
TEXT
        ;;
    compilers) cat <<'TEXT'
Clang 19 (clang-19)|has_command clang-19
LLVM 19 with headers (llvm-config-19)|has_command llvm-config-19
Clang's own headers and libraries (libclang-19-dev)|has_clang_headers
TEXT
        ;;
    tasks) cat <<'TEXT'
hwloc (hwloc.h)|has_header hwloc.h
SimGrid (simgrid/s4u.hpp)|has_header simgrid/s4u.hpp
TEXT
        ;;
    nodes) cat <<'TEXT'
QEMU (qemu-system-x86_64)|has_command qemu-system-x86_64
cpio|has_command cpio
a kernel (/boot/vmlinuz-*)|has_kernel
TEXT
        ;;
    lint) echo 'clang-format 19 and clang-tidy 19|has_lint' ;;
    mpich) echo 'MPICH (mpicc.mpich, mpirun.mpich)|has_mpich' ;;
    browser) echo 'Chromium (chromium-headless-shell, chromium or google-chrome)|has_browser' ;;
    sanitize) cat <<'TEXT'
AddressSanitizer (libasan)|has_sanitizer address
UndefinedBehaviorSanitizer (libubsan)|has_sanitizer undefined
ThreadSanitizer (libtsan)|has_sanitizer thread
AddressSanitizer of Clang 19 (libclang-rt-19-dev)|has_clang_sanitizers
TEXT
        ;;
    esac)
}

# The first Python that can make a virtual environment with pip in it; Debian's lacks ensurepip without python3-venv.
find_python() {
    local candidate
    for candidate in python3 /usr/bin/python3; do
        if "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

venv=$root/.venv

# has_from_pypi STAMP PACKAGE...: whether the stamp in .venv names these packages.
has_from_pypi() {
    local stamp=$venv/$1
    shift
    [ "$(cat "$stamp" 2>/dev/null)" = "$*" ]
}

# As missing_pieces(), for what install_from_pypi() installs.
missing_from_pypi() {
    case $1 in
    intel) [ "$(uname -m)" != x86_64 ] || has_from_pypi intel-opencl.stamp "${intel_packages[@]}" || echo "Intel's CPU runtime (PyPI, into .venv)" ;;
    python) has_from_pypi python.stamp "${python_packages[@]}" || echo "${python_packages[*]%%==*} (PyPI, into .venv)" ;;
    site) has_from_pypi site.stamp "${site_packages[@]}" || echo "${site_packages[*]%%==*} (PyPI, into .venv)" ;;
    esac
}

# install_from_pypi STAMP PACKAGE...: into .venv, unless they are there.
install_from_pypi() {
    if has_from_pypi "$@"; then return 0; fi
    local stamp=$venv/$1 python
    shift
    if ! python=$(find_python); then
        echo "setup: no python3 with venv and ensurepip" >&2
        return 1
    fi
    echo "setup: installing $* into .venv"
    rm -f "$stamp"
    # An environment that was moved or lost its interpreter does not start: make it anew.
    if ! "$venv/bin/python" -m pip --version 2>/dev/null | grep -qF "$venv/"; then
        "$python" -m venv --clear "$venv"
    fi
    if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"; then
        echo "setup: could not install $* from PyPI; the other groups do not need it" >&2
        return 1
    fi
    echo "$*" >"$stamp"
}

install_intel_runtime() {
    if [ "$(uname -m)" != x86_64 ]; then
        echo "setup: Intel's OpenCL runtime needs x86-64; its tests will be skipped"
        return 0
    fi
    local library=$venv/lib/libintelocl.so
    [ -e "$library" ] || rm -f "$venv/intel-opencl.stamp"
    install_from_pypi intel-opencl.stamp "${intel_packages[@]}"
    # By absolute path: the library finds its neighbours through its own run path, and the folder's libOpenCL and
    # libhwloc stay out of everybody's sight.
    if [ "$(cat "$venv/opencl-vendors/intel.icd" 2>/dev/null)" != "$library" ]; then
        mkdir -p "$venv/opencl-vendors"
        echo "$library" >"$venv/opencl-vendors/intel.icd"
    fi
}

install_sphinx() {
    local python
    if python=$(find_python) && ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo "setup: Sphinx needs Python 3.11 or newer; the test of the site will be skipped"
        return 0
    fi
    install_from_pypi site.stamp "${site_packages[@]}"
}

# Ubuntu has Chromium as a snap alone, which needs a service that containers lack.
install_browser() {
    local package=chromium-headless-shell
    if has_browser; then return 0; fi
    apt-cache show "$package" >/dev/null 2>&1 || apt_get update || true
    if ! apt-cache show "$package" >/dev/null 2>&1; then
        echo "setup: this system has no package $package; the test of the page will be skipped without a Chromium"
        return 0
    fi
    install_debian_packages "$package"
}

check=
if [ "${1-}" = --check ]; then
    check=yes
    shift
fi
[ $# -gt 0 ] || { usage >&2; exit 2; }
for group in "$@"; do
    case $group in
    build | test | intel | python | site | package | compilers | tasks | nodes | lint | mpich | browser | sanitize) ;;
    -h | --help) usage; exit 0 ;;
    *) echo "setup: no group '$group'" >&2; usage >&2; exit 2 ;;
    esac
done

if [ -n "$check" ]; then
    missing=$(for group in "$@"; do missing_pieces "$group"; missing_from_pypi "$group"; done | sort -u)
    [ -n "$missing" ] || exit 0
    echo "Missing here:" >&2
    sed 's/^/  /' <<<"$missing" >&2
    if has_command apt-get; then
        packages=$(for group in "$@"; do debian_packages "$group"; done | tr '\n' ' ')
        installer="scripts/setup.sh $*"
        [ "$*" != build ] || installer='make setup'
        printf '`%s` installs it. Its packages of Debian, as root:\n  apt-get install %s\n' "$installer" "$packages" >&2
    fi
    exit 1
fi

if has_command apt-get && has_command dpkg-query; then
    packages=()
    for group in "$@"; do
        # shellcheck disable=SC2207
        packages+=($(debian_packages "$group"))
    done
    install_debian_packages "${packages[@]}"
else
    missing=$(for group in "$@"; do missing_pieces "$group"; done | sort -u)
    if [ -n "$missing" ]; then
        echo "setup: packages are installed on Debian and its kin only. Missing here:" >&2
        sed 's/^/  /' <<<"$missing" >&2
        exit 1
    fi
fi

for group in "$@"; do
    case $group in
    browser) install_browser ;;
    intel) install_intel_runtime ;;
    python) install_from_pypi python.stamp "${python_packages[@]}" ;;
    site) install_sphinx ;;
    esac
done
