# SPDX-License-Identifier: Apache-2.0
# Read by scripts on PEs that leave early. Usage of those: OSHCC MPIRUN SOURCE PES [LIBRARY], which is preloaded: one that has each PE on a
# node of its own
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -O2 -Wall -Wextra -Werror -std=gnu11 "$3" -o "$folder/program" || exit 1
case $($2 --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *open-mpi*) options="--oversubscribe" recovers="--enable-recovery" ;;
*) options="" recovers="-disable-auto-cleanup" ;;
esac
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun=$2 pes=$4 library=$5 started=0
# WAY HOW: status and output of the program, whose file is its own
run() {
    output=$(mktemp "$folder/output.XXXXXX")
    timeout -k 5 120 $mpirun $options -n $pes env ${library:+LD_PRELOAD=$library} "$folder/program" "$1" "$2" >"$output" 2>&1
    status=$?
}
# WHAT
fail() {
    : >"$folder/failed"
    { echo "FAILED: $1: status $status"; cat "$output"; } >&2
}
check_end() {
    run "$1" "$2"
    [ $status -ne 0 ] && [ $status -ne 124 ] && ! grep -q "goes on" "$output" && grep -q "$3" "$output" || fail "$1 beside $2"
}
check_right() {
    run "$1" "$2"
    [ $status -eq 0 ] && [ "$(grep -c '^right' "$output")" -eq $pes ] || fail "nothing wrong, $1"
}
# Beside others, as the PEs wait most of the time; of more PEs each takes longer to start.
at_once=$((pes > 2 ? 2 : 4))
# COMMAND...
beside() {
    "$@" &
    started=$((started + 1))
    [ $((started % at_once)) -ne 0 ] || wait
}
# WAY HOW TEXT
expect_end() { beside check_end "$@"; }
# WAY HOW
expect_right() { beside check_right "$@"; }
# The end of the script
report() {
    wait
    [ ! -e "$folder/failed" ]
    exit
}
