#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs Causeway under a real Slurm of one node, which it starts for itself, as whoever calls it, and stops again: system
# tests, the platform's tests on the devices of all ranks, a timeline, and a task that is killed. With Slurm's default
# interface (none) and with PMIx. Needs slurm-wlm (Debian), Open MPI, PoCL, and build/release with its tests.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
for tool in slurmctld slurmd srun salloc; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool (Debian: slurm-wlm)"; exit 77; }
done
work=$(mktemp -d)
finish() {
    for daemon in slurmd slurmctld; do
        [ ! -e "$work/$daemon.pid" ] || kill "$(cat "$work/$daemon.pid")" || true
    done
    rm -rf "$work"
}
trap finish EXIT
mkdir "$work/state" "$work/spool"
me=$(id -un) host=$(hostname -s) controller=$((20000 + $$ % 20000))
cat >"$work/slurm.conf" <<CONF
ClusterName=causeway
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmctldPort=$controller
SlurmdPort=$((controller + 1))
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
CONF
export SLURM_CONF=$work/slurm.conf
slurmctld
slurmd
for attempt in $(seq 30); do
    [ "$(sinfo -h -o %t 2>/dev/null)" != idle ] || break
    [ "$attempt" != 30 ] || { echo "FAILED: the node is not idle"; sinfo -R; cat "$work"/*.log; exit 1; }
    sleep 1
done

export PATH=$root/build/release/bin:$PATH CAUSEWAY_TUNER=off root work
in_job() { salloc -Q -n 2 "$root/scripts/run_with.sh" pocl -- "$@"; }
for interface in "" pmix; do
    [ -z "$interface" ] || export SLURM_MPI_TYPE=$interface
    echo "== $(in_job causeway run --dry-run ./program)"
    echo "== system tests, interface ${interface:-not set}"
    in_job causeway run system_tests --gtest_brief=1 2>&1 | tail -n 4
done
echo "== the platform with the devices of both ranks"
in_job causeway run --cluster platform_tests --gtest_brief=1 --gtest_filter='-*threads*' 2>&1 | tail -n 2
echo "== a timeline"
in_job causeway trace -o "$work/timeline.json" -- causeway run himeno --version causeway --size XS --iterations 5 --rounds 1
causeway trace summary "$work/timeline.json" | grep -q '^2 ranks on '
echo "== a task that is killed ends the job"
# shellcheck disable=SC2016
if in_job timeout 60 causeway run sh -c '[ "$SLURM_PROCID" = 0 ] || kill -9 $$; exec sleep 100'; then exit 1; fi
echo "slurm: passed"
