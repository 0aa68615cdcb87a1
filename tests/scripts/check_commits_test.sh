#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What scripts/check_commits.sh accepts and refuses, in a repository of its own. Usage: check_commits_test.sh SCRIPT
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/scripts"
cp "$1" "$folder/scripts/"
cd "$folder"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q
git commit -q --allow-empty -m 'Whatever was before the rules.'

failed=0
# message, what is said of it, or nothing where it is right
expect() {
    local said status=0
    git commit -q --allow-empty --allow-empty-message -m "$1"
    said=$(scripts/check_commits.sh HEAD~1) || status=$?
    if [ -z "${2-}" ]; then
        [ "$status" -eq 0 ] || { echo "FAILED: refused: $said"; failed=1; }
    else
        [ "$status" -eq 1 ] && grep -qF -e "$2" <<<"$said" || { echo "FAILED: '$1': status $status, '$said' without '$2'"; failed=1; }
    fi
}
body=$'\n\nThis says why.'
expect "transfer: check the size of a file$body"
expect "one-sided, tests: bring PEs together$body"
expect "docs: need fewer words$body"
expect "records: time BT-MZ's class W again$body"
expect "tests: re-run what failed$body"
expect "tests: check the size of a file" "has no body that says why"
expect $'tests: check the size of a file\n\n \n' "has no body"
expect "tests: OpenSHMEM's refusals beside others$body" "\`OpenSHMEM's\` is no verb"
for word in the a all more other some new short what 16; do
    expect "records: $word verdicts$body" "\`$word\` is no verb"
done
expect "tests: checked the size of a file$body" '`checked` is not imperative'
expect "tests: checking the size of a file$body" '`checking` is not imperative'
expect "tests: adds the size of a file$body" '`adds` is not imperative'
expect "tests: check the size of a file.$body" "ends in a full stop"
expect "check the size of a file$body" 'is not `part: do this`'
expect "tests: check the size of a file before it is mapped, which takes very long$body" "74 characters"
# Several at once: each wrong one is named, right ones are not.
said=$(scripts/check_commits.sh HEAD~6 || true)
[ "$(wc -l <<<"$said")" -eq 6 ] || { echo "FAILED: not six are wrong: $said"; failed=1; }
status=0
scripts/check_commits.sh no-such-commit >/dev/null || status=$?
[ "$status" -eq 77 ] || { echo "FAILED: without the history: status $status"; failed=1; }
exit $failed
