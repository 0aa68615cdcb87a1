// SPDX-License-Identifier: Apache-2.0
// Finds the platform Causeway, for programs that this one starts.
#pragma once

#include <string>

namespace causeway_tool {

/// The folder in which the loader finds only the platform Causeway. It lies beside the program (bin/../share/causeway),
/// built or installed, and ends in a slash, because ocl-icd 2.3.2 needs one. In a tree that was moved, the folder's
/// file names a library that is gone: then returns the library's path, which ocl-icd takes, but not every loader.
/// Throws std::runtime_error if it is not installed.
[[nodiscard]] std::string platform_folder();

} // namespace causeway_tool
