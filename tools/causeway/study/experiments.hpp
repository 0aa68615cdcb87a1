// SPDX-License-Identifier: Apache-2.0
// Replays recorded launches in variants, within a time budget.
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace study {

class deadline {
  public:
    explicit deadline(std::chrono::duration<double> budget)
        : m_end(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(budget)) {}
    [[nodiscard]] bool is_over() const { return std::chrono::steady_clock::now() >= m_end; }
    [[nodiscard]] double left() const {
        return std::chrono::duration<double>(m_end - std::chrono::steady_clock::now()).count();
    }

  private:
    std::chrono::steady_clock::time_point m_end;
};

struct experiment_settings {
    deadline until;
    bool exhaustive = false; ///< all work-group sizes, whatever that takes
    std::function<void(const std::string&)> progress;
};

/// The folders of launches that the program has recorded in `folder`.
[[nodiscard]] std::vector<std::filesystem::path> recorded_launches(const std::filesystem::path& folder);

/// The results of one launch: "kernel", "global", "local", "reference", and "variants", each with "what", "seconds",
/// "before", "speedup", "low", "high", "sure", "outcome"; "error" if it cannot be replayed,
/// as replay_process has it.
[[nodiscard]] nlohmann::json try_variants(const std::filesystem::path& launch, const experiment_settings& settings);

} // namespace study
