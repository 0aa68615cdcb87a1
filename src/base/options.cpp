// SPDX-License-Identifier: Apache-2.0
// Parses options from text and from the environment.
#include "base/options.hpp"

#include "base/error.hpp"
#include "base/nearest_word.hpp"

#include <sys/auxv.h>

#include <cctype>
#include <charconv>
#include <vector>

namespace causeway {

namespace {

constexpr auto bytes = option_row::value_kind::bytes;
constexpr auto count = option_row::value_kind::count;
constexpr auto choice = option_row::value_kind::choice;
constexpr auto on_off = option_row::value_kind::on_off;
constexpr auto text = option_row::value_kind::text;
constexpr auto library = option_reader::library;
constexpr auto platform = option_reader::platform;

constexpr option_row rows[] = {
#define CAUSEWAY_OPTION(name, kind, value, minimum, maximum, unit, reader, sentence)                                   \
    {#name, kind, value, minimum, maximum, unit, reader, sentence},
#include "base/options.def"
#undef CAUSEWAY_OPTION
};

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> words;
    for (;;) {
        const auto bar = text.find('|');
        words.push_back(text.substr(0, bar));
        if (bar == std::string_view::npos) return words;
        text.remove_prefix(bar + 1);
    }
}

std::optional<std::uint64_t> parse_number(std::string_view text, bool with_suffix) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return value;
    if (!with_suffix || text.size() != 1) return {};
    unsigned shift = 0;
    switch (std::toupper(static_cast<unsigned char>(text[0]))) {
    case 'K': shift = 10; break;
    case 'M': shift = 20; break;
    case 'G': shift = 30; break;
    default: return {};
    }
    if (value > (UINT64_MAX >> shift)) return {};
    return value << shift;
}

bool has_words(const option_row& row) { return row.kind == choice || row.kind == on_off; }

std::optional<std::uint64_t> parse(const option_row& row, std::string_view text) {
    if (row.kind == on_off && (text == "0" || text == "1")) return text == "1";
    if (has_words(row)) {
        const auto words = split(row.unit);
        for (std::size_t i = 0; i < words.size(); ++i)
            if (words[i] == text) return i;
        return {};
    }
    const auto value = parse_number(text, row.kind == bytes);
    if (!value || *value < row.minimum || *value > row.maximum) return {};
    return value;
}

const option_row* find(std::string_view name) {
    for (const auto& row : rows)
        if (row.name == name) return &row;
    return nullptr;
}

std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& row : rows) all.emplace_back(row.name);
    return all;
}

std::string refusal(const option_row& row, std::string_view text) {
    std::string expected(row.unit);
    if (!has_words(row)) expected += " from " + std::to_string(row.minimum) + " to " + std::to_string(row.maximum);
    return "option " + std::string(row.name) + ": '" + std::string(text) + "' is not " + expected;
}

} // namespace

std::string description_of(const option_row& row) {
    return std::string(row.sentence) + (row.reader == platform ? " Read from the environment alone." : "");
}

std::span<const option_row> option_table() { return rows; }

options::options() {
    for (std::size_t i = 0; i < m_values.size(); ++i) m_values[i] = rows[i].default_value;
}

void options::read_environment(const char* const* environment, option_reader reader) {
    constexpr std::string_view prefix = "CAUSEWAY_";
    // Variables of the project's own tests and benchmarks, which the library does not read.
    const bool is_privileged = ::getauxval(AT_SECURE) != 0;
    constexpr std::string_view test_prefix = "CAUSEWAY_TEST_";
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        const std::string_view entry = *environment;
        const auto equals = entry.find('=');
        if (!entry.starts_with(prefix) || entry.starts_with(test_prefix) || equals == std::string_view::npos) continue;
        std::string name;
        for (const char letter : entry.substr(prefix.size(), equals - prefix.size()))
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        // A caller with fewer rights than the program (setuid) may not name files or code.
        if (const auto* const row = find(name);
            is_privileged && row != nullptr && row->kind == option_row::value_kind::text) {
            if (reader == row->reader)
                warn_once(std::string(entry.substr(0, equals)) +
                          " is ignored: the program runs with more rights than its caller");
            continue;
        }
        try {
            set(name, entry.substr(equals + 1), origin::environment);
        } catch (const transfer_error& error) {
            const auto* const row = find(name);
            if (reader != (row == nullptr ? library : row->reader)) continue;
            warn_once(std::string(entry.substr(0, equals)) + " is ignored: " + error.what());
        }
    }
}

void options::set(std::string_view name, std::string_view text, origin from) {
    const auto* const row = find(name);
    if (row == nullptr) {
        const auto meant = nearest_word(name, names());
        throw transfer_error(status::invalid_value, "no option is called '" + std::string(name) + "'" +
                                                        (meant.empty() ? "" : "; did you mean " + meant + "?"));
    }
    if (row->reader == platform && from == origin::program)
        throw transfer_error(status::invalid_operation, "option " + std::string(name) +
                                                            " cannot be set by a program: the platform " +
                                                            "reads it from the environment alone");
    const auto index = static_cast<std::size_t>(row - rows);
    const bool is_text = row->kind == option_row::value_kind::text;
    const auto value = is_text ? 0 : parse(*row, text);
    if (!value) throw transfer_error(status::invalid_value, refusal(*row, text));
    const std::lock_guard lock(m_mutex);
    m_values[index] = *value;
    if (is_text) m_texts[index] = text;
    m_origins[index] = from;
}

std::optional<std::string> options::get(std::string_view name) const {
    const auto* const row = find(name);
    if (row == nullptr) return {};
    const std::lock_guard lock(m_mutex);
    if (row->kind == option_row::value_kind::text) return m_texts[static_cast<std::size_t>(row - rows)];
    const auto value = m_values[static_cast<std::size_t>(row - rows)].load();
    if (has_words(*row)) return std::string(split(row->unit)[value]);
    return std::to_string(value);
}

options::origin options::origin_of(option which) const {
    const std::lock_guard lock(m_mutex);
    return m_origins[static_cast<std::size_t>(which)];
}

std::string options::text(option which) const {
    const std::lock_guard lock(m_mutex);
    return m_texts[static_cast<std::size_t>(which)];
}

} // namespace causeway
