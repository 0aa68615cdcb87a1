#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the library, then the package with pip into a fresh virtual environment, and runs a transfer. With
# CAUSEWAY_TEST_COMPILE=1 also without an installed library, which compiles it again. The same from a source distribution,
# which has none of the tree around the package.
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
step make a source distribution, and install that
python=$work/on-installed/bin/python
"$python" -m pip install --quiet --disable-pip-version-check scikit-build-core
(cd "$root/bindings/python" && "$python" -c "from scikit_build_core.build import build_sdist; build_sdist('$work')" >"$work/log")
"$python" -m pip uninstall --quiet --yes causeway
env CMAKE_PREFIX_PATH="$work/prefix" "$python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --no-build-isolation "$work"/causeway-*.tar.gz
(cd "$work" && "$root/scripts/run_with.sh" none -- "$python" -c "import causeway; print('causeway', causeway.__version__)")
if [ -n "${CAUSEWAY_TEST_COMPILE:-}" ]; then
    step install the package by itself
    install_and_run by-itself CMAKE_PREFIX_PATH=
fi
