// SPDX-License-Identifier: Apache-2.0
// A nest of its own for rows that are short and of one length: its masks are made once, outside.
//
//     short? (the gate) -> clone of the nest -+
//       |                                     |
//       +-----------------------------> nest -+->
#include "short_rows.hpp"

#include "llvm_versions.hpp"
#include "remainder.hpp"

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

using namespace llvm;

namespace causeway::simd {

namespace {

// More is code that pays less for what it costs.
constexpr unsigned most_instructions = 200;

bool is_cloneable(const Loop& nest, const Loop& row) {
    if (nest.getSubLoops().size() != 1 || !nest.isLoopSimplifyForm() || !nest.getExitBlock()) return false;
    unsigned instructions = 0;
    for (const BasicBlock* block : nest.blocks()) {
        instructions += static_cast<unsigned>(block->sizeWithoutDebug());
        if (isa<IndirectBrInst>(block->getTerminator()) || isa<CallBrInst>(block->getTerminator())) return false;
        for (const Instruction& i : *block)
            if (const auto* call = dyn_cast<CallBase>(&i); call && (call->cannotDuplicate() || call->isConvergent()))
                return false;
    }
    return instructions <= most_instructions && nest.contains(&row);
}

} // namespace

short_rows clone_for_short_rows(Loop& row, unsigned longest, unsigned multiple, LoopInfo& loops,
                                ScalarEvolution& evolution, DominatorTree& dominators) {
    Loop* nest = row.getParentLoop();
    const SCEV* back_edges = evolution.getBackedgeTakenCount(&row);
    if (!nest || !is_cloneable(*nest, row) || !evolution.isLoopInvariant(back_edges, nest) ||
        evolution.getUnsignedRangeMin(back_edges).uge(longest))
        return {};
    BasicBlock* before = nest->getLoopPreheader();
    SCEVExpander expander = expander_of(evolution, *before->getModule());
    if (!expander.isSafeToExpandAt(back_edges, before->getTerminator())) return {};

    IRBuilder<> builder(before->getTerminator());
    Value* count = builder.CreateFreeze(
        expander.expandCodeFor(back_edges, back_edges->getType(), before->getTerminator()));
    Value* is_short = builder.CreateICmpULT(count, ConstantInt::get(count->getType(), longest));
    Value* last = builder.CreateAnd(builder.CreateZExtOrTrunc(count, builder.getInt32Ty()), longest - 1);
    if (multiple > 1) last = builder.CreateOr(last, multiple - 1);
    BasicBlock* preheader = SplitBlock(before, before->getTerminator(), &dominators, &loops);

    ValueToValueMapTy map;
    SmallVector<BasicBlock*, 16> blocks;
    Loop* clone = cloneLoopWithPreheader(preheader, before, nest, map, ".short", &loops, &dominators, blocks);
    remapInstructionsInBlocks(blocks, map);
    auto* gate = BranchInst::Create(cast<BasicBlock>(map[preheader]), preheader, is_short);
    ReplaceInstWithInst(before->getTerminator(), gate);
    for (PHINode& phi : nest->getExitBlock()->phis())
        for (unsigned at = 0, ways = phi.getNumIncomingValues(); at < ways; ++at) {
            Value* value = phi.getIncomingValue(at);
            const auto mapped = map.find(value);
            phi.addIncoming(mapped == map.end() ? value : static_cast<Value*>(mapped->second),
                            cast<BasicBlock>(map[phi.getIncomingBlock(at)]));
        }
    dominators.recalculate(*before->getParent());
    evolution.forgetTopmostLoop(nest);
    Loop* short_row = clone->getSubLoops().front();
    remainder(loops, evolution, dominators).count_anew(*short_row, last);
    return {clone, short_row, gate};
}

void close_gate(short_rows& rows) { rows.gate->setCondition(ConstantInt::getFalse(rows.gate->getContext())); }

void hoist_masks(short_rows& rows, ScalarEvolution& evolution) {
    Instruction* end = rows.nest->getLoopPreheader()->getTerminator();
    bool changed = true;
    while (changed) {
        changed = false;
        for (BasicBlock* block : rows.nest->blocks())
            for (Instruction& i : make_early_inc_range(*block))
                if (!i.isTerminator() && !isa<PHINode>(&i))
                    rows.nest->makeLoopInvariant(&i, changed, end, nullptr, &evolution);
    }
}

} // namespace causeway::simd
