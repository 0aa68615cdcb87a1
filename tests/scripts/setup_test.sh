#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What scripts/setup.sh --check says is missing, and what installs it. Usage: setup_test.sh SCRIPT
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/scripts" "$folder/bin"
cp "$1" "$folder/scripts/setup.sh"
cd "$folder"
# Of the programs that it asks for, only those of this folder are there. Nothing may be installed.
for name in bash env dirname cat sed sort tr grep uname; do ln -s "$(command -v $name)" bin/; done
for name in apt-get python3; do printf '#!/usr/bin/env bash\n[ "${0##*/}" = python3 ] || echo "installs" >installed\n' >bin/$name; done
chmod +x bin/apt-get bin/python3

failed=0
# STATUS TEXT... -- GROUP...: of a check
expect() {
    local status=0 wanted=$1 texts=()
    shift
    while [ "$1" != -- ]; do texts+=("$1"); shift; done
    shift
    PATH=$folder/bin bash scripts/setup.sh --check "$@" >output 2>&1 || status=$?
    for text in "${texts[@]}"; do grep -qF -e "$text" output || status="$status without '$text'"; done
    [ "$status" = "$wanted" ] || { echo "FAILED: $*: status $status, not $wanted:"; cat output; failed=1; }
}
expect 1 'CMake 3.22 or newer' 'Ninja' 'MPI launcher (mpirun)' '`make setup` installs it' 'ninja-build' -- build
expect 1 'GoogleTest (gtest/gtest.h)' '`scripts/setup.sh build test` installs it' 'libgtest-dev' -- build test
expect 1 'lintian' 'mmdebstrap' -- package
for name in dpkg-buildpackage dh lintian mmdebstrap; do ln -s apt-get bin/$name; done
expect 0 -- package
expect 1 'pyopencl' 'PyPI, into .venv' -- python
[ "$(uname -m)" != x86_64 ] || expect 1 "Intel's CPU runtime" -- intel
[ ! -e installed ] || { echo "FAILED: a check installs"; failed=1; }
exit $failed
