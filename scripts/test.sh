#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of a build folder. Usage: test.sh BUILD_FOLDER [CTEST_OPTION]...
# The last lines are excerpts of what failed, and the counts: a log cut in its middle still says why.
set -euo pipefail
case ${1-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac

if [ $# -lt 1 ]; then
    echo "usage: scripts/test.sh BUILD_FOLDER [CTEST_OPTION]..." >&2
    exit 2
fi
build=$(cd "$1" && pwd)
shift

mkdir -p "$build/Testing"
said=$build/Testing/said.log
status=0
# Tests wait for nearly half of their time: three for two processors.
ctest --output-on-failure --no-tests=error --parallel $((($(nproc) * 3 + 1) / 2)) --test-dir "$build" "$@" 2>&1 | tee "$said" || status=$?
[ "$status" -ne 0 ] || exit 0

failed=$(sed -n '/^The following tests FAILED/,/^Errors/ s/^\t *[0-9]* - \(.*\) (.*)$/\1/p' "$said")
for name in $failed; do
    printf '\n--- %s\n' "$name"
    awk -v name="$name" '
        BEGIN { until = -1 }
        $2 == "Testing:" { inside = $3 == name; if (inside) count = 0 }
        /^<end of output>/ { inside = 0 }
        inside { line[count++] = substr($0, 1, 300) }
        END {
            # Each failure with what it says, then how the output ends.
            for (i = 0; i < count; ++i) {
                if (line[i] ~ /: Failure|FAILED|Sanitizer|Traceback|Error:|_test: |on signal|signal [0-9]|[Aa]bort|terminate|exited|causeway:/)
                    until = i + 5
                if ((i <= until && shown++ < 60) || i >= count - 8) print line[i]
            }
        }' "$build/Testing/Temporary/LastTest.log"
done
echo
sed -n '/^The following tests FAILED/,/^Errors/p' "$said"
grep 'tests passed' "$said" || true
exit "$status"
