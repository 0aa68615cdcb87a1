// SPDX-License-Identifier: Apache-2.0
// Says on standard error what is being measured, for people who wait.
#pragma once

#include <chrono>
#include <string>

namespace perf {

class progress {
  public:
    /// `asked`: also where standard error is no terminal, as a line for each comparison.
    enum class wanted { if_terminal, always, never };
    explicit progress(wanted asked);

    /// `part` of `parts` routes is under way.
    void route(int part, int parts);
    void begin(const std::string& what);
    void round(int done, int of);
    /// Erases the line, so that the table can continue.
    void clear();

  private:
    void show(const std::string& text);

    bool m_terminal, m_lines;
    int m_part = 0, m_parts = 0;
    std::string m_what;
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now(), m_shown{};
};

} // namespace perf
