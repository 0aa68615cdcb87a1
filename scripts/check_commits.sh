#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the subjects of commits: `part: do this`, at most 72 characters, no full stop. Usage: check_commits.sh [SINCE]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The last commit before the rule.
first=bea603c26e35
since=${1-$first}
if ! git rev-parse -q --verify "$since^{commit}" >/dev/null 2>&1; then
    echo "check_commits: skipped: the history back to $since is not here"
    exit 77
fi
git log --no-merges --format='%h %s' "$since..HEAD" | awk '
    {
        id = $1
        sub(/^[^ ]+ /, "")
        if (length($0) > 72) wrong[++count] = id ": " length($0) " characters: " $0
        if ($0 ~ /\.$/) wrong[++count] = id ": ends in a full stop: " $0
        if ($0 !~ /^[a-z0-9_.\/, -]+: [^ ]/) wrong[++count] = id ": is not `part: do this`: " $0
    }
    END {
        for (i = 1; i <= count; ++i) print wrong[i]
        exit count > 0
    }'
