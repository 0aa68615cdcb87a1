// SPDX-License-Identifier: Apache-2.0
// Operations on whole 4 x 4 matrices in registers.
#include "matrix_code.hpp"

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

matrix_code::rows matrix_code::transposed(Value* matrix) {
    rows pairs, result;
    for (unsigned half = 0; half < side; half += 2)
        for (int odd = 0; odd < 2; ++odd)
            pairs[half + static_cast<unsigned>(odd)] = m_builder.CreateShuffleVector(
                load(m_row, matrix, half), load(m_row, matrix, half + 1), {odd, 4 + odd, 2 + odd, 6 + odd});
    for (unsigned odd = 0; odd < 2; ++odd) {
        result[odd] = m_builder.CreateShuffleVector(pairs[odd], pairs[odd + 2], {0, 1, 4, 5});
        result[odd + 2] = m_builder.CreateShuffleVector(pairs[odd], pairs[odd + 2], {2, 3, 6, 7});
    }
    return result;
}

matrix_code::rows matrix_code::by_rows(const matrix_statement& statement, const matrix_addresses& at) {
    if (!statement.has_product) return transposed(at.left);
    rows right, sums;
    if (statement.right.transposed)
        right = transposed(at.right);
    else
        for (unsigned k = 0; k < side; ++k) right[k] = load(m_row, at.right, k);
    for (unsigned row = 0; row < side; ++row) {
        sums[row] = statement.accumulates ? load(m_row, at.target, row) : Constant::getNullValue(m_row);
        for (unsigned k = 0; k < side; ++k) {
            // One element in all lanes, which the multiplication itself can read from memory.
            Value* left = statement.left.transposed ? load(m_element, at.left, k, row)
                                                    : load(m_element, at.left, row, k);
            sums[row] = add_product(statement, m_builder.CreateVectorSplat(side, left), right[k], sums[row]);
        }
    }
    return sums;
}

void matrix_code::read_rows(const matrix_statement& statement, const matrix_addresses& at) {
    if (m_element->isFloatTy() && statement.has_product && !statement.right.transposed)
        for (unsigned k = 0; k < side; ++k) load(m_row, at.right, k);
}

void matrix_code::compute(const matrix_statement& statement, const matrix_addresses& at) {
    m_builder.setFastMathFlags(statement.arithmetic);
    if (m_element->isFloatTy())
        m_results.push_back({at.target, whole(statement, at)});
    else
        for (const auto& row : enumerate(by_rows(statement, at)))
            m_results.push_back(
                {m_builder.CreateConstInBoundsGEP1_64(m_element, at.target, row.index() * side), row.value()});
}

void matrix_code::store() {
    for (const auto& [matrix, value] : m_results) m_builder.CreateAlignedStore(value, matrix, m_align);
}

} // namespace causeway::simd
