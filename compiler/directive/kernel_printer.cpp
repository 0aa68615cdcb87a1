// SPDX-License-Identifier: Apache-2.0
#include "kernel_printer.hpp"

#include "atomic.hpp"

#include <clang/AST/Decl.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

namespace directive {

using namespace clang;

const char* const prelude = R"(#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
/* How often a loop runs from first up to last, which it does not reach. */
long acc_trips(long first, long last, long step) { return first < last && step > 0 ? (last - first - 1) / step + 1 : 0; }
/* The first of the two halves in which a tree joins `n` values. */
int acc_half(int n) { int half_of = n > 1 ? 1 : 0; while (half_of * 2 < n && half_of > 0) half_of *= 2; return half_of; }
int acc_on_device(int type) { return type == 4 || type == ACC_DEVICE_TYPE; }
)";

std::string reduction_identity(const std::string& operation, QualType type) {
    type = type.getCanonicalType();
    const bool floating = type->isFloatingType();
    if (operation == "+" || operation == "-" || operation == "|" || operation == "^" || operation == "||") return "0";
    if (operation == "*" || operation == "&&") return "1";
    if (operation == "&") return "~0";
    const bool max = operation == "max";
    if (floating) return max ? "-INFINITY" : "INFINITY";
    const auto* builtin = type->getAs<BuiltinType>();
    switch (builtin ? builtin->getKind() : BuiltinType::Int) {
    case BuiltinType::Bool: return max ? "0" : "1";
    case BuiltinType::Char_S:
    case BuiltinType::SChar: return max ? "CHAR_MIN" : "CHAR_MAX";
    case BuiltinType::UChar: return max ? "0" : "UCHAR_MAX";
    case BuiltinType::Short: return max ? "SHRT_MIN" : "SHRT_MAX";
    case BuiltinType::UShort: return max ? "0" : "USHRT_MAX";
    case BuiltinType::UInt: return max ? "0" : "UINT_MAX";
    case BuiltinType::Long:
    case BuiltinType::LongLong: return max ? "LONG_MIN" : "LONG_MAX";
    case BuiltinType::ULong:
    case BuiltinType::ULongLong: return max ? "0" : "ULONG_MAX";
    default: return max ? "INT_MIN" : "INT_MAX";
    }
}

std::string reduction_step(const std::string& operation, const std::string& a, const std::string& b) {
    if (operation == "max") return a + " > " + b + " ? " + a + " : " + b;
    if (operation == "min") return a + " < " + b + " ? " + a + " : " + b;
    return a + " " + (operation == "-" ? "+" : operation) + " " + b;
}

namespace {

/// Where a statement stands among the levels of parallelism.
struct position {
    bool workers = false, vector = false; // a loop around it is spread over them
    bool uniform = true;                  // all threads of the group come by together
    bool last = true;                     // nothing of the gang follows that must see what it wrote
};

class printer {
  public:
    printer(const unit& unit, const region& region, const loop_tree& tree, program_text& program,
            std::vector<scratch>& scratches)
        : m_unit(unit), m_region(region), m_tree(tree), m_program(program), m_scratches(scratches),
          m_print(unit, program.types) {}

    kernel_text print(const std::vector<const Stmt*>& statements, const std::string& name, const loop_node* only,
                      bool gangs_allowed) {
        kernel_text made;
        made.name = name;
        made.line = line_of(statements.front()->getBeginLoc());
        m_gangs_allowed = gangs_allowed;
        collect_reads(statements);
        for (const auto* node : m_region.loops)
            if (!only || within(node, only)) {
                m_any_gang |= node->gang && gangs_allowed;
                m_any_worker |= node->worker;
                m_any_vector |= node->vector;
                for (const auto& each : node->reductions) m_reduced_here.insert(each.variable);
            }
        // What parallelism a first writing found to need waits that threads cannot do is taken away in a second one.
        std::string body;
        for (int attempt = 0; attempt < 3; ++attempt) {
            m_again = false;
            body.clear();
            m_out = &body;
            m_indent = 1;
            set_names();
            position at;
            for (std::size_t each = 0; each < statements.size(); ++each) {
                at.last = each + 1 == statements.size();
                statement(statements[each], at);
            }
            if (!m_again) break;
        }
        std::string text = "__kernel void " + name + parameters() + " {\n" + prologue() + body + epilogue() + "}\n";
        if (has_reductions()) text += final_kernel(name);
        functions();
        if (m_any_gang) made.flags.push_back("USES_GANGS");
        if (!m_region.kernels && !m_region.serial) made.flags.push_back("ALLOWS_GANGS");
        if (m_any_worker && !m_one_worker) made.flags.push_back("USES_WORKERS");
        if (m_any_vector && !m_one_lane) made.flags.push_back("USES_VECTOR");
        if (has_reductions()) made.flags.push_back("HAS_REDUCTION");
        if (m_region.kernels && (m_any_gang || m_any_worker || m_any_vector)) made.flags.push_back("MAY_ALIAS");
        made.text = std::move(text);
        return made;
    }

  private:
    const unit& m_unit;
    const region& m_region;
    const loop_tree& m_tree;
    program_text& m_program;
    std::vector<scratch>& m_scratches;
    expression_printer m_print;
    std::string* m_out = nullptr;
    int m_indent = 0;
    bool m_gangs_allowed = true, m_any_gang = false, m_any_worker = false, m_any_vector = false;
    bool m_one_worker = false, m_one_lane = false, m_again = false;
    bool m_unknown_reads = false;
    std::set<const VarDecl*> m_read, m_reduced_here;
    std::vector<std::pair<const VarDecl*, std::string>> m_active_reductions;
    std::set<std::string> m_made_scratches;
    bool m_in_function = false;

    unsigned line_of(SourceLocation place) const {
        return m_unit.context.getSourceManager().getPresumedLineNumber(place);
    }

    static bool within(const loop_node* node, const loop_node* outer) {
        for (; node; node = node->parent)
            if (node == outer) return true;
        return false;
    }

    void collect_reads(const std::vector<const Stmt*>& statements) {
        for (const auto* statement : statements)
            for (const auto& each : accesses_in(statement))
                if (each.reads) {
                    if (!each.root && each.memory) m_unknown_reads = true;
                    m_read.insert(each.root);
                }
    }

    void line(const std::string& text) {
        *m_out += std::string(static_cast<std::size_t>(m_indent) * 4, ' ') + text + "\n";
    }

    // Variables of the region

    bool is_reduction(const capture& each) const {
        return each.how == role::reduction && (!m_region.kernels || m_reduced_here.contains(each.variable));
    }
    bool has_reductions() const {
        return std::any_of(m_region.captures.begin(), m_region.captures.end(),
                           [&](const auto& each) { return is_reduction(each); });
    }

    void set_names() {
        auto& names = m_print.names();
        names.clear();
        for (const auto& each : m_region.captures) {
            const auto name = identifier(each.variable->getNameAsString());
            naming made{name};
            if (each.how == role::buffer && !each.copied) made.flat = made.captured = made.on_device = true;
            if (each.how == role::shared || (each.how == role::reduction && !is_reduction(each))) {
                made.text = "(*acc_at_" + name + ")";
                made.on_device = true;
            }
            if (each.how == role::own && each.own_array) made.flat = made.captured = made.on_device = true;
            names[each.variable] = made;
        }
    }

    QualType element_of(const VarDecl* variable) const {
        auto type = variable->getType().getCanonicalType();
        if (const auto* pointer = type->getAs<PointerType>()) type = pointer->getPointeeType();
        while (const auto* array = m_unit.context.getAsArrayType(type)) type = array->getElementType();
        return type;
    }

    std::string parameters() {
        std::string text;
        const auto add = [&](const std::string& one) { text += (text.empty() ? "(" : ", ") + one; };
        for (const auto& each : m_region.captures) {
            const auto place = each.variable->getLocation();
            const auto name = identifier(each.variable->getNameAsString());
            switch (each.how) {
            case role::value:
                add(each.variable->getType()->isBooleanType()
                        ? "uchar acc_byte_" + name
                        : m_program.types.declare(each.variable->getType().getUnqualifiedType(), name, place));
                break;
            case role::buffer:
            case role::shared: add("__global char *acc_buffer_" + name + ", long acc_offset_" + name); break;
            case role::reduction:
                add("__global char *acc_buffer_" + name + ", long acc_offset_" + name);
                add("__global char *acc_parts_" + name);
                break;
            case role::own:
                if (each.own_array) add("__global char *acc_own_" + name + ", long acc_own_bytes_" + name);
                break;
            }
            if (each.how == role::buffer || (each.how == role::own && each.own_array))
                for (const auto& length : m_print.row_lengths(each.variable))
                    if (length.starts_with("acc_row")) add("long " + length);
        }
        for (const auto& each : m_scratches)
            add("__global char *acc_own_" + each.name + ", long acc_own_bytes_" + each.name);
        // Not of char: NVIDIA's driver (580) aligns local memory by the argument's type, and doubles are kept there.
        add("__local long *acc_scratch");
        add("int acc_gangs");
        return text + ")";
    }

    std::string memory_of(const std::string& name, const std::string& type) const {
        return "(__global " + type + " *)(acc_buffer_" + name + " + acc_offset_" + name + ")";
    }

    std::string prologue() {
        std::string text;
        for (const auto& each : m_region.captures) {
            const auto place = each.variable->getLocation();
            const auto name = identifier(each.variable->getNameAsString());
            const auto type = each.variable->getType();
            switch (each.how) {
            case role::value:
                if (type->isBooleanType()) text += "    bool " + name + " = acc_byte_" + name + ";\n";
                break;
            case role::buffer: {
                const auto element = element_of(each.variable);
                if (element->isPointerType())
                    throw unsupported{m_region.of.directive->place,
                                      "'" + name + "', a pointer to pointers, in a region"};
                if (element->isVoidType()) break;
                const auto spelled = std::string(element.isConstQualified() ? "const " : "") +
                                     m_program.types.name(element, place);
                if (each.copied) {
                    text += "    " + m_program.types.declare(type.getUnqualifiedType(), name, place) + ";\n";
                    text += "    for (ulong acc_i = 0; acc_i < sizeof(" + name + ") / sizeof(" + spelled +
                            "); ++acc_i) ((" + spelled + " *)" + name + ")[acc_i] = (" + memory_of(name, spelled) +
                            ")[acc_i];\n";
                } else {
                    text += "    __global " + spelled + " *" + name + " = " + memory_of(name, spelled) + ";\n";
                }
                break;
            }
            case role::shared:
            case role::reduction: {
                const auto spelled = m_program.types.name(type.getUnqualifiedType(), place);
                if (is_reduction(each))
                    text += "    " + spelled + " " + name + " = " + reduction_identity(each.operation, type) + ";\n";
                else
                    text += "    __global " + spelled + " *acc_at_" + name + " = " + memory_of(name, spelled) + ";\n";
                break;
            }
            case role::own:
                if (each.own_array)
                    text += "    " + own_array(each.variable, name, each.low) + "\n";
                else
                    text += "    " + m_program.types.declare(type.getUnqualifiedType(), name, place) + ";\n";
                break;
            }
        }
        return text;
    }

    std::string own_array(const VarDecl* variable, const std::string& name, const std::string& low) {
        const auto spelled = m_program.types.name(element_of(variable).getUnqualifiedType(), variable->getLocation());
        return "__global " + spelled + " *" + identifier(variable->getNameAsString()) + " = (__global " + spelled +
               " *)(acc_own_" + name +
               " + ((long)get_group_id(0) * get_local_size(0) * get_local_size(1) + get_local_id(1) * "
               "get_local_size(0) + get_local_id(0)) * acc_own_bytes_" +
               name + ") - (" + low + ");";
    }

    std::string epilogue() {
        std::string text;
        for (const auto& each : m_region.captures)
            if (is_reduction(each)) {
                const auto name = identifier(each.variable->getNameAsString());
                const auto spelled = m_program.types.name(each.variable->getType().getUnqualifiedType(),
                                                          each.variable->getLocation());
                text += "    if (get_local_id(0) == 0 && get_local_id(1) == 0) ((__global " + spelled +
                        " *)acc_parts_" + name + ")[get_group_id(0)] = " +
                        (each.by_gangs ? name
                                       : "get_group_id(0) == 0 ? " + name + " : (" + spelled + ")" +
                                             reduction_identity(each.operation, each.variable->getType())) +
                        ";\n";
            }
        return text;
    }

    /// One thread joins the gangs' values with the one that the variable had before.
    std::string final_kernel(const std::string& name) {
        std::string text = "__kernel void " + name + "_end" + parameters() + " {\n";
        for (const auto& each : m_region.captures) {
            if (!is_reduction(each)) continue;
            const auto variable = identifier(each.variable->getNameAsString());
            const auto spelled = m_program.types.name(each.variable->getType().getUnqualifiedType(),
                                                      each.variable->getLocation());
            text += "    {\n        " + spelled + " acc_all = *" + memory_of(variable, spelled) +
                    ";\n        for (int acc_gang = 0; acc_gang < acc_gangs; ++acc_gang) {\n            " + spelled +
                    " acc_one = ((__global " + spelled + " *)acc_parts_" + variable +
                    ")[acc_gang];\n            acc_all = " + reduction_step(each.operation, "acc_all", "acc_one") +
                    ";\n        }\n        *" + memory_of(variable, spelled) + " = acc_all;\n    }\n";
        }
        return text + "}\n";
    }

    // Functions

    void functions() {
        for (auto called = m_print.take_called(); !called.empty(); called = m_print.take_called())
            for (const auto& each : called) {
                if (!m_program.known_functions.insert(each.name).second) continue;
                write_function(each);
            }
    }

    void write_function(const expression_printer::called& called) {
        const auto place = called.function->getLocation();
        std::string head = m_program.types.declare(called.function->getReturnType(), called.name, place) + "(";
        unsigned at = 0;
        for (const auto* parameter : called.function->parameters()) {
            auto type = parameter->getType().getUnqualifiedType();
            const auto space = at < called.spaces.size() ? called.spaces[at] : "";
            if (const auto* pointer = type.getCanonicalType()->getAs<PointerType>()) {
                m_print.set_space(parameter, space);
                auto element = pointer->getPointeeType();
                if (element->isArrayType()) // rows: a pointer to elements
                    while (const auto* array = m_unit.context.getAsArrayType(element))
                        element = array->getElementType();
                type = m_unit.context.getPointerType(element);
            }
            head += (at++ ? ", " : "") +
                    m_program.types.declare(type, identifier(parameter->getNameAsString()), place, space);
        }
        head += called.function->getNumParams() == 0 ? "void)" : ")";
        std::string body;
        auto* const before = std::exchange(m_out, &body);
        m_in_function = true;
        m_indent = 1;
        const auto* block = cast<CompoundStmt>(called.function->getBody());
        for (const auto* each : block->body()) statement(each, {true, true, false, true});
        m_in_function = false;
        m_out = before;
        functions();
        m_program.functions += head + ";\n" + head + " {\n" + body + "}\n";
    }

    // Statements

    bool lanes_wait(const position& at) const { return !at.vector && m_any_vector && !m_one_lane; }
    bool workers_wait(const position& at) const { return !at.workers && m_any_worker && !m_one_worker; }
    bool redundant(const position& at) const { return lanes_wait(at) || workers_wait(at); }

    void barrier() { line("barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);"); }

    /// Threads cannot wait for one another at this place: fewer of them are used.
    void give_up_levels(const position& at) {
        if (!m_one_worker && m_any_worker && at.workers)
            m_one_worker = m_again = true;
        else if (!m_one_lane)
            m_one_lane = m_again = true;
    }

    struct effects {
        bool memory = false, reads_back = false, scalars = false;
    };
    effects effects_of(const Stmt* statement) const {
        effects found;
        for (const auto& each : accesses_in(statement)) {
            if (!each.writes) continue;
            bool device = each.memory;
            if (each.root) {
                const auto named = const_cast<printer*>(this)->m_print.names().find(each.root);
                const bool known = named != const_cast<printer*>(this)->m_print.names().end();
                device = known ? named->second.on_device : (each.memory && each.root->getType()->isPointerType());
                if (known && each.root->getType()->isPointerType() && !each.memory) device = false;
            }
            if (!device) {
                found.scalars = true;
                continue;
            }
            found.memory = true;
            if (each.reads || !each.root || m_unknown_reads || m_read.contains(each.root) || m_read.contains(nullptr))
                found.reads_back = true;
        }
        return found;
    }

    void simple(const Expr* expression, const position& at) {
        const auto text = m_print.print(expression) + ";";
        const auto effects = effects_of(expression);
        if (!redundant(at) || !effects.memory || !effects.reads_back) return line(text);
        if (!at.uniform || effects.scalars) {
            give_up_levels(at);
            return line(text);
        }
        std::string who;
        if (lanes_wait(at)) who = "get_local_id(0) == 0";
        if (workers_wait(at)) who += std::string(who.empty() ? "" : " && ") + "get_local_id(1) == 0";
        barrier();
        line("if (" + who + ") " + text);
        barrier();
    }

    void block(const Stmt* body, const position& at) {
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

    void declaration(const DeclStmt* declared, const position& at) {
        for (const auto* each : declared->decls()) {
            const auto* variable = dyn_cast<VarDecl>(each);
            if (!variable) {
                if (isa<RecordDecl, TypedefDecl, EnumDecl, EmptyDecl>(each)) continue;
                throw unsupported{each->getLocation(), "this declaration in a region"};
            }
            if (variable->isStaticLocal())
                throw unsupported{variable->getLocation(),
                                  "the static variable '" + variable->getNameAsString() + "' in a region"};
            std::string space = "__global";
            if (variable->getType()->isPointerType() && variable->getInit())
                space = m_print.space_of(variable->getInit());
            if (variable->getType()->isPointerType()) m_print.set_space(variable, space);
            auto text = m_program.types.declare(variable->getType(), identifier(variable->getNameAsString()),
                                                variable->getLocation(), space);
            if (const auto* value = variable->getInit()) {
                if (effects_of(value).memory && redundant(at)) give_up_levels(at);
                text += " = " + m_print.print(value);
            }
            line(text + ";");
        }
    }

    void statement(const Stmt* given, const position& at) {
        if (const auto of = directive_of(m_unit, given)) return directive_statement(of, at);
        if (const auto* compound = dyn_cast<CompoundStmt>(given)) {
            line("{");
            block(compound, at);
            return line("}");
        }
        if (const auto* declared = dyn_cast<DeclStmt>(given)) return declaration(declared, at);
        if (const auto* expression = dyn_cast<Expr>(given)) return simple(expression, at);
        if (isa<NullStmt>(given)) return line(";");
        if (const auto* choice = dyn_cast<IfStmt>(given)) {
            line("if (" + m_print.print(choice->getCond()) + ") {");
            block(choice->getThen(), at);
            if (choice->getElse()) {
                line("} else {");
                block(choice->getElse(), at);
            }
            return line("}");
        }
        if (const auto* loop = dyn_cast<ForStmt>(given)) {
            if (const auto* node = m_tree.find(loop); node && !m_in_function) return spread(*node, at);
            return plain_loop(loop, at);
        }
        auto repeated = at;
        repeated.last = false;
        if (const auto* loop = dyn_cast<WhileStmt>(given)) {
            line("while (" + m_print.print(loop->getCond()) + ") {");
            block(loop->getBody(), repeated);
            return line("}");
        }
        if (const auto* loop = dyn_cast<DoStmt>(given)) {
            line("do {");
            block(loop->getBody(), repeated);
            return line("} while (" + m_print.print(loop->getCond()) + ");");
        }
        if (const auto* value = dyn_cast<ReturnStmt>(given)) {
            if (!m_in_function) throw unsupported{given->getBeginLoc(), "'return' out of a region"};
            return line(value->getRetValue() ? "return " + m_print.print(value->getRetValue()) + ";" : "return;");
        }
        if (isa<BreakStmt>(given)) return line("break;");
        if (isa<ContinueStmt>(given)) return line("continue;");
        if (const auto* choice = dyn_cast<SwitchStmt>(given)) {
            line("switch (" + m_print.print(choice->getCond()) + ") {");
            block(choice->getBody(), at);
            return line("}");
        }
        if (const auto* label = dyn_cast<CaseStmt>(given)) {
            line("case " + m_print.print(label->getLHS()) + ":");
            return statement(label->getSubStmt(), at);
        }
        if (const auto* label = dyn_cast<DefaultStmt>(given)) {
            line("default:");
            return statement(label->getSubStmt(), at);
        }
        if (isa<GotoStmt, LabelStmt>(given)) throw unsupported{given->getBeginLoc(), "'goto' in a region"};
        throw unsupported{given->getBeginLoc(), "this statement in a region"};
    }

    std::string loop_head(const Stmt* init) {
        if (!init) return "";
        if (const auto* expression = dyn_cast<Expr>(init)) return m_print.print(expression);
        std::string text;
        std::string* const before = std::exchange(m_out, &text);
        const int indent = std::exchange(m_indent, 0);
        declaration(cast<DeclStmt>(init), {true, true, false, true});
        m_out = before;
        m_indent = indent;
        while (!text.empty() && (text.back() == '\n' || text.back() == ';')) text.pop_back();
        if (text.find('\n') != std::string::npos)
            throw unsupported{init->getBeginLoc(), "several variables in the head of a loop"};
        return text;
    }

    void plain_loop(const ForStmt* loop, const position& at) {
        line("for (" + loop_head(loop->getInit()) + "; " + (loop->getCond() ? m_print.print(loop->getCond()) : "") +
             "; " + (loop->getInc() ? m_print.print(loop->getInc()) : "") + ") {");
        auto repeated = at;
        repeated.last = false;
        block(loop->getBody(), repeated);
        line("}");
    }

    void directive_statement(const found_directive& of, const position& at) {
        const auto& name = of.directive->name;
        if (name == "loop") {
            if (m_in_function) return statement(of.body, at);
            const auto* node = m_tree.find(of.body);
            if (!node) throw unsupported{of.directive->place, "this loop"};
            return spread(*node, at);
        }
        if (name == "cache") return;
        if (name == "atomic") return atomic(of, at);
        throw unsupported{of.directive->place, "'" + name + "' inside a compute region"};
    }

    /// Tries the statement on a copy until nobody else has changed the place meanwhile.
    void atomic(const found_directive& of, const position& at) {
        const auto* place = atomic_place(m_unit, of);
        if (!place) throw unsupported{of.directive->place, "this form of 'atomic'"};
        if (!m_in_function && m_print.space_of(place).empty() && root_of(place) &&
            !root_of(place)->getType()->isPointerType())
            return statement(of.body, at); // the thread's own
        const auto bits = m_unit.context.getTypeSize(place->getType());
        if (!is_scalar(place->getType()) || (bits != 32 && bits != 64))
            throw unsupported{of.directive->place, "'atomic' for a type of other than 4 or 8 bytes"};
        if (redundant(at) && (!at.uniform || of.directive->find("capture") || of.directive->find("read")))
            give_up_levels(at);
        std::string who;
        if (lanes_wait(at)) who = "get_local_id(0) == 0";
        if (workers_wait(at)) who += std::string(who.empty() ? "" : " && ") + "get_local_id(1) == 0";
        if (redundant(at)) barrier();
        line(who.empty() ? "{" : "if (" + who + ") {");
        ++m_indent;
        const auto type = m_program.types.name(place->getType().getUnqualifiedType(), of.directive->place);
        const std::string word = bits == 32 ? "uint" : "ulong";
        line("volatile __global " + word + " *acc_word = (volatile __global " + word + " *)&" + m_print.operand(place) +
             ";");
        line(word + " acc_old, acc_new;");
        line("do {");
        ++m_indent;
        line("acc_old = *acc_word;");
        line(type + " acc_copy = as_" + type + "(acc_old);");
        m_print.replace(place, "acc_copy");
        auto inside = at;
        inside.workers = inside.vector = true;
        statement(of.body, inside);
        m_print.replace(nullptr, "");
        line("acc_new = as_" + word + "(acc_copy);");
        --m_indent;
        line(std::string("} while (") + (bits == 32 ? "atomic_cmpxchg" : "atom_cmpxchg") +
             "(acc_word, acc_old, acc_new) != acc_old);");
        --m_indent;
        line("}");
        if (redundant(at)) barrier();
    }

    // Loops

    void spread(const loop_node& node, position at) {
        const bool gang = node.gang && m_gangs_allowed;
        const bool workers = node.worker && !m_one_worker && m_any_worker;
        const bool lanes = node.vector && !m_one_lane && m_any_vector;
        std::string how = gang ? " gang" : "";
        if (node.worker) how += m_one_worker ? "" : " worker";
        if (node.vector) how += m_one_lane ? "" : " vector";
        line("{ /* line " + std::to_string(line_of(node.loops.front().loop->getForLoc())) + ":" +
             (how.empty() ? " in order" : how) + " */");
        ++m_indent;
        auto reductions = node.reductions;
        // A loop that is spread without a clause inside of one that reduces the variable reduces it, too.
        if (workers || lanes)
            for (const auto& [variable, operation] : m_active_reductions)
                if (std::none_of(reductions.begin(), reductions.end(),
                                 [&, v = variable](const auto& each) { return each.variable == v; }) &&
                    is_changed(node.body, variable))
                    reductions.push_back({variable, operation});
        const bool joins = !reductions.empty() && (gang || workers || lanes);
        if (joins && (workers || lanes) && !at.uniform) give_up_levels(at);
        if (joins)
            for (const auto& each : reductions) {
                const auto name = m_print.names().contains(each.variable)
                                      ? m_print.names()[each.variable].text
                                      : identifier(each.variable->getNameAsString());
                const auto type = m_program.types.name(each.variable->getType().getUnqualifiedType(), node.place());
                line(type + " acc_before_" + identifier(each.variable->getNameAsString()) + " = " + name + ";");
                line(name + " = " + reduction_identity(each.operation, each.variable->getType()) + ";");
            }
        const auto actives = m_active_reductions.size();
        for (const auto& each : reductions) m_active_reductions.emplace_back(each.variable, each.operation);
        loops(node, at, gang, workers, lanes);
        m_active_reductions.resize(actives);
        if (joins)
            for (const auto& each : reductions) join(each, node, workers, lanes);
        else if ((workers || lanes) && !at.last) {
            if (at.uniform)
                barrier();
            else
                give_up_levels(at);
        }
        --m_indent;
        line("}");
    }

    static bool is_changed(const Stmt* body, const VarDecl* variable) {
        const auto all = accesses_in(body);
        return std::any_of(all.begin(), all.end(),
                           [&](const auto& each) { return each.root == variable && each.writes && !each.memory; });
    }

    void join(const reduction& each, const loop_node& node, bool workers, bool lanes) {
        const auto variable = identifier(each.variable->getNameAsString());
        const auto name = m_print.names().contains(each.variable) ? m_print.names()[each.variable].text : variable;
        const auto type = m_program.types.name(each.variable->getType().getUnqualifiedType(), node.place());
        if (workers || lanes) {
            line("{");
            ++m_indent;
            line("__local " + type + " *acc_part = (__local " + type + " *)acc_scratch;");
            const std::string lane = "get_local_id(0)", worker = "get_local_id(1)", width = "get_local_size(0)";
            line("const int acc_self = " + worker + " * " + width + " + " + lane + ";");
            if (workers && lanes)
                line("const int acc_of = get_local_size(0) * get_local_size(1), acc_rank = acc_self, acc_apart = 1, "
                     "acc_first = 0;");
            else if (lanes)
                line("const int acc_of = get_local_size(0), acc_rank = " + lane +
                     ", acc_apart = 1, acc_first = " + worker + " * " + width + ";");
            else
                line("const int acc_of = get_local_size(1), acc_rank = " + worker + ", acc_apart = " + width +
                     ", acc_first = " + lane + ";");
            barrier();
            line("acc_part[acc_self] = " + name + ";");
            barrier();
            line("for (int acc_step = acc_half(acc_of); acc_step > 0; acc_step /= 2) {");
            const std::string mine = "acc_part[acc_self]", other = "acc_part[acc_self + acc_step * acc_apart]";
            line("    if (acc_rank < acc_step && acc_rank + acc_step < acc_of) " + mine + " = " +
                 reduction_step(each.operation, mine, other) + ";");
            line("    barrier(CLK_LOCAL_MEM_FENCE);");
            line("}");
            line(name + " = acc_part[acc_first];");
            barrier();
            --m_indent;
            line("}");
        }
        line(name + " = " + reduction_step(each.operation, "acc_before_" + variable, name) + ";");
    }

    void loops(const loop_node& node, position at, bool gang, bool workers, bool lanes) {
        const bool short_type = node.loops.size() == 1 &&
                                m_unit.context.getTypeSize(node.loops[0].variable->getType()) <= 32;
        const std::string type = short_type ? "int" : "long";
        const auto id = std::to_string(line_of(node.loops.front().loop->getForLoc())) + "_" + std::to_string(m_indent);
        const auto total = "acc_n" + id, at_name = "acc_k" + id;
        std::vector<std::string> lengths;
        for (std::size_t each = 0; each < node.loops.size(); ++each) {
            lengths.push_back(node.loops.size() == 1 ? total : total + "_" + std::to_string(each));
            line("const " + type + " " + lengths.back() + " = " + trips(node.loops[each]) + ";");
        }
        if (node.loops.size() > 1) {
            std::string all;
            for (const auto& each : lengths) all += (all.empty() ? "" : " * ") + each;
            line("const long " + total + " = " + all + ";");
        }
        std::string from = "0", to = total, step = "1";
        if (gang) {
            const auto part = "acc_part" + id, begin = "acc_from" + id, end = "acc_to" + id;
            line("const " + type + " " + part + " = (" + total + " - 1) / (" + type + ")get_num_groups(0) + 1;");
            line("const " + type + " " + begin + " = " + part + " * (" + type + ")get_group_id(0);");
            line("const " + type + " " + end + " = " + total + " - " + begin + " < " + part + " ? " + total + " : " +
                 begin + " + " + part + ";");
            from = begin;
            to = end;
        }
        std::string lane, width;
        const auto cast = "(" + type + ")";
        if (workers && lanes) {
            lane = cast + "(get_local_id(1) * get_local_size(0) + get_local_id(0))";
            width = cast + "(get_local_size(0) * get_local_size(1))";
        } else if (lanes) {
            lane = cast + "get_local_id(0)";
            width = cast + "get_local_size(0)";
        } else if (workers) {
            lane = cast + "get_local_id(1)";
            width = cast + "get_local_size(1)";
        }
        if (!lane.empty()) {
            from = from == "0" ? lane : from + " + " + lane;
            step = width;
        }
        line("for (" + type + " " + at_name + " = " + from + "; " + at_name + " < " + to + "; " + at_name +
             " += " + step + ") {");
        ++m_indent;
        std::string rest = at_name;
        for (std::size_t each = 0; each < node.loops.size(); ++each) {
            std::string index = at_name;
            if (node.loops.size() > 1) {
                std::string below;
                for (std::size_t inner = each + 1; inner < lengths.size(); ++inner)
                    below += (below.empty() ? "" : " * ") + lengths[inner];
                index = below.empty() ? at_name : at_name + " / (" + below + ")";
                if (each > 0) index = "(" + index + ") % " + lengths[each];
            }
            line(loop_variable(node.loops[each], index));
        }
        for (const auto* entry : node.privates) own_variable(node, *entry);
        position inside = at;
        inside.workers |= workers;
        inside.vector |= lanes;
        if (workers || lanes) inside.uniform = false;
        inside.last = gang || workers || lanes;
        // Iterations in turn: what one wrote the next may read.
        if (!gang && !workers && !lanes && !node.independent) inside.last = false;
        --m_indent;
        block(node.body, inside);
        line("}");
    }

    void own_variable(const loop_node& node, const item& entry) {
        const auto* variable = variable_of(node.of, entry);
        if (!variable) throw unsupported{entry.place, "'" + entry.base.text + "' in the clause 'private'"};
        const auto name = identifier(variable->getNameAsString());
        const auto type = variable->getType();
        auto& names = m_print.names();
        for (const auto& counted : node.loops)
            if (counted.variable == variable) return;
        names[variable] = naming{name};
        if ((type->isPointerType() && !entry.sections.empty()) || type->isVariablyModifiedType()) {
            const auto key = name + std::to_string(node.of.directive->id);
            if (m_made_scratches.insert(key).second && std::none_of(m_scratches.begin(), m_scratches.end(),
                                                                    [&](const auto& each) { return each.name == key; }))
                m_scratches.push_back({key, record_of(m_unit, node.of, entry, "CREATE").bytes});
            names[variable] = naming{name, true, false, true};
            const auto low = entry.sections.empty() || !entry.sections.front().low
                                 ? std::string("0")
                                 : m_print.print(tree_of(node.of, entry.sections.front().low));
            return line(own_array(variable, key, low));
        }
        line(m_program.types.declare(type.getUnqualifiedType(), name, entry.place) + ";");
    }

    std::string step_of(const counted_loop& loop) {
        // `i > 0; i += -2` counts down by 2.
        const bool by_comparison = loop.comparison == BO_GT || loop.comparison == BO_GE;
        const auto text = loop.step ? m_print.operand(loop.step) : std::string("1");
        return loop.step && by_comparison != loop.down && loop.comparison != BO_NE ? "(-" + text + ")" : text;
    }
    static bool goes_down(const counted_loop& loop) {
        return loop.comparison == BO_NE ? loop.down : loop.comparison == BO_GT || loop.comparison == BO_GE;
    }

    std::string trips(const counted_loop& loop) {
        const auto first = "(long)" + m_print.operand(loop.first), last = "(long)" + m_print.operand(loop.last);
        const bool down = goes_down(loop);
        const bool reaches = loop.comparison == BO_LE || loop.comparison == BO_GE;
        return down ? "acc_trips(" + last + (reaches ? " - 1" : "") + ", " + first + ", " + step_of(loop) + ")"
                    : "acc_trips(" + first + ", " + last + (reaches ? " + 1" : "") + ", " + step_of(loop) + ")";
    }

    std::string loop_variable(const counted_loop& loop, const std::string& index) {
        const auto type = m_program.types.name(loop.variable->getType().getUnqualifiedType(), loop.loop->getForLoc());
        const auto name = identifier(loop.variable->getNameAsString());
        m_print.names()[loop.variable] = naming{name};
        // The start is the loop variable's value outside, which its own declaration hides.
        const auto first = m_print.operand(loop.first);
        const auto step = step_of(loop);
        const auto scaled = step == "1" ? "(" + type + ")(" + index + ")" : "(" + type + ")(" + index + ") * " + step;
        return type + " " + name + " = " + first + (goes_down(loop) ? " - " : " + ") + scaled + ";";
    }
};

} // namespace

region_kernels print_kernels(const unit& unit, const region& region, const loop_tree& tree, program_text& program) {
    region_kernels made;
    const auto base = "acc_kernel" + std::to_string(region.id);
    struct piece {
        std::vector<const Stmt*> statements;
        const loop_node* only;
    };
    std::vector<piece> pieces;
    const auto* block = dyn_cast<CompoundStmt>(region.of.body);
    const auto loop_of = [&](const Stmt* statement) -> const loop_node* {
        if (const auto of = directive_of(unit, statement)) return of.body ? tree.find(of.body) : nullptr;
        return tree.find(statement);
    };
    bool declares = false;
    if (block)
        for (const auto* each : block->body()) declares |= isa<DeclStmt>(each);
    const bool split = region.kernels && block && !region.of.directive->is_combined() && !declares;
    if (split) {
        for (const auto* each : block->body()) {
            const auto* node = loop_of(each);
            if (node || pieces.empty() || pieces.back().only)
                pieces.push_back({{each}, node});
            else
                pieces.back().statements.push_back(each);
        }
    } else if (block && !region.of.directive->is_combined()) {
        pieces.push_back({{block->body_begin(), block->body_end()}, nullptr});
    } else {
        pieces.push_back({{region.of.body}, region.kernels ? loop_of(region.of.body) : nullptr});
    }
    if (pieces.empty() || pieces.front().statements.empty()) return made;
    // The arrays of threads are parameters of all kernels: a first round finds them.
    for (int round = 0; round < 2; ++round) {
        made.kernels.clear();
        for (std::size_t each = 0; each < pieces.size(); ++each) {
            printer writer(unit, region, tree, program, made.scratches);
            const bool gangs = !region.serial && (!region.kernels || pieces[each].only);
            made.kernels.push_back(writer.print(pieces[each].statements,
                                                base + (pieces.size() > 1 ? "_" + std::to_string(each) : ""),
                                                pieces[each].only, gangs));
        }
        if (made.scratches.empty()) break;
    }
    for (const auto& each : made.kernels) program.kernels.push_back(each.text);
    return made;
}

} // namespace directive
