// SPDX-License-Identifier: Apache-2.0
#include "acc/failure.hpp"

#include <causeway/causeway.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace causeway::acc {
namespace {

thread_local const causeway_acc_location* current_location = nullptr;
thread_local const char* current_routine = nullptr;

[[noreturn]] void end_with(const std::string& text) {
    std::fflush(stdout);
    std::fprintf(stderr, "causeway: %s\n", text.c_str());
    std::exit(1);
}

// What code of layout 3 hands over.
static_assert(sizeof(void*) != 8 ||
                  (CAUSEWAY_ACC_LAYOUT == 3 && sizeof(causeway_acc_clauses) == 112 && sizeof(causeway_acc_data) == 88 &&
                   sizeof(causeway_acc_argument) == 48 && sizeof(causeway_acc_kernel) == 16 &&
                   sizeof(causeway_acc_region) == 24 && sizeof(causeway_acc_routine) == 40),
              "raise CAUSEWAY_ACC_LAYOUT with each change of these structures, of flags and of kinds");

[[noreturn]] void fail_by_layout(const causeway_acc_location& location) {
    const bool older = location.layout < CAUSEWAY_ACC_LAYOUT;
    fail(&location, std::string("compiled by a causeway-cc that is ") + (older ? "older" : "newer") +
                        " than libcauseway_acc " CAUSEWAY_VERSION " (layout " + std::to_string(location.layout) +
                        " of generated code, where the library has " + std::to_string(CAUSEWAY_ACC_LAYOUT) +
                        "): compile this source again with the library's causeway-cc");
}

} // namespace

void fail(const causeway_acc_location* location, const std::string& text) {
    end_with(std::string(location->file) + ":" + std::to_string(location->line) + ": " + location->directive + ": " +
             text);
}

void fail(const char* routine, const std::string& text) { end_with(std::string(routine) + ": " + text); }

scope::scope(const causeway_acc_location* location)
    : m_location(std::exchange(current_location, location)), m_routine(std::exchange(current_routine, nullptr)) {
    if (location->layout != CAUSEWAY_ACC_LAYOUT) fail_by_layout(*location);
}
scope::scope(const char* routine)
    : m_location(std::exchange(current_location, nullptr)), m_routine(std::exchange(current_routine, routine)) {}
scope::~scope() {
    current_location = m_location;
    current_routine = m_routine;
}

std::string quoted(const char* name) {
    std::string text = "'";
    return text.append(name).append("'");
}

void fail_here(const std::string& text) {
    if (current_location) fail(current_location, text);
    if (current_routine) fail(current_routine, text);
    end_with(text);
}

void check(cl_int status, const char* call) {
    if (status != CL_SUCCESS) fail_here(std::string(call) + " failed with OpenCL's code " + std::to_string(status));
}

} // namespace causeway::acc
