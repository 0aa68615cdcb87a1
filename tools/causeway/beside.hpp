// SPDX-License-Identifier: Apache-2.0
// What lies beside the program, and programs that it starts.
#pragma once

#include <string>
#include <vector>

namespace causeway_tool {

/// bin/../share/causeway/`name`, in the build as when installed.
std::string shared_file(const std::string& name);
/// `name` beside libcauseway, wherever that was loaded from.
std::string library_file(const std::string& name);

/// Starts the program and returns its exit status. Passes on signals that are sent to this process alone; ^C and the
/// like reach the program by themselves. 128 and the signal's number if one ended it. With a message, 127 if there is
/// no such program and 126 if it cannot be executed.
int run_and_wait(const std::vector<std::string>& words);
/// Goes on as that program.
[[noreturn]] void become(const std::vector<std::string>& words);
/// 0 if the program `name` can be started here, by its path or from PATH. Else says why not and returns what a shell
/// would: 127 if there is none, 126 if it cannot be executed.
int refusal_to_start(const std::string& name);

} // namespace causeway_tool
