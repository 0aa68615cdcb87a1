#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tutorial's programs store the same plates, on any number of ranks. Usage: tutorial.sh RUN_WITH RUNTIME MPIRUN FOLDER
set -e
run_with=$1 runtime=$2 mpirun=$3 programs=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# run RANKS PROGRAM FILE STEPS EVERY
run() {
    "$run_with" "$runtime" --mpiexec "$mpirun" --ranks "$1" -- timeout 60 "$programs/tutorial_$2" "$folder/$3" 12 1000 "$4" "$5"
}

# Four plates of twelve rows, the last of which is that of one rank and of two.
run 1 1_ordinary alone 9 2
run 2 1_ordinary ordinary 9 2
[ "$(wc -c <"$folder/alone.0")" -eq 192000 ]
tail -c 48000 "$folder/alone.0" >"$folder/last"
{ tail -c 24000 "$folder/ordinary.0" && tail -c 24000 "$folder/ordinary.1"; } | cmp - "$folder/last"
for program in 2_commands 3_overlap 4_files; do
    run 2 "$program" "$program" 9 2
    cmp "$folder/ordinary.0" "$folder/$program.0"
    cmp "$folder/ordinary.1" "$folder/$program.1"
done

# A plate that cannot be stored ends the job, and says why.
ln -s /dev/full "$folder/full.0"
if run 1 4_files full 2 2 2>"$folder/said"; then echo "FAILED: a plate was lost"; exit 1; fi
grep "No space left on device" "$folder/said"
echo "tutorial: passed"
