// SPDX-License-Identifier: Apache-2.0
// Operations on whole 4 x 4 matrices in registers.
#pragma once

#include "matrix_nest.hpp"

#include <llvm/IR/IRBuilder.h>

#include <map>
#include <tuple>

namespace causeway::simd {

/// Where the matrices of a statement are.
struct matrix_addresses {
    llvm::Value *target, *left, *right;
};

/// A matrix of floats is one vector of 16 lanes; one of doubles is four rows, as two registers of eight would be
/// shuffled more often than it saves multiplications. Every element is summed up in the order of the loop nest, so that
/// it is rounded as there.
class matrix_code {
  public:
    matrix_code(llvm::IRBuilder<>& builder, llvm::Type* element);

    /// To be called for all statements first: of a matrix that is read whole before its rows, the compiler takes the
    /// rows by shuffles, where a load that repeats a row costs none.
    void read_rows(const matrix_statement& statement, const matrix_addresses& at);
    /// Reads and computes; nothing is written before store().
    void compute(const matrix_statement& statement, const matrix_addresses& at);
    void store();

  private:
    using rows = std::array<llvm::Value*, side>;

    llvm::Value* load(llvm::Type* type, llvm::Value* matrix, unsigned row = 0, unsigned column = 0);
    template <typename Source> llvm::Value* permute(llvm::Value* matrix, Source source);
    llvm::Value* add_product(const matrix_statement& statement, llvm::Value* left, llvm::Value* right,
                             llvm::Value* sum);
    llvm::Value* whole(const matrix_statement& statement, const matrix_addresses& at);
    rows by_rows(const matrix_statement& statement, const matrix_addresses& at);
    rows transposed(llvm::Value* matrix);

    llvm::IRBuilder<>& m_builder;
    llvm::Type *m_element, *m_row, *m_matrix;
    llvm::Align m_align;
    std::map<std::tuple<llvm::Type*, llvm::Value*, unsigned>, llvm::Value*> m_loaded;
    llvm::SmallVector<std::pair<llvm::Value*, llvm::Value*>, 8> m_results;
};

} // namespace causeway::simd
