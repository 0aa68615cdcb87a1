#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# causeway-oshrun: its options, the program's words, and exit statuses. Usage: oshrun.sh BIN MPIRUN SOURCE; BIN has the wrappers and causeway
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1/causeway-oshcc" -O2 -Wall -Wextra -Werror -std=c11 "$3" -o "$folder/program" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
failed=0
# STATUS TEXT COMMAND...: the text is an extended pattern of what it says, each line of it
expect() {
    wanted=$1 text=$2
    shift 2
    timeout -k 5 60 "$@" >"$folder/output" 2>&1
    status=$?
    [ $status -eq "$wanted" ] && grep -q -E -e "$text" "$folder/output" ||
        { echo "FAILED: $*: status $status, not $wanted, or no '$text' in:"; cat "$folder/output"; failed=1; }
}
run=$1/causeway-oshrun
expect 0 "PE 1 of 2:$" "$run" -n 2 "$folder/program"
expect 0 "PE 2 of 3:$" "$run" -np 3 "$folder/program"
expect 0 "PE 0 of 1:$" "$run" "$folder/program"
# The program's own words, also those that look like options, and the spaces in them.
expect 0 "PE 1 of 2: <0> <-n> <two words> <>$" "$run" -n 2 -- "$folder/program" 0 -n "two words" ""
expect 0 "$folder/program" "$run" -n 2 --dry-run "$folder/program"
expect 2 "" "$run" -n none "$folder/program"
expect 2 "" "$run" --no-such-option "$folder/program"
expect 127 "" "$run" -n 2 "$folder/none"
# A PE that fails ends the others, with its status.
expect 7 "PE 0 of 2" "$run" -n 2 "$folder/program" 7
timeout -k 5 60 "$run" -n 2 "$folder/program" killed >"$folder/output" 2>&1
status=$?
[ $status -ne 0 ] && [ $status -ne 124 ] || { echo "FAILED: a PE that is killed: status $status"; cat "$folder/output"; failed=1; }
# By a link, as from a folder of links to programs.
ln -s "$run" "$folder/oshrun"
expect 0 "PE 1 of 2:$" "$folder/oshrun" -n 2 "$folder/program"
# Without causeway beside it, the one on the path; without any, mpirun.
mkdir "$folder/alone" "$folder/path"
cp "$run" "$folder/alone"
expect 0 "PE 1 of 2:$" env PATH="$1:$PATH" "$folder/alone/causeway-oshrun" -np 2 "$folder/program"
printf '#!/bin/sh\necho "mpirun is called:" "$@"\nexit 5\n' >"$folder/path/mpirun"
chmod +x "$folder/path/mpirun"
expect 5 "mpirun is called: -n 2 ./program -np$" env PATH="$folder/path:/usr/bin:/bin" "$folder/alone/causeway-oshrun" -np 2 ./program -np
exit $failed
