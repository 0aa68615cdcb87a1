#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One rank of two fails: the job ends, soon and with a status, and says which rank and why.
# Usage: bt_mz_rank_fails.sh RUN_WITH MPIEXEC BT_MZ FAILING_CALLS VERSION
output=$(mktemp)
trap 'rm -f "$output"' EXIT
run_with=$1 mpiexec=$2 program=$3 library=$4 version=$5
# What: SETTING of rank 1, text, options
expect() {
    setting=$1 text=$2
    shift 2
    timeout 200 "$run_with" pocl --mpiexec "$mpiexec" --ranks 2 -- sh -c '
        [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || export $1
        shift
        exec "$@"' sh "$setting" "$program" --class S --versions "$version" "$@" >"$output" 2>&1
    status=$?
    [ $status -ne 77 ] || exit 77
    [ $status -ne 0 ] && [ $status -ne 124 ] && grep -q -e "$text" "$output" && return
    echo "FAILED: $version, $setting: status $status, and not '$text':"
    cat "$output"
    exit 1
}
expect POCL_DEVICES=pthread "bt_mz: rank 1: the platform has no device 1, only 1" --device 1
expect OCL_ICD_VENDORS=/nowhere/ "bt_mz: rank 1: no OpenCL device"
# At once, in the warm-up, in the midst. OpenACC says it itself, and where the directive is.
for launches in 0 3 40; do
    expect "LD_PRELOAD=$library FAILING_LAUNCHES=$launches" "\(bt_mz: rank 1\|causeway\): .*clEnqueueNDRangeKernel.* code -5"
done
# The fields of each rank fit, those of both do not.
expect "LD_PRELOAD=$library DEVICE_BYTES=1048576" \
    "bt_mz: rank 1: the fields of the 2 ranks that share the device take 2 MiB, and .* has 1 MiB"
# Behind the making of the heap, whose end waits for the other rank.
[ "$version" != one_sided ] || expect "LD_PRELOAD=$library FAILING_QUEUES=1" "bt_mz: rank 1: clCreateCommandQueue: .* code -5"
