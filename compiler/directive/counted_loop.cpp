// SPDX-License-Identifier: Apache-2.0
#include "counted_loop.hpp"

namespace directive {

using namespace clang;

static const Expr* plain(const Expr* expression) { return expression ? expression->IgnoreParenImpCasts() : nullptr; }

const VarDecl* named(const Expr* expression) {
    const auto* reference = dyn_cast_or_null<DeclRefExpr>(plain(expression));
    return reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
}

std::optional<counted_loop> count(const ForStmt* loop, std::string& why) {
    counted_loop counted;
    counted.loop = loop;
    if (const auto* declaration = dyn_cast_or_null<DeclStmt>(loop->getInit())) {
        if (declaration->isSingleDecl()) counted.variable = dyn_cast<VarDecl>(declaration->getSingleDecl());
        if (counted.variable) counted.first = counted.variable->getInit();
        counted.declares = true;
    } else if (const auto* assignment = dyn_cast_or_null<BinaryOperator>(loop->getInit());
               assignment && assignment->getOpcode() == BO_Assign) {
        counted.variable = named(assignment->getLHS());
        counted.first = assignment->getRHS();
    }
    if (!counted.variable || !counted.first) {
        why = "it does not begin with `i = first`";
        return std::nullopt;
    }
    if (!counted.variable->getType()->isIntegerType()) {
        why = "its variable is no integer";
        return std::nullopt;
    }
    const auto* condition = dyn_cast_or_null<BinaryOperator>(plain(loop->getCond()));
    if (!condition || !condition->isComparisonOp() || condition->getOpcode() == BO_EQ) {
        why = "its condition is no comparison of its variable";
        return std::nullopt;
    }
    counted.comparison = condition->getOpcode();
    if (named(condition->getLHS()) == counted.variable) {
        counted.last = condition->getRHS();
    } else if (named(condition->getRHS()) == counted.variable) {
        counted.last = condition->getLHS();
        counted.comparison = BinaryOperator::reverseComparisonOp(counted.comparison);
    } else {
        why = "its condition is no comparison of its variable";
        return std::nullopt;
    }
    bool stepped = false;
    if (const auto* unary = dyn_cast_or_null<UnaryOperator>(plain(loop->getInc()));
        unary && unary->isIncrementDecrementOp() && named(unary->getSubExpr()) == counted.variable) {
        counted.down = unary->isDecrementOp();
        stepped = true;
    } else if (const auto* binary = dyn_cast_or_null<BinaryOperator>(plain(loop->getInc()));
               binary && named(binary->getLHS()) == counted.variable) {
        if (binary->getOpcode() == BO_AddAssign || binary->getOpcode() == BO_SubAssign) {
            counted.step = binary->getRHS();
            counted.down = binary->getOpcode() == BO_SubAssign;
            stepped = true;
        } else if (const auto* sum = dyn_cast<BinaryOperator>(plain(binary->getRHS()));
                   binary->getOpcode() == BO_Assign && sum) {
            if (sum->getOpcode() == BO_Add && named(sum->getLHS()) == counted.variable)
                counted.step = sum->getRHS(), stepped = true;
            else if (sum->getOpcode() == BO_Add && named(sum->getRHS()) == counted.variable)
                counted.step = sum->getLHS(), stepped = true;
            else if (sum->getOpcode() == BO_Sub && named(sum->getLHS()) == counted.variable)
                counted.step = sum->getRHS(), counted.down = true, stepped = true;
        }
    }
    if (!stepped) {
        why = "it does not step by `i++`, `i += c` or the like";
        return std::nullopt;
    }
    // `for (i = n; i > 0; i += -1)` has a step whose sign is not seen: the comparison says the direction.
    const bool wants_down = counted.comparison == BO_GT || counted.comparison == BO_GE;
    if (counted.comparison != BO_NE && wants_down != counted.down && !counted.step) {
        why = "it steps away from its end";
        return std::nullopt;
    }
    for (const auto* bound : {counted.first, counted.last, counted.step})
        for (const auto& each : accesses_in(bound))
            if (each.root == counted.variable) {
                why = "its first value, end or step depends on its variable";
                return std::nullopt;
            }
    for (const auto& each : accesses_in(loop->getBody()))
        if (each.root == counted.variable && each.writes && !each.memory) {
            why = "its body changes '" + counted.variable->getNameAsString() + "'";
            return std::nullopt;
        }
    return counted;
}

const Stmt* leaving(const unit& unit, const Stmt* body, bool inside) {
    if (!body) return nullptr;
    if (isa<ReturnStmt, GotoStmt>(body) || (!inside && isa<BreakStmt>(body))) return body;
    // A directive is a `while` around its statement.
    inside = inside || isa<ForStmt, DoStmt, SwitchStmt>(body) || (isa<WhileStmt>(body) && !directive_of(unit, body));
    for (const auto* child : body->children())
        if (const auto* found = leaving(unit, child, inside)) return found;
    return nullptr;
}

} // namespace directive
