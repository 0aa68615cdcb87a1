// SPDX-License-Identifier: Apache-2.0
// Iterations run ahead of a long loop, until its stores begin at a cache line: section 4 of the paper.
//
//     long? -> skewed? (the gate) -> clone of the loop, `skew` iterations -> another, the others -+
//       |         |                                                                               |
//       +---------+------------------------------------------------------------------> loop ------+->
//
// Once the loop is vectorised, the question comes behind the vector loop's own.
#include "alignment_peel.hpp"

#include "llvm_versions.hpp"
#include "loop_properties.hpp"
#include "remainder.hpp"

#include <llvm/Analysis/IVDescriptors.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
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

constexpr unsigned line_bytes = 64;
// Shorter loops lose by it, on the machines measured.
constexpr unsigned shortest_iterations = 384;

/// The start of the first store that walks upwards, from element to element of the widest type, each at a multiple of
/// its size, and is not aligned to a cache line already.
const SCEV* find_skewed(Loop& loop, unsigned element_bytes, ScalarEvolution& evolution) {
    const DataLayout& layout = loop.getHeader()->getModule()->getDataLayout();
    for (BasicBlock* block : loop.blocks())
        for (Instruction& i : *block) {
            auto* store = dyn_cast<StoreInst>(&i);
            if (!store || layout.getTypeStoreSize(store->getValueOperand()->getType()) != element_bytes ||
                store->getAlign().value() < element_bytes)
                continue;
            const auto* walk = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(store->getPointerOperand()));
            if (!walk || walk->getLoop() != &loop || !walk->isAffine()) continue;
            const auto* step = dyn_cast<SCEVConstant>(walk->getStepRecurrence(evolution));
            if (!step || step->getAPInt() != element_bytes) continue;
            const SCEV* start = walk->getStart();
            const auto* base = dyn_cast<SCEVUnknown>(evolution.getPointerBase(start));
            const SCEV* offset = base ? evolution.removePointerBase(start) : nullptr;
            if (base && base->getValue()->getPointerAlignment(layout).value() >= line_bytes &&
                evolution.getMinTrailingZeros(offset) >= Log2_32(line_bytes))
                return nullptr;
            return start;
        }
    return nullptr;
}

} // namespace

peeled_loop peel_to_cache_line(Loop& loop, const LoopAccessInfo& accesses, unsigned lanes, LoopInfo& loops,
                               ScalarEvolution& evolution, DominatorTree& dominators) {
    const SCEV* back_edges = evolution.getBackedgeTakenCount(&loop);
    const unsigned element_bytes = line_bytes / lanes;
    if (lanes * element_bytes != line_bytes || element_bytes < 4 || accesses.getRuntimePointerChecking()->Need ||
        !accesses.canVectorizeMemory() || !accesses.getDepChecker().isSafeForAnyVectorWidth() ||
        evolution.getUnsignedRangeMax(back_edges).ult(shortest_iterations))
        return {};
    const SCEV* start = find_skewed(loop, element_bytes, evolution);
    BasicBlock* before = loop.getLoopPreheader();
    SCEVExpander expander = expander_of(evolution, *before->getModule());
    if (!start || !expander.isSafeToExpandAt(start, before->getTerminator()) ||
        !expander.isSafeToExpandAt(back_edges, before->getTerminator()))
        return {};

    for (PHINode& phi : loop.getHeader()->phis()) {
        InductionDescriptor induction;
        const bool is_induction = InductionDescriptor::isInductionPHI(&phi, &loop, &evolution, induction);
        if (!is_induction || !induction.getConstIntStepValue() || induction.getConstIntStepValue()->getBitWidth() > 64)
            return {};
    }

    Value* count = expander.expandCodeFor(back_edges, back_edges->getType(), before->getTerminator());
    BasicBlock* measure = SplitBlock(before, before->getTerminator(), &dominators, &loops);
    BasicBlock* preheader = SplitBlock(measure, measure->getTerminator(), &dominators, &loops);
    IRBuilder<> builder(before->getTerminator());
    Value* is_long = builder.CreateICmpUGE(builder.CreateFreeze(count),
                                           ConstantInt::get(count->getType(), shortest_iterations));
    auto* test = BranchInst::Create(measure, preheader, is_long);
    ReplaceInstWithInst(before->getTerminator(), test);
    Value* address = expander.expandCodeFor(start, PointerType::getUnqual(before->getContext()),
                                            measure->getTerminator());
    builder.SetInsertPoint(measure->getTerminator());
    Value* low_bits = builder.CreateTrunc(builder.CreatePtrToInt(builder.CreateFreeze(address), builder.getInt64Ty()),
                                          builder.getInt32Ty());
    Value* skewed = builder.CreateICmpNE(builder.CreateAnd(low_bits, line_bytes - 1), builder.getInt32(0));

    BasicBlock* exit = loop.getExitBlock();
    ValueToValueMapTy map, behind_map;
    SmallVector<BasicBlock*, 8> blocks, behind_blocks;
    Loop* behind = cloneLoopWithPreheader(preheader, measure, &loop, behind_map, ".behind", &loops, &dominators,
                                          behind_blocks);
    remapInstructionsInBlocks(behind_blocks, behind_map);
    auto* after = cast<BasicBlock>(behind_map[preheader]);
    Loop* ahead = cloneLoopWithPreheader(after, measure, &loop, map, ".ahead", &loops, &dominators, blocks);
    remapInstructionsInBlocks(blocks, map);
    auto* first = cast<BasicBlock>(map[preheader]);
    builder.SetInsertPoint(first->getTerminator());
    Value* skew = builder.CreateLShr(builder.CreateAnd(builder.CreateNeg(low_bits), line_bytes - 1),
                                     Log2_32(element_bytes));
    // The mask tells the compiler that they are fewer than a vector's lanes.
    Value* last = builder.CreateAnd(builder.CreateSub(skew, builder.getInt32(1)), lanes - 1);
    auto* gate = BranchInst::Create(first, preheader, skewed);
    ReplaceInstWithInst(measure->getTerminator(), gate);
    cast<BasicBlock>(map[loop.getLoopLatch()])->getTerminator()->replaceSuccessorWith(exit, after);
    for (PHINode& phi : exit->phis()) {
        Value* value = phi.getIncomingValueForBlock(loop.getLoopLatch());
        const auto mapped = behind_map.find(value);
        phi.addIncoming(mapped == behind_map.end() ? value : static_cast<Value*>(mapped->second),
                        cast<BasicBlock>(behind_map[loop.getLoopLatch()]));
    }
    remainder remainders(loops, evolution, dominators);
    builder.SetInsertPoint(after->getTerminator());
    for (PHINode& phi : loop.getHeader()->phis())
        // Not the clone's own last value, which masks would leave unknown.
        cast<PHINode>(behind_map[&phi])
            ->setIncomingValueForBlock(
                after, remainders.advanced(phi, loop, phi.getIncomingValueForBlock(preheader), skew, builder));
    dominators.recalculate(*before->getParent());
    evolution.forgetLoop(&loop);
    if (Loop* around = loop.getParentLoop()) evolution.forgetTopmostLoop(around);
    remainders.count_anew(*ahead, last);
    return {ahead, behind, test, gate};
}

void ask_before_vectors(peeled_loop& peeled, Loop& loop, LoopInfo& loops, DominatorTree& dominators) {
    BasicBlock* begin = peeled.test->getSuccessor(1);
    BasicBlock* measure = peeled.gate->getParent();
    // From `begin` to the vector loop there are checks alone, each of them behind the one before.
    const auto comes_straight = [&](const BasicBlock* block) {
        while (block && block != begin) block = block->getSinglePredecessor();
        return block == begin;
    };
    for (Loop* vector : loops.getLoopsInPreorder()) {
        BasicBlock* preheader = has_property(*vector, "llvm.loop.isvectorized") ? vector->getLoopPreheader() : nullptr;
        BasicBlock* enough = preheader ? preheader->getSinglePredecessor() : nullptr;
        if (!enough || vector->getParentLoop() != loop.getParentLoop() || !comes_straight(enough) ||
            isa<PHINode>(preheader->front()))
            continue;
        auto* ask = BasicBlock::Create(begin->getContext(), "long", begin->getParent(), preheader);
        if (Loop* around = loop.getParentLoop()) around->addBasicBlockToLoop(ask, loops);
        enough->getTerminator()->replaceSuccessorWith(preheader, ask);
        BranchInst::Create(measure, preheader, peeled.test->getCondition(), ask);
        begin->removePredecessor(measure);
        peeled.gate->setSuccessor(1, preheader);
        ReplaceInstWithInst(peeled.test, BranchInst::Create(begin));
        peeled.test = cast<BranchInst>(ask->getTerminator());
        dominators.recalculate(*begin->getParent());
        return;
    }
}

void close_gate(peeled_loop& peeled) { peeled.gate->setCondition(ConstantInt::getFalse(peeled.gate->getContext())); }

} // namespace causeway::simd
