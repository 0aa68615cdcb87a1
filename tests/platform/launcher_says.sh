#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# launcher_says.sh WORDS COMMAND...: all that the ranks of the command say is lost, and the launcher has to say WORDS. Open MPI's (4.1.4)
# loses such a message in about half of its runs, and logs that it has. So the command may run again, but says WORDS at last; each of its
# runs fails, and says the one or the other.
set -euo pipefail

words=$1
shift
for ((i = 1; i <= 30; ++i)); do
    if said=$("$@" 2>&1); then
        echo "FAILED: the command ended with 0"
        exit 1
    fi
    if grep -qE "(communicator |MPI_Abort.)$words" <<<"$said"; then
        echo "said in run $i"
        exit 0
    fi
    if ! grep -qE 'ORTE_ERROR_LOG: .*show_help\.c' <<<"$said"; then
        printf 'FAILED: run %d said something else:\n%s\n' "$i" "$said"
        exit 1
    fi
done
echo "FAILED: not said in $((i - 1)) runs"
exit 1
