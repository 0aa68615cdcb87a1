// SPDX-License-Identifier: Apache-2.0
// Writes the host's part: each directive becomes a block that calls the run time, and each region keeps its C, which
// runs on the host where no device runs it.
#pragma once
#include "kernel_printer.hpp"

#include <map>

namespace directive {

class host_rewriter {
  public:
    /// If not null, `report` gets a line for each loop and clause.
    host_rewriter(const unit& unit, std::string text, std::string* report);

    /// Rewrites the body of a function.
    void function(const clang::FunctionDecl* function);
    /// The source with all changes, and with the kernels behind it.
    std::string finish();

  private:
    const unit& m_unit;
    std::string m_text;
    std::string* m_report;
    struct edit {
        std::size_t length;
        std::string text;
    };
    std::multimap<std::size_t, edit> m_edits;
    std::vector<visible_data> m_visible;
    program_text m_program;
    std::set<int> m_seen;
    std::string m_sections; // what clauses() defines first: bounds of sections that are to be evaluated once

    void rewrite(const clang::Stmt* statement);
    void construct(const found_directive& of);
    void data(const found_directive& of);
    void compute(const found_directive& of);
    void host_data(const found_directive& of);
    void loop(const found_directive& of);
    void alone(const found_directive& of);
    void peer(const found_directive& of);
    std::string copies_between_devices();
    /// Handles `declare` in a function: its data live from here to the end of the block.
    void declared_here(const found_directive& of);
    /// File-scope code that registers `declare` data with the run time before main().
    std::string declared_variables();
    std::string routines();

    /// Gives names to bounds of the directive's sections that have side effects.
    void name_sections(const found_directive& of);
    std::string clauses(const found_directive& of);
    /// C text of the device that the directive names, else "-1".
    static std::string device_of(const pragma& directive);
    /// Host code that declares a copy of what the entry of a clause `private` names.
    std::string private_copy(const found_directive& of, const item& entry) const;
    /// The same for a copy of `bytes` from element `low` on of what `name` points to. `filled`: with the same contents.
    static std::string copied_elements(const std::string& name, const std::string& low, const std::string& bytes,
                                       bool filled);
    std::string data_array(int id, const std::vector<data_record>& data, const char* suffix = "");
    /// `text`, or 0 where an `if` or `self` of the directive keeps it from the device: C may not be able to evaluate
    /// it.
    std::string guarded(int id, const std::string& text) const;
    /// The array's name and length, as arguments.
    static std::string data_arguments(int id, const std::vector<data_record>& data);
    void begin(const found_directive& of, const std::string& code);
    void end(const found_directive& of, const std::string& code);
    void replace(const pragma& directive, const std::string& code);
    void report_loops(const found_directive& of, const loop_tree& tree, const region& region);
    std::string where(clang::SourceLocation location) const;
    /// The definition of the location `name`.
    std::string location(const std::string& name, clang::SourceLocation at, const std::string& directive) const;
    std::string marker(clang::SourceLocation location, unsigned later) const;
    std::size_t offset(clang::SourceLocation location) const;
};

/// `text` as a C string literal, one line of it per line.
std::string string_literal(const std::string& text);

} // namespace directive
