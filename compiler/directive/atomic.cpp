// SPDX-License-Identifier: Apache-2.0
#include "atomic.hpp"

namespace directive {

using namespace clang;

namespace {

/// What an expression writes: the left side of an assignment, or what is counted up or down.
const Expr* written_by(const Stmt* statement) {
    const auto* expression = dyn_cast_or_null<Expr>(statement);
    if (!expression) return nullptr;
    expression = expression->IgnoreParenImpCasts();
    if (const auto* binary = dyn_cast<BinaryOperator>(expression); binary && binary->isAssignmentOp())
        return binary->getLHS()->IgnoreParenImpCasts();
    if (const auto* unary = dyn_cast<UnaryOperator>(expression); unary && unary->isIncrementDecrementOp())
        return unary->getSubExpr()->IgnoreParenImpCasts();
    return nullptr;
}

const Expr* right_of(const Stmt* statement) {
    const auto* expression = dyn_cast_or_null<Expr>(statement);
    const auto* binary = expression ? dyn_cast<BinaryOperator>(expression->IgnoreParenImpCasts()) : nullptr;
    return binary && binary->getOpcode() == BO_Assign ? binary->getRHS()->IgnoreParenImpCasts() : nullptr;
}

} // namespace

bool same_text(const unit& unit, const Expr* one, const Expr* other) {
    const auto text = [&](const Expr* expression) {
        std::string all;
        llvm::raw_string_ostream stream(all);
        expression->IgnoreParenImpCasts()->printPretty(stream, nullptr, unit.context.getPrintingPolicy());
        return stream.str();
    };
    return text(one) == text(other);
}

const Expr* atomic_operand(const unit& unit, const found_directive& of) {
    const bool read = of.directive->find("read"), capture = of.directive->find("capture");
    if (read) return right_of(of.body);
    if (!capture) return written_by(of.body);
    if (const auto* block = dyn_cast<CompoundStmt>(of.body)) {
        if (block->size() != 2) return nullptr;
        const auto* first = block->body_front();
        const auto* second = block->body_back();
        // { x op= e; v = x; } or { v = x; x op= e; }
        const auto* updated = written_by(first);
        const auto* captured = right_of(second);
        if (updated && captured && same_text(unit, updated, captured)) return updated;
        return written_by(second);
    }
    const auto* right = right_of(of.body);
    return right ? written_by(right) : nullptr;
}

} // namespace directive
