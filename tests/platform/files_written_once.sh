#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command on a folder that it fills, with words to read, and looks at the files that it leaves there.
set -euo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '42 words\na whole line\n' | "$@" "$scratch/folder" | tee "$scratch/shown"
[ "$(cat "$scratch/shown")" = "85 right" ]
[ "$(cat "$scratch/folder/stdio")" = "one TWO three" ]
[ "$(cat "$scratch/folder/renamed")" = "by a stream" ]
[ "$(cat "$scratch/folder/late")" = "late" ]
[ "$(cat "$scratch/folder/log")" = "logged" ]
[ "$(ls "$scratch/folder")" = $'late\nlog\nrenamed\nstdio' ]
