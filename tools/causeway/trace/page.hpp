// SPDX-License-Identifier: Apache-2.0
// A timeline as one page for a browser.
#pragma once

#include "trace/timeline.hpp"

#include <string>

namespace trace {

/// Writes `path`: page.html with the timeline inside; needs nothing else, and no network.
void write_page(const timeline& shown, const std::string& path);

} // namespace trace
