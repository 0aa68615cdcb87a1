// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth of the machine: the limit that kernels and copies are compared with.
#pragma once

namespace study {

struct bandwidth {
    double read = 0, copy = 0, triad = 0; ///< GB/s of all processors that this process may use
    [[nodiscard]] double best() const;
};

/// The best of some rounds over arrays far beyond the caches. Takes half a second.
[[nodiscard]] bandwidth measure_bandwidth();

} // namespace study
