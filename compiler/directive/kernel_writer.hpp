// SPDX-License-Identifier: Apache-2.0
// Writes one region, or one loop of it, as kernels: kernel_printer.cpp has the frame, kernel_statements.cpp what runs
// in every thread, kernel_loops.cpp what is spread over them.
#pragma once
#include "kernel_printer.hpp"

#include <functional>
#include <optional>

namespace directive {

/// Where a statement stands among the levels of parallelism.
struct position {
    bool workers = false, vector = false; // a loop around it is spread over them
    bool uniform = true;                  // all threads of the group reach it together
    bool last = true;                     // no later code of the gang reads what it wrote
};

class kernel_writer {
  public:
    kernel_writer(const unit& unit, const region& region, const loop_tree& tree, program_text& program,
                  std::vector<scratch>& scratches)
        : m_unit(unit), m_region(region), m_tree(tree), m_program(program), m_scratches(scratches),
          m_print(unit, program.types), m_pointees(region.of.body) {}

    kernel_text print(const std::vector<const clang::Stmt*>& statements, const std::string& name, const loop_node* only,
                      bool gangs_allowed);
    /// The function and those that it calls.
    std::set<const clang::VarDecl*> constant_tables(const clang::FunctionDecl* function) const;
    void write_function(const expression_printer::called& called);

  private:
    const unit& m_unit;
    const region& m_region;
    const loop_tree& m_tree;
    program_text& m_program;
    std::vector<scratch>& m_scratches;
    expression_printer m_print;
    pointees m_pointees;
    std::string* m_out = nullptr;
    int m_indent = 0;
    bool m_gangs_allowed = true, m_any_gang = false, m_any_worker = false, m_any_vector = false, m_any_proved = false;
    bool m_one_worker = false, m_one_lane = false, m_again = false;
    bool m_unknown_reads = false;
    /// Scalars in memory of the device of which each thread has a copy meanwhile: all threads step a plain loop. One
    /// gang stores its value in the end; several have been said to be independent.
    std::set<const clang::VarDecl*> m_kept;
    const loop_node* m_only = nullptr; // of which this kernel consists
    std::set<const clang::VarDecl*> m_read, m_written_by_lanes;
    std::map<const clang::VarDecl*, std::string> m_reduced_here; // by which operation
    std::vector<const clang::Stmt*> m_statements;
    std::vector<std::pair<const clang::VarDecl*, std::string>> m_active_reductions;
    std::set<const clang::VarDecl*> m_any_order; // what the loops around reduce, unless one of them is seq
    std::set<std::string> m_made_scratches;
    bool m_in_function = false;
    bool m_has_gang_loop = false, m_lanes_share = false;
    bool m_threads_meet = false; // the kernel has barriers
    bool m_one_works = false; // between barriers one thread of several does what happens once
    bool m_threads_branch = false; // there are conditions on which they are passed by, or jumps
    std::size_t m_one_ends = 0, m_one_closed = 0; // in the text, behind the last for_one() and before its brace
    std::string m_one; // for which thread that was
    bool m_one_each = false; // print a second form, for launches in which each thread has at most one iteration of the
                             // gangs' loop
    int m_gang_loops = 0;
    std::string m_host_trips = "0", m_inner_trips = "0"; // of the largest loop over gangs, "0": not known; of m_split
    const loop_node* m_split = nullptr; // the loop over lanes that several groups may share
    struct levels {
        bool workers = false, lanes = false;
        bool operator==(const levels&) const = default;
    };
    std::map<const clang::VarDecl*, levels> m_deferred; // reductions that an outer loop joins

    unsigned line_of(clang::SourceLocation location) const;
    static bool within(const loop_node* node, const loop_node* outer);
    void collect_reads(const std::vector<const clang::Stmt*>& statements);
    void line(const std::string& text);

    // Variables of the region
    bool is_reduction(const capture& each) const;
    /// What joins the gangs' parts in this kernel.
    std::string operation_of(const capture& reduced) const;
    bool has_reductions() const;
    void set_names();
    void find_kept();
    clang::QualType element_of(const clang::VarDecl* variable) const;
    std::string parameters();
    std::string memory_of(const std::string& name, const std::string& type) const;
    std::string prologue();
    std::string own_array(const clang::VarDecl* variable, const std::string& name, const std::string& low);
    /// Initialises a thread's copy of a `firstprivate` array.
    std::string beginning(const capture& own) const;
    /// What a thread's value of the reduction is before its first iteration.
    std::string beginning_of(const capture& reduced) const;
    std::string epilogue();
    /// A kernel of one group that joins the gangs' values with the variable's initial one.
    std::string final_kernel(const std::string& name);

    // Functions
    void functions();
    /// The function's head: its result type, name and parameters.
    std::string head_of(const expression_printer::called& called);

    // Statements
    bool lanes_wait(const position& at) const { return !at.vector && m_any_vector && !m_one_lane; }
    bool workers_wait(const position& at) const { return !at.workers && m_any_worker && !m_one_worker; }
    bool redundant(const position& at) const { return lanes_wait(at) || workers_wait(at); }

    /// After a barrier nothing is gained by another one.
    void barrier() {
        const std::string text = "barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);";
        if (!m_out->ends_with(text + "\n")) line(text);
    }
    /// Call behind a statement whose text, from `begin` on, runs on a condition.
    void may_be_passed(std::size_t begin);
    /// What `print` prints for one thread of those that the statement would run in, between barriers.
    void for_one(const position& at, const std::function<void()>& print);

    /// Call where a barrier is needed, but not all threads reach it: the kernel is printed once more, for one worker or
    /// one lane.
    void give_up_levels(const position& at);
    /// Call where what happens once must not happen in each thread of a level that waits, and all of them need what
    /// comes of it: the kernel is printed once more without these levels.
    void give_up_waiting(const position& at);
    /// Prints a value, which all threads compute. Nothing for no expression.
    std::string value(const clang::Expr* expression, const position& at);
    struct effects {
        bool memory = false, reads_back = false;
        std::set<const clang::VarDecl*> changed; // variables of which each thread has a copy
    };
    std::string first_thread(const position& at) const;
    effects effects_of(const clang::Stmt* statement) const;
    /// An update of a floating-point reduction as text that lets the compiler join terms in any order.
    std::optional<std::string> any_order(const clang::Expr* expression);
    void simple(const clang::Expr* expression, const position& at);
    /// If all threads would change memory that they also read: prints the statement for one thread, and returns true.
    bool by_one(const clang::Stmt* statement, const position& at);
    void block(const clang::Stmt* body, const position& at);
    /// The address space of what is assigned to `pointer`.
    std::string space_of(const clang::VarDecl* pointer) const;
    void declaration(const clang::DeclStmt* declared, const position& at);
    void statement(const clang::Stmt* given, const position& at);
    std::string loop_head(const clang::Stmt* init, const position& at);
    void plain_loop(const clang::ForStmt* loop, const position& at);
    void directive_statement(const found_directive& of, const position& at);
    /// Prints a loop that tries the statement on a copy of the word until no other thread has changed the word
    /// meanwhile.
    void atomic(const found_directive& of, const position& at);

    // Loops
    void spread(const loop_node& node, position at);
    static bool is_changed(const clang::Stmt* body, const clang::VarDecl* variable);
    levels levels_of(const loop_node& node) const;
    /// The levels over which loops inside `node` reduce the variable, if nothing else in `node` uses it. These loops
    /// then leave the join to `node`.
    std::optional<levels> deferred_levels(const loop_node& node, const reduction& each) const;
    /// The loop over lanes, if it is all that the loop over gangs contains.
    const loop_node* only_inner(const loop_node& node) const;
    void join(const reduction& each, const loop_node& node, bool workers, bool lanes);
    /// True if the loop writes memory that all threads of the gang read before it: a slow thread could then read new
    /// values.
    bool changes_what_all_read(const loop_node& node) const;
    /// True if all threads of a gang access device memory outside of the loops that are spread over them.
    bool gangs_use_memory() const;
    bool is_on_device(const access& use) const;
    /// Returns the text of the first loop's variable after its last iteration.
    std::string loops(const loop_node& node, position at, bool gang, bool workers, bool lanes);
    /// Gives the loop's variable its value after the loop.
    void leave_value(const loop_node& node, const position& at, bool gang, const std::string& value);
    void own_variable(const loop_node& node, const item& entry);
    /// True if the kernel counts the loop's iterations in 32 bits.
    bool is_short(const loop_node& node) const;
    std::string trips(const counted_loop& loop);
    /// The number of iterations, for the host to know before the launch; nothing if it depends on the region.
    std::optional<std::string> host_trips(const loop_node& node) const;
    std::optional<std::string> host_text(const clang::Expr* expression) const;
    /// The loop's variable in the iteration with this index.
    std::string value_at(const counted_loop& loop, const std::string& first, const std::string& index);
    std::string loop_variable(const counted_loop& loop, const std::string& first, const std::string& index);
};

} // namespace directive
