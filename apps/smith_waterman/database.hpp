// SPDX-License-Identifier: Apache-2.0
// A database in the device's layout: chunks of interleaved sequences, read without conversion.
#pragma once

#include "smith_waterman/scoring.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace smith_waterman {

/// Sequences that are searched together, of almost the same length; their residues alternate in memory.
constexpr std::size_t lanes = 16;

/*
 * PATH holds chunks of equal size and nothing else. A chunk begins with the number of its groups, then for each one
 * where in the chunk its residues begin, and how many each lane has (32-bit words), then the residues: the first of
 * each lane, the second of each, and so on. Sequences are numbered in this order. PATH.index describes the chunks,
 * PATH.names has the name of each sequence in a line.
 */
class database {
  public:
    struct chunk {
        std::uint64_t first_sequence;
        std::uint64_t residues;
        std::uint64_t groups;
        std::uint64_t first_name; // where in PATH.names
    };

    /// Opens what pack() has written. Throws std::runtime_error.
    explicit database(std::string path);

    [[nodiscard]] const std::string& path() const { return m_path; }
    [[nodiscard]] std::size_t chunk_size() const { return m_chunk_size; }
    [[nodiscard]] const std::vector<chunk>& chunks() const { return m_chunks; }
    [[nodiscard]] std::uint64_t sequences() const { return m_sequences; }
    [[nodiscard]] std::uint64_t residues() const { return m_residues; }
    [[nodiscard]] std::size_t most_groups() const;
    [[nodiscard]] std::string name_of(std::uint64_t sequence) const;

    /// Drops the database from the page cache.
    void leave_page_cache() const;

  private:
    std::string m_path;
    std::size_t m_chunk_size = 0;
    std::uint64_t m_sequences = 0, m_residues = 0;
    std::vector<chunk> m_chunks;
};

/// Makes the database `path` of the sequences in `fasta`; needs memory for a few chunks. Throws std::runtime_error.
void pack(const std::string& fasta, const std::string& path, std::size_t chunk_size);

} // namespace smith_waterman
