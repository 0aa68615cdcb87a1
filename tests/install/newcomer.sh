#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Says how long a newcomer takes from nothing to the first timeline of docs/tutorial.md: in a Debian of its own, made for
# it, without any package or compiled file. Needs network, and root or user namespaces.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if ! command -v mmdebstrap >/dev/null; then
    echo "skipped: no mmdebstrap (scripts/setup.sh package)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q --bare "$root" "$work/causeway.git"
cat >"$work/newcomer.sh" <<'STEPS'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
now() { echo "== after $SECONDS s: $*"; }
apt-get -q update
apt-get -q install -y --no-install-recommends git make
git clone -q /causeway.git causeway
cd causeway
now cloned
scripts/setup.sh build
now "packages are there"
make tutorial
now built
export PATH=$PWD/build/release/bin:$PATH POCL_MAX_PTHREAD_COUNT=1
causeway info --check
causeway trace -o ordinary.json -- causeway run -n 2 tutorial_1_ordinary ordinary
causeway trace summary ordinary.json
causeway trace view ordinary.json
test -s ordinary.html
now "the first timeline"
times
STEPS
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
echo "$(nproc) processors, load $(cut -d' ' -f1-3 /proc/loadavg)"
mmdebstrap --quiet --variant=apt --customize-hook="copy-in $work/causeway.git $work/newcomer.sh /" \
    --customize-hook='chroot "$1" bash /newcomer.sh' "$release" /dev/null
echo "load $(cut -d' ' -f1-3 /proc/loadavg)"
