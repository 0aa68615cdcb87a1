// SPDX-License-Identifier: Apache-2.0
// Reductions that no clause names.
#pragma once
#include "construct.hpp"

namespace directive {

/// The operator of the reduction that `loop` makes of the scalar `variable`, if its only uses there are updates with
/// one operator: `v += e`, `v = v * e`, `v = fmax(v, e)`, `v = v < e ? v : e`, `if (e > v) v = e`. Else nothing.
std::string implied_reduction(const unit& unit, const clang::Stmt* loop, const clang::VarDecl* variable);

} // namespace directive
