#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# With two platforms, --platform chooses for directives, too. Usage: bt_mz_platform.sh RUN_WITH BT_MZ
output=$(mktemp)
trap 'rm -f "$output"' EXIT
failed=0
# Prints the device's name.
on_platform() {
    "$1" both -- "$2" --class S --steps 2 --versions directives,messages --platform "$3" >"$output" 2>&1
    status=$?
    [ $status -ne 77 ] || exit 77
    [ $status -eq 0 ] || { cat "$output" >&2; exit 1; }
    sed -n 's/^bt_mz: .*; //p' "$output"
}
pocl=$(on_platform "$1" "$2" "Portable Computing Language") || exit
intel=$(on_platform "$1" "$2" "Intel(R) OpenCL") || exit
[ -n "$pocl" ] && [ "$pocl" != "$intel" ] || { echo "FAILED: both platforms have the device '$pocl'"; failed=1; }
"$1" both -- "$2" --class S --steps 2 --versions directives --platform Nobody >"$output" 2>&1 && { echo "FAILED: no error"; failed=1; }
grep -q 'bt_mz: rank 0: no OpenCL device on a platform whose name contains "Nobody"' "$output" || { cat "$output"; failed=1; }
exit $failed
