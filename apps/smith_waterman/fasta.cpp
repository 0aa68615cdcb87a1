// SPDX-License-Identifier: Apache-2.0
// FASTA files, read and generated.
#include "smith_waterman/fasta.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <stdexcept>
#include <utility>

namespace smith_waterman {

fasta_reader::fasta_reader(std::string path) : m_path(std::move(path)), m_file(apps::open_file(m_path, "rb")) {}

void fasta_reader::refuse(const std::string& why) const {
    throw std::runtime_error(m_path + ", line " + std::to_string(m_line) + ": " + why);
}

bool fasta_reader::read_line(std::string& line) {
    line.clear();
    for (int letter; (letter = getc_unlocked(m_file.get())) != EOF;) {
        if (letter == '\n') {
            ++m_line;
            return true;
        }
        if (letter != '\r') line += char(letter);
    }
    if (std::ferror(m_file.get())) refuse("reading failed");
    m_line += line.empty() ? 0 : 1;
    return !line.empty();
}

std::optional<sequence> fasta_reader::next() {
    std::string line;
    while (m_header.empty()) {
        if (!read_line(line)) return std::nullopt;
        if (!line.empty() && line.front() != '>') refuse("a sequence without a line that begins with '>'");
        m_header = line;
    }
    const std::size_t begin = std::min(m_header.find_first_not_of(" \t", 1), m_header.size());
    sequence found{m_header.substr(begin, m_header.find_first_of(" \t", begin) - begin), {}};
    m_header.clear();
    while (read_line(line)) {
        if (!line.empty() && line.front() == '>') {
            m_header = line;
            break;
        }
        for (const char letter : line) {
            const std::uint8_t code = code_of(letter);
            if (code == padding) refuse(std::string("'") + letter + "' is no amino acid");
            found.residues += char(code);
        }
    }
    return found;
}

std::vector<sequence> read_fasta(const std::string& path) {
    fasta_reader reader(path);
    std::vector<sequence> all;
    while (auto one = reader.next()) all.push_back(std::move(*one));
    if (all.empty()) throw std::runtime_error(path + ": no sequence");
    return all;
}

void generate_fasta(const std::string& path, std::uint64_t residues, std::uint64_t seed) {
    // Per mille of residues in the order of the alphabet's first 20, and lengths: Swiss-Prot's statistics, release
    // 2024.
    constexpr std::array<double, 20> frequencies{82.6, 55.2, 40.6, 54.6, 13.8, 39.3, 67.2, 70.7, 22.8, 59.1,
                                                 96.5, 58.0, 24.1, 38.6, 47.4, 66.5, 53.6, 11.0, 29.2, 68.6};
    std::mt19937_64 random(seed);
    // Drawn from a table: a database of many gigabytes is made in minutes.
    std::array<char, 4096> letters;
    std::discrete_distribution<int> by_frequency(frequencies.begin(), frequencies.end());
    std::ranges::generate(letters, [&] { return alphabet[std::size_t(by_frequency(random))]; });
    std::lognormal_distribution<double> lengths(std::log(300.0), 0.65);

    const apps::file file = apps::open_file(path, "wb");
    std::string text;
    for (std::uint64_t number = 0; residues > 0; ++number) {
        const auto length = std::min<std::uint64_t>(std::uint64_t(std::clamp(lengths(random), 20.0, 30000.0)),
                                                    residues);
        text = ">random_" + std::to_string(number) + '\n';
        for (std::uint64_t at = 0; at < length;) {
            std::uint64_t bits = random();
            for (int drawn = 0; drawn < 5 && at < length; ++drawn, bits >>= 12) {
                text += letters[bits % letters.size()];
                if (++at % 60 == 0 || at == length) text += '\n';
            }
        }
        if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size())
            throw std::runtime_error("writing " + path + " failed");
        residues -= length;
    }
    if (std::fflush(file.get()) != 0) throw std::runtime_error("writing " + path + " failed");
}

} // namespace smith_waterman
