#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation as a site, build/site/index.html. Usage: site.sh
# A broken link, a picture that is missing and a page that no list of contents has are errors.
set -euo pipefail
case ${1-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
sphinx=$root/.venv/bin/sphinx-build
if ! [ -e "$root/.venv/site.stamp" ] || ! command -v mandoc >/dev/null; then
    echo "skipped: Sphinx and mandoc are not installed (scripts/setup.sh site)"
    exit 77
fi
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
python3 "$root/docs/site/pages.py" "$pages/site"
rm -rf "$root/build/site"
"$root/.venv/bin/python" "$sphinx" -q -W --keep-going -b html -c "$root/docs/site" -d "$pages/doctrees" \
    "$pages/site" "$root/build/site"
echo "site: $root/build/site/index.html"
