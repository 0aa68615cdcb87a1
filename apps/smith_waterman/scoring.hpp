// SPDX-License-Identifier: Apache-2.0
// Residues as numbers, the substitution matrix, and what gaps cost.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace smith_waterman {

/// BLOSUM62's alphabet; other letters (J, O, U) count as X.
constexpr std::string_view alphabet = "ARNDCQEGHILKMFPSTWYVBZX*";
/// A row of the matrix, and a residue that no sequence has: behind the end of one that is shorter than its neighbours.
constexpr int codes = 32;
constexpr std::uint8_t padding = codes - 1;
/// Stands for minus infinity: lower than any score.
constexpr int padding_score = -100;

/// A gap of n residues costs open + n * extend, as in BLAST.
struct gaps {
    int open = 11, extend = 1;
};

/// Score of two residues, by codes.
using matrix = std::array<std::array<std::int8_t, codes>, codes>;
[[nodiscard]] const matrix& blosum62();

/// The code of a letter; `padding` if it is none.
[[nodiscard]] std::uint8_t code_of(char letter);

/// A protein, its residues as codes.
struct sequence {
    std::string name;
    std::string residues;
};

} // namespace smith_waterman
