// SPDX-License-Identifier: Apache-2.0
// The directive `atomic`: finds the shared lvalue in its statement.
#pragma once
#include "construct.hpp"

namespace directive {

/// The lvalue that is read, written or updated atomically; nullptr if the statement has none of OpenACC's forms.
const clang::Expr* atomic_operand(const unit& unit, const found_directive& of);

/// The parts of the new value that do not use `operand`, an atomic_operand(), and that C evaluates in any case:
/// computed once, however often the update is tried.
std::vector<const clang::Expr*> atomic_values(const unit& unit, const found_directive& of, const clang::Expr* operand);

/// A side effect that would happen in each try: beside the update of `operand` and what is captured, and in none of
/// `values`. nullptr if there is none.
const clang::Expr* repeated_effect(const found_directive& of, const clang::Expr* operand,
                                   const std::vector<const clang::Expr*>& values);

/// True if the two are spelled alike.
bool same_text(const unit& unit, const clang::Expr* one, const clang::Expr* other);

} // namespace directive
