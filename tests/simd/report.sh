#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The report of the SIMD plug-in says what was done, and one that cannot be written does not break a build.
set -euo pipefail

if [ $# -ne 2 ]; then
    echo "usage: report.sh CLANG PLUGIN" >&2
    exit 2
fi
clang=$1 plugin=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile() {
    "$clang" -O3 -march=haswell -fplugin="$plugin" -fpass-plugin="$plugin" -mllvm -causeway-simd-report="$1" \
        -c "$here/stranger/rows.c" -o "$work/rows.o" 2>"$work/stderr" || { cat "$work/stderr"; exit 1; }
}
expect() { [ "$(grep -c "$1" "$2")" = "$3" ] || { echo "FAILED: not $3 lines of \"$1\" in $2:"; cat "$2"; exit 1; }; }

compile "$work/report"
expect 'rows.c: done in add: 31 iterations' "$work/report" 1
lines=$(wc -l <"$work/report")
[ "$lines" -gt 1 ] || { echo "FAILED: only one loop in the report, so nothing can be said twice"; exit 1; }
compile -
expect '' "$work/stderr" "$lines"
# A full disk, and no folder.
for file in /dev/full "$work/none/report"; do
    rm "$work/rows.o"
    compile "$file"
    expect "causeway-simd: no report in $file" "$work/stderr" 1
    expect '' "$work/stderr" 1
    [ -s "$work/rows.o" ]
done
