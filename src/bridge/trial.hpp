// SPDX-License-Identifier: Apache-2.0
// Tries the vendor's interfaces in a process of its own, which a driver may crash.
#pragma once

#include "bridge/device_bridge.hpp"

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

namespace causeway::bridge {

/// What is tried. Who shares the memory may have another machine, with other links, or see devices whose links nobody
/// has tried.
struct trial_subject {
    std::string driver;
    std::string machine;              ///< as machine_digits() has it
    std::vector<device_uuid> devices; ///< all that the process sees, in any order
};

/// Of one program, which says "works" in a line of standard output, "refuses: " or "fails: " and why, or is ended by a
/// signal of a crash. Refusals are what whoever asks meets without harm, and are told then; failures are not. That a
/// driver works or crashes is remembered in a file, for this machine and these devices.
class trial {
  public:
    /// `memory` may be empty: nothing is remembered.
    trial(std::string program, std::string memory) : m_program(std::move(program)), m_memory(std::move(memory)) {}

    /// Empty if nothing speaks against using the driver: it works, refuses, or there is no program to try. Else why
    /// not. Blocks for `limit` at most, and not for long once `ending` is requested: the program is ended then.
    [[nodiscard]] std::string run(const trial_subject& of, std::chrono::milliseconds limit,
                                  const std::stop_token& ending = {}) const;

  private:
    [[nodiscard]] std::string answer(std::chrono::milliseconds limit, const std::stop_token& ending) const;

    std::string m_program, m_memory;
};

} // namespace causeway::bridge
