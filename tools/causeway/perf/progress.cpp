// SPDX-License-Identifier: Apache-2.0
// One line that is written over on a terminal, lines elsewhere.
#include "perf/progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace perf {

using namespace std::chrono_literals;

progress::progress(wanted asked)
    : m_terminal(asked != wanted::never && isatty(STDERR_FILENO) == 1),
      m_lines(asked == wanted::always && !m_terminal) {}

void progress::route(int part, int parts) {
    m_part = part;
    m_parts = parts;
}

void progress::begin(const std::string& what) {
    const auto so_far = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - m_start);
    m_what = std::to_string(m_part) + "/" + std::to_string(m_parts) + " " + what + ", after " +
             std::to_string(so_far.count()) + " s";
    if (m_lines) std::fprintf(stderr, "%s\n", m_what.c_str());
    show(m_what);
}

void progress::round(int done, int of) {
    if (std::chrono::steady_clock::now() - m_shown < 100ms) return;
    show(m_what + ": " + std::to_string(done) + " of " + std::to_string(of) + " rounds");
}

void progress::clear() {
    if (m_terminal) std::fprintf(stderr, "\r\033[K");
}

void progress::show(const std::string& text) {
    if (!m_terminal) return;
    m_shown = std::chrono::steady_clock::now();
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
}

} // namespace perf
