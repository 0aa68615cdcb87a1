#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the stages of `make test`, or those of `make test-all`. Usage: stages.sh [all]
# A stage that fails does not stop those that can do without it. The last lines are the minutes of each stage, what failed, and
# the counts of all tests. Fails if a stage did.
# TEST_SETUP: the groups of scripts/setup.sh. TIDY: the options of scripts/tidy.sh.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

all=${1-}
tests=(-LE repeat)
tidied=${TIDY-}
if [ -n "$all" ]; then
    tests=()
    tidied=
fi
minutes=()
failed=()
other_failures=0 # of stages that count no tests
counts=()

# stage NAME COMMAND...
stage() {
    local name=$1 begun=$SECONDS status=0 taken result=
    shift
    printf '== %s\n' "$name"
    "$@" || status=$?
    case $status in
    0) ;;
    77) result=', skipped' ;;
    *)
        result=', FAILED'
        failed+=("$name")
        case $name in tests:*) ;; *) other_failures=$((other_failures + 1)) ;; esac ;;
    esac
    taken=$((SECONDS - begun))
    minutes+=("$(printf '%3d:%02d  %s%s' $((taken / 60)) $((taken % 60)) "$name" "$result")")
    printf '== %s\n' "${minutes[-1]}"
    return "$status"
}

no_clang() {
    echo 'skipped: no Clang 19 (scripts/setup.sh compilers sanitize)'
    return 77
}

# suite PRESET NAME BUILD_COMMAND... -- CTEST_OPTION...: builds, and runs tests of what was built.
suite() {
    local preset=$1 name=$2 build=()
    shift 2
    while [ "$1" != -- ]; do
        build+=("$1")
        shift
    done
    shift
    rm -f "build/$preset/Testing/said.log"
    if stage "build: $name" "${build[@]}"; then
        stage "tests: $name" scripts/test.sh "build/$preset" "$@"
        counts+=("build/$preset/Testing/said.log")
    fi
}

# shellcheck disable=SC2086
stage set-up scripts/setup.sh ${TEST_SETUP:-build test}
suite release 'g++' scripts/build.sh release tests -D CAUSEWAY_WERROR=ON -- "${tests[@]}"
if command -v clang++-19 >/dev/null; then
    suite clang 'Clang, sanitized' env TARGET=sanitized scripts/build.sh clang tests -- -L sanitized
else
    stage 'tests: Clang, sanitized' no_clang
fi
# shellcheck disable=SC2086
stage tidy scripts/tidy.sh $tidied
if [ -n "$all" ]; then
    suite asan 'address sanitizer' scripts/build.sh asan tests --
    suite tsan 'thread sanitizer' scripts/build.sh tsan tests --
    suite mpich MPICH scripts/build.sh mpich tests --
fi

printf '\nMinutes of each stage:\n'
printf '%s\n' "${minutes[@]}"
printf '%3d:%02d  in all\n' $((SECONDS / 60)) $((SECONDS % 60))
[ ${#failed[@]} -eq 0 ] || printf 'Failed: %s\n' "${failed[@]}"
# As ctest says it, of all tests that ran; a stage without tests counts as one where it failed.
sed -n 's/^.* tests passed, \([0-9]*\) tests\{0,1\} failed out of \([0-9]*\)$/\1 \2/p' "${counts[@]}" /dev/null | awk -v others="$other_failures" '
    { failed += $1; all += $2 }
    END {
        failed += others
        all += others
        if (all) printf "%d%% tests passed, %d tests failed out of %d\n", int(100 * (all - failed) / all), failed, all
    }'
[ ${#failed[@]} -eq 0 ]
