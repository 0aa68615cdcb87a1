// SPDX-License-Identifier: Apache-2.0
// Packing a database and opening it.
#include "smith_waterman/database.hpp"

#include "smith_waterman/fasta.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace smith_waterman {

namespace {

constexpr std::array<char, 8> magic{'s', 'w', 'c', 'h', 'u', 'n', 'k', '2'};

struct index_header {
    std::array<char, 8> magic;
    std::uint64_t chunk_size, chunks, sequences, residues;
};

void write(const apps::file& file, const void* data, std::size_t size, const std::string& path) {
    if (std::fwrite(data, 1, size, file.get()) != size) throw std::runtime_error("writing " + path + " failed");
}

/// Takes groups of sequences and writes chunks.
class packer {
  public:
    packer(std::string path, std::size_t chunk_size)
        : m_path(without_index(std::move(path))), m_chunk_size(chunk_size),
          m_chunks_file(apps::open_file(m_path, "wb")), m_names(apps::open_file(m_path + ".names", "wb")),
          m_chunk(chunk_size) {}

    void add(std::span<const sequence> group) {
        std::size_t length = 0;
        for (const sequence& one : group) length = std::max(length, one.residues.size());
        if (used(1, length * lanes) > m_chunk_size)
            throw std::runtime_error("the sequence " + group.front().name + " has " + std::to_string(length) +
                                     " residues; chunks must be larger than " +
                                     std::to_string(used(1, length * lanes)));
        if (used(m_lengths.size() + 1, m_residues.size() + length * lanes) > m_chunk_size) flush();
        m_lengths.push_back(std::uint32_t(length));
        for (std::size_t at = 0; at < length; ++at)
            for (std::size_t lane = 0; lane < lanes; ++lane)
                m_residues += lane < group.size() && at < group[lane].residues.size() ? group[lane].residues[at]
                                                                                      : char(padding);
        for (const sequence& one : group) {
            const std::string line = one.name + '\n';
            write(m_names, line.data(), line.size(), m_path + ".names");
            m_names_size += line.size();
            m_current.residues += one.residues.size();
        }
        m_sequences += group.size();
    }

    void finish() {
        flush();
        index_header header{magic, m_chunk_size, m_chunks.size(), m_sequences, 0};
        for (const database::chunk& chunk : m_chunks) header.residues += chunk.residues;
        const std::string index_path = m_path + ".index";
        const apps::file index = apps::open_file(index_path, "wb");
        write(index, &header, sizeof header, index_path);
        write(index, m_chunks.data(), m_chunks.size() * sizeof(database::chunk), index_path);
        for (std::FILE* file : {index.get(), m_chunks_file.get(), m_names.get()})
            if (std::fflush(file) != 0) throw std::runtime_error("writing " + m_path + " failed");
    }

  private:
    /// What is left if this ends before finish() is no database, and an old one's index would have it searched.
    static std::string without_index(std::string path) {
        std::filesystem::remove(path + ".index");
        return path;
    }

    /// Residues begin where a vector of lanes may.
    static std::size_t table_size(std::size_t groups) {
        return (sizeof(std::uint32_t) * (1 + 2 * groups) + lanes - 1) / lanes * lanes;
    }
    static std::size_t used(std::size_t groups, std::size_t residues) { return table_size(groups) + residues; }

    void flush() {
        if (m_lengths.empty()) return;
        std::ranges::fill(m_chunk, char(padding));
        std::vector<std::uint32_t> table{std::uint32_t(m_lengths.size())};
        std::size_t offset = table_size(m_lengths.size());
        std::memcpy(m_chunk.data() + offset, m_residues.data(), m_residues.size());
        for (const std::uint32_t length : m_lengths) {
            table.push_back(std::uint32_t(offset));
            table.push_back(length);
            offset += length * lanes;
        }
        std::memcpy(m_chunk.data(), table.data(), table.size() * sizeof table[0]);
        write(m_chunks_file, m_chunk.data(), m_chunk.size(), m_path);
        m_current.groups = m_lengths.size();
        m_chunks.push_back(m_current);
        m_current = {m_sequences, 0, 0, m_names_size};
        m_lengths.clear();
        m_residues.clear();
    }

    std::string m_path;
    std::size_t m_chunk_size;
    apps::file m_chunks_file, m_names;
    std::vector<char> m_chunk;
    std::vector<std::uint32_t> m_lengths; // of the groups of this chunk
    std::string m_residues;
    database::chunk m_current{};
    std::vector<database::chunk> m_chunks;
    std::uint64_t m_sequences = 0, m_names_size = 0;
};

} // namespace

void pack(const std::string& fasta, const std::string& path, std::size_t chunk_size) {
    if (chunk_size > std::size_t(1) << 30) throw std::runtime_error("chunks of more than 1 GiB are not for devices");
    fasta_reader reader(fasta);
    for (const char* const suffix : {"", ".index", ".names"})
        if (std::error_code not_there; std::filesystem::equivalent(fasta, path + suffix, not_there))
            throw std::runtime_error("the database would take the place of the sequences in " + fasta);
    packer packed(path, chunk_size);
    // Lanes of a group run as long as their longest sequence, so sequences are sorted, a few chunks at a time. The
    // shortest ones that fill no group wait for the next.
    std::vector<sequence> waiting;
    for (bool ended = false; !ended;) {
        for (std::size_t residues = 0; residues < 8 * chunk_size && !ended;) {
            auto one = reader.next();
            ended = !one;
            if (one) {
                residues += one->residues.size();
                waiting.push_back(std::move(*one));
            }
        }
        std::ranges::stable_sort(waiting, std::greater{}, [](const sequence& one) { return one.residues.size(); });
        const std::size_t taken = ended ? waiting.size() : waiting.size() / lanes * lanes;
        for (std::size_t at = 0; at < taken; at += lanes)
            packed.add(std::span(waiting).subspan(at, std::min(lanes, taken - at)));
        waiting.erase(waiting.begin(), waiting.begin() + std::ptrdiff_t(taken));
    }
    packed.finish();
}

database::database(std::string path) : m_path(std::move(path)) {
    const apps::file index = apps::open_file(m_path + ".index", "rb");
    index_header header{};
    if (std::fread(&header, sizeof header, 1, index.get()) != 1 || header.magic != magic)
        throw std::runtime_error(m_path + ".index is no index of a database; make one by `smith_waterman pack`");
    m_chunk_size = header.chunk_size;
    m_sequences = header.sequences;
    m_residues = header.residues;
    m_chunks.resize(header.chunks);
    if (std::fread(m_chunks.data(), sizeof(chunk), m_chunks.size(), index.get()) != m_chunks.size())
        throw std::runtime_error(m_path + ".index is too short");
    if (m_chunks.empty()) throw std::runtime_error(m_path + " has no sequences");
}

std::size_t database::most_groups() const { return std::ranges::max(m_chunks, {}, &chunk::groups).groups; }

std::string database::name_of(std::uint64_t sequence) const {
    const chunk& in = *std::prev(std::ranges::upper_bound(m_chunks, sequence, {}, &chunk::first_sequence));
    std::ifstream names(m_path + ".names");
    names.seekg(std::streamoff(in.first_name));
    std::string name;
    for (std::uint64_t at = in.first_sequence; at <= sequence; ++at)
        if (!std::getline(names, name)) throw std::runtime_error(m_path + ".names is too short");
    return name;
}

void database::leave_page_cache() const {
    const apps::file file = apps::open_file(m_path, "rb");
    // What was just written can go only when it is on the disk.
    if (fdatasync(fileno(file.get())) != 0 || posix_fadvise(fileno(file.get()), 0, 0, POSIX_FADV_DONTNEED) != 0)
        throw std::runtime_error("cannot send " + m_path + " out of the page cache");
}

} // namespace smith_waterman
