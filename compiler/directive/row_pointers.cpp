// SPDX-License-Identifier: Apache-2.0
// Pointers to rows, as `double (*p)[n]`: kernels have pointers to elements in their place, as OpenCL C has no rows of
// variable length.
#include "expression_printer.hpp"

#include <clang/AST/Decl.h>

namespace directive {

using namespace clang;

bool is_row_pointer(QualType type) {
    const auto* pointer = type.getCanonicalType()->getAs<PointerType>();
    return pointer && pointer->getPointeeType()->isArrayType();
}

const VarDecl* variable_named(const Expr* expression) {
    expression = expression->IgnoreParenImpCasts();
    if (const auto* member = member_pointer(expression)) return member;
    const auto* reference = dyn_cast<DeclRefExpr>(expression);
    return reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
}

bool expression_printer::is_array_of_thread(const Expr* expression) const {
    expression = expression->IgnoreParenImpCasts();
    if (!expression->getType()->isArrayType()) return false;
    if (const auto* element = dyn_cast<ArraySubscriptExpr>(expression)) return is_array_of_thread(element->getBase());
    if (const auto* variable = variable_named(expression)) {
        const auto found = named(variable);
        return found == m_names.end() || !found->second.flat;
    }
    return !isa<UnaryOperator>(expression);
}

// Canonical types have lost the lengths that are no constants.
std::vector<std::string> expression_printer::lengths_of(QualType row, const Expr* pointer) {
    const auto* root = root_of(pointer);
    std::map<const Expr*, std::string> known; // the variable's own may be parameters of the kernel
    if (root) {
        auto type = root->getType();
        if (const auto* to = type->getAs<PointerType>())
            type = to->getPointeeType();
        else if (const auto* array = m_unit.context.getAsArrayType(type))
            type = array->getElementType();
        for (const auto& length : row_lengths(root)) {
            const auto* array = m_unit.context.getAsArrayType(type);
            if (const auto* given = dyn_cast_or_null<VariableArrayType>(array)) known[given->getSizeExpr()] = length;
            if (array) type = array->getElementType();
        }
    }
    std::vector<std::string> lengths;
    for (; const auto* array = m_unit.context.getAsArrayType(row); row = array->getElementType()) {
        const auto* given = dyn_cast<VariableArrayType>(array);
        if (const auto* constant = dyn_cast<ConstantArrayType>(array))
            lengths.push_back(std::to_string(constant->getSize().getZExtValue()));
        else if (!given || !given->getSizeExpr())
            throw unsupported{pointer->getExprLoc(), "a pointer to rows of unknown length"};
        else
            lengths.push_back(known.contains(given->getSizeExpr()) ? known[given->getSizeExpr()]
                                                                   : "(" + print(given->getSizeExpr()) + ")");
    }
    return lengths;
}

std::string expression_printer::row_length(const Expr* pointer) {
    std::string all;
    for (const auto& each : lengths_of(pointer->getType()->getPointeeType(), pointer))
        all += (all.empty() ? "" : " * ") + each;
    return all.find('*') == std::string::npos ? all : "(" + all + ")";
}

std::string expression_printer::elements_of(const Expr* array) {
    const auto* plain = array->IgnoreParenImpCasts();
    if (!is_array_of_thread(plain)) return print(plain);
    auto text = "&" + operand(plain);
    for (auto type = plain->getType(); const auto* rows = m_unit.context.getAsArrayType(type);
         type = rows->getElementType())
        text += "[0]";
    return "(" + text + ")";
}

std::string expression_printer::row_pointer(const Expr* expression) {
    const auto* plain = expression->IgnoreParenImpCasts();
    const auto location = plain->getExprLoc();
    if (plain->getType()->isArrayType()) return elements_of(plain);
    const auto steps = [&](const Expr* count) { return "(long)" + operand(count) + " * " + row_length(plain); };
    if (const auto* unary = dyn_cast<UnaryOperator>(plain)) {
        const auto* below = unary->getSubExpr();
        if (unary->getOpcode() == UO_AddrOf) return elements_of(below);
        if (unary->isIncrementDecrementOp()) {
            const auto length = row_length(plain);
            const auto moved = "(" + print(below) + (unary->isIncrementOp() ? " += " : " -= ") + length + ")";
            return unary->isPrefix() ? moved : "(" + moved + (unary->isIncrementOp() ? " - " : " + ") + length + ")";
        }
        return print(below);
    }
    if (const auto* binary = dyn_cast<BinaryOperator>(plain)) {
        const auto *left = binary->getLHS(), *right = binary->getRHS();
        switch (binary->getOpcode()) {
        case BO_Add:
            if (!left->getType()->isPointerType()) std::swap(left, right);
            return "(" + print(left) + " + " + steps(right) + ")";
        case BO_Sub: return "(" + print(left) + " - " + steps(right) + ")";
        case BO_AddAssign: return print(left) + " += " + steps(right);
        case BO_SubAssign: return print(left) + " -= " + steps(right);
        case BO_Assign: return print(left) + " = " + print(right);
        case BO_Comma: return "(" + print(left) + ", " + print(right) + ")";
        default: break;
        }
    }
    if (const auto* choice = dyn_cast<ConditionalOperator>(plain))
        return "(" + operand(choice->getCond()) + " ? " + print(choice->getTrueExpr()) + " : " +
               print(choice->getFalseExpr()) + ")";
    if (const auto* cast = dyn_cast<CStyleCastExpr>(plain); cast && cast->getCastKind() != CK_IntegralToPointer) {
        const auto* from = cast->getSubExpr();
        return "((" + m_types.declare(cast->getType(), "", location, space_of(from)) + ")" +
               (is_row_pointer(from->getType()) ? print(from) : operand(from)) + ")";
    }
    if (const auto* called = dyn_cast<CallExpr>(plain)) return call(called);
    throw unsupported{location, "this pointer to rows"};
}

} // namespace directive
