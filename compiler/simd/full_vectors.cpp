// SPDX-License-Identifier: Apache-2.0
// Short loops and remainders as masked vector steps: "less-than-full vectors", section 3 of the paper.
#include "full_vectors.hpp"

#include "kept_loops.hpp"
#include "loop_properties.hpp"
#include "loop_vectoriser.hpp"
#include "report.hpp"

#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/TargetTransformInfo.h>

using namespace llvm;

namespace causeway::simd {

namespace {

class work {
public:
    work(Function &function, FunctionAnalysisManager &manager) : m_vectoriser(function, manager), m_report(m_vectoriser.remarks()) {}

    /// True if it changed something.
    bool run();

private:
    bool take(Loop &loop);
    bool take_short(Loop &loop, const loop_shape &shape);

    loop_vectoriser m_vectoriser;
    report m_report;
};

bool work::take_short(Loop &loop, const loop_shape &shape) {
    const LoopAccessInfo &accesses = m_vectoriser.accesses().getInfo(loop);
    if (!accesses.canVectorizeMemory() || !accesses.getDepChecker().isSafeForAnyVectorWidth()) {
        m_report.left(loop, "Dependence", "iterations may depend on each other by memory");
        return false;
    }
    const unsigned width = sufficient_width(shape.trip_count, shape.lanes);
    const unsigned steps = (shape.trip_count + width - 1) / width;
    if (!m_vectoriser.vectorise(loop, width, true)) {
        m_report.left(loop, "Refused", "the vectoriser refuses it");
        return false;
    }
    m_report.done(loop, "Short", Twine(shape.trip_count) + " iterations are " + Twine(steps) + (steps == 1 ? " step" : " steps") +
                                     " of " + Twine(width) + " lanes" +
                                     (shape.trip_count % width ? ", the last one masked" : ""));
    return true;
}

bool work::take(Loop &loop) {
    const bool kept = has_property(loop, kept_property);
    if (kept) {
        remove_property(loop, kept_property);
        remove_property(loop, "llvm.loop.unroll.disable");
    }
    m_vectoriser.prepare(loop);
    const loop_shape shape = examine(loop, m_vectoriser.evolution(), m_vectoriser.dominators(), m_vectoriser.target());
    if (shape.why_not) {
        m_report.left(loop, "Shape", shape.why_not);
        return kept;
    }
    if (shape.trip_count != 0 && is_short(shape.trip_count, shape.lanes))
        return take_short(loop, shape) || kept;
    return kept;
}

bool work::run() {
    SmallVector<Loop *, 16> innermost;
    for (Loop *loop : m_vectoriser.loops().getLoopsInPreorder())
        if (loop->isInnermost())
            innermost.push_back(loop);
    bool changed = false;
    for (Loop *loop : innermost)
        changed |= take(*loop);
    return changed;
}

} // namespace

PreservedAnalyses full_vectors::run(Function &function, FunctionAnalysisManager &manager) {
    if (function.hasOptSize() || manager.getResult<LoopAnalysis>(function).empty())
        return PreservedAnalyses::all();
    return work(function, manager).run() ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace causeway::simd
