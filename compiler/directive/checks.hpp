// SPDX-License-Identifier: Apache-2.0
// What OpenACC 2.7 forbids, and the translation by itself would take: branches out of constructs, arguments of clauses,
// levels of routines.
#pragma once
#include "construct.hpp"

namespace directive {

/// Reports each fault of a function's directives as an error. Branches out of compute constructs by `return` and `goto`
/// are left to the translation of the region, which cannot print them.
void check_directives(const unit& unit, const clang::FunctionDecl* function);

} // namespace directive
