// SPDX-License-Identifier: Apache-2.0
// The host's part of directives that map, move or wait.
#include "host_rewriter.hpp"

#include <clang/AST/Decl.h>

#include <algorithm>

namespace directive {

using namespace clang;

std::string host_rewriter::guarded(int id, const std::string& text) const {
    const auto& directive = m_unit.pragmas[static_cast<std::size_t>(id)];
    const bool conditional = directive.find("if") || (directive.is_compute() && directive.find("self"));
    return conditional && text != "0" ? "(__acc_clauses" + std::to_string(id) + ".condition ? " + text + " : 0)" : text;
}

std::string host_rewriter::data_array(int id, const std::vector<data_record>& data, const char* suffix) {
    if (data.empty()) return "";
    std::string text = "struct causeway_acc_data __acc_data" + std::to_string(id) + suffix + "[] = {\n";
    for (const auto& each : data)
        text += "    {CAUSEWAY_ACC_" + each.kind + ", " + guarded(id, each.host) + ", " + guarded(id, each.base) +
                ", " + guarded(id, each.bytes) + ", " + string_literal(each.name) + ", 0, " +
                (each.parameter ? "1" : "0") +
                (each.row_bytes.empty() ? ", 0, 0"
                                        : ", " + guarded(id, each.row_first) + ", " + guarded(id, each.row_bytes)) +
                ", " + (each.dimensions.empty() ? "0" : guarded(id, each.dimensions)) + ", " +
                std::to_string(each.dimension_count) + "},\n";
    return text + "};\n";
}

std::string host_rewriter::data_arguments(int id, const std::vector<data_record>& data) {
    const auto number = std::to_string(id);
    return data.empty() ? "0, 0" : "__acc_data" + number + ", " + std::to_string(data.size());
}

void host_rewriter::data(const found_directive& of) {
    const auto id = of.directive->id;
    const auto known = m_visible.size();
    std::vector<data_record> records;
    for (const auto& clause : of.directive->clauses) {
        const auto kind = data_kind(clause.name);
        if (kind.empty()) continue;
        for (const auto& entry : clause.items) {
            if (const auto* variable = variable_of(of, entry))
                m_visible.push_back({variable,
                                     "&__acc_data" + std::to_string(id) + "[" + std::to_string(records.size()) + "]",
                                     kind, device_of(*of.directive), of.directive->find("if") != nullptr});
            records.push_back(record_of(m_unit, of, entry, kind));
        }
    }
    const auto arguments = "(&__acc_clauses" + std::to_string(id) + ", " + data_arguments(id, records) + ");\n";
    begin(of, "{\n" + clauses(of) + data_array(id, records) + "causeway_acc_data_begin" + arguments);
    rewrite(of.body);
    m_visible.resize(known);
    end(of, "causeway_acc_data_end" + arguments + "}\n");
}

void host_rewriter::host_data(const found_directive& of) {
    const auto id = std::to_string(of.directive->id);
    std::string code = "{\n" + clauses(of), shadows;
    if (const auto* clause = of.directive->find("use_device"))
        for (const auto& entry : clause->items) {
            const auto& name = entry.base.text;
            const auto* variable = variable_of(of, entry);
            if (!variable) {
                m_unit.error(entry.location, "not supported: '" + name + "' in 'use_device' is no variable");
                continue;
            }
            const bool pointer = variable->getType()->isPointerType() || variable->getType()->isArrayType();
            const auto type = pointer ? "__typeof__(&(" + name + ")[0])" : "__typeof__(&" + name + ")";
            if (!pointer) m_unit.error(entry.location, "not supported: the scalar '" + name + "' in 'use_device'");
            code += type + " __acc_device" + id + "_" + name + " = (" + type +
                    ")causeway_acc_use_device(&__acc_clauses" + id + ", (void *)" + name + ", \"" + name + "\");\n";
            shadows += type + " " + name + " = __acc_device" + id + "_" + name + ";\n";
        }
    begin(of, code + "{\n" + shadows);
    rewrite(of.body);
    end(of, "}\n}\n");
}

void host_rewriter::alone(const found_directive& of) {
    const auto& directive = *of.directive;
    const auto id = directive.id;
    const auto number = std::to_string(id);
    std::vector<data_record> records;
    std::string lengths; // evaluated once
    const auto add = [&](const item& entry, const char* kind) {
        auto made = record_of(m_unit, of, entry, kind);
        // A pointer with 0 bytes stands for what is mapped there. A section without elements stands for nothing.
        const bool may_be_empty = std::ranges::any_of(entry.sections, [](const section& part) {
            const auto& length = part.length.text;
            return part.length && (length.find_first_not_of("0123456789") != std::string::npos ||
                                   length.find_first_not_of('0') == std::string::npos);
        });
        if (may_be_empty) {
            const auto name = "__acc_bytes" + number + "_" + std::to_string(records.size());
            lengths += "const unsigned long " + name + " = " + guarded(id, made.bytes) + ";\n";
            made.bytes = name;
            made.host = "(" + name + " != 0 ? " + made.host + " : (void *)0)";
        }
        records.push_back(made);
    };
    const auto take = [&](const char* name, const char* kind) {
        for (const auto& clause : directive.clauses)
            if (clause.name == name)
                for (const auto& entry : clause.items) add(entry, kind);
    };
    std::string call;
    if (directive.name == "enter data") {
        take("copyin", "COPYIN");
        take("create", "CREATE");
        call = "causeway_acc_enter_data";
    } else if (directive.name == "exit data") {
        for (const auto& clause : directive.clauses)
            if (clause.name == "copyout" || clause.name == "delete")
                for (const auto& entry : clause.items) {
                    add(entry, clause.name == "copyout" ? "COPYOUT" : "DELETE");
                    if (records.back().kind == "PRESENT")
                        records.back().kind = clause.name == "copyout" ? "COPYOUT" : "DELETE";
                }
        call = "causeway_acc_exit_data";
    } else if (directive.name == "update") {
        take("host", "TO_HOST");
        take("device", "TO_DEVICE");
        if (records.empty())
            m_unit.error(directive.location, "'update' needs one of the clauses 'host', 'self' and 'device'");
        call = "causeway_acc_update";
    } else if (directive.name == "wait") {
        return replace(directive,
                       "{\n" + clauses(of) + "causeway_acc_wait_directive(&__acc_clauses" + number + ");\n}\n");
    } else if (directive.name == "cache") {
        return replace(directive, ";\n");
    } else {
        const int what = directive.name == "init" ? 0 : directive.name == "shutdown" ? 1 : 2;
        static const std::map<std::string, int> types = {{"default", 1},  {"host", 2},   {"multicore", 2},
                                                         {"not_host", 4}, {"nvidia", 5}, {"radeon", 6},
                                                         {"intel", 7},    {"opencl", 8}};
        const auto* type = directive.find("device_type");
        const auto* queue = directive.value("default_async");
        const auto found = type && !type->items.empty() ? types.find(type->items.front().word) : types.end();
        const std::string gangs = found == types.end() ? "0" : std::to_string(found->second);
        return replace(directive, "{\n" + clauses(of) + "__acc_clauses" + number + ".gangs = " + gangs + ";\n" +
                                      (queue ? "__acc_clauses" + number + ".asynchronous = 1; __acc_clauses" + number +
                                                   ".queue = " + queue->text + ";\n"
                                             : "") +
                                      "causeway_acc_set_directive(&__acc_clauses" + number + ", " +
                                      std::to_string(what) + ");\n}\n");
    }
    replace(directive, "{\n" + clauses(of) + lengths + data_array(id, records) + call + "(&__acc_clauses" + number +
                           ", " + data_arguments(id, records) + ");\n}\n");
}

void host_rewriter::peer(const found_directive& of) {
    const auto& directive = *of.directive;
    const auto number = std::to_string(directive.id);
    std::vector<data_record> to, from;
    for (const auto& clause : directive.clauses) {
        if (clause.name == "to")
            for (const auto& entry : clause.items) to.push_back(record_of(m_unit, of, entry, "TO_DEVICE"));
        if (clause.name == "from")
            for (const auto& entry : clause.items) from.push_back(record_of(m_unit, of, entry, "TO_HOST"));
    }
    for (const auto* side : {&to, &from})
        for (const auto& each : *side)
            if (!each.row_bytes.empty())
                m_unit.error(directive.location,
                             "not supported: several rows of '" + each.name + "' at once in 'update peer'");
    const auto* to_device = directive.value("to_device");
    const auto* from_device = directive.value("from_device");
    if (to.empty() || to.size() != from.size() || !to_device || !from_device) {
        m_unit.error(directive.location,
                     "'update peer' needs 'to(…) to_device(…) from(…) from_device(…)', with as many "
                     "variables in 'from' as in 'to'");
        return;
    }
    replace(directive, "{\n" + clauses(of) + data_array(directive.id, to) + data_array(directive.id, from, "_from") +
                           "causeway_acc_peer(&__acc_clauses" + number + ", __acc_data" + number + ", " +
                           to_device->text + ", __acc_data" + number + "_from, " + from_device->text + ", " +
                           std::to_string(to.size()) + ");\n}\n");
}

void host_rewriter::declared_here(const found_directive& of) {
    const auto number = std::to_string(of.directive->id);
    std::vector<data_record> records;
    for (const auto& clause : of.directive->clauses) {
        const auto kind = data_kind(clause.name);
        if (kind.empty()) continue; // link, attach: what is present is found anyway
        for (const auto& entry : clause.items) {
            if (const auto* variable = variable_of(of, entry))
                m_visible.push_back(
                    {variable, "&__acc_data" + number + "[" + std::to_string(records.size()) + "]", kind});
            records.push_back(record_of(m_unit, of, entry, kind));
        }
    }
    const auto arguments = "&__acc_clauses" + number + ", " + data_arguments(of.directive->id, records);
    replace(*of.directive, clauses(of) + data_array(of.directive->id, records) +
                               "struct causeway_acc_declared __acc_declared" + number +
                               " __attribute__((cleanup(causeway_acc_declared_end))) = {" + arguments +
                               "};\ncauseway_acc_data_begin(" + arguments + ");\n");
}

std::string host_rewriter::declared_variables() {
    std::string text;
    for (const auto& each : m_unit.pragmas) {
        if (each.name != "declare" || each.in_function) continue;
        replace(each, "");
        std::string calls;
        for (const auto& clause : each.clauses)
            for (const auto& entry : clause.items) {
                const auto& name = entry.base.text;
                const auto* variable = global_variable(m_unit, name);
                if (clause.name == "link" || !variable || variable->getType()->isPointerType()) continue;
                calls += "    causeway_acc_declare(&location, (void *)&" + name + ", sizeof(" + name +
                         "), CAUSEWAY_ACC_" + data_kind(clause.name) + ");\n";
            }
        if (calls.empty()) continue;
        text += "__attribute__((constructor)) static void __acc_declare" + std::to_string(each.id) + "(void) {\n    " +
                location("location", each.location, "declare") + calls + "}\n";
    }
    return text;
}

/// So that its memory can be made for that from the start.
std::string host_rewriter::copies_between_devices() {
    const auto has_directive = std::any_of(m_unit.pragmas.begin(), m_unit.pragmas.end(),
                                           [](const auto& each) { return each.name == "update peer"; });
    const auto calls = [&](const char* name) {
        for (const auto* each : m_unit.context.getTranslationUnitDecl()->lookup(&m_unit.context.Idents.get(name)))
            if (each->isReferenced()) return true;
        return false;
    };
    if (!has_directive && !calls("acc_update_peer") && !calls("acc_memcpy_d2d") && !calls("acc_memcpy_d2d_async"))
        return {};
    return "__attribute__((constructor)) static void __acc_expect_peers(void) { causeway_acc_expect_peers(); }\n";
}

} // namespace directive
