// SPDX-License-Identifier: Apache-2.0
// The processors that the plug-in makes code for. Masked accesses and wide registers are not enough: AVX has both, but
// no integers of 256 bits, and what pays on other architectures was never measured.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

namespace causeway::simd {

constexpr const char* other_target = "only code for AVX2 or AVX-512 is changed";

inline bool is_supported_target(const llvm::Function& function) {
    const llvm::StringRef features = function.getFnAttribute("target-features").getValueAsString();
    return llvm::Triple(function.getParent()->getTargetTriple()).isX86() &&
           (features.contains("+avx2") || features.contains("+avx512f"));
}

} // namespace causeway::simd
