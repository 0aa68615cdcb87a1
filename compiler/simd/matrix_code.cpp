// SPDX-License-Identifier: Apache-2.0
// Operations on whole 4 x 4 matrices in registers.
#include "matrix_code.hpp"

#include <llvm/ADT/Sequence.h>

using namespace llvm;

namespace causeway::simd {

namespace {

constexpr unsigned elements = side * side;

} // namespace

matrix_code::matrix_code(IRBuilder<>& builder, Type* element)
    : m_builder(builder), m_element(element), m_row(FixedVectorType::get(element, side)),
      m_matrix(FixedVectorType::get(element, elements)), m_align(element->isFloatTy() ? 4 : 8) {}

Value* matrix_code::load(Type* type, Value* matrix, unsigned row, unsigned column) {
    Value*& value = m_loaded[{type, matrix, row * side + column}];
    if (!value) {
        Value* address = row + column ? m_builder.CreateConstInBoundsGEP1_64(m_element, matrix, row * side + column)
                                      : matrix;
        value = m_builder.CreateAlignedLoad(type, address, m_align);
    }
    return value;
}

template <typename Source> Value* matrix_code::permute(Value* matrix, Source source) {
    std::array<int, elements> from;
    for (unsigned lane = 0; lane < elements; ++lane) from[lane] = static_cast<int>(source(lane / side, lane % side));
    return m_builder.CreateShuffleVector(matrix, from);
}

Value* matrix_code::add_product(const matrix_statement& statement, Value* left, Value* right, Value* sum) {
    if (statement.fused) return m_builder.CreateIntrinsic(Intrinsic::fmuladd, {sum->getType()}, {left, right, sum});
    return m_builder.CreateFAdd(sum, m_builder.CreateFMul(left, right));
}

Value* matrix_code::whole(const matrix_statement& statement, const matrix_addresses& at) {
    if (!statement.has_product)
        return permute(load(m_matrix, at.left), [](unsigned row, unsigned column) { return column * side + row; });
    Value* sum = statement.accumulates ? load(m_matrix, at.target) : Constant::getNullValue(m_matrix);
    for (unsigned k = 0; k < side; ++k) {
        Value* left = permute(load(m_matrix, at.left), [&](unsigned row, unsigned) {
            return statement.left.transposed ? k * side + row : row * side + k;
        });
        // Read from memory, row by row: a load that repeats a row costs no shuffle.
        Value* right = statement.right.transposed
                           ? permute(load(m_matrix, at.right),
                                     [&](unsigned, unsigned column) { return column * side + k; })
                           : permute(load(m_row, at.right, k), [](unsigned, unsigned column) { return column; });
        sum = add_product(statement, left, right, sum);
    }
    return sum;
}

matrix_code::rows matrix_code::load_rows(Value* matrix) {
    rows loaded;
    for (unsigned row = 0; row < side; ++row) loaded[row] = load(m_row, matrix, row);
    return loaded;
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
    Value* sum = statement.accumulates ? load(m_row, work.at->target, index) : Constant::getNullValue(m_row);
    for (unsigned k = 0; k < side; ++k) {
        // One element in all lanes, which the multiplication itself can read from memory.
        Value* repeated = work.columns                ? load(m_element, work.at->right, k, index)
                          : statement.left.transposed ? load(m_element, work.at->left, k, index)
                                                      : load(m_element, work.at->left, index, k);
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
            work.lines = transposed(load_rows(at[i].left));
        } else {
            const auto is_turned_round = [&](size_t other) {
                return statements[other].has_product && !statements[other].left.transposed &&
                       !statements[other].right.transposed && at[other].left == at[i].right &&
                       at[other].right == at[i].left;
            };
            work.columns = statement.left.transposed && !statement.right.transposed && !statement.accumulates &&
                           any_of(seq<size_t>(0, statements.size()), is_turned_round);
            work.factors = load_rows(work.columns ? at[i].left : at[i].right);
            if (statement.right.transposed) work.factors = transposed(work.factors);
        }
        works.push_back(work);
    }
    for (unsigned index = 0; index < side; ++index)
        for (by_lines& work : works)
            if (work.statement->has_product) work.lines[index] = line(work, index);
    for (const by_lines& work : works)
        for (const auto& row : enumerate(work.columns ? transposed(work.lines) : work.lines))
            m_results.push_back(
                {m_builder.CreateConstInBoundsGEP1_64(m_element, work.at->target, row.index() * side), row.value()});
}

void matrix_code::compute(ArrayRef<matrix_statement> statements, ArrayRef<matrix_addresses> at) {
    if (!m_element->isFloatTy()) return compute_by_lines(statements, at);
    // First: of a matrix that is read whole before its rows, the compiler takes the rows by shuffles, where a load that
    // repeats a row costs none.
    for (size_t i = 0; i < statements.size(); ++i)
        if (statements[i].has_product && !statements[i].right.transposed) load_rows(at[i].right);
    for (size_t i = 0; i < statements.size(); ++i) {
        m_builder.setFastMathFlags(statements[i].arithmetic);
        m_results.push_back({at[i].target, whole(statements[i], at[i])});
    }
}

void matrix_code::store() {
    for (const auto& [matrix, value] : m_results) m_builder.CreateAlignedStore(value, matrix, m_align);
}

} // namespace causeway::simd
