#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What scripts/stages.sh counts and ends, beside programs that play the stages. Usage: stages_test.sh SCRIPT
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/scripts" "$folder/bin"
cp "$1" "$folder/scripts/stages.sh"
cd "$folder"
export PATH=$folder/bin:$PATH
unset TEST_SETUP TIDY # `make test` hands its own down to its tests

# program NAME: its text comes from standard input
program() {
    { printf '#!/usr/bin/env bash\n'; cat; } >"$1"
    chmod +x "$1"
}
for name in bin/clang++-19 scripts/setup.sh scripts/tidy.sh; do program "$name" <<<'exit 0'; done
build='mkdir -p "build/$1/Testing"'
summary='mkdir -p "$1/Testing"; echo "100% tests passed, 0 tests failed out of 6" >"$1/Testing/said.log"'

failed=0
# STATUS LAST_LINE TEXT: of a run, and what else it says
expect() {
    local status=0
    scripts/stages.sh >output 2>&1 || status=$?
    [ "$status" -eq "$1" ] && [ "$(tail -n 1 output)" = "$2" ] && grep -qF -e "$3" output ||
        { echo "FAILED: status $status, not '$2' and '$3':"; cat output; failed=1; }
}
program scripts/build.sh <<<"$build"
program scripts/test.sh <<<"$summary"
expect 0 '100% tests passed, 0 tests failed out of 12' 'tests: Clang, sanitized'
# ctest counts a failed test; its stage is not counted beside.
program scripts/test.sh <<<'mkdir -p "$1/Testing"; echo "83% tests passed, 1 tests failed out of 6" >"$1/Testing/said.log"; exit 8'
expect 1 '83% tests passed, 2 tests failed out of 12' 'Failed: tests: g++'
# A stage that ends before there is a summary, and one that fails in spite of a good one.
program scripts/test.sh <<<"[ \"\$1\" = build/clang ] || exit 1; $summary"
expect 1 '85% tests passed, 1 tests failed out of 7' 'Failed: tests: g++'
program scripts/test.sh <<<"$summary; [ \"\$1\" = build/clang ]"
expect 1 '92% tests passed, 1 tests failed out of 13' 'Failed: tests: g++'
# A build that fails keeps its tests from running.
program scripts/test.sh <<<"$summary"
program scripts/build.sh <<<'[ "$1" = clang ] && echo "what Clang says" && exit 1; exit 0'
expect 1 '85% tests passed, 1 tests failed out of 7' 'what Clang says'
# Too late for the sanitized tests (bash counts on from the SECONDS that it is given).
export SECONDS=2400
program scripts/build.sh <<<"$build"
program scripts/test.sh <<<"$summary"
expect 1 '85% tests passed, 1 tests failed out of 7' ', left out: 40 minutes were over'
unset SECONDS
# A skipped stage fails where its programs were to be installed, and is skipped where they were not.
program scripts/tidy.sh <<<'exit 77'
expect 0 '100% tests passed, 0 tests failed out of 12' 'tidy, skipped'
TEST_SETUP='build lint' expect 1 '92% tests passed, 1 tests failed out of 13' 'Failed: tidy'
program scripts/tidy.sh <<<'exit 0'
# Without Clang: a folder of the programs alone that are called here.
mkdir no_clang
for name in bash env dirname tail sed awk sleep grep mkdir cat rm; do ln -s "$(command -v $name)" no_clang/; done
with_clang=$PATH
PATH=$folder/no_clang
expect 0 '100% tests passed, 0 tests failed out of 6' 'skipped: no Clang 19'
TEST_SETUP='build sanitize' expect 1 '85% tests passed, 1 tests failed out of 7' 'Failed: tests: Clang, sanitized'
PATH=$with_clang
# Everything: by Clang without sanitizers, too. Tests that repeat others are not left out.
program scripts/build.sh <<<"$build; echo \"\$1 \$TARGET.\" >>built"
program scripts/test.sh <<<"$summary; shift; echo \"\$*\" >>options"
scripts/stages.sh all >output 2>&1 && [ "$(LC_ALL=C sort built | tr '\n' ' ')" = 'asan . clang sanitized. clang-release . mpich . release . tsan . ' ] &&
    ! grep -q repeat options || { echo 'FAILED: all:'; cat output built options; failed=1; }

# Interrupted: the build by Clang, which runs in a session of its own, ends too.
mkfifo started
program scripts/build.sh <<<'[ "$1" = clang ] || exit 0; echo $$ >started; exec tail -f /dev/null'
program scripts/test.sh <<<'read -r pid <started; echo "$pid" >clang_pid; kill -TERM "$PPID"; exec tail -f --pid="$PPID" /dev/null'
status=0
timeout 60 scripts/stages.sh >output 2>&1 || status=$?
[ "$status" -eq 143 ] && timeout 20 tail -f --pid="$(cat clang_pid)" /dev/null || { echo "FAILED: interrupted: status $status, or Clang goes on"; cat output; failed=1; }
exit $failed
