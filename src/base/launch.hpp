// SPDX-License-Identifier: Apache-2.0
// What the launcher of a job says to its ranks in their environment: Open MPI's, MPICH's, PMIx and Slurm's.
#pragma once

#include <optional>
#include <string>

namespace causeway::launch {

/// This process's rank; none if no launcher started it.
[[nodiscard]] std::optional<int> rank();

/// The ranks of the job; 1 if no launcher started this process, or it does not say.
[[nodiscard]] int ranks();

/// The rank among those of this node; none if the launcher does not say.
[[nodiscard]] std::optional<int> local_rank();

/// The ranks of this node; 1 if the launcher does not say.
[[nodiscard]] int local_ranks();

/// The same for all ranks of a job on a node, different for other jobs.
[[nodiscard]] std::string job();

/// Whether the launcher names the job, alike on all nodes. Else job() uses the launcher's process.
[[nodiscard]] bool is_job_told();

} // namespace causeway::launch
