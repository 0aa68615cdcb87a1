// SPDX-License-Identifier: Apache-2.0
// A directive as it was written: its name and clauses, with the positions of their expressions among the arguments of
// the call that stands for the directive in Clang's tree.
#pragma once
#include <clang/Basic/SourceLocation.h>

#include <string>
#include <vector>

namespace directive {

/// An expression of a clause: its text after macro expansion, and its index among the call's arguments; -1 if it was
/// left out.
struct expression {
    int argument = -1;
    std::string text;
    explicit operator bool() const { return argument >= 0; }
};

/// `[low:length]`, or `[low]` where there is no colon.
struct section {
    expression low, length;
    bool colon = false;
};

/// One entry of a clause's list.
struct item {
    std::string modifier; // what stands before a colon: an operator, `readonly`, `num`, `static`, `devnum`
    std::string word;     // the entry where it is one word
    expression base;
    std::vector<section> sections;
    clang::SourceLocation location;
};

struct clause {
    std::string name; // without prefixes that mean nothing: `pcopy` and `present_or_copy` are `copy`
    std::vector<item> items;
    clang::SourceLocation location;
};

struct pragma {
    int id = 0;
    std::string name; // "parallel loop", "enter data", "update peer"
    bool in_function = false; // for `declare`: inside a function it has another meaning than at file scope
    std::vector<clause> clauses;
    clang::SourceLocation location;

    const clause* find(const std::string& clause_name) const {
        for (const auto& each : clauses)
            if (each.name == clause_name) return &each;
        return nullptr;
    }
    /// The text of a clause's only expression, or nothing.
    const expression* value(const std::string& clause_name) const {
        const auto* found = find(clause_name);
        return found && !found->items.empty() ? &found->items.front().base : nullptr;
    }
    bool is_compute() const {
        return name.starts_with("parallel") || name.starts_with("kernels") || name.starts_with("serial");
    }
    bool is_combined() const { return is_compute() && name.ends_with(" loop"); }
};

} // namespace directive
