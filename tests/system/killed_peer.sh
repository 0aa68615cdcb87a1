#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs killed_peer with and without recovery and looks for what is left behind. Usage: killed_peer.sh MPIRUN PROGRAM STRATEGY
if [ "$1" = --rank ]; then
    # MPICH's launcher kills every rank when it finds that one was ended by a signal (4.0.2), but not for a shell that
    # exits; and it tells the survivors with SIGUSR1.
    trap '' USR1
    "$2"
    exit $?
fi
mpirun=$1
program=$2
export CAUSEWAY_STRATEGY=$3
[ "$3" != device-window ] || export CAUSEWAY_BRIDGE=host
case $($mpirun --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *open-mpi*)
    common="--oversubscribe"
    recovery="--enable-recovery"
    set -- "$program"
    ;;
*)
    common=""
    # UCX (1.13.1) aborts if it copies from the memory of a process that is gone.
    recovery="-disable-auto-cleanup -genv UCX_TLS ^cma"
    set -- "$0" --rank "$program"
    ;;
esac
output=$(mktemp)
trap 'rm -f "$output"' EXIT
failed=0

shared_memory() { ls /dev/shm 2>/dev/null | grep -i causeway | sort; }

# Names that were there before belong to other jobs.
before=$(shared_memory)
expect_nothing_left() {
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        left=""
        for name in $(shared_memory); do
            case " $(echo $before) " in
            *" $name "*) ;;
            *) left="$left $name" ;;
            esac
        done
        [ -z "$left" ] && return
        sleep 0.5
    done
    echo "FAILED: left in /dev/shm after the run $1:$left"
    failed=1
}

# The launcher's own status says that rank 1 was killed: the survivor's verdict counts.
timeout 210 $mpirun $common $recovery -n 2 "$@" >"$output" 2>&1
cat "$output"
grep -q '^verdict: passed$' "$output" || { echo "FAILED: no good verdict with recovery"; failed=1; }
expect_nothing_left "with recovery"

timeout 210 $mpirun $common -n 2 "$program" >"$output" 2>&1
status=$?
[ $status -ne 0 ] || { echo "FAILED: the launcher did not report the killed rank"; failed=1; }
[ $status -ne 124 ] || { echo "FAILED: the launcher did not end the job"; failed=1; }
expect_nothing_left "without recovery"

[ $failed -eq 0 ] && echo "killed_peer: passed"
exit $failed
