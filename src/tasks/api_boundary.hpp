// SPDX-License-Identifier: Apache-2.0
// Turns exceptions into the codes of causeway/tasks.h and keeps their text for the calling thread.
#pragma once

#include "base/error.hpp"
#include "causeway/tasks.h"

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace causeway::tasks {

/// Text of the calling thread's last error.
[[nodiscard]] std::string& last_error();

/// Keeps the text, or less of it if there is no memory.
inline int keep_error(int code, std::string_view begin, std::string_view rest = {}) noexcept {
    auto& text = last_error();
    try {
        text.assign(begin).append(rest);
    } catch (const std::bad_alloc&) {
        text = "no memory"; // short enough to need none
    }
    return code;
}

template <class Call> int guard(Call&& call) {
    try {
        call();
        return CAUSEWAY_TASKS_SUCCESS;
    } catch (const std::bad_alloc&) {
        return keep_error(CAUSEWAY_TASKS_OUT_OF_MEMORY, "out of memory");
    } catch (const transfer_error& error) {
        return keep_error(error.code() == status::out_of_resources ? CAUSEWAY_TASKS_OUT_OF_RESOURCES
                                                                   : CAUSEWAY_TASKS_INVALID_VALUE,
                          error.what());
    } catch (const std::exception& error) {
        return keep_error(CAUSEWAY_TASKS_FAILED, error.what());
    } catch (...) {
        return keep_error(CAUSEWAY_TASKS_FAILED, "a function of the program threw what is no std::exception");
    }
}

} // namespace causeway::tasks
