// SPDX-License-Identifier: Apache-2.0
// Loop nests over matrices of up to 4 x 4 elements as operations on whole matrices in registers: "2D vectorization",
// section 5 of the paper.
#include "small_matrices.hpp"

#include "llvm_versions.hpp"
#include "loop_properties.hpp"
#include "matrix_code.hpp"
#include "report.hpp"
#include "supported_target.hpp"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

using namespace llvm;

namespace causeway::simd {

namespace {

// The nest stays for matrices that overlap, and the pass runs more than once.
constexpr const char* seen_property = "causeway.simd.matrices";

class work {
  public:
    /// Says `why_not` of each nest of matrices, if it is not null.
    work(Function& function, FunctionAnalysisManager& manager, const char* why_not)
        : m_function(function), m_why_not(why_not), m_loops(manager.getResult<LoopAnalysis>(function)),
          m_evolution(manager.getResult<ScalarEvolutionAnalysis>(function)),
          m_dominators(manager.getResult<DominatorTreeAnalysis>(function)),
          m_aliases(manager.getResult<AAManager>(function)),
          m_assumptions(manager.getResult<AssumptionAnalysis>(function)),
          m_remarks(manager.getResult<OptimizationRemarkEmitterAnalysis>(function)), m_report(m_remarks) {}

    bool run(ArrayRef<Loop*> candidates);

  private:
    bool replace(Loop& loop);
    Value* overlap(IRBuilder<>& builder, const matrix_nest& nest, ArrayRef<matrix_addresses> addresses, bool& always);
    bool has_wide_vectors() const;

    Function& m_function;
    const char* m_why_not;
    LoopInfo& m_loops;
    ScalarEvolution& m_evolution;
    DominatorTree& m_dominators;
    AAResults& m_aliases;
    AssumptionCache& m_assumptions;
    OptimizationRemarkEmitter& m_remarks;
    report m_report;
    bool m_changed = false;
};

// Null if no target overlaps another matrix; `always` if one does for sure.
Value* work::overlap(IRBuilder<>& builder, const matrix_nest& nest, ArrayRef<matrix_addresses> addresses,
                     bool& always) {
    Value* any = nullptr;
    const uint64_t element = nest.element->isFloatTy() ? 4 : 8;
    const auto check = [&](Value* target, uint64_t size, Value* other, uint64_t other_size) {
        if (!other) return;
        size *= element, other_size *= element;
        const auto answer = m_aliases.alias(MemoryLocation(target, LocationSize::precise(size)),
                                            MemoryLocation(other, LocationSize::precise(other_size)));
        if (answer == AliasResult::MustAlias || answer == AliasResult::PartialAlias) always = true;
        if (answer == AliasResult::NoAlias) return;
        Type* integer = builder.getInt64Ty();
        Value* distance = builder.CreateSub(builder.CreatePtrToInt(target, integer),
                                            builder.CreatePtrToInt(other, integer));
        Value* near = builder.CreateICmpULT(builder.CreateAdd(distance, builder.getInt64(size - 1)),
                                            builder.getInt64(size + other_size - 1));
        any = any ? builder.CreateOr(any, near) : near;
    };
    for (size_t i = 0; i < addresses.size(); ++i)
        for (size_t j = 0; j < addresses.size(); ++j) {
            const matrix_statement &mine = nest.statements[i], &other = nest.statements[j];
            const uint64_t size = mine.extent(mine.target);
            check(addresses[i].target, size, addresses[j].left, other.extent(other.left));
            if (addresses[j].right != addresses[j].left || other.extent(other.right) > other.extent(other.left))
                check(addresses[i].target, size, addresses[j].right, other.extent(other.right));
            if (i < j) check(addresses[i].target, size, addresses[j].target, other.extent(other.target));
        }
    return any;
}

bool work::has_wide_vectors() const {
    return m_function.getFnAttribute("target-features").getValueAsString().contains("+avx512vl");
}

std::string described(const matrix_nest& nest) {
    std::string text;
    for (const matrix_statement& statement : nest.statements) {
        if (!text.empty()) text += " and ";
        if (!statement.has_product)
            text += "a transpose";
        else
            text += std::string(statement.accumulates ? "an added product" : "a product") +
                    (statement.left.transposed && statement.right.transposed   ? " of two transposes"
                     : statement.left.transposed || statement.right.transposed ? " by a transpose"
                                                                               : "");
    }
    const matrix_statement& first = nest.statements.front();
    const bool square = first.rows == first.columns && first.rows == first.depth;
    return (text + (square ? " of " : " that is ") + Twine(first.rows) + " x " + Twine(first.columns) +
            (nest.element->isFloatTy() ? " floats" : " doubles"))
        .str();
}

bool work::replace(Loop& loop) {
    if (!m_why_not)
        m_changed |= simplifyLoop(&loop, &m_dominators, &m_loops, &m_evolution, &m_assumptions, nullptr, false);
    const std::optional<matrix_nest> nest = recognise(loop, m_evolution, m_dominators);
    if (!nest) return false;
    if (m_why_not) {
        set_property(loop, seen_property);
        m_report.left(loop, "Target", Twine(described(*nest)) + ": " + m_why_not);
        return true;
    }
    BasicBlock* preheader = loop.getLoopPreheader();
    BasicBlock* exit = loop.getExitBlock();
    IRBuilder<> builder(preheader->getTerminator());
    SCEVExpander expander = expander_of(m_evolution, *m_function.getParent());
    const auto expand = [&](const matrix_operand& operand) -> Value* {
        return operand.start ? expander.expandCodeFor(operand.start, builder.getPtrTy(), preheader->getTerminator())
                             : nullptr;
    };
    SmallVector<matrix_addresses, 2> addresses;
    for (const matrix_statement& s : nest->statements)
        for (const matrix_operand* operand : {&s.target, &s.left, &s.right})
            if (operand->start && !expander.isSafeToExpandAt(operand->start, preheader->getTerminator())) return false;
    for (const matrix_statement& s : nest->statements)
        addresses.push_back({expand(s.target), expand(s.left), expand(s.right)});
    bool always = false;
    Value* overlaps = overlap(builder, *nest, addresses, always);
    set_property(loop, seen_property);
    if (always) {
        m_report.left(loop, "Overlap", "a matrix is read and written");
        return true;
    }
    m_report.done(loop, "Matrices",
                  described(*nest) + " in registers" + (overlaps ? ", where matrices do not overlap" : ""));

    if (overlaps) {
        BasicBlock* whole = SplitBlock(preheader, preheader->getTerminator(), &m_dominators, &m_loops);
        BasicBlock* nested = SplitBlock(whole, whole->getTerminator(), &m_dominators, &m_loops);
        ReplaceInstWithInst(preheader->getTerminator(), BranchInst::Create(nested, whole, overlaps));
        ReplaceInstWithInst(whole->getTerminator(), BranchInst::Create(exit));
        builder.SetInsertPoint(whole->getTerminator());
    }
    builder.SetCurrentDebugLocation(nest->stores.back()->getDebugLoc());
    const bool is_wide = has_wide_vectors();
    matrix_code code(builder, nest->element, nest->alignment, is_wide);
    code.compute(nest->statements, addresses);
    code.store();
    // A matrix of floats is one register of 512 bits, also where the compiler prefers shorter ones for loops.
    if (is_wide && all_of(nest->statements, [](const auto& each) { return each.is_of_whole_squares(); }))
        m_function.addFnAttr("min-legal-vector-width", "512");
    if (overlaps) {
        m_dominators.recalculate(m_function);
        return true;
    }
    for (StoreInst* store : nest->stores) store->eraseFromParent();
    deleteDeadLoop(&loop, &m_dominators, &m_evolution, &m_loops);
    return true;
}

// Whether it may run a few times only: cheaper to ask than the number of iterations.
bool ends_at_small_constant(const Loop& loop) {
    constexpr uint64_t largest = 1 << 16; // an index that steps from row to row
    const BasicBlock* exiting = loop.getExitingBlock();
    const auto* branch = exiting ? dyn_cast<BranchInst>(exiting->getTerminator()) : nullptr;
    const auto* test = branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
    return test && any_of(test->operands(), [](const Use& each) {
               const auto* end = dyn_cast<ConstantInt>(each);
               return end && end->getValue().abs().ule(largest);
           });
}

bool stores_floating_point(const Loop& loop) {
    return any_of(loop.blocks(), [](const BasicBlock* block) {
        return any_of(*block, [](const Instruction& i) {
            const auto* store = dyn_cast<StoreInst>(&i);
            return store && store->getValueOperand()->getType()->isFloatingPointTy();
        });
    });
}

// Nests that may be over matrices, found without any analysis but that of loops.
SmallVector<Loop*, 8> find_candidates(LoopInfo& loops) {
    SmallVector<Loop*, 8> candidates;
    for (Loop* loop : loops.getLoopsInPreorder()) {
        // Loops over two or three of those inside: the first whose depth fits.
        unsigned depth = 1;
        const Loop* inner = loop;
        for (; inner->getSubLoops().size() == 1; inner = inner->getSubLoops().front()) ++depth;
        if (inner->isInnermost() && depth >= 2 && depth <= 3 && !has_property(*loop, seen_property) &&
            ends_at_small_constant(*loop) && stores_floating_point(*loop))
            candidates.push_back(loop);
    }
    return candidates;
}

bool work::run(ArrayRef<Loop*> candidates) {
    SmallPtrSet<const Loop*, 4> gone;
    for (Loop* loop : candidates) {
        if (gone.contains(loop)) continue;
        const unsigned trips = m_evolution.getSmallConstantTripCount(loop);
        if (trips < 2 || trips > side + 1) continue;
        Loop* inner = loop->getSubLoops().front();
        if (replace(*loop)) {
            m_changed = true;
            gone.insert(inner);
        }
    }
    return m_changed;
}

} // namespace

PreservedAnalyses small_matrices::run(Function& function, FunctionAnalysisManager& manager) {
    if (function.hasOptSize()) return PreservedAnalyses::all();
    const SmallVector<Loop*, 8> candidates = find_candidates(manager.getResult<LoopAnalysis>(function));
    if (candidates.empty()) return PreservedAnalyses::all();
    const char* why_not = nullptr;
    if (!is_supported_target(function))
        why_not = other_target;
    else if (manager.getResult<TargetIRAnalysis>(function).getRegisterBitWidth(
                 TargetTransformInfo::RGK_FixedWidthVector) < TypeSize::getFixed(256))
        why_not = "a vector holds less than half a matrix of floats, so nothing is gained";
    return work(function, manager, why_not).run(candidates) ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace causeway::simd
