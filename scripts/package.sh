#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Debian packages of a copy of the tree: build/packages/*.deb. Usage: package.sh
set -euo pipefail
case ${1-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for tool in dpkg-buildpackage dh lintian; do
    command -v "$tool" >/dev/null || { echo "package: no $tool (scripts/setup.sh package)" >&2; exit 1; }
done
version=$(sed -n 's/^project(causeway VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
if [ "$(dpkg-parsechangelog -l "$root/debian/changelog" -S Version)" != "$version" ]; then
    echo "package: debian/changelog does not begin with the version $version of CMakeLists.txt" >&2
    exit 1
fi

# Packages come to lie beside the tree that they are built in.
packages=$root/build/packages
source=$packages/causeway-$version
rm -rf "$packages"
mkdir -p "$source"
tar -C "$root" -c --exclude=./build --exclude=./.venv --exclude=./.git . | tar -C "$source" -x
# Without packages of debug information, many times as large as all the others.
export DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS:-noautodbgsym} DEB_CFLAGS_STRIP=-g DEB_CXXFLAGS_STRIP=-g
(cd "$source" && dpkg-buildpackage --unsigned-source --unsigned-changes --build=binary)
# The project has no mail address yet.
lintian --allow-root --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog \
    "$packages"/*.changes
rm -rf "$source"
ls "$packages"/*.deb
