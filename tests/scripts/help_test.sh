#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each script says what it does when asked for help, and does nothing else; a mistyped option is refused. Usage: help_test.sh FOLDER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/scripts"
cp "$1"/*.sh "$folder/scripts"
cd "$folder"
failed=0
for script in scripts/*.sh; do
    for option in --help -h; do
        status=0
        timeout 20 "$script" "$option" >output 2>&1 || status=$?
        [ "$status" -eq 0 ] && grep -qi 'usage: ' output || { echo "FAILED: $script $option: status $status:"; head -n 5 output; failed=1; }
    done
done
for command in 'stages.sh al' 'tidy.sh --minute 1' 'format.sh --chek' 'setup.sh --chek build'; do
    status=0
    # shellcheck disable=SC2086
    timeout 20 scripts/$command >output 2>&1 || status=$?
    [ "$status" -eq 2 ] || { echo "FAILED: $command: status $status, not 2:"; head -n 5 output; failed=1; }
done
[ "$(ls)" = "$(printf 'output\nscripts')" ] || { echo "FAILED: left behind:"; ls; failed=1; }
exit $failed
