#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a program on two ranks, whose monotonic clocks differ, as those of two nodes do.
# usage: other_clock.sh CAUSEWAY PROGRAM [ARGUMENT]...
set -euo pipefail

causeway=$1
shift
unshare --time --monotonic 100000 true 2>/dev/null || { echo "skipped: no other time of a process's own" >&2; exit 77; }
# shellcheck disable=SC2016 # the ranks' shells expand it
exec "$causeway" run --cluster -n 2 -- sh -c \
    'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ]; then exec "$@"; fi
     unshare --time --monotonic 100000 --fork "$@" || { echo "the other rank has not waited"; exit 1; }' sh "$@"
