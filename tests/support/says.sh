#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Passes if COMMAND ends with STATUS and says what PATTERN (extended, over lines) matches. Usage: says.sh STATUS PATTERN COMMAND...
set -uo pipefail
expected=$1 pattern=$2
shift 2
status=0
output=$("$@" 2>&1) || status=$?
printf '%s\n' "$output"
[ "$status" -eq "$expected" ] || { echo "FAILED: status $status, not $expected"; exit 1; }
[[ $output =~ $pattern ]] || { echo "FAILED: not said: $pattern"; exit 1; }
