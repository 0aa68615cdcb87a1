// SPDX-License-Identifier: Apache-2.0
// The two kernels, which give the same scores.
#pragma once

namespace smith_waterman {

/// OpenCL C; needs CODES, LANES, GAP_FIRST (opening a gap and its first residue) and GAP_NEXT.
extern const char* const kernel_source;
/// Rows of the query that a work-item of search_tiles keeps in registers.
constexpr int tile_rows = 16;

} // namespace smith_waterman
