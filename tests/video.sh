#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a small film, runs it through the graph and the plain version, and breaks it off. Usage: video.sh VIDEO
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" --make --width 97 --height 61 --frames 23 "$folder/in.y4m"
"$1" --verify "$folder/in.y4m" "$folder/out.y4m"
cmp "$folder/in.y4m" "$folder/out.y4m" >/dev/null && { echo "FAILED: the film is as it was"; exit 1; }
# Half a frame too little: the frames before it are delivered.
size=$(wc -c <"$folder/in.y4m")
head -c $((size - 3000)) "$folder/in.y4m" >"$folder/short.y4m"
if "$1" "$folder/short.y4m" "$folder/end.y4m" 2>"$folder/message"; then
    echo "FAILED: a film that ends within a frame was not noticed"
    exit 1
fi
cat "$folder/message"
grep -q "'film', token 22: the stream ended" "$folder/message"
whole=$(wc -c <"$folder/end.y4m")
head -c "$whole" "$folder/out.y4m" | cmp - "$folder/end.y4m"
[ "$whole" -gt $((size / 2)) ]
echo "video: passed"
