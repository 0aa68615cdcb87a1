// SPDX-License-Identifier: Apache-2.0
// Keeps short constant loops from being unrolled into scalar code before the vectoriser has seen them.
#include "kept_loops.hpp"

#include "full_vectors.hpp"
#include "llvm_versions.hpp"
#include "loop_properties.hpp"
#include "loop_shape.hpp"
#include "report.hpp"

#include <llvm/Analysis/CaptureTracking.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

using namespace llvm;

namespace causeway::simd {

namespace {

constexpr unsigned shortest = 5;          // less is the compiler's straight-line vectoriser's
constexpr unsigned shortest_in_place = 16; // masked stores are not forwarded to loads, which costs as much as the
                                           // scalar code
constexpr unsigned longest_unrolled = 64; // what is longer still is a loop when full_vectors runs

// Arrays that unrolling turns into registers: worth more than vectors of them.
bool uses_local_arrays(const Loop& loop) {
    for (const BasicBlock* block : loop.blocks())
        for (const Instruction& i : *block) {
            const Value* address = getLoadStorePointerOperand(&i);
            if (!address) continue;
            const auto* array = dyn_cast<AllocaInst>(getUnderlyingObject(address));
            if (array && !PointerMayBeCaptured(array, true, true)) return true;
        }
    return false;
}

// By how many bytes an address moves from one iteration of `around` to the next: a guess, as casts may wrap.
int64_t stride_in(const SCEV* expression, const Loop& around, ScalarEvolution& evolution) {
    if (const auto* steps = dyn_cast<SCEVAddRecExpr>(expression)) {
        const auto* stride = steps->isAffine() ? dyn_cast<SCEVConstant>(steps->getStepRecurrence(evolution)) : nullptr;
        const bool is_its = steps->getLoop() == &around;
        return (is_its && stride ? stride->getAPInt().getSExtValue() : 0) +
               stride_in(steps->getStart(), around, evolution);
    }
    if (const auto* cast = dyn_cast<SCEVIntegralCastExpr>(expression))
        return stride_in(cast->getOperand(), around, evolution);
    if (const auto* sum = dyn_cast<SCEVAddExpr>(expression)) {
        int64_t stride = 0;
        for (const SCEV* term : sum->operands()) stride += stride_in(term, around, evolution);
        return stride;
    }
    if (const auto* product = dyn_cast<SCEVMulExpr>(expression); product && product->getNumOperands() == 2)
        if (const auto* factor = dyn_cast<SCEVConstant>(product->getOperand(0));
            factor && factor->getAPInt().isSignedIntN(32))
            return factor->getAPInt().getSExtValue() * stride_in(product->getOperand(1), around, evolution);
    return 0;
}

// A sum inside loops of which one walks through what it reads: unrolled, that one's iterations are the better lanes, as
// no sum is folded then.
bool sums_for_outer_lanes(const Loop& loop, ScalarEvolution& evolution) {
    const DataLayout& layout = loop.getHeader()->getModule()->getDataLayout();
    for (const Loop* around = loop.getParentLoop(); around; around = around->getParentLoop()) {
        bool walks = false, fits = true;
        for (BasicBlock* block : loop.blocks())
            for (Instruction& i : *block)
                if (auto* load = dyn_cast<LoadInst>(&i)) {
                    const int64_t size = static_cast<int64_t>(layout.getTypeStoreSize(load->getType()));
                    const int64_t stride = stride_in(evolution.getSCEV(load->getPointerOperand()), *around, evolution);
                    walks |= stride != 0;
                    fits &= stride == 0 || stride == size || stride == -size;
                }
        if (fits && walks) return true;
        const unsigned trip_count = evolution.getSmallConstantTripCount(around);
        if (trip_count == 0 || trip_count > longest_unrolled) return false;
    }
    return false;
}

bool asks_for_unrolling(const Loop& loop) {
    return has_property(loop, "llvm.loop.unroll.full") || has_property(loop, "llvm.loop.unroll.enable") ||
           has_property(loop, "llvm.loop.unroll.count") || has_property(loop, "llvm.loop.unroll.disable");
}

void keep(Loop& loop) {
    set_property(loop, "llvm.loop.unroll.disable");
    set_property(loop, kept_property);
}

// Rows of one length, known at run time: full_vectors makes a nest for short ones, which has to be there still.
bool is_around_rows(const Loop& loop, LoopStandardAnalysisResults& known) {
    const unsigned trip_count = known.SE.getSmallConstantTripCount(&loop);
    if (trip_count == 0 || trip_count > longest_unrolled || loop.getSubLoops().size() != 1 || asks_for_unrolling(loop))
        return false;
    Loop& row = *loop.getSubLoops().front();
    if (!row.isInnermost() || known.SE.getSmallConstantTripCount(&row) != 0 || uses_local_arrays(loop)) return false;
    const loop_shape shape = examine(row, known.SE, known.DT, known.TTI);
    if (shape.why_not || shape.in_place || !known.SE.isLoopInvariant(known.SE.getBackedgeTakenCount(&row), &loop))
        return false;
    const LoopAccessInfo accesses = accesses_of(row, known);
    return accesses.canVectorizeMemory() && accesses.getDepChecker().isSafeForAnyVectorWidth() &&
           !accesses.getRuntimePointerChecking()->Need;
}

} // namespace

bool is_short(unsigned trip_count, unsigned lanes) {
    return trip_count >= shortest && trip_count % lanes != 0 && trip_count < 8 * lanes;
}

PreservedAnalyses kept_loops::run(Loop& loop, LoopAnalysisManager&, LoopStandardAnalysisResults& known, LPMUpdater&) {
    const Function& function = *loop.getHeader()->getParent();
    if (!loop.isInnermost() && !function.hasOptSize() && is_around_rows(loop, known)) keep(loop);
    const unsigned trip_count = loop.isInnermost() ? known.SE.getSmallConstantTripCount(&loop) : 0;
    if (function.hasOptSize() || trip_count < shortest || trip_count > longest_unrolled)
        return PreservedAnalyses::all();
    // What is not kept is unrolled before full_vectors could say why.
    OptimizationRemarkEmitter remarks(&function);
    report report(remarks);
    const loop_shape shape = examine(loop, known.SE, known.DT, known.TTI);
    if (shape.why_not) {
        report.left(loop, "Shape", shape.why_not);
        return PreservedAnalyses::all();
    }
    if (!is_short(trip_count, shape.lanes)) return PreservedAnalyses::all();
    if (shape.slow_masks && !is_padded(function)) {
        report.left(loop, "SlowMasks", "masked stores of AVX2 are slow on the processor that is compiled for");
        return PreservedAnalyses::all();
    }
    if (shape.in_place && trip_count < shortest_in_place) {
        report.left(loop, "InPlace", "a masked store would delay the next load of an array that is read and written");
        return PreservedAnalyses::all();
    }
    if (shape.reduces && !shape.stores && sums_for_outer_lanes(loop, known.SE)) {
        report.left(loop, "Sum", "unrolled, it lets a loop around it be made vectors of");
        return PreservedAnalyses::all();
    }
    if (asks_for_unrolling(loop) || uses_local_arrays(loop)) {
        report.left(loop, "Unrolled", "unrolling it is asked for, or turns local arrays into registers");
        return PreservedAnalyses::all();
    }
    const LoopAccessInfo accesses = accesses_of(loop, known);
    if (!accesses.canVectorizeMemory() || !accesses.getDepChecker().isSafeForAnyVectorWidth()) {
        report.left(loop, "Dependence", "iterations may depend on each other by memory");
        return PreservedAnalyses::all();
    }
    keep(loop);
    return PreservedAnalyses::all();
}

} // namespace causeway::simd
