// SPDX-License-Identifier: Apache-2.0
// A way to solve the Himeno problem; each of the three lies in a file of its own.
#pragma once

#include "himeno/problem.hpp"

#include <memory>

namespace himeno {

class solver {
  public:
    virtual ~solver() = default;
    /// Runs `iterations` from the problem's initial data. Returns when this rank's device has done them. Collective.
    virtual void run(int iterations) = 0;
};

/// What a run consists of. The two parts alone give wrong pressures and the times to compare others with.
enum class parts { both, computation, communication };

std::unique_ptr<solver> make_serial(problem& problem, parts parts = parts::both);
std::unique_ptr<solver> make_hand_optimised(problem& problem);
std::unique_ptr<solver> make_causeway(problem& problem);

/// The half that a rank computes first in each iteration. Neighbours begin at opposite ends, so that the halo of the
/// other half can travel meanwhile (Takizawa et al. 2015, section 3).
inline half first_half(const problem& problem) { return problem.rank() % 2 == 0 ? half::a : half::b; }

} // namespace himeno
