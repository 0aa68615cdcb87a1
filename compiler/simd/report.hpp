// SPDX-License-Identifier: Apache-2.0
// Says per loop what was done, or the first reason why not: as the compiler's remarks, and as lines of a report.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>

#include <string>

namespace causeway::simd {

/// Remarks of `-Rpass=causeway-simd`, `-Rpass-missed=causeway-simd` and `-fsave-optimization-record`.
constexpr const char* remark_pass = "causeway-simd";

class report {
  public:
    /// Where a loop is, or was: LLVM 22 deletes a scalar loop that vectors replace.
    struct loop_location {
        loop_location(const llvm::Loop& loop);

        llvm::DebugLoc location;
        const llvm::BasicBlock* block;
    };

    explicit report(llvm::OptimizationRemarkEmitter& remarks) : m_remarks(remarks) {}

    void done(const loop_location& loop, llvm::StringRef kind, const llvm::Twine& what);
    void left(const loop_location& loop, llvm::StringRef kind, const llvm::Twine& why);

  private:
    void line(const llvm::DebugLoc& location, const llvm::Function& function, const char* verdict,
              const llvm::Twine& text);

    llvm::OptimizationRemarkEmitter& m_remarks;
};

} // namespace causeway::simd
