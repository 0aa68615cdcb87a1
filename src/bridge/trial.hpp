// SPDX-License-Identifier: Apache-2.0
// Tries the vendor's interfaces in a process of its own, which a driver may crash.
#pragma once

#include "bridge/device_bridge.hpp"

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

namespace causeway::bridge {

/// What is tried, and the key of the kept result: other machines that share the file may have other devices or links.
struct trial_subject {
    std::string driver;
    std::string machine;              ///< as machine_digits() has it
    std::vector<device_uuid> devices; ///< all that the process sees, in any order
};

/// The trial is a program that prints "works", "refuses: " or "fails: " and why, or crashes. A refusal is harmless: the
/// caller meets and reports it itself. Whether a driver works or crashes is kept in a file, for this machine and these
/// devices.
class trial {
  public:
    /// `memory` is the path of that file; if empty, nothing is remembered.
    trial(std::string program, std::string memory) : m_program(std::move(program)), m_memory(std::move(memory)) {}

    /// Empty if the driver may be used: it works, refuses, or there is no program to try. Else why not. Blocks for at
    /// most `limit`. Once `ending` is requested, ends the trial's process and returns soon.
    [[nodiscard]] std::string run(const trial_subject& of, std::chrono::milliseconds limit,
                                  const std::stop_token& ending = {}) const;

  private:
    [[nodiscard]] std::string answer(std::chrono::milliseconds limit, const std::stop_token& ending) const;

    std::string m_program, m_memory;
};

} // namespace causeway::bridge
