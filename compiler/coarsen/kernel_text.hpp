// SPDX-License-Identifier: Apache-2.0
// Finds a kernel in its source, and decides whether its work-items may be merged (coarsened).
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace coarsen {

/// Thrown for a kernel that cannot be coarsened: it stays as it is. what() says why.
struct refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Offsets into the source, and names.
struct kernel_text {
    std::size_t begin = 0;      ///< of its first word
    std::size_t result = 0;     ///< of the type that it returns: behind __kernel and its attributes
    std::size_t name = 0;       ///< of its name
    std::size_t parameters = 0; ///< behind the opening parenthesis
    std::size_t body = 0;       ///< of its opening brace
    std::size_t end = 0;        ///< behind the closing one
    std::size_t parameters_end = 0;
    std::vector<std::string> arguments; ///< names of its parameters
};

/// Finds the definition of `kernel`. `options` are the build options. Throws refusal for a kernel that uses group
/// functions, local memory or barriers, and for source that Clang does not accept.
[[nodiscard]] kernel_text find_kernel(const std::string& file, const std::string& source, const std::string& kernel,
                                      const std::vector<std::string>& options);

} // namespace coarsen
