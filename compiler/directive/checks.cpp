// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

#include "atomic.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace directive {

using namespace clang;

namespace {

constexpr std::array<const char*, 4> level_names = {"seq", "vector", "worker", "gang"};

/// The level that a clause of a loop or a routine names: an index into level_names; 0 for other clauses.
std::size_t level_of(const std::string& clause) {
    const auto found = std::find(level_names.begin() + 1, level_names.end(), clause);
    return found == level_names.end() ? 0 : static_cast<std::size_t>(found - level_names.begin());
}

/// What stands around a statement.
struct place {
    const pragma* construct = nullptr; // the innermost one that no branch may leave
    bool in_loop = false, in_switch = false; // inside of that construct
    std::size_t level = level_names.size(); // the lowest one of the loops around that name one
};

class checker {
  public:
    explicit checker(const unit& unit) : m_unit(unit) {}

    void check(const Stmt* body) {
        find_labels(body, nullptr);
        visit(body, {});
    }

  private:
    const unit& m_unit;
    std::map<const LabelDecl*, const pragma*> m_labels; // the construct that each stands in

    static bool is_construct(const pragma& directive) {
        return directive.is_compute() || directive.name == "data" || directive.name == "host_data";
    }

    void find_labels(const Stmt* statement, const pragma* construct) {
        if (!statement) return;
        if (const auto of = directive_of(m_unit, statement)) {
            if (of.body) find_labels(of.body, is_construct(*of.directive) ? of.directive : construct);
            return;
        }
        if (const auto* label = dyn_cast<LabelStmt>(statement)) m_labels[label->getDecl()] = construct;
        for (const auto* child : statement->children()) find_labels(child, construct);
    }

    void visit(const Stmt* statement, place at) {
        if (!statement) return;
        if (const auto of = directive_of(m_unit, statement)) return check_directive(of, at);
        check_branch(statement, at);
        check_place_of_directives(statement);
        if (const auto* call = dyn_cast<CallExpr>(statement)) check_call(call, at);
        at.in_loop = at.in_loop || isa<ForStmt, WhileStmt, DoStmt>(statement);
        at.in_switch = at.in_switch || isa<SwitchStmt>(statement);
        for (const auto* child : statement->children()) visit(child, at);
    }

    void check_directive(const found_directive& of, place at) {
        check_clauses(of);
        if (!of.body) return;
        const auto& directive = *of.directive;
        if (directive.name == "atomic") check_atomic(of);
        if (is_construct(directive)) {
            at.construct = of.directive;
            at.in_loop = at.in_switch = false;
        }
        for (const auto& clause : directive.clauses)
            if (const auto level = level_of(clause.name); level > 0) at.level = std::min(at.level, level);
        visit(of.body, at);
    }

    void check_branch(const Stmt* statement, const place& at) {
        const bool translated = at.construct && at.construct->is_compute();
        const auto leaves = [&](const char* what) {
            m_unit.error(statement->getBeginLoc(), "'" + std::string(what) + "' leaves the construct '" +
                                                       at.construct->name + "', which has to run to its end");
        };
        if (const auto* jump = dyn_cast<GotoStmt>(statement)) {
            const auto* target = m_labels[jump->getLabel()];
            if (target == at.construct || translated) return;
            if (at.construct) return leaves("goto");
            m_unit.error(statement->getBeginLoc(),
                         "'goto' enters the construct '" + target->name + "', which has to run from its beginning");
        } else if (at.construct && isa<ReturnStmt>(statement) && !translated) {
            leaves("return");
        } else if (at.construct && isa<BreakStmt>(statement) && !at.in_loop && !at.in_switch) {
            leaves("break");
        } else if (at.construct && isa<ContinueStmt>(statement) && !at.in_loop) {
            leaves("continue");
        }
    }

    /// A directive that stands alone is no statement of its own for C's `if` and loops.
    void check_place_of_directives(const Stmt* statement) {
        if (isa<CompoundStmt, SwitchCase, Expr>(statement)) return;
        for (const auto* child : statement->children())
            if (const auto of = child ? directive_of(m_unit, child) : found_directive(); of && !of.body)
                m_unit.error(of.directive->location,
                             "'" + of.directive->name + "' cannot be the only statement here; put it into braces");
    }

    void check_call(const CallExpr* call, const place& at) {
        const auto* function = call->getDirectCallee();
        if (!function || at.level == level_names.size()) return;
        const auto found = m_unit.routines.find(function->getCanonicalDecl());
        const auto level = found == m_unit.routines.end() ? 0 : level_of(found->second);
        if (level >= at.level)
            m_unit.error(call->getBeginLoc(), "'" + function->getNameAsString() + "' is a routine for '" +
                                                  level_names[level] + "', and this loop is spread over '" +
                                                  level_names[at.level] + "' already");
    }

    void check_atomic(const found_directive& of) {
        for (const char* form : {"read", "write", "capture"})
            if (of.directive->find(form)) return;
        const auto* assignment = dyn_cast<BinaryOperator>(of.body);
        if (!assignment || assignment->getOpcode() != BO_Assign) return;
        const auto* target = assignment->getLHS()->IgnoreParenImpCasts();
        bool uses = false;
        walk(assignment->getRHS(), [&](const Stmt* each) {
            const auto* expression = dyn_cast<Expr>(each);
            uses = uses || (expression && same_text(m_unit, expression, target));
            return !uses;
        });
        if (!uses)
            m_unit.error(
                assignment->getBeginLoc(),
                "an update by 'atomic' has what it changes on its right side, too; 'atomic write' stores a value");
    }

    std::optional<long> constant(const Expr* tree) const {
        Expr::EvalResult value;
        if (!tree || !tree->getType()->isIntegralOrEnumerationType() || !tree->EvaluateAsInt(value, m_unit.context))
            return std::nullopt;
        const auto& number = value.Val.getInt();
        return number.getSignificantBits() > 64 ? std::nullopt : std::optional<long>(number.getExtValue());
    }

    void check_clauses(const found_directive& of) {
        static const std::map<std::string, std::vector<const char*>> needed = {
            {"enter data", {"copyin", "create", "attach"}},
            {"exit data", {"copyout", "delete", "detach"}},
            {"host_data", {"use_device"}}};
        const auto& directive = *of.directive;
        if (const auto wanted = needed.find(directive.name); wanted != needed.end()) {
            std::string names;
            bool found = false;
            for (const auto* each : wanted->second) {
                found = found || directive.find(each);
                names += (names.empty() ? "'" : ", '") + std::string(each) + "'";
            }
            if (!found)
                m_unit.error(directive.location,
                             "'" + directive.name + "' needs " +
                                 (wanted->second.size() > 1 ? "one of the clauses " : "the clause ") + names);
        }
        for (const auto& clause : directive.clauses)
            for (const auto& entry : clause.items) check_entry(of, clause, entry);
    }

    void check_entry(const found_directive& of, const clause& clause, const item& entry) {
        static const std::set<std::string> devices = {"deviceid", "to_device", "from_device", "device_num"};
        static const std::set<std::string> counts = {"num_gangs", "num_workers", "vector_length", "tile",
                                                     "gang",      "worker",      "vector"};
        static const std::set<std::string> queues = {"async", "wait", "default_async", "collapse"};
        const auto* tree = tree_of(of, entry.base);
        if (!tree) return;
        const auto& name = clause.name;
        const bool device = devices.contains(name) || entry.modifier == "devnum" ||
                            (name == "device" && of.directive->name != "update");
        if (device || counts.contains(name) || queues.contains(name)) {
            const auto type = tree->IgnoreParenImpCasts()->getType();
            const auto value = constant(tree);
            if (!type->isIntegralOrEnumerationType())
                m_unit.error(entry.location, "'" + name + "' takes an integer, and this is of type '" +
                                                 type.getUnqualifiedType().getAsString() + "'");
            else if (device && value && *value < 0)
                m_unit.error(entry.location, "devices count from 0");
            else if (counts.contains(name) && value && *value <= 0)
                m_unit.error(entry.location, "'" + name + "' takes a number above 0");
            return;
        }
        const auto* variable = variable_of(of, entry);
        if (!variable) return;
        if (name == "deviceptr" && !variable->getType()->isPointerType())
            m_unit.error(entry.location, "'" + written_name(variable) + "' in 'deviceptr' is no pointer");
        if (name == "reduction") check_reduction(variable, entry);
        check_section(of, variable, entry);
    }

    void check_reduction(const VarDecl* variable, const item& entry) {
        if (entry.modifier != "&" && entry.modifier != "|" && entry.modifier != "^") return;
        auto type = m_unit.context.getBaseElementType(variable->getType());
        if (type->isPointerType()) type = m_unit.context.getBaseElementType(type->getPointeeType());
        if (!type->isIntegralOrEnumerationType() && is_scalar(type))
            m_unit.error(entry.location, "'" + entry.modifier + "' reduces integers, and '" + written_name(variable) +
                                             "' is of type '" + type.getUnqualifiedType().getAsString() + "'");
    }

    /// Constant bounds of a section.
    void check_section(const found_directive& of, const VarDecl* variable, const item& entry) {
        auto type = variable->getType();
        for (const auto& part : entry.sections) {
            const auto* array = m_unit.context.getAsConstantArrayType(type);
            const auto low = part.low ? constant(tree_of(of, part.low)) : std::optional<long>(0);
            const auto length = part.length  ? constant(tree_of(of, part.length))
                                : part.colon ? std::nullopt
                                             : std::optional<long>(1);
            if (length && *length < 0)
                return m_unit.error(entry.location,
                                    "a section of '" + written_name(variable) + "' has a length below 0");
            if (array && low && *low < 0)
                return m_unit.error(entry.location, "a section begins before '" + written_name(variable) + "'");
            const auto elements = array ? static_cast<long>(array->getSize().getZExtValue()) : 0;
            if (array && low && length && *low + *length > elements)
                return m_unit.error(entry.location, "a section of '" + written_name(variable) + "' ends at " +
                                                        std::to_string(*low + *length) + ", and there are " +
                                                        std::to_string(elements) + " elements");
            if (const auto* any = m_unit.context.getAsArrayType(type))
                type = any->getElementType();
            else if (type->isPointerType())
                type = type->getPointeeType();
            else
                return; // said elsewhere
        }
    }
};

} // namespace

void check_directives(const unit& unit, const FunctionDecl* function) { checker(unit).check(function->getBody()); }

} // namespace directive
