// SPDX-License-Identifier: Apache-2.0
// C types as OpenCL C spells them.
#pragma once
#include "construct.hpp"

#include <map>
#include <set>

namespace directive {

/// Thrown for a construct that kernels cannot have; ends the region's translation.
struct unsupported {
    clang::SourceLocation location;
    std::string what;
};

class type_printer {
  public:
    explicit type_printer(const unit& unit) : m_unit(unit) {}

    /// `T name`, or the type alone. Pointers are into memory of the device, unless `space` names another.
    std::string declare(clang::QualType type, const std::string& name, clang::SourceLocation location,
                        const std::string& space = "__global");
    std::string name(clang::QualType type, clang::SourceLocation location) { return declare(type, "", location); }

    /// The definitions of the structures that were named so far.
    const std::string& definitions() const { return m_definitions; }

  private:
    const unit& m_unit;
    std::map<const clang::RecordDecl*, std::string> m_records;
    std::set<std::string> m_tags; // of m_records
    std::string m_definitions;

    /// The tag, or one like it that no other structure has: blocks of C may define structures of one tag.
    std::string unique(const std::string& tag);
    std::string record(const clang::RecordDecl* record, clang::SourceLocation location);
};

/// An identifier that is not reserved in OpenCL C.
std::string identifier(const std::string& name);
/// The member's name in kernels. An anonymous structure or union gets a made-up one.
std::string member_name(const clang::ValueDecl* member);

} // namespace directive
