// SPDX-License-Identifier: Apache-2.0
// Recorded runs as files: written by a pool's record, read by the simulator.
#pragma once

#include "tasks/address_map.hpp"
#include "tasks/run_record.hpp"
#include "tasks/simulator/program.hpp"
#include "tasks/simulator/simulator.hpp"

#include <span>
#include <string>
#include <vector>

namespace causeway::tasks::simulator {

/// Lines of words: `allocation BEGIN BYTES DISTRIBUTION`, `task PARENT GROUP BEGIN END OTHERS WORKER READY FROM WAY
/// REMOTE` and, below its task, `region BEGIN BYTES ACCESS MOST_USED`. Times are in nanoseconds. FROM is the worker
/// that made the task ready, or -1; WAY one of came_by_words. REMOTE is the part of its bytes on other nodes than the
/// worker's, -1 if none are known. Allocations are those that regions lie in. Throws transfer_error with the cause.
void write_record(const std::string& path, const std::vector<recorded_task>& tasks, const address_map& addresses,
                  std::span<const unsigned> node_of_worker, std::size_t nodes);

struct record_content {
    program replay;            ///< with the time that each task took
    std::vector<slice> slices; ///< when and where each task ran
};

/// Throws transfer_error with the file's line.
[[nodiscard]] record_content read_record(const std::string& path);

} // namespace causeway::tasks::simulator
