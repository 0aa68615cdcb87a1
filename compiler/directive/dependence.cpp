// SPDX-License-Identifier: Apache-2.0
// Linear forms of subscripts: two iterations are apart if no subscript of the one can equal one of the other.
#include "dependence.hpp"

#include <clang/AST/Decl.h>
#include <clang/AST/ParentMapContext.h>

#include <algorithm>
#include <limits>
#include <set>

namespace directive {

using namespace clang;

namespace {

using product = std::vector<const VarDecl*>;

/// A sum of products of variables, each with a factor. The empty product is the constant.
struct linear_form {
    std::map<product, long> terms;
    bool known = true;
    bool may_wrap = false; // some sum or product in it is unsigned and narrower than addresses
    bool subtracts = false;
};

bool is_narrow_unsigned(const unit& unit, const Expr* expression) {
    const auto type = expression->getType();
    return type->isUnsignedIntegerType() && unit.context.getTypeSize(type) < 64;
}

linear_form form_of(const unit& unit, const Expr* expression) {
    linear_form form;
    expression = expression->IgnoreParenImpCasts();
    Expr::EvalResult value;
    if (expression->EvaluateAsInt(value, unit.context)) {
        if (const long constant = value.Val.getInt().getExtValue()) form.terms[{}] = constant;
        form.subtracts = form.terms.contains({}) && form.terms[{}] < 0;
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
    form.may_wrap = left.may_wrap || right.may_wrap || is_narrow_unsigned(unit, binary);
    form.subtracts = left.subtracts || right.subtracts || binary->getOpcode() == BO_Sub;
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

/// From the variable on; nothing if the way to what is accessed has other pointers, or members that share their
/// storage.
std::vector<const Expr*> subscripts_of(const Expr* expression) {
    std::vector<const Expr*> all;
    expression = expression->IgnoreParenCasts();
    while (!isa<DeclRefExpr>(expression) && !member_pointer(expression)) {
        if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(expression)) {
            all.insert(all.begin(), subscript->getIdx());
            expression = subscript->getBase()->IgnoreParenImpCasts();
            if (!isa<DeclRefExpr>(expression) && !member_pointer(expression) && !expression->getType()->isArrayType())
                return {};
        } else if (const auto* member = dyn_cast<MemberExpr>(expression); member && !member->isArrow()) {
            const auto* field = dyn_cast<FieldDecl>(member->getMemberDecl());
            if (!field || field->getParent()->isUnion()) return {};
            expression = member->getBase()->IgnoreParenImpCasts();
        } else {
            return {};
        }
    }
    return all;
}

/// True of `variable` itself, its members and elements; not of what pointers in it point to.
bool is_part_of_variable(const Expr* expression) {
    expression = expression->IgnoreParenCasts();
    if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(expression)) {
        const auto* base = subscript->getBase()->IgnoreParenImpCasts();
        return base->getType()->isArrayType() && is_part_of_variable(base);
    }
    if (const auto* member = dyn_cast<MemberExpr>(expression))
        return !member->isArrow() && is_part_of_variable(member->getBase());
    return isa<DeclRefExpr>(expression) && !expression->getType()->isPointerType();
}

/// The statement of the construct that the loop is in.
const Stmt* region_of(const unit& unit, const loop_node& loop) {
    const Stmt* at = loop.loops.front().loop;
    for (;;) {
        const auto parents = unit.context.getParents(*at);
        const auto* parent = parents.empty() ? nullptr : parents[0].get<Stmt>();
        if (!parent) return at;
        at = parent;
        if (const auto of = directive_of(unit, at); of && of.body && of.directive->name != "loop") return of.body;
    }
}

/// True if the integer may tell where something is.
bool tells_address(const Expr* integer) {
    bool found = false;
    walk(integer, [&](const Stmt* each) {
        if (const auto* binary = dyn_cast<BinaryOperator>(each))
            found |= binary->getOpcode() == BO_Sub && binary->getLHS()->getType()->isPointerType() &&
                     binary->getRHS()->getType()->isPointerType();
        if (const auto* cast = dyn_cast<CastExpr>(each)) found |= cast->getCastKind() == CK_PointerToIntegral;
        if (const auto* call = dyn_cast<CallExpr>(each))
            for (const auto* argument : call->arguments()) found |= argument->getType()->isPointerType();
        return true;
    });
    return found;
}

const VarDecl* memory_of(const Expr* lvalue);

/// The array that `value` points into, or the pointer that it is so many elements away from; nullptr if not known.
const VarDecl* pointed_to(const Expr* value) {
    value = value->IgnoreParenCasts();
    if (value->getType()->isArrayType()) return memory_of(value);
    if (const auto* member = member_pointer(value)) return member;
    if (const auto* reference = dyn_cast<DeclRefExpr>(value))
        return value->getType()->isPointerType() ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    if (const auto* unary = dyn_cast<UnaryOperator>(value))
        return unary->getOpcode() == UO_AddrOf ? memory_of(unary->getSubExpr()) : nullptr;
    const auto* sum = dyn_cast<BinaryOperator>(value);
    if (!sum || (sum->getOpcode() != BO_Add && sum->getOpcode() != BO_Sub)) return nullptr;
    const Expr *pointer = sum->getLHS(), *integer = sum->getRHS();
    if (!pointer->getType()->isPointerType()) std::swap(pointer, integer);
    if (!integer->getType()->isIntegerType() || tells_address(integer)) return nullptr;
    return pointed_to(pointer);
}

/// The same for what has an address of its own: no pointer in memory is on the way.
const VarDecl* memory_of(const Expr* lvalue) {
    lvalue = lvalue->IgnoreParenCasts();
    if (const auto* reference = dyn_cast<DeclRefExpr>(lvalue))
        return lvalue->getType()->isPointerType() ? nullptr : dyn_cast<VarDecl>(reference->getDecl());
    if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(lvalue))
        return tells_address(subscript->getIdx()) ? nullptr : pointed_to(subscript->getBase());
    if (const auto* member = dyn_cast<MemberExpr>(lvalue))
        return member->isArrow() ? pointed_to(member->getBase()) : memory_of(member->getBase());
    const auto* unary = dyn_cast<UnaryOperator>(lvalue);
    return unary && unary->getOpcode() == UO_Deref ? pointed_to(unary->getSubExpr()) : nullptr;
}

class tester {
  public:
    tester(const unit& unit, const loop_node& loop) : m_unit(unit), m_loop(loop) {}

    std::string why_not() {
        for (const auto& each : m_loop.loops) m_variables.insert(each.variable);
        collect_inner(m_loop.body);
        collect_pointers(region_of(m_unit, m_loop));
        auto accesses = accesses_in(m_loop.body);
        // What is done through an address counts where it is done.
        std::erase_if(accesses, [&](const auto& each) { return each.memory && m_addressed.contains(each.expression); });
        std::set<const VarDecl*> written; // as memory
        for (const auto& each : accesses) {
            if (!each.memory || !each.writes || is_own(each)) continue;
            if (const auto* base = base_of(each); base && !is_inside(base)) written.insert(base);
        }
        if (changes_end(accesses, written)) return "it changes its own end";
        for (const auto& each : accesses)
            if (!each.memory && written.contains(each.root) && each.root->getType()->isRecordType())
                return "'" + each.root->getNameAsString() + "' is used as a whole, and its elements are written";
        if (leaving(m_unit, m_loop.body)) return "an iteration may leave it";
        if (auto reason = calls(); !reason.empty()) return reason;
        for (const auto& each : accesses) {
            if (!each.root || !each.writes) continue;
            m_written.insert(each.root);
        }
        if (auto reason = scalars(accesses); !reason.empty()) return reason;
        for (const auto& each : accesses) {
            if (!each.memory || !each.writes || is_own(each)) continue;
            const auto* base = base_of(each);
            if (!base) return "what a pointer points to is written, and is not known";
            if (is_inside(base)) continue;
            for (const auto& counted : m_loop.loops)
                if (auto reason = apart(accesses, base, counted); !reason.empty()) return reason;
        }
        if (written.empty()) return {};
        for (const auto& each : accesses)
            if (each.memory && !is_own(each) && !base_of(each))
                return "what a pointer points to is read, and is not known";
        for (const auto& counted : m_loop.loops)
            for (const auto* bound : {counted.first, counted.last, counted.step})
                for (const auto& each : accesses_in(bound))
                    if (each.memory && (!base_of(each) || written.contains(base_of(each))))
                        return bound == counted.first ? "its beginning depends on what it writes"
                                                      : "its end may depend on what it writes";
        return {};
    }

  private:
    const unit& m_unit;
    const loop_node& m_loop;
    std::set<const VarDecl*> m_variables, m_written;
    std::set<const VarDecl*> m_changed;                 // somewhere in the region
    std::map<const VarDecl*, const Expr*> m_pointers;   // that the region declares, with their first values
    std::map<const VarDecl*, std::vector<counted_loop>> m_inner; // loops inside, by variable
    std::map<const VarDecl*, const Expr*> m_inside;              // with their first values
    std::set<const Expr*> m_addressed;

    /// In C such an end is looked at anew each time; a kernel counts before it begins.
    bool changes_end(const std::vector<access>& accesses, const std::set<const VarDecl*>& written) const {
        const auto sets = [&](const VarDecl* variable) {
            return std::any_of(accesses.begin(), accesses.end(), [&](const auto& each) {
                return each.root == variable && each.writes && (!each.memory || isa<CallExpr>(each.expression));
            });
        };
        for (const auto& counted : m_loop.loops)
            for (const auto* bound : {counted.last, counted.step})
                for (const auto& each : accesses_in(bound)) {
                    if (each.memory ? !written.contains(base_of(each)) : !sets(each.root)) continue;
                    m_unit.error(bound->getExprLoc(), "not supported: a loop that changes its own end");
                    return true;
                }
        return false;
    }

    bool is_inside(const VarDecl* variable) const { return m_inside.contains(variable); }

    /// Memory that each iteration has for itself.
    bool is_own(const access& each) const {
        if (!each.root) return false;
        if (is_part_of_variable(each.expression)) return is_inside(each.root) || in_private(each.root);
        return has_private_section(each.root) && memory_of(each.expression) == each.root;
    }

    bool in_private(const VarDecl* variable) const {
        return std::any_of(m_loop.privates.begin(), m_loop.privates.end(),
                           [&](const auto* entry) { return variable_of(m_loop.of, *entry) == variable; });
    }

    /// `private(p[0:n])` is memory, `private(p)` only the pointer.
    bool has_private_section(const VarDecl* variable) const {
        return !m_changed.contains(variable) &&
               std::any_of(m_loop.privates.begin(), m_loop.privates.end(), [&](const auto* entry) {
                   return !entry->sections.empty() && variable_of(m_loop.of, *entry) == variable;
               });
    }

    const VarDecl* base_of(const access& each) const {
        if (isa<CallExpr>(each.expression->IgnoreParens())) return base_of(each.root); // a variable at file scope
        const auto* plain = each.expression->IgnoreParens();
        return base_of(plain->isLValue() ? memory_of(plain) : pointed_to(plain));
    }

    /// The variable that a pointer of the region, which never changes, got its value from.
    const VarDecl* base_of(const VarDecl* root) const {
        for (int steps = 0; root && root->getType()->isPointerType(); ++steps) {
            if (m_changed.contains(root) || steps > 8) return nullptr;
            const auto found = m_pointers.find(root);
            if (found == m_pointers.end()) break;
            root = found->second ? pointed_to(found->second) : nullptr;
        }
        // A pointer in something local is not known.
        return root && (!is_inside(root) || root->getType()->isArrayType()) ? root : nullptr;
    }

    void collect_pointers(const Stmt* region) {
        for (const auto& each : accesses_in(region))
            if (each.root && each.writes && (!each.memory || isa<CallExpr>(each.expression->IgnoreParens())))
                m_changed.insert(each.root);
        walk(region, [&](const Stmt* each) {
            if (const auto* address = dyn_cast<UnaryOperator>(each); address && address->getOpcode() == UO_AddrOf)
                if (const auto* of = dyn_cast<DeclRefExpr>(address->getSubExpr()->IgnoreParens()))
                    if (const auto* variable = dyn_cast<VarDecl>(of->getDecl())) m_changed.insert(variable);
            if (const auto* declaration = dyn_cast<DeclStmt>(each))
                for (const auto* one : declaration->decls())
                    if (const auto* variable = dyn_cast<VarDecl>(one); variable && variable->getType()->isPointerType())
                        m_pointers.emplace(variable, variable->getInit());
            return true;
        });
    }

    void collect_inner(const Stmt* body) {
        walk(body, [&](const Stmt* each) {
            std::string why;
            if (const auto* loop = dyn_cast<ForStmt>(each))
                if (const auto counted = count(loop, why)) m_inner[counted->variable].push_back(*counted);
            if (const auto* address = dyn_cast<UnaryOperator>(each); address && address->getOpcode() == UO_AddrOf)
                m_addressed.insert(address->getSubExpr()->IgnoreParens());
            if (const auto* declaration = dyn_cast<DeclStmt>(each))
                for (const auto* one : declaration->decls())
                    if (const auto* variable = dyn_cast<VarDecl>(one)) m_inside.emplace(variable, variable->getInit());
            return true;
        });
    }

    /// True if something uses the variable that is in none of the loops that count it.
    bool is_used_beside_its_loops(const VarDecl* variable) const {
        bool found = false;
        walk(m_loop.body, [&](const Stmt* each) {
            for (const auto& counted : m_inner.at(variable))
                if (each == counted.loop) return false;
            const auto* reference = dyn_cast<DeclRefExpr>(each);
            found = found || (reference && reference->getDecl() == variable);
            return true;
        });
        return found;
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
                if (use.writes &&
                    (!use.root || use.root->hasGlobalStorage() || (use.memory && !is_part_of_variable(use.expression))))
                    reason = "it calls '" + name + "', which writes memory";
            return true;
        });
        return reason;
    }

    bool is_private(const VarDecl* variable) const {
        for (const auto& each : m_loop.reductions)
            if (each.variable == variable) return true;
        return in_private(variable) || m_variables.contains(variable) || m_inner.contains(variable) ||
               is_inside(variable);
    }

    std::string scalars(const std::vector<access>& accesses) {
        std::set<const Expr*> of_inner; // accesses to what a loop inside has as private
        for (const auto* each : m_loop.inner) collect_private(*each, of_inner);
        for (const auto& each : accesses)
            if (!each.memory && each.writes && !is_private(each.root) && !of_inner.contains(each.expression))
                return "'" + written_name(each.root) + "' is written by every iteration";
        for (const auto& [variable, loops] : m_inner)
            if (!is_inside(variable) && !in_private(variable) && is_used_beside_its_loops(variable))
                return "'" + variable->getNameAsString() + "' may have a value of another iteration";
        return {};
    }

    static void collect_private(const loop_node& node, std::set<const Expr*>& into) {
        for (const auto* entry : node.privates)
            for (const auto& each : accesses_in(node.body))
                if (each.root == variable_of(node.of, *entry)) into.insert(each.expression);
        for (const auto* each : node.inner) collect_private(*each, into);
    }

    /// Nothing if accesses to `root` of different iterations of `counted` never meet.
    std::string apart(const std::vector<access>& accesses, const VarDecl* root, const counted_loop& counted) {
        const auto name = written_name(root);
        std::vector<std::vector<const Expr*>> all;
        const VarDecl* way = nullptr; // one for all: the variable, or a pointer from outside of the loop
        for (const auto& each : accesses) {
            if (!each.memory || base_of(each) != root) continue;
            if (!way) way = each.root;
            const bool same = each.root == way && !is_inside(way);
            auto subscripts = same ? subscripts_of(each.expression) : std::vector<const Expr*>();
            if (subscripts.empty()) return "'" + name + "' is used other than by subscripts, and written";
            all.push_back(std::move(subscripts));
        }
        std::size_t dimensions = all.front().size();
        for (const auto& each : all) dimensions = std::min(dimensions, each.size());
        bool wraps = false;
        for (std::size_t dimension = 0; dimension < dimensions; ++dimension) {
            std::vector<linear_form> forms;
            forms.reserve(all.size());
            for (const auto& each : all) forms.push_back(form_in_body(each[dimension]));
            if (!forms_apart(forms, counted.variable)) continue;
            const bool may_wrap = std::any_of(forms.begin(), forms.end(),
                                              [&](const auto& each) { return wraps_around(each); });
            if (!may_wrap || counts_once(forms.front(), counted.variable)) return {};
            wraps = true;
        }
        return wraps ? "an unsigned subscript of '" + name + "' may wrap around"
                     : "iterations may meet at elements of '" + name + "'";
    }

    /// True if the variable's values are apart from one another in 32 bits, too, and stand in the form as they are.
    bool counts_once(const linear_form& form, const VarDecl* variable) const {
        const auto own = form.terms.find({variable});
        return own != form.terms.end() && (own->second == 1 || own->second == -1) &&
               m_unit.context.getTypeSize(variable->getType()) <= 32;
    }

    /// False if constant ends of loops keep the form within 32 bits.
    bool wraps_around(const linear_form& form) const {
        if (!form.may_wrap) return false;
        if (form.subtracts) return true;
        double most = 0;
        for (const auto& [term, number] : form.terms) {
            double of_term = static_cast<double>(number);
            for (const auto* each : term) of_term *= most_of(each);
            most += of_term;
        }
        return !(most < 0x1p32);
    }

    /// At least what loops with constant ends count the variable to; infinite if it may be something else.
    double most_of(const VarDecl* variable) const {
        constexpr auto unknown = std::numeric_limits<double>::infinity();
        std::vector<counted_loop> loops;
        for (const auto& each : m_loop.loops)
            if (each.variable == variable) loops.push_back(each);
        if (const auto found = m_inner.find(variable); found != m_inner.end()) {
            if (is_used_beside_its_loops(variable)) return unknown;
            loops.insert(loops.end(), found->second.begin(), found->second.end());
        }
        double most = loops.empty() ? unknown : 0;
        for (const auto& each : loops) {
            const auto first = constant(each.first), last = constant(each.last);
            const bool up = !each.down && (each.comparison == BO_LT || each.comparison == BO_LE);
            if (!up || !first || !last || *first < 0 || (each.step && constant(each.step).value_or(0) <= 0))
                return unknown;
            most = std::max(most, static_cast<double>(*last));
        }
        return most;
    }

    std::optional<long> constant(const Expr* expression) const {
        Expr::EvalResult value;
        if (!expression->EvaluateAsInt(value, m_unit.context)) return {};
        return value.Val.getInt().getExtValue();
    }

    /// What a variable of the body always has: its first value, where the type has room for it.
    const Expr* value_of(const VarDecl* variable) const {
        const auto found = m_inside.find(variable);
        if (found == m_inside.end() || !found->second || m_changed.contains(variable) || m_inner.contains(variable) ||
            !variable->hasLocalStorage())
            return nullptr;
        const auto type = variable->getType(), given = found->second->IgnoreParenImpCasts()->getType();
        const bool fits = type->isSignedIntegerType() && given->isSignedIntegerType() &&
                          m_unit.context.getTypeSize(type) >= m_unit.context.getTypeSize(given);
        return fits ? found->second : nullptr;
    }

    /// The form of a subscript, with the values of the body's own variables in their place.
    linear_form form_in_body(const Expr* subscript) const {
        auto form = form_of(m_unit, subscript);
        constexpr int most_steps = 8;
        for (int step = 0; form.known && step < most_steps; ++step) {
            const VarDecl* replaced = nullptr;
            for (const auto& [term, number] : form.terms)
                for (const auto* each : term)
                    if (value_of(each)) replaced = each;
            if (!replaced) break;
            const auto value = form_of(m_unit, value_of(replaced));
            if (!value.known) break;
            form.may_wrap = form.may_wrap || value.may_wrap;
            form.subtracts = form.subtracts || value.subtracts;
            auto before = std::exchange(form.terms, {});
            for (const auto& [term, number] : before) {
                const auto at = std::find(term.begin(), term.end(), replaced);
                if (at == term.end()) {
                    form.terms[term] += number;
                    continue;
                }
                for (const auto& [other, factor] : value.terms) {
                    product both(term.begin(), at);
                    both.insert(both.end(), at + 1, term.end());
                    both.insert(both.end(), other.begin(), other.end());
                    std::sort(both.begin(), both.end());
                    form.terms[both] += number * factor;
                }
            }
            std::erase_if(form.terms, [](const auto& each) { return each.second == 0; });
        }
        return form;
    }

    /// As if nothing wrapped around.
    bool forms_apart(const std::vector<linear_form>& forms, const VarDecl* variable) const {
        std::optional<product> cofactor;
        long factor = 0;
        std::optional<std::map<product, long>> fixed_rest;
        std::set<long> constants;
        bool any_row = false, all_rows = true;
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
            if (stays_in_row(rest, {{}, 1}, constant, {*own, factor})) {
                any_row = true;
                continue;
            }
            all_rows = false;
            for (const auto& [term, number] : rest)
                for (const auto* each : term)
                    if (changes(each)) return false;
            if (fixed_rest && *fixed_rest != rest) return false;
            fixed_rest = rest;
            constants.insert(constant);
        }
        if (any_row && all_rows) return true;
        // A row's length that is a variable might be 0.
        if (factor == 0 || !cofactor->empty()) return false;
        if (any_row) return fixed_rest->empty() && *constants.begin() >= 0 && *constants.rbegin() < factor;
        for (const long one : constants)
            for (const long other : constants)
                if (one != other && (one - other) % factor == 0) return false;
        return true;
    }

    bool changes(const VarDecl* variable) const {
        return m_variables.contains(variable) || m_inner.contains(variable) || m_written.contains(variable) ||
               is_inside(variable);
    }

    using stride = std::pair<product, long>;

    /// True if `rest` + `constant` is at least 0 and less than `row`: a variable with the factor `unit`, which stays in
    /// rows of the next one's factor, and so on.
    bool stays_in_row(const std::map<product, long>& rest, const stride& unit, long constant, const stride& row) const {
        for (const auto& term : rest) {
            const auto* variable = inner_variable(term.first);
            if (!variable || without(term, variable) != unit) continue;
            auto others = rest;
            others.erase(term.first);
            std::vector<stride> next;
            for (const auto& other : others)
                if (const auto* counted = inner_variable(other.first)) next.push_back(without(other, counted));
            if (others.empty()) next.push_back(row);
            for (const auto& longer : next) {
                product symbols = longer.first;
                bool divides = longer.second % unit.second == 0;
                for (const auto* each : unit.first) {
                    const auto found = std::find(symbols.begin(), symbols.end(), each);
                    divides = divides && found != symbols.end();
                    if (found != symbols.end()) symbols.erase(found);
                }
                if (divides && within_row(variable, constant, symbols, longer.second / unit.second) &&
                    (others.empty() || stays_in_row(others, longer, 0, row)))
                    return true;
            }
        }
        return false;
    }

    const VarDecl* inner_variable(const product& of) const {
        const auto found = std::find_if(of.begin(), of.end(), [&](const auto* each) { return m_inner.contains(each); });
        return found == of.end() ? nullptr : *found;
    }

    static stride without(const std::pair<const product, long>& term, const VarDecl* variable) {
        stride rest{term.first, term.second};
        rest.first.erase(std::find(rest.first.begin(), rest.first.end(), variable));
        return rest;
    }

    /// True if `variable` + `plus` is at least 0 and less than the row's length in each loop that counts it.
    bool within_row(const VarDecl* variable, long plus, const product& cofactor, long factor) const {
        const auto found = m_inner.find(variable);
        if (found == m_inner.end() || is_used_beside_its_loops(variable)) return false;
        return std::all_of(found->second.begin(), found->second.end(), [&](const counted_loop& inner) {
            if (inner.down || (inner.comparison != BO_LT && inner.comparison != BO_LE) ||
                (inner.step && constant(inner.step).value_or(0) <= 0))
                return false;
            const auto first = form_of(m_unit, inner.first);
            auto beyond = form_of(m_unit, inner.last);
            if (!first.known || !beyond.known || !is_from_zero(first, plus)) return false;
            if (wraps_around(first) || wraps_around(beyond)) return false;
            const long above = (beyond.terms.contains({}) ? beyond.terms.at({}) : 0) + plus +
                               (inner.comparison == BO_LE ? 1 : 0);
            beyond.terms.erase(product{});
            if (cofactor.empty()) return beyond.terms.empty() && above <= factor;
            linear_form row;
            row.terms[cofactor] = factor;
            return beyond.terms == row.terms && above <= 0;
        });
    }

    /// True if `form` + `constant` is at least 0: a sum of loops' variables that begin there.
    bool is_from_zero(const linear_form& form, long constant) const {
        for (const auto& [term, number] : form.terms) {
            if (term.empty()) {
                constant += number;
                continue;
            }
            const auto found = std::find_if(m_loop.loops.begin(), m_loop.loops.end(),
                                            [&](const auto& each) { return each.variable == term.front(); });
            if (term.size() != 1 || number < 0 || found == m_loop.loops.end() || found->down || found->step)
                return false;
            const auto first = form_of(m_unit, found->first);
            if (!first.known || first.terms.size() > 1 || (first.terms.size() == 1 && !first.terms.contains({})) ||
                (!first.terms.empty() && first.terms.at({}) < 0))
                return false;
        }
        return constant >= 0;
    }
};

} // namespace

std::string dependence(const unit& unit, const loop_node& loop) { return tester(unit, loop).why_not(); }

} // namespace directive
