#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds, checks and measures on a machine with NVIDIA GPUs and no network, in less than ten minutes.
set -uo pipefail

usage() {
    cat <<'TEXT'
usage: scripts/on_gpu_machine.sh [OPTION]... [OUT_DIR]

  OUT_DIR          where the logs and the summary go (default: build/gpu)
  --phases LIST    some of build,tests,bench,himeno,stream,filters,one_sided,bt_mz,directives,tasks,film,cluster
                   (default: build to filters; the others take minutes each: film sends more than the device's memory
                   through, cluster, one_sided and bt_mz take a rank for each GPU); bench is memory,kernel,disk,peers,
                   calls,latency,ranks,large,beside, each of which may be named alone
  --build DIR      where to build (default: build/release)
  --commit TEXT    the commit that is measured (default: what git says)
  --runtime NAME   nvidia: the driver's library, whatever is installed (default); system: as the machine is set up
  --translated DIR programs with directives as causeway-cc left them in DIR, for machines without LLVM
  --translate DIR  leave them there, and do nothing else
  --small          small sizes, to try the script itself

The figures need CLI11 and nlohmann/json, the tests GoogleTest: the machine's, or those of a folder .gtest/ in the
project's root, with what Debian's libcli11-dev, nlohmann-json3-dev, libgtest-dev and libgmock-dev hold
(.gtest/usr/include/CLI, .gtest/usr/lib/...; extract the packages with dpkg -x); direct links between GPUs need
libvulkan-dev's headers, there as well. What is not there is left out, and the summary says so.
The bench phase leaves one JSON file for each of its parts: `causeway perf --from FILE... --plot PICTURE` draws them.
A phase that fails or takes too long does not stop the others; the script then ends with status 1.
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=build/gpu
phases=build,tests,bench,himeno,stream,filters
build=build/release
commit=
runtime=nvidia
small=
translated=
translate=
while [ $# -gt 0 ]; do
    case $1 in
    --phases) phases=$2; shift 2 ;;
    --build) build=$2; shift 2 ;;
    --commit) commit=$2; shift 2 ;;
    --runtime) runtime=$2; shift 2 ;;
    --small) small=yes; shift ;;
    --translated) translated=$(cd "$2" && pwd) || exit 2; shift 2 ;;
    --translate) translate=$2; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) out=$1; shift ;;
    esac
done
cd "$root" || exit 2
if [ -n "$translate" ]; then
    mkdir -p "$translate"/{directives,bt_mz} &&
        benchmarks/directives.sh --build "$build" --translate-only "$translate/directives" &&
        "$build/bin/causeway-cc" -O2 -Iapps --translate "$translate/bt_mz" -c apps/bt_mz/directives.c -o /dev/null
    exit
fi
mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd)
[ -n "$commit" ] || commit=$(git describe --always --dirty --abbrev=10 2>/dev/null) || commit=unknown

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
summary=$out/summary.txt
: >"$summary"
rm -f "$out"/{build.log,tests.log,perf.txt,perf-{memory,kernel,disk,peers,calls,latency,ranks,large,beside}.json,programs.txt,cluster-apps.txt,one-sided.txt,bt-mz.txt,directives.txt,tasks.txt}

export GTEST_COLOR=no
readonly time_limit=530
readonly largest_log=4000000
failures=0

wanted() { [[ ,$phases, == *,$1,* ]]; }
wanted_bench() { wanted bench || wanted "$1"; }

# phase NAME SECONDS LOG COMMAND...: runs COMMAND under a time limit, its output at the end of LOG; notes the result.
phase() {
    local name=$1 seconds=$2 log=$out/$3 left status result begun=$SECONDS
    shift 3
    left=$((time_limit - SECONDS))
    printf '%s  +%3d s  %s\n' "$(date +%T)" "$SECONDS" "$name"
    if [ "$left" -lt 5 ]; then
        note "$name" 'NOT RUN: no time left' 0
        return 1
    fi
    [ "$seconds" -lt "$left" ] || seconds=$left
    printf '\n== %s\n   %s\n' "$name" "$*" >>"$log"
    timeout -k 5 "$seconds" "$@" 2>&1 </dev/null | head -c "$largest_log" >>"$log"
    status=${PIPESTATUS[0]}
    case $status in
    0) result=ok ;;
    77) result=skipped ;;
    124 | 137) result="TIMED OUT after $seconds s" ;;
    *) result="FAILED ($status)" ;;
    esac
    note "$name" "$result" $((SECONDS - begun))
    return "$status"
}

note() {
    printf '%-28s %-22s %4s s\n' "$1" "$2" "$3" >>"$summary"
    case $2 in ok | skipped*) ;; *) failures=$((failures + 1)) ;; esac
}

# Adds lines under the last phase of the summary.
figures() { sed 's/^/    /' >>"$summary"; }

# A phase, and as its figures the lines that it has added to its log and that match PATTERN: PATTERN, then as phase.
phase_lines() {
    local pattern=$1 log=$out/$4 from
    shift
    from=$(stat -c %s "$log" 2>/dev/null || echo 0)
    phase "$@"
    tail -c "+$((from + 1))" "$log" | grep -E "$pattern" | head -n 30 | figures
}

choose_nvidia() {
    local folder
    mkdir "$scratch/vendors"
    echo libnvidia-opencl.so.1 >"$scratch/vendors/nvidia.icd"
    export OCL_ICD_VENDORS=$scratch/vendors/
    # The loaders differ in which of the two they read.
    export OCL_ICD_FILENAMES=libnvidia-opencl.so.1
    if ! ldconfig -p | grep libnvidia-opencl.so.1 >/dev/null; then
        for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib; do
            [ -e "$folder/libnvidia-opencl.so.1" ] || continue
            export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
        done
    fi
}

has_googletest() {
    mkdir -p "$scratch/probe"
    cat >"$scratch/probe/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.22)
project(probe CXX)
find_package(GTest QUIET)
if(NOT TARGET GTest::gmock)
  message(FATAL_ERROR "no GoogleTest")
endif()
TEXT
    cmake -S "$scratch/probe" -B "$scratch/probe/build" "${prefix[@]}" >/dev/null 2>&1
}

configure_and_build() {
    local tests=OFF
    if has_googletest; then
        tests=ON
    else
        echo 'no GoogleTest: the tests are left out' | tee "$scratch/no_tests"
    fi
    if [ -n "$translated" ]; then prefix+=(-D CAUSEWAY_BT_MZ_DIRECTIVES="$translated/bt_mz/directives.c"); fi
    cmake --preset release -B "$build" "${prefix[@]}" -D CAUSEWAY_BUILD_TESTS=$tests || return
    # What is measured first: a test that does not compile must not cost the figures.
    local first=(himeno stream one_sided bt_mz task_problems causeway_acc)
    if cmake --build "$build" --target help | grep '^causeway_program:' >/dev/null; then
        first+=(causeway_program cluster_apps)
    else
        echo 'no CLI11 or no nlohmann/json: the program causeway and its figures are left out' | tee "$scratch/no_perf"
    fi
    if grep -q '^CAUSEWAY_VULKAN_HEADERS:.*NOTFOUND' "$build/CMakeCache.txt"; then
        echo "no Vulkan headers (libvulkan-dev): nothing goes over direct links between GPUs" | tee "$scratch/no_links"
    fi
    cmake --build "$build" -j "${JOBS:-$(nproc)}" --target "${first[@]}" || return
    [ $tests = OFF ] || cmake --build "$build" -j "${JOBS:-$(nproc)}" -- -k 0
}

# The lines of the library's own choice, without the columns that the summary has no room for.
perf_rows() {
    awk '/^route .*%/ || substr($0, 44, 5) == "auto " { sub(/ *\([^)]*\) */, "  "); print }' "$1"
}

# perf_phase NAME SECONDS LAUNCHER OPTION...: measures, and leaves perf-NAME.json.
perf_phase() {
    local name=$1 seconds=$2
    local -n launcher=$3
    shift 3
    phase "perf, $name" "$seconds" perf.txt "${launcher[@]}" "$build/bin/causeway" perf --table --commit "$commit" \
        --json "$out/perf-$name.json" "$@"
}

prefix=()
[ ! -d .gtest/usr ] || prefix=(-D CMAKE_PREFIX_PATH="$root/.gtest/usr")
[ "$runtime" != nvidia ] || choose_nvidia
one=(scripts/run_with.sh system --)
two=(scripts/run_with.sh system --ranks 2 --)
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU') || gpus=1
ranks=$((gpus < 2 ? 2 : gpus))
every=(scripts/run_with.sh system --ranks "$ranks" --)
file_sizes=1M,16M,256M,1G
kernel_sizes=16M,64M,256M
disk_sizes=256M,1G
peer_sizes=8,1M,64M,256M
rank_sizes=1M,4M,16M,64M
large_sizes=256M,1G
beside_sizes=1M,16M,64M,256M
himeno_sizes='M L'
stream_options=(--size-mib 2048)
filter_frames=100
application_sizes=large
film_frames=300
long_film=
one_sided_rounds=11
bt_mz_classes=B,C
directives_options=()
tasks_options=()
if [ -n "$small" ]; then
    file_sizes=1M,4M
    kernel_sizes=1M
    disk_sizes=1M
    peer_sizes=8,1M
    rank_sizes=1M
    large_sizes=4M
    beside_sizes=1M
    himeno_sizes='XS'
    stream_options=(--size-mib 32)
    filter_frames=5
    application_sizes=small
    film_frames=5
    one_sided_rounds=1
    bt_mz_classes=S
    directives_options=(--small)
    tasks_options=(--small --rounds 1)
    long_film='0 320 180'
fi
# Between two GPUs where there are two, else within one device.
pair=same-device
[ "$gpus" -lt 2 ] || pair=two-devices
pair_routes=rank-one-way/$pair,rank-both-ways/$pair
# For writes: the page cache is memory like tmpfs, but a disk behind it writes in the background. Files to be read lie in
# the page cache of a disk as well.
disk=${TMPDIR:-/tmp}
directory=/dev/shm
[ "$(df --output=avail -B1M /dev/shm 2>/dev/null | tail -n 1)" -gt 6000 ] 2>/dev/null || directory=${TMPDIR:-/tmp}

{
    echo "commit $commit, $(date -u +'%F %T') UTC, $(nproc) processors, $(uname -sr)"
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null
    g++ --version | head -n 1
    clinfo -l 2>&1 | grep -v '^$'
    echo
    printf '%-28s %-22s %6s\n' phase result time
} >>"$summary"

if wanted build; then
    # The functions run under timeout, in a shell of their own.
    {
        declare -p prefix scratch build translated
        declare -f configure_and_build has_googletest
        echo configure_and_build
    } >"$scratch/build.sh"
    phase build 240 build.log bash "$scratch/build.sh"
    for missing in no_tests no_perf no_links; do
        [ ! -e "$scratch/$missing" ] || figures <"$scratch/$missing"
    done
fi

if wanted tests; then
    for program in unit_tests device_tests system_tests; do
        case $program in
        unit_tests) runner=(scripts/run_with.sh none --) seconds=60 ;;
        device_tests) runner=("${one[@]}") seconds=240 ;;
        system_tests) runner=("${two[@]}") seconds=120 ;;
        esac
        if [ ! -x "$build/bin/$program" ]; then
            note "$program" 'skipped: not built' 0
            continue
        fi
        phase_lines '^\[==========\] .* ran|^\[  (PASSED|SKIPPED|FAILED )' \
            "$program" "$seconds" tests.log "${runner[@]}" "$build/bin/$program" --gtest_brief=1
    done
fi

# perf_part NAME SECONDS LAUNCHER OPTION...: if it is wanted.
perf_part() {
    wanted_bench "$1" || return 0
    if [ -x "$build/bin/causeway" ]; then
        perf_phase "$@"
    else
        note "perf, $1" 'skipped: not built' 0
    fi
}

forced=(--seconds 2 --blocks 1M,4M)
perf_part memory 320 one "${forced[@]}" --sizes $file_sizes --directory "$directory" \
    --routes file-read,file-read-in-a-row,file-read-stream,file-write,file-write-stream,file-write-growing,enqueue
perf_part kernel 90 one "${forced[@]}" --sizes $kernel_sizes --strategies auto --directory "$directory" --routes kernel
# A round of 1 GiB takes seconds.
perf_part disk 290 one --seconds 15 --blocks 1M,4M --sizes $disk_sizes --strategies auto --directory "$disk" \
    --routes file-read,file-read-cold,file-write-disk
perf_part peers 90 one "${forced[@]}" --sizes $peer_sizes --routes peer
perf_part calls 60 one --seconds 2 --strategies auto --blocks 4M --sizes 8,64K,512K --directory "$directory" --routes file-read,file-write,peer
perf_part latency 100 two --seconds 2 --strategies auto --blocks 4M --sizes 8,64K,512K \
    --routes rank-latency,rank-blocking,rank-one-way,rank-both-ways,rank-many-small,rank-64-at-once
perf_part ranks 150 two --seconds 1 --blocks 4M,16M --sizes $rank_sizes --repetitions 5 --routes "$pair_routes"
# A round of these takes seconds.
perf_part large 120 two --seconds 5 --strategies auto --sizes $large_sizes --routes "$pair_routes"
perf_part beside 60 two --seconds 2 --strategies auto --blocks 4M,16M --sizes $beside_sizes --routes rank-host,rank-kernel
[ ! -e "$out/perf.txt" ] || perf_rows "$out/perf.txt" | figures

if wanted himeno; then
    for size in $himeno_sizes; do
        phase "himeno $size, two ranks" 100 programs.txt "${two[@]}" "$build/bin/himeno" --size "$size" \
            --rounds 15 --verify
        awk -v size="$size" '/^Himeno / { mine = ($2 == size) } mine && /^(version|serial|hand|causeway) |FAILED/' \
            "$out/programs.txt" | figures
    done
fi

if wanted stream; then
    phase stream 60 programs.txt "${one[@]}" "$build/bin/stream" "${stream_options[@]}" --directory "$directory"
    sed -n '/^stream: /,$p' "$out/programs.txt" | grep -E '^(naive|causeway|every) ' | figures
fi

# Stream graphs: four filters three ways at two sizes, a film from file to file, and what a token costs the host.
if wanted filters; then
    for size in "640 360 $filter_frames" "1920 1080 $filter_frames"; do
        read -r width height frames <<<"$size"
        phase_lines 'per frame|verified|WRONG' \
            "filters $width x $height" 150 programs.txt "${one[@]}" "$build/bin/filters" --width "$width" --height "$height" \
            --frames "$frames" --rounds 9 --verify
    done
    phase_lines 'per token|tokens of|WRONG' \
        'graph bound' 90 programs.txt "${one[@]}" "$build/bin/graph_bound" --tokens "$filter_frames"
    phase_lines '^graph ' \
        'graph cost' 60 programs.txt "${one[@]}" "$build/bin/graph_cost"
    film=$scratch/film.y4m
    "$build/bin/video" --make --width 1920 --height 1080 --frames "$film_frames" "$film" >>"$out/programs.txt" 2>&1
    phase_lines '^(graph|plain|both|WRONG)' \
        video 120 programs.txt "${one[@]}" "$build/bin/video" --verify --explain "$film" "$scratch/result.y4m"
fi

# Each program of one-sided commands by itself, so that one that fails does not take the others along.
if wanted one_sided; then
    for program in latency bandwidth updates transpose collectives halo; do
        phase_lines ' us| GB/s|per second|data right|WRONG|not ' \
            "one_sided $program, $ranks ranks" 90 one-sided.txt "${every[@]}" "$build/bin/one_sided" --rounds "$one_sided_rounds" "$program"
    done
    phase_lines '^\[==========\] .* ran|^\[  (PASSED|SKIPPED|FAILED )' \
        "symmetric_tests, $ranks ranks" 120 tests.log "${every[@]}" "$build/bin/symmetric_tests" --gtest_brief=1
fi

if wanted bt_mz; then
    for count in 1 $([ "$gpus" -lt 2 ] || echo 2) $([ "$gpus" -lt 4 ] || echo 4); do
        phase_lines '^bt_mz: |^(version|host|staged|messages|one_sided|openshmem|directives) |FAILED' \
            "bt_mz, $count ranks" 240 bt-mz.txt benchmarks/bt_mz.sh --build "$build" --runtime system --classes "$bt_mz_classes" \
            --ranks "$count" --programs-only
    done
fi

if wanted directives; then
    directives_options+=(--build "$build" --devices "$(seq -s, 1 "$gpus")")
    [ -z "$translated" ] || directives_options+=(--translated "$translated/directives")
    phase directives 300 directives.txt scripts/run_with.sh system -- benchmarks/directives.sh "${directives_options[@]}"
fi

if wanted tasks; then
    phase tasks 200 tasks.txt "$build/bin/task_problems" --threads "$(($(nproc) < 16 ? $(nproc) : 16))" "${tasks_options[@]}"
fi

if wanted film; then
    # shellcheck disable=SC2086 # sizes are several arguments, or none
    phase_lines '^(graph|plain|both|FAILED|[0-9]+ frames)' \
        'film, larger than memory' 500 programs.txt "${one[@]}" scripts/long_film.sh "$build/bin/video" $long_film
fi

# Applications for several devices, on one GPU and on as many ranks as there are GPUs.
if wanted cluster; then
    if [ -x "$build/bin/cluster_apps" ]; then
        phase "applications on $gpus ranks" 500 cluster-apps.txt python3 benchmarks/cluster_apps.py system \
            --build "$build" --commit "$commit" --ranks "$gpus" --attach --verify --stats --repeats 2 \
            --sizes "$application_sizes"
        grep -E '^[a-z-]+: |^    [0-9]+ of [^:]* [0-9.]+ \S+$' "$out/cluster-apps.txt" | figures
    else
        note 'applications on ranks' 'skipped: not built' 0
    fi
fi

echo
cat "$summary"
echo
echo "$SECONDS s in all, $failures phases not ok; logs in $out"
[ "$failures" -eq 0 ]
