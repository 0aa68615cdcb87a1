#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Lays out the tree's C and C++ by .clang-format. Usage: format.sh [--check] [FILE]...
# Without files: all that git tracks. Files of other languages are passed over. --check changes nothing, names what differs,
# and exits with 1.
set -euo pipefail
case ${1-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

check=
if [ "${1-}" = --check ]; then
    check=yes
    shift
fi
case ${1-} in -*) echo "format: no option '$1' (format.sh --help)" >&2; exit 2 ;; esac
formatter=$(command -v clang-format-19 || command -v clang-format) || {
    echo "format: skipped: no clang-format-19 (scripts/setup.sh lint)" >&2
    exit 77
}
case $("$formatter" --version) in
*version\ 19.*) ;;
*) echo "format: skipped: this needs clang-format 19; other versions lay out differently" >&2; exit 77 ;;
esac

files=("$@")
[ $# -gt 0 ] || mapfile -t files < <(git ls-files '*.c' '*.h' '*.cpp' '*.hpp')
if [ ${#files[@]} -eq 0 ]; then
    echo "format: skipped: git does not say which files are the tree's" >&2
    exit 77
fi
of_language=()
for file in "${files[@]}"; do
    case $file in *.c | *.h | *.cpp | *.hpp) of_language+=("$file") ;; esac
done
[ ${#of_language[@]} -gt 0 ] || exit 0
files=("${of_language[@]}")
if [ -z "$check" ]; then
    "$formatter" -i "${files[@]}"
    exit 0
fi
wrong=$(printf '%s\0' "${files[@]}" | xargs -0 -n 20 -P "$(nproc)" "$formatter" --dry-run -Werror 2>&1 |
    sed -n 's/:[0-9]*:[0-9]*: error: code should be clang-formatted.*//p' | sort -u || true)
[ -n "$wrong" ] || exit 0
printf 'format: not as .clang-format lays it out (make format mends it):\n%s\n' "$wrong" >&2
exit 1
