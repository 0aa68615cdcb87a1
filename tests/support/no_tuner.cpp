// SPDX-License-Identifier: Apache-2.0
// Tests choose plans by rules and measure nothing, also those that are started by hand, unless they say otherwise.
#include <cstdlib>

namespace {

[[maybe_unused]] const int said = ::setenv("CAUSEWAY_TUNER", "off", 0);

} // namespace
