# SPDX-License-Identifier: Apache-2.0
# What this processor has, for scripts that run what `clang` compiles. To be sourced; ends a script, as skipped, where there is no AVX2.
native=$("$clang" -march=native -dM -E -x c /dev/null)
has() { grep -q "__$1__" <<<"$native"; }
has_avx512() { has AVX512F && has AVX512BW && has AVX512VL && has AVX512DQ; }
has AVX2 || { echo "skipped: this processor has no AVX2"; exit 77; }
