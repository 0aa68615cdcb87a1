// SPDX-License-Identifier: Apache-2.0
// Properties of loops (metadata "llvm.loop.…"), by which passes tell each other what to do.
#pragma once

#include <llvm/Analysis/LoopInfo.h>

namespace causeway::simd {

/// Ours: the loop was kept from unrolling for us.
constexpr const char* kept_property = "causeway.simd.kept";

bool has_property(const llvm::Loop& loop, llvm::StringRef name);
/// Replaces one of the same name.
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
