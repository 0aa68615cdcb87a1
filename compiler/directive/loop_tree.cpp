// SPDX-License-Identifier: Apache-2.0
// Reads loops and their clauses, and maps them.
#include "loop_tree.hpp"

#include "dependence.hpp"
#include "implied_reduction.hpp"

#include <clang/AST/ParentMapContext.h>

#include <algorithm>
#include <functional>

namespace directive {

using namespace clang;

namespace {

const Stmt* only_statement(const Stmt* statement) {
    while (const auto* block = dyn_cast_or_null<CompoundStmt>(statement)) {
        if (block->size() != 1) return statement;
        statement = block->body_front();
    }
    return statement;
}

/// An array, or a structure or union with one.
bool holds_array(QualType type) {
    if (type->isArrayType()) return true;
    const auto* record = type->getAsRecordDecl();
    return record && std::any_of(record->field_begin(), record->field_end(),
                                 [](const auto* field) { return holds_array(field->getType()); });
}

} // namespace

bool loop_node::any_inner(bool loop_node::* level) const {
    return std::any_of(inner.begin(), inner.end(),
                       [&](const loop_node* each) { return each->*level || each->any_inner(level); });
}

bool loop_node::any_outer(bool loop_node::* level) const {
    return parent && (parent->*level || parent->any_outer(level));
}

loop_tree::loop_tree(const unit& unit, const found_directive& of)
    : m_unit(unit), m_kernels(of.directive->name.starts_with("kernels")),
      m_serial(of.directive->name.starts_with("serial")), m_region(of.body), m_pointees(of.body) {
    if (m_kernels) find_leaving_values();
    if (of.directive->is_combined()) {
        if (auto* node = add(of, of.body, nullptr)) build(node->body, node);
    } else {
        build(of.body, nullptr);
    }
    if (!of.directive->is_combined() && !m_serial)
        for (const auto& clause : of.directive->clauses)
            for (const auto& entry : clause.items)
                if (const auto* variable = clause.name == "reduction" ? variable_of(of, entry) : nullptr;
                    variable && entry.sections.empty() && is_scalar(variable->getType()))
                    for (auto* each : m_outermost) imply_reduction(*each, {variable, entry.modifier});
    if (m_kernels) find_reductions(of);
    collect_gang_arrays(of);
    for (auto* each : m_outermost) assign(*each);
    for (auto* each : m_outermost) extend(*each);
}

loop_node* loop_tree::find(const Stmt* loop) const {
    const auto found = m_by_statement.find(loop);
    return found == m_by_statement.end() ? nullptr : found->second;
}

bool loop_tree::any(bool loop_node::* level) const {
    return std::any_of(m_all.begin(), m_all.end(), [&](const auto& each) { return (*each).*level; });
}

void loop_tree::build(const Stmt* statement, loop_node* parent, bool plain) {
    walk(statement, [&](const Stmt* each) {
        if (const auto of = directive_of(m_unit, each)) {
            if (of.directive->name == "loop") {
                if (is_plain(of)) {
                    build(of.body, parent, true);
                    return false;
                }
                if (auto* node = add(of, of.body, parent)) build(node->body, node);
                return false;
            }
            return true;
        }
        std::string why;
        const bool leaves_value = m_leaving_values.contains(each);
        const auto* loop = m_kernels && !(plain && each == statement) ? dyn_cast<ForStmt>(each) : nullptr;
        if (const auto counted = loop ? count(loop, why) : std::nullopt;
            counted && !changes_end(*counted) && !(leaves_value && leaving(m_unit, loop->getBody()))) {
            auto* node = add({}, loop, parent);
            node->leaves_value = leaves_value;
            build(node->body, node);
            return false;
        }
        if (!isa<ForStmt, WhileStmt, DoStmt>(each)) return true;
        ++m_plain_loops;
        for (const auto* child : each->children()) build(child, parent);
        --m_plain_loops;
        return false;
    });
}

bool loop_tree::is_plain(const found_directive& of) const {
    const auto* loop = dyn_cast_or_null<ForStmt>(of.body);
    if (!loop || !(m_serial || of.directive->find("seq"))) return false;
    for (const char* clause : {"private", "reduction", "collapse", "tile"})
        if (of.directive->find(clause)) return false;
    std::string why;
    const auto counted = count(loop, why);
    return !counted || changes_end(*counted);
}

bool loop_tree::changes_end(const counted_loop& counted) const {
    std::set<const VarDecl*> used;
    bool unknown = false;
    for (const auto* bound : {counted.last, counted.step})
        for (const auto& each : accesses_in(bound)) {
            unknown |= !each.root;
            if (each.root) used.merge(m_pointees.reached(each.root));
        }
    const auto changes = accesses_in(counted.loop->getBody());
    // By two names for one array, the end is looked for each time; the step is not.
    const auto steps = accesses_in(counted.step);
    const auto in_memory = [](const access& each) { return each.memory; };
    if (std::any_of(steps.begin(), steps.end(), in_memory) &&
        std::any_of(changes.begin(), changes.end(), [](const access& each) { return each.writes && each.memory; }))
        return true;
    return std::any_of(changes.begin(), changes.end(), [&](const access& each) {
        if (!each.writes || used.contains(each.root)) return each.writes;
        if (!each.memory) return false;
        if (!each.root || unknown) return !used.empty() || unknown;
        const auto reached = m_pointees.reached(each.root);
        return std::any_of(reached.begin(), reached.end(), [&](const auto* one) { return used.contains(one); });
    });
}

void loop_tree::find_leaving_values() {
    // No loop has a node yet: this is C's order.
    std::set<const Stmt*> with_directive;
    walk(m_region, [&](const Stmt* each) {
        if (const auto of = directive_of(m_unit, each); of && of.directive->name == "loop")
            with_directive.insert(of.body);
        const auto* loop = dyn_cast<ForStmt>(each);
        std::string why;
        const auto counted = loop && !with_directive.contains(loop) ? count(loop, why) : std::nullopt;
        if (counted && !counted->declares &&
            (use_after(m_region, loop, counted->variable) == use::read || is_read_after_region(counted->variable))) {
            m_leaving_values[loop] = counted->variable;
            m_read_after_loops.insert(counted->variable);
        }
        return true;
    });
}

bool loop_tree::is_read_after_region(const VarDecl* variable) const {
    const Stmt* function = m_region;
    bool inside = false, jumps = false, addressed = false;
    walk(m_region, [&](const Stmt* each) {
        if (const auto* declaration = dyn_cast<DeclStmt>(each))
            for (const auto* one : declaration->decls()) inside |= one == variable;
        return true;
    });
    if (inside) return false;
    if (variable->isExternallyVisible()) return true; // in other sources
    for (;;) {
        const auto parents = m_unit.context.getParents(*function);
        const auto* parent = parents.empty() ? nullptr : parents[0].get<Stmt>();
        if (!parent) break;
        function = parent;
    }
    bool beside = false; // used outside of loops that begin with a value for it
    const auto look = [&](const Stmt* body) {
        walk(body, [&](const Stmt* each) {
            jumps |= isa<GotoStmt, LabelStmt>(each);
            if (const auto* address = dyn_cast<UnaryOperator>(each); address && address->getOpcode() == UO_AddrOf)
                addressed |= named(address->getSubExpr()) == variable;
            if (const auto* loop = dyn_cast<ForStmt>(each))
                if (const auto* first = dyn_cast_or_null<BinaryOperator>(loop->getInit());
                    first && first->getOpcode() == BO_Assign && named(first->getLHS()) == variable)
                    return false;
            const auto* reference = dyn_cast<DeclRefExpr>(each);
            beside |= reference && reference->getDecl()->getCanonicalDecl() == variable->getCanonicalDecl();
            return true;
        });
    };
    look(function);
    if (variable->hasLocalStorage() && !addressed && !jumps)
        return use_after(function, m_region, variable) == use::read;
    if (variable->isFileVarDecl())
        for (const auto* each : m_unit.context.getTranslationUnitDecl()->decls()) {
            if (const auto* other = dyn_cast<FunctionDecl>(each); other && other->doesThisDeclarationHaveABody())
                look(other->getBody());
            if (const auto* other = dyn_cast<VarDecl>(each); other && other->getInit())
                look(other->getInit()); // may keep its address
        }
    return beside;
}

const VarDecl* loop_tree::value_left_inside(const loop_node& node) const {
    const VarDecl* found = nullptr;
    std::set<const VarDecl*> own;
    for (const auto* entry : node.privates) own.insert(variable_of(node.of, *entry));
    walk(node.body, [&](const Stmt* each) {
        if (const auto* declaration = dyn_cast<DeclStmt>(each))
            for (const auto* one : declaration->decls()) own.insert(dyn_cast<VarDecl>(one));
        if (const auto of = directive_of(m_unit, each))
            for (const auto& clause : of.directive->clauses)
                if (clause.name == "private")
                    for (const auto& entry : clause.items) own.insert(variable_of(of, entry));
        const auto leaves = m_leaving_values.find(each);
        if (leaves != m_leaving_values.end() && !own.contains(leaves->second) &&
            (is_read_later(node, leaves->second) || is_read_after_region(leaves->second)))
            found = leaves->second;
        return true;
    });
    return found;
}

bool loop_tree::outlives_statement(const VarDecl* variable) const {
    std::vector<const Stmt*> statements{m_region};
    if (const auto* block = dyn_cast<CompoundStmt>(m_region)) statements.assign(block->body_begin(), block->body_end());
    return std::any_of(statements.begin(), statements.end(), [&](const auto* statement) {
        const auto all = accesses_in(statement);
        return std::any_of(all.begin(), all.end(),
                           [&](const auto& each) { return each.root == variable && each.writes && !each.memory; }) &&
               (use_after(m_region, statement, variable) == use::read || is_read_after_region(variable));
    });
}

loop_node* loop_tree::add(const found_directive& of, const Stmt* statement, loop_node* parent) {
    auto node = std::make_unique<loop_node>();
    node->of = of;
    node->parent = parent;
    node->repeated = m_plain_loops > 0;
    long deep = 1;
    if (const auto* collapse = of ? of.directive->find("collapse") : nullptr) {
        Expr::EvalResult value;
        const auto* tree = collapse->items.empty() ? nullptr : tree_of(of, collapse->items.front().base);
        if (!tree || !tree->EvaluateAsInt(value, m_unit.context) || value.Val.getInt().getExtValue() < 1) {
            m_unit.error(collapse->location, "'collapse' needs a constant of at least 1");
            return nullptr;
        }
        deep = value.Val.getInt().getExtValue();
    }
    node->tile = of ? of.directive->find("tile") : nullptr;
    if (node->tile) {
        if (deep > 1) m_unit.error(node->tile->location, "'tile' excludes 'collapse'");
        deep = static_cast<long>(node->tile->items.size());
        if (deep == 1) node->tile = nullptr; // in the same order without
    }
    const Stmt* at = statement;
    for (long level = 0; level < deep; ++level) {
        const auto* inside = level == 0 ? at : only_statement(at);
        if (const auto nested = directive_of(m_unit, inside); nested && nested.directive->name == "loop")
            inside = nested.body;
        const auto* loop = dyn_cast_or_null<ForStmt>(inside);
        if (!loop) {
            m_unit.error(of.directive->location, level == 0
                                                     ? "'" + of.directive->name + "' must stand before a 'for' loop"
                                                     : std::string(node->tile ? "'tile'" : "'collapse'") + " needs " +
                                                           std::to_string(deep) + " loops, each alone in the other");
            return nullptr;
        }
        std::string why;
        const auto counted = count(loop, why);
        if (!counted) {
            m_unit.error(loop->getForLoc(), "this loop cannot be counted before it runs: " + why);
            return nullptr;
        }
        node->loops.push_back(*counted);
        at = loop->getBody();
    }
    node->body = at;
    for (std::size_t each = 1; each < node->loops.size(); ++each)
        for (std::size_t outer = 0; outer < each; ++outer)
            for (const auto* bound : {node->loops[each].first, node->loops[each].last})
                for (const auto& use : accesses_in(bound))
                    if (use.root == node->loops[outer].variable) {
                        m_unit.error(bound->getExprLoc(),
                                     "not supported: a bound of a collapsed loop that depends on '" +
                                         use.root->getNameAsString() + "'");
                        return nullptr;
                    }
    if (of) read_clauses(*node);
    // In C's order, but counted before it begins: see is_plain().
    if (of && (node->sequential || m_serial))
        for (const auto& counted : node->loops)
            if (changes_end(counted))
                m_unit.error(counted.last->getExprLoc(),
                             "not supported: a loop that changes its own end, but for 'loop "
                             "seq' without other clauses inside a construct");
    m_by_statement[statement] = node.get();
    m_by_statement[node->loops.front().loop] = node.get();
    (parent ? parent->inner : m_outermost).push_back(node.get());
    m_all.push_back(std::move(node));
    return m_all.back().get();
}

void loop_tree::read_clauses(loop_node& node) {
    bool automatic = false;
    for (const auto& clause : node.of.directive->clauses) {
        if (clause.name == "gang") node.gang = true;
        if (clause.name == "worker") node.worker = true;
        if (clause.name == "vector") node.vector = true;
        if (clause.name == "seq") node.sequential = true;
        if (clause.name == "independent") node.independent = true;
        if (clause.name == "auto") automatic = true;
        if (clause.name == "private")
            for (const auto& entry : clause.items) node.privates.push_back(&entry);
        if (clause.name == "reduction")
            for (const auto& entry : clause.items) {
                const auto* variable = variable_of(node.of, entry);
                if (variable && (variable->getType()->isArrayType() ||
                                 (variable->getType()->isPointerType() && !entry.sections.empty()))) {
                    node.reduces_array = true;
                    continue;
                }
                if (!variable || !entry.sections.empty() || !is_scalar(variable->getType())) {
                    m_unit.error(entry.location, "not supported: a reduction of something that is no scalar variable");
                    continue;
                }
                node.reductions.push_back({variable, entry.modifier});
            }
    }
    if (node.sequential && (node.is_spread() || node.independent)) {
        m_unit.error(node.of.directive->location, "'seq' excludes 'gang', 'worker', 'vector' and 'independent'");
        return;
    }
    constexpr std::pair<bool loop_node::*, const char*> levels[] = {
        {&loop_node::gang, "gang"}, {&loop_node::worker, "worker"}, {&loop_node::vector, "vector"}};
    for (std::size_t inner = 0; inner < std::size(levels); ++inner)
        for (auto outer = inner; outer < std::size(levels); ++outer) {
            if (!(node.*levels[inner].first) || !node.any_outer(levels[outer].first)) continue;
            m_unit.error(node.of.directive->location, std::string("a '") + levels[inner].second + "' loop inside a '" +
                                                          levels[outer].second + "' loop");
            const auto* around = node.parent;
            while (!(around->*levels[outer].first)) around = around->parent;
            m_unit.note(around->location(), "the outer loop");
            return;
        }
    if (!m_kernels && !automatic && !node.sequential) node.independent = true;
}

/// A loop that changes what the construct reduces, and says no more, reduces it, too: its threads have one each.
void loop_tree::imply_reduction(loop_node& node, const reduction& of_region) {
    const std::function<bool(const loop_node&)> says = [&](const loop_node& one) {
        for (const auto* entry : one.privates)
            if (variable_of(one.of, *entry) == of_region.variable) return true;
        return std::any_of(one.reductions.begin(), one.reductions.end(),
                           [&](const auto& each) { return each.variable == of_region.variable; }) ||
               std::any_of(one.inner.begin(), one.inner.end(), [&](const auto* each) { return says(*each); });
    };
    if (!of_region.found && says(node)) return;
    const auto accesses = accesses_in(node.body);
    const bool writes = std::any_of(accesses.begin(), accesses.end(), [&](const auto& each) {
        return each.root == of_region.variable && each.writes && !each.memory;
    });
    if (!writes) return;
    const bool named = std::any_of(node.reductions.begin(), node.reductions.end(),
                                   [&](const auto& each) { return each.variable == of_region.variable; });
    if (!node.sequential && !named) node.reductions.push_back(of_region);
    for (auto* each : node.inner) imply_reduction(*each, of_region);
}

void loop_tree::find_reductions(const found_directive& of) {
    std::set<const VarDecl*> out; // declared inside, private, or reached through a pointer
    for (const auto& clause : of.directive->clauses)
        if (clause.name == "private" || clause.name == "firstprivate")
            for (const auto& entry : clause.items) out.insert(variable_of(of, entry));
    for (const auto& node : m_all)
        for (const auto* entry : node->privates) out.insert(variable_of(node->of, *entry));
    walk(of.body, [&](const Stmt* each) {
        if (const auto* declaration = dyn_cast<DeclStmt>(each))
            for (const auto* one : declaration->decls()) out.insert(dyn_cast<VarDecl>(one));
        if (const auto* address = dyn_cast<UnaryOperator>(each); address && address->getOpcode() == UO_AddrOf)
            out.insert(named(address->getSubExpr()));
        return true;
    });
    // The region joins the parts of a variable with one operator.
    std::map<const VarDecl*, std::set<std::string>> operations;
    for (const auto& node : m_all)
        for (const auto& each : node->reductions) operations[each.variable].insert(each.operation);
    std::vector<std::pair<loop_node*, reduction>> found;
    for (auto* node : m_outermost) {
        const auto* loop = node->loops.front().loop;
        std::set<const VarDecl*> written;
        for (const auto& each : accesses_in(node->body))
            if (each.root && each.writes && !each.memory && !out.contains(each.root)) written.insert(each.root);
        for (const auto* variable : written)
            if (const auto operation = implied_reduction(m_unit, loop, variable); !operation.empty()) {
                operations[variable].insert(operation);
                found.push_back({node, {variable, operation, true}});
            }
    }
    for (auto& [node, each] : found) {
        // As a clause on another loop says, which joins with its own operation.
        const auto& all = operations[each.variable];
        const auto plain = plain_operation(each.operation);
        if (all.size() == 2 && all.contains(plain) && all.contains(each.operation) && plain != each.operation)
            each.operation = plain;
        else if (all.size() != 1)
            continue;
        imply_reduction(*node, each);
    }
}

void loop_tree::collect_gang_arrays(const found_directive& of) {
    for (const auto& clause : of.directive->clauses)
        if (clause.name == "firstprivate" || (clause.name == "private" && !of.directive->is_combined()))
            for (const auto& entry : clause.items)
                if (const auto* variable = variable_of(of, entry);
                    variable && (holds_array(variable->getType()) || !entry.sections.empty()))
                    m_gang_arrays.insert(variable);
    std::set<const VarDecl*> shared;
    for (const auto& clause : of.directive->clauses)
        if (clause.name != "firstprivate" && clause.name != "private")
            for (const auto& entry : clause.items) shared.insert(variable_of(of, entry));
    // Those of a kernels construct are memory of the device.
    if (!m_kernels)
        for (const auto& each : accesses_in(of.body))
            if (each.root && !holds_array(each.root->getType()) && !each.root->getType()->isPointerType() &&
                !m_unit.is_declared(each.root) && !shared.contains(each.root))
                m_gang_scalars.insert(each.root);
    walk(of.body, [&](const Stmt* each) {
        if (const auto* declaration = dyn_cast<DeclStmt>(each))
            for (const auto* one : declaration->decls())
                if (const auto* variable = dyn_cast<VarDecl>(one))
                    (holds_array(variable->getType()) ? m_gang_arrays : m_gang_scalars).insert(variable);
        return true;
    });
}

bool loop_tree::is_reduced(const loop_node& node, const VarDecl* variable) {
    const auto reduces = [&](const loop_node& one) {
        return std::any_of(one.reductions.begin(), one.reductions.end(),
                           [&](const auto& each) { return each.variable == variable; });
    };
    const std::function<bool(const loop_node&)> reduces_inside = [&](const loop_node& one) {
        return reduces(one) ||
               std::any_of(one.inner.begin(), one.inner.end(), [&](const auto* each) { return reduces_inside(*each); });
    };
    for (const auto* around = node.parent; around; around = around->parent)
        if (reduces(*around)) return true;
    return reduces_inside(node);
}

/// True if the statement may go on elsewhere than after it: what follows it is not sure to run.
static bool may_jump(const unit& unit, const Stmt* statement, bool in_loop = false, bool in_switch = false) {
    if (!statement) return false;
    if (isa<ReturnStmt>(statement) || (isa<ContinueStmt>(statement) && !in_loop) ||
        (isa<BreakStmt>(statement) && !in_loop && !in_switch))
        return true;
    // A directive is a `while` around its statement.
    in_loop = in_loop || isa<ForStmt, DoStmt>(statement) ||
              (isa<WhileStmt>(statement) && !directive_of(unit, statement));
    in_switch = in_switch || isa<SwitchStmt>(statement);
    const auto children = statement->children();
    return std::any_of(children.begin(), children.end(),
                       [&](const auto* each) { return may_jump(unit, each, in_loop, in_switch); });
}

static bool has_case(const Stmt* statement) {
    bool found = false;
    walk(statement, [&](const Stmt* each) {
        found |= isa<SwitchCase>(each);
        return !found;
    });
    return found;
}

loop_tree::use loop_tree::first_use(const Stmt* statement, const VarDecl* variable) const {
    if (!statement) return use::none;
    const auto in_turn = [&](std::initializer_list<const Stmt*> parts) {
        for (const auto* each : parts)
            if (const auto found = first_use(each, variable); found != use::none) return found;
        return use::none;
    };
    // What may not run gives no value for sure.
    const auto perhaps = [](use found) { return found == use::read ? found : use::none; };
    if (const auto of = directive_of(m_unit, statement)) {
        for (const auto& clause : of.directive->clauses)
            for (const auto& entry : clause.items)
                if (variable_of(of, entry) == variable) return clause.name == "private" ? use::none : use::read;
        const auto& name = of.directive->name;
        const auto found = first_use(of.body, variable);
        // Private: the loops' variables, and what a construct that is no kernels construct writes.
        std::string why;
        const auto* loop = dyn_cast_or_null<ForStmt>(of.body);
        const auto counted = loop && name.ends_with("loop") ? count(loop, why) : std::nullopt;
        if (counted && counted->variable == variable) return use::none;
        return name.starts_with("parallel") || name.starts_with("serial") ? perhaps(found) : found;
    }
    if (const auto* hinted = dyn_cast<AttributedStmt>(statement)) return first_use(hinted->getSubStmt(), variable);
    if (const auto* block = dyn_cast<CompoundStmt>(statement)) {
        bool written = false, jumps = false;
        auto of_all = use::none;
        for (const auto* each : block->body()) {
            if (has_case(each)) written = false; // where the old value may come in
            if (written) continue;
            const auto found = first_use(each, variable);
            if (found == use::read) return found;
            written = found == use::written;
            if (written && !jumps) of_all = found;
            jumps = jumps || may_jump(m_unit, each);
        }
        return of_all;
    }
    if (const auto* label = dyn_cast<SwitchCase>(statement)) return first_use(label->getSubStmt(), variable);
    if (const auto* choice = dyn_cast<IfStmt>(statement)) {
        if (const auto found = first_use(choice->getCond(), variable); found != use::none) return found;
        const auto one = first_use(choice->getThen(), variable), other = first_use(choice->getElse(), variable);
        return one == use::read || other == use::read ? use::read : one == other ? one : use::none;
    }
    if (const auto* loop = dyn_cast<ForStmt>(statement)) {
        if (const auto* node = find(loop))
            for (const auto& each : node->loops)
                if (each.variable == variable) return node->leaves_value ? use::written : use::none;
        const auto found = in_turn({loop->getInit(), loop->getCond()});
        return found != use::none ? found : perhaps(in_turn({loop->getBody(), loop->getInc()}));
    }
    if (const auto* loop = dyn_cast<WhileStmt>(statement)) {
        const auto found = first_use(loop->getCond(), variable);
        return found != use::none ? found : perhaps(first_use(loop->getBody(), variable));
    }
    if (const auto* loop = dyn_cast<DoStmt>(statement)) return in_turn({loop->getBody(), loop->getCond()});
    if (const auto* choice = dyn_cast<SwitchStmt>(statement)) {
        const auto found = first_use(choice->getCond(), variable);
        return found != use::none ? found : perhaps(first_use(choice->getBody(), variable));
    }
    for (const auto& each : accesses_in(statement))
        if (each.reads && each.root && m_pointees.reached(each.root).contains(variable)) return use::read;
    if (const auto* assignment = dyn_cast<BinaryOperator>(statement);
        assignment && assignment->getOpcode() == BO_Assign)
        if (const auto* name = dyn_cast<DeclRefExpr>(assignment->getLHS()->IgnoreParens());
            name && name->getDecl() == variable)
            return use::written;
    return use::none;
}

loop_tree::use loop_tree::use_after(const Stmt* statement, const Stmt* target, const VarDecl* variable) const {
    const auto has = [&](const Stmt* part) {
        bool found = false;
        walk(part, [&](const Stmt* each) {
            found |= each == target;
            return !found;
        });
        return found;
    };
    if (statement == target) return use::none;
    if (const auto of = directive_of(m_unit, statement)) return use_after(of.body, target, variable);
    bool passed = false, written = false, declared = false, jumps = false;
    for (const auto* child : statement->children()) {
        if (!child || written) continue;
        if (const auto* declaration = dyn_cast<DeclStmt>(child))
            for (const auto* one : declaration->decls()) declared |= one == variable;
        if (passed && isa<CompoundStmt>(statement)) {
            const auto found = first_use(child, variable);
            written = found == use::written;
            if (found == use::read || (written && !jumps)) return found;
            jumps = jumps || may_jump(m_unit, child);
        } else if (!passed && has(child)) {
            if (const auto found = use_after(child, target, variable); found != use::none) return found;
            passed = true;
            jumps = may_jump(m_unit, child);
        }
    }
    // Another round, unless that has a variable of its own.
    if (passed && !declared && isa<ForStmt, WhileStmt, DoStmt>(statement))
        for (const auto* child : statement->children())
            if (child && first_use(child, variable) == use::read) return use::read;
    return declared ? use::written : use::none;
}

const VarDecl* loop_tree::written_gang_variable(const loop_node& node) const {
    auto arrays = m_gang_arrays, scalars = m_gang_scalars;
    for (const auto* around = node.parent; around; around = around->parent)
        for (const auto* entry : around->privates)
            if (const auto* variable = variable_of(around->of, *entry))
                (holds_array(variable->getType()) || !entry->sections.empty() ? arrays : scalars).insert(variable);
    const auto own = [&](const VarDecl* variable) {
        arrays.erase(variable);
        scalars.erase(variable);
    };
    for (const auto* entry : node.privates) own(variable_of(node.of, *entry));
    for (const auto& each : node.loops) own(each.variable);
    walk(node.body, [&](const Stmt* each) {
        if (const auto* declaration = dyn_cast<DeclStmt>(each))
            for (const auto* one : declaration->decls())
                if (const auto* variable = dyn_cast<VarDecl>(one)) own(variable);
        return true;
    });
    for (const auto& each : accesses_in(node.body)) {
        if (!each.writes || !each.root) continue;
        for (const auto* variable : m_pointees.reached(each.root)) {
            if (each.memory && arrays.contains(variable)) return variable;
            if (scalars.contains(variable) && (each.memory || variable == each.root) && !is_reduced(node, variable) &&
                is_read_later(node, variable))
                return variable;
        }
    }
    return nullptr;
}

/// True if all that the loop writes belongs to the gang or to a thread.
bool loop_tree::writes_only_own(const loop_node& node) const {
    const auto accesses = accesses_in(node.body);
    return std::all_of(accesses.begin(), accesses.end(), [&](const auto& each) {
        if (!each.writes || !each.memory) return true;
        if (!each.root) return false;
        const auto all = m_pointees.reached(each.root);
        return std::any_of(all.begin(), all.end(), [&](const auto* variable) {
            return m_gang_arrays.contains(variable) || m_gang_scalars.contains(variable);
        });
    });
}

void loop_tree::assign(loop_node& node) {
    const bool given = node.is_spread();
    if (m_serial) {
        node.gang = node.worker = node.vector = false;
        node.reason = "in a serial construct";
    } else if (node.reduces_array || (node.parent && node.parent->reduces_array)) {
        node.reduces_array = true;
        node.independent = node.gang = node.worker = node.vector = false;
        node.reason = "it reduces an array";
    } else if (node.sequential) {
        node.reason = "'seq' says so";
    } else if (!node.independent) {
        node.reason = dependence(m_unit, node);
        if (const auto* left = node.reason.empty() ? value_left_inside(node) : nullptr)
            node.reason = "'" + left->getNameAsString() + "' is read after it";
        if (node.reason.empty()) {
            node.independent = node.proved = true;
        } else {
            node.gang = node.worker = node.vector = false;
            std::erase_if(node.reductions, [](const auto& each) { return each.found; });
        }
    }
    const auto* const written = written_gang_variable(node);
    if (written) {
        node.keeps_lanes = true;
        node.worker = node.vector = false;
        if (node.reason.empty()) node.reason = "it writes '" + written->getNameAsString() + "', which its gang has";
    }
    // Gangs that shared it would leave each with a part of what follows it.
    const bool of_each_gang = written && (given || (writes_only_own(node) && is_read_later(node, written)));
    if (node.of && node.independent && !m_serial)
        if (const auto* leaves = leaving(m_unit, node.body); leaves && !isa<GotoStmt>(leaves)) // refused by its name
            m_unit.error(leaves->getBeginLoc(),
                         "this leaves a loop whose iterations may run side by side; 'seq' on the "
                         "loop keeps them in order");
    if (node.parent && !node.parent->is_spread()) node.repeated = true;
    if (node.parent && node.parent->repeated) node.repeated = true;
    if (m_kernels && node.repeated) node.gang = false;
    if (!node.repeated && node.independent && !m_serial && !node.sequential && !node.is_spread()) {
        const bool free_gang = !node.any_outer(&loop_node::gang) && !node.any_inner(&loop_node::gang) &&
                               !node.any_outer(&loop_node::worker) && !node.any_outer(&loop_node::vector);
        if (free_gang && !of_each_gang) node.gang = true;
    }
    for (auto* each : node.inner) assign(*each);
}

/// A loop takes the levels below its own that no loop inside it takes.
void loop_tree::extend(loop_node& node) {
    for (auto* each : node.inner) extend(*each);
    if (!node.independent || m_serial || node.sequential || node.keeps_lanes) return;
    if (!node.any_inner(&loop_node::vector) && !node.any_outer(&loop_node::vector) &&
        !node.any_inner(&loop_node::worker)) {
        // What a loop outside of it would not leave free is seen from there: it takes the lanes only where nobody
        // inside did.
        node.vector = true;
    }
    if (!node.is_spread() && node.reason.empty()) node.reason = "all levels are taken by loops around it and in it";
}

} // namespace directive
