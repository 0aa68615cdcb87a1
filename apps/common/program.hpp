// SPDX-License-Identifier: Apache-2.0
// What the applications' main functions share: numbers from the command line, files, a line of progress.
#pragma once

#include <charconv>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace apps {

/// All of `text` as a number. Throws std::invalid_argument.
template <class Number> Number number(const char* text, std::type_identity_t<Number> least) {
    Number value{};
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error != std::errc{} || stop != end || value < least)
        throw std::invalid_argument("not a number of at least " + std::to_string(least) + ": " + text);
    return value;
}

struct file_closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using file = std::unique_ptr<std::FILE, file_closer>;

/// "-" is standard input, or standard output where `mode` writes. Throws std::runtime_error.
[[nodiscard]] file open_file(const std::string& path, const char* mode);

/// A progress line on standard error, if that is a terminal or `always`; erased by the destructor.
class progress_line {
  public:
    enum class when { on_terminals, always };
    explicit progress_line(when shown = when::on_terminals);
    ~progress_line();
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

    void show(const std::string& text);
    /// From now on shows `text()` twice a second, from a thread of its own, for as long as this lives.
    void repeat(std::function<std::string()> text);

  private:
    class repeater;
    bool m_shown;
    std::unique_ptr<repeater> m_repeater;
};

} // namespace apps
