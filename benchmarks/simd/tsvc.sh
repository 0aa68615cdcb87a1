#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The loops of TSVC_2 (github.com/UoB-HPC/TSVC_2), by clang 19 and with the plug-in, at the default width and at 512 bits, in one program and
# in turns. usage: tsvc.sh PLUGIN TSVC_2/src [SECONDS [LEN_1D LEN_2D [FLAG...]]]
# LEN_1D and LEN_2D are 32000 and 256, as there; 31980 and 252 leave every loop a rest. Fails if a checksum differs,
# as those of s312, s319 and vsumr do with -ffast-math, which lets sums be rounded in another order.
set -euo pipefail

if [ $# -lt 2 ]; then
    sed -n 's/^#.*\(usage:.*\)/\1/p' "$0" >&2
    exit 2
fi
plugin=$(realpath "$1") tsvc=$(realpath "$2") seconds=${3:-60} one=${4:-32000} two=${5:-256}
flags=("${@:6}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$tsvc"/*.[ch] "$here/tsvc/driver.c" "$work/"
sed -i "s/^#define iterations.*/#define iterations 300/;s/^#define LEN_1D.*/#define LEN_1D $one/;s/^#define LEN_2D.*/#define LEN_2D $two/" \
    "$work/common.h"
sed -i '/printf("%5s/d' "$work/common.c" # each function's name, each time
loops=$(sed -n 's/^    time_function(&\([a-z0-9]*\),.*/\1/p' "$tsvc/tsvc.c")
sed -n 's/^    time_function(&/time_function(/p' "$tsvc/tsvc.c" >"$work/loops.inc"
{
    for loop in $loops; do printf 'real_t way0_%s(struct args_t*), way1_%s(struct args_t*), way2_%s(struct args_t*), way3_%s(struct args_t*);\n' \
        "$loop" "$loop" "$loop" "$loop"; done
    echo '#define ADD(f, ...) add(#f, way0_##f, way1_##f, way2_##f, way3_##f, __VA_ARGS__, 0)'
} >"$work/declarations.inc"

cd "$work"
plugged="-fplugin=$plugin -fpass-plugin=$plugin"
way=0
for options in "" "$plugged" -mprefer-vector-width=512 "-mprefer-vector-width=512 $plugged"; do
    # shellcheck disable=SC2086
    clang-19 -w -O3 -march=native -falign-loops=64 -falign-functions=64 -ffunction-sections $options "${flags[@]}" -c tsvc.c -o "way$way.o"
    for name in $loops main time_function; do echo "$name way${way}_$name"; done >names
    objcopy --redefine-syms=names "way$way.o" "renamed$way.o"
    way=$((way + 1))
done
"$here/tsvc/changed_functions.py" way0.o way1.o >changed
"$here/tsvc/changed_functions.py" way2.o way3.o >changed-512
clang-19 -w -O2 -c common.c dummy.c driver.c
clang-19 driver.o renamed?.o common.o dummy.o -Wl,-z,muldefs -lm -o tsvc
echo "# $(sed -n 's/^model name.*: //p;T;q' /proc/cpuinfo); $(clang-19 --version | head -1)"
echo "# TSVC_2, $one and $two ${flags[*]}; causeway $(git -C "$here" rev-parse --short HEAD); load $(cut -d ' ' -f 1 /proc/loadavg)"
./tsvc "$seconds" changed changed-512
