// SPDX-License-Identifier: Apache-2.0
#include "extent.hpp"

#include "value_bounds.hpp"

#include <clang/AST/Decl.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace directive {

using namespace clang;

class extents::finder {
  public:
    finder(const unit& unit, const Stmt* region, std::function<bool(const VarDecl*)> is_value, host_values& values)
        : m_unit(unit), m_accesses(accesses_in(region)), m_is_value(std::move(is_value)), m_values(values),
          m_bounds(unit, m_variables, m_is_value, values) {
        for (const auto& each : m_accesses)
            if (each.writes && (!each.memory || isa<CallExpr>(each.expression))) ++m_variables.writes[each.root];
        visit(region, nullptr);
    }

    std::optional<extent> find(const VarDecl* pointer) {
        m_failed = false;
        m_bounds.forget_failure();
        const auto found = range_of(pointer);
        return m_failed || m_bounds.has_failed() ? std::nullopt : found;
    }

  private:
    const unit& m_unit;
    std::vector<access> m_accesses;
    std::function<bool(const VarDecl*)> m_is_value;
    host_values& m_values;
    std::deque<place> m_made;
    std::map<const Stmt*, const place*> m_places;
    region_variables m_variables;
    /// A pointer of the region that is another one and an offset.
    struct derived {
        const VarDecl *variable, *from;
        const Expr* offset;  // nullptr: 0
        const Expr* element; // of `&p[offset]`
        const place* at;
    };
    std::vector<derived> m_derived;
    std::set<const Expr*> m_tests; // uses of pointers that only ask whether they are null
    value_bounds m_bounds;
    bool m_failed = false;
    static constexpr int most_depth = 16;
    int m_depth = 0;

    const place* add(const place& made) { return &m_made.emplace_back(made); }
    const place* under(const place* around, const Expr* condition, bool holds) {
        return add({.around = around, .condition = condition, .holds = holds});
    }

    /// The subscript behind a pointer in `p[i]`, `p[i][j]`, `p[i].member`; nullptr in `*p` and `p->member`. Nothing for
    /// other expressions, and for the rows of an array, which may be used as pointers.
    static std::optional<const Expr*> subscript_of(const Expr* expression) {
        if (const auto* whole = expression->IgnoreParenImpCasts();
            whole->getType()->isArrayType() && !isa<MemberExpr>(whole))
            return std::nullopt;
        while (true) {
            expression = expression->IgnoreParenImpCasts();
            const Expr* base = nullptr;
            std::optional<const Expr*> subscript;
            if (const auto* element = dyn_cast<ArraySubscriptExpr>(expression)) {
                base = element->getBase(), subscript = element->getIdx();
            } else if (const auto* member = dyn_cast<MemberExpr>(expression)) {
                base = member->getBase();
                if (member->isArrow()) subscript = nullptr;
            } else if (const auto* unary = dyn_cast<UnaryOperator>(expression);
                       unary && unary->getOpcode() == UO_Deref) {
                base = unary->getSubExpr(), subscript = nullptr;
            }
            if (!base) return std::nullopt;
            base = base->IgnoreParenImpCasts();
            if (base->getType()->isPointerType()) {
                const bool plain = isa<DeclRefExpr>(base) || member_pointer(base);
                return plain ? subscript : std::nullopt;
            }
            expression = base;
        }
    }

    /// An access to `p[constant]...[j][k]` or `(*p)...[j][k]`, whose inner subscripts may go on in the rows before and
    /// behind, as programs use an array of arrays as one: how many rows they do. Nothing for other accesses.
    std::optional<extent> rows_passed(const access& use, const place* here) {
        auto& context = m_unit.context;
        std::vector<const ArraySubscriptExpr*> inner; // from the last one on
        const auto* at = use.expression->IgnoreParenImpCasts();
        for (const ArraySubscriptExpr* element = nullptr; (element = dyn_cast<ArraySubscriptExpr>(at));) {
            at = element->getBase()->IgnoreParenImpCasts();
            if (!at->getType()->isPointerType()) {
                inner.push_back(element);
                continue;
            }
            Expr::EvalResult value;
            if (!element->getIdx()->EvaluateAsInt(value, context)) return std::nullopt;
            break;
        }
        if (inner.empty() || isa<MemberExpr>(at)) return std::nullopt;
        std::string row = "(" + use.root->getNameAsString() + ")[0]", length = "1l", least = "0l", most = "0l";
        for (std::size_t each = 1; each < inner.size(); ++each) row += "[0]";
        for (const auto* element : inner) {
            const auto step = [&](bool greatest) {
                return m_values.product(m_bounds.bound_of_subscript(element->getIdx(), here, greatest), length);
            };
            least = m_values.sum(least, step(false));
            most = m_values.sum(most, step(true));
            const auto* type = context.getAsArrayType(element->getBase()->IgnoreParenImpCasts()->getType());
            const auto* fixed = dyn_cast_or_null<ConstantArrayType>(type);
            const auto* given = dyn_cast_or_null<VariableArrayType>(type);
            if (fixed)
                length = m_values.product(length, std::to_string(fixed->getSize().getZExtValue()) + "l");
            else if (!m_variables.inside.contains(use.root))
                length = m_values.product(length, "(long)(sizeof(" + row + ") / sizeof(" + row + "[0]))");
            else if (given && given->getSizeExpr())
                length = m_values.product(length, m_bounds.bound(given->getSizeExpr(), here, true));
            else
                m_failed = true;
            row.resize(row.size() - 3);
        }
        const auto whole_rows = [&](const std::string& elements) {
            return m_values.call("causeway_acc_rows", elements + ", " + length);
        };
        return extent{whole_rows(least), whole_rows(most)};
    }

    static const VarDecl* pointer_named(const Expr* expression) {
        expression = expression->IgnoreParenImpCasts();
        if (!expression->getType()->isPointerType()) return nullptr;
        if (const auto* member = member_pointer(expression)) return member;
        return named(expression);
    }

    /// `q = p`, `q = p + offset`, `q = &p[offset]`.
    void derive(const VarDecl* variable, const place* here) {
        const auto* value = variable->getInit()->IgnoreParenImpCasts();
        derived made{variable, pointer_named(value), nullptr, nullptr, here};
        if (const auto* sum = dyn_cast<BinaryOperator>(value); sum && sum->getOpcode() == BO_Add) {
            const bool first = sum->getLHS()->getType()->isPointerType();
            made.from = pointer_named(first ? sum->getLHS() : sum->getRHS());
            made.offset = first ? sum->getRHS() : sum->getLHS();
        } else if (const auto* unary = dyn_cast<UnaryOperator>(value); unary && unary->getOpcode() == UO_AddrOf) {
            if (const auto* element = dyn_cast<ArraySubscriptExpr>(unary->getSubExpr()->IgnoreParens())) {
                made.from = pointer_named(element->getBase());
                made.offset = element->getIdx(), made.element = element;
            }
        }
        const auto pointee = [&](const VarDecl* of) {
            return of->getType()->getPointeeType().getCanonicalType().getUnqualifiedType();
        };
        if (made.from && variable->hasLocalStorage() && !m_variables.writes.contains(variable) &&
            pointee(made.from) == pointee(variable))
            m_derived.push_back(made);
    }

    /// Nothing if the region uses no element. On failure sets m_failed.
    std::optional<extent> range_of(const VarDecl* pointer) {
        if (m_depth >= most_depth) m_failed = true;
        std::set<std::pair<std::string, std::string>> ranges;
        std::set<const Expr*> known;
        bool tested = false;
        int values = 0, addresses = 0; // of which pointers are made whose range is known
        for (const auto& each : m_derived) {
            if (m_failed || each.from != pointer) continue;
            each.element ? ++addresses : ++values;
            if (each.element) known.insert(each.element);
            ++m_depth;
            const auto found = range_of(each.variable);
            --m_depth;
            if (!found) continue;
            const auto least = each.offset ? m_bounds.bound_of_subscript(each.offset, each.at, false) : "0l";
            const auto most = each.offset ? m_bounds.bound_of_subscript(each.offset, each.at, true) : "0l";
            ranges.insert({m_values.sum(least, found->first), m_values.sum(most, found->last)});
        }
        for (const auto& each : m_accesses) {
            if (m_failed || each.root != pointer || known.contains(each.expression->IgnoreParens())) continue;
            if (!each.memory) {
                if (m_tests.contains(each.expression)) {
                    tested = true;
                    continue;
                }
                if (each.writes || --values < 0) m_failed = true; // changes, or goes elsewhere
                continue;
            }
            const auto subscript = subscript_of(each.expression);
            const auto at = m_places.find(each.expression->IgnoreParens());
            if (!subscript || at == m_places.end()) {
                m_failed = true;
            } else {
                auto first = *subscript ? m_bounds.bound_of_subscript(*subscript, at->second, false) : "0l";
                auto last = *subscript ? m_bounds.bound_of_subscript(*subscript, at->second, true) : "0l";
                if (const auto passed = rows_passed(each, at->second)) {
                    first = m_values.sum(first, passed->first);
                    last = m_values.sum(last, passed->last);
                }
                if (const auto empty = m_bounds.emptiness(at->second); !empty.empty()) {
                    const auto nothing = m_values.named(empty);
                    first = m_values.choice(nothing, "1l", first);
                    last = m_values.choice(nothing, "0l", last);
                }
                ranges.insert({first, last});
            }
        }
        if (const auto leaks = m_variables.leaked.find(pointer);
            leaks != m_variables.leaked.end() && leaks->second != addresses)
            m_failed = true;
        if (!m_failed && ranges.empty() && tested) return extent{"0l", "-1l"};
        if (m_failed || ranges.empty()) return std::nullopt;
        if (ranges.size() == 1) return extent{ranges.begin()->first, ranges.begin()->second};
        std::set<std::string> firsts, lasts;
        for (const auto& [first, last] : ranges) {
            firsts.insert(m_values.call("causeway_acc_first_of", first + ", " + last));
            lasts.insert(m_values.call("causeway_acc_last_of", first + ", " + last));
        }
        return extent{m_values.of_all(firsts, false), m_values.of_all(lasts, true)};
    }

    /// A condition: `p`, `!p`, `p == 0`, or a part of another one.
    void note_tests(const Expr* condition) {
        if (!condition) return;
        condition = condition->IgnoreParenImpCasts();
        if (const auto* unary = dyn_cast<UnaryOperator>(condition); unary && unary->getOpcode() == UO_LNot)
            return note_tests(unary->getSubExpr());
        if (pointer_named(condition)) m_tests.insert(condition);
        const auto* both = dyn_cast<BinaryOperator>(condition);
        if (!both) return;
        const auto is_null = [&](const Expr* side) {
            return side->isNullPointerConstant(m_unit.context, Expr::NPC_ValueDependentIsNotNull) != Expr::NPCK_NotNull;
        };
        if (both->isLogicalOp()) {
            note_tests(both->getLHS());
            note_tests(both->getRHS());
        } else if (both->isEqualityOp() && is_null(both->getRHS())) {
            note_tests(both->getLHS());
        } else if (both->isEqualityOp() && is_null(both->getLHS())) {
            note_tests(both->getRHS());
        }
    }

    void visit_all(const Stmt* statement, const place* here) {
        for (const auto* child : statement->children()) visit(child, here);
    }

    void visit(const Stmt* statement, const place* here) {
        if (!statement) return;
        if (const auto of = directive_of(m_unit, statement)) return visit(of.body, here);
        m_places[statement] = here;
        std::string why;
        if (const auto* block = dyn_cast<CompoundStmt>(statement)) {
            visit_block(block, here);
        } else if (const auto* loop = dyn_cast<ForStmt>(statement)) {
            for (const Stmt* part :
                 {loop->getInit(), static_cast<const Stmt*>(loop->getCond()), static_cast<const Stmt*>(loop->getInc())})
                visit(part, here);
            auto counted = count(loop, why);
            visit(loop->getBody(), counted ? add({.around = here, .loop = counted}) : here);
        } else if (const auto* choice = dyn_cast<IfStmt>(statement)) {
            note_tests(choice->getCond());
            visit(choice->getCond(), here);
            visit(choice->getThen(), under(here, choice->getCond(), true));
            visit(choice->getElse(), under(here, choice->getCond(), false));
        } else if (const auto* value = dyn_cast<ConditionalOperator>(statement)) {
            note_tests(value->getCond());
            visit(value->getCond(), here);
            visit(value->getTrueExpr(), under(here, value->getCond(), true));
            visit(value->getFalseExpr(), under(here, value->getCond(), false));
        } else if (const auto* both = dyn_cast<BinaryOperator>(statement); both && both->isLogicalOp()) {
            note_tests(both);
            visit(both->getLHS(), here);
            visit(both->getRHS(), under(here, both->getLHS(), both->getOpcode() == BO_LAnd));
        } else {
            const auto* unary = dyn_cast<UnaryOperator>(statement);
            const auto* compared = dyn_cast<BinaryOperator>(statement);
            if ((unary && unary->getOpcode() == UO_LNot) || (compared && compared->isEqualityOp()))
                note_tests(cast<Expr>(statement));
            if (unary && unary->getOpcode() == UO_AddrOf)
                if (const auto* root = root_of(unary->getSubExpr())) ++m_variables.leaked[root];
            if (const auto* declaration = dyn_cast<DeclStmt>(statement))
                for (const auto* one : declaration->decls())
                    if (const auto* variable = dyn_cast<VarDecl>(one)) {
                        m_variables.inside.insert(variable);
                        if (variable->getInit()) m_variables.begun.insert(variable);
                        if (variable->getInit() && variable->getType()->isPointerType()) derive(variable, here);
                    }
            visit_all(statement, here);
        }
    }

    static const Stmt* last_of(const Stmt* statement) {
        const auto* block = dyn_cast_or_null<CompoundStmt>(statement);
        return block ? (block->body_empty() ? nullptr : last_of(block->body_back())) : statement;
    }

    static const BinaryOperator* assignment(const Stmt* statement) {
        if (const auto* block = dyn_cast_or_null<CompoundStmt>(statement))
            return block->size() == 1 ? assignment(block->body_front()) : nullptr;
        const auto* binary = dyn_cast_or_null<BinaryOperator>(statement);
        return binary && binary->getOpcode() == BO_Assign && named(binary->getLHS()) ? binary : nullptr;
    }

    /// What each statement says about those behind it.
    void visit_block(const CompoundStmt* block, const place* here) {
        const auto* const first = here;
        std::set<const VarDecl*> owned;
        for (const auto* each : block->body()) {
            if (isa<SwitchCase, LabelStmt>(each)) here = first; // may come without what stands before
            visit(each, here);
            if (const auto* declaration = dyn_cast<DeclStmt>(each)) {
                for (const auto* one : declaration->decls())
                    if (const auto* variable = dyn_cast<VarDecl>(one); variable && variable->hasLocalStorage()) {
                        owned.insert(variable);
                        if (variable->getInit())
                            here = add({.around = here, .set = variable, .value = variable->getInit()});
                    }
            } else if (const auto* plain = assignment(each)) {
                const auto* variable = named(plain->getLHS());
                // The only statement that sets it: it has this value until the block ends.
                if (!owned.contains(variable) &&
                    (m_variables.writes[variable] > 1 || m_variables.begun.contains(variable)))
                    continue;
                ++m_variables.known[variable];
                here = add({.around = here, .set = variable, .value = plain->getRHS()});
            } else if (const auto* choice = dyn_cast<IfStmt>(each); choice && !choice->getElse()) {
                const auto* last = last_of(choice->getThen());
                if (last && isa<ContinueStmt, BreakStmt, ReturnStmt>(last)) {
                    here = under(here, choice->getCond(), false);
                } else if (const auto* clamp = assignment(choice->getThen());
                           clamp && owned.contains(named(clamp->getLHS()))) {
                    ++m_variables.known[named(clamp->getLHS())];
                    here = add({.around = here,
                                .condition = choice->getCond(),
                                .set = named(clamp->getLHS()),
                                .value = clamp->getRHS(),
                                .only_then = true});
                }
            }
        }
    }
};

extents::extents(const unit& unit, const Stmt* region, std::function<bool(const VarDecl*)> is_value,
                 host_values& values)
    : m_finder(std::make_unique<finder>(unit, region, std::move(is_value), values)) {}
extents::~extents() = default;
std::optional<extent> extents::of(const VarDecl* pointer) { return m_finder->find(pointer); }

} // namespace directive
