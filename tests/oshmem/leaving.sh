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
mpirun=$2 pes=$4 library=$5 failed=0
# WAY HOW: status and output of the program
run() {
    timeout -k 5 120 $mpirun $options -n $pes env ${library:+LD_PRELOAD=$library} "$folder/program" "$1" "$2" >"$folder/output" 2>&1
    status=$?
}
# WAY HOW TEXT
expect_end() {
    run "$1" "$2"
    [ $status -ne 0 ] && [ $status -ne 124 ] && ! grep -q "goes on" "$folder/output" && grep -q "$3" "$folder/output" ||
        { echo "FAILED: $1 beside $2: status $status"; cat "$folder/output"; failed=1; }
}
# WAY HOW
expect_right() {
    run "$1" "$2"
    [ $status -eq 0 ] && [ "$(grep -c '^right' "$folder/output")" -eq $pes ] ||
        { echo "FAILED: nothing wrong, $1: status $status"; cat "$folder/output"; failed=1; }
}
