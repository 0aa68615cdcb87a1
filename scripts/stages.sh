#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the stages of `make test`; with `all` those of `make test-all`, which take hours. Usage: stages.sh [all]
# A stage that fails does not stop those that can do without it. The last lines are the minutes of each stage, what failed, and
# the counts of all tests. Fails if a stage did, was left out for want of time, or was skipped where TEST_SETUP names what it needs.
# TEST_SETUP: the groups of scripts/setup.sh. TIDY: the options of scripts/tidy.sh.
set -uo pipefail
case ${1-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

all=${1-}
case $all in '' | all) ;; *) echo 'usage: stages.sh [all]' >&2; exit 2 ;; esac
groups=${TEST_SETUP:-build test}
late=78 # the status of a stage that is left out for want of time
tests=(-LE repeat)
tidied=${TIDY-}
if [ -n "$all" ]; then
    tests=()
    tidied=
fi
minutes=()
failed=()
other_failures=0 # of stages that count no failed tests
counts=()
built=

# counts_failures FILE: ctest's summary in it names failed tests. A stage of tests that ends before has none.
counts_failures() { [ -n "$1" ] && grep -q 'tests passed, [1-9][0-9]* tests\{0,1\} failed' "$1" 2>/dev/null; }

# stage NAME COMMAND...: `said` is the file of a stage that runs tests
stage() {
    local name=$1 begun=$SECONDS status=0 taken result=
    shift
    printf '== %s\n' "$name"
    "$@" || status=$?
    case $status in
    0) ;;
    77) result=', skipped' ;;
    "$late")
        result=', LEFT OUT: no time'
        failed+=("$name, left out: 40 minutes were over (make sanitized)")
        other_failures=$((other_failures + 1)) ;;
    *)
        result=', FAILED'
        failed+=("$name")
        counts_failures "${said-}" || other_failures=$((other_failures + 1)) ;;
    esac
    taken=$((SECONDS - begun))
    minutes+=("$(printf '%3d:%02d  %s%s' $((taken / 60)) $((taken % 60)) "$name" "$result")")
    printf '== %s\n' "${minutes[-1]}"
    return "$status"
}

# required GROUP COMMAND...: no skip (77) counts where the group was to be set up
required() {
    local group=$1 status=0
    shift
    "$@" || status=$?
    [ "$status" -ne 77 ] || [[ " $groups " != *" $group "* ]] || status=1
    return "$status"
}

no_clang() {
    echo 'skipped: no Clang 19 (scripts/setup.sh compilers sanitize)'
    return 77
}

# A run of `make test` takes 45 minutes at most: after these it leaves the sanitized tests out, and fails.
is_late() { [ -z "$all" ] && [ $SECONDS -ge $((40 * 60)) ]; }
no_time() { return "$late"; }

end_of_clang_build() {
    local status=0
    while kill -0 "$clang_build" 2>/dev/null; do
        if is_late; then
            kill -- "-$clang_build"
            no_time
            return
        fi
        sleep 1
    done
    wait "$clang_build" || status=$?
    if [ "$status" -eq 0 ]; then tail -n 1 build/clang.log; else cat build/clang.log; fi
    return "$status"
}

# run_tests PRESET NAME CTEST_OPTION...
run_tests() {
    local preset=$1 name=$2 said=build/$1/Testing/said.log
    shift 2
    rm -f "$said"
    stage "tests: $name" scripts/test.sh "build/$preset" "$@"
    [ ! -e "$said" ] || counts+=("$said")
}

# suite PRESET NAME: builds, and runs the tests.
suite() {
    stage "build: $2" scripts/build.sh "$1" tests && run_tests "$1" "$2"
}

# shellcheck disable=SC2086
stage set-up scripts/setup.sh $groups
# Precompiled headers save a third where nothing was compiled before, and Clang shows which source lacks an include.
stage 'build: g++' scripts/build.sh release tests -D CAUSEWAY_WERROR=ON -D CAUSEWAY_PRECOMPILE=ON && built=yes
# These tests wait for half of their time: Clang builds meanwhile, where nothing else wants a processor.
clang_build=
end_clang_build() { [ -z "$clang_build" ] || kill -- "-$clang_build" 2>/dev/null; }
trap end_clang_build EXIT
if command -v clang++-19 >/dev/null; then
    mkdir -p build
    # In a session of its own, as Linux shares processors among sessions before it looks at niceness. Of ccache it takes what another
    # folder compiled, whose name is then in the debug information.
    TARGET=sanitized CCACHE_NOHASHDIR=1 setsid --wait nice -n 19 bash -c 'echo 19 2>/dev/null >/proc/self/autogroup; exec scripts/build.sh clang tests' \
        >build/clang.log 2>&1 &
    clang_build=$!
fi
[ -z "$built" ] || run_tests release 'g++' "${tests[@]}"
if [ -n "$clang_build" ]; then
    if stage 'build: Clang, sanitized; what was left after the tests by g++' end_of_clang_build; then
        if is_late; then
            stage 'tests: Clang, sanitized' no_time
        else
            run_tests clang 'Clang, sanitized' -L sanitized
        fi
    fi
else
    stage 'tests: Clang, sanitized' required sanitize no_clang
fi
# The last stage takes what is left of 44 minutes, where it has a limit.
left=$((44 - SECONDS / 60))
[[ $tidied != *--minutes* ]] || [ "$left" -ge 3 ] || tidied=$(sed "s/--minutes [0-9]*/--minutes $((left > 1 ? left : 1))/" <<<"$tidied")
# shellcheck disable=SC2086
stage tidy required lint scripts/tidy.sh $tidied
if [ -n "$all" ]; then
    # Not sanitized: Clang's libraries leave the sanitizer's library to the program, and ours are loaded by C and Python, too.
    suite clang-release 'Clang, everything'
    suite asan 'address sanitizer'
    suite tsan 'thread sanitizer'
    suite mpich MPICH
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
