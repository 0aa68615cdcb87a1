// SPDX-License-Identifier: Apache-2.0
// Properties of loops (metadata "llvm.loop.…"), by which passes tell each other what to do.
#pragma once

#include <llvm/Analysis/LoopInfo.h>

namespace causeway::simd {

/// Marks a loop that the pass kept_loops has kept from being unrolled.
constexpr const char* kept_property = "causeway.simd.kept";

bool has_property(const llvm::Loop& loop, llvm::StringRef name);
/// Sets the property of this name; replaces an earlier value.
void set_property(llvm::Loop& loop, llvm::StringRef name);
void set_property(llvm::Loop& loop, llvm::StringRef name, int value);
void set_property(llvm::Loop& loop, llvm::StringRef name, bool value);
void set_property(llvm::Loop& loop, llvm::StringRef name, llvm::MDNode* value);
void remove_property(llvm::Loop& loop, llvm::StringRef name);

/// Asks the loop vectoriser for steps of so many vectors of `width` lanes, and, where `masked` is true, for masks in
/// all of them instead of a scalar remainder.
void force_width(llvm::Loop& loop, unsigned width, unsigned vectors, bool masked);
/// Removes what force_width() set, because the compiler warns of vectorisation that was requested but not done.
void unforce_width(llvm::Loop& loop);

} // namespace causeway::simd
