// SPDX-License-Identifier: Apache-2.0
// Finds the launcher that starts the ranks of a job.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace causeway_tool {

struct launcher {
    enum class kind { open_mpi, mpich, slurm } what = kind::open_mpi;
    std::string path;
    std::vector<std::string> options{}; ///< that it needs on this machine
};

/// The MPI that this program is linked with, and its version.
[[nodiscard]] std::string mpi_name();

/// In a Slurm job srun, where that can start ranks of this MPI; else the mpirun on the path that belongs to the MPI
/// which this program is linked with.
[[nodiscard]] std::optional<launcher> find_launcher();

/// The first file of this name on the path that can be run; empty if there is none.
[[nodiscard]] std::string on_path(const std::string& name);

} // namespace causeway_tool
