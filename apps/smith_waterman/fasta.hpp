// SPDX-License-Identifier: Apache-2.0
// FASTA files, one sequence after another.
#pragma once

#include "smith_waterman/scoring.hpp"

#include "common/program.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace smith_waterman {

class fasta_reader {
  public:
    /// Throws std::runtime_error if the file cannot be opened.
    explicit fasta_reader(std::string path);

    /// The next sequence, named by the first word of its header; nothing at the end. Throws std::runtime_error, with
    /// file and line, for what is no FASTA or no protein.
    std::optional<sequence> next();

  private:
    [[noreturn]] void refuse(const std::string& why) const;
    bool read_line(std::string& line);

    std::string m_path;
    apps::file m_file;
    std::string m_header;
    std::uint64_t m_line = 0;
};

/// All of a file; it has at least one sequence. Throws std::runtime_error.
std::vector<sequence> read_fasta(const std::string& path);

/// Writes sequences of `residues` residues in all, of lengths and frequencies as in Swiss-Prot. The same `seed` gives
/// the same file. Throws std::runtime_error.
void generate_fasta(const std::string& path, std::uint64_t residues, std::uint64_t seed);

} // namespace smith_waterman
