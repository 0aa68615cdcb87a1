// SPDX-License-Identifier: Apache-2.0
// Checks that only the first rank can make, with the same outcome on all ranks.
#pragma once

#include "words.hpp"

#include <mpi.h>

#include <string>

namespace causeway_tool {

/// Collective on MPI_COMM_WORLD. Calls `check` on rank 0, which alone writes files; if it throws a usage_error, all
/// ranks throw one, with the text on rank 0 only.
template <class Check> void check_on_first_rank(int rank, Check check) {
    std::string problem;
    int refused = 0;
    try {
        if (rank == 0) check();
    } catch (const usage_error& error) {
        problem = error.what();
        refused = 1;
    }
    MPI_Bcast(&refused, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (refused != 0) throw usage_error(problem);
}

} // namespace causeway_tool
