#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy 19 with .clang-tidy over sources that build/release compiles, and prints findings by kind. Fails if there are any.
# Usage: tidy.sh [--newest COUNT] [--minutes MINUTES] [FILE]...
# Without files: all of src/, tools/ and compiler/. --newest: the COUNT of those that were changed last, which takes a few seconds each.
# --minutes: no more are begun after that time, and those left out are named.
set -euo pipefail
case ${1-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tidy=$(command -v clang-tidy-19) || {
    echo "tidy: skipped: no clang-tidy-19 (scripts/setup.sh lint)" >&2
    exit 77
}
commands=build/release/compile_commands.json
[ -e "$commands" ] || {
    echo "tidy: there is no $commands: make build first" >&2
    exit 2
}

compiled() { # those of standard input that build/release compiles
    while read -r file; do
        ! grep -q "\"file\": \"$PWD/$file\"" "$commands" || echo "$file"
    done
}
count=
minutes=600
while [ $# -gt 0 ]; do
    case $1 in
    --newest) count=$2; shift 2 ;;
    --minutes) minutes=$2; shift 2 ;;
    -*) echo "tidy: no option '$1' (tidy.sh --help)" >&2; exit 2 ;;
    *) break ;;
    esac
done
if [ -n "$count" ]; then
    mapfile -t files < <(git log --format= --name-only -n 400 --diff-filter=d -- 'src/*.cpp' 'tools/*.cpp' 'compiler/*.cpp' | awk 'NF && !seen[$0]++' |
        compiled | head -n "$count" || true)
elif [ $# -gt 0 ]; then
    files=("$@")
else
    mapfile -t files < <(git ls-files 'src/*.cpp' 'tools/*.cpp' 'compiler/*.cpp' | compiled)
fi
[ ${#files[@]} -gt 0 ] || {
    echo "tidy: skipped: git names no source that build/release compiles" >&2
    exit 77
}

# Without what g++ precompiled, which Clang cannot read, and its option for that.
commands_for_clang=$(mktemp -d)
trap 'rm -rf "$commands_for_clang"' EXIT
sed 's/ -Winvalid-pch -include [^ ]*cmake_pch\.hxx//; s/ --param=ggc-[^ ]*//' "$commands" >"$commands_for_clang/compile_commands.json"

# Warnings that g++ alone knows are in its command lines. It fails of itself only where a source does not compile.
status=0
export tidy commands_for_clang deadline=$(($(date +%s) + minutes * 60))
# shellcheck disable=SC2016
said=$(printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c '
    [ "$(date +%s)" -lt "$deadline" ] || { echo "tidy: no time left for $1"; exit 0; }
    exec "$tidy" -quiet -p "$commands_for_clang" --extra-arg=-Wno-unknown-warning-option "$1"' tidy 2>&1) || status=$?
said=${said//"$PWD/"/}
# A header's findings come with each source that includes it. The analyzer shows those in a system header whose path begins in ours; in
# LLVM's own it does not see that a number owns its words only where it is longer than 64 bits.
found=$(grep -E '^[^ ]+:[0-9]+:[0-9]+: (warning|error): .*\[[-a-zA-Z0-9.,]+\]$' <<<"$said" | grep -vE '^/usr/(lib/llvm-[0-9]+/)?include/(llvm|clang)/' |
    sort -u || true)
left_out=$(grep '^tidy: no time left' <<<"$said" || true)
looked_at=${#files[@]}
if [ -n "$left_out" ]; then
    printf '%s\n' "$left_out" >&2
    looked_at=$((looked_at - $(wc -l <<<"$left_out")))
fi
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    echo "tidy: $looked_at sources, findings by kind:"
    sed -E 's/.*\[([-a-zA-Z0-9.]+)(,[^]]*)?\]$/\1/' <<<"$found" | sort | uniq -c | sort -rn
    exit 1
elif [ "$status" -ne 0 ]; then
    printf '%s\n' "$said"
    exit 1
fi
echo "tidy: $looked_at sources, nothing found"
[ "$looked_at" -gt 0 ]
