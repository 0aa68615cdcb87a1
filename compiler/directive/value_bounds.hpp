// SPDX-License-Identifier: Apache-2.0
// The least and the greatest value that an expression of a region may have, as text for the host to evaluate.
#pragma once
#include "counted_loop.hpp"
#include "host_values.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace directive {

/// What holds where an expression stands: one fact, and those around it.
struct place {
    const place* around = nullptr;
    std::optional<counted_loop> loop{};  // in the body of this loop
    const clang::Expr* condition = nullptr;     // it holds here, or fails if `holds` is false
    bool holds = true;
    const clang::VarDecl* set = nullptr;        // has the value `value` from here on ...
    const clang::Expr* value = nullptr;
    bool only_then = false;              // ... or keeps its own if `condition` has failed
};

/// What a region's text does to its variables.
struct region_variables {
    std::map<const clang::VarDecl*, int> writes; // how often it sets a variable, beside its first value
    std::map<const clang::VarDecl*, int> known;  // of these: seen as `set` of a place
    std::set<const clang::VarDecl*> inside, begun; // declared in the region; with a first value
    std::map<const clang::VarDecl*, int> leaked;   // how often its address is used, or that of an element
};

/// C text of bounds, in `long`, of what `values` names. Unsigned values may be below 0 in it, where C's wrap around.
class value_bounds {
  public:
    /// `variables` may change before the first call. `is_value` says whether the region has the host's value of a
    /// variable that it does not set.
    value_bounds(const unit& unit, const region_variables& variables,
                 const std::function<bool(const clang::VarDecl*)>& is_value, host_values& values);
    ~value_bounds();
    value_bounds(const value_bounds&) = delete;
    value_bounds& operator=(const value_bounds&) = delete;

    /// The least or greatest value of the expression, where `here` holds. If it is not known, has_failed() until
    /// forget_failure().
    std::string bound(const clang::Expr* expression, const place* here, bool greatest);
    /// The same of a subscript, which unsigned numbers of 32 bits become as C has them.
    std::string bound_of_subscript(const clang::Expr* expression, const place* here, bool greatest);
    /// Text that is true if a loop around has no iterations; empty if that is not seen.
    std::string emptiness(const place* here);
    bool has_failed() const;
    void forget_failure();

  private:
    class writer;
    std::unique_ptr<writer> m_writer;
};

} // namespace directive
