#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sends a film that is larger than the device's memory through `video` from pipe to pipe, as a graph and plainly, stores
# nothing, and compares the sums of both results.
# Usage: scripts/run_with.sh pocl -- scripts/long_film.sh build/release/bin/video [GIGABYTES [WIDTH HEIGHT]]
# Without a size it is a twentieth larger than the memory. POCL_MEMORY_LIMIT=1 gives PoCL's devices one gigabyte.
set -euo pipefail
case ${1-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac

[ $# -ge 1 ] || { echo "usage: scripts/long_film.sh VIDEO [GIGABYTES [WIDTH HEIGHT]]" >&2; exit 2; }
video=$1
megabytes=${2:+$(($2 * 1000))}
width=${3:-1920}
height=${4:-1080}
if [ -z "$megabytes" ]; then
    memory=$("$video" --make --width 64 --height 64 --frames 1 - | "$video" - /dev/null |
        sed -n 's/^.*, \([0-9]*\)\.[0-9] MB of memory$/\1/p')
    megabytes=$((memory * 105 / 100))
fi
# Luma, two planes of colour of a quarter each, a line.
frame=$((width * height + (width + 1) / 2 * ((height + 1) / 2) * 2 + 6))
frames=$((megabytes * 1000000 / frame + 30))
echo "$frames frames of $width x $height, more than $megabytes MB"

sum_of() {
    "$video" --make --width "$width" --height "$height" --frames "$frames" --cycle 24 - |
        "$video" "$@" - - | "$video" --sum -
}
graph=$(sum_of)
echo "graph: $graph"
plain=$(sum_of --plain)
echo "plain: $plain"
if [ "$graph" != "$plain" ] || [[ $graph != "$frames frames"* ]]; then
    echo "FAILED: the films differ"
    exit 1
fi
echo "both films are the same: verified"
