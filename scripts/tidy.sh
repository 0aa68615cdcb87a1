#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy 19 with .clang-tidy over sources that build/release compiles, and prints findings by kind. Fails if there are any.
# Usage: tidy.sh [--newest COUNT] [FILE]...
# Without files: all of src/, tools/ and compiler/. --newest: the COUNT of those that were changed last, which takes a few seconds each.
set -euo pipefail
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
if [ "${1-}" = --newest ]; then
    count=$2
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

# Warnings that g++ alone knows are in its command lines. It fails of itself only where a source does not compile.
status=0
said=$(printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" "$tidy" -quiet -p build/release \
    --extra-arg=-Wno-unknown-warning-option 2>&1) || status=$?
said=${said//"$PWD/"/}
# A header's findings come with each source that includes it.
found=$(grep -E '^[^ ]+:[0-9]+:[0-9]+: (warning|error): .*\[[-a-zA-Z0-9.,]+\]$' <<<"$said" | sort -u || true)
if [ -z "$found" ] && [ "$status" -eq 0 ]; then
    echo "tidy: ${#files[@]} sources, nothing found"
    exit 0
elif [ -z "$found" ]; then
    printf '%s\n' "$said"
    exit 1
fi
printf '%s\n' "$found"
echo "tidy: ${#files[@]} sources, findings by kind:"
sed -E 's/.*\[([-a-zA-Z0-9.]+)(,[^]]*)?\]$/\1/' <<<"$found" | sort | uniq -c | sort -rn
exit 1
