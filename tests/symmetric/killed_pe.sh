#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs killed_pe with 3 PEs for each moment of death and looks at the survivors. Usage: killed_pe.sh MPIRUN PROGRAM [LIBRARY], which is
# preloaded: one that has heaps served by messages
if [ "$1" = --rank ]; then
    # MPICH's launcher kills every rank when it finds that one was ended by a signal (4.0.2), but not for a shell that
    # exits; and it tells the survivors with SIGUSR1.
    trap '' USR1
    shift
    "$@"
    exit $?
fi
mpirun=$1
program=$2
[ -z "${3-}" ] || program="env LD_PRELOAD=$3 $program"
case $($mpirun --version 2>&1) in
*"Open MPI"* | *OpenRTE* | *open-mpi*) options="--oversubscribe --enable-recovery" wrapped="$program" ;;
*) options="-disable-auto-cleanup" wrapped="$0 --rank $program" ;;
esac
folder=$(mktemp -d)
output=$folder/output
export TMPDIR=$folder/tmp KILLED_PE_RUN=$folder
mkdir "$TMPDIR"
trap 'rm -rf "$folder"' EXIT
failed=0

# A heap is an anonymous file (memfd): it lives as long as a process that has it open or mapped. So nothing is left of one if no process
# of the run is left. What MPI's launchers leave, as in /dev/shm, is theirs.
left_behind() {
    for each in $(grep -lsz "^KILLED_PE_RUN=$folder$" /proc/[0-9]*/environ); do
        process=${each%/environ}
        case $(cat "$process/comm" 2>/dev/null) in
        killed_pe.sh | grep | "") ;; # this script; gone
        *) echo "process ${process#/proc/} $(tr '\0' ' ' <"$process/cmdline" 2>/dev/null)" ;;
        esac
    done
    find "$TMPDIR" -mindepth 1 -maxdepth 1 ! -name 'ompi.*' ! -name 'pmix*' ! -name 'prte.*'
    ls /dev/shm 2>/dev/null | grep -i causeway | grep -vxF "$before" | sed 's|^|/dev/shm/|'
}
before=$(ls /dev/shm 2>/dev/null | grep -i causeway; echo .)

for moment in idle putting changing moving in-a-barrier reducing allocating freeing ending; do
    timeout 100 $mpirun $options -n 3 $wrapped $moment >"$output" 2>&1
    cat "$output"
    [ "$(grep -c '^verdict: passed$' "$output")" = 2 ] || { echo "FAILED: $moment: not both survivors passed"; failed=1; }
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        left=$(left_behind)
        [ -z "$left" ] && break
        sleep 0.5
    done
    [ -z "$left" ] || { echo "FAILED: $moment: left behind: $left"; failed=1; }
done
[ $failed -eq 0 ] && echo "killed_pe: passed"
exit $failed
