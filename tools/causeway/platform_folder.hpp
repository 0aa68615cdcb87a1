// SPDX-License-Identifier: Apache-2.0
// Where the platform Causeway is, for programs that this one starts.
#pragma once

#include <string>

namespace causeway_tool {

/// Where the loader finds the platform Causeway alone: the folder with its file, which lies beside the program, in the
/// build as when installed (bin/../share/causeway). In a tree that was moved since, the file names a library that is
/// gone; there it is the library itself, which ocl-icd, but not every loader, takes as well. (ocl-icd 2.3.2 takes a
/// folder for one only with the slash.) Throws std::runtime_error if it is not installed.
[[nodiscard]] std::string platform_folder();

} // namespace causeway_tool
