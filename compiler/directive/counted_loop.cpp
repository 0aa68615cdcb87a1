// SPDX-License-Identifier: Apache-2.0
#include "counted_loop.hpp"

#include <clang/AST/Decl.h>
#include <llvm/ADT/StringExtras.h>

namespace directive {

using namespace clang;

static const Expr* plain(const Expr* expression) { return expression ? expression->IgnoreParenImpCasts() : nullptr; }

const VarDecl* named(const Expr* expression) {
    const auto* reference = dyn_cast_or_null<DeclRefExpr>(plain(expression));
    return reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
}

namespace {

const ASTContext& context_of(const counted_loop& loop) { return loop.variable->getASTContext(); }

QualType plain_integer(QualType type) {
    type = type.getCanonicalType().getUnqualifiedType();
    if (const auto* named = type->getAs<EnumType>())
        return named->getDecl()->getIntegerType().getCanonicalType().getUnqualifiedType();
    return type;
}

bool is_integer(QualType type) { return type->isIntegerType() && !type->isIncompleteType(); }

/// A type of up to 64 bits.
std::string name_of(const ASTContext& context, QualType type, language in) {
    const bool is_signed = type->isSignedIntegerType();
    switch (context.getTypeSize(type)) {
    case 8: return in == language::host ? (is_signed ? "signed char" : "unsigned char") : is_signed ? "char" : "uchar";
    case 16: return in == language::host ? (is_signed ? "short" : "unsigned short") : is_signed ? "short" : "ushort";
    case 32: return in == language::host ? (is_signed ? "int" : "unsigned") : is_signed ? "int" : "uint";
    default: return in == language::host ? (is_signed ? "long" : "unsigned long") : is_signed ? "long" : "ulong";
    }
}

QualType with_sign(const ASTContext& context, QualType type) {
    return context.getIntTypeForBitwidth(static_cast<unsigned>(context.getTypeSize(type)), 1);
}

/// True if the type `to` has all values of `from`.
bool holds(const ASTContext& context, QualType from, QualType to) {
    if (!from->isIntegerType()) return false;
    const auto had = context.getTypeSize(from), has = context.getTypeSize(to);
    if (from->isSignedIntegerType()) return to->isSignedIntegerType() && had <= has;
    return to->isSignedIntegerType() ? had < has : had <= has;
}

std::string cast(const ASTContext& context, const std::string& text, QualType to, language in) {
    return "(" + name_of(context, to, in) + ")" + text;
}

std::optional<llvm::APSInt> constant(const ASTContext& context, const Expr* expression) {
    Expr::EvalResult value;
    if (expression->isValueDependent() || !expression->EvaluateAsInt(value, context)) return std::nullopt;
    return value.Val.getInt();
}

/// What an iteration adds, as a number of the variable's bits with a sign; nothing if that is no constant.
std::optional<long> stride_of(const counted_loop& loop) {
    const auto& context = context_of(loop);
    auto each = loop.step ? constant(context, loop.step) : llvm::APSInt::get(1);
    if (!each) return std::nullopt;
    *each = each->extOrTrunc(static_cast<unsigned>(context.getTypeSize(loop.type)));
    each->setIsSigned(true);
    if (loop.down) *each = -*each;
    return each->getExtValue();
}

/// True if no value of the variable fails the condition.
bool never_ends(const counted_loop& loop) {
    const auto& context = context_of(loop);
    auto last = constant(context, loop.last);
    if (!last) return false;
    constexpr unsigned bits = 66; // of all values that are compared
    const auto wide = [](llvm::APSInt of) {
        of = of.extend(bits);
        of.setIsSigned(true);
        return of;
    };
    const auto limits = holds(context, loop.type, loop.compared) ? loop.type : loop.compared;
    const auto size = static_cast<unsigned>(context.getTypeSize(limits));
    const bool is_unsigned = !limits->isSignedIntegerType();
    const auto lowest = wide(llvm::APSInt::getMinValue(size, is_unsigned));
    const auto highest = wide(llvm::APSInt::getMaxValue(size, is_unsigned));
    const auto end = wide(*last);
    switch (loop.comparison) {
    case BO_LT: return end > highest;
    case BO_LE: return end >= highest;
    case BO_GT: return end < lowest;
    case BO_GE: return end <= lowest;
    default: return end < lowest || end > highest;
    }
}

/// True if the expression changes something when it is evaluated.
bool changes_something(const Expr* expression) {
    bool found = false;
    walk(expression, [&](const Stmt* each) {
        if (const auto* unary = dyn_cast<UnaryOperator>(each)) found |= unary->isIncrementDecrementOp();
        if (const auto* binary = dyn_cast<BinaryOperator>(each)) found |= binary->isAssignmentOp();
        if (const auto* call = dyn_cast<CallExpr>(each); call && call->getDirectCallee())
            for (const auto& use : globals_of(call->getDirectCallee())) found |= use.writes;
        return !isa<UnaryExprOrTypeTraitExpr>(each);
    });
    return found;
}

/// The type of the variable and that of the comparison, and where the variable goes. Returns why that is not known.
std::string read_types(counted_loop& counted, const Expr* compared) {
    constexpr unsigned most_bits = 64;
    const auto& context = context_of(counted);
    counted.compared = plain_integer(compared->getType());
    if (!is_integer(counted.compared)) return "its end is no integer";
    if (counted.step && !is_integer(plain(counted.step)->getType())) return "its step is no integer";
    if (context.getTypeSize(counted.compared) > most_bits) return "it counts with more than 64 bits";
    counted.stride = stride_of(counted);
    if (counted.stride == 0) return "its step is 0";
    const bool ends_down = counted.comparison == BO_GT || counted.comparison == BO_GE;
    counted.goes = ends_down ? course::down : course::up;
    if (counted.comparison == BO_NE)
        counted.goes = !counted.stride ? course::either : *counted.stride < 0 ? course::down : course::up;
    if (counted.stride && (*counted.stride < 0) != (counted.goes == course::down)) return "it steps away from its end";
    if (never_ends(counted)) return "its condition always holds";
    for (const auto* bound : {counted.first, counted.last, counted.step})
        if (bound && changes_something(bound)) return "its first value, end or step changes something";
    return "";
}

} // namespace

std::string converted(const std::string& text, const Expr* of, const counted_loop& loop, QualType to, language in) {
    const auto& context = context_of(loop);
    const auto* expression = plain(of);
    const auto number = constant(context, expression);
    const bool is_small = number && number->isNonNegative() && number->getActiveBits() < context.getTypeSize(to);
    const bool keeps = is_small || holds(context, plain_integer(expression->getType()), to);
    return keeps ? text : cast(context, text, to, in);
}

std::string trip_count(const counted_loop& loop, const std::string& first, const std::string& last,
                       const std::string& step, language in) {
    constexpr unsigned most_bits = 64;
    const auto& context = context_of(loop);
    const bool differs = loop.comparison == BO_NE;
    const auto ends = differs ? loop.type : loop.compared; // the type that both ends have
    const bool is_unsigned = !loop.type->isSignedIntegerType();
    const bool far = !ends->isSignedIntegerType() && context.getTypeSize(ends) == most_bits;
    const auto wide = [&](const std::string& text) {
        return cast(context, text, far ? context.UnsignedLongTy : context.LongTy, in);
    };
    const auto trips = [&](const std::string& low, const std::string& high, const std::string& by) {
        return std::string(in == language::host ? "causeway_" : "") + (far ? "acc_unsigned_trips(" : "acc_trips(") +
               low + ", " + high + ", " + by + ")";
    };
    // What an iteration adds, on the way up, and what it takes away, on the way down.
    std::string added, taken;
    if (loop.stride) {
        added = std::to_string(*loop.stride), taken = std::to_string(-*loop.stride);
    } else {
        const auto by = converted(step, loop.step, loop, with_sign(context, loop.type), in);
        const auto negative = "-" + cast(context, by, context.LongTy, in);
        added = loop.down ? negative : by, taken = loop.down ? by : negative;
    }
    auto begin = converted(first, loop.first, loop, loop.type, in);
    if (differs) {
        std::string up, down;
        if (is_unsigned) { // what is between them, also behind the limits of the type
            begin = cast(context, first, loop.type, in);
            up = trips("0", cast(context, "(" + last + " - " + begin + ")", loop.type, in), added);
            down = trips("0", cast(context, "(" + begin + " - " + last + ")", loop.type, in), taken);
        } else {
            begin = wide(begin);
            const auto end = wide(converted(last, loop.last, loop, loop.type, in));
            up = trips(begin, end, added), down = trips(end, begin, taken);
        }
        if (loop.goes == course::either) return "(" + added + " > 0 ? " + up + " : " + down + ")";
        return loop.goes == course::up ? up : down;
    }
    begin = wide(holds(context, loop.type, loop.compared) ? begin : cast(context, begin, loop.compared, in));
    auto end = wide(converted(last, loop.last, loop, loop.compared, in));
    const bool up = loop.goes == course::up;
    if (loop.comparison == BO_LE || loop.comparison == BO_GE) end += up ? " + 1" : " - 1";
    const auto& low = up ? begin : end;
    const auto& high = up ? end : begin;
    const auto& by = up ? added : taken;
    auto text = trips(low, high, by);
    if (loop.stride || !is_unsigned) return text;
    // A step below 0 leads away from the end, up to where the type ends.
    const auto bits = static_cast<unsigned>(context.getTypeSize(loop.type));
    const auto most = llvm::toString(llvm::APSInt::getMaxValue(bits, true), 10) + "ul";
    const auto room = up ? begin : "(" + most + " - " + begin + ")";
    return "(" + by + " < 0 ? (" + low + " < " + high + " ? " + room + " / -" + cast(context, by, context.LongTy, in) +
           " + 1 : 0) : " + text + ")";
}

std::optional<counted_loop> count(const ForStmt* loop, std::string& why) {
    counted_loop counted;
    counted.loop = loop;
    if (const auto* declaration = dyn_cast_or_null<DeclStmt>(loop->getInit())) {
        if (declaration->isSingleDecl()) counted.variable = dyn_cast<VarDecl>(declaration->getSingleDecl());
        if (counted.variable) counted.first = counted.variable->getInit();
        counted.declares = true;
    } else if (const auto* assignment = dyn_cast_or_null<BinaryOperator>(loop->getInit());
               assignment && assignment->getOpcode() == BO_Assign) {
        counted.variable = named(assignment->getLHS());
        counted.first = assignment->getRHS();
    }
    if (!counted.variable || !counted.first) {
        why = "it does not begin with `i = first`";
        return std::nullopt;
    }
    counted.type = plain_integer(counted.variable->getType());
    if (!is_integer(counted.type) || counted.type->isBooleanType()) {
        why = "its variable is no integer";
        return std::nullopt;
    }
    const auto* condition = dyn_cast_or_null<BinaryOperator>(plain(loop->getCond()));
    if (!condition || !condition->isComparisonOp() || condition->getOpcode() == BO_EQ) {
        why = "its condition is no comparison of its variable";
        return std::nullopt;
    }
    counted.comparison = condition->getOpcode();
    if (named(condition->getLHS()) == counted.variable) {
        counted.last = condition->getRHS();
    } else if (named(condition->getRHS()) == counted.variable) {
        counted.last = condition->getLHS();
        counted.comparison = BinaryOperator::reverseComparisonOp(counted.comparison);
    } else {
        why = "its condition is no comparison of its variable";
        return std::nullopt;
    }
    bool stepped = false;
    if (const auto* unary = dyn_cast_or_null<UnaryOperator>(plain(loop->getInc()));
        unary && unary->isIncrementDecrementOp() && named(unary->getSubExpr()) == counted.variable) {
        counted.down = unary->isDecrementOp();
        stepped = true;
    } else if (const auto* binary = dyn_cast_or_null<BinaryOperator>(plain(loop->getInc()));
               binary && named(binary->getLHS()) == counted.variable) {
        if (binary->getOpcode() == BO_AddAssign || binary->getOpcode() == BO_SubAssign) {
            counted.step = binary->getRHS();
            counted.down = binary->getOpcode() == BO_SubAssign;
            stepped = true;
        } else if (const auto* sum = dyn_cast<BinaryOperator>(plain(binary->getRHS()));
                   binary->getOpcode() == BO_Assign && sum) {
            if (sum->getOpcode() == BO_Add && named(sum->getLHS()) == counted.variable)
                counted.step = sum->getRHS(), stepped = true;
            else if (sum->getOpcode() == BO_Add && named(sum->getRHS()) == counted.variable)
                counted.step = sum->getLHS(), stepped = true;
            else if (sum->getOpcode() == BO_Sub && named(sum->getLHS()) == counted.variable)
                counted.step = sum->getRHS(), counted.down = true, stepped = true;
        }
    }
    if (!stepped) {
        why = "it does not step by `i++`, `i += c` or the like";
        return std::nullopt;
    }
    why = read_types(counted, condition->getLHS());
    if (!why.empty()) return std::nullopt;
    for (const auto* bound : {counted.first, counted.last, counted.step})
        for (const auto& each : accesses_in(bound))
            if (each.root == counted.variable) {
                why = "its first value, end or step depends on its variable";
                return std::nullopt;
            }
    for (const auto& each : accesses_in(loop->getBody()))
        if (each.root == counted.variable && each.writes && !each.memory) {
            why = "its body changes '" + counted.variable->getNameAsString() + "'";
            return std::nullopt;
        }
    return counted;
}

const Stmt* leaving(const unit& unit, const Stmt* body, bool inside) {
    if (!body) return nullptr;
    if (isa<ReturnStmt, GotoStmt>(body) || (!inside && isa<BreakStmt>(body))) return body;
    // A directive is a `while` around its statement.
    inside = inside || isa<ForStmt, DoStmt, SwitchStmt>(body) || (isa<WhileStmt>(body) && !directive_of(unit, body));
    for (const auto* child : body->children())
        if (const auto* found = leaving(unit, child, inside)) return found;
    return nullptr;
}

} // namespace directive
