#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the library, then the package with pip into a fresh virtual environment, and runs a transfer. With
# CAUSEWAY_TEST_COMPILE=1 also without an installed library, which compiles it again.
set -euo pipefail

build=$(cd "$1" && pwd)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if ! [ -e "$root/.venv/python.stamp" ]; then
    echo "skipped: the packages for tests of Python are not installed (scripts/setup.sh python)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LIBCAUSEWAY PYTHONPATH

step() { echo "== $*"; }

# install_and_run NAME [PIP_VARIABLE=VALUE]...: what the package needs is that of the tests, to save the time to fetch
# it.
install_and_run() {
    local venv=$work/$1
    shift
    "$root/.venv/bin/python" -m venv "$venv"
    local packages
    packages=$(echo "$venv"/lib/python3*/site-packages)
    echo "$root"/.venv/lib/python3*/site-packages >"$packages/packages_of_the_tests.pth"
    env "$@" "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$root/bindings/python"
    (
        cd "$work"
        "$root/scripts/run_with.sh" pocl -- "$venv/bin/python" "$root/tests/install/transfer.py" "$packages"
    )
}

step install the library
cmake --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
step install the package on it
install_and_run on-installed CMAKE_PREFIX_PATH="$work/prefix"
if [ -n "${CAUSEWAY_TEST_COMPILE:-}" ]; then
    step install the package by itself
    install_and_run by-itself CMAKE_PREFIX_PATH=
fi
