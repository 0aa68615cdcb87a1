// SPDX-License-Identifier: Apache-2.0
// Linear forms of subscripts: two iterations are apart if no subscript of the one can equal one of the other.
#include "dependence.hpp"

#include <clang/AST/Decl.h>

#include <algorithm>
#include <set>

namespace directive {

using namespace clang;

namespace {

using product = std::vector<const VarDecl*>;

/// A sum of products of variables, each with a factor. The empty product is the constant.
struct linear_form {
    std::map<product, long> terms;
    bool known = true;
    bool operator==(const linear_form&) const = default;
};

linear_form form_of(const unit& unit, const Expr* expression) {
    linear_form form;
    expression = expression->IgnoreParenImpCasts();
    Expr::EvalResult value;
    if (expression->EvaluateAsInt(value, unit.context)) {
        if (const long constant = value.Val.getInt().getExtValue()) form.terms[{}] = constant;
        return form;
    }
    if (const auto* reference = dyn_cast<DeclRefExpr>(expression)) {
        if (const auto* variable = dyn_cast<VarDecl>(reference->getDecl())) {
            form.terms[{variable}] = 1;
            return form;
        }
    }
    const auto* binary = dyn_cast<BinaryOperator>(expression);
    form.known = binary &&
                 (binary->getOpcode() == BO_Add || binary->getOpcode() == BO_Sub || binary->getOpcode() == BO_Mul);
    if (!form.known) return form;
    const auto left = form_of(unit, binary->getLHS()), right = form_of(unit, binary->getRHS());
    form.known = left.known && right.known;
    if (!form.known) return form;
    if (binary->getOpcode() == BO_Mul) {
        for (const auto& [a, factor] : left.terms)
            for (const auto& [b, other] : right.terms) {
                product both = a;
                both.insert(both.end(), b.begin(), b.end());
                std::sort(both.begin(), both.end());
                form.terms[both] += factor * other;
            }
    } else {
        form.terms = left.terms;
        for (const auto& [term, factor] : right.terms)
            form.terms[term] += binary->getOpcode() == BO_Add ? factor : -factor;
    }
    std::erase_if(form.terms, [](const auto& each) { return each.second == 0; });
    return form;
}

std::vector<const Expr*> subscripts_of(const Expr* expression) {
    std::vector<const Expr*> all;
    expression = expression->IgnoreParenCasts();
    while (const auto* subscript = dyn_cast<ArraySubscriptExpr>(expression)) {
        all.insert(all.begin(), subscript->getIdx());
        expression = subscript->getBase()->IgnoreParenImpCasts();
    }
    if (!isa<DeclRefExpr>(expression)) return {};
    return all;
}

class tester {
  public:
    tester(const unit& unit, const loop_node& loop) : m_unit(unit), m_loop(loop) {}

    std::string why_not() {
        for (const auto& each : m_loop.loops) m_variables.insert(each.variable);
        collect_inner(m_loop.body);
        if (auto reason = calls(); !reason.empty()) return reason;
        const auto accesses = accesses_in(m_loop.body);
        for (const auto& each : accesses)
            if (each.root && each.writes) m_written.insert(each.root);
        if (auto reason = scalars(accesses); !reason.empty()) return reason;
        for (const auto& each : accesses) {
            if (!each.memory || !each.writes ||
                (each.root && is_inside(each.root) && each.root->getType()->isArrayType()))
                continue;
            if (!each.root || is_inside(each.root)) return "what a pointer points to is written, and is not known";
            for (const auto& counted : m_loop.loops)
                if (auto reason = apart(accesses, each.root, counted); !reason.empty()) return reason;
        }
        return {};
    }

  private:
    const unit& m_unit;
    const loop_node& m_loop;
    std::set<const VarDecl*> m_variables, m_written;
    std::map<const VarDecl*, counted_loop> m_inner; // loops inside, by variable
    std::set<const VarDecl*> m_inside;

    bool is_inside(const VarDecl* variable) const { return m_inside.contains(variable); }

    void collect_inner(const Stmt* body) {
        walk(body, [&](const Stmt* each) {
            std::string why;
            if (const auto* loop = dyn_cast<ForStmt>(each))
                if (const auto counted = count(loop, why)) m_inner.emplace(counted->variable, *counted);
            if (const auto* declaration = dyn_cast<DeclStmt>(each))
                for (const auto* one : declaration->decls())
                    if (const auto* variable = dyn_cast<VarDecl>(one)) m_inside.insert(variable);
            return true;
        });
    }

    std::string calls() {
        std::string reason;
        walk(m_loop.body, [&](const Stmt* each) {
            const auto* call = dyn_cast<CallExpr>(each);
            if (!call || !reason.empty()) return true;
            const auto* function = call->getDirectCallee();
            const std::string name = function ? function->getNameAsString() : "a function pointer";
            const FunctionDecl* definition = nullptr;
            if (!function || !function->hasBody(definition)) {
                for (const auto* argument : call->arguments())
                    if (argument->getType()->isPointerType())
                        reason = "it calls '" + name + "', which is given a pointer";
                return true;
            }
            for (const auto& use : accesses_in(definition->getBody()))
                if (use.writes && (use.memory || !use.root || use.root->hasGlobalStorage()))
                    reason = "it calls '" + name + "', which writes memory";
            return true;
        });
        return reason;
    }

    bool is_private(const VarDecl* variable) const {
        for (const auto* entry : m_loop.privates)
            if (variable_of(m_loop.of, *entry) == variable) return true;
        for (const auto& each : m_loop.reductions)
            if (each.variable == variable) return true;
        return m_variables.contains(variable) || m_inner.contains(variable) || is_inside(variable);
    }

    std::string scalars(const std::vector<access>& accesses) {
        for (const auto& each : accesses)
            if (!each.memory && each.writes && !is_private(each.root) && !inner_clause_has(each.root))
                return "'" + each.root->getNameAsString() + "' is written by every iteration";
        return {};
    }

    bool inner_clause_has(const VarDecl* variable) const {
        std::function<bool(const loop_node*)> has = [&](const loop_node* node) {
            for (const auto* entry : node->privates)
                if (variable_of(node->of, *entry) == variable) return true;
            return std::any_of(node->inner.begin(), node->inner.end(), has);
        };
        return std::any_of(m_loop.inner.begin(), m_loop.inner.end(), has);
    }

    /// Nothing if accesses to `root` of different iterations of `counted` never meet.
    std::string apart(const std::vector<access>& accesses, const VarDecl* root, const counted_loop& counted) {
        const auto name = root->getNameAsString();
        std::vector<std::vector<const Expr*>> all;
        for (const auto& each : accesses) {
            if (each.root != root || !each.memory) continue;
            auto subscripts = subscripts_of(each.expression);
            if (subscripts.empty()) return "'" + name + "' is written other than by subscripts";
            all.push_back(std::move(subscripts));
        }
        std::size_t dimensions = all.front().size();
        for (const auto& each : all) dimensions = std::min(dimensions, each.size());
        for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
            std::vector<linear_form> forms;
            for (const auto& each : all) forms.push_back(form_of(m_unit, each[dimension]));
            if (forms_apart(forms, counted.variable)) return {};
        }
        return "iterations may meet at elements of '" + name + "'";
    }

    bool forms_apart(const std::vector<linear_form>& forms, const VarDecl* variable) const {
        std::optional<product> cofactor;
        long factor = 0;
        std::optional<std::map<product, long>> fixed_rest;
        std::set<long> constants;
        for (const auto& form : forms) {
            if (!form.known) return false;
            std::map<product, long> rest;
            std::optional<product> own;
            for (const auto& [term, number] : form.terms) {
                if (std::find(term.begin(), term.end(), variable) == term.end()) {
                    rest[term] = number;
                    continue;
                }
                if (own) return false;
                own = term;
                own->erase(std::find(own->begin(), own->end(), variable));
                if (cofactor && (factor != number || *cofactor != *own)) return false;
                factor = number;
            }
            if (!own) return false;
            for (const auto* each : *own)
                if (changes(each)) return false;
            cofactor = own;
            const long constant = rest.contains({}) ? rest[{}] : 0;
            rest.erase(product{});
            // i*n + j with 0 <= j < n stays in row i.
            if (rest.size() == 1 && rest.begin()->second == 1 && rest.begin()->first.size() == 1 && constant == 0 &&
                within_row(rest.begin()->first.front(), *own, factor)) {
                rest.clear();
                if (fixed_rest && !fixed_rest->empty()) return false;
                fixed_rest = rest;
                constants.insert(0);
                continue;
            }
            for (const auto& [term, number] : rest)
                for (const auto* each : term)
                    if (changes(each)) return false;
            if (fixed_rest && *fixed_rest != rest) return false;
            fixed_rest = rest;
            constants.insert(constant);
            if (!own->empty() && constant != 0) return false;
        }
        for (const long one : constants)
            for (const long other : constants)
                if (one != other && (one - other) % factor == 0) return false;
        // A symbolic row length might be 0 where nothing says that it is positive.
        return factor != 0 && (cofactor->empty() || m_rows_seen);
    }

    bool changes(const VarDecl* variable) const {
        return m_variables.contains(variable) || m_inner.contains(variable) || m_written.contains(variable) ||
               is_inside(variable);
    }

    bool within_row(const VarDecl* variable, const product& cofactor, long factor) const {
        const auto found = m_inner.find(variable);
        if (found == m_inner.end() || found->second.comparison != BO_LT || found->second.down || found->second.step)
            return false;
        const auto first = form_of(m_unit, found->second.first), last = form_of(m_unit, found->second.last);
        if (!first.known || !first.terms.empty() || !last.known) return false;
        linear_form row;
        row.terms[cofactor] = factor;
        m_rows_seen = true;
        return last == row;
    }

    mutable bool m_rows_seen = false;
};

} // namespace

std::string dependence(const unit& unit, const loop_node& loop) { return tester(unit, loop).why_not(); }

} // namespace directive
