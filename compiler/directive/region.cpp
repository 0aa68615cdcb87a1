// SPDX-License-Identifier: Apache-2.0
#include "region.hpp"

#include "extent.hpp"

#include <clang/AST/Decl.h>

#include <algorithm>
#include <set>

namespace directive {

using namespace clang;

std::string data_kind(const std::string& clause) {
    static const std::map<std::string, std::string> kinds = {
        {"copy", "COPY"},       {"copyin", "COPYIN"},       {"copyout", "COPYOUT"},     {"create", "CREATE"},
        {"present", "PRESENT"}, {"no_create", "NO_CREATE"}, {"deviceptr", "DEVICEPTR"}, {"device_resident", "CREATE"}};
    const auto found = kinds.find(clause);
    return found == kinds.end() ? "" : found->second;
}

namespace {

/// Of a parameter `a[n]`, which is a pointer: the bytes that its declaration speaks of; nothing if it does not say, or
/// if it or `n` may have another value by now.
std::string declared_bytes(const unit& unit, const VarDecl* variable) {
    const auto* parameter = dyn_cast_or_null<ParmVarDecl>(variable);
    const auto* array = parameter ? unit.context.getAsArrayType(parameter->getOriginalType()) : nullptr;
    const auto* function = array ? dyn_cast<FunctionDecl>(parameter->getDeclContext()) : nullptr;
    if (!function || !function->getBody()) return {};
    const auto changes = accesses_in(function->getBody());
    for (const auto& change : changes)
        if (change.root == variable && change.writes && !change.memory) return {};
    const std::string each = " * sizeof((" + parameter->getNameAsString() + ")[0])";
    if (const auto* constant = dyn_cast<ConstantArrayType>(array))
        return std::to_string(constant->getSize().getZExtValue()) + "ul" + each;
    const auto* variable_array = dyn_cast<VariableArrayType>(array);
    const auto* size = variable_array ? variable_array->getSizeExpr() : nullptr;
    if (!size || size->HasSideEffects(unit.context)) return {};
    const auto used = accesses_in(size);
    for (const auto& change : changes)
        for (const auto& use : used)
            if (use.memory || (change.writes && change.root == use.root)) return {};
    std::string text;
    llvm::raw_string_ostream out(text);
    size->printPretty(out, nullptr, unit.context.getPrintingPolicy());
    return "(unsigned long)(" + out.str() + ")" + each;
}

/// `a[0:n][0:m]` of an array of pointers.
data_record record_of_rows(const unit& unit, const item& entry, QualType type, data_record record) {
    const auto pointers = "(" + entry.base.text + ")";
    const auto& outer = entry.sections.front();
    const auto& inner = entry.sections.back();
    const auto low_of = [](const section& part) { return part.low ? "(" + part.low.text + ")" : std::string("0"); };
    const auto length_of = [](const section& part) {
        return part.colon ? "(" + part.length.text + ")" : std::string("1");
    };
    auto length = length_of(outer);
    if (outer.colon && !outer.length && type->isArrayType())
        length = "(sizeof" + pointers + " / sizeof(void *) - " + low_of(outer) + ")";
    else if ((outer.colon && !outer.length) || (inner.colon && !inner.length))
        unit.error(entry.location, "the section of the pointer '" + entry.base.text + "' needs a length");
    record.base = "(void *)" + pointers;
    record.host = "(void *)&" + pointers + "[" + low_of(outer) + "]";
    record.bytes = length + " * sizeof(void *)";
    const auto size = " * sizeof(" + pointers + "[0][0])";
    record.row_first = "(long)(" + low_of(inner) + size + ")";
    record.row_bytes = length_of(inner) + size;
    return record;
}

/// True if the body gives the variable a value, and uses it for nothing but its own next value: `x += y`, `x = max(x,
/// y)`.
bool only_updates_itself(const Stmt* body, const VarDecl* variable) {
    const auto uses_in = [&](const Stmt* part) {
        int uses = 0;
        for (const auto& each : accesses_in(part)) uses += each.root == variable;
        return uses;
    };
    int updates = 0, uses_by_updates = 0;
    walk(body, [&](const Stmt* each) {
        const auto* assignment = dyn_cast<BinaryOperator>(each);
        if (!assignment || !assignment->isAssignmentOp()) return true;
        const auto* target = dyn_cast<DeclRefExpr>(assignment->getLHS()->IgnoreParenImpCasts());
        if (!target || target->getDecl() != variable) return true;
        if (!assignment->isCompoundAssignmentOp() && uses_in(assignment->getRHS()) == 0) return true;
        ++updates;
        uses_by_updates += uses_in(assignment);
        return false;
    });
    return updates > 0 && uses_by_updates == uses_in(body);
}

} // namespace

std::string region::definitions() const {
    std::vector<std::string> texts;
    for (const auto& each : data) texts.insert(texts.end(), {each.host, each.bytes});
    return values.definitions(texts);
}

data_record record_of(const unit& unit, const found_directive& of, const item& entry, const std::string& kind) {
    data_record record{kind, "", "", "", entry.base.text};
    if (entry.modifier == "zero" && (kind == "COPYOUT" || kind == "CREATE"))
        record.kind += "_ZERO";
    else if (!entry.modifier.empty() && entry.modifier != "readonly" && kind != "REDUCTION")
        unit.error(entry.location, "the clause takes no modifier '" + entry.modifier + "'");
    const auto& name = entry.base.text;
    const auto* tree = tree_of(of, entry.base);
    auto type = tree ? tree->IgnoreParenImpCasts()->getType() : QualType();
    if (type.isNull()) return record;
    const auto* variable = variable_of(of, entry);
    // A parameter `a[n]` is a pointer.
    if (variable) type = variable->getType();
    const bool pointer = type->isPointerType();
    if (entry.sections.empty()) {
        if (pointer) {
            record.host = record.base = "(void *)(" + name + ")";
            record.bytes = "0";
            if (kind == "COPY" || kind == "COPYIN" || kind == "COPYOUT" || kind == "CREATE") {
                const auto declared = declared_bytes(unit, variable);
                record.parameter = !declared.empty();
                if (record.parameter)
                    record.bytes = declared;
                else
                    record.kind = "PRESENT";
            }
        } else {
            record.host = record.base = std::string("(void *)") + (type->isArrayType() ? "(" : "&(") + name + ")";
            record.bytes = "sizeof(" + name + ")";
        }
        return record;
    }
    if (!pointer && !type->isArrayType()) {
        unit.error(entry.location, "'" + name + "' is no array and no pointer, and has no section");
        return record;
    }
    if (has_rows(type) && entry.sections.size() == 2) return record_of_rows(unit, entry, type, record);
    std::string first = "(" + name + ")", row = first, dimensions;
    auto at = type;
    for (const auto& part : entry.sections) {
        if (const auto* array = unit.context.getAsArrayType(at))
            at = array->getElementType();
        else if (at->isPointerType()) {
            if (at.getCanonicalType() != type.getCanonicalType() || pointer != (&part == &entry.sections.front())) {
                unit.error(entry.location, "not supported: a section through a pointer inside '" + name +
                                               "'; give each of its rows, or one block of memory");
                return record;
            }
            at = at->getPointeeType();
        } else {
            unit.error(entry.location, "'" + name + "' has fewer dimensions than sections");
            return record;
        }
        const bool outermost_pointer = &part == &entry.sections.front() && pointer;
        const auto low = part.low ? part.low.text : std::string("0");
        std::string length = "1";
        if (part.colon && part.length)
            length = "(" + part.length.text + ")";
        else if (part.colon && !outermost_pointer)
            length = "(sizeof(" + row + ") / sizeof(" + row + "[0]) - (" + low + "))";
        else if (part.colon) {
            unit.error(entry.location, "the section of the pointer '" + name + "' needs a length");
            return record;
        }
        first += "[" + low + "]";
        row += "[0]";
        dimensions += (dimensions.empty() ? "{" : ", {") + length + ", sizeof(" + row + ")}";
    }
    record.base = "(void *)(" + name + ")";
    record.host = "(void *)&" + first;
    if (entry.sections.size() == 1) {
        const auto& part = entry.sections.front();
        std::string length = "1";
        if (part.colon && part.length)
            length = "(" + part.length.text + ")";
        else if (part.colon)
            length = "(sizeof(" + name + ") / sizeof((" + name + ")[0]) - (" + (part.low ? part.low.text : "0") + "))";
        record.bytes = length + " * sizeof((" + name + ")[0])";
    } else {
        record.dimension_count = entry.sections.size();
        record.dimensions = "(const struct causeway_acc_dimension[]){" + dimensions + "}";
        record.bytes = "causeway_acc_extent(" + record.dimensions + ", " + std::to_string(record.dimension_count) + ")";
    }
    return record;
}

namespace {

class analyser {
  public:
    analyser(const unit& unit, const found_directive& of, const loop_tree& tree,
             const std::vector<visible_data>& visible)
        : m_unit(unit), m_of(of), m_tree(tree), m_visible(visible) {}

    region analyse() {
        m_region.of = m_of;
        m_region.id = m_of.directive->id;
        m_region.values = host_values("__acc_limit" + std::to_string(m_region.id) + "_");
        m_region.kernels = m_of.directive->name.starts_with("kernels");
        m_region.serial = m_of.directive->name.starts_with("serial");
        if (const auto* clause = m_of.directive->find("default")) {
            m_default = clause->items.empty() ? "" : clause->items.front().word;
            if (m_default != "none" && m_default != "present")
                m_unit.error(clause->location, "'default' takes 'none' or 'present'");
        }
        read_clauses();
        for (const auto& each : m_tree.all()) m_region.loops.push_back(each.get());
        find_used(m_of.body, {});
        for (const auto* node : m_region.loops)
            if (node->tile)
                for (const auto& size : node->tile->items)
                    if (const auto* tree = tree_of(node->of, size.base)) find_used(tree, {});
        if (m_of.directive->is_combined())
            if (const auto* node = m_tree.find(m_of.body)) m_used.erase(node->loops.front().variable);
        note_writes();
        note_writes_through_pointers();
        // Pointers last: how far they are used may depend on the others.
        for (const bool pointers : {false, true})
            for (const auto* variable : m_order)
                if (m_used.contains(variable) && variable->getType()->isPointerType() == pointers)
                    add_implicit(variable);
        // In a data clause of the construct, and reduced by a loop: each thread has one meanwhile.
        for (auto& each : m_region.captures)
            if (each.how == role::shared && is_scalar(each.variable->getType()))
                if (const auto operation = inner_reduction(each.variable); !operation.empty()) {
                    each.how = role::reduction;
                    each.operation = operation;
                    each.by_gangs = reduced_by_gangs(each.variable);
                }
        return std::move(m_region);
    }

  private:
    const unit& m_unit;
    const found_directive& m_of;
    const loop_tree& m_tree;
    const std::vector<visible_data>& m_visible;
    region m_region;
    std::string m_default;
    std::set<const VarDecl*> m_used, m_written, m_assigned;
    std::vector<const VarDecl*> m_order;
    std::set<const VarDecl*> m_declared;
    std::unique_ptr<extents> m_extents;
    std::set<const VarDecl*> m_reduced;      // arrays and sections in a clause reduction
    std::set<const VarDecl*> m_own_pointers; // in a clause firstprivate, without a section

    capture* captured(const VarDecl* variable) {
        for (auto& each : m_region.captures)
            if (each.variable == variable) return &each;
        return nullptr;
    }

    /// True if a loop that is spread over gangs reduces the variable.
    bool reduced_by_gangs(const VarDecl* variable) const {
        for (const auto& node : m_tree.all())
            for (const auto& each : node->reductions)
                if (each.variable == variable && node->gang) return true;
        return false;
    }

    bool is_reduced_by_a_clause(const VarDecl* variable) const {
        for (const auto& node : m_tree.all())
            for (const auto& each : node->reductions)
                if (each.variable == variable && !each.found) return true;
        return false;
    }

    static role memory_role(const VarDecl* variable) {
        const auto type = variable->getType();
        return type->isPointerType() || type->isArrayType() ? role::buffer : role::shared;
    }

    std::string own_record(std::size_t at) const {
        return "&__acc_data" + std::to_string(m_region.id) + "[" + std::to_string(at) + "]";
    }

    void read_clauses() {
        // What a clause reduces may be in a data clause as well, before or behind it.
        for (const bool reductions : {false, true})
            for (const auto& clause : m_of.directive->clauses)
                if ((clause.name == "reduction") == reductions)
                    for (const auto& entry : clause.items) read_entry(clause, entry);
    }

    void read_entry(const clause& clause, const item& entry) {
        const bool loop_private = m_of.directive->is_combined();
        const auto kind = data_kind(clause.name);
        const bool scoped = clause.name == "private" || clause.name == "firstprivate" || clause.name == "reduction";
        if (kind.empty() && !scoped) return;
        const auto* variable = variable_of(m_of, entry);
        if (!variable || (scoped && structure_of(variable))) {
            m_unit.error(entry.location,
                         "not supported: '" + entry.base.text + "' in the clause '" + clause.name + "' is no variable");
            return;
        }
        const auto type = variable->getType();
        // The loop reduces it in order: memory of the device, as in a clause copy.
        const bool reduces_elements = clause.name == "reduction" && loop_private &&
                                      (type->isArrayType() || (type->isPointerType() && !entry.sections.empty()));
        if (const auto* before = captured(variable)) {
            const bool mapped = before->how == role::buffer && !before->copied && !m_reduced.contains(variable);
            if (reduces_elements && mapped) {
                m_reduced.insert(variable);
                return;
            }
            if (clause.name != "reduction" || before->how != role::shared) {
                m_unit.error(entry.location, "'" + written_name(variable) + "' is in two clauses of this directive");
                return;
            }
        }
        if (reduces_elements) {
            if (entry.sections.empty()) return;
            m_reduced.insert(variable);
            m_region.captures.push_back({variable, role::buffer, "", own_record(m_region.data.size())});
            m_region.data.push_back(
                record_of(m_unit, m_of, {"", "", entry.base, entry.sections, entry.location}, "COPY"));
        } else if (clause.name == "reduction") {
            add_reduction(variable, entry.modifier, entry.location);
        } else if (clause.name == "private") {
            if (!loop_private) m_region.captures.push_back(own(m_of, entry, variable));
        } else if (clause.name == "firstprivate") {
            add_first_private(variable, entry);
        } else {
            auto record = record_of(m_unit, m_of, entry, kind);
            m_region.captures.push_back({variable, memory_role(variable), "", own_record(m_region.data.size())});
            m_region.data.push_back(std::move(record));
        }
    }

    void add_first_private(const VarDecl* variable, const item& entry) {
        if (variable->getType()->isPointerType() && !entry.sections.empty()) {
            // Threads share what none of them changes.
            const auto accesses = accesses_in(m_of.body);
            capture made{variable, role::buffer, "", ""};
            if (std::any_of(accesses.begin(), accesses.end(),
                            [&](const auto& each) { return each.root == variable && each.writes; })) {
                made = own(m_of, entry, variable);
                made.begins = true;
            }
            made.record = own_record(m_region.data.size());
            m_region.captures.push_back(made);
            m_region.data.push_back(record_of(m_unit, m_of, entry, "FIRSTPRIVATE"));
            return;
        }
        // Each thread has its own pointer to the device's elements anyway.
        if (variable->getType()->isPointerType()) {
            m_own_pointers.insert(variable);
            return;
        }
        if (!variable->getType()->isArrayType()) {
            m_region.captures.push_back({variable, role::value, "", ""});
            return;
        }
        capture made{variable, role::buffer, "", own_record(m_region.data.size())};
        made.copied = true;
        m_region.captures.push_back(made);
        auto whole = entry;
        whole.sections.clear();
        m_region.data.push_back(record_of(m_unit, m_of, whole, "FIRSTPRIVATE"));
    }

    void add_reduction(const VarDecl* variable, const std::string& operation, SourceLocation location) {
        static const std::set<std::string> operations = {"+", "*", "max", "min", "&", "|", "^", "&&", "||", "-"};
        if (!operations.contains(operation)) m_unit.error(location, "OpenACC has no reduction '" + operation + "'");
        if (!is_scalar(variable->getType())) {
            m_unit.error(location, "not supported: a reduction of '" + variable->getNameAsString() +
                                       "', which is no scalar variable");
            return;
        }
        if (auto* before = captured(variable)) {
            before->how = role::reduction;
            before->operation = operation;
            before->by_gangs = !m_of.directive->is_combined() || reduced_by_gangs(variable);
            return;
        }
        m_region.captures.push_back({variable, role::reduction, operation, record_for(variable, "COPY")});
        m_region.captures.back().by_gangs = !m_of.directive->is_combined() || reduced_by_gangs(variable);
    }

    /// The clause in which the variable is: of a data construct around this one, or a new one of this construct.
    std::string record_for(const VarDecl* variable, const std::string& kind) {
        for (auto each = m_visible.rbegin(); each != m_visible.rend(); ++each)
            if (each->variable == variable && each->sure) return each->record;
        const auto name = variable->getNameAsString();
        const bool array = variable->getType()->isArrayType();
        const std::string address = std::string("(void *)") + (array ? "" : "&") + name;
        const bool constant = m_unit.context.getBaseElementType(variable->getType()).isConstQualified();
        m_region.data.push_back(
            {constant && kind == "COPY" ? "COPYIN" : kind, address, address, "sizeof(" + name + ")", name});
        return own_record(m_region.data.size() - 1);
    }

    void find_used(const Stmt* statement, std::set<const VarDecl*> hidden) {
        walk(statement, [&](const Stmt* each) {
            if (const auto of = directive_of(m_unit, each); of && of.body) {
                auto inside = hidden;
                for (const auto& clause : of.directive->clauses)
                    if (clause.name == "private")
                        for (const auto& entry : clause.items)
                            if (const auto* variable = variable_of(of, entry)) inside.insert(variable);
                if (const auto* node = m_tree.find(of.body))
                    for (const auto& counted : node->loops) inside.insert(counted.variable);
                find_used(of.body, inside);
                return false;
            }
            if (const auto* loop = dyn_cast<ForStmt>(each))
                if (const auto* node = m_tree.find(loop);
                    node && !node->of && !node->leaves_value && !hidden.contains(node->loops.front().variable)) {
                    auto inside = hidden;
                    for (const auto& counted : node->loops) inside.insert(counted.variable);
                    find_used(loop, inside);
                    return false;
                }
            if (const auto* declaration = dyn_cast<DeclStmt>(each))
                for (const auto* one : declaration->decls())
                    if (const auto* variable = dyn_cast<VarDecl>(one)) {
                        m_declared.insert(variable);
                        find_lengths(variable->getType(), hidden);
                    }
            if (const auto* cast = dyn_cast<CStyleCastExpr>(each)) find_lengths(cast->getType(), hidden);
            if (const auto* call = dyn_cast<CallExpr>(each); call && call->getDirectCallee())
                for (const auto& used : globals_of(call->getDirectCallee()))
                    if (m_unit.is_declared(used.variable) && m_used.insert(used.variable).second)
                        m_order.push_back(used.variable);
            if (const auto* expression = dyn_cast<Expr>(each))
                if (const auto* member = member_pointer(expression);
                    member && !m_declared.contains(structure_of(member)) && !hidden.contains(structure_of(member))) {
                    if (m_used.insert(member).second) m_order.push_back(member);
                    return false;
                }
            if (const auto* reference = dyn_cast<DeclRefExpr>(each))
                if (const auto* variable = dyn_cast<VarDecl>(reference->getDecl());
                    variable && !m_declared.contains(variable) && !hidden.contains(variable) &&
                    m_used.insert(variable).second)
                    m_order.push_back(variable);
            return true;
        });
        // Private variables of the construct's own loop.
        if (m_of.directive->is_combined() && statement == m_of.body)
            for (const auto& clause : m_of.directive->clauses)
                if (clause.name == "private")
                    for (const auto& entry : clause.items) m_used.erase(variable_of(m_of, entry));
    }

    /// Variables that are lengths of rows in the type of a pointer.
    void find_lengths(QualType type, const std::set<const VarDecl*>& hidden) {
        if (const auto* pointer = type->getAs<PointerType>()) type = pointer->getPointeeType();
        for (; const auto* array = m_unit.context.getAsArrayType(type); type = array->getElementType())
            if (const auto* given = dyn_cast<VariableArrayType>(array); given && given->getSizeExpr())
                find_used(given->getSizeExpr(), hidden);
    }

    void note_writes() {
        const pointees pointees(m_of.body);
        for (const auto& each : accesses_in(m_of.body))
            if (each.writes && each.root) {
                if (each.memory)
                    m_written.merge(pointees.reached(each.root));
                else if (!each.root->getType()->isPointerType()) // of a pointer, what it points to is asked for
                    m_written.insert(each.root);
                // A function that gets a scalar's address sets the scalar.
                if (!each.memory || is_scalar(each.root->getType())) m_assigned.insert(each.root);
            }
        for (auto& each : m_region.captures) {
            each.written = m_written.contains(each.variable);
            each.assigned = m_assigned.contains(each.variable) && each.variable->getType()->isPointerType();
        }
        // The host has read the pointer before.
        for (const auto& each : accesses_in(m_of.body))
            if (each.writes && each.root && (!each.memory || each.expression->getType()->isRecordType()))
                for (const auto* used : m_used)
                    if (const auto* structure = structure_of(used);
                        structure && structure == each.root->getCanonicalDecl())
                        m_unit.error(each.expression->getExprLoc(), "not supported: a region that changes '" +
                                                                        written_name(each.root) + "' and uses '" +
                                                                        written_name(used) + "'");
    }

    /// Scalars that `kernels` changes by a pointer, to which the function gave the scalar's address.
    void note_writes_through_pointers() {
        const FunctionDecl* function = nullptr;
        for (const auto* each : m_order)
            if (!function) function = dyn_cast<FunctionDecl>(each->getDeclContext());
        if (!m_region.kernels || !function || !function->getBody()) return;
        // What a function that got an address returns leads elsewhere, as `a = read_all(&n)`.
        std::set<const Decl*> addressed;
        walk(function->getBody(), [&](const Stmt* each) {
            const auto* unary = dyn_cast<UnaryOperator>(each);
            if (unary && unary->getOpcode() == UO_AddrOf)
                if (const auto* of = dyn_cast<DeclRefExpr>(unary->getSubExpr()->IgnoreParens()))
                    addressed.insert(of->getDecl());
            return !isa<CallExpr>(each);
        });
        const pointees pointees(function->getBody());
        for (const auto& each : accesses_in(m_of.body))
            if (each.writes && each.memory && each.root)
                for (const auto* scalar : pointees.reached(each.root))
                    if (addressed.contains(scalar) && is_scalar(scalar->getType())) {
                        m_written.insert(scalar);
                        m_assigned.insert(scalar);
                    }
    }

    /// Of a loop inside that reduces the variable, if nothing else gives it a value.
    std::string inner_reduction(const VarDecl* variable) const {
        for (const auto& node : m_tree.all())
            for (const auto& each : node->reductions)
                if (each.variable == variable && node->gang) return each.operation;
        for (const auto& node : m_tree.all())
            for (const auto& each : node->reductions)
                if (each.variable == variable) {
                    // A variable that each gang sets before the loop is the gang's.
                    std::set<const Expr*> in_loop;
                    for (const auto& use : accesses_in(node->body)) in_loop.insert(use.expression);
                    for (const auto& use : accesses_in(m_of.body))
                        if (use.root == variable && use.writes && !use.reads && !in_loop.contains(use.expression))
                            return "";
                    return each.operation;
                }
        return "";
    }

    void add_implicit(const VarDecl* variable) {
        if (captured(variable)) return;
        const auto type = variable->getType();
        const auto name = variable->getNameAsString();
        const bool written = m_written.contains(variable);
        const visible_data* clause = nullptr;
        for (const auto& each : m_visible)
            if (each.variable == variable) clause = &each;
        // Where it is not sure to hold, the region brings along what is not there.
        const bool sure = clause && clause->sure;
        capture made{variable, role::value, "", sure ? clause->record : "0", written};
        if (type->isPointerType()) {
            made.how = role::buffer;
            made.assigned = m_assigned.contains(variable);
            if (m_default == "none" && !clause && !m_own_pointers.contains(variable)) not_given(variable);
            const bool present = m_default == "present";
            if (!sure && (m_default.empty() || present || (m_default == "none" && clause))) {
                const std::string kind = present ? "IMPLICIT_PRESENT" : written ? "IMPLICIT" : "IMPLICIT_READ";
                if (const auto used = extents_of_pointers().of(variable)) {
                    const auto range = "(" + used->first + ", " + used->last + ")";
                    const auto elements = "causeway_acc_elements" + range;
                    made.record = own_record(m_region.data.size());
                    m_region.data.push_back({kind,
                                             "(causeway_acc_is_endless" + range + " ? (void *)0 : (void *)(" + name +
                                                 " + (" + elements + " > 0 ? " + used->first + " : 0)))",
                                             "(void *)" + name, elements + " * sizeof(*" + name + ")", name});
                } else if (present) {
                    // What the pointer's value leads to.
                } else if (const auto declared = declared_bytes(m_unit, variable); !declared.empty()) {
                    made.record = own_record(m_region.data.size());
                    m_region.data.push_back({kind, "(void *)" + name, "(void *)" + name, declared, name, true});
                } else {
                    made.record = own_record(m_region.data.size());
                    m_region.data.push_back({kind, "0", "(void *)" + name, "0", name});
                }
            }
        } else if (type->isArrayType()) {
            made.how = role::buffer;
            if (!clause && m_default == "none") not_given(variable);
            // The clause may have named a part.
            const bool any_part = clause && !has_rows(type);
            if (!sure)
                made.record = record_for(variable, m_default == "present" ? "PRESENT"
                                                   : any_part             ? (written ? "IMPLICIT" : "IMPLICIT_READ")
                                                                          : "COPY");
        } else if (const auto operation = is_scalar(type) ? inner_reduction(variable) : ""; !operation.empty()) {
            made.how = role::reduction;
            made.operation = operation;
            made.by_gangs = reduced_by_gangs(variable);
            if (m_default == "none" && !clause && !m_unit.is_declared(variable) && !is_reduced_by_a_clause(variable))
                not_given(variable);
            made.record = record_for(variable, "COPY");
        } else if (clause) {
            made.how = role::shared;
            if (!sure) made.record = record_for(variable, "COPY");
        } else if (m_unit.is_declared(variable)) {
            made.how = role::shared;
            made.record = record_for(variable, "COPY");
        } else if (!is_scalar(type)) {
            made.how = role::shared;
            if (m_default == "none") not_given(variable);
            made.record = record_for(variable, "COPY");
        } else if (m_region.kernels && m_assigned.contains(variable) &&
                   (!is_loop_variable(variable) || m_tree.outlives_statement(variable))) {
            made.how = role::shared;
            if (m_default == "none") not_given(variable);
            made.record = record_for(variable, "COPY");
        } else if (m_default == "none" && m_region.kernels) {
            not_given(variable);
        } else if (auto& diagnostics = m_unit.context.getDiagnostics(); !diagnostics.getIgnoreAllWarnings() &&
                                                                        !m_region.kernels &&
                                                                        only_updates_itself(m_of.body, variable)) {
            diagnostics.Report(m_of.directive->location,
                               diagnostics.getCustomDiagID(DiagnosticsEngine::Warning,
                                                           "'%0' is in no clause, and so firstprivate: what the region "
                                                           "makes of it is lost; 'reduction' on the loop keeps it"))
                << name;
        }
        m_region.captures.push_back(made);
    }

    /// Once all that are no pointers are captured.
    extents& extents_of_pointers() {
        const auto is_value = [this](const VarDecl* used) {
            const auto* found = captured(used);
            return found && found->how == role::value;
        };
        if (!m_extents) m_extents = std::make_unique<extents>(m_unit, m_of.body, is_value, m_region.values);
        return *m_extents;
    }

    bool is_loop_variable(const VarDecl* variable) const {
        bool found = false;
        walk(m_of.body, [&](const Stmt* each) {
            std::string why;
            if (const auto* loop = dyn_cast<ForStmt>(each))
                if (const auto counted = count(loop, why); counted && counted->variable == variable) found = true;
            return true;
        });
        return found;
    }

    void not_given(const VarDecl* variable) {
        m_unit.error(m_of.directive->location,
                     "'" + written_name(variable) + "' is in no data clause, and 'default(none)' asks for one");
        m_unit.note(variable->getLocation(), "declared here");
    }

    capture own(const found_directive& of, const item& entry, const VarDecl* variable) const;
};

capture analyser::own(const found_directive&, const item& entry, const VarDecl* variable) const {
    capture made{variable, role::own, "", ""};
    const auto type = variable->getType();
    if (has_rows(type) && !entry.sections.empty())
        m_unit.error(entry.location, "not supported: for each thread a copy of what the pointers in '" +
                                         entry.base.text + "' point to");
    if (type->isPointerType() && entry.sections.empty()) return made;
    if (type->isPointerType() || type->isVariablyModifiedType()) {
        made.own_array = true;
        const auto record = record_of(m_unit, m_of, entry, "CREATE");
        made.bytes = record.bytes;
        made.low = entry.sections.empty() || !entry.sections.front().low ? "0" : entry.sections.front().low.text;
    }
    return made;
}

} // namespace

region analyse(const unit& unit, const found_directive& of, const loop_tree& tree,
               const std::vector<visible_data>& visible) {
    return analyser(unit, of, tree, visible).analyse();
}

} // namespace directive
