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

constexpr unsigned side = 4; // of the matrices: 4 x 4

/// A matrix in memory, whose elements follow one another.
struct matrix_operand {
    const llvm::SCEV* start = nullptr;
    bool transposed = false; // as the nest's indices name rows and columns
};

/// target = [target +] left * right, each element summed up in the nest's order; without `right`, target = left.
struct matrix_statement {
    matrix_operand target, left, right;
    bool has_product = false;
    bool accumulates = false;
    bool fused = false; // by llvm.fmuladd
    llvm::FastMathFlags arithmetic;
};

struct matrix_nest {
    llvm::Loop* outermost = nullptr;
    llvm::Type* element = nullptr; // float or double
    llvm::SmallVector<matrix_statement, 2> statements;
    llvm::SmallVector<llvm::StoreInst*, 2> stores;
};

/// The nest that begins at `loop`, if that is all it does.
std::optional<matrix_nest> recognise(llvm::Loop& loop, llvm::ScalarEvolution& evolution,
                                     const llvm::DominatorTree& dominators);

} // namespace causeway::simd
