// SPDX-License-Identifier: Apache-2.0
// The pool behind a handle of causeway/tasks.h.
#pragma once

#include "tasks/pool.hpp"
#include "tasks/run_record.hpp"

#include <memory>

struct causeway_task_pool final : causeway::tasks::pool {
    using pool::pool;
    std::unique_ptr<causeway::tasks::run_record> record; ///< while there is one
};
