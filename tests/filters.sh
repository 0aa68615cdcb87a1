#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the filters on frames that they make, on a film, and on images of their own. Usage: filters.sh FILTERS VIDEO
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" --width 61 --height 43 --frames 7 --rounds 1 --verify --output "$folder/made"
"$2" --make --width 51 --height 37 --frames 5 "$folder/film.y4m"
"$1" --rounds 1 --verify --input "$folder/film.y4m" --output "$folder/film"
# Both kinds of file that were written can be read.
"$1" --rounds 1 --verify --filter sobel --input "$folder/made-median.ppm" --output "$folder/again"
"$1" --rounds 1 --verify --filter box --input "$folder/film-median.y4m" --output "$folder/again"
[ "$(head -c 9 "$folder/again-box.y4m")" = YUV4MPEG2 ]
[ "$(head -c 2 "$folder/again-sobel.ppm")" = P6 ]
head -c 500 "$folder/film.y4m" >"$folder/short.y4m"
if "$1" --input "$folder/short.y4m" 2>/dev/null; then echo "FAILED: half a frame was taken"; exit 1; fi
echo "filters: passed"
