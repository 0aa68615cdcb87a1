// SPDX-License-Identifier: Apache-2.0
#include "atomic.hpp"

#include <algorithm>

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

namespace {

/// The assignment that gives `operand` its new value.
const Expr* update_of(const unit& unit, const found_directive& of, const Expr* operand) {
    const auto updates = [&](const Stmt* statement) {
        const auto* written = written_by(statement);
        return written && same_text(unit, written, operand);
    };
    if (of.directive->find("read")) return nullptr;
    if (updates(of.body)) return cast<Expr>(of.body);
    if (const auto* block = dyn_cast<CompoundStmt>(of.body))
        return cast<Expr>(updates(block->body_front()) ? block->body_front() : block->body_back());
    return right_of(of.body);
}

class value_finder {
  public:
    value_finder(const unit& unit, const Expr* operand) : m_unit(unit), m_operand(operand) {}

    void visit(const Expr* value) {
        value = value->IgnoreParenImpCasts();
        if (!uses_operand(value)) {
            if (!isa<DeclRefExpr>(value) && !value->isEvaluatable(m_unit.context) && is_scalar(value->getType()))
                found.push_back(value);
        } else if (const auto* binary = dyn_cast<BinaryOperator>(value); binary && !binary->isAssignmentOp()) {
            visit(binary->getLHS());
            if (!binary->isLogicalOp()) visit(binary->getRHS());
        } else if (const auto* choice = dyn_cast<ConditionalOperator>(value)) {
            visit(choice->getCond());
        } else if (const auto* cast = dyn_cast<CastExpr>(value)) {
            visit(cast->getSubExpr());
        } else if (const auto* unary = dyn_cast<UnaryOperator>(value); unary && unary->isArithmeticOp()) {
            visit(unary->getSubExpr());
        } else if (const auto* call = dyn_cast<CallExpr>(value)) {
            for (const auto* each : call->arguments()) visit(each);
        }
    }

    std::vector<const Expr*> found;

  private:
    const unit& m_unit;
    const Expr* m_operand;

    bool uses_operand(const Stmt* part) const {
        const auto* expression = dyn_cast<Expr>(part);
        if (expression && same_text(m_unit, expression, m_operand)) return true;
        const auto parts = part->children();
        return std::any_of(parts.begin(), parts.end(), [&](const Stmt* each) { return each && uses_operand(each); });
    }
};

} // namespace

std::vector<const Expr*> atomic_values(const unit& unit, const found_directive& of, const Expr* operand) {
    const auto* update = update_of(unit, of, operand);
    const auto* assignment = update ? dyn_cast<BinaryOperator>(update->IgnoreParenImpCasts()) : nullptr;
    if (!assignment) return {};
    value_finder finder(unit, operand);
    finder.visit(assignment->getRHS());
    return finder.found;
}

const Expr* repeated_effect(const found_directive& of, const Expr* operand, const std::vector<const Expr*>& values) {
    std::set<const Expr*> allowed;
    const auto allow = [&](const Stmt* part) {
        for (const auto& each : accesses_in(part)) allowed.insert(each.expression);
    };
    allow(operand);
    for (const auto* each : values) allow(each);
    const auto allow_written = [&](const Stmt* part) {
        if (const auto* written = written_by(part)) allowed.insert(written->IgnoreParens());
        const auto* right = right_of(part);
        if (const auto* written = right ? written_by(right) : nullptr) allowed.insert(written->IgnoreParens());
    };
    allow_written(of.body);
    if (isa<CompoundStmt>(of.body))
        for (const auto* each : of.body->children()) allow_written(each);
    for (const auto& each : accesses_in(of.body))
        if (each.writes && !allowed.contains(each.expression)) return each.expression;
    return nullptr;
}

} // namespace directive
