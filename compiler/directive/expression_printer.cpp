// SPDX-License-Identifier: Apache-2.0
#include "expression_printer.hpp"

#include "atomic.hpp"

#include <clang/AST/Decl.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace directive {

using namespace clang;

namespace {

bool is_thread_memory(QualType type) { return !type->isPointerType(); }

const std::set<std::string> mathematics = {"acos",       "acosh",       "asin",
                                           "asinh",      "atan",        "atan2",
                                           "atanh",      "cbrt",        "ceil",
                                           "copysign",   "cos",         "cosh",
                                           "erf",        "erfc",        "exp",
                                           "exp2",       "exp10",       "expm1",
                                           "fabs",       "fdim",        "floor",
                                           "fma",        "fmax",        "fmin",
                                           "fmod",       "hypot",       "log",
                                           "log2",       "log10",       "log1p",
                                           "logb",       "nextafter",   "pow",
                                           "remainder",  "rint",        "round",
                                           "sin",        "sinh",        "sqrt",
                                           "tan",        "tanh",        "tgamma",
                                           "lgamma",     "trunc",       "isnan",
                                           "isinf",      "isfinite",    "signbit",
                                           "isnormal",   "isgreater",   "isgreaterequal",
                                           "isless",     "islessequal", "islessgreater",
                                           "isunordered"};

/// What OpenCL C has for integer builtins of GCC and Clang, of the argument x; nothing for others.
std::string integer_builtin(const std::string& name, const std::string& x, const ASTContext& context, QualType type) {
    const bool wide = context.getTypeSize(type) > 32;
    const auto word = (wide ? "(ulong)(" : "(uint)(") + x + ")";
    const auto stem = name.substr(0, name.find_last_not_of('l') + 1);
    if (stem == "popcount") return "(int)popcount(" + word + ")";
    if (stem == "parity") return "(int)(popcount(" + word + ") & 1)";
    if (stem == "clz") return "(int)clz(" + word + ")";
    if (stem == "ctz") return "acc_ctz(" + word + ")";
    if (stem == "ffs") return "acc_ffs(" + word + ")";
    if (name == "bswap16") return "as_ushort(as_uchar2((ushort)(" + x + ")).s10)";
    if (name == "bswap32") return "as_uint(as_uchar4((uint)(" + x + ")).s3210)";
    if (name == "bswap64") return "as_ulong(as_uchar8((ulong)(" + x + ")).s76543210)";
    return "";
}

/// `fpclassify`, of the numbers of the classes and the value, which is printed several times.
std::string class_of(const std::vector<std::string>& arguments, bool single) {
    enum { nan, infinite, normal, subnormal, zero, value, count };
    if (arguments.size() != count) return "0";
    const auto x = (single ? "(float)(" : "(double)(") + arguments[value] + ")";
    return "(isnan(" + x + ") ? " + arguments[nan] + " : isinf(" + x + ") ? " + arguments[infinite] + " : " + x +
           " == 0 ? " + arguments[zero] + " : isnormal(" + x + ") ? " + arguments[normal] + " : " +
           arguments[subnormal] + ")";
}

/// The literal that the pointer or array begins with.
const CompoundLiteralExpr* literal_below(const Expr* pointer) {
    pointer = pointer->IgnoreParenCasts();
    if (const auto* address = dyn_cast<UnaryOperator>(pointer); address && address->getOpcode() == UO_AddrOf)
        return literal_below(address->getSubExpr());
    if (const auto* element = dyn_cast<ArraySubscriptExpr>(pointer)) return literal_below(element->getBase());
    if (const auto* member = dyn_cast<MemberExpr>(pointer)) return literal_below(member->getBase());
    return dyn_cast<CompoundLiteralExpr>(pointer);
}

/// True if the pointer may be one to a string, which OpenCL keeps in an address space of its own.
bool may_be_string(const Expr* pointer) {
    pointer = pointer->IgnoreParenCasts();
    if (const auto* choice = dyn_cast<AbstractConditionalOperator>(pointer))
        return may_be_string(choice->getTrueExpr()) || may_be_string(choice->getFalseExpr());
    if (const auto* sum = dyn_cast<BinaryOperator>(pointer); sum && sum->isAdditiveOp())
        return may_be_string(sum->getLHS()) || may_be_string(sum->getRHS());
    return isa<StringLiteral, PredefinedExpr>(pointer);
}

} // namespace

std::vector<std::string> expression_printer::row_lengths(const VarDecl* variable) {
    std::vector<std::string> lengths;
    auto type = variable->getType();
    if (const auto* pointer = type->getAs<PointerType>())
        type = pointer->getPointeeType();
    else if (const auto* array = m_unit.context.getAsArrayType(type))
        type = array->getElementType();
    for (int row = 1; const auto* array = m_unit.context.getAsArrayType(type); ++row) {
        if (const auto* constant = dyn_cast<ConstantArrayType>(array))
            lengths.push_back(std::to_string(constant->getSize().getZExtValue()));
        else if (const auto* variable_length = dyn_cast<VariableArrayType>(array)) {
            const auto found = m_names.find(variable);
            lengths.push_back(found != m_names.end() && found->second.captured
                                  ? "acc_row" + std::to_string(row) + "_" + variable->getNameAsString()
                                  : "(" + print(variable_length->getSizeExpr()) + ")");
        }
        type = array->getElementType();
    }
    return lengths;
}

std::string expression_printer::space_of(const Expr* pointer) const {
    // Clang 14 gives its address no address space.
    if (literal_below(pointer)) throw unsupported{pointer->getExprLoc(), "a pointer to a compound literal"};
    if (may_be_string(pointer)) throw unsupported{pointer->getExprLoc(), "a pointer to a string literal"};
    const auto* root = root_of(pointer);
    return root ? known_space_of(root).value_or("__global") : "__global";
}

std::optional<std::string> expression_printer::known_space_of(const VarDecl* variable) const {
    if (const auto found = m_spaces.find(variable); found != m_spaces.end()) return found->second;
    if (const auto found = m_names.find(variable); found != m_names.end())
        return found->second.on_device ? "__global" : "";
    return is_thread_memory(variable->getType()) ? std::optional<std::string>("") : std::nullopt;
}

std::map<const VarDecl*, naming>::const_iterator expression_printer::named(const VarDecl* variable) const {
    const auto found = m_names.find(variable);
    if (found != m_names.end() || !variable->isFileVarDecl()) return found;
    return std::find_if(m_names.begin(), m_names.end(), [&](const auto& each) {
        return each.first->getCanonicalDecl() == variable->getCanonicalDecl();
    });
}

std::string expression_printer::operand(const Expr* expression) {
    const auto* plain = expression->IgnoreParenImpCasts();
    // Of an array of the thread, where a pointer to its rows is meant.
    if (is_row_pointer(expression->getType()) && plain->getType()->isArrayType()) return print(expression);
    auto text = print(plain);
    if (isa<DeclRefExpr, ArraySubscriptExpr, CallExpr, MemberExpr, FloatingLiteral>(plain)) return text;
    if (isa<IntegerLiteral>(plain) && text.front() != '-') return text;
    return "(" + text + ")";
}

std::string expression_printer::floating(const llvm::APFloat& value, QualType type) {
    const bool single = type->isSpecificBuiltinType(BuiltinType::Float);
    if (value.isNaN()) return single ? "NAN" : "(double)NAN";
    if (value.isInfinity())
        return std::string(value.isNegative() ? "-" : "") + (single ? "INFINITY" : "(double)INFINITY");
    llvm::SmallString<40> digits;
    value.toString(digits, 0, 0);
    std::string text(digits);
    if (text.find_first_of(".eEn") == std::string::npos) text += ".0";
    return single ? text + "f" : text;
}

std::string expression_printer::initializer(const InitListExpr* list) {
    const auto* written = list->isSemanticForm() && list->getSyntacticForm() ? list->getSyntacticForm() : list;
    const bool named = std::any_of(written->begin(), written->end(),
                                   [](const Stmt* each) { return isa<DesignatedInitExpr>(each); });
    const auto* semantic = list->isSemanticForm() ? list : list->getSemanticForm();
    // Clang writes no form as in the source for a union that `.of_structure.of_union = ` reaches.
    const auto* field = semantic ? semantic->getInitializedFieldInUnion() : nullptr;
    const bool other = field && field->getFieldIndex() != 0 && semantic->getNumInits() != 0;
    const auto* shown = semantic && (named || other) ? semantic : written;
    std::string text = other ? "." + member_name(field) + " = " : "";
    for (unsigned each = 0; each < shown->getNumInits(); ++each) {
        if (!is_scalar(list->getType())) check_pointer_space(nullptr, shown->getInit(each));
        text += (each ? ", " : "") + print(shown->getInit(each));
    }
    return "{" + text + "}";
}

std::string expression_printer::reference(const DeclRefExpr* expression) {
    const auto* declaration = expression->getDecl();
    if (const auto* constant = dyn_cast<EnumConstantDecl>(declaration))
        return llvm::toString(constant->getInitVal(), 10);
    const auto* variable = dyn_cast<VarDecl>(declaration);
    if (!variable) throw unsupported{expression->getExprLoc(), "'" + declaration->getNameAsString() + "' in a region"};
    if (const auto found = named(variable); found != m_names.end()) {
        if (found->second.rows)
            throw unsupported{expression->getExprLoc(), "'" + variable->getNameAsString() +
                                                            "', a pointer to pointers, in a region but for its "
                                                            "elements"};
        return found->second.text;
    }
    if (variable->hasGlobalStorage()) {
        Expr::EvalResult value;
        if (expression->EvaluateAsInt(value, m_unit.context)) return llvm::toString(value.Val.getInt(), 10);
        const auto* first = variable->getType().isConstQualified() ? variable->getAnyInitializer() : nullptr;
        if (first && first->EvaluateAsRValue(value, m_unit.context) && value.Val.isFloat())
            return "(" + floating(value.Val.getFloat(), variable->getType()) + ")";
        if (variable->isStaticLocal()) return identifier(variable->getNameAsString()); // a constant table
        throw unsupported{expression->getExprLoc(), "the global variable '" + variable->getNameAsString() +
                                                        "' in a function that a region calls"};
    }
    return identifier(variable->getNameAsString());
}

namespace {

constexpr const char* misaligned = "the address of a member that its packed structure misaligns";

CharUnits alignment_of(const ASTContext& context, const Expr* lvalue) {
    lvalue = lvalue->IgnoreParens();
    if (const auto* member = dyn_cast<MemberExpr>(lvalue))
        if (const auto* field = dyn_cast<FieldDecl>(member->getMemberDecl())) {
            const auto base = member->isArrow()
                                  ? context.getTypeAlignInChars(member->getBase()->getType()->getPointeeType())
                                  : alignment_of(context, member->getBase());
            return base.alignmentAtOffset(
                context.toCharUnitsFromBits(static_cast<std::int64_t>(context.getFieldOffset(field))));
        }
    if (const auto* element = dyn_cast<ArraySubscriptExpr>(lvalue))
        if (const auto* array = element->getBase()->IgnoreParenImpCasts(); array->getType()->isArrayType())
            return alignment_of(context, array).alignmentOfArrayElement(context.getTypeSizeInChars(element->getType()));
    return context.getTypeAlignInChars(lvalue->getType().getCanonicalType());
}

} // namespace

bool expression_printer::is_misaligned(const Expr* lvalue) const {
    return alignment_of(m_unit.context, lvalue) <
           m_unit.context.getTypeAlignInChars(lvalue->getType().getCanonicalType());
}

void expression_printer::check_alignment(const Expr* lvalue, QualType type) const {
    if (!type->isIncompleteType() && !type->isFunctionType() &&
        m_unit.context.getTypeAlign(type) < m_unit.context.getTypeAlign(type.getCanonicalType()))
        throw unsupported{lvalue->getExprLoc(),
                          "a pointer to '" + type.getAsString() + "', whose alignment is less than its type's"};
}

void expression_printer::check_pointer_space(const Expr* target, const Expr* value) const {
    if (value->getType()->isPointerType() && space_of(value).empty() &&
        (!target || !isa<DeclRefExpr>(target->IgnoreParens())))
        throw unsupported{value->getExprLoc(), "an array of pointers to variables of a thread"};
}

std::string expression_printer::print(const Expr* expression) {
    const auto location = expression->getExprLoc();
    if (expression->getType()->isAnyComplexType())
        throw unsupported{expression->getBeginLoc(), "complex numbers ('_Complex')"};
    if (const auto known = m_named_values.find(expression); known != m_named_values.end()) return known->second;
    if (m_replaced && isa<DeclRefExpr, ArraySubscriptExpr, MemberExpr, UnaryOperator>(expression) &&
        same_text(m_unit, expression, m_replaced))
        return m_replacement;
    if (is_row_pointer(expression->getType()) &&
        (!variable_named(expression) || expression->IgnoreParenImpCasts()->getType()->isArrayType()))
        return row_pointer(expression);
    if (const auto* parentheses = dyn_cast<ParenExpr>(expression)) return "(" + print(parentheses->getSubExpr()) + ")";
    if (const auto* cast = dyn_cast<CastExpr>(expression)) {
        const bool written = isa<CStyleCastExpr>(cast);
        if (cast->getCastKind() == CK_ArrayToPointerDecay && is_misaligned(cast->getSubExpr()))
            throw unsupported{location, misaligned};
        auto of = written ? operand(cast->getSubExpr()) : print(cast->getSubExpr());
        m_has_address |= cast->getCastKind() == CK_PointerToIntegral;
        // The host does not know where OpenCL's buffers are: only a region makes integers that are addresses.
        if (cast->getCastKind() == CK_IntegralToPointer && !m_has_address)
            throw unsupported{location, "a pointer made from an integer of the host"};
        // C converts to bool by comparing; OpenCL C does, too.
        if (!written) return of;
        const auto type = cast->getType();
        const auto space = type->isPointerType() ? space_of(cast->getSubExpr()) : "__global";
        return "(" + m_types.declare(type, "", location, space) + ")" + of;
    }
    if (const auto* literal = dyn_cast<IntegerLiteral>(expression)) {
        auto text = llvm::toString(literal->getValue(), 10, false);
        const auto type = literal->getType();
        if (type->isUnsignedIntegerType()) text += "u";
        if (m_unit.context.getTypeSize(type) > 32) text += "l";
        return text;
    }
    if (const auto* literal = dyn_cast<CharacterLiteral>(expression))
        return std::to_string(static_cast<int>(literal->getValue()));
    if (const auto* literal = dyn_cast<FloatingLiteral>(expression))
        return floating(literal->getValue(), literal->getType());
    if (const auto* named = dyn_cast<DeclRefExpr>(expression)) return reference(named);
    if (const auto* element = dyn_cast<ArraySubscriptExpr>(expression)) return subscript(element);
    if (const auto* member = dyn_cast<MemberExpr>(expression)) {
        if (const auto* pointer = member_pointer(member))
            if (const auto found = std::as_const(*this).named(pointer); found != m_names.end())
                return found->second.text;
        if (member->getType()->isPointerType())
            throw unsupported{location,
                              "a pointer in a structure, '" + member->getMemberDecl()->getNameAsString() + "'"};
        if (member->isArrow()) check_alignment(member, member->getBase()->getType()->getPointeeType());
        return operand(member->getBase()) + (member->isArrow() ? "->" : ".") + member_name(member->getMemberDecl());
    }
    if (const auto* unary = dyn_cast<UnaryOperator>(expression)) {
        if ((unary->isIncrementDecrementOp() || unary->getOpcode() == UO_AddrOf) && is_row(unary->getSubExpr()))
            throw unsupported{location, "a region that changes pointers in memory"};
        if (unary->getOpcode() == UO_AddrOf && is_misaligned(unary->getSubExpr()))
            throw unsupported{location, misaligned};
        if (unary->getOpcode() == UO_Deref) check_alignment(unary, unary->getType());
        // A row, which is used as a pointer to its first element.
        if (unary->getOpcode() == UO_Deref && unary->getType()->isArrayType()) return print(unary->getSubExpr());
        auto inner = operand(unary->getSubExpr());
        if (unary->getOpcode() == UO_Extension) return inner;
        const auto sign = UnaryOperator::getOpcodeStr(unary->getOpcode()).str();
        return unary->isPostfix() ? inner + sign : sign + inner;
    }
    if (const auto* binary = dyn_cast<BinaryOperator>(expression)) {
        const auto sign = binary->getOpcodeStr().str();
        if (binary->getOpcode() == BO_Comma)
            return "(" + print(binary->getLHS()) + ", " + print(binary->getRHS()) + ")";
        if (binary->isAssignmentOp() && is_row(binary->getLHS()))
            throw unsupported{location, "a region that changes pointers in memory"};
        if (binary->getOpcode() == BO_Assign) check_pointer_space(binary->getLHS(), binary->getRHS());
        if (binary->getOpcode() == BO_Sub && is_row_pointer(binary->getLHS()->getType()))
            return "(" + print(binary->getLHS()) + " - " + print(binary->getRHS()) + ") / " +
                   row_length(binary->getLHS());
        const auto right = binary->isAssignmentOp() ? print(binary->getRHS()) : operand(binary->getRHS());
        // Clang nests no more than 256 brackets, which a long sum would.
        const auto* left = binary->getLHS()->IgnoreParenImpCasts();
        const auto* chain = dyn_cast<BinaryOperator>(left);
        const bool same = chain && ((binary->isAdditiveOp() && chain->isAdditiveOp()) ||
                                    (binary->isMultiplicativeOp() && chain->isMultiplicativeOp()));
        return (same ? print(left) : operand(left)) + " " + sign + " " + right;
    }
    if (const auto* choice = dyn_cast<ConditionalOperator>(expression))
        return operand(choice->getCond()) + " ? " + operand(choice->getTrueExpr()) + " : " +
               operand(choice->getFalseExpr());
    if (const auto* choice = dyn_cast<BinaryConditionalOperator>(expression)) {
        if (choice->getCommon()->HasSideEffects(m_unit.context))
            throw unsupported{location, "'?:' of an expression with side effects"};
        const auto common = operand(choice->getCommon());
        return common + " ? " + common + " : " + operand(choice->getFalseExpr());
    }
    if (const auto* called = dyn_cast<CallExpr>(expression)) return call(called);
    if (const auto* literal = dyn_cast<CompoundLiteralExpr>(expression))
        return "(" + m_types.declare(literal->getType(), "", location) + ")" + print(literal->getInitializer());
    if (const auto* list = dyn_cast<InitListExpr>(expression)) return initializer(list);
    if (isa<ImplicitValueInitExpr>(expression)) return is_scalar(expression->getType()) ? "0" : "{0}";
    if (const auto* generic = dyn_cast<GenericSelectionExpr>(expression)) return print(generic->getResultExpr());
    if (const auto* text = dyn_cast<StringLiteral>(expression)) {
        if (text->getCharByteWidth() != 1) throw unsupported{location, "a string of wide characters"};
        std::string printed;
        llvm::raw_string_ostream stream(printed);
        text->outputString(stream);
        return printed.substr(printed.find('"')); // without u8
    }
    Expr::EvalResult value;
    if (expression->EvaluateAsInt(value, m_unit.context)) {
        const bool wide = m_unit.context.getTypeSize(expression->getType()) > 32;
        return llvm::toString(value.Val.getInt(), 10) + (expression->getType()->isUnsignedIntegerType() ? "u" : "") +
               (wide ? "l" : "");
    }
    if (isa<StmtExpr>(expression)) throw unsupported{location, "a statement inside an expression"};
    if (isa<PredefinedExpr>(expression)) throw unsupported{location, "the function's name ('__func__')"};
    if (isa<UnaryExprOrTypeTraitExpr>(expression))
        throw unsupported{location, "'sizeof' of an array or row of variable length"};
    throw unsupported{location, "this expression in a region"};
}

bool expression_printer::is_row(const Expr* lvalue) const {
    if (member_pointer(lvalue)) return true;
    const auto* element = dyn_cast<ArraySubscriptExpr>(lvalue->IgnoreParenCasts());
    return element && element->getType()->isPointerType() && rows_variable(element->getBase());
}

const VarDecl* expression_printer::rows_variable(const Expr* expression) const {
    const auto* variable = variable_named(expression);
    const auto found = variable ? named(variable) : m_names.end();
    return found != m_names.end() && found->second.rows ? variable : nullptr;
}

std::string expression_printer::rows_arguments(const VarDecl* pointers) {
    const auto name = identifier(pointers->getNameAsString());
    return name + ", acc_rows_" + name;
}

std::string expression_printer::rows_of(const VarDecl* pointers, const std::vector<const Expr*>& indices) {
    const auto name = identifier(pointers->getNameAsString());
    auto type = pointers->getType().getCanonicalType();
    type = type->isPointerType() ? type->getPointeeType() : type->getAsArrayTypeUnsafe()->getElementType();
    const auto row = "((" + m_types.declare(type.getUnqualifiedType(), "", pointers->getLocation(), "__global") +
                     ")(acc_rows_" + name + " + " + name + "[" + print(indices[0]) + "]))";
    return indices.size() == 1 ? row : row + "[" + print(indices[1]) + "]";
}

std::string expression_printer::subscript(const ArraySubscriptExpr* expression) {
    std::vector<const Expr*> indices;
    const Expr* base = expression;
    while (const auto* each = dyn_cast<ArraySubscriptExpr>(base->IgnoreParenImpCasts())) {
        indices.insert(indices.begin(), each->getIdx());
        base = each->getBase();
    }
    base = base->IgnoreParenImpCasts();
    if (const auto* first = dyn_cast<UnaryOperator>(base); first && first->getOpcode() == UO_Deref &&
                                                           first->getType()->isArrayType() &&
                                                           variable_named(first->getSubExpr())) { // (*p)[i] is p[0][i]
        constexpr unsigned bits = 32;
        indices.insert(indices.begin(), IntegerLiteral::Create(m_unit.context, llvm::APInt(bits, 0),
                                                               m_unit.context.IntTy, first->getExprLoc()));
        base = first->getSubExpr()->IgnoreParenImpCasts();
    }
    if (base->getType()->isPointerType()) check_alignment(expression, expression->getType());
    const auto* variable = variable_named(base);
    const auto found = variable ? std::as_const(*this).named(variable) : m_names.cend();
    const bool to_rows = is_row_pointer(base->getType());
    if (variable && found != m_names.cend() && found->second.rows && indices.size() <= 2)
        return rows_of(variable, indices);
    const bool flat = variable && found != m_names.cend() && found->second.flat;
    const bool row = !variable && base->getType()->isArrayType() && !is_array_of_thread(base);
    if (!flat && !to_rows && !row) {
        std::string text = operand(base);
        for (const auto* index : indices) text += "[" + print(index) + "]";
        return text;
    }
    const auto lengths = variable  ? row_lengths(variable)
                         : to_rows ? lengths_of(base->getType()->getPointeeType(), base)
                                   : lengths_of(m_unit.context.getAsArrayType(base->getType())->getElementType(), base);
    if (indices.size() > lengths.size() + 1)
        throw unsupported{expression->getExprLoc(),
                          "a subscript of a pointer in '" + (variable ? variable->getNameAsString() : "a row") + "'"};
    std::string offset = operand(indices[0]);
    const auto type = [](const std::string& text) { return "(long)" + text; };
    for (std::size_t row = 0; row < lengths.size(); ++row) {
        offset = row == 0 ? type(offset) + " * " + lengths[row] : "(" + offset + ") * " + lengths[row];
        if (row + 1 < indices.size()) offset += " + " + operand(indices[row + 1]);
    }
    const auto text = variable ? print(base) : "(" + print(base) + ")";
    if (indices.size() < lengths.size() + 1) return "(" + text + " + (" + offset + "))";
    return text + "[" + (lengths.empty() ? print(indices[0]) : offset) + "]";
}

std::string expression_printer::call(const CallExpr* expression) {
    const auto location = expression->getExprLoc();
    const auto* function = expression->getDirectCallee();
    if (!function) throw unsupported{location, "a call through a pointer"};
    auto name = function->getNameAsString();
    const bool builtin = name.starts_with("__builtin_");
    if (builtin) name = name.substr(10);
    if (name == "expect") return operand(expression->getArg(0));
    Expr::EvalResult value;
    if (builtin && expression->EvaluateAsRValue(value, m_unit.context) && !value.HasSideEffects) {
        if (value.Val.isFloat()) return "(" + floating(value.Val.getFloat(), expression->getType()) + ")";
        if (value.Val.isInt()) return "(" + llvm::toString(value.Val.getInt(), 10) + ")";
    }
    const FunctionDecl* definition = nullptr;
    if (function->hasBody(definition)) return user_call(expression, definition);
    // A routine of the C library stays what it is.
    if (m_unit.is_routine(function) && !function->getBuiltinID()) return user_call(expression, function);
    std::vector<std::string> arguments;
    for (const auto* argument : expression->arguments()) arguments.push_back(print(argument));
    const auto all = [&](const std::string& cast) {
        std::string text;
        for (const auto& each : arguments)
            text += (text.empty() ? "" : ", ") + (cast.empty() ? each : cast + "(" + each + ")");
        return "(" + text + ")";
    };
    if (name == "printf") return "printf" + all("");
    if (name == "acc_on_device") return "acc_on_device" + all("(int)");
    if (name == "abs") return "(int)abs" + all("(int)");
    if (name == "labs" || name == "llabs") return "(long)abs" + all("(long)");
    if ((builtin || name.starts_with("ffs")) && arguments.size() == 1)
        if (const auto text = integer_builtin(name, arguments[0], m_unit.context, expression->getArg(0)->getType());
            !text.empty())
            return text;
    const bool of_float = name.ends_with("f") && name != "modf";
    const auto stem = of_float ? name.substr(0, name.size() - 1) : name;
    const std::string real = of_float ? "(float)(" : "(double)(";
    if (stem == "ldexp" || stem == "scalbn" || stem == "scalbln")
        return "ldexp(" + real + arguments.at(0) + "), (int)(" + arguments.at(1) + "))";
    if (stem == "frexp" || stem == "modf") return stem + "(" + real + arguments.at(0) + "), " + arguments.at(1) + ")";
    if (stem == "nan" && arguments.size() == 1) return of_float ? "NAN" : "(double)NAN";
    if (stem == "remquo")
        return "remquo(" + real + arguments.at(0) + "), " + real + arguments.at(1) + "), " + arguments.at(2) + ")";
    if (name == "fpclassify" && !expression->HasSideEffects(m_unit.context))
        return class_of(
            arguments,
            expression->getArg(expression->getNumArgs() - 1)->getType()->isSpecificBuiltinType(BuiltinType::Float));
    if (stem == "nexttoward" || name == "nexttowardl")
        throw unsupported{location, "a call of '" + name + "', which takes a 'long double'"};
    if (stem == "sincos")
        return "(*(" + arguments.at(1) + ") = sincos(" + real + arguments.at(0) + "), " + arguments.at(2) + "))";
    if (name == "isinf_sign" && !expression->getArg(0)->HasSideEffects(m_unit.context))
        return "(isinf" + all("(double)") + " ? 1 - 2 * (signbit" + all("(double)") + " != 0) : 0)";
    if (stem == "ilogb") return "ilogb(" + real + arguments.at(0) + "))";
    if (stem == "nearbyint") return "rint(" + real + arguments.at(0) + "))";
    if (stem == "lround" || stem == "llround") return "(long)round(" + real + arguments.at(0) + "))";
    if (stem == "lrint" || stem == "llrint") return "(long)rint(" + real + arguments.at(0) + "))";
    if (mathematics.contains(name)) {
        const bool single = name.starts_with("is") &&
                            expression->getArg(0)->IgnoreParenImpCasts()->getType()->isSpecificBuiltinType(
                                BuiltinType::Float);
        return name + all(single ? "(float)" : "(double)");
    }
    if (of_float && mathematics.contains(stem)) return stem + all("(float)");
    throw unsupported{location, "a call of '" + function->getNameAsString() +
                                    "', whose definition is not in this source, and which no 'routine' declares"};
}

std::string device_name(const FunctionDecl* function, const std::vector<std::string>& spaces) {
    std::string suffix;
    for (unsigned each = 0; each < spaces.size(); ++each) {
        const bool pointer = each < function->getNumParams() &&
                             function->getParamDecl(each)->getType()->isPointerType();
        suffix += pointer && spaces[each].empty() ? "p" : "g";
    }
    const auto name = "acc_call_" + function->getNameAsString();
    return suffix.find('p') == std::string::npos ? name : name + "_" + suffix;
}

std::string expression_printer::user_call(const CallExpr* expression, const FunctionDecl* function) {
    if (const auto recursion = recursion_of(function); !recursion.empty())
        throw unsupported{expression->getExprLoc(), recursion};
    called made{function, "", {}, {}};
    std::string arguments;
    for (const auto* argument : expression->arguments()) {
        const auto space = argument->getType()->isPointerType() ? space_of(argument) : "";
        made.spaces.push_back(space);
        const auto* rows = rows_variable(argument);
        arguments += (arguments.empty() ? "" : ", ") + (rows ? rows_arguments(rows) : print(argument));
    }
    for (const auto& used : globals_of(function)) {
        if (!m_unit.is_declared(used.variable)) continue;
        const auto found = std::as_const(*this).named(used.variable);
        if (found == m_names.end() || !found->second.on_device)
            throw unsupported{expression->getExprLoc(), "a copy for each thread of '" +
                                                            used.variable->getNameAsString() +
                                                            "', which the called function uses"};
        made.globals.push_back(used.variable);
        const auto own = identifier(used.variable->getNameAsString());
        const bool memory = used.variable->getType()->isPointerType() || used.variable->getType()->isArrayType();
        arguments += (arguments.empty() ? "" : ", ") + (memory ? own : "acc_at_" + own);
    }
    made.name = device_name(function, made.spaces);
    if (m_known_functions.insert(made.name).second) m_called.push_back(made);
    return made.name + "(" + arguments + ")";
}

} // namespace directive
