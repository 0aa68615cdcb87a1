// SPDX-License-Identifier: Apache-2.0
// Infers from loop bounds which elements of a pointer a region uses, where the program has no data clause.
#pragma once
#include "construct.hpp"

#include <optional>

namespace directive {

/// C text of the first and the last element, for the host to evaluate before the region.
struct extent {
    std::string first, last;
};
/// Returns a value only if each use has one subscript whose least and greatest value follow from loops, conditions and
/// assignments around it. Bounds may be further apart than what is used, never nearer.
/// `is_value` says whether the region has the host's value of a variable that it does not set.
std::optional<extent> extent_of(const unit& unit, const clang::Stmt* region, const clang::VarDecl* pointer,
                                const std::function<bool(const clang::VarDecl*)>& is_value);

} // namespace directive
