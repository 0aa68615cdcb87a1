#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages of scripts/package.sh in a Debian of its own, made for it, and uses them there as a stranger
# would. Needs network, and root or user namespaces. Usage: packages.sh [FOLDER], which has the packages
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
packages=${1:-$root/build/packages}
if ! command -v mmdebstrap >/dev/null; then
    echo "skipped: no mmdebstrap (scripts/setup.sh package)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/stranger/tests"
cp "$packages"/*.deb "$root/debian/tests/use" "$work/stranger"
cp -r "$root/tests/install" "$work/stranger/tests"
# What autopkgtest would install beside the packages.
needed=$(sed -n 's/^Depends: @, //p' "$root/debian/tests/control" | tr -d ,)
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
# Each hook is a command for a shell that knows the new root as $1.
mmdebstrap --variant=apt --customize-hook="copy-in $work/stranger /" \
    --customize-hook="chroot \"\$1\" sh -ec 'cd /stranger; apt-get install -y --no-install-recommends ./*.deb $needed'" \
    --customize-hook='chroot "$1" sh -ec "cd /stranger; ./use"' \
    "$release" /dev/null
