#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures the tree for clang 19, which has to give each source with hot loops the plug-in, and builds the target task_problems by the
# commands that CMake made, for AVX2. Some of its loops have to be changed, and each problem compares its result with a serial run.
set -euo pipefail

if [ $# -ne 3 ]; then
    echo "usage: own_target.sh CLANG PLUGIN BUILD (which has lib/libcauseway_tasks.so)" >&2
    exit 2
fi
clang=$1 plugin=$2 build=$3
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake -S "$root" -B "$work" -G Ninja -D CMAKE_C_COMPILER="$clang" -D CMAKE_CXX_COMPILER="$(dirname "$(realpath "$clang")")/clang++" \
    -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS=-march=haswell -D CAUSEWAY_BUILD_TESTS=OFF >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
mkdir -p "$work/lib"
ln -s "$plugin" "$work/lib/libcauseway_simd.so" # where the commands look for the one that this tree would build
python3 - "$root" "$work" >"$work/commands" <<'PYTHON'
import json, os, sys
root, work = sys.argv[1:]
commands = {os.path.relpath(each["file"], root): each["command"] for each in json.load(open(f"{work}/compile_commands.json"))}
for part, sources in {"src/oshmem": 5, "apps/himeno": 4, "apps/nanopowder": 3, "apps/tasks": 6}.items():
    own = [source for source in commands if os.path.dirname(source) == part]
    without = [source for source in own if f"-fpass-plugin={work}/lib/libcauseway_simd.so" not in commands[source]]
    if len(own) < sources or without:
        sys.exit(f"FAILED: {part} has {len(own)} sources, of which {without} are compiled without the plug-in")
    print(f"{part}: {len(own)} sources with the plug-in", file=sys.stderr)
for source, command in commands.items():
    if os.path.dirname(source) == "apps/tasks":
        os.makedirs(os.path.join(work, os.path.dirname(command.split(" -o ")[1].split()[0])), exist_ok=True)
        print(f"cd {work} && {command} -mllvm -causeway-simd-report={work}/report")
PYTHON
xargs -P 2 -d '\n' -n 1 sh -c <"$work/commands"
# shellcheck disable=SC2046
"$clang" --driver-mode=g++ $(find "$work/apps" -name '*.cpp.o') "$build/lib/libcauseway_tasks.so" -Wl,-rpath,"$build/lib" -pthread \
    -o "$work/task_problems"
changed=$(grep -c ': done in ' "$work/report" || true)
echo "$changed loops of task_problems changed"
[ "$changed" -gt 0 ] || { cat "$work/report"; exit 1; }
native=$("$clang" -march=native -dM -E -x c /dev/null)
if grep -q __AVX2__ <<<"$native"; then "$work/task_problems" --small --rounds 1 --threads 2; fi
