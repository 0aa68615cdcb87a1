// SPDX-License-Identifier: Apache-2.0
// Where the figures of a tuner outlive the process: a small JSON file that processes and ranks share.
#pragma once

#include "transfer/tuner/tuner.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace causeway::transfer {

/// `stages`, and the path of the file that they are for.
[[nodiscard]] std::string figures_text(const std::vector<known_stage>& stages, const std::string& file);

/// Blocking calls on a file system: not for the engine's thread.
class figures_file {
  public:
    /// In the user's cache; where there is none, there is no file.
    [[nodiscard]] static figures_file of_user();
    /// An empty path: no file.
    explicit figures_file(std::string path) : m_path(std::move(path)) {}

    [[nodiscard]] const std::string& path() const { return m_path; }

    /// The figures that are younger than thirty days. Of a file that is damaged, of another version or unreadable
    /// nothing; then `problem` says so. `now` is in seconds since 1970.
    [[nodiscard]] std::vector<known_stage> load(std::int64_t now, std::string& problem) const;

    /// Adds `stages` to what is there, the younger figure of each stage winning, and puts the whole in the place of the
    /// old file at once. What went wrong, or an empty text. A file of another version stays as it is.
    [[nodiscard]] std::string save(const std::vector<known_stage>& stages, std::int64_t now) const;

    /// Removes it. What went wrong, or an empty text.
    [[nodiscard]] std::string remove() const;

    static constexpr std::int64_t longest_age = 30 * 24 * 3600;

  private:
    std::string m_path;
};

} // namespace causeway::transfer
