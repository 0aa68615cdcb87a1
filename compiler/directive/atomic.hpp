// SPDX-License-Identifier: Apache-2.0
// The directive `atomic`: finds the shared lvalue in its statement.
#pragma once
#include "construct.hpp"

namespace directive {

/// The lvalue that is read, written or updated atomically; nullptr if the statement has none of OpenACC's forms.
const clang::Expr* atomic_operand(const unit& unit, const found_directive& of);

/// True if the two are spelled alike.
bool same_text(const unit& unit, const clang::Expr* one, const clang::Expr* other);

} // namespace directive
