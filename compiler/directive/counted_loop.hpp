// SPDX-License-Identifier: Apache-2.0
// Loops in C whose iterations can be counted before they begin, and the statements that leave a loop.
#pragma once
#include "construct.hpp"

#include <optional>

namespace directive {

/// The variable that the expression is, but for parentheses and implicit casts; nullptr if it is another expression.
const clang::VarDecl* named(const clang::Expr* expression);

/// Where a loop's variable goes. `either`: the sign of the step tells when the program runs.
enum class course { up, down, either };

/// A counted loop: `for (variable = first; variable < last; variable += step)` or a like form, whose iterations follow
/// from integers that it does not change. The variable reaches its end without passing the limits of its type, but that
/// `!=` may end it behind them and a step whose sign is not seen may lead away from the end.
struct counted_loop {
    const clang::ForStmt* loop = nullptr;
    const clang::VarDecl* variable = nullptr;
    bool declares = false; // the loop itself declares its variable
    const clang::Expr* first = nullptr;
    const clang::Expr* last = nullptr;
    clang::BinaryOperatorKind comparison = clang::BO_LT;
    const clang::Expr* step = nullptr; // nullptr: 1
    bool down = false; // it subtracts the step
    std::optional<long> stride; // what an iteration adds, where that is a constant
    course goes = course::up;
    clang::QualType type; // of the variable: an integer of at most 64 bits
    clang::QualType compared; // the condition converts both sides to it: likewise
};
/// On failure `why` says why the loop is not a counted one.
std::optional<counted_loop> count(const clang::ForStmt* loop, std::string& why);

/// The language of a text: OpenCL C or the host's C. They differ in names of types.
enum class language { kernel, host };
/// `text` of the loop's first value, end or step `of`, with a cast to the type if that changes some of its values.
std::string converted(const std::string& text, const clang::Expr* of, const counted_loop& loop, clang::QualType to,
                      language in);
/// Text of the number of iterations, by C's rules for the conversions of the first value and of the comparison.
/// `first`, `last` and `step` are operands: texts of the loop's expressions.
std::string trip_count(const counted_loop& loop, const std::string& first, const std::string& last,
                       const std::string& step, language in);

/// The statement of a loop's body that leaves the loop, if there is one. `inside`: within another loop or `switch`.
const clang::Stmt* leaving(const unit& unit, const clang::Stmt* body, bool inside = false);

} // namespace directive
