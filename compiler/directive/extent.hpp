// SPDX-License-Identifier: Apache-2.0
// Infers from loop bounds which elements of a pointer a region uses, where the program has no data clause.
#pragma once
#include "construct.hpp"
#include "host_values.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace directive {

/// C text of the first and the last element, for the host to evaluate before the region.
struct extent {
    std::string first, last;
};

class extents {
  public:
    /// `is_value` says whether the region has the host's value of a variable that it does not set. Extents use names of
    /// `values`.
    extents(const unit& unit, const clang::Stmt* region, std::function<bool(const clang::VarDecl*)> is_value,
            host_values& values);
    ~extents();
    extents(const extents&) = delete;
    extents& operator=(const extents&) = delete;

    /// Returns a value only if each use has one subscript whose least and greatest value follow from loops, conditions
    /// and assignments around it. Bounds may be further apart than what is used, never nearer.
    std::optional<extent> of(const clang::VarDecl* pointer);

  private:
    class finder;
    std::unique_ptr<finder> m_finder;
};

} // namespace directive
