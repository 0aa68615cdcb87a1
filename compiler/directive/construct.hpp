// SPDX-License-Identifier: Apache-2.0
// Finds directives in Clang's syntax tree, and the variables that statements and expressions use.
#pragma once
#include "directive.hpp"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <clang/AST/Decl.h>

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace directive {

/// What all parts of the translation of one source share.
struct unit {
    clang::ASTContext& context;
    std::deque<pragma>& pragmas;
    /// Variables at file scope that a `declare` directive names, each with the name of its clause.
    std::map<const clang::VarDecl*, std::string> declared{};

    /// Functions that a `routine` directive names or precedes, each with its level: gang, worker, vector or seq.
    std::map<const clang::FunctionDecl*, std::string> routines{};

    bool is_declared(const clang::VarDecl* variable) const { return declared.contains(variable->getCanonicalDecl()); }
    bool is_routine(const clang::FunctionDecl* function) const {
        return routines.contains(function->getCanonicalDecl());
    }

    void error(clang::SourceLocation location, const std::string& text) const;
    void note(clang::SourceLocation location, const std::string& text) const;
};

/// A directive, and the call or statement in Clang's tree that stands for it.
struct found_directive {
    const pragma* directive = nullptr;
    const clang::CallExpr* call = nullptr;
    const clang::Stmt* body = nullptr; // nullptr for directives without a statement
    explicit operator bool() const { return directive; }
};
found_directive directive_of(const unit& unit, const clang::Stmt* statement);

/// Clang's tree of a clause's expression, without the parentheses that we put around it.
const clang::Expr* tree_of(const found_directive& of, const expression& wanted);
/// Returns a variable that stands for a pointer in a structure, such as `s.a` or `s->in.a`. Each use of the member
/// gives the same variable, so clauses and regions treat it as one. nullptr for other expressions, and for pointers to
/// pointers or to arrays.
const clang::VarDecl* member_pointer(const clang::Expr* expression);
/// The structure variable `s`, if `pointer` stands for a member such as `s.a`; nullptr for other variables.
const clang::VarDecl* structure_of(const clang::VarDecl* pointer);
/// The name as the program writes it, also of a member pointer.
std::string written_name(const clang::VarDecl* variable);
/// Call before each translation.
void forget_member_pointers();

/// The variable that a clause's entry names, if it is a plain name or a member pointer.
const clang::VarDecl* variable_of(const found_directive& of, const item& entry);

/// The variable through which an lvalue or a pointer is reached; nullptr where that is not known.
const clang::VarDecl* root_of(const clang::Expr* expression);

/// A use of a variable: of itself, or of memory that is reached through it.
struct access {
    const clang::VarDecl* root; // nullptr: unknown memory
    const clang::Expr* expression;
    bool reads, writes;
    bool memory; // through a subscript, a pointer or a member
};
/// All uses in `statement`, except those in clauses of nested directives.
std::vector<access> accesses_in(const clang::Stmt* statement);

/// Points-to sets of a region's pointers, from all its assignments, whatever their order.
class pointees {
  public:
    explicit pointees(const clang::Stmt* region);
    /// `root` itself, and all that is reached through it.
    std::set<const clang::VarDecl*> reached(const clang::VarDecl* root) const;

  private:
    std::map<const clang::VarDecl*, std::set<const clang::VarDecl*>> m_direct;
};

/// A file-scope variable used by a function or by one that it calls.
struct global_use {
    const clang::VarDecl* variable;
    bool reads, writes;
};
std::vector<global_use> globals_of(const clang::FunctionDecl* function);

/// What to say if the function calls itself, directly or through others, which kernels cannot; empty if it does not.
std::string recursion_of(const clang::FunctionDecl* function);

/// The variable of this name at file scope; nullptr if there is none.
const clang::VarDecl* global_variable(const unit& unit, const std::string& name);

/// Calls `act` for `statement` and all statements below it, except clauses' expressions. If `act` returns false, skips
/// what is below that statement.
void walk(const clang::Stmt* statement, const std::function<bool(const clang::Stmt*)>& act);

/// True for pointers to pointers and for arrays of pointers, such as `double **` and `double *[9]`, but no deeper ones.
bool has_rows(clang::QualType type);

/// True if the type is no array, pointer or structure.
bool is_scalar(clang::QualType type);

} // namespace directive
