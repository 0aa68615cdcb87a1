// SPDX-License-Identifier: Apache-2.0
// What the files that stand before real functions share: their lists, and the way to the real function.
#pragma once

#include "faults/fault_points.hpp"

#include <dlfcn.h>

#include <vector>

namespace faults {

[[nodiscard]] std::vector<fault_point*> opencl_points();
[[nodiscard]] std::vector<fault_point*> opencl_kernel_points();
[[nodiscard]] std::vector<fault_point*> mpi_points();
[[nodiscard]] std::vector<fault_point*> system_points();

/// The function that the program would have called without this executable's.
template <auto Own> [[nodiscard]] auto real(const fault_point& which) {
    static const auto found = reinterpret_cast<decltype(Own)>(dlsym(RTLD_NEXT, which.name));
    return found;
}

} // namespace faults
