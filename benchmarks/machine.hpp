// SPDX-License-Identifier: Apache-2.0
// What the figures were measured on and with.
#pragma once

#include <CL/cl.h>

#include <string>
#include <utility>
#include <vector>

namespace benchmarks {

/// Names and values in the order of printing. Needs MPI to be initialised.
using facts = std::vector<std::pair<std::string, std::string>>;
facts machine_facts(cl_device_id device, const std::string& directory, const std::string& commit);

/// True where the device works in the host's memory, so that no copy is needed at all.
bool has_host_memory(cl_device_id device);

} // namespace benchmarks
