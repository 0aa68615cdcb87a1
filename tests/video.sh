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
# From pipe to pipe, without names and with.
size_of_film=$("$1" --sum "$folder/out.y4m")
piped=$("$1" - - <"$folder/in.y4m" 2>"$folder/summary" | "$1" --sum -)
[ "$piped" = "$size_of_film" ] || { echo "FAILED: $piped through pipes, $size_of_film from the file"; exit 1; }
grep -q "23 frames" "$folder/summary"
mkfifo "$folder/to" "$folder/from"
"$1" --make --width 97 --height 61 --frames 50 --cycle 7 "$folder/to" &
"$1" --sum "$folder/from" >"$folder/sum" &
"$1" "$folder/to" "$folder/from" | grep "50 frames"
wait
grep -q "^50 frames" "$folder/sum"
# Frames of the made film differ, though its pictures come again.
"$1" --make --width 97 --height 61 --frames 14 --cycle 7 "$folder/again.y4m"
[ "$(tail -c +9000 "$folder/again.y4m" | head -c 8961 | cksum)" != \
    "$(tail -c +$((9000 + 7 * 8961)) "$folder/again.y4m" | head -c 8961 | cksum)" ]
if "$1" --verify - "$folder/out.y4m" <"$folder/in.y4m" 2>/dev/null; then
    echo "FAILED: a pipe cannot be read twice"
    exit 1
fi
echo "video: passed"
