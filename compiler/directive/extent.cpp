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
    static constexpr int most_depth = 8;
    int m_depth = 0; // of variables whose values use others

    static std::string of_all(const std::set<std::string>& texts, const std::string& comparison) {
        std::string all;
        for (const auto& each : texts)
            all = all.empty() ? each : "(" + each + " " + comparison + " " + all + " ? " + each + " : " + all + ")";
        return all;
    }

    /// The least or greatest value of the expression.
    std::string bound(const Expr* expression, bool greatest) {
        expression = expression->IgnoreParenImpCasts();
        Expr::EvalResult value;
        if (expression->EvaluateAsInt(value, m_unit.context)) return llvm::toString(value.Val.getInt(), 10) + "l";
        if (const auto* reference = dyn_cast<DeclRefExpr>(expression)) {
            const auto* variable = dyn_cast<VarDecl>(reference->getDecl());
            const auto loop = variable ? m_loops.find(variable) : m_loops.end();
            if (loop != m_loops.end() && !m_ambiguous.contains(variable) && m_depth < most_depth)
                return of_loop(loop->second, greatest);
            if (const auto* value = variable && loop == m_loops.end() ? value_of(variable) : nullptr;
                value && m_depth < most_depth) {
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
            if (opcode == BO_Mul) return product(binary->getLHS(), binary->getRHS(), greatest);
            if (opcode == BO_Add || opcode == BO_Sub)
                return "(" + bound(binary->getLHS(), greatest) + " " + binary->getOpcodeStr().str() + " " +
                       bound(binary->getRHS(), opcode == BO_Sub ? !greatest : greatest) + ")";
        }
        m_failed = true;
        return "0";
    }

    std::string product(const Expr* left, const Expr* right, bool greatest) {
        const auto of = [&](bool greatest_left, bool greatest_right) {
            return "(" + bound(left, greatest_left) + " * " + bound(right, greatest_right) + ")";
        };
        if (never_negative(left) && never_negative(right)) return of(greatest, greatest);
        // The signs show when the program runs.
        for (const Expr* factor : {left, right})
            if (const auto only = bound(factor, false); only == bound(factor, true))
                return "(" + only + " < 0 ? " + of(!greatest, !greatest) + " : " + of(greatest, greatest) + ")";
        return of_all({of(false, false), of(false, true), of(true, false), of(true, true)}, greatest ? ">" : "<");
    }

    bool never_negative(const Expr* expression) {
        expression = expression->IgnoreParenImpCasts();
        Expr::EvalResult value;
        if (expression->EvaluateAsInt(value, m_unit.context)) return value.Val.getInt().isNonNegative();
        if (const auto* reference = dyn_cast<DeclRefExpr>(expression)) {
            const auto* variable = dyn_cast<VarDecl>(reference->getDecl());
            if (!variable) return false;
            const Expr* least = value_of(variable);
            if (const auto loop = m_loops.find(variable); loop != m_loops.end())
                least = counts_down(loop->second) ? loop->second.last : loop->second.first;
            if (!least) return variable->getType()->isUnsignedIntegerType();
            if (m_depth >= most_depth) return false;
            ++m_depth;
            const bool known = never_negative(least);
            --m_depth;
            return known;
        }
        const auto* binary = dyn_cast<BinaryOperator>(expression);
        return binary && (binary->getOpcode() == BO_Add || binary->getOpcode() == BO_Mul) &&
               never_negative(binary->getLHS()) && never_negative(binary->getRHS());
    }

    static bool counts_down(const counted_loop& loop) { return loop.comparison == BO_GT || loop.comparison == BO_GE; }

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
        const bool down = counts_down(loop);
        const bool reaches = loop.comparison == BO_LE || loop.comparison == BO_GE;
        std::string text;
        if (loop.comparison == BO_NE) m_failed = true;
        if (greatest != down)
            text = last_reached(loop, "(" + bound(loop.last, greatest) + (reaches ? ")" : down ? " + 1)" : " - 1)"));
        else
            text = bound(loop.first, greatest);
        --m_depth;
        return text;
    }

    /// What the variable has last in a loop that goes to `end`, which its steps may pass by.
    std::string last_reached(const counted_loop& loop, const std::string& end) {
        if (!loop.step) return end;
        const auto first = bound(loop.first, false), step = bound(loop.step, false);
        if (first != bound(loop.first, true) || step != bound(loop.step, true)) return end;
        const bool down = counts_down(loop);
        const auto by = loop.down == down ? step : "(0 - " + step + ")";
        const auto way = down ? "(" + first + " - " + end + ")" : "(" + end + " - " + first + ")";
        return "(" + by + " > 0 ? " + first + (down ? " - " : " + ") + "((" + way + " + " + by + ") / " + by +
               " - 1) * " + by + " : " + end + ")";
    }
};

} // namespace

std::optional<extent> extent_of(const unit& unit, const Stmt* region, const VarDecl* pointer) {
    return finder(unit, region).find(pointer);
}

} // namespace directive
