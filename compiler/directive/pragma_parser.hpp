// SPDX-License-Identifier: Apache-2.0
// Puts a call into the token stream for each `#pragma acc` line, so that Clang parses the clauses' expressions where
// they stand. The call is `while (__acc_directive(id, …))` before a statement, `__acc_directive(id, …);` for a
// directive without one.
#pragma once
#include "directive.hpp"

#include <clang/Lex/Preprocessor.h>

#include <deque>

namespace directive {

inline constexpr const char* call_name = "__acc_directive";
/// The pragma's name in the copy that Clang reads, because Clang has a handler of its own for `acc`. It is as long as
/// `acc`, so offsets stay.
inline constexpr const char* pragma_name = "Acc";

/// Registers the pragma handler with `preprocessor`. Directives are appended to `pragmas`, whose indices are their
/// numbers.
void add_pragma_reader(clang::Preprocessor& preprocessor, std::deque<pragma>& pragmas);

/// Renames `#pragma acc` lines for the reader. Offsets in the text stay as they are.
std::string with_renamed_pragmas(std::string text);

} // namespace directive
