// SPDX-License-Identifier: Apache-2.0
// Loops in C whose iterations can be counted before they begin, and the statements that leave a loop.
#pragma once
#include "construct.hpp"

#include <optional>

namespace directive {

/// The variable that the expression is, but for parentheses and implicit casts; nullptr if it is another expression.
const clang::VarDecl* named(const clang::Expr* expression);

/// A counted loop: `for (variable = first; variable < last; variable += step)` or a like form.
struct counted_loop {
    const clang::ForStmt* loop = nullptr;
    const clang::VarDecl* variable = nullptr;
    bool declares = false; // the loop itself declares its variable
    const clang::Expr* first = nullptr;
    const clang::Expr* last = nullptr;
    clang::BinaryOperatorKind comparison = clang::BO_LT;
    const clang::Expr* step = nullptr; // nullptr: 1
    bool down = false;
};
/// On failure `why` says why the loop is not a counted one.
std::optional<counted_loop> count(const clang::ForStmt* loop, std::string& why);

/// The statement of a loop's body that leaves the loop, if there is one. `inside`: within another loop or `switch`.
const clang::Stmt* leaving(const unit& unit, const clang::Stmt* body, bool inside = false);

} // namespace directive
