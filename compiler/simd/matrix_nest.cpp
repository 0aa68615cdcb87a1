// SPDX-License-Identifier: Apache-2.0
// Recognises loop nests over small matrices by the strides of their accesses.
#include "matrix_nest.hpp"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace causeway::simd {

namespace {

constexpr unsigned deepest = 3;

/// An access as the nest's loops move it, in elements.
struct walk {
    const SCEV* start = nullptr;
    std::array<int64_t, deepest> strides{};

    bool operator==(const walk& other) const { return start == other.start && strides == other.strides; }
};

class reader {
  public:
    reader(Loop& outermost, ScalarEvolution& evolution, const DominatorTree& dominators)
        : m_evolution(evolution), m_dominators(dominators),
          m_layout(outermost.getHeader()->getModule()->getDataLayout()) {
        m_nest.outermost = &outermost;
    }

    std::optional<matrix_nest> read();

  private:
    bool read_loops();
    unsigned straight_trips(const Loop& loop) const;
    bool read_instructions();
    bool read_statement(StoreInst& store);
    bool read_product(Value& sum, const walk& target, matrix_statement& statement);
    bool read_transpose(LoadInst& load, const walk& target, matrix_statement& statement);
    bool follow(Value* address, walk& found) const;
    bool is_zeroed_before(const walk& target);
    bool fills_vectors() const;

    ScalarEvolution& m_evolution;
    const DominatorTree& m_dominators;
    const DataLayout& m_layout;
    matrix_nest m_nest;
    SmallVector<Loop*, deepest> m_loops;
    SmallVector<unsigned, deepest> m_trips; // of each of them
    SmallVector<StoreInst*, 4> m_stores, m_zeroes;
    SmallPtrSet<Value*, 8> m_loads, m_used;
};

// Its iterations if each block of it runs once in each, and they are no more than `side`; 0 otherwise.
unsigned reader::straight_trips(const Loop& loop) const {
    const BasicBlock* exiting = loop.getExitingBlock();
    const BasicBlock* latch = loop.getLoopLatch();
    if (!loop.getLoopPreheader() || !exiting || !latch || !loop.getExitBlock()) return 0;
    // A loop that is not rotated yet asks in its header, once more than it iterates.
    const bool asks_first = exiting == loop.getHeader() && exiting != latch;
    if (!asks_first && exiting != latch) return 0;
    const unsigned trips = m_evolution.getSmallConstantTripCount(&loop) - asks_first;
    return trips >= 2 && trips <= side ? trips : 0;
}

bool reader::read_loops() {
    for (Loop* loop = m_nest.outermost; loop; loop = loop->isInnermost() ? nullptr : loop->getSubLoops().front()) {
        const unsigned trips = straight_trips(*loop);
        if (m_loops.size() == deepest || loop->getSubLoops().size() > 1 || trips == 0) return false;
        m_loops.push_back(loop);
        m_trips.push_back(trips);
    }
    return m_loops.size() >= 2;
}

bool reader::read_instructions() {
    for (BasicBlock* block : m_nest.outermost->blocks()) {
        const Loop* loop = *find_if(reverse(m_loops), [&](const Loop* l) { return l->contains(block); });
        const auto* branch = dyn_cast<BranchInst>(block->getTerminator());
        if (!branch || (branch->isConditional() && block != loop->getExitingBlock())) return false;
        for (Instruction& i : *block) {
            for (const User* user : i.users())
                if (!m_nest.outermost->contains(cast<Instruction>(user))) return false;
            if (auto* load = dyn_cast<LoadInst>(&i)) {
                if (!load->isSimple()) return false;
                m_loads.insert(load);
            } else if (auto* store = dyn_cast<StoreInst>(&i)) {
                // The header of a loop that asks first runs once too often.
                if (!store->isSimple() ||
                    (block == loop->getHeader() && block != loop->getLoopLatch() && branch->isConditional()))
                    return false;
                const auto* constant = dyn_cast<ConstantFP>(store->getValueOperand());
                (constant && constant->isExactlyValue(0.0) ? m_zeroes : m_stores).push_back(store);
            } else if (i.mayHaveSideEffects() || i.mayReadOrWriteMemory()) {
                const auto* intrinsic = dyn_cast<IntrinsicInst>(&i);
                if (!intrinsic ||
                    (!intrinsic->isAssumeLikeIntrinsic() && intrinsic->getIntrinsicID() != Intrinsic::fmuladd))
                    return false;
            }
        }
    }
    return !m_stores.empty();
}

bool reader::follow(Value* address, walk& found) const {
    const int64_t size = static_cast<int64_t>(m_layout.getTypeStoreSize(m_nest.element));
    const SCEV* start = m_evolution.getSCEV(address);
    while (const auto* steps = dyn_cast<SCEVAddRecExpr>(start)) {
        const auto* loop = find(m_loops, steps->getLoop());
        if (loop == m_loops.end()) break;
        const auto* stride = steps->isAffine() ? dyn_cast<SCEVConstant>(steps->getStepRecurrence(m_evolution))
                                               : nullptr;
        if (!stride || stride->getAPInt().getSExtValue() % size != 0) return false;
        found.strides[static_cast<size_t>(loop - m_loops.begin())] = stride->getAPInt().getSExtValue() / size;
        start = steps->getStart();
    }
    found.start = start;
    return m_evolution.isLoopInvariant(start, m_nest.outermost);
}

// Through the phis that name a loop's results after it.
Value* without_exit_phis(Value* value) {
    while (auto* phi = dyn_cast<PHINode>(value)) {
        if (phi->getNumIncomingValues() != 1) break;
        value = phi->getIncomingValue(0);
    }
    return value;
}

// Before the innermost loop sums up.
bool reader::is_zeroed_before(const walk& target) {
    Loop& innermost = *m_loops.back();
    for (StoreInst*& zero : m_zeroes) {
        walk other;
        if (zero && !innermost.contains(zero) && m_dominators.dominates(zero->getParent(), innermost.getHeader()) &&
            follow(zero->getPointerOperand(), other) && other == target) {
            m_nest.stores.push_back(zero);
            zero = nullptr;
            return true;
        }
    }
    return false;
}

// Rows of `length` elements do not overlap, and the matrix is not too long for the numbers used here.
bool is_pitch(int64_t stride, unsigned length) { return stride >= length && stride < 1 << 20; }

bool reader::read_product(Value& sum, const walk& target, matrix_statement& statement) {
    auto* addition = dyn_cast<Instruction>(&sum);
    Value *x = nullptr, *y = nullptr, *before = nullptr;
    if (!addition || m_loops.size() != deepest || !m_loops.back()->contains(addition)) return false;
    if (match(addition, m_Intrinsic<Intrinsic::fmuladd>(m_Value(x), m_Value(y), m_Value(before))))
        statement.fused = true;
    else if (!match(addition, m_c_FAdd(m_Value(before), m_OneUse(m_FMul(m_Value(x), m_Value(y))))))
        return false;
    auto *left = dyn_cast<LoadInst>(x), *right = dyn_cast<LoadInst>(y);
    walk left_walk, right_walk;
    if (!left || !right || !follow(left->getPointerOperand(), left_walk) ||
        !follow(right->getPointerOperand(), right_walk))
        return false;
    statement.arithmetic = addition->getFastMathFlags();
    statement.has_product = true;

    // The loop that does not move the target is summed over, the others walk its rows and its columns.
    unsigned row = deepest, column = deepest, depth = deepest;
    for (unsigned l = 0; l < deepest; ++l) (target.strides[l] == 0 ? depth : target.strides[l] == 1 ? column : row) = l;
    if (row == deepest || column == deepest || depth == deepest) return false;
    statement.rows = m_trips[row], statement.columns = m_trips[column], statement.depth = m_trips[depth];
    if (!is_pitch(target.strides[row], statement.columns)) return false;
    statement.target.pitch = static_cast<unsigned>(target.strides[row]);
    if (left_walk.strides[column] != 0) {
        std::swap(left, right);
        std::swap(left_walk, right_walk);
    }
    const auto reads = [&](const walk& w, unsigned by_rows, unsigned by_columns, unsigned neither,
                           matrix_operand& operand) {
        operand.start = w.start;
        operand.transposed = w.strides[by_rows] == 1;
        if (operand.transposed) std::swap(by_rows, by_columns);
        operand.pitch = static_cast<unsigned>(w.strides[by_rows]);
        return w.strides[neither] == 0 && w.strides[by_columns] == 1 &&
               is_pitch(w.strides[by_rows], m_trips[by_columns]);
    };
    if (!reads(left_walk, row, depth, column, statement.left) ||
        !reads(right_walk, depth, column, row, statement.right))
        return false;
    m_used.insert(left);
    m_used.insert(right);

    const auto loads_target = [&](Value* value) {
        auto* load = dyn_cast<LoadInst>(value);
        walk other;
        if (!load || !follow(load->getPointerOperand(), other) || !(other == target)) return false;
        m_used.insert(load);
        return true;
    };
    auto* phi = dyn_cast<PHINode>(before);
    Loop& innermost = *m_loops.back();
    if (!phi) {
        // The sum is kept in memory.
        statement.accumulates = loads_target(before) && !(depth == deepest - 1 && is_zeroed_before(target));
        return m_used.contains(before);
    }
    if (depth != deepest - 1 || phi->getParent() != innermost.getHeader() ||
        phi->getIncomingValueForBlock(innermost.getLoopLatch()) != addition)
        return false;
    Value* start = without_exit_phis(phi->getIncomingValueForBlock(innermost.getLoopPreheader()));
    if (const auto* constant = dyn_cast<ConstantFP>(start)) return constant->isExactlyValue(0.0);
    statement.accumulates = loads_target(start);
    return statement.accumulates;
}

bool reader::read_transpose(LoadInst& load, const walk& target, matrix_statement& statement) {
    walk source;
    if (m_loops.size() != 2 || m_trips[0] != side || m_trips[1] != side || !follow(load.getPointerOperand(), source))
        return false;
    const auto is_by = [](const walk& w, unsigned slow) { return w.strides[slow] == side && w.strides[1 - slow] == 1; };
    if (!(is_by(target, 0) && is_by(source, 1)) && !(is_by(target, 1) && is_by(source, 0))) return false;
    statement.left.start = source.start;
    statement.left.transposed = true;
    m_used.insert(&load);
    return true;
}

bool reader::read_statement(StoreInst& store) {
    Value* value = without_exit_phis(store.getValueOperand());
    if (m_nest.element && value->getType() != m_nest.element) return false;
    m_nest.element = value->getType();
    if (!m_nest.element->isFloatTy() && !m_nest.element->isDoubleTy()) return false;
    matrix_statement statement;
    walk target;
    if (!follow(store.getPointerOperand(), target)) return false;
    statement.target.start = target.start;
    bool known = false;
    if (auto* load = dyn_cast<LoadInst>(value)) {
        known = read_transpose(*load, target, statement);
    } else {
        // A loop that asks first leaves with the phi, a rotated one with the sum.
        if (auto* phi = dyn_cast<PHINode>(value)) {
            if (phi->getParent() != m_loops.back()->getHeader() || m_loops.back()->contains(&store) ||
                m_loops.back()->getExitingBlock() == m_loops.back()->getLoopLatch())
                return false;
            value = phi->getIncomingValueForBlock(m_loops.back()->getLoopLatch());
        } else if (auto* sum = dyn_cast<Instruction>(value);
                   sum && !m_loops.back()->contains(&store) && m_loops.back()->contains(sum) &&
                   m_loops.back()->getExitingBlock() != m_loops.back()->getLoopLatch()) {
            return false;
        }
        known = read_product(*value, target, statement);
        // In a register the sum is stored once, in memory each time.
        if (known && m_loops.back()->contains(&store) && target.strides[deepest - 1] == 0 && isa<PHINode>(value))
            return false;
    }
    if (known) {
        m_nest.statements.push_back(statement);
        m_nest.stores.push_back(&store);
    }
    return known;
}

// Rows of two, and of three doubles, fill too few lanes: the compiler's own code is as fast, or faster.
bool reader::fills_vectors() const {
    const bool is_double = m_nest.element->isDoubleTy();
    return all_of(m_nest.statements, [&](const matrix_statement& each) {
        if (!each.has_product || each.columns == side) return each.depth > 2;
        const bool has_shuffles = each.left.transposed || each.right.transposed || m_nest.statements.size() > 1;
        return each.columns > 2 && each.depth > 2 && (!is_double || has_shuffles);
    });
}

std::optional<matrix_nest> reader::read() {
    if (!read_loops() || !read_instructions()) return std::nullopt;
    m_nest.element = m_stores.front()->getValueOperand()->getType();
    for (StoreInst* store : m_stores)
        if (!read_statement(*store)) return std::nullopt;
    for (const StoreInst* zero : m_zeroes)
        if (zero) return std::nullopt;
    for (Value* load : m_loads)
        if (!m_used.contains(load)) return std::nullopt;
    if (!fills_vectors()) return std::nullopt;
    m_nest.alignment = Align(m_layout.getTypeStoreSize(m_nest.element));
    for (const Value* load : m_loads) m_nest.alignment = std::min(m_nest.alignment, cast<LoadInst>(load)->getAlign());
    for (const StoreInst* store : m_stores) m_nest.alignment = std::min(m_nest.alignment, store->getAlign());
    return m_nest;
}

} // namespace

uint64_t matrix_statement::extent(const matrix_operand& operand) const {
    const bool is_target = &operand == &target, is_left = &operand == &left;
    unsigned down = is_target || is_left ? rows : depth, across = is_left ? depth : columns;
    if (operand.transposed) std::swap(down, across);
    return uint64_t{down - 1} * operand.pitch + across;
}

std::optional<matrix_nest> recognise(Loop& loop, ScalarEvolution& evolution, const DominatorTree& dominators) {
    return reader(loop, evolution, dominators).read();
}

} // namespace causeway::simd
