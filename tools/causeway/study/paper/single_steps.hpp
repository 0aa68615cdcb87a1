// SPDX-License-Identifier: Apache-2.0
// Counts this process's instructions by single-stepping, where no hardware counter is available.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace paper {

struct instruction_count {
    std::uint64_t all = 0, kernel = 0;
    bool is_whole = true; ///< false: the limit was reached, and the rest was not counted
};

/// Single-steps `work`, in all threads that the process has by then, until `most` instructions of kernels are counted.
/// Other instructions count in `all`, but not towards `most`, because threads that wait execute some, too. `is_kernel`
/// is called beforehand for each executable mapping, with the path of its file or an empty text. Uses SIGTRAP and
/// SIGUSR2, so run it in a process of its own. Throws std::runtime_error on processors that it cannot step.
[[nodiscard]] instruction_count count_instructions(const std::function<void()>& work, std::uint64_t most,
                                                   const std::function<bool(const std::string&)>& is_kernel);

} // namespace paper
