// SPDX-License-Identifier: Apache-2.0
// Recognises loop nests over small matrices: products, products with transposes, several at once, and transposes.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/FMF.h>
#include <llvm/IR/Instructions.h>

#include <array>
#include <optional>

namespace llvm {
class DominatorTree;
} // namespace llvm

namespace causeway::simd {

constexpr unsigned side = 4; // of the largest matrices

/// A matrix in memory, row by row.
struct matrix_operand {
    const llvm::SCEV* start = nullptr;
    unsigned pitch = side;   // from row to row, in elements
    bool transposed = false; // in the sense of the nest's row and column indices
};

/// target = [target +] left * right, each element summed up in the nest's order; without `right`, target = left.
struct matrix_statement {
    matrix_operand target, left, right;
    unsigned rows = side, columns = side, depth = side; // depth: the number of terms of each element
    bool has_product = false;
    bool accumulates = false;
    bool fused = false; // by llvm.fmuladd
    llvm::FastMathFlags arithmetic;

    /// 4 x 4 matrices whose elements follow one another.
    bool is_of_whole_squares() const {
        return rows == side && columns == side && depth == side && target.pitch == side && left.pitch == side &&
               right.pitch == side;
    }
    /// The number of elements from an operand's first to its last one, both included, with those between its rows.
    uint64_t extent(const matrix_operand& operand) const;
};

struct matrix_nest {
    llvm::Loop* outermost = nullptr;
    llvm::Type* element = nullptr; // float or double
    llvm::Align alignment;         // of every element; less than its type's where the program says so
    llvm::SmallVector<matrix_statement, 2> statements;
    llvm::SmallVector<llvm::StoreInst*, 2> stores;
};

/// The nest whose outermost loop is `loop`; none if the loop does anything else.
std::optional<matrix_nest> recognise(llvm::Loop& loop, llvm::ScalarEvolution& evolution,
                                     const llvm::DominatorTree& dominators);

} // namespace causeway::simd
