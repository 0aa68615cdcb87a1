// SPDX-License-Identifier: Apache-2.0
// Counts this process's instructions by single-stepping, where no hardware counter is available.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace paper {

struct instruction_count {
    std::uint64_t all = 0, kernel = 0;
    bool is_whole = true; ///< false: there were more than were asked for, and the rest was not counted
};

/// Steps through `work`, in all threads that the process has then, for at most `most` instructions of kernels; others
/// count too, but end nothing, as some of them are waits. `is_kernel` is asked beforehand for what is executable: the
/// path of its file, empty where there is none. Takes SIGTRAP and SIGUSR2: for a process of its own. Throws
/// std::runtime_error where a processor's steps are not known.
[[nodiscard]] instruction_count count_instructions(const std::function<void()>& work, std::uint64_t most,
                                                   const std::function<bool(const std::string&)>& is_kernel);

} // namespace paper
