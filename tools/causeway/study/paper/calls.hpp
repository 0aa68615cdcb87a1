// SPDX-License-Identifier: Apache-2.0
// Figures 3 to 7: what the host does in each application, studied as a program of its own.
#pragma once

#include "study/paper/figures.hpp"

#include <string>

namespace paper {

/// Runs `causeway study` on each application and `device` of `platform`; the parameter `causeway` is that program. Adds
/// the shares of the time in OpenCL's functions: by kernel and API (figure 3), by category (4 and 5), of contexts (6)
/// and of programs (7). Throws std::runtime_error where that cannot be done.
void measure_categories(const std::string& causeway, cl_platform_id platform, const std::string& device,
                        const effort& spent, rows& all);

/// What the studied process does: finds the device, builds, launches once, and reads the result.
int run_as_program(const std::string& application, const std::string& device, const std::string& options);

} // namespace paper
