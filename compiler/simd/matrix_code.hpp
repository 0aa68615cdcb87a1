// SPDX-License-Identifier: Apache-2.0
// Operations on matrices of up to 4 x 4 elements in registers.
#pragma once

#include "matrix_nest.hpp"

#include <llvm/IR/IRBuilder.h>

#include <map>
#include <tuple>

namespace causeway::simd {

/// The addresses of a statement's matrices.
struct matrix_addresses {
    llvm::Value *target, *left, *right;
};

/// A 4 x 4 matrix of floats is one vector of 16 lanes. One of doubles is four rows: in two registers of eight lanes, a
/// product would cost more shuffles than it saves multiplications. Only transposes use such registers. Smaller matrices
/// are rows in vectors of four lanes. Each element is summed in the order of the loop nest, so it is rounded alike.
class matrix_code {
  public:
    /// `alignment`: of each element. `has_wide_vectors`: registers of 512 bits.
    matrix_code(llvm::IRBuilder<>& builder, llvm::Type* element, llvm::Align alignment, bool has_wide_vectors);

    /// Reads and computes; nothing is written before store().
    void compute(llvm::ArrayRef<matrix_statement> statements, llvm::ArrayRef<matrix_addresses> at);
    void store();

  private:
    using rows = std::array<llvm::Value*, side>;

    /// Computes a statement's target row by row, or column by column. A^T B is computed by columns if another statement
    /// of the nest computes B A: both then read the rows of A and broadcast the elements of B.
    struct by_lines {
        const matrix_statement* statement;
        const matrix_addresses* at;
        bool columns = false;
        rows factors{}, lines{};
    };

    llvm::Value* load(llvm::Type* type, llvm::Value* matrix, unsigned element = 0);
    llvm::Value* load_row(llvm::Value* matrix, unsigned element, unsigned length);
    template <typename Source> llvm::Value* permute(llvm::Value* matrix, Source source);
    template <typename Column> llvm::Value* columns(llvm::Value* matrix, Column column);
    llvm::Value* row_twice(llvm::Value* matrix, unsigned k);
    llvm::Value* repeated_row(llvm::Value* matrix, unsigned k);
    llvm::Value* spread_row(llvm::Value* matrix, unsigned k);
    llvm::Value* apart(llvm::Value* value);
    llvm::Value* add_product(const matrix_statement& statement, llvm::Value* left, llvm::Value* right,
                             llvm::Value* sum);
    llvm::Value* whole(const matrix_statement& statement, const matrix_addresses& at);
    void compute_by_lines(llvm::ArrayRef<matrix_statement> statements, llvm::ArrayRef<matrix_addresses> at);
    llvm::Value* line(const by_lines& work, unsigned index);
    rows load_rows(llvm::Value* matrix, const matrix_operand& operand, unsigned count, unsigned length);
    rows transposed(const rows& matrix);
    void transpose_by_halves(const matrix_addresses& at);
    llvm::Value* first_lanes(llvm::Value* row, unsigned length);

    llvm::IRBuilder<>& m_builder;
    llvm::Type* m_element;
    bool m_has_wide_vectors;
    llvm::Type *m_row, *m_matrix;
    llvm::Align m_align;
    std::map<std::tuple<llvm::Type*, llvm::Value*, unsigned>, llvm::Value*> m_loaded;
    std::map<std::pair<llvm::Value*, unsigned>, llvm::Value*> m_twice;
    llvm::SmallVector<std::pair<llvm::Value*, llvm::Value*>, 8> m_results;
};

} // namespace causeway::simd
