#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What scripts/tidy.sh reports, beside a program that plays clang-tidy and a clock of half a minute a look. Usage: tidy_test.sh SCRIPT
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/scripts" "$folder/bin" "$folder/build/release"
cp "$1" "$folder/scripts/tidy.sh"
cd "$folder"
export PATH=$folder/bin:$PATH
echo '[{"command": "c++ --param=ggc-min-heapsize=9 -std=c++20 -Winvalid-pch -include /a/cmake_pch.hxx -o a.o -c a.cpp"}]' >build/release/compile_commands.json

# program NAME: its text comes from standard input
program() {
    { printf '#!/usr/bin/env bash\n'; cat; } >"$1"
    chmod +x "$1"
}
program bin/nproc <<<'echo 1'
program bin/date <<<"echo >>$folder/looks; echo \$((\$(wc -l <$folder/looks) * 30))"
program bin/clang-tidy-19 <<'END'
source=${!#}
case $source in
faulty*) echo "$PWD/$source:1:2: warning: a fault [bugprone-fault,-warnings-as-errors]" ;;
broken*) echo "clang-tidy ends early"; exit 1 ;;
commands*) cat "$3/compile_commands.json" ;; # behind -p
esac
END

failed=0
# STATUS TEXT... -- ARGUMENT...: of a run
expect() {
    local status=0 wanted=$1 texts=()
    shift
    while [ "$1" != -- ]; do texts+=("$1"); shift; done
    shift
    rm -f looks
    scripts/tidy.sh "$@" >output 2>&1 || status=$?
    for text in "${texts[@]}"; do
        grep -qF -e "$text" output || status="$status without '$text'"
    done
    [ "$status" = "$wanted" ] || { echo "FAILED: $*: status $status, not $wanted:"; cat output; failed=1; }
}
expect 0 'tidy: 2 sources, nothing found' -- clean.cpp well.cpp
expect 0 'tidy: 1 sources, nothing found' 'no time left for well.cpp' -- --minutes 1 clean.cpp well.cpp
expect 1 'tidy: 0 sources' 'no time left for clean.cpp' -- --minutes 0 clean.cpp
expect 1 'faulty.cpp:1:2: warning: a fault' 'tidy: 2 sources, findings by kind:' '1 bugprone-fault' -- clean.cpp faulty.cpp
expect 1 'tidy: 1 sources, findings by kind:' 'no time left for clean.cpp' 'no time left for well.cpp' -- --minutes 1 faulty.cpp clean.cpp well.cpp
expect 1 'clang-tidy ends early' -- clean.cpp broken.cpp
# What g++ alone understands is not handed to Clang.
expect 1 '"c++ -std=c++20 -o a.o -c a.cpp"' -- commands.cpp broken.cpp
exit $failed
