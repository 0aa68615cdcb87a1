#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: linked_peers.sh COMPILER    runs peers.c, which has to copy over links between devices
set -euo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
CAUSEWAY_EXPLAIN=1 "$(dirname "$0")/compile_and_run.sh" "$1" "$(dirname "$0")/peers.c" 2>"$log" || { cat "$log"; exit 1; }
grep -q '200000 B: direct,' "$log" || { head -n 20 "$log"; echo 'no copy took a link'; exit 1; }
