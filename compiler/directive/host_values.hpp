// SPDX-License-Identifier: Apache-2.0
// C text that computes numbers on the host in small steps: what is used twice is written once.
#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace directive {

/// Texts of values of type `long`: literals, variables, and names of constants for all that is computed of them. Equal
/// texts are equal values.
class host_values {
  public:
    /// Names begin with `prefix`.
    explicit host_values(std::string prefix) : m_prefix(std::move(prefix)) {}

    /// A name for the value of the text.
    std::string named(const std::string& text);
    /// The same for a call of `function` of the run time's header.
    std::string call(const std::string& function, const std::string& arguments) {
        return named(function + "(" + arguments + ")");
    }
    std::string sum(const std::string& one, const std::string& other);
    std::string difference(const std::string& one, const std::string& other);
    std::string product(const std::string& one, const std::string& other);
    std::string least(const std::string& one, const std::string& other);
    std::string most(const std::string& one, const std::string& other);
    /// The least or the greatest of the values.
    std::string of_all(const std::set<std::string>& texts, bool greatest);
    std::string choice(const std::string& condition, const std::string& one, const std::string& other) {
        return one == other ? one : named(condition + " ? " + one + " : " + other);
    }

    /// C declarations of the constants that the texts name.
    std::string definitions(const std::vector<std::string>& texts) const;
    /// The text without names; nothing if that has more than `most` characters.
    std::optional<std::string> expanded(const std::string& text, std::size_t most) const;
    /// How many values have names.
    std::size_t size() const { return m_texts.size(); }

  private:
    std::string m_prefix;
    std::vector<std::string> m_texts;          // of the constants, each of earlier ones
    std::map<std::string, std::string> m_names; // by text

    /// The next name at or behind `from`, which it moves behind it; nothing if there is none.
    std::optional<std::size_t> next(const std::string& text, std::size_t& from, std::size_t& begin) const;
};

/// The value of a literal.
std::optional<long> literal(const std::string& text);

} // namespace directive
