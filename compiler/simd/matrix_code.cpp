// SPDX-License-Identifier: Apache-2.0
// Operations on matrices of up to 4 x 4 elements in registers.
#include "matrix_code.hpp"

#include <llvm/ADT/Sequence.h>

using namespace llvm;

namespace causeway::simd {

namespace {

constexpr unsigned elements = side * side;

} // namespace

matrix_code::matrix_code(IRBuilder<>& builder, Type* element, Align alignment, bool has_wide_vectors)
    : m_builder(builder), m_element(element), m_has_wide_vectors(has_wide_vectors),
      m_row(FixedVectorType::get(element, side)), m_matrix(FixedVectorType::get(element, elements)),
      m_align(alignment) {}

Value* matrix_code::load(Type* type, Value* matrix, unsigned element) {
    Value*& value = m_loaded[{type, matrix, element}];
    if (!value) {
        Value* address = element ? m_builder.CreateConstInBoundsGEP1_64(m_element, matrix, element) : matrix;
        value = m_builder.CreateAlignedLoad(type, address, m_align);
    }
    return value;
}

// In the first of four lanes.
Value* matrix_code::load_row(Value* matrix, unsigned element, unsigned length) {
    if (length == side) return load(m_row, matrix, element);
    SmallVector<int, side> from(side, PoisonMaskElem);
    for (unsigned lane = 0; lane < length; ++lane) from[lane] = static_cast<int>(lane);
    return m_builder.CreateShuffleVector(load(FixedVectorType::get(m_element, length), matrix, element), from);
}

template <typename Source> Value* matrix_code::permute(Value* matrix, Source source) {
    std::array<int, elements> from;
    for (unsigned lane = 0; lane < elements; ++lane) from[lane] = static_cast<int>(source(lane / side, lane % side));
    return m_builder.CreateShuffleVector(matrix, from);
}

// Two shuffles that the compiler would join are cheaper than what it makes of the joined one.
Value* matrix_code::apart(Value* value) {
    return m_builder.CreateIntrinsic(Intrinsic::arithmetic_fence, {value->getType()}, {value});
}

// Column `column(row)` of a matrix, in each row.
template <typename Column> Value* matrix_code::columns(Value* matrix, Column column) {
    if (m_has_wide_vectors)
        return permute(load(m_matrix, matrix), [&](unsigned row, unsigned lane) { return lane * side + column(row); });
    // Of two registers: those of columns 0 and 1, then 2 and 3, side by side.
    Type* half = FixedVectorType::get(m_element, elements / 2);
    std::array<Value*, 2> pairs;
    for (int pair = 0; pair < 2; ++pair) {
        const int low = 2 * pair, high = low + 4, other = static_cast<int>(elements / 2);
        pairs[static_cast<size_t>(pair)] = apart(m_builder.CreateShuffleVector(
            load(half, matrix), load(half, matrix, elements / 2),
            {low, other + low, low + 1, other + low + 1, high, other + high, high + 1, other + high + 1}));
    }
    std::array<int, elements> from;
    for (unsigned lane = 0; lane < elements; ++lane) {
        const unsigned k = column(lane / side), row = lane % side;
        from[lane] = static_cast<int>(k / 2 * 8 + k % 2 * 2 + row % 2 * 4 + row / 2);
    }
    return m_builder.CreateShuffleVector(pairs[0], pairs[1], from);
}

// Row `k` in each half of a register of 256 bits: a load that costs no shuffle.
Value* matrix_code::row_twice(Value* matrix, unsigned k) {
    Value*& value = m_twice[{matrix, k}];
    if (!value) value = apart(m_builder.CreateShuffleVector(load(m_row, matrix, k * side), {0, 1, 2, 3, 0, 1, 2, 3}));
    return value;
}

// Row `k`, in each row.
Value* matrix_code::repeated_row(Value* matrix, unsigned k) {
    if (m_has_wide_vectors)
        return permute(load(m_row, matrix, k * side), [](unsigned, unsigned column) { return column; });
    return permute(row_twice(matrix, k), [](unsigned row, unsigned column) { return row % 2 * side + column; });
}

// Element `i` of row `k`, all along row `i`.
Value* matrix_code::spread_row(Value* matrix, unsigned k) {
    if (m_has_wide_vectors)
        return permute(load(m_matrix, matrix), [&](unsigned row, unsigned) { return k * side + row; });
    return permute(row_twice(matrix, k), [](unsigned row, unsigned) { return row % 2 * side + row; });
}

Value* matrix_code::add_product(const matrix_statement& statement, Value* left, Value* right, Value* sum) {
    if (statement.fused) return m_builder.CreateIntrinsic(Intrinsic::fmuladd, {sum->getType()}, {left, right, sum});
    return m_builder.CreateFAdd(sum, m_builder.CreateFMul(left, right));
}

Value* matrix_code::whole(const matrix_statement& statement, const matrix_addresses& at) {
    if (!statement.has_product) return columns(at.left, [](unsigned row) { return row; });
    Value* sum = statement.accumulates ? load(m_matrix, at.target) : Constant::getNullValue(m_matrix);
    for (unsigned k = 0; k < side; ++k) {
        Value* left = statement.left.transposed
                          ? spread_row(at.left, k)
                          : permute(load(m_matrix, at.left), [&](unsigned row, unsigned) { return row * side + k; });
        // Read from memory, row by row: a load that repeats a row costs no shuffle.
        Value* right = statement.right.transposed ? columns(at.right, [&](unsigned) { return k; })
                                                  : repeated_row(at.right, k);
        sum = add_product(statement, left, right, sum);
    }
    return sum;
}

matrix_code::rows matrix_code::load_rows(Value* matrix, const matrix_operand& operand, unsigned count,
                                         unsigned length) {
    rows loaded;
    loaded.fill(PoisonValue::get(m_row));
    for (unsigned row = 0; row < count; ++row) loaded[row] = load_row(matrix, row * operand.pitch, length);
    return loaded;
}

Value* matrix_code::first_lanes(Value* row, unsigned length) {
    SmallVector<int, side> from;
    for (unsigned lane = 0; lane < length; ++lane) from.push_back(static_cast<int>(lane));
    return length == side ? row : m_builder.CreateShuffleVector(row, from);
}

matrix_code::rows matrix_code::transposed(const rows& matrix) {
    rows pairs, result;
    for (unsigned half = 0; half < side; half += 2)
        for (int odd = 0; odd < 2; ++odd)
            pairs[half + static_cast<unsigned>(odd)] = m_builder.CreateShuffleVector(matrix[half], matrix[half + 1],
                                                                                     {odd, 4 + odd, 2 + odd, 6 + odd});
    for (unsigned odd = 0; odd < 2; ++odd) {
        result[odd] = m_builder.CreateShuffleVector(pairs[odd], pairs[odd + 2], {0, 1, 4, 5});
        result[odd + 2] = m_builder.CreateShuffleVector(pairs[odd], pairs[odd + 2], {2, 3, 6, 7});
    }
    return result;
}

Value* matrix_code::line(const by_lines& work, unsigned index) {
    const matrix_statement& statement = *work.statement;
    m_builder.setFastMathFlags(statement.arithmetic);
    Value* sum = statement.accumulates ? load_row(work.at->target, index * statement.target.pitch, statement.columns)
                                       : Constant::getNullValue(m_row);
    for (unsigned k = 0; k < statement.depth; ++k) {
        // One element in all lanes, which the multiplication itself can read from memory.
        Value* repeated = work.columns ? load(m_element, work.at->right, k * side + index)
                                       : load(m_element, work.at->left,
                                              statement.left.transposed ? k * statement.left.pitch + index
                                                                        : index * statement.left.pitch + k);
        sum = add_product(statement, m_builder.CreateVectorSplat(side, repeated), work.factors[k], sum);
    }
    return sum;
}

void matrix_code::compute_by_lines(ArrayRef<matrix_statement> statements, ArrayRef<matrix_addresses> at) {
    SmallVector<by_lines, 2> works;
    for (size_t i = 0; i < statements.size(); ++i) {
        const matrix_statement& statement = statements[i];
        by_lines work{&statement, &at[i]};
        if (!statement.has_product) {
            work.lines = transposed(load_rows(at[i].left, statement.left, side, side));
        } else {
            const auto is_turned_round = [&](size_t other) {
                return statements[other].has_product && statements[other].is_of_whole_squares() &&
                       !statements[other].left.transposed && !statements[other].right.transposed &&
                       at[other].left == at[i].right && at[other].right == at[i].left;
            };
            work.columns = statement.is_of_whole_squares() && statement.left.transposed &&
                           !statement.right.transposed && !statement.accumulates &&
                           any_of(seq<size_t>(0, statements.size()), is_turned_round);
            if (work.columns)
                work.factors = load_rows(at[i].left, statement.left, side, side);
            else if (statement.right.transposed)
                work.factors = transposed(load_rows(at[i].right, statement.right, statement.columns, statement.depth));
            else
                work.factors = load_rows(at[i].right, statement.right, statement.depth, statement.columns);
        }
        works.push_back(work);
    }
    for (unsigned index = 0; index < side; ++index)
        for (by_lines& work : works)
            if (work.statement->has_product && index < work.statement->rows) work.lines[index] = line(work, index);
    for (const by_lines& work : works) {
        const matrix_statement& statement = *work.statement;
        const rows lines = work.columns ? transposed(work.lines) : work.lines;
        for (unsigned row = 0; row < statement.rows; ++row)
            m_results.push_back(
                {m_builder.CreateConstInBoundsGEP1_64(m_element, work.at->target, row * statement.target.pitch),
                 first_lanes(lines[row], statement.columns)});
    }
}

// Two rows of the result in each of two registers.
void matrix_code::transpose_by_halves(const matrix_addresses& at) {
    Type* half = FixedVectorType::get(m_element, elements / 2);
    for (int row = 0; row < static_cast<int>(side); row += 2) {
        SmallVector<int, elements / 2> from;
        for (int lane = 0; lane < static_cast<int>(elements / 2); ++lane) from.push_back(lane % 4 * 4 + row + lane / 4);
        m_results.push_back(
            {m_builder.CreateConstInBoundsGEP1_64(m_element, at.target, static_cast<unsigned>(row) * side),
             m_builder.CreateShuffleVector(load(half, at.left), load(half, at.left, elements / 2), from)});
    }
}

void matrix_code::compute(ArrayRef<matrix_statement> statements, ArrayRef<matrix_addresses> at) {
    const bool is_whole = all_of(statements, [](const auto& each) { return each.is_of_whole_squares(); });
    if (m_element->isDoubleTy() && m_has_wide_vectors && is_whole &&
        none_of(statements, [](const auto& each) { return each.has_product; })) {
        for (const matrix_addresses& each : at) transpose_by_halves(each);
        return;
    }
    if (!m_element->isFloatTy() || !is_whole) return compute_by_lines(statements, at);
    // First: of a matrix that is read whole before its rows, the compiler takes the rows by shuffles, where a load that
    // repeats a row costs none.
    for (size_t i = 0; i < statements.size(); ++i)
        if (statements[i].has_product && !statements[i].right.transposed)
            load_rows(at[i].right, statements[i].right, side, side);
    for (size_t i = 0; i < statements.size(); ++i) {
        m_builder.setFastMathFlags(statements[i].arithmetic);
        m_results.push_back({at[i].target, whole(statements[i], at[i])});
    }
}

void matrix_code::store() {
    for (const auto& [matrix, value] : m_results) m_builder.CreateAlignedStore(value, matrix, m_align);
}

} // namespace causeway::simd
