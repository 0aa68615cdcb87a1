#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command whose Python finds the packages of the virtual environment, whichever Python that is.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
packages=$(echo "$root"/.venv/lib/python3*/site-packages)
[ -d "$packages" ] || { echo "no packages in .venv (scripts/setup.sh python)" >&2; exit 77; }
PYTHONPATH=$packages exec "$@"
