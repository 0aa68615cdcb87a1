#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the messages of commits. Usage: check_commits.sh [SINCE]
# The subject is `part: do this`: at most 72 characters, a verb in the imperative, no full stop. The body is not empty.
# SINCE: the last commit that is not checked. Without it: the last one before these rules.
set -euo pipefail
case ${1-} in -h | --help) sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The last commits before the rules: for subjects, and for bodies and first words.
first=bea603c26e35
strict=811d98744a23
since=${1-$first}
if ! git rev-parse -q --verify "$since^{commit}" >/dev/null 2>&1; then
    echo "check_commits: skipped: the history back to $since is not here"
    exit 77
fi
[ $# -eq 0 ] || strict=$since
git rev-parse -q --verify "$strict^{commit}" >/dev/null 2>&1 || strict=HEAD

# With a body each is "HASH\001SUBJECT\001BODY\002".
{
    git log --no-merges --format='%h%x01%s%x01.%x02' "$since..$strict"
    printf '\003\002'
    git log --no-merges --format='%h%x01%s%x01%b%x02' "$since..HEAD" --not "$strict"
} | awk -v RS='\002' -F'\001' '
    function refuse(why) { wrong[++count] = id ": " why ": " subject }
    BEGIN {
        split("adds allows avoids builds calls changes compiles corrects counts does drops fixes gives gets is keeps lets makes mends moves " \
              "prints puts reads removes renames replaces runs says sends sets shows speeds starts stops takes tells updates uses writes", list, " ")
        for (i in list) third[list[i]] = 1
        split("a all an another any both each every few its last less many more most new newer newest next no old older other our short " \
              "some such that the their these this those three two what when where which who why with without", list, " ")
        for (i in list) no_verb[list[i]] = 1
        split("bed bleed breed bring cling embed exceed feed need ping proceed ring seed shed speed spring string swing wed", list, " ")
        for (i in list) imperative[list[i]] = 1
    }
    /\003/ { is_strict = 1; next }
    NF < 3 { next }
    {
        id = $1
        sub(/^\n/, "", id)
        subject = $2
        if (length(subject) > 72) refuse(length(subject) " characters")
        if (subject ~ /\.$/) refuse("ends in a full stop")
        if (subject !~ /^[a-z0-9_.\/, -]+: [^ ]/) refuse("is not `part: do this`")
        if (!is_strict) next
        if ($3 !~ /[^ \n]/) refuse("has no body that says why")
        verb = subject
        sub(/^[^:]*: */, "", verb)
        sub(/[ ,].*/, "", verb)
        if (verb in no_verb || verb !~ /^[a-z]+(-[a-z]+)*$/) refuse("`" verb "` is no verb")
        else if (verb in third || (verb ~ /^[a-z]+(ed|ing)$/ && !(verb in imperative))) refuse("`" verb "` is not imperative")
    }
    END {
        for (i = 1; i <= count; ++i) print wrong[i]
        exit count > 0
    }'
