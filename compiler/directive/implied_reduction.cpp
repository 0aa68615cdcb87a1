// SPDX-License-Identifier: Apache-2.0
// Reads updates of a scalar. What could round or convert otherwise in another order is no reduction, but for sums and
// products of floating-point numbers.
#include "implied_reduction.hpp"

#include <clang/AST/Decl.h>
#include <llvm/ADT/FoldingSet.h>

#include <algorithm>
#include <optional>
#include <set>

namespace directive {

using namespace clang;

namespace {

/// Finds what may fail where C does not evaluate it: a subscript that comes from memory, a division by 0.
class harmless {
  public:
    harmless(const unit& unit, const Stmt* loop) : m_unit(unit), m_loop(loop) {}

    bool holds(const Stmt* part) {
        if (!part) return true;
        if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(part))
            return is_plain(subscript->getIdx()) && is_place(subscript->getBase());
        if (const auto* unary = dyn_cast<UnaryOperator>(part); unary && unary->getOpcode() == UO_Deref)
            return is_place(unary->getSubExpr());
        if (const auto* member = dyn_cast<MemberExpr>(part)) return is_place(member->getBase());
        if (const auto* binary = dyn_cast<BinaryOperator>(part);
            binary && (binary->getOpcode() == BO_Div || binary->getOpcode() == BO_Rem) &&
            binary->getType()->isIntegerType()) {
            Expr::EvalResult by;
            if (!binary->getRHS()->EvaluateAsInt(by, m_unit.context) || by.Val.getInt().isZero()) return false;
        }
        if (const auto* call = dyn_cast<CallExpr>(part); call && !is_harmless(call->getDirectCallee())) return false;
        const auto parts = part->children();
        return std::all_of(parts.begin(), parts.end(), [&](const Stmt* each) { return holds(each); });
    }

  private:
    const unit& m_unit;
    const Stmt* m_loop;
    std::set<const Decl*> m_under_way;

    /// Loop variables, what the loop does not change, constants, and what is computed from them.
    bool is_plain(const Stmt* value) {
        if (isa<ArraySubscriptExpr, MemberExpr, CallExpr>(value)) return false;
        if (const auto* unary = dyn_cast<UnaryOperator>(value); unary && unary->getOpcode() == UO_Deref) return false;
        if (const auto* reference = dyn_cast<DeclRefExpr>(value)) return !reads_memory(reference->getDecl());
        const auto parts = value->children();
        return holds(value) &&
               std::all_of(parts.begin(), parts.end(), [&](const Stmt* each) { return is_plain(each); });
    }

    /// Memory that is reached without reading a pointer from memory, but for rows `a[i]` of an array of pointers.
    bool is_place(const Expr* pointer) {
        pointer = pointer->IgnoreParenCasts();
        if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(pointer)) return holds(subscript);
        if (const auto* member = dyn_cast<MemberExpr>(pointer))
            return !member->getType()->isPointerType() || member_pointer(member) ? is_place(member->getBase()) : false;
        return holds(pointer) && is_plain(pointer);
    }

    /// Whether the loop gives the variable a value that comes from memory.
    bool reads_memory(const ValueDecl* variable) {
        if (!m_under_way.insert(variable).second) return false;
        bool reads = false;
        const auto check = [&](const Expr* value) { reads = reads || !is_plain(value); };
        walk(m_loop, [&](const Stmt* each) {
            if (const auto* declaration = dyn_cast<DeclStmt>(each)) {
                for (const auto* one : declaration->decls())
                    if (const auto* declared = dyn_cast<VarDecl>(one);
                        declared == variable && declared->getInit() && !declared->getType()->isArrayType())
                        check(declared->getInit());
            } else if (const auto* assignment = dyn_cast<BinaryOperator>(each);
                       assignment && assignment->isAssignmentOp()) {
                const auto* target = dyn_cast<DeclRefExpr>(assignment->getLHS()->IgnoreParens());
                if (target && target->getDecl() == variable) check(assignment->getRHS());
            } else if (const auto* unary = dyn_cast<UnaryOperator>(each); unary && unary->getOpcode() == UO_AddrOf) {
                const auto* taken = dyn_cast<DeclRefExpr>(unary->getSubExpr()->IgnoreParens());
                reads = reads || (taken && taken->getDecl() == variable);
            }
            return true;
        });
        m_under_way.erase(variable);
        return reads;
    }

    /// Functions of other sources are those of math.h.
    bool is_harmless(const FunctionDecl* function) {
        const FunctionDecl* definition = nullptr;
        if (!function) return false;
        if (!function->hasBody(definition) || !m_under_way.insert(definition).second) return true;
        bool safe = true;
        walk(definition->getBody(), [&](const Stmt* each) {
            const auto* unary = dyn_cast<UnaryOperator>(each);
            if (isa<ArraySubscriptExpr, WhileStmt, DoStmt>(each) || (unary && unary->getOpcode() == UO_Deref))
                safe = false;
            else if (isa<BinaryOperator, CallExpr>(each))
                safe = safe && holds(each);
            return safe;
        });
        m_under_way.erase(definition);
        return safe;
    }
};

class reader {
  public:
    reader(const unit& unit, const VarDecl* variable)
        : m_unit(unit), m_variable(variable), m_type(variable->getType().getCanonicalType().getUnqualifiedType()) {}

    std::string operation_of(const Stmt* loop) {
        const bool whole = m_type->isIntegerType() && !m_type->isEnumeralType();
        if (m_variable->getType().isVolatileQualified() || (!whole && !m_type->isRealFloatingType())) return "";
        m_loop = loop;
        visit(loop);
        return m_one_operation && m_uses > 0 && m_uses == uses_in(loop) ? m_operation : "";
    }

  private:
    const unit& m_unit;
    const VarDecl* m_variable;
    QualType m_type;
    const Stmt* m_loop = nullptr;
    std::string m_operation;
    bool m_one_operation = true;
    long m_uses = 0; // by updates

    long uses_in(const Stmt* part) const {
        const auto all = accesses_in(part);
        return std::count_if(all.begin(), all.end(), [&](const auto& each) { return each.root == m_variable; });
    }

    bool is_variable(const Expr* expression) const {
        const auto* reference = dyn_cast<DeclRefExpr>(expression->IgnoreParenImpCasts());
        return reference && reference->getDecl() == m_variable;
    }

    void found(const std::string& operation, const Stmt* update) {
        m_one_operation = m_one_operation && (m_operation.empty() || m_operation == operation);
        m_operation = operation;
        m_uses += uses_in(update);
    }

    /// Statements only: an update whose value is used is none.
    void visit(const Stmt* statement) {
        if (!statement) return;
        if (const auto of = directive_of(m_unit, statement)) {
            if (of.directive->name == "loop") visit(of.body);
        } else if (const auto* expression = dyn_cast<Expr>(statement)) {
            if (const auto operation = update(expression->IgnoreParens())) found(*operation, statement);
        } else if (const auto* choice = dyn_cast<IfStmt>(statement)) {
            if (const auto operation = conditional_update(choice)) return found(*operation, statement);
            visit(choice->getThen());
            visit(choice->getElse());
        } else if (const auto* counted = dyn_cast<ForStmt>(statement)) {
            visit(counted->getBody());
        } else if (const auto* loop = dyn_cast<WhileStmt>(statement)) {
            visit(loop->getBody());
        } else if (const auto* last = dyn_cast<DoStmt>(statement)) {
            visit(last->getBody());
        } else if (isa<CompoundStmt, SwitchCase, AttributedStmt>(statement)) {
            for (const auto* each : statement->children()) visit(each);
        } else if (const auto* cases = dyn_cast<SwitchStmt>(statement)) {
            visit(cases->getBody());
        }
    }

    std::optional<std::string> update(const Expr* expression) const {
        if (const auto* unary = dyn_cast<UnaryOperator>(expression))
            return unary->isIncrementDecrementOp() && is_variable(unary->getSubExpr()) ? allowed("+") : std::nullopt;
        const auto* assignment = dyn_cast<BinaryOperator>(expression);
        if (!assignment || !assignment->isAssignmentOp() || !is_variable(assignment->getLHS())) return std::nullopt;
        const auto* value = assignment->getRHS();
        if (const auto* compound = dyn_cast<CompoundAssignOperator>(assignment)) {
            if (uses_in(value) > 0 || rounds(compound->getComputationResultType())) return std::nullopt;
            return of_operator(BinaryOperator::getOpForCompoundAssignment(compound->getOpcode()), true);
        }
        return of_value(value);
    }

    /// `v - e` is a sum, too; `e - v` is none.
    std::optional<std::string> of_operator(BinaryOperatorKind kind, bool variable_is_left) const {
        switch (kind) {
        case BO_Add: return allowed("+");
        case BO_Sub: return variable_is_left ? allowed("+") : std::nullopt;
        case BO_Mul: return allowed("*");
        case BO_And: return allowed("&");
        case BO_Or: return allowed("|");
        case BO_Xor: return allowed("^");
        case BO_LAnd: return logical("&&");
        case BO_LOr: return logical("||");
        default: return std::nullopt;
        }
    }

    /// A `_Bool` keeps only whether a value is 0.
    std::optional<std::string> allowed(const std::string& operation) const {
        if (m_type->isBooleanType() && operation != "|") return std::nullopt;
        return operation;
    }

    /// Not 0 or 1 before, the variable becomes it by the first update.
    std::optional<std::string> logical(const std::string& operation) const {
        if (m_type->isBooleanType()) return operation;
        return m_type->isIntegerType() ? std::optional(operation + "?") : std::nullopt; // a NaN is not equal to itself
    }

    /// An integer that is computed with fractions loses them at each step.
    bool rounds(QualType computed) const { return m_type->isIntegerType() && !computed->isIntegerType(); }

    const Expr* plain(const Expr* value) const {
        return m_type->isRealFloatingType() && value->getType()->isRealFloatingType() ? value->IgnoreParenCasts()
                                                                                      : value->IgnoreParenImpCasts();
    }

    std::optional<std::string> of_value(const Expr* value) const {
        value = plain(value);
        if (const auto* choice = dyn_cast<ConditionalOperator>(value))
            return of_choice(choice->getCond(), choice->getTrueExpr(), choice->getFalseExpr());
        if (const auto* call = dyn_cast<CallExpr>(value)) return of_call(call);
        // Down a chain of one operator to the variable.
        std::optional<std::string> operation;
        while (const auto* binary = dyn_cast<BinaryOperator>(value)) {
            const bool left = uses_in(binary->getLHS()) > 0;
            if (left == (uses_in(binary->getRHS()) > 0)) return std::nullopt;
            const auto one = of_operator(binary->getOpcode(), left);
            if (!one || (operation && *operation != *one) || rounds(binary->getType())) return std::nullopt;
            // C leaves out the right side once the variable decides.
            if (binary->isLogicalOp() && left && !harmless(m_unit, m_loop).holds(binary->getRHS())) return std::nullopt;
            operation = one;
            value = (left ? binary->getLHS() : binary->getRHS())->IgnoreParenImpCasts();
        }
        return is_variable(value) ? operation : std::nullopt;
    }

    std::optional<std::string> of_call(const CallExpr* call) const {
        const auto* function = call->getDirectCallee();
        if (!function || !function->getDeclName().isIdentifier() || function->hasBody() || call->getNumArgs() != 2 ||
            !m_type->isRealFloatingType())
            return std::nullopt;
        auto name = function->getName();
        name.consume_front("__builtin_");
        const bool max = name == "fmax" || name == "fmaxf";
        if (!max && name != "fmin" && name != "fminf") return std::nullopt;
        const bool first = is_variable(call->getArg(0));
        if (!first && !is_variable(call->getArg(1))) return std::nullopt;
        return uses_in(call->getArg(first ? 1 : 0)) == 0 ? std::optional(max ? "fmax" : "fmin") : std::nullopt;
    }

    bool same(const Expr* one, const Expr* other) const {
        llvm::FoldingSetNodeID first, second;
        one->IgnoreParenImpCasts()->Profile(first, m_unit.context, true);
        other->IgnoreParenImpCasts()->Profile(second, m_unit.context, true);
        return first == second;
    }

    /// True if comparing the variable with the value compares both as they are.
    bool compares_as_it_is(const Expr* value) const {
        const auto type = value->IgnoreParenImpCasts()->getType();
        if (m_type->isRealFloatingType()) return type->isRealFloatingType() || type->isIntegerType();
        if (!type->isIntegerType() || m_type->isBooleanType()) return false;
        Expr::EvalResult constant;
        if (value->EvaluateAsInt(constant, m_unit.context) && m_type->isSignedIntegerType() &&
            type->isSignedIntegerType())
            return constant.Val.getInt().getSignificantBits() <= m_unit.context.getTypeSize(m_type);
        const auto own = m_unit.context.getTypeSize(m_type), other = m_unit.context.getTypeSize(type);
        if (m_type->isSignedIntegerType() == type->isSignedIntegerType()) return other <= own;
        return m_type->isSignedIntegerType() && other < own;
    }

    /// `condition ? yes : no`, where the condition compares the two.
    std::optional<std::string> of_choice(const Expr* condition, const Expr* yes, const Expr* no) const {
        const auto* compared = dyn_cast<BinaryOperator>(condition->IgnoreParenImpCasts());
        if (!compared || !compared->isRelationalOp()) return std::nullopt;
        const Expr *left = compared->getLHS(), *right = compared->getRHS();
        const bool variable_is_left = is_variable(left);
        const auto* value = variable_is_left ? right : left;
        if (!is_variable(variable_is_left ? left : right) || uses_in(value) > 0 || !compares_as_it_is(value) ||
            value->HasSideEffects(m_unit.context, false))
            return std::nullopt;
        // A NaN compares false, and then the variable has to stay: it would take the NaN, and the next value after it.
        const bool floating = m_type->isRealFloatingType();
        if (floating && !is_variable(no) && !m_unit.context.getLangOpts().FiniteMathOnly) return std::nullopt;
        const bool takes_left = same(yes, left) && same(no, right);
        if (!takes_left && !(same(yes, right) && same(no, left))) return std::nullopt;
        const bool greater = compared->getOpcode() == BO_GT || compared->getOpcode() == BO_GE;
        return (greater == takes_left ? "max" : "min") + std::string(floating ? "?" : "");
    }

    /// `if (e > v) v = e;`
    std::optional<std::string> conditional_update(const IfStmt* choice) const {
        const Stmt* then = choice->getThen();
        while (const auto* block = dyn_cast<CompoundStmt>(then)) {
            if (block->size() != 1) return std::nullopt;
            then = block->body_front();
        }
        const auto* assignment = dyn_cast<BinaryOperator>(then);
        if (choice->getElse() || !assignment || assignment->getOpcode() != BO_Assign ||
            !is_variable(assignment->getLHS()))
            return std::nullopt;
        return of_choice(choice->getCond(), plain(assignment->getRHS()), assignment->getLHS());
    }
};

} // namespace

std::string implied_reduction(const unit& unit, const Stmt* loop, const VarDecl* variable) {
    return reader(unit, variable).operation_of(loop);
}

} // namespace directive
