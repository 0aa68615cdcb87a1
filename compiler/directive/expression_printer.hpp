// SPDX-License-Identifier: Apache-2.0
// Expressions of C as OpenCL C.
#pragma once
#include "type_printer.hpp"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace directive {

/// How expressions of a region name a variable.
struct naming {
    std::string text;
    bool flat = false;      // an array that is one pointer to its elements
    bool captured = false;  // the lengths of its rows are kernel parameters, because they are known only at run time
    bool on_device = false; // in the device's memory
    bool own = false;       // in the device's memory, one for each thread
    bool rows = false;      // an array of pointers; on the device, of offsets into acc_rows_NAME
};

/// The function's name in kernels. A function has a copy for each combination of its pointers' address spaces: the
/// device's memory, or a thread's own (an empty string).
std::string device_name(const clang::FunctionDecl* function, const std::vector<std::string>& spaces);

/// A pointer to arrays.
bool is_row_pointer(clang::QualType type);
/// The variable that the expression is, or that stands for a pointer in a structure; nullptr for others.
const clang::VarDecl* variable_named(const clang::Expr* expression);

class expression_printer {
  public:
    expression_printer(const unit& unit, type_printer& types) : m_unit(unit), m_types(types) {}

    std::map<const clang::VarDecl*, naming>& names() { return m_names; }
    const std::map<const clang::VarDecl*, naming>& names() const { return m_names; }
    std::string print(const clang::Expr* expression);
    /// Prints `expression` such that any operator may be applied to it: in parentheses, if need be.
    std::string operand(const clang::Expr* expression);

    /// Prints `replacement` for whatever is spelled as `operand`, until the next call. nullptr: prints everything as it
    /// is.
    void replace(const clang::Expr* operand, const std::string& replacement) {
        m_replaced = operand;
        m_replacement = replacement;
    }
    /// Prints `name` in place of this one expression, until forget_values().
    void name_value(const clang::Expr* value, const std::string& name) { m_named_values[value] = name; }
    void forget_values() { m_named_values.clear(); }

    /// "" for memory of the thread, "__global" else.
    std::string space_of(const clang::Expr* pointer) const;
    /// The address space of the memory that a variable points to or lies in, if its type, its name or set_space() tells
    /// it.
    std::optional<std::string> known_space_of(const clang::VarDecl* variable) const;
    void set_space(const clang::VarDecl* pointer, const std::string& space) { m_spaces[pointer] = space; }

    /// A function to print, with the address spaces of its pointers.
    struct called {
        const clang::FunctionDecl* function;
        std::string name;
        std::vector<std::string> spaces;
        std::vector<const clang::VarDecl*> globals; // file-scope variables in memory of the device: its last parameters
    };
    /// Functions that the printed expressions call, except those that an earlier take_called() has returned.
    std::vector<called> take_called() { return std::exchange(m_called, {}); }

    /// True if the object may lie where its type must not: in a packed structure.
    bool is_misaligned(const clang::Expr* lvalue) const;

    /// The lengths of the rows of an array or pointer to arrays, the outermost left out.
    std::vector<std::string> row_lengths(const clang::VarDecl* variable);

  private:
    /// True for an array that is one in the kernel, too. Others are pointers to elements.
    bool is_array_of_thread(const clang::Expr* expression) const;
    /// The lengths of an array of arrays, to which `pointer` points.
    std::vector<std::string> lengths_of(clang::QualType row, const clang::Expr* pointer);
    /// How many elements a step of a pointer to rows passes.
    std::string row_length(const clang::Expr* pointer);
    /// A pointer to the first element of an array.
    std::string elements_of(const clang::Expr* array);
    /// Prints a pointer to rows as one to elements.
    std::string row_pointer(const clang::Expr* expression);

    const unit& m_unit;
    type_printer& m_types;
    std::map<const clang::VarDecl*, naming> m_names;
    std::map<const clang::VarDecl*, std::string> m_spaces;
    /// Finds the variable also by another of its declarations.
    std::map<const clang::VarDecl*, naming>::const_iterator named(const clang::VarDecl* variable) const;
    const clang::Expr* m_replaced = nullptr;
    std::string m_replacement;
    std::map<const clang::Expr*, std::string> m_named_values;
    std::vector<called> m_called;
    std::set<std::string> m_known_functions;
    bool m_has_address = false; // a pointer was cast to an integer

    /// Refuses memory behind a pointer to an alignment that is less than OpenCL C gives the type.
    void check_alignment(const clang::Expr* lvalue, clang::QualType type) const;
    /// Refuses to keep in memory, other than a variable, a pointer that is not to memory of the device. No target: an
    /// element of a list.
    void check_pointer_space(const clang::Expr* target, const clang::Expr* value) const;
    /// True if `lvalue` is a pointer that the host keeps in memory: an element of an array of pointers, or a member.
    bool is_row(const clang::Expr* lvalue) const;
    /// The variable, if it is an array of pointers whose rows the kernel has.
    const clang::VarDecl* rows_variable(const clang::Expr* expression) const;
    /// The arguments that a function gets for an array of pointers: its offsets and its rows.
    static std::string rows_arguments(const clang::VarDecl* pointers);
    std::string rows_of(const clang::VarDecl* pointers, const std::vector<const clang::Expr*>& indices);
    std::string subscript(const clang::ArraySubscriptExpr* expression);
    std::string call(const clang::CallExpr* expression);
    std::string user_call(const clang::CallExpr* expression, const clang::FunctionDecl* function);
    static std::string floating(const llvm::APFloat& value, clang::QualType type);
    std::string initializer(const clang::InitListExpr* list);
    std::string reference(const clang::DeclRefExpr* expression);
};

} // namespace directive
