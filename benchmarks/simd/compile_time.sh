#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles a file without and with the plug-in, in turns, and prints the user time of each: the best, the median, and the median of the
# rounds' ratios. usage: compile_time.sh PLUGIN ROUNDS FILE.c [FLAG...], as in compile_time.sh libcauseway_simd.so 12 sqlite3.c -O2
set -euo pipefail

if [ $# -lt 3 ]; then
    sed -n 's/^#.*\(usage:.*\)/\1/p' "$0" >&2
    exit 2
fi
plugin=$(realpath "$1") rounds=$2 file=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-w -O3 -march=native "$@" -c "$file" -o "$work/out.o")
with=("-fplugin=$plugin" "-fpass-plugin=$plugin")
TIMEFORMAT=%U
seconds() { { time clang-19 "$@" 2>&3; } 3>&2 2>&1; }
seconds "${flags[@]}" >/dev/null
for ((round = 0; round < rounds; ++round)); do
    # Now the one first, now the other.
    if ((round % 2)); then
        plugged=$(seconds "${with[@]}" "${flags[@]}")
        plain=$(seconds "${flags[@]}")
    else
        plain=$(seconds "${flags[@]}")
        plugged=$(seconds "${with[@]}" "${flags[@]}")
    fi
    echo "$plain $plugged"
done | python3 -c '
import statistics, sys
plain, plugged = zip(*(map(float, line.split()) for line in sys.stdin))
ratio = statistics.median(b / a for a, b in zip(plain, plugged))
print(f"best {min(plain):.2f} and {min(plugged):.2f} s ({min(plugged) / min(plain) - 1:+.1%}), median "
      f"{statistics.median(plain):.2f} and {statistics.median(plugged):.2f} s ({ratio - 1:+.1%} by rounds)")'
