// SPDX-License-Identifier: Apache-2.0
// Translates one preprocessed source to host C with embedded kernels.
#pragma once
#include <string>
#include <vector>

namespace directive {

struct translation {
    bool succeeded = false;
    std::string host;   // C
    std::string report; // what was done, for people
};

/// `arguments` are Clang's. Errors go to standard error, as Clang's own do.
translation translate(const std::string& text, const std::string& file, const std::vector<std::string>& arguments);

/// True if the text has a line `#pragma acc`.
bool has_directives(const std::string& text);

} // namespace directive
