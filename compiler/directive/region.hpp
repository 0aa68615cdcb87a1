// SPDX-License-Identifier: Apache-2.0
// Data attributes of the variables that a compute construct uses: from its clauses, from data constructs around it,
// else implicit (OpenACC 2.7, sections 2.5.2 and 2.6).
#pragma once
#include "host_values.hpp"
#include "loop_tree.hpp"

namespace directive {

/// One entry of an array of `struct causeway_acc_data` in the host's code.
struct data_record {
    std::string kind; // "COPYIN"
    std::string host, base, bytes, name;
    bool parameter = false; // a parameter declared as an array: maps `bytes`, unless something is mapped there
    std::string row_first{}, row_bytes{}; // the section of each row, if `host` has pointers to rows
    std::string dimensions{};             // of a section of an array of arrays: C text of an array
    std::size_t dimension_count = 0;
};

/// A clause of a data construct around a region, as the region sees it.
struct visible_data {
    const clang::VarDecl* variable;
    std::string record; // "&__acc_data3[0]"
    std::string kind;
    std::string device = "-1"; // C text
    bool conditional = false;  // the construct has an `if`
    bool sure = true;          // the construct holds for the region: what it maps is on the region's device
};

enum class role {
    value,     // a copy for each thread
    buffer,    // memory of the device, through a pointer or an array
    shared,    // a scalar or structure in memory of the device
    reduction, // a copy for each thread, and in the end one value in memory of the device
    own,       // private to each thread, uninitialised
};

struct capture {
    const clang::VarDecl* variable;
    role how;
    std::string operation{}; // of a reduction
    std::string record{};    // C text: its causeway_acc_data record, explicit or implicit
    bool written = false;
    bool own_array = false; // role::own with a length that is known at run time
    std::string bytes{};    // of one copy of it
    std::string low{};      // its first element
    bool begins = false;    // initialised with the section's contents
    bool assigned = false;  // the region gives the variable itself another value
    bool copied = false;    // a firstprivate array: role::buffer that each thread copies
    bool by_gangs = false;  // each gang reduces a part of the iterations; else every gang has the whole result

    /// True for an array of pointers whose rows the kernel uses.
    bool rows() const { return how == role::buffer && !copied && has_rows(variable->getType()); }
};

struct region {
    found_directive of;
    int id = 0;
    bool kernels = false, serial = false;
    std::vector<capture> captures;
    std::vector<data_record> data;
    std::vector<const loop_node*> loops;
    host_values values{"__acc_limit"}; // of which the records may be made

    /// Declarations of the constants that the records use.
    std::string definitions() const;
    const capture* find(const clang::VarDecl* variable) const {
        for (const auto& each : captures)
            if (each.variable == variable) return &each;
        return nullptr;
    }
};

/// Analyses clauses and body; reports errors as Clang diagnostics.
region analyse(const unit& unit, const found_directive& of, const loop_tree& tree,
               const std::vector<visible_data>& visible);

/// The record of a clause's entry.
data_record record_of(const unit& unit, const found_directive& of, const item& entry, const std::string& kind);
/// "COPYIN" of "copyin"; empty for a clause that is not about data.
std::string data_kind(const std::string& clause);

} // namespace directive
