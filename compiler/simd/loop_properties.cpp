// SPDX-License-Identifier: Apache-2.0
// Properties of loops: a loop's identity is a list of nodes, each a name and perhaps a value.
#include "loop_properties.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Metadata.h>

using namespace llvm;

namespace causeway::simd {

namespace {

bool is_named(const Metadata* property, StringRef name) {
    const auto* node = dyn_cast_or_null<MDNode>(property);
    if (!node || node->getNumOperands() == 0) return false;
    const auto* text = dyn_cast_or_null<MDString>(node->getOperand(0));
    return text && text->getString() == name;
}

void replace(Loop& loop, StringRef name, MDNode* property) {
    LLVMContext& context = loop.getHeader()->getContext();
    SmallVector<Metadata*, 8> properties{nullptr};
    if (MDNode* identity = loop.getLoopID())
        for (const MDOperand& operand : drop_begin(identity->operands()))
            if (!is_named(operand, name)) properties.push_back(operand);
    if (property) properties.push_back(property);
    MDNode* identity = MDNode::getDistinct(context, properties);
    identity->replaceOperandWith(0, identity);
    loop.setLoopID(identity);
}

void set_constant(Loop& loop, StringRef name, Constant* value) {
    LLVMContext& context = loop.getHeader()->getContext();
    replace(loop, name, MDNode::get(context, {MDString::get(context, name), ConstantAsMetadata::get(value)}));
}

} // namespace

bool has_property(const Loop& loop, StringRef name) {
    const MDNode* identity = loop.getLoopID();
    return identity && any_of(drop_begin(identity->operands()), [&](const MDOperand& o) { return is_named(o, name); });
}

void set_property(Loop& loop, StringRef name) {
    LLVMContext& context = loop.getHeader()->getContext();
    replace(loop, name, MDNode::get(context, MDString::get(context, name)));
}

void set_property(Loop& loop, StringRef name, int value) {
    set_constant(loop, name, ConstantInt::get(Type::getInt32Ty(loop.getHeader()->getContext()), value));
}

void set_property(Loop& loop, StringRef name, bool value) {
    set_constant(loop, name, ConstantInt::getBool(loop.getHeader()->getContext(), value));
}

void set_property(Loop& loop, StringRef name, MDNode* value) {
    LLVMContext& context = loop.getHeader()->getContext();
    replace(loop, name, MDNode::get(context, {MDString::get(context, name), value}));
}

void remove_property(Loop& loop, StringRef name) {
    if (has_property(loop, name)) replace(loop, name, nullptr);
}

void force_width(Loop& loop, unsigned width, unsigned vectors, bool masked) {
    set_property(loop, "llvm.loop.vectorize.enable", true);
    set_property(loop, "llvm.loop.vectorize.width", static_cast<int>(width));
    set_property(loop, "llvm.loop.interleave.count", static_cast<int>(vectors));
    set_property(loop, "llvm.loop.vectorize.predicate.enable", masked);
}

void unforce_width(Loop& loop) {
    for (const char* name : {"llvm.loop.vectorize.enable", "llvm.loop.vectorize.width", "llvm.loop.interleave.count",
                             "llvm.loop.vectorize.predicate.enable"})
        remove_property(loop, name);
}

} // namespace causeway::simd
