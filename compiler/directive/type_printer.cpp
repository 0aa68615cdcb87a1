// SPDX-License-Identifier: Apache-2.0
#include "type_printer.hpp"

#include <clang/AST/Decl.h>
#include <clang/AST/RecordLayout.h>

#include <algorithm>
#include <cstdint>

namespace directive {

using namespace clang;

std::string identifier(const std::string& name) {
    static const std::set<std::string> words = {
        "global",     "local",      "constant",  "private", "generic",   "kernel",    "__global",  "read_only",
        "write_only", "read_write", "pipe",      "half",    "bool",      "uchar",     "ushort",    "uint",
        "ulong",      "size_t",     "ptrdiff_t", "event_t", "sampler_t", "image2d_t", "image3d_t", "vec_step",
        "as_int",     "as_float",   "uniform",   "true",    "false"};
    static const std::set<std::string> vectors = {"char", "uchar", "short", "ushort", "int", "uint",
                                                  "long", "ulong", "float", "double", "half"};
    // Names of the kernels' own begin so.
    if (name.starts_with("acc_")) return name + "_of_host";
    const auto digits = name.find_first_of("0123456789");
    if (words.contains(name) || (digits != std::string::npos && vectors.contains(name.substr(0, digits))))
        return name + "_of_host";
    return name;
}

std::string member_name(const ValueDecl* member) {
    const auto* field = dyn_cast<FieldDecl>(member);
    return field && !field->getIdentifier() ? "acc_member" + std::to_string(field->getFieldIndex())
                                            : identifier(member->getNameAsString());
}

std::string type_printer::declare(QualType type, const std::string& name, SourceLocation location,
                                  const std::string& space) {
    const auto canonical = type.getCanonicalType();
    const auto with = [&](const std::string& text) { return name.empty() ? text : text + " " + name; };
    if (const auto* array = m_unit.context.getAsConstantArrayType(canonical))
        return declare(array->getElementType(), name + "[" + std::to_string(array->getSize().getZExtValue()) + "]",
                       location, space);
    if (canonical->isArrayType()) throw unsupported{location, "an array of variable length inside a region"};
    if (const auto* pointer = canonical->getAs<PointerType>()) {
        const auto pointee = pointer->getPointeeType();
        if (pointee->isFunctionType()) throw unsupported{location, "a pointer to a function"};
        if (pointee->isVoidType()) return with(space + " void *");
        if (pointee->isPointerType()) throw unsupported{location, "a pointer to pointers"};
        if (pointee->isArrayType()) { // to rows: kernels have a pointer to elements
            const auto element = m_unit.context.getBaseElementType(pointee);
            if (element->isPointerType()) throw unsupported{location, "a pointer to pointers"};
            return with(space + (element.isConstQualified() ? " const " : " ") + this->name(element, location) + " *");
        }
        return with(space + (pointee.isConstQualified() ? " const " : " ") + this->name(pointee, location) + " *");
    }
    if (const auto* record_type = canonical->getAs<RecordType>()) return with(record(record_type->getDecl(), location));
    if (const auto* enumeration = canonical->getAs<EnumType>())
        return declare(enumeration->getDecl()->getIntegerType(), name, location, space);
    if (canonical->isAnyComplexType()) throw unsupported{location, "complex numbers ('_Complex')"};
    const auto* builtin = canonical->getAs<BuiltinType>();
    if (!builtin) throw unsupported{location, "the type '" + type.getAsString() + "'"};
    switch (builtin->getKind()) {
    case BuiltinType::Void: return with("void");
    case BuiltinType::Bool: return with("bool");
    case BuiltinType::Char_S:
    case BuiltinType::SChar: return with("char");
    case BuiltinType::Char_U:
    case BuiltinType::UChar: return with("uchar");
    case BuiltinType::Short: return with("short");
    case BuiltinType::UShort: return with("ushort");
    case BuiltinType::Int: return with("int");
    case BuiltinType::UInt: return with("uint");
    case BuiltinType::Long:
    case BuiltinType::LongLong: return with("long");
    case BuiltinType::ULong:
    case BuiltinType::ULongLong: return with("ulong");
    case BuiltinType::Float: return with("float");
    case BuiltinType::Double: return with("double");
    default: throw unsupported{location, "the type '" + type.getAsString() + "'"};
    }
}

namespace {

/// Attributes that give a member the place `wanted` in a packed structure whose earlier members end at `end`.
std::string moved_to(CharUnits wanted, CharUnits end, SourceLocation location) {
    if (wanted == end) return "";
    for (CharUnits alignment = CharUnits::fromQuantity(2); alignment <= wanted; alignment = alignment * 2)
        if (end.alignTo(alignment) == wanted)
            return " __attribute__((aligned(" + std::to_string(alignment.getQuantity()) + ")))";
    throw unsupported{location, "a structure with this layout"};
}

} // namespace

std::string type_printer::unique(const std::string& tag) {
    auto name = tag;
    for (int number = 2; !m_tags.insert(name).second; ++number) name = tag + "_" + std::to_string(number);
    return name;
}

std::string type_printer::record(const RecordDecl* given, SourceLocation location) {
    const auto* definition = given->getDefinition();
    if (!definition) throw unsupported{location, "a structure that is not defined"};
    if (const auto found = m_records.find(definition); found != m_records.end()) return found->second;
    const auto tag = definition->getNameAsString();
    const auto spelled = (definition->isUnion() ? "union " : "struct ") +
                         unique(tag.empty() ? "acc_unnamed" : identifier(tag));
    m_records[definition] = spelled; // an array of pointers in it may name it
    // OpenCL C aligns members by their types. Where attributes or `#pragma pack` have the host do otherwise, each
    // member of a packed structure is told its place.
    const auto& layout = m_unit.context.getASTRecordLayout(definition);
    CharUnits end = CharUnits::Zero(), packed_end = end, alignment = CharUnits::One();
    bool natural = true;
    std::string fields, placed_fields;
    for (const auto* field : definition->fields()) {
        if (field->isBitField()) throw unsupported{location, "a structure with bit-fields"};
        if (field->getType()->isIncompleteArrayType())
            throw unsupported{location, "a structure with a flexible array member"};
        // The device has no use for the host's pointers: they keep their place.
        const bool pointer = field->getType()->isPointerType();
        const auto text = "    " + (pointer ? "ulong " + member_name(field)
                                            : declare(field->getType(), member_name(field), location));
        const auto type = field->getType().getCanonicalType();
        const auto own = m_unit.context.getTypeAlignInChars(type), size = m_unit.context.getTypeSizeInChars(type);
        const auto offset = m_unit.context.toCharUnitsFromBits(
            static_cast<std::int64_t>(layout.getFieldOffset(field->getFieldIndex())));
        natural &= offset == (definition->isUnion() ? CharUnits::Zero() : end.alignTo(own));
        alignment = std::max(alignment, own);
        end = std::max(end, offset + size);
        fields += text + ";\n";
        placed_fields += text + moved_to(offset, definition->isUnion() ? offset : packed_end, location) + ";\n";
        packed_end = offset + size;
    }
    natural &= layout.getAlignment() == alignment && layout.getSize() == end.alignTo(alignment);
    std::string attributes;
    if (!natural) {
        // No device promises more of where its memory begins.
        constexpr int most = 128;
        if (layout.getAlignment().getQuantity() > most)
            throw unsupported{location, "a structure that is aligned to more than 128 bytes"};
        if (layout.getSize() != end.alignTo(layout.getAlignment()))
            throw unsupported{location, "a structure with this layout"};
        fields = placed_fields;
        attributes = " __attribute__((packed, aligned(" + std::to_string(layout.getAlignment().getQuantity()) + ")))";
    }
    m_definitions += spelled + " {\n" + fields + "}" + attributes + ";\n";
    return spelled;
}

} // namespace directive
