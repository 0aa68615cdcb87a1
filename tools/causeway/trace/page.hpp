// SPDX-License-Identifier: Apache-2.0
// A timeline as one page for a browser.
#pragma once

#include "trace/timeline.hpp"

#include <string>

namespace trace {

/// Writes `page`: a self-contained page.html with the part of the timeline that lies in `between`. Throws
/// std::runtime_error, also if the page is too large for browsers, or the file exists and is no page of ours.
void write_page(const std::string& timeline, const std::string& page, const span& between);

} // namespace trace
