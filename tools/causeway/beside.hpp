// SPDX-License-Identifier: Apache-2.0
// Finds files installed with the program, and starts other programs.
#pragma once

#include <string>
#include <vector>

namespace causeway_tool {

/// bin/../share/causeway/`name`, in the build as when installed.
std::string shared_file(const std::string& name);
/// `name` in the folder from which libcauseway was loaded.
std::string library_file(const std::string& name);

/// Runs a program and returns its exit status, or 128 + n if signal n ended it. Returns 127, with a message, if there
/// is no such program, and 126 if it cannot be executed. Forwards signals sent to this process alone; ^C and the like
/// reach the program directly.
int run_and_wait(const std::vector<std::string>& words);
/// Replaces this process by that program (exec).
[[noreturn]] void become(const std::vector<std::string>& words);
/// 0 if `name`, a path or from PATH, can be started. Else prints why not and returns a shell's status: 127 not found,
/// 126 not executable.
int refusal_to_start(const std::string& name);

} // namespace causeway_tool
