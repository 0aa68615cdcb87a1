// SPDX-License-Identifier: Apache-2.0
// Functions, and statements outside of loops that are spread.
#include "kernel_writer.hpp"

#include "atomic.hpp"

#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>
#include <clang/AST/DeclCXX.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>
#include <cstdint>

namespace directive {

using namespace clang;

void kernel_writer::functions() {
    for (auto called = m_print.take_called(); !called.empty(); called = m_print.take_called())
        for (const auto& each : called) {
            if (!m_program.known_functions.insert(each.name).second) continue;
            if (each.function->hasBody()) {
                write_function(each);
            } else {
                m_program.prototypes += head_of(each) + ";\n";
                m_program.needed.insert(each.name);
            }
        }
}

std::string kernel_writer::head_of(const expression_printer::called& called) {
    const auto location = called.function->getLocation();
    std::string head = m_program.types.declare(called.function->getReturnType(), called.name, location) + "(";
    unsigned at = 0;
    for (const auto* parameter : called.function->parameters()) {
        auto type = parameter->getType().getUnqualifiedType();
        if (has_rows(type)) {
            const auto name = identifier(parameter->getNameAsString());
            m_print.names()[parameter] = {name, false, false, true, false, true};
            head += std::string(at++ ? ", " : "") + "__global const long *" + name +
                    ", __global const char *acc_rows_" + name;
            continue;
        }
        const auto space = at < called.spaces.size() ? called.spaces[at] : "";
        if (const auto* pointer = type.getCanonicalType()->getAs<PointerType>()) {
            m_print.set_space(parameter, space);
            auto element = pointer->getPointeeType();
            if (element->isArrayType()) // rows: a pointer to elements
                while (const auto* array = m_unit.context.getAsArrayType(element)) element = array->getElementType();
            type = m_unit.context.getPointerType(element);
        }
        head += (at++ ? ", " : "") +
                m_program.types.declare(type, identifier(parameter->getNameAsString()), location, space);
    }
    for (const auto* global : called.globals) {
        const auto name = identifier(global->getNameAsString());
        const bool memory = global->getType()->isPointerType() || global->getType()->isArrayType();
        const auto element = (memory ? element_of(global) : global->getType()).getUnqualifiedType();
        head += (at++ ? ", __global " : "__global ") + m_program.types.name(element, location) + " *" +
                (memory ? name : "acc_at_" + name);
    }
    return head + (at == 0 ? "void)" : ")");
}

/// Constant arrays and structures outside of functions that the function uses. As constant tables inside of functions
/// they become variables of the thread, if no address of them gets out.
std::set<const VarDecl*> kernel_writer::constant_tables(const FunctionDecl* function) const {
    std::set<const VarDecl*> all;
    if (function->getReturnType()->isPointerType()) return all;
    walk(function->getBody(), [&](const Stmt* each) {
        const auto* reference = dyn_cast<DeclRefExpr>(each);
        const auto* variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
        if (variable && variable->isFileVarDecl() && !is_scalar(variable->getType()) &&
            !variable->getType()->isPointerType() && variable->getAnyInitializer() && !m_unit.is_declared(variable) &&
            m_unit.context.getBaseElementType(variable->getType()).isConstQualified())
            all.insert(variable);
        return true;
    });
    return all;
}

void kernel_writer::write_function(const expression_printer::called& called) {
    auto head = head_of(called);
    std::string body;
    auto* const before = std::exchange(m_out, &body);
    m_in_function = true;
    m_indent = 1;
    const auto* block = cast<CompoundStmt>(called.function->getBody());
    const auto outside = std::exchange(m_pointees, pointees(block));
    const auto names = m_print.names();
    for (const auto* table : constant_tables(called.function)) {
        const auto name = identifier(table->getNameAsString());
        line(m_program.types.declare(table->getType(), name, table->getLocation(), "") + " = " +
             m_print.print(table->getAnyInitializer()) + ";");
        m_print.names()[table] = naming{name};
    }
    for (const auto* each : block->body()) statement(each, {true, true, false, true});
    m_print.names() = names;
    m_in_function = false;
    m_out = before;
    m_pointees = outside;
    functions();
    if (!m_program.exported.contains(called.name)) head.insert(0, "static inline ");
    m_program.prototypes += head + ";\n";
    m_program.functions += head + " {\n" + body + "}\n";
}

void kernel_writer::give_up_levels(const position& at) {
    if (!m_one_worker && m_any_worker && at.workers)
        m_one_worker = m_again = true;
    else if (!m_one_lane)
        m_one_lane = m_again = true;
}

void kernel_writer::give_up_waiting(const position& at) {
    if (lanes_wait(at)) m_one_lane = m_again = true;
    if (workers_wait(at)) m_one_worker = m_again = true;
}

std::string kernel_writer::value(const Expr* expression, const position& at) {
    const auto effects = expression ? effects_of(expression) : kernel_writer::effects{};
    if (effects.memory && effects.reads_back) give_up_waiting(at);
    return expression ? m_print.print(expression) : "";
}

namespace {

bool calls_printf(const Stmt* statement) {
    std::set<const FunctionDecl*> known;
    const auto calls = [&](const auto& self, const Stmt* within) -> bool {
        bool found = false;
        walk(within, [&](const Stmt* each) {
            const auto* call = dyn_cast<CallExpr>(each);
            const auto* function = call ? call->getDirectCallee() : nullptr;
            if (!function || found) return !found;
            const FunctionDecl* defined = nullptr;
            const auto* body = function->getBody(defined);
            found = function->getDeclName().isIdentifier() && function->getName() == "printf";
            if (!found && body && known.insert(defined).second) found = self(self, body);
            return !found;
        });
        return found;
    };
    return calls(calls, statement);
}

} // namespace

kernel_writer::effects kernel_writer::effects_of(const Stmt* statement) const {
    effects found;
    for (const auto& each : accesses_in(statement)) {
        if (!each.writes) continue;
        bool device = each.memory;
        if (each.root) {
            const auto named = m_print.names().find(each.root);
            const bool known = named != m_print.names().end();
            device = known ? named->second.on_device && !named->second.own
                           : (each.memory && each.root->getType()->isPointerType() &&
                              !m_print.space_of(each.expression).empty());
            if (known && each.root->getType()->isPointerType() && !each.memory) device = false;
        }
        if (!device) {
            if (each.memory)
                found.changed.merge(m_pointees.reached(each.root));
            else
                found.changed.insert(each.root);
            continue;
        }
        found.memory = true;
        const auto is_read = [&](const auto* variable) {
            return m_read.contains(variable) || m_written_by_lanes.contains(variable);
        };
        const auto all = m_pointees.reached(each.root);
        if (each.reads || m_unknown_reads || m_read.contains(nullptr) || std::any_of(all.begin(), all.end(), is_read))
            found.reads_back = true;
    }
    // What is printed stands in the output once.
    if (calls_printf(statement)) found.memory = found.reads_back = true;
    return found;
}

std::string kernel_writer::first_thread(const position& at) const {
    std::string who;
    if (lanes_wait(at)) who = "get_local_id(0) == 0";
    if (workers_wait(at)) who += std::string(who.empty() ? "" : " && ") + "get_local_id(1) == 0";
    return who;
}

std::optional<std::string> kernel_writer::any_order(const Expr* expression) {
    const auto* update = dyn_cast<CompoundAssignOperator>(expression->IgnoreParens());
    if (!update || (update->getOpcode() != BO_AddAssign && update->getOpcode() != BO_SubAssign &&
                    update->getOpcode() != BO_MulAssign))
        return std::nullopt;
    const auto* reference = dyn_cast<DeclRefExpr>(update->getLHS()->IgnoreParens());
    const auto type = update->getLHS()->getType();
    const auto* variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    // In a wider type the variable would be rounded at each step in another way.
    if (!variable || !m_any_order.contains(variable) || m_in_function || !type->isRealFloatingType() ||
        type.isVolatileQualified() || !m_unit.context.hasSameUnqualifiedType(type, update->getComputationResultType()))
        return std::nullopt;
    const auto term = m_program.types.declare(type.getUnqualifiedType(), "acc_term", expression->getBeginLoc());
    return "{ const " + term + " = " + m_print.print(update->getRHS()) + "; { ACC_ANY_ORDER " +
           m_print.print(update->getLHS()) + " " + update->getOpcodeStr().str() + " acc_term; } }";
}

void kernel_writer::simple(const Expr* expression, const position& at) {
    const auto reordered = any_order(expression);
    const auto text = reordered ? *reordered : m_print.print(expression) + ";";
    const auto effects = effects_of(expression);
    if (!redundant(at) || !effects.memory || !effects.reads_back) return line(text);
    if (!effects.changed.empty()) {
        give_up_waiting(at);
        return line(text);
    }
    if (!at.uniform) {
        give_up_levels(at);
        return line(text);
    }
    for_one(at, [&] { line(text); });
}

void kernel_writer::may_be_passed(std::size_t begin) {
    m_threads_branch |= m_out->find("barrier(", begin) != std::string::npos;
}

void kernel_writer::for_one(const position& at, const std::function<void()>& print) {
    const auto who = first_thread(at);
    m_one_works = true;
    // A thread needs no barrier between what it does alone and what it does alone next.
    if (m_out->size() == m_one_ends && who == m_one) {
        m_out->resize(m_one_closed);
    } else {
        barrier();
        line("if (" + who + ") {");
    }
    ++m_indent;
    print();
    --m_indent;
    m_one_closed = m_out->size();
    line("}");
    barrier();
    m_one_ends = m_out->size();
    m_one = who;
}

namespace {

/// True if all of the statement is between its begin and end: no other loop is left from it, and nothing in it is
/// spread.
bool stands_alone(const unit& unit, const Stmt* statement, bool in_loop, bool in_switch) {
    if (!statement) return true;
    if (isa<ReturnStmt, GotoStmt, LabelStmt>(statement) || (isa<ContinueStmt>(statement) && !in_loop) ||
        (isa<BreakStmt>(statement) && !in_loop && !in_switch) || directive_of(unit, statement))
        return false;
    in_loop = in_loop || isa<ForStmt, WhileStmt, DoStmt>(statement);
    in_switch = in_switch || isa<SwitchStmt>(statement);
    const auto parts = statement->children();
    return std::all_of(parts.begin(), parts.end(),
                       [&](const Stmt* each) { return stands_alone(unit, each, in_loop, in_switch); });
}

} // namespace

bool kernel_writer::by_one(const Stmt* given, const position& at) {
    if (!redundant(at) || !at.uniform || m_in_function || !isa<IfStmt, ForStmt, WhileStmt, DoStmt, SwitchStmt>(given))
        return false;
    bool spread = false;
    std::set<const VarDecl*> declared;
    walk(given, [&](const Stmt* each) {
        if (const auto* node = m_tree.find(each)) spread |= node->is_spread();
        if (const auto* declaration = dyn_cast<DeclStmt>(each))
            for (const auto* one : declaration->decls()) declared.insert(dyn_cast<VarDecl>(one));
        return true;
    });
    if (spread || !stands_alone(m_unit, given, false, false)) return false;
    const auto effects = effects_of(given);
    if (!effects.memory || !effects.reads_back ||
        !std::includes(declared.begin(), declared.end(), effects.changed.begin(), effects.changed.end()))
        return false;
    auto inside = at;
    inside.workers = inside.vector = true;
    for_one(at, [&] { statement(given, inside); });
    return true;
}

void kernel_writer::block(const Stmt* body, const position& at) {
    ++m_indent;
    if (const auto* compound = dyn_cast<CompoundStmt>(body)) {
        const auto* last = compound->body_empty() ? nullptr : compound->body_back();
        for (const auto* each : compound->body()) {
            auto inside = at;
            inside.last = at.last && each == last;
            statement(each, inside);
        }
    } else {
        statement(body, at);
    }
    --m_indent;
}

std::string kernel_writer::space_of(const VarDecl* pointer) const {
    std::optional<std::string> space;
    for (const auto* each : m_pointees.reached(pointer)) {
        const auto one = each == pointer ? std::nullopt : m_print.known_space_of(each);
        if (one && space && *one != *space)
            throw unsupported{pointer->getLocation(),
                              "the pointer '" + pointer->getNameAsString() +
                                  "' both to memory of the device and to variables of a thread"};
        if (one) space = one;
    }
    return space ? *space : pointer->getInit() ? m_print.space_of(pointer->getInit()) : "__global";
}

void kernel_writer::declaration(const DeclStmt* declared, const position& at) {
    for (const auto* each : declared->decls()) {
        const auto* variable = dyn_cast<VarDecl>(each);
        if (!variable) {
            if (isa<RecordDecl, TypedefDecl, EnumDecl, EmptyDecl, StaticAssertDecl>(each)) continue;
            throw unsupported{each->getLocation(), "this declaration in a region"};
        }
        // A constant table is as good as a variable of its own, if no address of it gets out.
        const auto* function = dyn_cast<FunctionDecl>(variable->getDeclContext());
        const bool constant = m_unit.context.getBaseElementType(variable->getType()).isConstQualified() &&
                              !(function && function->getReturnType()->isPointerType());
        if (variable->isStaticLocal() && !constant)
            throw unsupported{variable->getLocation(),
                              "the static variable '" + variable->getNameAsString() + "' in a region"};
        std::string space = "__global";
        if (variable->getType()->isPointerType()) m_print.set_space(variable, space = space_of(variable));
        auto text = m_program.types.declare(variable->getType(), identifier(variable->getNameAsString()),
                                            variable->getLocation(), space);
        if (variable->getInit()) text += " = " + value(variable->getInit(), at);
        line(text + ";");
    }
}

void kernel_writer::statement(const Stmt* given, const position& at) {
    if (const auto of = directive_of(m_unit, given)) return directive_statement(of, at);
    if (const auto* compound = dyn_cast<CompoundStmt>(given)) {
        line("{");
        block(compound, at);
        return line("}");
    }
    if (const auto* declared = dyn_cast<DeclStmt>(given)) return declaration(declared, at);
    if (const auto* expression = dyn_cast<Expr>(given)) return simple(expression, at);
    if (isa<NullStmt>(given)) return line(";");
    if (by_one(given, at)) return;
    if (const auto* hinted = dyn_cast<AttributedStmt>(given)) {
        // A loop that is spread over threads has nothing to unroll.
        const auto* loop = dyn_cast<ForStmt>(hinted->getSubStmt());
        const bool stays = loop && (m_in_function || !m_tree.find(loop));
        for (const auto* each : hinted->getAttrs())
            if (const auto* hint = dyn_cast<LoopHintAttr>(each); hint && stays) {
                if (hint->getOption() == LoopHintAttr::UnrollCount)
                    line("#pragma unroll " + m_print.print(hint->getValue()));
                if (hint->getOption() == LoopHintAttr::Unroll)
                    line(hint->getState() == LoopHintAttr::Disable ? "#pragma nounroll" : "#pragma unroll");
            }
        return statement(hinted->getSubStmt(), at);
    }
    if (const auto* choice = dyn_cast<IfStmt>(given)) {
        const auto begin = m_out->size();
        line("if (" + value(choice->getCond(), at) + ") {");
        block(choice->getThen(), at);
        if (choice->getElse()) {
            line("} else {");
            block(choice->getElse(), at);
        }
        line("}");
        return may_be_passed(begin);
    }
    if (const auto* loop = dyn_cast<ForStmt>(given)) {
        if (const auto* node = m_tree.find(loop); node && !m_in_function) return spread(*node, at);
        return plain_loop(loop, at);
    }
    auto repeated = at;
    repeated.last = false;
    if (const auto* loop = dyn_cast<WhileStmt>(given)) {
        const auto begin = m_out->size();
        line("while (" + value(loop->getCond(), at) + ") {");
        block(loop->getBody(), repeated);
        line("}");
        return may_be_passed(begin);
    }
    if (const auto* loop = dyn_cast<DoStmt>(given)) {
        const auto begin = m_out->size();
        line("do {");
        block(loop->getBody(), repeated);
        line("} while (" + value(loop->getCond(), at) + ");");
        return may_be_passed(begin);
    }
    if (const auto* value = dyn_cast<ReturnStmt>(given)) {
        if (!m_in_function) throw unsupported{given->getBeginLoc(), "'return' out of a region"};
        return line(value->getRetValue() ? "return " + m_print.print(value->getRetValue()) + ";" : "return;");
    }
    if (isa<BreakStmt, ContinueStmt>(given)) {
        m_threads_branch |= at.uniform && redundant(at);
        return line(isa<BreakStmt>(given) ? "break;" : "continue;");
    }
    if (const auto* choice = dyn_cast<SwitchStmt>(given)) {
        const auto begin = m_out->size();
        line("switch (" + value(choice->getCond(), at) + ") {");
        block(choice->getBody(), at);
        line("}");
        return may_be_passed(begin);
    }
    if (const auto* label = dyn_cast<CaseStmt>(given)) {
        const auto first = label->getLHS()->EvaluateKnownConstInt(m_unit.context);
        const auto last = label->getRHS() ? label->getRHS()->EvaluateKnownConstInt(m_unit.context) : first;
        constexpr std::int64_t most = 1024;
        if (last.getExtValue() - first.getExtValue() > most)
            throw unsupported{given->getBeginLoc(), "a range of more than 1,024 cases"};
        for (auto each = first; each <= last; ++each) line("case " + llvm::toString(each, 10) + ":");
        return statement(label->getSubStmt(), at);
    }
    if (const auto* label = dyn_cast<DefaultStmt>(given)) {
        line("default:");
        return statement(label->getSubStmt(), at);
    }
    if (isa<GotoStmt, LabelStmt>(given)) throw unsupported{given->getBeginLoc(), "'goto' in a region"};
    throw unsupported{given->getBeginLoc(), "this statement in a region"};
}

std::string kernel_writer::loop_head(const Stmt* init, const position& at) {
    if (!init) return "";
    if (const auto* expression = dyn_cast<Expr>(init)) return value(expression, at);
    std::string text;
    std::string* const before = std::exchange(m_out, &text);
    const int indent = std::exchange(m_indent, 0);
    declaration(cast<DeclStmt>(init), at);
    m_out = before;
    m_indent = indent;
    while (!text.empty() && (text.back() == '\n' || text.back() == ';')) text.pop_back();
    return text;
}

void kernel_writer::plain_loop(const ForStmt* loop, const position& at) {
    auto head = loop_head(loop->getInit(), at);
    const auto last = head.rfind('\n');
    const bool several = last != std::string::npos; // variables, of which a head can declare only those of one type
    if (several) line("{ " + head.substr(0, last));
    if (several) head.erase(0, last + 1);
    line("for (" + head + "; " + value(loop->getCond(), at) + "; " + value(loop->getInc(), at) + ") {");
    auto repeated = at;
    repeated.last = false;
    const auto begin = m_out->size();
    block(loop->getBody(), repeated);
    line(several ? "} }" : "}");
    may_be_passed(begin);
}

void kernel_writer::directive_statement(const found_directive& of, const position& at) {
    const auto& name = of.directive->name;
    if (name == "loop") {
        const auto* node = m_in_function ? nullptr : m_tree.find(of.body);
        return node ? spread(*node, at) : statement(of.body, at);
    }
    if (name == "cache") return;
    if (name == "atomic") return atomic(of, at);
    throw unsupported{of.directive->location, "'" + name + "' inside a compute region"};
}

void kernel_writer::atomic(const found_directive& of, const position& at) {
    const auto* operand = atomic_operand(m_unit, of);
    if (!operand) throw unsupported{of.directive->location, "this form of 'atomic'"};
    if (!m_in_function && m_print.space_of(operand).empty() && root_of(operand) &&
        !root_of(operand)->getType()->isPointerType())
        return statement(of.body, at); // the thread's own
    const auto bits = m_unit.context.getTypeSize(operand->getType());
    if (!is_scalar(operand->getType()) || (bits != 32 && bits != 64))
        throw unsupported{of.directive->location, "'atomic' for a type of other than 4 or 8 bytes"};
    if (m_print.is_misaligned(operand))
        throw unsupported{of.directive->location, "'atomic' for a member that its packed structure misaligns"};
    if (!effects_of(of.body).changed.empty() || of.directive->find("capture") || of.directive->find("read"))
        give_up_waiting(at);
    else if (redundant(at) && !at.uniform)
        give_up_levels(at);
    const auto values = atomic_values(m_unit, of, operand);
    if (const auto* effect = repeated_effect(of, operand, values))
        throw unsupported{
            effect->getExprLoc(),
            "a side effect in 'atomic' beside the update, which is tried until no other thread intervenes"};
    const auto who = first_thread(at);
    if (redundant(at)) barrier();
    line(who.empty() ? "{" : "if (" + who + ") {");
    ++m_indent;
    const auto type = m_program.types.name(operand->getType().getUnqualifiedType(), of.directive->location);
    const std::string word = bits == 32 ? "uint" : "ulong";
    line("volatile __global " + word + " *acc_word = (volatile __global " + word + " *)&" + m_print.operand(operand) +
         ";");
    for (std::size_t each = 0; each < values.size(); ++each) {
        const auto name = "acc_value" + std::to_string(each);
        line("const " +
             m_program.types.declare(values[each]->getType().getUnqualifiedType(), name, of.directive->location) +
             " = " + m_print.print(values[each]) + ";");
        m_print.name_value(values[each], name);
    }
    const std::string prefix = bits == 32 ? "atomic_" : "atom_";
    line(word + " acc_old, acc_new, acc_seen = " + prefix + "add(acc_word, 0);");
    line("do {");
    ++m_indent;
    line("acc_old = acc_seen;");
    line(type + " acc_copy = as_" + type + "(acc_old);");
    m_print.replace(operand, "acc_copy");
    auto inside = at;
    inside.workers = inside.vector = true;
    statement(of.body, inside);
    m_print.replace(nullptr, "");
    m_print.forget_values();
    line("acc_new = as_" + word + "(acc_copy);");
    --m_indent;
    line("    acc_seen = " + prefix + "cmpxchg(acc_word, acc_old, acc_new);");
    line("} while (acc_seen != acc_old);");
    --m_indent;
    line("}");
    if (redundant(at)) barrier();
}

} // namespace directive
