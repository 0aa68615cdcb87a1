// SPDX-License-Identifier: Apache-2.0
#include "value_bounds.hpp"

#include <clang/AST/Decl.h>
#include <llvm/ADT/FoldingSet.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>
#include <deque>
#include <tuple>
#include <utility>

namespace directive {

using namespace clang;

class value_bounds::writer {
  public:
    writer(const unit& unit, const region_variables& variables, const std::function<bool(const VarDecl*)>& is_value,
           host_values& values)
        : m_unit(unit), m_variables(variables), m_is_value(is_value), m_values(values) {}

    /// The least or greatest value of the expression.
    std::string bound(const Expr* expression, const place* here, bool greatest) {
        if (m_failed) return fail();
        return remembered(m_bounds[{expression, here, greatest}],
                          [&] { return found_bound(expression, here, greatest); });
    }

    std::string bound_of_subscript(const Expr* expression, const place* here, bool greatest) {
        return as_type(expression, m_unit.context.LongTy, here, greatest);
    }

    std::string emptiness(const place* here) {
        std::set<std::string> all;
        for (const auto* at = here; at; at = at->around) {
            if (!at->loop) continue;
            const auto failed = std::exchange(m_failed, false);
            const auto low = of_loop(*at->loop, at->around, false), high = of_loop(*at->loop, at->around, true);
            if (std::exchange(m_failed, failed)) continue;
            const auto first = literal(low), last = literal(high);
            if (first && last && *first <= *last) continue;
            all.insert(low + " > " + high);
        }
        std::string text;
        for (const auto& each : all) text += (text.empty() ? "" : " || ") + each;
        return text;
    }

    bool has_failed() const { return m_failed; }
    void forget_failure() { m_failed = false, m_work = 0; }

  private:
    const unit& m_unit;
    const region_variables& m_variables;
    const std::function<bool(const VarDecl*)>& m_is_value;
    std::deque<place> m_made;
    host_values& m_values;
    bool m_failed = false;

    /// What was found before. Expressions use the same variables again and again, whose values are made of others.
    template <class Value> struct memory {
        Value value{};
        bool known = false, failed = false;
    };
    template <class Value> using memories = std::map<std::tuple<const Expr*, const place*, bool>, memory<Value>>;
    memories<std::string> m_bounds;
    memories<unsigned> m_widths;
    memories<bool> m_signs;
    std::map<std::tuple<const place*, const Expr*, bool>, const place*> m_under;
    static constexpr int most_depth = 64, most_work = 20000;
    int m_depth = 0, m_work = 0;
    bool m_gave_up = false; // too deep, or too much

    /// What is in the memory, else what `find` returns. What was not found for the want of depth may be found later.
    template <class Value, class Find> Value remembered(memory<Value>& before, const Find& find) {
        if (before.known) {
            m_failed = m_failed || before.failed;
            return before.value;
        }
        const bool failed = std::exchange(m_failed, false);
        const bool gave_up = std::exchange(m_gave_up, m_depth >= most_depth || ++m_work > most_work);
        Value value{};
        if (m_gave_up) {
            m_failed = true;
        } else {
            ++m_depth;
            value = find();
            --m_depth;
        }
        if (!m_gave_up) before = {value, true, m_failed};
        m_gave_up = m_gave_up || gave_up;
        m_failed = m_failed || failed;
        return value;
    }

    const place* under(const place* around, const Expr* condition, bool holds) {
        auto& made = m_under[{around, condition, holds}];
        if (!made) made = &m_made.emplace_back(place{.around = around, .condition = condition, .holds = holds});
        return made;
    }

    std::string found_bound(const Expr* expression, const place* here, bool greatest) {
        const auto* conversion = conversion_in(expression);
        const auto* plain = expression->IgnoreParenImpCasts();
        auto text = conversion ? as_type(conversion->getSubExpr(), conversion->getType(), here, greatest)
                               : bound_of(plain, here, greatest);
        if (const auto* sum = dyn_cast<BinaryOperator>(plain); sum && sum->isAdditiveOp() && !conversion) {
            text = with_tied_loops(sum, here, greatest, text);
            if (!m_failed) text = limited_as_written(sum, here, greatest, text);
        }
        return text;
    }

    /// A conversion between integers that the expression is; nullptr for others.
    static const CastExpr* conversion_in(const Expr* expression) {
        for (;;) {
            expression = expression->IgnoreParens();
            const auto* cast = dyn_cast<CastExpr>(expression);
            if (!cast) return nullptr;
            if (cast->getCastKind() == CK_IntegralCast) return cast;
            if (cast->getCastKind() != CK_LValueToRValue && cast->getCastKind() != CK_NoOp) return nullptr;
            expression = cast->getSubExpr();
        }
    }

    /// True if the type is an unsigned one of 32 bits, whose sums and products wrap around. Their bounds do not, until
    /// they become a number of another type.
    bool is_word(QualType type) const {
        constexpr unsigned word = 32;
        return type->isIntegerType() && is_unsigned(type) && width_of(type) == word;
    }

    /// A bound of the expression, converted to the type.
    std::string as_type(const Expr* expression, QualType to, const place* here, bool greatest) {
        constexpr unsigned least_bits = 32, no_width = 1000;
        const auto from = expression->getType();
        if (!from->isIntegerType()) return fail();
        const auto both = [&] { return bound(expression, here, false) + ", " + bound(expression, here, true); };
        const std::string which = greatest ? ", 1" : ", 0";
        const bool wraps = is_word(from) && narrowest_unsigned(expression, here, no_width) <= least_bits;
        Expr::EvalResult value;
        if (expression->EvaluateAsInt(value, m_unit.context) && !is_unsigned(to)) {
            auto number = value.Val.getInt().extOrTrunc(width_of(to));
            number.setIsSigned(true);
            return number.isRepresentableByInt64() ? llvm::toString(number, 10) + "l" : fail();
        }
        if (width_of(to) > least_bits)
            return wraps ? m_values.call("causeway_acc_as_element", both() + which) : bound(expression, here, greatest);
        if (width_of(from) <= width_of(to) && !wraps) return bound(expression, here, greatest);
        if (width_of(from) <= width_of(to) && is_unsigned(to)) return bound(expression, here, greatest);
        const auto [lowest, highest] = limits_of(to);
        const auto low = bound(expression, here, false), high = bound(expression, here, true);
        return m_values.call("causeway_acc_as_type", lowest + ", " + low + ", " + high + ", " + highest + which);
    }

    /// All that sets the variable is known where it is used.
    bool is_followed(const VarDecl* variable) const {
        const auto writes = m_variables.writes.find(variable), known = m_variables.known.find(variable);
        return (writes == m_variables.writes.end() ? 0 : writes->second) ==
               (known == m_variables.known.end() ? 0 : known->second);
    }

    /// A bound of what is not `value`.
    std::string without(const std::string& text, const std::string& value, bool greatest) {
        return m_values.call("causeway_acc_without", text + ", " + value + ", " + (greatest ? "-1" : "1"));
    }

    std::string fail() {
        m_failed = true;
        return "0l";
    }

    /// Variables with constant factors, and other terms.
    struct linear_sum {
        std::map<const VarDecl*, long> variables{};
        std::vector<std::pair<const Expr*, long>> others{};
        long constant = 0;
    };
    void add_terms(const Expr* expression, long factor, linear_sum& into) const {
        constexpr unsigned most_bits = 20;
        const auto constant = [&](const Expr* of) -> std::optional<long> {
            Expr::EvalResult value;
            if (!of->EvaluateAsInt(value, m_unit.context)) return std::nullopt;
            const auto& number = value.Val.getInt();
            if (number.getActiveBits() > most_bits && number.getSignificantBits() > most_bits) return std::nullopt;
            return number.getExtValue();
        };
        const auto* conversion = conversion_in(expression);
        if (conversion && isa<BinaryOperator>(conversion->getSubExpr()->IgnoreParenImpCasts()) &&
            is_word(conversion->getSubExpr()->getType()) && !constant(expression)) {
            into.others.emplace_back(expression, factor);
            return;
        }
        expression = expression->IgnoreParenImpCasts();
        const auto* unary = dyn_cast<UnaryOperator>(expression);
        const auto* binary = dyn_cast<BinaryOperator>(expression);
        if (const auto number = constant(expression)) {
            into.constant += factor * *number;
        } else if (const auto* variable = named(expression)) {
            into.variables[variable] += factor;
        } else if (unary && unary->getOpcode() == UO_Minus) {
            add_terms(unary->getSubExpr(), -factor, into);
        } else if (binary && binary->isAdditiveOp()) {
            add_terms(binary->getLHS(), factor, into);
            add_terms(binary->getRHS(), binary->getOpcode() == BO_Add ? factor : -factor, into);
        } else {
            const bool product = binary && binary->getOpcode() == BO_Mul;
            const auto left = product ? constant(binary->getLHS()) : std::nullopt;
            const auto right = product ? constant(binary->getRHS()) : std::nullopt;
            if (left || right)
                add_terms(left ? binary->getRHS() : binary->getLHS(), factor * (left ? *left : *right), into);
            else
                into.others.emplace_back(expression, factor);
        }
    }

    /// `text`, a bound of the sum, or a better one: where a loop of one of its variables begins or ends at another, as
    /// in b[i - k] with k <= i, that bound stands for the variable.
    std::string with_tied_loops(const Expr* expression, const place* here, bool greatest, const std::string& text) {
        linear_sum all;
        add_terms(expression, 1, all);
        bool tied = false;
        for (const auto* at = here; at; at = at->around) {
            const auto found = at->loop ? all.variables.find(at->loop->variable) : all.variables.end();
            if (at->set && all.variables.contains(at->set)) break;
            if (found == all.variables.end() || found->second == 0) continue;
            const auto& loop = *at->loop;
            const auto factor = found->second;
            const bool down = counts_down(loop);
            const bool from_first = ((factor > 0) == greatest) == down;
            const auto* end = from_first ? loop.first : loop.last;
            linear_sum of_end;
            add_terms(end, factor, of_end);
            const bool shares = std::ranges::any_of(of_end.variables, [&](const auto& each) {
                return each.first != loop.variable && all.variables.contains(each.first);
            });
            if (!shares || (loop.comparison == BO_NE && loop.step) || !keeps(end, here, at)) continue;
            tied = true;
            all.variables.erase(found);
            for (const auto& [variable, times] : of_end.variables) all.variables[variable] += times;
            all.others.insert(all.others.end(), of_end.others.begin(), of_end.others.end());
            all.constant += of_end.constant;
            if (!from_first && loop.comparison != BO_LE && loop.comparison != BO_GE)
                all.constant += down ? factor : -factor;
        }
        if (!tied) return text;
        const bool failed = std::exchange(m_failed, false);
        auto sum = std::to_string(all.constant) + "l";
        for (const auto& [variable, factor] : all.variables)
            if (factor != 0)
                sum = m_values.sum(sum, m_values.product(std::to_string(factor) + "l",
                                                         bound_of_variable(variable, here, (factor > 0) == greatest)));
        for (const auto& [other, factor] : all.others)
            sum = m_values.sum(
                sum, m_values.product(std::to_string(factor) + "l", bound(other, here, (factor > 0) == greatest)));
        const bool known = !std::exchange(m_failed, false);
        m_failed = failed && !known;
        if (failed || !known) return known ? sum : text;
        return greatest ? m_values.least(text, sum) : m_values.most(text, sum);
    }

    std::string bound_of(const Expr* expression, const place* here, bool greatest) {
        if (!expression->getType()->isIntegerType()) return fail();
        Expr::EvalResult value;
        if (expression->EvaluateAsInt(value, m_unit.context)) {
            const auto& number = value.Val.getInt();
            return number.isRepresentableByInt64() ? llvm::toString(number, 10) + "l" : fail();
        }
        if (const auto* variable = named(expression)) return bound_of_variable(variable, here, greatest);
        if (const auto* cast = dyn_cast<ExplicitCastExpr>(expression))
            return cast->getCastKind() == CK_NoOp ? bound(cast->getSubExpr(), here, greatest) : fail();
        if (const auto* choice = dyn_cast<ConditionalOperator>(expression)) {
            const auto one = bound(choice->getTrueExpr(), under(here, choice->getCond(), true), greatest),
                       other = bound(choice->getFalseExpr(), under(here, choice->getCond(), false), greatest);
            return greatest ? m_values.most(one, other) : m_values.least(one, other);
        }
        if (const auto* unary = dyn_cast<UnaryOperator>(expression)) {
            if (unary->getOpcode() == UO_Minus)
                return m_values.difference("0l", bound(unary->getSubExpr(), here, !greatest));
            if (unary->getOpcode() == UO_Plus) return bound(unary->getSubExpr(), here, greatest);
            if (unary->getOpcode() == UO_LNot) return greatest ? "1l" : "0l";
            return fail();
        }
        const auto* binary = dyn_cast<BinaryOperator>(expression);
        if (!binary) return fail();
        if (binary->isComparisonOp() || binary->isLogicalOp()) return greatest ? "1l" : "0l";
        const auto *left = binary->getLHS(), *right = binary->getRHS();
        switch (binary->getOpcode()) {
        case BO_Add: return m_values.sum(bound(left, here, greatest), bound(right, here, greatest));
        case BO_Sub: return m_values.difference(bound(left, here, greatest), bound(right, here, !greatest));
        case BO_Mul: return product(left, right, here, greatest);
        case BO_Div:
        case BO_Rem: return division(binary, here, greatest);
        default: return fail();
        }
    }

    /// A constant by which programs multiply to mix bits: the product is meant to wrap around.
    bool mixes_bits(const Expr* factor) const {
        constexpr unsigned most_bits = 40;
        Expr::EvalResult value;
        return factor->EvaluateAsInt(value, m_unit.context) && value.Val.getInt().getSignificantBits() > most_bits;
    }

    std::string product(const Expr* left, const Expr* right, const place* here, bool greatest) {
        if (mixes_bits(left) || mixes_bits(right)) return fail();
        const auto of = [&](bool greatest_left, bool greatest_right) {
            return m_values.product(bound(left, here, greatest_left), bound(right, here, greatest_right));
        };
        if (never_negative(left, here) && never_negative(right, here)) return of(greatest, greatest);
        if (same(left, right))
            return m_values.call("causeway_acc_square", bound(left, here, false) + ", " + bound(left, here, true) +
                                                            (greatest ? ", 1" : ", 0"));
        // The signs show when the program runs.
        for (const Expr* factor : {left, right})
            if (const auto only = bound(factor, here, false); only == bound(factor, here, true))
                return m_values.choice(only + " < 0", of(!greatest, !greatest), of(greatest, greatest));
        return m_values.of_all({of(false, false), of(false, true), of(true, false), of(true, true)}, greatest);
    }

    /// The least width of unsigned arithmetic in the expression, or in values that variables have of it; `none` without
    /// any. Its results wrap around, where bounds do not.
    unsigned narrowest_unsigned(const Expr* expression, const place* here, unsigned none) {
        return remembered(m_widths[{expression, here, false}], [&] { return found_width(expression, here, none); });
    }
    unsigned found_width(const Expr* expression, const place* here, unsigned none) {
        Expr::EvalResult value;
        if (expression->EvaluateAsInt(value, m_unit.context)) return none;
        unsigned found = none;
        if (const auto* variable = named(expression)) {
            const place* at = here;
            while (at && at->set != variable && !(at->loop && at->loop->variable == variable)) at = at->around;
            if (at && at->set) {
                found = narrowest_unsigned(at->value, at->around, none);
                if (at->only_then) found = std::min(found, narrowest_unsigned(expression, at->around, none));
            }
        } else if (const auto* choice = dyn_cast<ConditionalOperator>(expression)) {
            return std::min(narrowest_unsigned(choice->getTrueExpr(), here, none),
                            narrowest_unsigned(choice->getFalseExpr(), here, none));
        } else {
            for (const auto* child : expression->children())
                if (const auto* part = dyn_cast_or_null<Expr>(child))
                    found = std::min(found, narrowest_unsigned(part, here, none));
        }
        if (!expression->getType()->isUnsignedIntegerType()) return found;
        const auto* binary = dyn_cast<BinaryOperator>(expression);
        const bool may_wrap = (binary && (binary->isAdditiveOp() || binary->getOpcode() == BO_Mul)) ||
                              !never_negative(expression, here);
        return may_wrap ? std::min(found, width_of(expression)) : found;
    }
    unsigned width_of(const Expr* expression) const {
        return static_cast<unsigned>(m_unit.context.getTypeSize(expression->getType()));
    }

    /// A quotient or remainder by a divisor that has one value. If that is 0, the program does not divide.
    std::string division(const BinaryOperator* operation, const place* here, bool greatest) {
        constexpr unsigned widest = 64, no_width = 1000;
        const auto *left = operation->getLHS(), *right = operation->getRHS();
        const bool wants_quotient = operation->getOpcode() == BO_Div;
        const bool is_unsigned = operation->getType()->isUnsignedIntegerType();
        const auto width = width_of(operation);
        auto by = bound(right, here, false);
        if (by != bound(right, here, true) || width > widest) return fail();
        auto first = bound(left, here, false), last = bound(left, here, true);
        if (narrowest_unsigned(right, here, no_width) < width) return fail();
        const auto narrow = narrowest_unsigned(left, here, no_width);
        // Bounds that far are not known.
        constexpr unsigned address_bits = 62;
        const auto most_of_type = (1l << (width == widest ? address_bits
                                          : is_unsigned   ? width
                                                          : width - 1)) -
                                  (width == widest ? 0 : 1);
        const auto limit = std::to_string(most_of_type) + "l";
        if (is_unsigned && !never_negative(right, here)) by = m_values.choice(by + " < 0", limit, by);
        if (narrow < width) { // wraps around before it is widened
            if (wants_quotient || !is_unsigned) return fail();
            const auto empty = first + " > " + last;
            first = m_values.choice(empty, "1l", "0l"), last = m_values.choice(empty, "0l", limit);
        } else if (is_unsigned || narrow == width) {
            const auto limits = (is_unsigned ? "0l" : "-" + limit) + ", " + first + ", " + last + ", " + limit;
            first = m_values.call("causeway_acc_wrapped", limits + ", 0");
            last = m_values.call("causeway_acc_wrapped", limits + ", 1");
        }
        return m_values.call(wants_quotient ? "causeway_acc_quotient" : "causeway_acc_remainder",
                             by + ", " + first + ", " + last + (greatest ? ", 1" : ", 0"));
    }

    std::string bound_of_variable(const VarDecl* variable, const place* here, bool greatest) {
        constexpr unsigned least_bits = 32;
        if (!is_followed(variable) || m_variables.leaked.contains(variable)) {
            // A loop's variable, in the loop.
            for (const auto* each = here; each; each = each->around)
                if (each->loop && each->loop->variable == variable) return value_at(variable, here, here, greatest);
            return fail();
        }
        const bool set = m_variables.inside.contains(variable) || m_variables.writes.contains(variable);
        // What is on the device may be newer than the host's.
        if (!set) return m_is_value(variable) ? "(long)" + variable->getNameAsString() : fail();
        if (!variable->hasLocalStorage() || m_unit.context.getTypeSize(variable->getType()) < least_bits) return fail();
        return value_at(variable, here, here, greatest);
    }

    static std::set<const VarDecl*> variables_in(const Expr* expression) {
        std::set<const VarDecl*> all;
        for (const auto& each : accesses_in(expression)) all.insert(each.root);
        return all;
    }
    static bool sets_any(const place& at, const std::set<const VarDecl*>& of) {
        return of.contains(at.set) || (at.loop && of.contains(at.loop->variable));
    }
    /// Between `from`, which is around, and `use` the variables of the expression keep their values.
    static bool keeps(const Expr* expression, const place* use, const place* from) {
        const auto all = variables_in(expression);
        for (const auto* at = use; at; at = at->around) {
            if (at->set && sets_any(*at, all)) return false;
            if (at == from) return true;
            if (sets_any(*at, all)) return false;
        }
        return false;
    }

    /// Of a variable that a loop around `here` counts, or that statements before it set. What holds at `use`, inside of
    /// `here`, holds for what the value was made of, too.
    std::string value_at(const VarDecl* variable, const place* here, const place* use, bool greatest) {
        if (!here) return fail();
        if (here->loop && here->loop->variable == variable) return of_loop(*here->loop, here->around, greatest);
        if (here->set == variable) {
            if (!here->only_then)
                return bound(here->value, keeps(here->value, use, here) ? use : here->around, greatest);
            const auto value = bound(here->value, here->around, greatest);
            const auto kept = limited({variable}, here->around, here->condition, false, greatest,
                                      value_at(variable, here->around, here->around, greatest));
            return greatest ? m_values.most(value, kept) : m_values.least(value, kept);
        }
        auto text = value_at(variable, here->around, use, greatest);
        if (!here->condition || here->set) return text;
        return limited({variable}, here->around, here->condition, here->holds, greatest, text);
    }

    /// What a condition may limit: a variable, or an expression as the program writes it.
    struct subject {
        const VarDecl* variable = nullptr;
        const Expr* expression = nullptr;
    };
    bool is(const Expr* expression, const subject& of) const {
        expression = whole(expression);
        return of.variable ? named(expression) == of.variable : same(expression, of.expression);
    }
    /// What is converted, explicitly or not, to types that have room for it or are unsigned.
    const Expr* whole(const Expr* expression) const {
        for (;;) {
            expression = expression->IgnoreParenImpCasts();
            const auto* cast = dyn_cast<ExplicitCastExpr>(expression);
            if (!cast || cast->getCastKind() != CK_IntegralCast) return expression;
            const auto from = cast->getSubExpr()->getType(), to = cast->getType();
            const bool keeps = is_unsigned(to) ? width_of(from) <= width_of(to)
                                               : width_of(from) < width_of(to) ||
                                                     (width_of(from) == width_of(to) && !is_unsigned(from));
            if (!keeps) return expression;
            expression = cast->getSubExpr();
        }
    }
    bool same(const Expr* one, const Expr* other) const {
        llvm::FoldingSetNodeID first, second;
        one->IgnoreParenImpCasts()->Profile(first, m_unit.context, true);
        other->IgnoreParenImpCasts()->Profile(second, m_unit.context, true);
        return first == second;
    }

    /// `text`, a bound of the expression, or a better one: conditions around it compare the same expression.
    std::string limited_as_written(const Expr* expression, const place* here, bool greatest, std::string text) {
        const auto used = variables_in(expression);
        for (const auto* at = here; at && !sets_any(*at, used); at = at->around)
            if (at->condition && !at->set)
                text = limited({.expression = expression}, at->around, at->condition, at->holds, greatest, text);
        return text;
    }

    /// `text`, a bound of what is meant, or a better one that the condition gives.
    std::string limited(const subject& of, const place* here, const Expr* condition, bool holds, bool greatest,
                        std::string text) {
        condition = condition->IgnoreParenImpCasts();
        if (const auto* unary = dyn_cast<UnaryOperator>(condition); unary && unary->getOpcode() == UO_LNot)
            return limited(of, here, unary->getSubExpr(), !holds, greatest, text);
        if (is(condition, of)) {
            if (holds) return without(text, "0l", greatest);
            // What wraps around has other numbers that mean 0.
            if (is_word((of.variable ? of.variable->getType() : of.expression->getType()))) return "0l";
            return greatest ? m_values.least(text, "0l") : m_values.most(text, "0l");
        }
        const auto* binary = dyn_cast<BinaryOperator>(condition);
        if (!binary) return text;
        if (binary->getOpcode() == (holds ? BO_LAnd : BO_LOr)) {
            for (const auto* part : {binary->getLHS(), binary->getRHS()})
                text = limited(of, here, part, holds, greatest, text);
            return text;
        }
        auto opcode = binary->getOpcode();
        if (!binary->isComparisonOp()) return text;
        if (!holds) opcode = BinaryOperator::negateComparisonOp(opcode);
        if (opcode == BO_Cmp) return text;
        const auto *left = binary->getLHS(), *right = binary->getRHS();
        if (!left->getType()->isIntegerType()) return text;
        text = solved(of, here, left, opcode, right, greatest, text);
        return solved(of, here, right, BinaryOperator::reverseComparisonOp(opcode), left, greatest, text);
    }

    /// As limited(), by `left opcode right` where `left` is what is meant, or that and a term.
    std::string solved(const subject& of, const place* here, const Expr* left, BinaryOperatorKind opcode,
                       const Expr* right, bool greatest, const std::string& text) {
        const auto* meant = whole(left);
        const Expr* term = nullptr;
        bool plus = true;
        if (!is(left, of)) {
            const auto* sum = dyn_cast<BinaryOperator>(meant);
            if (!sum || (sum->getOpcode() != BO_Add && sum->getOpcode() != BO_Sub)) return text;
            plus = sum->getOpcode() == BO_Add;
            if (is(sum->getLHS(), of))
                term = sum->getRHS();
            else if (plus && is(sum->getRHS(), of))
                term = sum->getLHS();
            else
                return text;
        }
        const bool below = opcode == BO_LT || opcode == BO_LE || opcode == BO_EQ;
        const bool above = opcode == BO_GT || opcode == BO_GE || opcode == BO_EQ;
        const bool narrow = is_word(meant->getType());
        const bool is_unsigned = narrow || !left->getType()->isSignedIntegerType();
        const bool under = is_unsigned && !term && (opcode == BO_LT || opcode == BO_LE);
        if (opcode != BO_NE && !(greatest ? below : above) && !under) return text;
        const auto failed = m_failed;
        m_failed = false;
        if (under && !greatest) { // no number below 0 is below a limit that is none
            const auto low = bound(right, here, false), high = bound(right, here, true);
            const bool known = !m_failed;
            m_failed = failed;
            const auto far = narrow || width_of(left) < 64 ? low + " < 0 || " + high + " > 2147483647l" : low + " < 0";
            return known ? m_values.choice(far, text, m_values.most(text, "0l")) : text;
        }
        const auto limit_of = [&](bool most) {
            auto all = bound(right, here, most);
            if (!term) return all;
            const auto other = bound(term, here, plus ? !most : most);
            return plus ? m_values.difference(all, other) : m_values.sum(all, other);
        };
        auto limit = limit_of(greatest);
        if (opcode == BO_NE && limit != limit_of(!greatest)) m_failed = true;
        if (opcode == BO_LT) limit = m_values.sum(limit, "-1l");
        if (opcode == BO_GT) limit = m_values.sum(limit, "1l");
        // Unsigned numbers below 0 are large ones.
        std::string wraps;
        if (is_unsigned)
            for (const auto* side : {left, right}) {
                const auto add = [&](const std::string& text) { wraps += (wraps.empty() ? "" : " || ") + text; };
                if (!(under && side == left) && !never_negative(side, here)) add(bound(side, here, false) + " < 0");
                if (is_word(whole(side)->getType()) && isa<BinaryOperator>(whole(side)))
                    add(bound(whole(side), here, true) + " > 4294967295l");
            }
        const bool known = !m_failed;
        m_failed = failed;
        if (!known) return text;
        if (opcode == BO_NE) return without(text, limit, greatest);
        if (!wraps.empty()) limit = m_values.choice(wraps, text, limit);
        return greatest ? m_values.least(text, limit) : m_values.most(text, limit);
    }

    bool never_negative(const Expr* expression, const place* here) {
        expression = expression->IgnoreParenImpCasts();
        return remembered(m_signs[{expression, here, false}], [&] { return has_no_sign(expression, here); });
    }
    bool has_no_sign(const Expr* expression, const place* here) {
        Expr::EvalResult value;
        if (expression->EvaluateAsInt(value, m_unit.context)) return value.Val.getInt().isNonNegative();
        if (const auto* cast = dyn_cast<ExplicitCastExpr>(expression))
            return cast->getType()->isIntegerType() && never_negative(cast->getSubExpr(), here);
        if (const auto* variable = named(expression)) {
            const Expr* first = nullptr;
            const place* at = here;
            for (; at && !first; at = at->around) {
                if (at->loop && at->loop->variable == variable)
                    first = counts_down(*at->loop) ? at->loop->last : at->loop->first;
                else if (at->set == variable && is_followed(variable))
                    first = at->value;
                if (first && at->only_then) return false;
            }
            const bool is_unsigned = variable->getType()->isUnsignedIntegerType();
            return first ? never_negative(first, at) : is_unsigned && !m_variables.inside.contains(variable);
        }
        const auto* binary = dyn_cast<BinaryOperator>(expression);
        if (!binary) return false;
        if (binary->isComparisonOp() || binary->isLogicalOp()) return true;
        if (binary->isMultiplicativeOp() && binary->getOpcode() != BO_Mul && binary->getType()->isUnsignedIntegerType())
            return true;
        return (binary->getOpcode() == BO_Add || binary->isMultiplicativeOp()) &&
               never_negative(binary->getLHS(), here) && never_negative(binary->getRHS(), here);
    }

    static bool counts_down(const counted_loop& loop) { return loop.goes == course::down; }

    static bool is_unsigned(QualType type) { return !type->isSignedIntegerType(); }
    unsigned width_of(QualType type) const { return static_cast<unsigned>(m_unit.context.getTypeSize(type)); }
    /// The least and the greatest value of a type, with a sign or of up to 32 bits.
    std::pair<std::string, std::string> limits_of(QualType type) const {
        const auto bits = width_of(type);
        const auto text = [](const llvm::APSInt& number) { return llvm::toString(number, 10) + "l"; };
        return {text(llvm::APSInt::getMinValue(bits, is_unsigned(type))),
                text(llvm::APSInt::getMaxValue(bits, is_unsigned(type)))};
    }

    /// The loop's first value, as the condition has it.
    std::string first_of(const counted_loop& loop, const place* around, bool greatest) {
        auto raw = bound(loop.first, around, greatest);
        const bool up = loop.goes == course::up && loop.comparison != BO_NE;
        const bool may_be_below = !never_negative(loop.first, around);
        const auto values = [&](const std::string& lowest, const std::string& highest) {
            return m_values.call("causeway_acc_as_type", lowest + ", " + bound(loop.first, around, false) + ", " +
                                                             bound(loop.first, around, true) + ", " + highest +
                                                             (greatest ? ", 1" : ", 0"));
        };
        if (!up || !may_be_below || !is_unsigned(loop.compared)) return raw;
        // As an unsigned number it is large, and beyond the end, unless that is large, too.
        const auto low = bound(loop.last, around, false), high = bound(loop.last, around, true);
        constexpr unsigned widest = 64;
        const bool wide = width_of(loop.compared) == widest;
        const auto large = low + " < 0" + (wide ? "" : " || " + high + " > 2147483647l");
        return m_values.choice(large, raw, values("0l", wide ? "2305843009213693951l" : "4294967295l"));
    }

    std::string of_loop(const counted_loop& loop, const place* around, bool greatest) {
        const bool down = counts_down(loop);
        const bool reaches = loop.comparison == BO_LE || loop.comparison == BO_GE;
        const bool differs = loop.comparison == BO_NE;
        if (differs && loop.stride != 1 && loop.stride != -1) return fail();
        auto begin = first_of(loop, around, greatest);
        if (differs && is_unsigned(loop.type)) return of_unsigned_loop(loop, around, greatest, begin);
        if (greatest == down) return begin;
        auto end = m_values.sum(bound(loop.last, around, greatest), reaches ? "0l" : down ? "1l" : "-1l");
        if (!loop.step || differs) return end;
        const auto failed = m_failed;
        m_failed = false;
        const auto first = first_of(loop, around, false), step = bound(loop.step, around, false);
        const bool known = !m_failed && first == first_of(loop, around, true) && step == bound(loop.step, around, true);
        m_failed = failed;
        if (!known) return end;
        return m_values.call("causeway_acc_reached", first + ", " + end + ", " + step + ", " + (down ? "1" : "0"));
    }

    /// As of_loop(), of a loop that `!=` ends, which may be behind the limits of its type.
    std::string of_unsigned_loop(const counted_loop& loop, const place* around, bool greatest,
                                 const std::string& begin) {
        constexpr unsigned widest = 64;
        const auto bits = width_of(loop.type);
        Expr::EvalResult value;
        const bool down = counts_down(loop);
        if (down && loop.last->EvaluateAsInt(value, m_unit.context) && value.Val.getInt().getActiveBits() == bits &&
            value.Val.getInt().popcount() == bits)
            return greatest ? begin : "0l"; // down to 0, which is the last before
        const auto first = first_of(loop, around, down), last = bound(loop.last, around, !down);
        if (down) return greatest ? begin : m_values.choice(last + " > " + first, "0l", m_values.sum(last, "1l"));
        if (greatest) return m_values.sum(last, "-1l");
        return bits == widest ? begin : m_values.choice(first + " > " + last, begin + " - 4294967296l", begin);
    }
};

value_bounds::value_bounds(const unit& unit, const region_variables& variables,
                           const std::function<bool(const VarDecl*)>& is_value, host_values& values)
    : m_writer(std::make_unique<writer>(unit, variables, is_value, values)) {}
value_bounds::~value_bounds() = default;
std::string value_bounds::bound(const Expr* expression, const place* here, bool greatest) {
    return m_writer->bound(expression, here, greatest);
}
std::string value_bounds::bound_of_subscript(const Expr* expression, const place* here, bool greatest) {
    return m_writer->bound_of_subscript(expression, here, greatest);
}
std::string value_bounds::emptiness(const place* here) { return m_writer->emptiness(here); }
bool value_bounds::has_failed() const { return m_writer->has_failed(); }
void value_bounds::forget_failure() { m_writer->forget_failure(); }

} // namespace directive
