#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures transfers between two ranks with a network between them: two network namespaces of this machine.
set -euo pipefail
shopt -s inherit_errexit

usage() {
    cat <<'TEXT'
usage: benchmarks/network.sh [OPTION]... [-- PERF_OPTION...]

Joins two network namespaces by a pair of virtual interfaces, limits their bandwidth (tc-tbf), starts one rank in each
with Open MPI over TCP alone, and runs `causeway perf --routes rank-one-way,rank-both-ways --sizes 16M,64M`, or what
PERF_OPTIONs say. Needs root, iproute2 and Open MPI. Leaves nothing behind.

  --runtime NAME     pocl (default), intel, nvidia: as scripts/run_with.sh has them
  --rates LIST       of tc, one run each (default: 1gbit,10gbit)
  --delay TIME       added to each way, with netem: 1ms (default: none)
  --loss PER_CENT    of the packets of each way, with netem, else with iptables: 0.1 (default: none)
  --same-name        both ranks see the same host name, as containers of one machine may
  --program PATH     default: build/release/bin/causeway
  --results FOLDER   write NAME-RATE.txt and .json there
TEXT
}

die() { echo "network: $1" >&2; exit 2; }
say() { echo "network: $1"; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
runtime=pocl
rates=1gbit,10gbit
delay=
loss=
same_name=
program=$root/build/release/bin/causeway
results=
while [ $# -gt 0 ]; do
    case $1 in
    --runtime) runtime=$2; shift 2 ;;
    --rates) rates=$2; shift 2 ;;
    --delay) delay=$2; shift 2 ;;
    --loss) loss=${2%\%}; shift 2 ;;
    --same-name) same_name=yes; shift ;;
    --program) program=$(realpath "$2"); shift 2 ;;
    --results) results=$2; shift 2 ;;
    --help) usage; exit 0 ;;
    --) shift; break ;;
    *) usage >&2; exit 2 ;;
    esac
done
perf_options=("$@")
[ $# -gt 0 ] || perf_options=(--routes rank-one-way,rank-both-ways --sizes 16M,64M --strategies auto)

[ "$(id -u)" -eq 0 ] || die "only root may make network namespaces: sudo benchmarks/network.sh"
for tool in ip tc unshare; do
    command -v "$tool" >/dev/null || die "$tool is missing (Debian: iproute2, util-linux)"
done
[ -x "$program" ] || die "no program $program: scripts/build.sh release no-tests"
launcher=$(command -v mpirun.openmpi || command -v mpirun) || die "no mpirun of Open MPI"
# The whole text first: a reader that stops early would make the writer fail.
version=$("$launcher" --version 2>&1)
[[ $version == *"Open MPI"* || $version == *OpenRTE* ]] || die "$launcher is not Open MPI's"

here=causeway-$$-a
there=causeway-$$-b
agent=$(mktemp /tmp/causeway-agent.XXXXXX)

clean_up() {
    trap - EXIT INT TERM HUP
    local space pids
    for space in "$here" "$there"; do
        pids=$(ip netns pids "$space" 2>/dev/null) || true
        # shellcheck disable=SC2086 # one word for each process
        [ -z "$pids" ] || kill -9 $pids 2>/dev/null || true
        ip netns del "$space" 2>/dev/null || true # takes its end of the pair along
    done
    rm -f "$agent"
}
trap clean_up EXIT
# A signal to the whole group reaches the ranks too.
trap 'clean_up; exit 130' INT
trap 'clean_up; exit 143' TERM HUP

ip netns add "$here" 2>/dev/null || die "this kernel or container gives no network namespaces (ip netns add)"
ip netns add "$there"
ip link add eth0 netns "$here" type veth peer name eth0 netns "$there" ||
    die "this kernel has no virtual Ethernet pairs (CONFIG_VETH)"
number=1
for space in "$here" "$there"; do
    ip -n "$space" addr add "10.71.0.$number/24" dev eth0
    ip -n "$space" link set lo up
    ip -n "$space" link set eth0 up
    number=$((number + 1))
done

# Limits what leaves each namespace to $1, in bursts of a millisecond, with a queue for a few.
shape() {
    local space bits burst
    bits=${1%bit}
    bits=$(numfmt --from=si "${bits^^}") || die "--rates: $1 is no rate as 1gbit is"
    burst=$((bits / 8000 > 100000 ? bits / 8000 : 100000))
    for space in "$here" "$there"; do
        tc -n "$space" qdisc del dev eth0 root 2>/dev/null || true
        tc -n "$space" qdisc add dev eth0 root handle 1: tbf rate "$1" burst "$burst" latency 4ms 2>/dev/null || {
            tc -n "$space" qdisc add dev eth0 root handle 1: htb default 1 &&
                tc -n "$space" class add dev eth0 parent 1: classid 1:1 htb rate "$1" burst "$burst"
        } || die "this kernel shapes no traffic (CONFIG_NET_SCH_TBF, CONFIG_NET_SCH_HTB)"
    done
}

# Says in $conditions what could be done.
disturb() {
    conditions=
    [ -n "$delay$loss" ] || return 0
    local space netem=()
    [ -z "$delay" ] || netem+=(delay "$delay")
    [ -z "$loss" ] || netem+=(loss "$loss%")
    for space in "$here" "$there"; do
        if tc -n "$space" qdisc add dev eth0 parent 1:1 handle 10: netem limit 100000 "${netem[@]}" 2>/dev/null; then
            conditions=", ${netem[*]} each way (netem)"
            continue
        fi
        conditions=
        [ -z "$delay" ] || conditions+=", no delay: the kernel has no netem (CONFIG_NET_SCH_NETEM)"
        [ -n "$loss" ] || continue
        if drop "$space" 2>/dev/null; then
            conditions+=", loss $loss % each way (iptables)"
        else
            conditions+=", no loss: neither netem nor iptables with the match 'statistic'"
        fi
    done
}

drop() {
    ip netns exec "$1" iptables -F INPUT &&
        ip netns exec "$1" iptables -A INPUT -i eth0 -m statistic --mode random \
            --probability "$(awk "BEGIN { print $loss / 100 }")" -j DROP
}

# Each namespace has a host name of its own, unless they are to share one.
rename_here='hostname causeway-a;'
rename_there='hostname causeway-b;'
[ -z "$same_name" ] || rename_here='' rename_there=''

# In place of ssh: HOST COMMAND...
cat >"$agent" <<TEXT
#!/bin/sh
shift
exec ip netns exec $there unshare --uts sh -c "$rename_there \$*"
TEXT
chmod +x "$agent"

# What is measured, unless PERF_OPTIONs say it.
commit=(--commit "$(git -C "$root" describe --always --dirty --abbrev=10 2>/dev/null || echo unknown)")
[[ " ${perf_options[*]} " != *" --commit"[\ =]* ]] || commit=()

measure() {
    local options=(--mca plm rsh --mca plm_rsh_agent "$agent" --host 10.71.0.1:1,10.71.0.2:1 -n 2 --bind-to none
        --mca oob_tcp_if_include 10.71.0.0/24 --mca btl_tcp_if_include 10.71.0.0/24 --mca pml ob1 --mca btl tcp,self
        --mca mpi_yield_when_idle 1) # both ranks share the cores of one machine
    "$root/scripts/run_with.sh" "$runtime" -- ip netns exec "$here" unshare --uts \
        sh -c "$rename_here exec \"\$@\"" sh "$launcher" "${options[@]}" "$program" perf --table "${commit[@]}" "${perf_options[@]}" "$@"
}

for rate in ${rates//,/ }; do
    shape "$rate"
    disturb
    say "two namespaces, TCP at $rate$conditions"
    if [ -z "$results" ]; then
        measure
    else
        mkdir -p "$results"
        {
            say "two namespaces, TCP at $rate$conditions"
            measure --json "$results/$runtime-$rate.json"
        } >"$results/$runtime-$rate.txt"
    fi
done
