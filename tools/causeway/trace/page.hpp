// SPDX-License-Identifier: Apache-2.0
// A timeline as one page for a browser.
#pragma once

#include "trace/timeline.hpp"

#include <string>

namespace trace {

/// Writes `path`: page.html with the timeline inside; needs nothing else, and no network.
/// Of what lies between two times, in microseconds from the begin of the timeline, or of all. Throws
/// std::runtime_error, also if no browser would open the page, or there is a file of its name that is none.
void write_page(const std::string& timeline, const std::string& page, const span& between);

} // namespace trace
