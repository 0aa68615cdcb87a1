// SPDX-License-Identifier: Apache-2.0
#include "host_rewriter.hpp"

#include <clang/AST/Decl.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

namespace directive {

using namespace clang;

std::string string_literal(const std::string& text) {
    std::string literal = "\"";
    for (const char each : text) {
        if (each == '\n')
            literal += "\\n\"\n\"";
        else if (each == '"' || each == '\\')
            literal += std::string("\\") + each;
        else
            literal += each;
    }
    return literal + "\"";
}

host_rewriter::host_rewriter(const unit& unit, std::string text, std::string* report)
    : m_unit(unit), m_text(std::move(text)), m_report(report), m_program{type_printer(unit), "", {}, {}, {}, {}, {}} {}

std::size_t host_rewriter::offset(SourceLocation location) const {
    return m_unit.context.getSourceManager()
        .getDecomposedLoc(m_unit.context.getSourceManager().getExpansionLoc(location))
        .second;
}

std::string host_rewriter::where(SourceLocation location) const {
    const auto presumed = m_unit.context.getSourceManager().getPresumedLoc(location);
    return std::string(presumed.getFilename()) + ":" + std::to_string(presumed.getLine());
}

std::string host_rewriter::marker(SourceLocation location, unsigned later) const {
    const auto presumed = m_unit.context.getSourceManager().getPresumedLoc(location);
    return "# " + std::to_string(presumed.getLine() + later) + " " + string_literal(presumed.getFilename()) + "\n";
}

std::string host_rewriter::location(const std::string& name, SourceLocation at, const std::string& directive) const {
    const auto presumed = m_unit.context.getSourceManager().getPresumedLoc(at);
    return "static const struct causeway_acc_location " + name + " = {" + string_literal(presumed.getFilename()) +
           ", " + std::to_string(presumed.getLine()) + ", CAUSEWAY_ACC_LAYOUT, \"" + directive + "\"};\n";
}

/// Code that is quiet where a tree makes errors of warnings about its own.
static std::string quiet(const std::string& code) {
    if (code.empty()) return code;
    std::string text = "#pragma GCC diagnostic push\n";
    for (const char* warning : {"shadow", "conversion", "sign-conversion"})
        text += std::string("#pragma GCC diagnostic ignored \"-W") + warning + "\"\n";
    return text + code + "#pragma GCC diagnostic pop\n";
}

void host_rewriter::replace(const pragma& directive, const std::string& code) {
    const auto at = offset(directive.location);
    const auto before = m_text.rfind('\n', at);
    const auto from = before == std::string::npos ? 0 : before + 1;
    const auto to = m_text.find('\n', at);
    m_edits.emplace(from, edit{to - from + 1, quiet(code) + marker(directive.location, 1)});
    m_seen.insert(directive.id);
}

void host_rewriter::begin(const found_directive& of, const std::string& code) { replace(*of.directive, code); }

namespace {

/// The offset at which a statement's text ends, without its semicolon.
SourceLocation end_of(const Stmt* statement) { return statement->getEndLoc(); }

bool ends_with_brace(const Stmt* statement) {
    if (isa<CompoundStmt>(statement)) return true;
    if (const auto* loop = dyn_cast<ForStmt>(statement)) return ends_with_brace(loop->getBody());
    if (const auto* loop = dyn_cast<WhileStmt>(statement)) return ends_with_brace(loop->getBody());
    if (const auto* choice = dyn_cast<IfStmt>(statement))
        return ends_with_brace(choice->getElse() ? choice->getElse() : choice->getThen());
    if (const auto* choice = dyn_cast<SwitchStmt>(statement)) return ends_with_brace(choice->getBody());
    return false;
}

} // namespace

void host_rewriter::end(const found_directive& of, const std::string& code) {
    const auto last = end_of(of.body);
    auto at = offset(last) + Lexer::MeasureTokenLength(m_unit.context.getSourceManager().getExpansionLoc(last),
                                                       m_unit.context.getSourceManager(), m_unit.context.getLangOpts());
    const auto inner = directive_of(m_unit, of.body);
    if (inner && !inner.body)
        at = m_text.find('\n', offset(inner.directive->location)); // the body is a directive that stands alone
    else if (!ends_with_brace(of.body))
        at = m_text.find(';', at) + 1;
    m_edits.emplace(at, edit{0, "\n" + code + marker(last, 0)});
}

void host_rewriter::name_sections(const found_directive& of) {
    int count = 0;
    const auto name_it = [&](expression& bound) {
        const auto* tree = tree_of(of, bound);
        if (!tree || !tree->HasSideEffects(m_unit.context)) return;
        const auto name = "__acc_bound" + std::to_string(of.directive->id) + "_" + std::to_string(count++);
        m_sections += "const long " + name + " = " + bound.text + ";\n";
        bound.text = name;
    };
    for (auto& clause : m_unit.pragmas[static_cast<std::size_t>(of.directive->id)].clauses)
        for (auto& entry : clause.items)
            for (auto& part : entry.sections) {
                name_it(part.low);
                name_it(part.length);
            }
}

std::string host_rewriter::copied_elements(const std::string& name, const std::string& low, const std::string& bytes,
                                           bool filled) {
    const auto of = "__acc_of_" + name, copy = "__acc_copy_" + name;
    const auto pointer = "__typeof__(&(" + name + ")[0]) ";
    return pointer + of + " = " + name + ";\nvoid *" + copy +
           " __attribute__((cleanup(causeway_acc_free_copy))) = causeway_acc_copy(" +
           (filled ? "(const void *)(" + of + " + (" + low + "))" : std::string("0")) + ", " + bytes + ");\n" +
           pointer + name + " = (__typeof__(" + of + "))" + copy + " - (" + low + ");\n";
}

std::string host_rewriter::private_copy(const found_directive& of, const item& entry) const {
    const auto* variable = variable_of(of, entry);
    const auto& name = entry.base.text;
    if (!variable || !variable->getType()->isPointerType() || entry.sections.empty() || has_rows(variable->getType()))
        return "__typeof__(" + name + ") " + name + ";\n";
    const auto& low = entry.sections.front().low;
    return copied_elements(name, low ? low.text : "0", record_of(m_unit, of, entry, "CREATE").bytes, false);
}

std::string host_rewriter::device_of(const pragma& directive) {
    for (const char* clause : {"deviceid", "device", "device_num"})
        if (const auto* found = directive.value(clause);
            found && *found && (directive.name != "update" || std::string(clause) != "device"))
            return "(" + found->text + ")";
    return "-1";
}

std::string host_rewriter::clauses(const found_directive& of) {
    const auto& directive = *of.directive;
    const auto id = std::to_string(directive.id);
    std::string text = std::exchange(m_sections, "") +
                       location("__acc_location" + id, directive.location, directive.name);
    std::string waits, wait_device = "-1";
    bool has_wait = false;
    for (const auto& clause : directive.clauses)
        if (clause.name == "wait") {
            has_wait = true;
            for (const auto& entry : clause.items)
                if (entry.modifier == "devnum")
                    wait_device = entry.base.text;
                else
                    waits += (waits.empty() ? "" : ", ") + entry.base.text;
        }
    if (!waits.empty()) text += "const long __acc_waits" + id + "[] = {" + waits + "};\n";
    const auto value = [&](const char* clause, const std::string& otherwise) {
        const auto* found = directive.value(clause);
        return found && *found ? "(" + found->text + ")" : otherwise;
    };
    const auto device = device_of(directive);
    std::string condition = value("if", "1");
    if (directive.is_compute() && directive.find("self")) condition = "(" + condition + ") && !" + value("self", "1");
    const auto* asynchronous = directive.find("async");
    text += "struct causeway_acc_clauses __acc_clauses" + id + " = {.location = &__acc_location" + id +
            ", .device = " + device + ", .has_device = " + (device == "-1" ? "0" : "1") + ", .condition = (" +
            condition + ") != 0, .asynchronous = " + (asynchronous ? "1" : "0") + ", .queue = " + value("async", "-1") +
            ", .gangs = " + value("num_gangs", "0") + ", .workers = " + value("num_workers", "0") +
            ", .vector = " + value("vector_length", "0") + ", .finalize = " + (directive.find("finalize") ? "1" : "0") +
            ", .if_present = " + (directive.find("if_present") ? "1" : "0") + ", .waits = " + (has_wait ? "1" : "0") +
            ", .wait_count = " +
            (waits.empty() ? std::string("0") : "(int)(sizeof(__acc_waits" + id + ") / sizeof(long))") +
            ", .wait_queues = " + (waits.empty() ? std::string("0") : "__acc_waits" + id) +
            ", .wait_device = " + wait_device + ", .region = 0, .trips = 0};\n";
    return text;
}

void host_rewriter::function(const FunctionDecl* function) {
    m_visible.clear();
    rewrite(function->getBody());
}

void host_rewriter::rewrite(const Stmt* statement) {
    if (!statement) return;
    if (const auto of = directive_of(m_unit, statement)) return construct(of);
    const auto known = m_visible.size();
    for (const auto* child : statement->children()) rewrite(child);
    if (isa<CompoundStmt>(statement)) m_visible.resize(known);
}

void host_rewriter::construct(const found_directive& of) {
    const auto& name = of.directive->name;
    name_sections(of);
    if (name == "data") return data(of);
    if (of.directive->is_compute()) return compute(of);
    if (name == "host_data") return host_data(of);
    if (name == "loop") return loop(of);
    if (name == "update peer") return peer(of);
    if (name == "declare") return declared_here(of);
    if (!of.body) return alone(of);
    replace(*of.directive, ""); // atomic: one thread of the host needs nothing
    rewrite(of.body);
}

void host_rewriter::compute(const found_directive& of) {
    const auto id = of.directive->id;
    const auto number = std::to_string(id);
    const loop_tree tree(m_unit, of);
    auto visible = m_visible;
    for (auto& each : visible)
        each.sure = each.kind == "DEVICEPTR" || (!each.conditional && each.device == device_of(*of.directive));
    const auto region = analyse(m_unit, of, tree, visible);
    region_kernels kernels;
    if (!m_unit.context.getDiagnostics().hasErrorOccurred()) {
        try {
            kernels = print_kernels(m_unit, region, tree, m_program);
        } catch (const unsupported& error) {
            m_unit.error(error.location.isValid() ? error.location : of.directive->location,
                         "not supported: " + error.what);
            if (error.location.isValid()) m_unit.note(of.directive->location, "in the region of this directive");
        }
    }
    report_loops(of, tree, region);
    std::string code = "{\n" + clauses(of), host;
    for (const auto& each : region.captures)
        if (structure_of(each.variable)) {
            // The region may leave alone what a null pointer does not have.
            const auto written = written_name(each.variable);
            std::string pointers;
            for (auto at = written.find("->"); at != std::string::npos; at = written.find("->", at + 1))
                pointers += (pointers.empty() ? "" : " && ") + written.substr(0, at);
            code += "__typeof__(" + written + ") " + each.variable->getNameAsString() + " = " +
                    guarded(id, pointers.empty() ? written : "(" + pointers + " ? " + written + " : 0)") + ";\n";
        }
    code += region.definitions() + data_array(id, region.data);
    // A variable that the region sets first may have no value yet.
    code += "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wuninitialized\"\n#pragma GCC diagnostic "
            "ignored \"-Wmaybe-uninitialized\"\n";
    std::string arguments;
    int count = 0;
    const auto argument = [&](const std::string& kind, const std::string& address, const std::string& bytes,
                              const std::string& name, const std::string& record, bool written) {
        arguments += "    {CAUSEWAY_ACC_" + kind + ", " + address + ", " + bytes + ", \"" + name + "\", " + record +
                     ", " + (written ? "1" : "0") + "},\n";
        ++count;
    };
    for (const auto& each : region.captures) {
        const auto name = each.variable->getNameAsString();
        const bool array = each.variable->getType()->isArrayType();
        const auto record = each.record.empty() ? std::string("0") : each.record;
        const auto address = std::string("(void *)") + (array || each.variable->getType()->isPointerType() ? "" : "&") +
                             name;
        const auto shadow = [&] {
            host += "__typeof__(" + name + ") " + name + " = __acc_value" + number + "_" + name + ";\n";
        };
        switch (each.how) {
        case role::value:
            code += "__typeof__(" + name + ") __acc_value" + number + "_" + name + " = " + name + ";\n";
            argument("VALUE", "(void *)&__acc_value" + number + "_" + name, "sizeof(" + name + ")", name, "0", false);
            if (each.written) shadow();
            break;
        case role::buffer:
        case role::shared:
            argument("BUFFER", address, "0", written_name(each.variable), record, each.written && !each.rows());
            if (each.rows()) argument("ROWS", address, "0", name, record, each.written);
            if (each.copied && each.written)
                host += "const void *const __acc_of_" + name + " = " + name + ";\n__typeof__(" + name + ") " + name +
                        ";\n__builtin_memcpy(" + name + ", __acc_of_" + name + ", sizeof(" + name + "));\n";
            if (each.assigned && !structure_of(each.variable)) {
                code += "__typeof__(" + name + ") __acc_value" + number + "_" + name + " = " + name + ";\n";
                shadow();
            }
            break;
        case role::reduction:
            argument("BUFFER", address, "0", name, record, true);
            argument("REDUCTION", "0", "sizeof(" + name + ")", name, "0", false);
            break;
        case role::own:
            if (each.own_array) argument("PRIVATE", "0", each.bytes, name, "0", false);
            if (each.begins) {
                const auto length = "__acc_length" + number + "_" + name;
                code += "long " + length + " = " + each.bytes + ";\n";
                argument("BUFFER", address, "0", name, record, false);
                argument("VALUE", "&" + length, "sizeof(long)", name, "0", false);
            }
            if (each.own_array && each.variable->getType()->isPointerType())
                host += copied_elements(name, each.low, each.bytes, each.begins);
            else
                host += "__typeof__(" + name + ") " + name + ";\n";
            break;
        }
        if (each.how == role::buffer || (each.how == role::own && each.own_array)) {
            expression_printer rows(m_unit, m_program.types);
            rows.names()[each.variable] = {name, true, true, true};
            std::string element = "(" + name + ")[0]";
            int row = 0;
            for (const auto& length : rows.row_lengths(each.variable)) {
                ++row;
                if (length.starts_with("acc_row")) {
                    const auto value = "__acc_row" + number + "_" + std::to_string(row) + "_" + name;
                    code += "long " + value + " = sizeof(" + element + ") / sizeof(" + element + "[0]);\n";
                    argument("VALUE", "&" + value, "sizeof(long)", name, "0", false);
                }
                element += "[0]";
            }
        }
    }
    code += "#pragma GCC diagnostic pop\n";
    for (const auto& each : kernels.scratches) argument("PRIVATE", "0", each.bytes, each.name, "0", false);
    if (count > 0) code += "struct causeway_acc_argument __acc_arguments" + number + "[] = {\n" + arguments + "};\n";
    code += "static const struct causeway_acc_kernel __acc_kernels" + number + "[] = {\n";
    for (const auto& each : kernels.kernels) {
        std::string flags;
        for (const auto& flag : each.flags) flags += (flags.empty() ? "" : " | ") + std::string("CAUSEWAY_ACC_") + flag;
        code += "    {\"" + each.name + "\", " + (flags.empty() ? "0" : flags) + ", " + std::to_string(each.line) +
                "},\n";
    }
    if (kernels.kernels.empty()) code += "    {0, 0, 0}\n";
    std::string trips;
    for (const auto& each : kernels.kernels)
        trips += (trips.empty() ? "{" : ", {") + guarded(id, each.trips) + ", " + guarded(id, each.inner_trips) + "}";
    code += "};\nstatic const struct causeway_acc_region __acc_region" + number +
            " = {&causeway_acc_this_program, __acc_kernels" + number + ", " + std::to_string(kernels.kernels.size()) +
            "};\n";
    if (!trips.empty())
        code += "const struct causeway_acc_iterations __acc_trips" + number + "[] = {" + trips + "};\n__acc_clauses" +
                number + ".trips = __acc_trips" + number + ";\n";
    code += "if (!causeway_acc_run(&__acc_clauses" + number + ", &__acc_region" + number + ", " +
            data_arguments(id, region.data) + ", " + (count > 0 ? "__acc_arguments" + number : "0") + ", " +
            std::to_string(count) + ")) {\n" + host;
    if (of.directive->is_combined())
        for (const auto& clause : of.directive->clauses)
            if (clause.name == "private")
                for (const auto& entry : clause.items) code += private_copy(of, entry);
    begin(of, code);
    rewrite(of.body);
    end(of, "}\n}\n");
}

void host_rewriter::loop(const found_directive& of) {
    std::string shadows;
    for (const auto& clause : of.directive->clauses)
        if (clause.name == "private")
            for (const auto& entry : clause.items) shadows += private_copy(of, entry);
    shadows.insert(0, std::exchange(m_sections, ""));
    replace(*of.directive, shadows.empty() ? "" : "{\n" + shadows);
    rewrite(of.body);
    if (!shadows.empty()) end(of, "}\n");
}

void host_rewriter::report_loops(const found_directive& of, const loop_tree& tree, const region& region) {
    constexpr std::size_t longest_text = 400;
    if (!m_report) return;
    *m_report += where(of.directive->location) + ": " + of.directive->name + "\n";
    for (const auto& each : region.captures) {
        static const std::map<role, const char*> roles = {{role::value, "a copy for each thread (firstprivate)"},
                                                          {role::buffer, "device memory"},
                                                          {role::shared, "device memory"},
                                                          {role::reduction, "reduction"},
                                                          {role::own, "private"}};
        *m_report += "    " + written_name(each.variable) + ": " + roles.at(each.how) +
                     (each.how == role::reduction ? " " + plain_operation(each.operation) : "") + "\n";
    }
    for (const auto& each : region.data)
        if (each.kind.starts_with("IMPLICIT") && each.host == "0")
            *m_report += "    " + each.name + ": in no clause, and which of its elements the region uses is not seen " +
                         "before it runs: it has to be present\n";
        else
            *m_report += "    " + each.name + ": " + each.kind + ", " +
                         region.values.expanded(each.bytes + " bytes", longest_text)
                             .value_or("as much as its loops use") +
                         "\n";
    for (const auto& node : tree.all()) {
        std::string how;
        if (node->gang) how += " gang";
        if (node->worker) how += " worker";
        if (node->vector) how += " vector";
        *m_report += "    loop at " + where(node->loops.front().loop->getForLoc()) + ":" +
                     (how.empty() ? " in order" : how);
        if (how.empty() && !node->reason.empty()) *m_report += ", as " + node->reason;
        for (const auto& each : node->reductions)
            if (each.found)
                *m_report += ", reduction(" + plain_operation(each.operation) + ":" + each.variable->getNameAsString() +
                             ") found";
        *m_report += "\n";
    }
}

namespace {

std::string names_array(const std::string& array, const std::set<std::string>& names) {
    std::string text = "static const char *const " + array + "[] = {";
    for (const auto& each : names) text += string_literal(each) + ", ";
    return text + "0};\n";
}

} // namespace

std::string host_rewriter::routines() {
    std::string text;
    for (const auto* each : m_unit.context.getTranslationUnitDecl()->decls()) {
        const auto* function = dyn_cast<FunctionDecl>(each);
        if (!function || !function->doesThisDeclarationHaveABody() || !m_unit.is_routine(function) ||
            !function->isExternallyVisible() || function->isInlineSpecified())
            continue;
        if (const auto recursion = recursion_of(function); !recursion.empty()) {
            m_unit.error(function->getLocation(), "not supported: " + recursion + ", and is a 'routine'");
            continue;
        }
        for (const auto& spaces : ways_to_call(function)) {
            program_text program{type_printer(m_unit), "", {}, {}, {}, {}, {}};
            std::string source = "0", why = "0";
            try {
                print_routine(m_unit, function, spaces, program);
                source = string_literal(prelude + program.functions_and_types());
            } catch (const unsupported& error) {
                why = string_literal(where(error.location) + ": not supported: " + error.what);
            }
            const auto name = device_name(function, spaces);
            text += names_array("__acc_needed_by_" + name, program.needed) +
                    "static struct causeway_acc_routine __acc_routine_" + name + " = {\"" + name + "\", {" + source +
                    ", 0, __acc_needed_by_" + name + "}, " + why +
                    "};\n__attribute__((constructor)) static void __acc_offer_" + name + "(void) {\n    " +
                    location("location", function->getLocation(), "routine") +
                    "    causeway_acc_offer_routine(&location, &__acc_routine_" + name + ");\n}\n";
        }
    }
    return text;
}

std::string host_rewriter::finish() {
    // Directives that say something to other compilers only.
    for (const auto& each : m_unit.pragmas)
        if (!m_seen.contains(each.id) && each.name == "routine") replace(each, "");
    const auto declared = declared_variables();
    std::string all;
    std::size_t at = 0;
    for (const auto& [offset, edit] : m_edits) {
        all += m_text.substr(at, offset - at) + edit.text;
        at = offset + edit.length;
    }
    all += m_text.substr(at);
    if (all.back() != '\n') all += '\n';
    std::string source = prelude + m_program.functions_and_types();
    for (const auto& each : m_program.kernels) source += each;
    all += declared + copies_between_devices() + routines();
    all += names_array("__acc_needed", m_program.needed);
    // The kernels are one long literal.
    return all +
           "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#pragma GCC diagnostic ignored "
           "\"-Wredundant-decls\"\nstatic struct causeway_acc_program causeway_acc_this_program = {\n" +
           string_literal(source) + ", 0, __acc_needed};\n";
}

} // namespace directive
