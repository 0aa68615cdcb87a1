// SPDX-License-Identifier: Apache-2.0
// The loops of a region, and which of gangs, workers and vector lanes each is spread over.
#pragma once
#include "counted_loop.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>

namespace directive {

/// An operation that implied_reduction() finds may be more than a clause's: "fmax", "fmin", or one with a `?`, as
/// "max?" and "&&?". These begin with the value before the loop, which stays what it is (a NaN, or 5 of `x = x && y`)
/// if no iteration changes it.
inline bool begins_with_value(const std::string& operation) {
    return operation.starts_with("f") || operation.ends_with("?");
}
/// The clause's operation.
inline std::string plain_operation(const std::string& operation) {
    if (operation.starts_with("f")) return operation.substr(1);
    return operation.substr(0, operation.find('?'));
}

struct reduction {
    const clang::VarDecl* variable;
    std::string operation;
    bool found = false; // found by implied_reduction(): no clause names it
};

struct loop_node {
    found_directive of;                // nothing: a plain loop in a kernels construct
    std::vector<counted_loop> loops;   // one, or as many as `collapse` or `tile` says
    const clause* tile = nullptr;
    const clang::Stmt* body = nullptr; // of the innermost of them
    bool gang = false, worker = false, vector = false;
    bool independent = false, sequential = false;
    bool proved = false; // the analysis has found it independent, provided that its arrays do not overlap
    bool reduces_array = false; // runs in order in one thread, because each thread would need a copy of the array
    bool leaves_value = false; // its variable is the program's own, and is read after the loop
    bool keeps_lanes = false; // writes a variable of the gang: each thread has a copy of it and does all iterations
    bool repeated = false; // inside a loop that is not spread: gangs cannot wait for one another between its iterations
    std::vector<reduction> reductions;
    std::vector<const item*> privates;
    loop_node* parent = nullptr;
    std::vector<loop_node*> inner;
    std::string reason; // why it is not spread

    bool is_spread() const { return gang || worker || vector; }
    bool any_inner(bool loop_node::* level) const;
    bool any_outer(bool loop_node::* level) const;
    clang::SourceLocation location() const { return of ? of.directive->location : loops.front().loop->getForLoc(); }
};

class loop_tree {
  public:
    /// The loops of the region `of`. In a kernels construct those without a directive, too.
    loop_tree(const unit& unit, const found_directive& of);

    loop_node* find(const clang::Stmt* loop) const;
    const std::vector<std::unique_ptr<loop_node>>& all() const { return m_all; }
    const std::vector<loop_node*>& outermost() const { return m_outermost; }
    bool any(bool loop_node::* level) const;
    /// Loop variables that are read after their loop before they are written again.
    const std::set<const clang::VarDecl*>& read_after_loops() const { return m_read_after_loops; }
    /// True if what a statement of the region writes to the scalar is read by another one or by the host.
    bool outlives_statement(const clang::VarDecl* variable) const;

  private:
    const unit& m_unit;
    bool m_kernels, m_serial;
    int m_plain_loops = 0; // around the statement at hand
    std::set<const clang::VarDecl*> m_gang_arrays; // one per gang: private, firstprivate, or declared in the region
    std::set<const clang::VarDecl*> m_gang_scalars; // likewise, or firstprivate without a clause
    const clang::Stmt* m_region;
    pointees m_pointees;
    std::vector<std::unique_ptr<loop_node>> m_all;
    std::vector<loop_node*> m_outermost;
    std::map<const clang::Stmt*, loop_node*> m_by_statement;
    std::map<const clang::Stmt*, const clang::VarDecl*> m_leaving_values; // loops of a kernels construct that do
    std::set<const clang::VarDecl*> m_read_after_loops;

    void find_leaving_values();
    bool is_read_after_region(const clang::VarDecl* variable) const;
    /// A loop variable of a loop inside whose last value is read after this loop; nullptr if there is none.
    const clang::VarDecl* value_left_inside(const loop_node& node) const;
    /// Finds the loops of `statement`, which is itself a loop in C's order if it is `plain`.
    void build(const clang::Stmt* statement, loop_node* parent, bool plain = false);
    /// True for a loop that its directive keeps in order and that cannot be counted before it runs: it needs no node.
    bool is_plain(const found_directive& of) const;
    /// True if the body may change the loop's end or step, which C looks at anew each time.
    bool changes_end(const counted_loop& counted) const;
    loop_node* add(const found_directive& of, const clang::Stmt* loop, loop_node* parent);
    void read_clauses(loop_node& node);
    void assign(loop_node& node);
    void imply_reduction(loop_node& node, const reduction& of_region);
    /// In a kernels construct: of all loops, what implied_reduction() says.
    void find_reductions(const found_directive& of);
    void collect_gang_arrays(const found_directive& of);
    /// A variable of which the gang around the loop has one copy, and that the loop writes for code outside of the
    /// loop; nullptr if there is none.
    const clang::VarDecl* written_gang_variable(const loop_node& node) const;
    /// True if this loop, an outer or an inner one reduces the variable. A sibling loop's reduction does not count.
    static bool is_reduced(const loop_node& node, const clang::VarDecl* variable);
    /// The first use of the variable: a read of its old value, or a write that is certain. After a conditional jump
    /// only reads count.
    enum class use { none, read, written };
    use first_use(const clang::Stmt* statement, const clang::VarDecl* variable) const;
    /// As first_use(), after `target` in `statement`.
    use use_after(const clang::Stmt* statement, const clang::Stmt* target, const clang::VarDecl* variable) const;
    bool is_read_later(const loop_node& node, const clang::VarDecl* variable) const {
        return use_after(m_region, node.loops.front().loop, variable) == use::read;
    }
    bool writes_only_own(const loop_node& node) const;
    void extend(loop_node& node);
};

} // namespace directive
