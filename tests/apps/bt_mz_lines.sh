#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page has the lines of communication that the script counts. Usage: bt_mz_lines.sh ROOT
lines=$("$1/benchmarks/bt_mz.sh" --lines) && [ -n "$lines" ] || exit 1
echo "$lines" | {
    failed=0
    while read -r version count; do
        grep -q "^| \`$version\` |.* | $count |\$" "$1/docs/bt-mz.md" || { echo "FAILED: $version has $count lines"; failed=1; }
    done
    exit $failed
}
