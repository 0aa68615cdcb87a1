// SPDX-License-Identifier: Apache-2.0
#include "extent.hpp"

#include "loop_tree.hpp"

#include <clang/AST/Decl.h>
#include <llvm/ADT/StringExtras.h>

#include <map>
#include <set>

namespace directive {

using namespace clang;

namespace {

class finder {
  public:
    finder(const unit& unit, const Stmt* region) : m_unit(unit), m_accesses(accesses_in(region)) {
        walk(region, [&](const Stmt* each) {
            std::string why;
            if (const auto* loop = dyn_cast<ForStmt>(each))
                if (const auto counted = count(loop, why)) {
                    if (m_loops.contains(counted->variable)) m_ambiguous.insert(counted->variable);
                    m_loops[counted->variable] = *counted;
                }
            if (const auto* declaration = dyn_cast<DeclStmt>(each))
                for (const auto* one : declaration->decls())
                    if (const auto* variable = dyn_cast<VarDecl>(one)) m_inside[variable] = variable->getInit();
            return true;
        });
        for (const auto& each : m_accesses)
            if (each.writes && !each.memory) m_changed.insert(each.root);
    }

    std::optional<extent> find(const VarDecl* pointer) {
        std::set<std::string> firsts, lasts;
        for (const auto& each : m_accesses) {
            if (each.root != pointer || !each.memory) continue;
            const auto* subscript = dyn_cast<ArraySubscriptExpr>(each.expression->IgnoreParenCasts());
            if (!subscript || !isa<DeclRefExpr>(subscript->getBase()->IgnoreParenImpCasts())) return std::nullopt;
            m_failed = false;
            firsts.insert(bound(subscript->getIdx(), false));
            lasts.insert(bound(subscript->getIdx(), true));
            if (m_failed) return std::nullopt;
        }
        if (firsts.empty()) return std::nullopt;
        return extent{of_all(firsts, "<"), of_all(lasts, ">")};
    }

  private:
    const unit& m_unit;
    std::vector<access> m_accesses;
    std::map<const VarDecl*, counted_loop> m_loops;
    std::map<const VarDecl*, const Expr*> m_inside; // with their first values
    std::set<const VarDecl*> m_ambiguous, m_changed;
    bool m_failed = false;
    int m_depth = 0;

    static std::string of_all(const std::set<std::string>& texts, const std::string& comparison) {
        std::string all;
        for (const auto& each : texts)
            all = all.empty() ? each : "(" + each + " " + comparison + " " + all + " ? " + each + " : " + all + ")";
        return all;
    }

    /// The least or greatest value of the expression; factors are taken not to be negative.
    std::string bound(const Expr* expression, bool greatest) {
        expression = expression->IgnoreParenImpCasts();
        Expr::EvalResult value;
        if (expression->EvaluateAsInt(value, m_unit.context)) return llvm::toString(value.Val.getInt(), 10) + "l";
        if (const auto* reference = dyn_cast<DeclRefExpr>(expression)) {
            const auto* variable = dyn_cast<VarDecl>(reference->getDecl());
            const auto loop = variable ? m_loops.find(variable) : m_loops.end();
            if (loop != m_loops.end() && !m_ambiguous.contains(variable) && m_depth < 8)
                return of_loop(loop->second, greatest);
            if (const auto* value = variable && loop == m_loops.end() ? value_of(variable) : nullptr;
                value && m_depth < 8) {
                ++m_depth;
                auto text = bound(value, greatest);
                --m_depth;
                return text;
            }
            if (variable && loop == m_loops.end() && !m_inside.contains(variable) && !m_changed.contains(variable))
                return "(long)" + variable->getNameAsString();
        }
        if (const auto* binary = dyn_cast<BinaryOperator>(expression)) {
            const auto opcode = binary->getOpcode();
            if (opcode == BO_Add || opcode == BO_Sub || opcode == BO_Mul)
                return "(" + bound(binary->getLHS(), greatest) + " " + binary->getOpcodeStr().str() + " " +
                       bound(binary->getRHS(), opcode == BO_Sub ? !greatest : greatest) + ")";
        }
        m_failed = true;
        return "0";
    }

    /// What a variable of the region always has.
    const Expr* value_of(const VarDecl* variable) const {
        constexpr unsigned least_bits = 32;
        const auto found = m_inside.find(variable);
        const bool known = found != m_inside.end() && !m_changed.contains(variable) && variable->hasLocalStorage() &&
                           variable->getType()->isIntegerType() &&
                           m_unit.context.getTypeSize(variable->getType()) >= least_bits;
        return known ? found->second : nullptr;
    }

    std::string of_loop(const counted_loop& loop, bool greatest) {
        ++m_depth;
        const bool down = loop.comparison == BO_GT || loop.comparison == BO_GE;
        const bool reaches = loop.comparison == BO_LE || loop.comparison == BO_GE;
        std::string text;
        if (loop.comparison == BO_NE) m_failed = true;
        if (greatest != down)
            text = "(" + bound(loop.last, greatest) + (reaches ? ")" : down ? " + 1)" : " - 1)");
        else
            text = bound(loop.first, greatest);
        --m_depth;
        return text;
    }
};

} // namespace

std::optional<extent> extent_of(const unit& unit, const Stmt* region, const VarDecl* pointer) {
    return finder(unit, region).find(pointer);
}

} // namespace directive
