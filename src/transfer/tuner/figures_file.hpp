// SPDX-License-Identifier: Apache-2.0
// Where the figures of a tuner outlive the process: a small JSON file that processes and ranks share.
#pragma once

#include "transfer/tuner/tuner.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace causeway::transfer {

/// Eight digits that name this machine in a shared home folder, from /etc/machine-id, or else the host's name.
[[nodiscard]] std::string machine_digits();

/// A text for users: `stages` of this machine, the path of their file, and the `problem` if they are not in it.
[[nodiscard]] std::string figures_text(const std::vector<known_stage>& stages, const std::string& file,
                                       const std::string& problem);

/// Blocking calls on a file system: not for the engine's thread.
class figures_file {
  public:
    /// The file in the user's cache folder; no file if there is no such folder.
    [[nodiscard]] static figures_file of_user();
    /// With an empty path there is no file: load() finds nothing.
    explicit figures_file(std::string path, std::string machine = machine_digits())
        : m_path(std::move(path)), m_machine(std::move(machine)) {}

    [[nodiscard]] const std::string& path() const { return m_path; }

    /// The figures of this machine that are younger than thirty days. None, with a text in `problem`, if the file is
    /// damaged, unreadable or of a later version. None for an earlier version. `now` is in seconds since 1970.
    [[nodiscard]] std::vector<known_stage> load(std::int64_t now, std::string& problem) const;

    /// Adds `stages` to what is there and replaces the file in one step; of each stage the younger figure wins. Returns
    /// what went wrong, or an empty text. A file of a later version stays as it is.
    [[nodiscard]] std::string save(const std::vector<known_stage>& stages, std::int64_t now) const;

    /// Removes it. What went wrong, or an empty text.
    [[nodiscard]] std::string remove() const;

    static constexpr std::int64_t longest_age = 30 * 24 * 3600;

  private:
    std::string m_path, m_machine;
};

} // namespace causeway::transfer
