#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A rank that checks its own line of CAUSEWAY_STATS on its device's time: parts that the program has are there, all of
# them together are the whole, and that is not more than the program took.
# Usage, under a launcher: device_times.sh CLUSTER_APPS
set -e
said=$(mktemp)
trap 'rm -f "$said"' EXIT
export CAUSEWAY_CLUSTER=1 CAUSEWAY_STATS=1 POCL_DEVICES=pthread
begin=$(date +%s)
"$1" --rounds 1 n-body --size 2048 2>"$said" || { cat "$said"; exit 1; }
cat "$said"
awk -v most=$(($(date +%s) - begin + 1)) '/ device / {
        line = $0
        gsub(/[^0-9.]+/, " ", line)
        split(line, number, " ") # rank, ranks, device, whole, kernels, writes, copies, reads, beside, moves, idle
        if (number[1] != number[3]) exit
        for (part = 5; part <= 11; ++part) sum += number[part]
        if (sum - number[4] > 0.001 || number[4] - sum > 0.001 || number[4] > most) exit
        right = number[5] > 0 && number[6] > 0 && number[7] > 0 && number[8] > 0
    }
    END { exit !right }' "$said" || { echo "cluster_apps: the times of the device are wrong"; exit 1; }
