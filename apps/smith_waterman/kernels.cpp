// SPDX-License-Identifier: Apache-2.0
// Both kernels align many sequences of the database at once, each by itself (Rognes 2011): all cells of a vector are
// independent, so no lane waits for another as on anti-diagonals, and no cell is corrected afterwards as in stripes
// along the query.
#include "smith_waterman/kernels.hpp"

namespace smith_waterman {

const char* const kernel_source = R"(
// Groups of a chunk: how many, then offset and length of each.
uint groups_of(global const uchar *chunk) { return ((global const uint *)chunk)[0]; }
uint offset_of(global const uchar *chunk, uint group) { return ((global const uint *)chunk)[1 + 2 * group]; }
uint length_of(global const uchar *chunk, uint group) { return ((global const uint *)chunk)[2 + 2 * group]; }

// For processors with vectors: a work-item has a group, a lane of the vector each sequence. It walks along the
// sequences and, for each column, down the query. A column's scores are gathered once for each letter, not for each
// row of the query.
kernel void search_lanes(global const uchar *chunk, global const uchar *query, int query_length, constant char *matrix,
                         global short16 *columns, global short *scores, uint first_score)
{
    columns += get_global_id(0) * 2 * query_length;
    for (uint group = get_global_id(0); group < groups_of(chunk); group += get_global_size(0)) {
        global const uchar16 *residues = (global const uchar16 *)(chunk + offset_of(chunk, group));
        const uint length = length_of(chunk, group);
        for (int i = 0; i < 2 * query_length; ++i)
            columns[i] = 0;
        short16 best = 0;
        for (uint j = 0; j < length; ++j) {
            const uchar16 r = residues[j];
            short16 profile[CODES];
            for (int a = 0; a < LETTERS; ++a) {
                constant char *row = matrix + a * CODES;
                profile[a] = (short16)(row[r.s0], row[r.s1], row[r.s2], row[r.s3], row[r.s4], row[r.s5],
                                       row[r.s6], row[r.s7], row[r.s8], row[r.s9], row[r.sa], row[r.sb],
                                       row[r.sc], row[r.sd], row[r.se], row[r.sf]);
            }
            short16 diagonal = 0, down = 0;
            for (int i = 0; i < query_length; ++i) {
                const short16 left = columns[2 * i];
                short16 right = columns[2 * i + 1];
                short16 cell = max(max(diagonal + profile[query[i]], (short16)0), max(right, down));
                best = max(best, cell);
                columns[2 * i] = cell;
                cell -= (short)GAP_FIRST;
                right = max(right - (short)GAP_NEXT, cell);
                down = max(down - (short)GAP_NEXT, cell);
                columns[2 * i + 1] = right;
                diagonal = left;
            }
        }
        vstore16(best, 0, scores + first_score + group * LANES);
    }
}

// For graphics processors: a work-item has a sequence, and keeps 16 rows of the query in registers while it walks
// along it. What goes from one 16 rows to the next passes through memory, where neighbours are neighbours.
kernel void search_tiles(global const uchar *chunk, global const char *profile, int tiles, global short2 *borders,
                         global short *scores, uint first_score)
{
    const uint group = get_global_id(0) / LANES, lane = get_global_id(0) % LANES;
    if (group >= groups_of(chunk))
        return;
    const uint first = offset_of(chunk, group) + lane, length = length_of(chunk, group);
    int best = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        int left[16], right[16];
        for (int k = 0; k < 16; ++k)
            left[k] = right[k] = 0;
        int above_before = 0;
        for (uint j = 0; j < length; ++j) {
            const uint at = first + j * LANES;
            char row[16];
            vstore16(vload16(chunk[at] * tiles + tile, profile), 0, row);
            const short2 border = tile == 0 ? (short2)(0, 0) : borders[at];
            int diagonal = above_before, down = border.y;
            above_before = border.x;
            #pragma unroll
            for (int k = 0; k < 16; ++k) {
                int cell = max(max(diagonal + row[k], 0), max(right[k], down));
                best = max(best, cell);
                diagonal = left[k];
                left[k] = cell;
                cell -= GAP_FIRST;
                right[k] = max(right[k] - GAP_NEXT, cell);
                down = max(down - GAP_NEXT, cell);
            }
            borders[at] = (short2)(left[15], down);
        }
    }
    scores[first_score + get_global_id(0)] = best;
}
)";

} // namespace smith_waterman
