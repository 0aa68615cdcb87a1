#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs Python with the package of the source tree and the given libcauseway: run.sh LIBRARY ARGUMENT...
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=$root/.venv/bin/python
if ! [ -e "$root/.venv/python.stamp" ]; then
    echo "skipped: the packages for tests of Python are not installed (scripts/setup.sh python)"
    exit 77
fi
export LIBCAUSEWAY=$1
export PYTHONPATH=$root/bindings/python/src MYPYPATH=$root/bindings/python/src
# Compiled files and caches stay out of the source tree.
export PYTHONDONTWRITEBYTECODE=1 MYPY_CACHE_DIR=$root/build/cache/mypy PYTEST_ADDOPTS="-p no:cacheprovider --color=no"
# What a compiler says about a kernel that it compiles is no failure.
export PYTHONWARNINGS=ignore
shift
exec "$python" "$@"
