// SPDX-License-Identifier: Apache-2.0
// The option table: defaults, then the environment, then causeway_option_set.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace causeway {

enum class option : std::size_t {
#define CAUSEWAY_OPTION(name, kind, value, minimum, maximum, unit, reader, sentence) name,
#include "base/options.def"
#undef CAUSEWAY_OPTION
    count
};

/// Who acts on an option. The platform reads its own from the environment alone, before the program could set one.
enum class option_reader { library, platform };

/// One row of the table.
struct option_row {
    enum class value_kind { bytes, count, choice, on_off, text };
    std::string_view name;
    value_kind kind;
    std::uint64_t default_value, minimum, maximum;
    std::string_view unit;
    option_reader reader;
    std::string_view sentence;
};

[[nodiscard]] std::span<const option_row> option_table();

/// What the option does, and how it is set if that differs from other options.
[[nodiscard]] std::string description_of(const option_row& row);

/// A set of values. Any thread.
class options {
  public:
    options();

    /// Takes every CAUSEWAY_<NAME> of `environment` (NAME=value strings, null-terminated list). Skips unknown names and
    /// bad values. Warns about those of `reader`; unknown names are the library's.
    void read_environment(const char* const* environment, option_reader reader = option_reader::library);

    /// Where a value came from.
    enum class origin : unsigned char { table, environment, program };

    /// Throws transfer_error(invalid_value) for an unknown name, with the nearest right one, or a bad value;
    /// invalid_operation if a program sets what the platform reads.
    void set(std::string_view name, std::string_view text, origin from = origin::program);
    [[nodiscard]] origin origin_of(option which) const;
    [[nodiscard]] std::optional<std::string> get(std::string_view name) const;

    /// The value of an option that is no text. Takes no lock.
    [[nodiscard]] std::uint64_t operator[](option which) const {
        return m_values[static_cast<std::size_t>(which)].load(std::memory_order_relaxed);
    }
    /// The value of an option that is a text; empty by default.
    [[nodiscard]] std::string text(option which) const;

  private:
    std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(option::count)> m_values;
    mutable std::mutex m_mutex; // guards what follows
    std::array<std::string, static_cast<std::size_t>(option::count)> m_texts;
    std::array<origin, static_cast<std::size_t>(option::count)> m_origins{};
};

} // namespace causeway
