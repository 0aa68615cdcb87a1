// SPDX-License-Identifier: Apache-2.0
// Ends the program when a directive or routine fails, because OpenACC has no error codes.
#pragma once
#include <CL/cl.h>
#include <causeway/acc/runtime.h>

#include <string>

namespace causeway::acc {

/// Prints file, line, directive and `text`, and ends the program with status 1.
[[noreturn]] void fail(const causeway_acc_location* location, const std::string& text);
/// The same for a routine.
[[noreturn]] void fail(const char* routine, const std::string& text);

/// Names the directive or routine that the calling thread is in, for failures below it.
class scope {
  public:
    /// Ends the program if the directive's code was generated for another CAUSEWAY_ACC_LAYOUT than this library's.
    explicit scope(const causeway_acc_location* location);
    explicit scope(const char* routine);
    ~scope();
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

  private:
    const causeway_acc_location* m_location;
    const char* m_routine;
};
/// 'name', for messages.
std::string quoted(const char* name);
[[noreturn]] void fail_here(const std::string& text);

/// Ends the program if `status` is an error of the OpenCL call `call`.
void check(cl_int status, const char* call);

} // namespace causeway::acc
