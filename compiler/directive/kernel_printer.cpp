// SPDX-License-Identifier: Apache-2.0
#include "kernel_writer.hpp"

#include <clang/AST/Decl.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

namespace directive {

using namespace clang;

const char* const prelude = R"cl(#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifndef ACC_RESTRICT
#define ACC_RESTRICT
#define ACC_SHARED
#endif
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
/* The first of the two halves in which a tree joins `n` values. */
static inline int acc_half(int n) { int half_of = n > 1 ? 1 : 0; while (half_of * 2 < n && half_of > 0) half_of *= 2; return half_of; }
/* Most loops count in 32 bits, whose division costs a quarter. */
static inline long acc_quotient(long a, long b) { return (a | b) >> 31 == 0 ? (long)((uint)a / (uint)b) : a / b; }
static inline long acc_rest(long a, long b) { return (a | b) >> 31 == 0 ? (long)((uint)a % (uint)b) : a % b; }
/* How often a loop runs from first up to last, which it does not reach. */
static inline long acc_trips(long first, long last, long step) { return first < last && step > 0 ? (step == 1 ? last - first : acc_quotient(last - first - 1, step) + 1) : 0; }
static inline long acc_unsigned_trips(ulong first, ulong last, long step) { return first < last && step > 0 ? (step == 1 ? (long)(last - first) : acc_quotient((long)(last - first - 1), step) + 1) : 0; }
static inline int acc_ctz(ulong x) { return (int)popcount((x & -x) - 1); }
static inline int acc_ffs(ulong x) { return x ? acc_ctz(x) + 1 : 0; }
static inline int acc_on_device(int type) { return type == 4 || type == ACC_DEVICE_TYPE; }
/* Gangs of a GPU take iterations in turn, so that they find in its cache what their neighbours use; those of other devices a part each. */
#ifdef ACC_GPU
#define ACC_IN_TURN(n) ((n) < 1 << 30)
#else
#define ACC_IN_TURN(n) 0
#endif
/* Where arguments share memory, one thread takes a loop's iterations in order, and looks each time for its end. */
#ifdef ACC_SHARED
#define ACC_END(once, anew) (anew)
#else
#define ACC_END(once, anew) (once)
#endif
/* With ACC_ALONE each group has one thread. */
#ifdef ACC_ALONE
#define barrier(flags)
#endif
/* With ACC_ONE_EACH the launch has a thread for each iteration: no thread comes by a second time. */
#ifdef ACC_ONE_EACH
#define ACC_FOR(type, k, from, to, step) const type k = from; if (k < to)
#else
#define ACC_FOR(type, k, from, to, step) for (type k = from; k < to; k += step)
#endif
/* A reduction takes its terms in any order: compilers for processors then sum in vectors, where else each sum waits for the last. */
#if defined(__clang__) && __clang_major__ >= 12 && !defined(ACC_GPU)
#define ACC_ANY_ORDER _Pragma("clang fp reassociate(on)")
#else
#define ACC_ANY_ORDER
#endif
)cl";

std::string reduction_identity(const std::string& operation, QualType type) {
    type = type.getCanonicalType();
    const bool floating = type->isFloatingType();
    // -0.0 + x is x, also of -0.0.
    if (floating && (operation == "+" || operation == "-")) return "-0.0f";
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

std::string reduction_step(const std::string& given, const std::string& a, const std::string& b,
                           const std::string& before) {
    const auto operation = plain_operation(given);
    if (given.starts_with("f")) return given + "(" + a + ", " + b + ")";
    if (given == "&&?" || given == "||?")
        return a + " == " + before + " ? " + b + " : " + b + " == " + before + " ? " + a + " : " + a + " " + operation +
               " " + b;
    if (operation == "max") return a + " > " + b + " ? " + a + " : " + b;
    if (operation == "min") return a + " < " + b + " ? " + a + " : " + b;
    return a + " " + (operation == "-" ? "+" : operation) + " " + b;
}

namespace {

bool has_loop(const Stmt* body) {
    bool found = false;
    walk(body, [&](const Stmt* each) {
        found |= isa<ForStmt, WhileStmt, DoStmt>(each);
        return !found;
    });
    return found;
}

} // namespace

kernel_text kernel_writer::print(const std::vector<const Stmt*>& statements, const std::string& name,
                                 const loop_node* only, bool gangs_allowed) {
    kernel_text made;
    made.name = name;
    made.line = line_of(statements.front()->getBeginLoc());
    m_gangs_allowed = gangs_allowed;
    m_statements = statements;
    m_only = only;
    collect_reads(statements);
    for (const auto* node : m_region.loops)
        if (!only || within(node, only)) {
            m_any_gang |= node->gang && gangs_allowed;
            m_gang_loops += node->gang;
            m_any_worker |= node->worker;
            m_any_vector |= node->vector;
            m_any_proved |= node->proved;
            // Of a kernel without a loop over gangs, the loops join into the variable itself.
            if (only && (node == only || only->gang))
                for (const auto& each : node->reductions) m_reduced_here.emplace(each.variable, each.operation);
            if (node->vector)
                for (const auto& each : accesses_in(node->body))
                    if (each.writes && each.memory) m_written_by_lanes.merge(m_pointees.reached(each.root));
        }
    // What parallelism a first writing found to need waits that threads cannot do is taken away in a second one.
    std::string body;
    for (int attempt = 0; attempt < 3; ++attempt) {
        m_again = m_has_gang_loop = m_lanes_share = m_one_each = m_threads_branch = m_one_works = false;
        m_split = nullptr;
        m_one.clear();
        body.clear();
        m_out = &body;
        m_indent = 1;
        find_kept();
        set_names();
        position at;
        for (std::size_t each = 0; each < statements.size(); ++each) {
            at.last = each + 1 == statements.size();
            statement(statements[each], at);
        }
        if (!m_again) break;
    }
    m_threads_meet = body.find("barrier(") != std::string::npos;
    std::string text = "__kernel void " + name + parameters() + " {\n" + prologue() + body + epilogue() + "}\n";
    if (has_reductions()) text += final_kernel(name);
    functions();
    if (m_any_gang) made.flags.push_back("USES_GANGS");
    if (!m_region.kernels && !m_region.serial) made.flags.push_back("ALLOWS_GANGS");
    if (m_any_worker && !m_one_worker) made.flags.push_back("USES_WORKERS");
    if (m_any_vector && !m_one_lane) made.flags.push_back("USES_VECTOR");
    if (has_reductions()) made.flags.push_back("HAS_REDUCTION");
    if (m_any_proved) made.flags.push_back("MAY_ALIAS");
    if (gangs_use_memory()) made.flags.push_back("GANGS_USE_MEMORY");
    if (m_lanes_share) made.flags.push_back("LANES_SHARE_GANG_LOOP");
    if (!has_reductions() && body.find("barrier(") == std::string::npos &&
        std::any_of(m_region.loops.begin(), m_region.loops.end(), [&](const auto* node) {
            return (!only || within(node, only)) && node->vector && !m_one_lane && has_loop(node->body);
        }))
        made.flags.push_back("LANES_HAVE_LOOPS");
    if (m_has_gang_loop) made.trips = m_host_trips;
    if (m_split) {
        made.flags.push_back("GROUPS_SHARE_LANES");
        if (!m_any_worker && body.find("barrier(") == std::string::npos) made.flags.push_back("GANGS_SHARE_GROUPS");
        made.inner_trips = m_inner_trips;
    }
    if (m_threads_meet && m_threads_branch) made.flags.push_back("WAITS_IN_BRANCHES");
    if (m_one_works) made.flags.push_back("WAITS_FOR_ONE");
    if (m_one_each) made.flags.push_back("HAS_ONE_EACH");
    made.text = m_one_each ? std::move(text) : "#ifndef ACC_ONE_EACH\n" + text + "#endif\n";
    return made;
}

unsigned kernel_writer::line_of(SourceLocation location) const {
    return m_unit.context.getSourceManager().getPresumedLineNumber(location);
}

bool kernel_writer::within(const loop_node* node, const loop_node* outer) {
    for (; node; node = node->parent)
        if (node == outer) return true;
    return false;
}

void kernel_writer::collect_reads(const std::vector<const Stmt*>& statements) {
    for (const auto* statement : statements)
        for (const auto& each : accesses_in(statement))
            if (each.reads) {
                if (!each.root && each.memory) m_unknown_reads = true;
                m_read.merge(m_pointees.reached(each.root));
            }
}

void kernel_writer::line(const std::string& text) {
    *m_out += std::string(static_cast<std::size_t>(m_indent) * 4, ' ') + text + "\n";
}

bool kernel_writer::is_reduction(const capture& each) const {
    return each.how == role::reduction && (!m_region.kernels || m_reduced_here.contains(each.variable));
}

std::string kernel_writer::operation_of(const capture& reduced) const {
    const auto here = m_reduced_here.find(reduced.variable);
    return m_region.kernels && here != m_reduced_here.end() ? here->second : reduced.operation;
}

bool kernel_writer::has_reductions() const {
    return std::any_of(m_region.captures.begin(), m_region.captures.end(),
                       [&](const auto& each) { return is_reduction(each); });
}

void kernel_writer::find_kept() {
    m_kept.clear();
    if (!m_region.kernels) return;
    std::set<const VarDecl*> addressed, in_heads = m_tree.read_after_loops();
    const auto add_written = [&](const Stmt* head) {
        for (const auto& each : accesses_in(head))
            if (each.writes && !each.memory) in_heads.insert(each.root);
    };
    walk(m_region.of.body, [&](const Stmt* each) {
        if (const auto* address = dyn_cast<UnaryOperator>(each); address && address->getOpcode() == UO_AddrOf)
            addressed.insert(root_of(address->getSubExpr()));
        if (const auto* loop = dyn_cast<ForStmt>(each); loop && !m_tree.find(loop))
            for (const Stmt* part :
                 {loop->getInit(), cast_or_null<Stmt>(loop->getCond()), cast_or_null<Stmt>(loop->getInc())})
                add_written(part);
        if (const auto* loop = dyn_cast<WhileStmt>(each); loop && !directive_of(m_unit, loop))
            add_written(loop->getCond());
        if (const auto* loop = dyn_cast<DoStmt>(each)) add_written(loop->getCond());
        if (const auto* choice = dyn_cast<IfStmt>(each)) add_written(choice->getCond());
        if (const auto* choice = dyn_cast<SwitchStmt>(each)) add_written(choice->getCond());
        return true;
    });
    for (const auto& each : m_region.captures)
        if (each.how == role::shared && each.written && is_scalar(each.variable->getType()) &&
            in_heads.contains(each.variable) && !addressed.contains(each.variable) &&
            !m_unit.is_declared(each.variable))
            m_kept.insert(each.variable);
}

void kernel_writer::set_names() {
    auto& names = m_print.names();
    names.clear();
    for (const auto& each : m_region.captures) {
        const auto name = identifier(each.variable->getNameAsString());
        naming made{name};
        if (each.how == role::buffer && !each.copied) made.flat = made.captured = made.on_device = true;
        made.rows = each.rows();
        if (each.how == role::shared || (each.how == role::reduction && !is_reduction(each))) {
            if (!m_kept.contains(each.variable)) made = naming{"(*acc_at_" + name + ")", false, false, true};
        }
        if (each.how == role::own && each.own_array) made.flat = made.captured = made.on_device = made.own = true;
        names[each.variable] = made;
    }
}

QualType kernel_writer::element_of(const VarDecl* variable) const {
    auto type = variable->getType().getCanonicalType();
    if (const auto* pointer = type->getAs<PointerType>()) type = pointer->getPointeeType();
    while (const auto* array = m_unit.context.getAsArrayType(type)) type = array->getElementType();
    return type;
}

std::string kernel_writer::parameters() {
    std::string text;
    const auto add = [&](const std::string& one) { text += (text.empty() ? "(" : ", ") + one; };
    // Where threads meet, one reads what another has written: `restrict` would let a compiler keep what it read before.
    const std::string written = m_threads_meet ? "__global char *" : "__global char *ACC_RESTRICT ";
    const std::string read = "__global const char *ACC_RESTRICT ";
    for (const auto& each : m_region.captures) {
        const auto location = each.variable->getLocation();
        const auto name = identifier(each.variable->getNameAsString());
        switch (each.how) {
        case role::value:
            add(each.variable->getType()->isBooleanType()
                    ? "uchar acc_byte_" + name
                    : m_program.types.declare(each.variable->getType().getUnqualifiedType(), name, location));
            break;
        case role::buffer:
        case role::shared:
            add((each.written && !each.rows() ? written : read) + "acc_buffer_" + name + ", long acc_offset_" + name);
            if (each.rows()) add((each.written ? written : read) + "acc_rows_" + name);
            break;
        case role::reduction:
            add(written + "acc_buffer_" + name + ", long acc_offset_" + name);
            add("__global char *ACC_RESTRICT acc_parts_" + name);
            break;
        case role::own:
            if (each.own_array) add(written + "acc_own_" + name + ", long acc_own_bytes_" + name);
            if (each.begins)
                add("__global const char *ACC_RESTRICT acc_buffer_" + name + ", long acc_offset_" + name +
                    ", long acc_length_" + name);
            break;
        }
        if (each.how == role::buffer || (each.how == role::own && each.own_array))
            for (const auto& length : m_print.row_lengths(each.variable))
                if (length.starts_with("acc_row")) add("long " + length);
    }
    for (const auto& each : m_scratches) add(written + "acc_own_" + each.name + ", long acc_own_bytes_" + each.name);
    // Not of char: NVIDIA's driver (580) aligns local memory by the argument's type, and doubles are kept there.
    add("__local long *acc_scratch");
    add("int acc_gangs");
    return text + ")";
}

std::string kernel_writer::memory_of(const std::string& name, const std::string& type) const {
    return "(__global " + type + " *)(acc_buffer_" + name + " + acc_offset_" + name + ")";
}

std::string kernel_writer::prologue() {
    std::string text;
    for (const auto& each : m_region.captures) {
        const auto location = each.variable->getLocation();
        const auto name = identifier(each.variable->getNameAsString());
        const auto type = each.variable->getType();
        switch (each.how) {
        case role::value:
            if (type->isBooleanType()) text += "    bool " + name + " = acc_byte_" + name + ";\n";
            break;
        case role::buffer: {
            const auto element = element_of(each.variable);
            if (each.rows()) {
                text += "    __global const long *" + name + " = " + memory_of(name, "const long") + ";\n";
                break;
            }
            if (element->isPointerType())
                throw unsupported{m_region.of.directive->location,
                                  "'" + name + "', a pointer to pointers, in a region"};
            if (element->isVoidType()) break;
            const auto spelled = std::string(element.isConstQualified() ? "const " : "") +
                                 m_program.types.name(element, location);
            if (each.copied) {
                text += "    " + m_program.types.declare(type.getUnqualifiedType(), name, location) + ";\n";
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
            const auto spelled = m_program.types.name(type.getUnqualifiedType(), location);
            if (is_reduction(each))
                text += "    " + spelled + " " + name + " = " + beginning_of(each) + ";\n";
            else
                text += "    __global " + spelled + " *acc_at_" + name + " = " + memory_of(name, spelled) + ";\n";
            // The loop over gangs gives it a new value: no thread may read it.
            if (m_kept.contains(each.variable))
                text += "    " + spelled + " " + name +
                        (m_only && m_only->leaves_value && m_only->loops.front().variable == each.variable
                             ? ";\n"
                             : " = *acc_at_" + name + ";\n");
            break;
        }
        case role::own:
            if (each.own_array)
                text += "    " + own_array(each.variable, name, each.low) + "\n" + (each.begins ? beginning(each) : "");
            else
                text += "    " + m_program.types.declare(type.getUnqualifiedType(), name, location) + ";\n";
            break;
        }
    }
    return text;
}

std::string kernel_writer::own_array(const VarDecl* variable, const std::string& name, const std::string& low) {
    const auto spelled = m_program.types.name(element_of(variable).getUnqualifiedType(), variable->getLocation());
    return "__global " + spelled + " *" + identifier(variable->getNameAsString()) + " = (__global " + spelled +
           " *)(acc_own_" + name +
           " + ((long)get_group_id(0) * get_local_size(0) * get_local_size(1) + get_local_id(1) * "
           "get_local_size(0) + get_local_id(0)) * acc_own_bytes_" +
           name + ") - (" + low + ");";
}

std::string kernel_writer::beginning(const capture& own) const {
    const auto name = identifier(own.variable->getNameAsString());
    const auto spelled = "const " + m_program.types.name(element_of(own.variable).getUnqualifiedType(),
                                                         own.variable->getLocation());
    return "    for (long acc_i = " + own.low + "; acc_i < (long)(" + own.low + ") + acc_length_" + name +
           " / (long)sizeof(" + spelled + "); ++acc_i) " + name + "[acc_i] = (" + memory_of(name, spelled) +
           ")[acc_i];\n";
}

std::string kernel_writer::beginning_of(const capture& reduced) const {
    const auto type = reduced.variable->getType();
    const auto operation = operation_of(reduced);
    if (!begins_with_value(operation)) return reduction_identity(operation, type);
    const auto spelled = m_program.types.name(type.getUnqualifiedType(), reduced.variable->getLocation());
    return "*" + memory_of(identifier(reduced.variable->getNameAsString()), spelled);
}

std::string kernel_writer::epilogue() {
    std::string text;
    for (const auto& each : m_region.captures)
        if (!m_any_gang && m_kept.contains(each.variable)) {
            const auto name = identifier(each.variable->getNameAsString());
            text += "    if (get_local_id(0) == 0 && get_local_id(1) == 0) *acc_at_" + name + " = " + name + ";\n";
        }
    for (const auto& each : m_region.captures)
        if (is_reduction(each)) {
            const auto name = identifier(each.variable->getNameAsString());
            const auto spelled = m_program.types.name(each.variable->getType().getUnqualifiedType(),
                                                      each.variable->getLocation());
            text += "    if (get_local_id(0) == 0 && get_local_id(1) == 0) ((__global " + spelled + " *)acc_parts_" +
                    name + ")[get_group_id(0)] = " +
                    (each.by_gangs ? name
                                   : "get_group_id(0) == 0 ? " + name + " : (" + spelled + ")" + beginning_of(each)) +
                    ";\n";
        }
    return text;
}

std::string kernel_writer::final_kernel(const std::string& name) {
    std::string text = "__kernel void " + name + "_end" + parameters() +
                       " {\n    const int acc_lane = get_local_id(0), acc_lanes = get_local_size(0);\n";
    for (const auto& each : m_region.captures) {
        if (!is_reduction(each)) continue;
        const auto variable = identifier(each.variable->getNameAsString());
        const auto type = each.variable->getType().getUnqualifiedType();
        const auto spelled = m_program.types.name(type, each.variable->getLocation());
        const auto own = memory_of(variable, spelled);
        const auto operation = operation_of(each);
        const bool begins = begins_with_value(operation);
        const std::string one = "acc_part[acc_lane]", other = "acc_part[acc_lane + acc_step]";
        text +=
            "    {\n        __local " + spelled + " *acc_part = (__local " + spelled + " *)acc_scratch;\n        " +
            (begins ? "const " + spelled + " acc_before = *" + own + ";\n        " : "") + spelled +
            " acc_all = " + (begins ? "acc_before" : reduction_identity(operation, type)) +
            ";\n        for (int acc_gang = acc_lane; acc_gang < acc_gangs; acc_gang += acc_lanes) {\n            " +
            spelled + " acc_one = ((__global " + spelled + " *)acc_parts_" + variable +
            ")[acc_gang];\n            acc_all = " + reduction_step(operation, "acc_all", "acc_one", "acc_before") +
            ";\n        }\n        " + one + " = acc_all;\n        barrier(CLK_LOCAL_MEM_FENCE" +
            (begins ? " | CLK_GLOBAL_MEM_FENCE" : "") + ");\n" +
            "        int acc_step = acc_half(acc_lanes);\n        do {\n" +
            "            if (acc_lane < acc_step && acc_lane + acc_step < acc_lanes) " + one + " = " +
            reduction_step(operation, one, other, "acc_before") +
            ";\n            barrier(CLK_LOCAL_MEM_FENCE);\n            acc_step /= 2;\n        } while (acc_step > "
            "0);\n" +
            "        if (acc_lane == 0) *" + own + " = " +
            reduction_step(operation, begins ? "acc_before" : "*" + own, one, "acc_before") +
            ";\n        barrier(CLK_LOCAL_MEM_FENCE);\n    }\n";
    }
    return text + "}\n";
}

namespace {

/// Of the source file and line, as tools show it: acc_heat_c_42.
std::string kernel_name(const unit& unit, const region& region, program_text& program) {
    const auto location = unit.context.getSourceManager().getPresumedLoc(region.of.directive->location);
    std::string file = location.getFilename();
    file.erase(0, file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1);
    for (auto& each : file)
        if (!std::isalnum(static_cast<unsigned char>(each))) each = '_';
    const auto name = "acc_" + file + "_" + std::to_string(location.getLine());
    // A macro may have several regions in one line.
    return program.known_kernels.insert(name).second ? name : name + "_region" + std::to_string(region.id);
}

bool declares_variables(const Stmt* statement) {
    const auto* declaration = dyn_cast<DeclStmt>(statement);
    return declaration && std::any_of(declaration->decl_begin(), declaration->decl_end(),
                                      [](const Decl* each) { return isa<VarDecl>(each); });
}

} // namespace

region_kernels print_kernels(const unit& unit, const region& region, const loop_tree& tree, program_text& program) {
    region_kernels made;
    const auto base = kernel_name(unit, region, program);
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
        for (const auto* each : block->body()) declares |= declares_variables(each);
    const bool split = region.kernels && block && !region.of.directive->is_combined() && !declares;
    if (split) {
        for (const auto* each : block->body()) {
            if (isa<DeclStmt>(each)) continue;
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
            kernel_writer writer(unit, region, tree, program, made.scratches);
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

std::vector<std::vector<std::string>> ways_to_call(const FunctionDecl* function) {
    std::vector<unsigned> pointers;
    for (unsigned each = 0; each < function->getNumParams(); ++each)
        if (const auto type = function->getParamDecl(each)->getType(); type->isPointerType() && !has_rows(type))
            pointers.push_back(each);
    // Of many pointers only the likely ways: all into memory of the device, or all into the thread's.
    constexpr std::size_t most = 3;
    const bool many = pointers.size() > most;
    std::vector<std::vector<std::string>> ways(many ? 2 : std::size_t{1} << pointers.size());
    for (std::size_t way = 0; way < ways.size(); ++way) {
        ways[way].resize(function->getNumParams(), "__global");
        for (std::size_t each = 0; each < pointers.size(); ++each)
            if ((way >> (many ? 0 : each)) % 2 != 0) ways[way][pointers[each]] = "";
    }
    return ways;
}

void print_routine(const unit& unit, const FunctionDecl* definition, const std::vector<std::string>& spaces,
                   program_text& into) {
    const pragma none;
    const region nowhere{{&none, nullptr, nullptr}, 0, false, false, {}, {}, {}};
    const loop_tree no_loops(unit, nowhere.of);
    std::vector<scratch> scratches;
    const auto name = device_name(definition, spaces);
    into.exported.insert(name);
    into.known_functions.insert(name);
    kernel_writer(unit, nowhere, no_loops, into, scratches).write_function({definition, name, spaces, {}});
}

} // namespace directive
