// SPDX-License-Identifier: Apache-2.0
// What the vectoriser left as a scalar loop, made ready to be vectorised itself.
//
// LLVM 19 splits a loop so, where "checks" are there when pointers may overlap:
//
//     first: n < step? ----------------------+
//     checks ----------------------------+   |
//     vector loop -> middle -> exit      |   |
//                       |                |   |
//                       +--> preheader <-+---+
//                            scalar loop -> exit
#include "remainder.hpp"

#include "llvm_versions.hpp"
#include "loop_properties.hpp"

#include <llvm/Analysis/IVDescriptors.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

using namespace llvm;

namespace causeway::simd {

namespace {

constexpr const char* promise_property = "causeway.simd.independent";
constexpr const char* parallel_property = "llvm.loop.parallel_accesses";

// Values of an interleaved group have more lanes, none have fewer.
unsigned lanes_of(const Loop& vector) {
    unsigned lanes = 0;
    for (const BasicBlock* block : vector.blocks())
        for (const Instruction& i : *block) {
            const auto* type = dyn_cast<FixedVectorType>(isa<StoreInst>(i) ? i.getOperand(0)->getType() : i.getType());
            if (type && (lanes == 0 || type->getNumElements() < lanes)) lanes = type->getNumElements();
        }
    return lanes;
}

} // namespace

split_loop find_split(Loop& scalar, LoopInfo& loops) {
    BasicBlock* preheader = scalar.getLoopPreheader();
    if (!preheader) return {};
    for (BasicBlock* middle : predecessors(preheader)) {
        BasicBlock* latch = middle->getSinglePredecessor();
        Loop* vector = latch ? loops.getLoopFor(latch) : nullptr;
        if (!vector || vector == loops.getLoopFor(middle) || vector->getLoopLatch() != latch ||
            !has_property(*vector, "llvm.loop.isvectorized"))
            continue;
        const auto* branch = dyn_cast<BranchInst>(latch->getTerminator());
        const auto* test = branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
        const auto* count = test ? dyn_cast<BinaryOperator>(test->getOperand(0)) : nullptr;
        if (!count || count->getOpcode() != Instruction::Add || test->getPredicate() != CmpInst::ICMP_EQ) return {};
        const auto* counter = dyn_cast<PHINode>(count->getOperand(0));
        const auto* step = dyn_cast<ConstantInt>(count->getOperand(1));
        const BasicBlock* before = vector->getLoopPreheader();
        if (!counter || !step || !before || counter->getParent() != vector->getHeader()) return {};
        const auto* start = dyn_cast<ConstantInt>(counter->getIncomingValueForBlock(before));
        const unsigned width = lanes_of(*vector);
        const uint64_t iterations = step->getValue().getLimitedValue(1u << 16);
        if (!start || !start->isZero() || width < 2 || !isPowerOf2_64(iterations) || iterations >= 1u << 16 ||
            iterations % width != 0)
            return {};
        return {vector, &scalar, middle, test->getOperand(1), width, static_cast<unsigned>(iterations)};
    }
    return {};
}

/// The ways around the vector loop.
struct remainder::bypass {
    BasicBlock* first = nullptr;         // asks whether the vector loop would run at all
    SmallVector<BasicBlock*, 2> checks; // ask whether it may
};

bool remainder::find_bypass(const split_loop& split, bypass& found) const {
    BasicBlock* preheader = split.scalar->getLoopPreheader();
    for (BasicBlock* block : predecessors(preheader)) {
        if (block == split.middle) continue;
        const auto* branch = dyn_cast<BranchInst>(block->getTerminator());
        if (!branch || !branch->isConditional() || branch->getSuccessor(0) != preheader) return false;
        found.checks.push_back(block);
    }
    if (found.checks.empty()) return true;
    sort(found.checks, [&](BasicBlock* a, BasicBlock* b) { return a != b && m_dominators.dominates(a, b); });
    found.first = found.checks.front();
    found.checks.erase(found.checks.begin());
    const auto* condition = cast<BranchInst>(found.first->getTerminator())->getCondition();
    if (isa<ConstantInt>(condition)) return cast<ConstantInt>(condition)->isZero();
    const auto* test = dyn_cast<ICmpInst>(condition);
    if (!test || !isa<ConstantInt>(test->getOperand(1)) ||
        (test->getPredicate() != CmpInst::ICMP_ULT && test->getPredicate() != CmpInst::ICMP_ULE))
        return false;
    for (BasicBlock* check : found.checks)
        for (const Instruction& i : *check)
            if (!i.isTerminator() && (isa<PHINode>(i) || !isSafeToSpeculativelyExecute(&i))) return false;
    return true;
}

// The scalar loop stays for runs that fail a check; its clone takes the others.
Loop* remainder::clone(const split_loop& split, const bypass& bypass, Value* keeps_scalar) {
    BasicBlock* preheader = split.scalar->getLoopPreheader();
    BasicBlock* exit = split.scalar->getExitBlock();
    BasicBlock* first = bypass.first;
    Instruction* end = first->getTerminator();
    LLVMContext& context = first->getContext();
    for (BasicBlock* check : bypass.checks) {
        for (Instruction& i : make_early_inc_range(*check))
            if (!i.isTerminator()) i.moveBefore(end);
        IRBuilder<> builder(end);
        Value* fails = builder.CreateFreeze(cast<BranchInst>(check->getTerminator())->getCondition());
        keeps_scalar = keeps_scalar ? builder.CreateOr(keeps_scalar, fails) : fails;
    }

    ValueToValueMapTy map;
    SmallVector<BasicBlock*, 8> blocks;
    Loop* rest = cloneLoopWithPreheader(preheader, first, split.scalar, map, ".rest", &m_loops, &m_dominators, blocks);
    remapInstructionsInBlocks(blocks, map);
    auto* rest_preheader = cast<BasicBlock>(map[preheader]);

    auto* short_run = BasicBlock::Create(context, "short.run", first->getParent(), rest_preheader);
    if (Loop* around = m_loops.getLoopFor(first)) around->addBasicBlockToLoop(short_run, m_loops);
    BranchInst::Create(preheader, rest_preheader, keeps_scalar, short_run);
    cast<BranchInst>(end)->setSuccessor(0, short_run);
    preheader->replacePhiUsesWith(first, short_run);
    rest_preheader->replacePhiUsesWith(first, short_run);
    for (PHINode& phi : make_early_inc_range(rest_preheader->phis()))
        for (BasicBlock* check : bypass.checks) phi.removeIncomingValue(check, false);
    split.middle->getTerminator()->replaceSuccessorWith(preheader, rest_preheader);
    for (PHINode& phi : make_early_inc_range(preheader->phis())) phi.removeIncomingValue(split.middle, false);

    BasicBlock* latch = split.scalar->getLoopLatch();
    for (PHINode& phi : exit->phis()) {
        Value* value = phi.getIncomingValueForBlock(latch);
        const auto mapped = map.find(value);
        phi.addIncoming(mapped == map.end() ? value : static_cast<Value*>(mapped->second),
                        cast<BasicBlock>(map[latch]));
    }
    m_dominators.recalculate(*first->getParent());
    return rest;
}

Value* remainder::advanced(PHINode& phi, Loop& loop, Value* start, Value* iterations, IRBuilderBase& builder,
                           bool may_go_back) {
    InductionDescriptor induction;
    if (!InductionDescriptor::isInductionPHI(&phi, &loop, &m_evolution, induction)) return nullptr;
    const ConstantInt* step = induction.getConstIntStepValue();
    if (!step || step->getBitWidth() > 64) return nullptr;
    Type* type = phi.getType()->isPointerTy() ? builder.getInt64Ty() : phi.getType();
    if (!type->isIntegerTy()) return nullptr;
    Value* offset = builder.CreateMul(may_go_back ? builder.CreateSExtOrTrunc(iterations, type)
                                                  : builder.CreateZExtOrTrunc(iterations, type),
                                      ConstantInt::get(type, step->getSExtValue(), true));
    if (phi.getType()->isPointerTy()) return builder.CreatePtrAdd(start, offset);
    const auto* increment = dyn_cast<BinaryOperator>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
    const bool adds = increment && increment->getOpcode() == Instruction::Add;
    return builder.CreateAdd(start, offset, "",
                             adds && increment->hasNoUnsignedWrap() && step->getSExtValue() > 0 && !may_go_back,
                             adds && increment->hasNoSignedWrap());
}

// Inductions become functions of one 32-bit counter: one comparison then makes the mask of 16 lanes.
void remainder::replace_inductions(Loop& loop, PHINode& counter, bool may_go_back) {
    BasicBlock* header = loop.getHeader();
    BasicBlock* preheader = loop.getLoopPreheader();
    SmallVector<WeakVH, 4> phis;
    for (PHINode& phi : header->phis())
        if (&phi != &counter) phis.push_back(&phi);
    for (const WeakVH& each : phis) {
        auto* phi = cast_or_null<PHINode>(each);
        if (!phi) continue; // went with another that it alone needed
        // Anew each time: in a loop of one block, the first instruction may go with its induction.
        IRBuilder<> builder(header, header->getFirstInsertionPt());
        Value* value = advanced(*phi, loop, phi->getIncomingValueForBlock(preheader), &counter, builder, may_go_back);
        if (!value) continue;
        m_evolution.forgetValue(phi);
        phi->replaceAllUsesWith(value);
        RecursivelyDeleteDeadPHINode(phi);
    }
}

void remainder::count_anew(Loop& loop, Value* last, bool may_go_back) {
    BasicBlock* header = loop.getHeader();
    BasicBlock* latch = loop.getLoopLatch();
    IRBuilder<> builder(header, header->begin());
    PHINode* counter = builder.CreatePHI(builder.getInt32Ty(), 2);
    auto* branch = cast<BranchInst>(latch->getTerminator());
    builder.SetInsertPoint(branch);
    counter->addIncoming(builder.getInt32(0), loop.getLoopPreheader());
    counter->addIncoming(builder.CreateAdd(counter, builder.getInt32(1), "", !may_go_back, true), latch);
    Value* before = branch->getCondition();
    branch->setCondition(
        builder.CreateICmp(branch->getSuccessor(0) == header ? CmpInst::ICMP_NE : CmpInst::ICMP_EQ, counter, last));
    m_evolution.forgetLoop(&loop);
    replace_inductions(loop, *counter, may_go_back);
    RecursivelyDeleteTriviallyDeadInstructions(before);
    m_evolution.forgetLoop(&loop);
}

void remainder::round_up(Loop& loop, unsigned trip_count, unsigned width) {
    count_anew(loop,
               ConstantInt::get(Type::getInt32Ty(loop.getHeader()->getContext()), (trip_count - 1) | (width - 1)));
}

void remainder::begin_earlier(Loop& loop, Value* iterations) {
    BasicBlock* preheader = loop.getLoopPreheader();
    IRBuilder<> builder(preheader->getTerminator());
    for (PHINode& phi : loop.getHeader()->phis()) {
        InductionDescriptor induction;
        if (!InductionDescriptor::isInductionPHI(&phi, &loop, &m_evolution, induction)) continue;
        Value* start = phi.getIncomingValueForBlock(preheader);
        Type* type = phi.getType()->isPointerTy() ? builder.getInt64Ty() : phi.getType();
        Value* offset = builder.CreateNeg(
            builder.CreateMul(builder.CreateZExtOrTrunc(iterations, type),
                              ConstantInt::get(type, induction.getConstIntStepValue()->getSExtValue(), true)));
        phi.setIncomingValueForBlock(preheader, phi.getType()->isPointerTy() ? builder.CreatePtrAdd(start, offset)
                                                                             : builder.CreateAdd(start, offset));
    }
}

namespace {

bool steps_are_constant(Loop& loop, ScalarEvolution& evolution) {
    return all_of(loop.getHeader()->phis(), [&](PHINode& phi) {
        InductionDescriptor induction;
        return !InductionDescriptor::isInductionPHI(&phi, &loop, &evolution, induction) ||
               induction.getConstIntStepValue();
    });
}

} // namespace

Loop* remainder::make(const split_loop& split, const SCEV* back_edges, bool may_wrap, unsigned multiple, unsigned whole,
                      const SCEV* in_all) {
    bypass bypass;
    if (!split.scalar->getExitBlock() || !split.scalar->getLoopLatch() || !find_bypass(split, bypass)) return nullptr;
    if (in_all && !steps_are_constant(*split.scalar, m_evolution)) return nullptr;
    for (const BasicBlock* block : split.scalar->blocks())
        for (const Instruction& i : *block)
            if (i.hasMetadata(LLVMContext::MD_access_group) && !split.scalar->isAnnotatedParallel()) return nullptr;
    SCEVExpander expander = expander_of(m_evolution, *split.scalar->getHeader()->getModule());
    BasicBlock* preheader = split.scalar->getLoopPreheader();
    if (!expander.isSafeToExpandAt(back_edges, (bypass.first ? bypass.first : preheader)->getTerminator()))
        return nullptr;
    Instruction* before = (bypass.first ? bypass.first : preheader)->getTerminator();
    if (whole && !expander.isSafeToExpandAt(in_all, before)) return nullptr;
    Value* count = expander.expandCodeFor(back_edges, back_edges->getType(), before);

    Value* keeps_scalar = nullptr;
    if (bypass.first) {
        auto* branch = cast<BranchInst>(bypass.first->getTerminator());
        if (auto* test = dyn_cast<ICmpInst>(branch->getCondition())) {
            IRBuilder<> builder(branch);
            // The vectoriser may ask for more iterations to make up for its checks; masked steps need none.
            test->setOperand(1, ConstantInt::get(test->getOperand(1)->getType(), split.step));
            // 2^bits iterations are counted as none, and come here.
            if (may_wrap && back_edges->getType()->getIntegerBitWidth() <= split.done->getType()->getIntegerBitWidth())
                keeps_scalar = builder.CreateICmpUGE(builder.CreateFreeze(count),
                                                     ConstantInt::get(count->getType(), split.step));
            if (whole && !isa<SCEVConstant>(in_all)) {
                Value* total = builder.CreateFreeze(expander.expandCodeFor(in_all, in_all->getType(), branch));
                Value* too_few = builder.CreateICmpULT(total, ConstantInt::get(total->getType(), whole - 1));
                keeps_scalar = keeps_scalar ? builder.CreateOr(keeps_scalar, too_few) : too_few;
            }
        }
    }
    Loop* rest = split.scalar;
    if (keeps_scalar || !bypass.checks.empty()) rest = clone(split, bypass, keeps_scalar);

    preheader = rest->getLoopPreheader();
    IRBuilder<> builder(preheader, preheader->begin());
    auto* done = builder.CreatePHI(split.done->getType(), 2);
    for (BasicBlock* before : predecessors(preheader))
        done->addIncoming(before == split.middle ? split.done : Constant::getNullValue(done->getType()), before);
    builder.SetInsertPoint(preheader->getTerminator());
    // Fewer than `step` iterations are left, so the higher bits say nothing: without them the compiler knows it, too.
    Value* left = builder.CreateSub(builder.CreateZExtOrTrunc(count, builder.getInt32Ty()),
                                    builder.CreateZExtOrTrunc(done, builder.getInt32Ty()));
    left = builder.CreateAnd(left, split.step - 1);
    if (multiple > 1) left = builder.CreateOr(left, multiple - 1);
    if (whole) {
        begin_earlier(*rest, builder.CreateSub(builder.getInt32(whole - 1), left));
        left = builder.getInt32(whole - 1);
    }
    count_anew(*rest, left, in_all && !isa<SCEVConstant>(in_all));
    if (Loop* around = rest->getParentLoop()) m_evolution.forgetTopmostLoop(around);
    return rest;
}

namespace {

/// The vectors that `start` becomes lane 0 of, the others being zeros or ones.
SmallVector<InsertElementInst*, 2> lanes_that_start_at(PHINode& start) {
    SmallVector<InsertElementInst*, 2> found;
    for (User* user : start.users()) {
        auto* lanes = dyn_cast<InsertElementInst>(user);
        if (lanes && isa<Constant>(lanes->getOperand(0)) && match(lanes->getOperand(2), PatternMatch::m_ZeroInt()))
            found.push_back(lanes);
    }
    return found;
}

bool folds_lanes(const IntrinsicInst& call) {
    switch (call.getIntrinsicID()) {
    case Intrinsic::vector_reduce_add:
    case Intrinsic::vector_reduce_mul:
    case Intrinsic::vector_reduce_and:
    case Intrinsic::vector_reduce_or:
    case Intrinsic::vector_reduce_xor: return true;
    case Intrinsic::vector_reduce_fadd:
    case Intrinsic::vector_reduce_fmul: return call.hasAllowReassoc() && isa<Constant>(call.getArgOperand(0));
    default: return false;
    }
}

} // namespace

void remainder::continue_in_lanes(const split_loop& split) {
    SmallVector<IntrinsicInst*, 4> folds;
    for (Instruction& i : *split.middle)
        if (auto* fold = dyn_cast<IntrinsicInst>(&i); fold && folds_lanes(*fold)) folds.push_back(fold);
    BasicBlock* edge = nullptr;
    for (IntrinsicInst* fold : folds) {
        Value* lanes = fold->getArgOperand(fold->arg_size() - 1);
        PHINode* sum = nullptr; // what the rest begins with
        PHINode* after = nullptr; // the sum where nothing is left
        for (User* user : fold->users())
            if (auto* phi = dyn_cast<PHINode>(user)) (lanes_that_start_at(*phi).empty() ? after : sum) = phi;
        if (!sum || !after || !fold->hasNUses(2) || after->getBasicBlockIndex(edge ? edge : split.middle) < 0) continue;
        const auto starts = lanes_that_start_at(*sum);
        Value* others = starts.front()->getOperand(0);
        if (any_of(starts, [&](InsertElementInst* start) {
                return start->getType() != lanes->getType() || start->getOperand(0) != others;
            }))
            continue;
        auto* continued = PHINode::Create(lanes->getType(), sum->getNumIncomingValues(), "", sum->getIterator());
        for (unsigned at = 0; at < sum->getNumIncomingValues(); ++at) {
            BasicBlock* before = sum->getIncomingBlock(at);
            Value* value = sum->getIncomingValue(at);
            IRBuilder<> builder(before->getTerminator());
            continued->addIncoming(value == fold ? lanes : builder.CreateInsertElement(others, value, uint64_t{0}),
                                   before);
        }
        for (InsertElementInst* start : starts) {
            start->replaceAllUsesWith(continued);
            start->eraseFromParent();
        }
        // Folded where nothing is left, too, but only there.
        if (!edge) edge = SplitEdge(split.middle, after->getParent(), &m_dominators, &m_loops);
        auto* last = cast<Instruction>(fold->clone());
        last->insertBefore(edge->getTerminator());
        after->setIncomingValueForBlock(edge, last);
    }
}

void remainder::promise_independence(Loop& loop) {
    if (loop.isAnnotatedParallel()) return; // the program promised
    LLVMContext& context = loop.getHeader()->getContext();
    MDNode* group = MDNode::getDistinct(context, {});
    for (BasicBlock* block : loop.blocks())
        for (Instruction& i : *block)
            if (i.mayReadOrWriteMemory()) i.setMetadata(LLVMContext::MD_access_group, group);
    set_property(loop, parallel_property, group);
    set_property(loop, promise_property);
}

void remainder::forget_independence(Loop& loop) {
    if (!has_property(loop, promise_property)) return;
    remove_property(loop, promise_property);
    remove_property(loop, parallel_property);
}

} // namespace causeway::simd
