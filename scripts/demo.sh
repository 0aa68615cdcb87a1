#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the demonstration of `make demo`, and ends with what it has shown. Usage: demo.sh [RUNTIME]
# RUNTIME: pocl (default), or another one of scripts/run_with.sh. Build the target demo first.
set -euo pipefail
case ${1-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac

runtime=${1:-pocl}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
bin=build/release/bin
shown=build/demo
mkdir -p "$shown"

echo '== Himeno on two ranks: serial, overlapped by hand, and with Causeway, each verified'
scripts/run_with.sh "$runtime" --ranks 2 -- "$bin/himeno" --size S --iterations 20 --rounds 3 --version all --verify |
    tee "$shown/himeno.txt"

echo
echo '== A slow file through a kernel: read, then compute; and both at once, as commands'
scripts/run_with.sh "$runtime" -- "$bin/slow_file" | tee "$shown/slow-file.txt"

# Recorded by the library, with the program's kernels and reads by what `causeway trace` loads in front of a program.
page=
rm -f "$shown"/slow-file.json*
if [ -x "$bin/timeline_page" ] &&
    scripts/run_with.sh "$runtime" -- env CAUSEWAY_TRACE="$shown/slow-file.json" LD_PRELOAD="$root/build/release/lib/causeway/libcauseway_trace.so" \
        "$bin/slow_file" --rounds 1 >"$shown/trace.txt" 2>&1; then
    "$bin/timeline_page" "$shown/slow-file.json" "$shown/slow-file.html"
    page=$shown/slow-file.html
fi

lines() { awk -v name="$1" '$1 == name { sub(/ *WRONG/, ""); print $NF }' "$shown/himeno.txt"; }
echo
echo '== What was shown'
sed 's/^a slow/1. A slow/' "$shown/slow-file.txt"
echo "2. Communication in overlapped Himeno: $(lines hand) lines by hand, $(lines causeway) with Causeway; both verified on two ranks."
if [ -n "$page" ]; then
    echo "3. What waited for what: open $root/$page in a browser."
else
    echo "3. No timeline: CLI11 or nlohmann/json were missing (scripts/setup.sh build)."
fi
