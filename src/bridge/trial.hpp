// SPDX-License-Identifier: Apache-2.0
// Tries the vendor's interfaces in a process of its own, which a driver may crash.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

namespace causeway::bridge {

/// Of one program, which says "works" in a line of standard output, "refuses: " or "fails: " and why, or is ended by a signal of
/// a crash. Refusals are what whoever asks meets without harm, and are told then; failures are not. That a driver works or
/// crashes is remembered in a file.
class trial {
  public:
    /// `memory` may be empty: nothing is remembered.
    trial(std::string program, std::string memory) : m_program(std::move(program)), m_memory(std::move(memory)) {}

    /// Empty if nothing speaks against using `driver`: it works, refuses, or there is no program to try. Else why not to.
    /// Blocks for `limit` at most, and not for long once `ending` is requested: the program is ended then.
    [[nodiscard]] std::string run(const std::string& driver, std::chrono::milliseconds limit, const std::stop_token& ending = {}) const;

  private:
    [[nodiscard]] std::string answer(std::chrono::milliseconds limit, const std::stop_token& ending) const;

    std::string m_program, m_memory;
};

} // namespace causeway::bridge
