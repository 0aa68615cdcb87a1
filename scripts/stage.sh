#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command, then says how many minutes it took. Usage: stage.sh NAME COMMAND...
set -uo pipefail
name=$1
shift
begun=$SECONDS
"$@"
status=$?
taken=$((SECONDS - begun))
printf '== %s: %d min %02d s\n' "$name" $((taken / 60)) $((taken % 60))
exit "$status"
