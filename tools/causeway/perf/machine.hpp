// SPDX-License-Identifier: Apache-2.0
// What the figures were measured on and with.
#pragma once

#include "perf/report.hpp"
#include "perf/settings.hpp"

#include <CL/cl.h>

namespace perf {

facts machine_facts(cl_device_id device, const settings& wanted, int ranks);

} // namespace perf
