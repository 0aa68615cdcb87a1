// SPDX-License-Identifier: Apache-2.0
// Short loops and remainders as masked vector steps: "less-than-full vectors", section 3 of the paper.
#include "full_vectors.hpp"

#include "alignment_peel.hpp"
#include "kept_loops.hpp"
#include "loop_properties.hpp"
#include "loop_vectoriser.hpp"
#include "remainder.hpp"
#include "report.hpp"
#include "short_rows.hpp"
#include "supported_target.hpp"
#include "vector_functions.hpp"

#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

using namespace llvm;

namespace causeway::simd {

namespace {

cl::opt<bool> all_padded("causeway-simd-padded",
                         cl::desc("Arrays may be read and written up to a whole vector behind their ends"));

class work {
  public:
    work(Function& function, FunctionAnalysisManager& manager)
        : m_vectoriser(function, manager), m_report(m_vectoriser.remarks()), m_padded(is_padded(function)) {}

    /// True if it changed something.
    bool run();

  private:
    bool take(Loop& loop);
    bool take_short(Loop& loop, const loop_shape& shape);
    bool take_long(Loop& loop, const loop_shape& shape);
    short_rows clone_rows(Loop& loop, unsigned longest, unsigned multiple);
    bool take_rows(short_rows& rows, const loop_shape& shape, bool pads);
    const char* take_rest(const split_loop& split, const SCEV* back_edges, bool may_wrap, const loop_shape& shape,
                          bool pads, bool repeats);
    const char* vectorise_rest(Loop& loop, split_loop split, unsigned last_width, bool whole_vectors,
                               const SCEV* repeats_of = nullptr);
    void take_back_promises();

    loop_vectoriser m_vectoriser;
    report m_report;
    bool m_padded;
};

bool work::take_short(Loop& loop, const loop_shape& shape) {
    const LoopAccessInfo& accesses = m_vectoriser.accesses().getInfo(loop);
    if (!accesses.canVectorizeMemory() || !accesses.getDepChecker().isSafeForAnyVectorWidth()) {
        m_report.left(loop, "Dependence", "iterations may depend on each other by memory");
        return false;
    }
    const report::loop_location where(loop);
    const unsigned width = sufficient_width(shape.trip_count, shape.lanes);
    const unsigned steps = (shape.trip_count + width - 1) / width;
    const bool pads = m_padded && !shape.reduces && !shape.backwards && shape.trip_count % width;
    if (pads) {
        remainder(m_vectoriser.loops(), m_vectoriser.evolution(), m_vectoriser.dominators())
            .round_up(loop, shape.trip_count, width);
        m_vectoriser.prepare(loop);
    }
    if (!m_vectoriser.vectorise(loop, width, 1, !pads)) {
        m_report.left(loop, "Refused", "the vectoriser refuses it");
        return pads;
    }
    m_report.done(where, "Short",
                  Twine(shape.trip_count) + " iterations are " + Twine(steps) + (steps == 1 ? " step" : " steps") +
                      " of " + Twine(width) + " lanes" +
                      (pads                       ? ", the last one into padding"
                       : shape.trip_count % width ? ", the last one masked"
                                                  : ""));
    return true;
}

// A remainder that is a small part of the time is not worth its code.
bool is_long_by_profile(Loop& loop, unsigned lanes) {
    constexpr unsigned long_in_vectors = 256;
    const auto estimate = getLoopEstimatedTripCount(&loop);
    return estimate && *estimate >= long_in_vectors * lanes;
}

// Without checks at run time.
bool is_independent(const LoopAccessInfo& accesses) {
    return accesses.canVectorizeMemory() && accesses.getDepChecker().isSafeForAnyVectorWidth() &&
           !accesses.getRuntimePointerChecking()->Need && accesses.getPSE().getPredicate().isAlwaysTrue();
}

// Whether some iterations may run once more: what they read is never written. A masked store would do for the last
// ones, but delays the next load of what lies behind the array.
bool may_repeat(Loop& loop, const loop_shape& shape, const LoopAccessInfo& accesses) {
    // For such a loop nobody asked.
    if (loop.isAnnotatedParallel() || shape.reduces || shape.in_place || !is_independent(accesses)) return false;
    const auto* dependences = accesses.getDepChecker().getDependences();
    return dependences && dependences->empty();
}

// Twice as many as the compiler takes at once: with fewer in a row, its own vector loop gains nothing.
constexpr unsigned vectors_of_short_rows = 8;

// Whole vectors first, where the vector loop takes several at once, then one masked. If iterations may repeat, of a
// loop with `repeats_of` back edges in all, the last is a whole one that begins earlier. Says what became of `loop`.
const char* work::vectorise_rest(Loop& loop, split_loop split, unsigned last_width, bool whole_vectors,
                                 const SCEV* repeats_of) {
    remainder::promise_independence(loop);
    m_vectoriser.prepare(loop);
    if (!whole_vectors) {
        if (!m_vectoriser.vectorise(loop, last_width, 1, true)) return nullptr;
        return repeats_of ? ", the rest by a vector that begins earlier" : ", the rest by a masked step";
    }
    const SCEV* back_edges = m_vectoriser.evolution().getBackedgeTakenCount(&loop);
    if (!m_vectoriser.vectorise(loop, split.width, 1, false)) return nullptr;
    if (!m_vectoriser.is_there(loop)) return ", the rest by single vectors";
    remainder remainders(m_vectoriser.loops(), m_vectoriser.evolution(), m_vectoriser.dominators());
    split = find_split(loop, m_vectoriser.loops());
    Loop* last = split ? remainders.make(split, back_edges, false, 1, repeats_of ? last_width : 0, repeats_of)
                       : nullptr;
    if (!last) return ", the rest by single vectors";
    m_vectoriser.prepare(*last);
    if (!m_vectoriser.vectorise(*last, last_width, 1, true)) return ", the rest by single vectors";
    remainders.continue_in_lanes(split);
    return repeats_of ? ", the rest by single vectors, of which the last begins earlier"
                      : ", the rest by single vectors and a masked step";
}

short_rows work::clone_rows(Loop& loop, unsigned longest, unsigned multiple) {
    m_vectoriser.prepare(*loop.getParentLoop());
    const short_rows rows = clone_for_short_rows(loop, longest, multiple, m_vectoriser.loops(),
                                                 m_vectoriser.evolution(), m_vectoriser.dominators());
    if (!rows) return rows;
    m_vectoriser.accesses().clear();
    m_vectoriser.prepare(*loop.getParentLoop());
    m_vectoriser.prepare(*rows.nest);
    remainder::promise_independence(*rows.row);
    return rows;
}

// False if nothing becomes of them, and their nest does not run.
bool work::take_rows(short_rows& rows, const loop_shape& shape, bool pads) {
    const unsigned half = shape.lanes / 2;
    if (short_rows shortest = !pads && half >= 4 ? clone_rows(*rows.row, half, 1) : short_rows()) {
        if (m_vectoriser.vectorise(*shortest.row, half, 1, true))
            hoist_masks(shortest, m_vectoriser.evolution());
        else
            close_gate(shortest);
    }
    const split_loop vectors{nullptr, nullptr, nullptr, nullptr, shape.lanes, vectors_of_short_rows * shape.lanes};
    const bool taken = pads ? m_vectoriser.vectorise(*rows.row, shape.lanes, 1, false)
                            : vectorise_rest(*rows.row, vectors, shape.lanes, true) != nullptr;
    taken ? hoist_masks(rows, m_vectoriser.evolution()) : close_gate(rows);
    return taken;
}

// What became of the iterations that the vector loop leaves; null if nothing.
const char* work::take_rest(const split_loop& split, const SCEV* back_edges, bool may_wrap, const loop_shape& shape,
                            bool pads, bool repeats) {
    remainder remainders(m_vectoriser.loops(), m_vectoriser.evolution(), m_vectoriser.dominators());
    const unsigned left = shape.trip_count % split.step;
    const unsigned last = left % split.width;
    const bool repeats_last = repeats && (last != 0 || shape.trip_count == 0);
    const bool whole_vectors = split.step > split.width && (left == 0 || left >= split.width);
    const unsigned last_width = last != 0 && (repeats || !whole_vectors) ? sufficient_width(last, split.width)
                                                                         : split.width;
    Loop* rest = remainders.make(split, back_edges, may_wrap, pads ? split.width : 1,
                                 repeats_last && !whole_vectors ? last_width : 0, repeats_last ? back_edges : nullptr);
    if (!rest) return nullptr;
    if (pads) {
        remainder::promise_independence(*rest);
        m_vectoriser.prepare(*rest);
        return m_vectoriser.vectorise(*rest, split.width, 1, false)
                   ? ", the rest by single vectors, the last one into padding"
                   : nullptr;
    }
    const char* became = vectorise_rest(*rest, split, last_width, whole_vectors, repeats_last ? back_edges : nullptr);
    if (became && shape.reduces) remainders.continue_in_lanes(split);
    return became;
}

bool work::take_long(Loop& loop, const loop_shape& shape) {
    if (is_long_by_profile(loop, shape.lanes)) {
        m_report.left(loop, "Profile", "its profile says that it is long, and the rest a small part of it");
        return false;
    }
    const SCEV* back_edges = m_vectoriser.evolution().getBackedgeTakenCount(&loop);
    const bool may_wrap = m_vectoriser.evolution()
                              .getUnsignedRangeMax(m_vectoriser.evolution().applyLoopGuards(back_edges, &loop))
                              .isMaxValue();
    // A masked store is not forwarded to a load that follows soon, as in a loop in place that runs again on a short
    // array.
    const bool pads = m_padded && !shape.reduces && !shape.backwards;
    const bool masks = pads || !shape.in_place;
    const bool repeats = (shape.trip_count != 0 || shape.slow_masks) && !pads &&
                         may_repeat(loop, shape, m_vectoriser.accesses().getInfo(loop));
    const report::loop_location where(loop);
    short_rows rows;
    if (shape.trip_count == 0 && masks && !repeats && loop.getParentLoop() &&
        is_independent(m_vectoriser.accesses().getInfo(loop))) {
        rows = clone_rows(loop, vectors_of_short_rows * shape.lanes, pads ? shape.lanes : 1);
        back_edges = m_vectoriser.evolution().getBackedgeTakenCount(&loop);
    }
    peeled_loop peeled;
    if (shape.trip_count == 0 && shape.stores && !shape.reduces && !shape.backwards) {
        peeled = peel_to_cache_line(loop, m_vectoriser.accesses().getInfo(loop), shape.lanes, m_vectoriser.loops(),
                                    m_vectoriser.evolution(), m_vectoriser.dominators());
        if (peeled) {
            m_vectoriser.accesses().clear();
            for (Loop* each : {peeled.ahead, peeled.behind, &loop}) m_vectoriser.prepare(*each);
            back_edges = m_vectoriser.evolution().getBackedgeTakenCount(&loop);
        }
    }
    if (!m_vectoriser.vectorise(loop, masks ? epilogue::scalar : epilogue::compilers_choice)) {
        if (peeled) close_gate(peeled);
        if (rows) close_gate(rows);
        m_report.left(loop, "NotVectorised",
                      "the compiler does not vectorise it (-Rpass-analysis=loop-vectorize says why)");
        return peeled || rows;
    }
    if (peeled && !m_vectoriser.is_there(loop)) {
        close_gate(peeled);
        peeled = {};
    }
    if (peeled) {
        ask_before_vectors(peeled, loop, m_vectoriser.loops(), m_vectoriser.dominators());
        remainder::promise_independence(*peeled.ahead);
        m_vectoriser.vectorise(*peeled.ahead, shape.lanes, 1, true);
        m_vectoriser.vectorise(*peeled.behind, epilogue::compilers_choice);
    }
    const bool has_rows = rows && take_rows(rows, shape, pads);
    const std::string elsewhere = (Twine(peeled ? ", aligned where it is long" : "") +
                                   (has_rows ? ", short rows in a nest of their own" : ""))
                                      .str();
    if (!masks) {
        if (peeled)
            m_report.done(where, "Aligned", Twine("the compiler's vectors") + elsewhere);
        else
            m_report.left(
                where, "InPlace",
                "a masked store would delay the next load of an array that is read and written (padding helps)");
        return true;
    }
    const split_loop split = m_vectoriser.is_there(loop) ? find_split(loop, m_vectoriser.loops()) : split_loop();
    const unsigned left = split ? shape.trip_count % split.step : 0;
    if (!split || split.width < 4 || (shape.trip_count != 0 && left == 0)) {
        m_report.left(where, "NothingLeft", "the compiler's own vectors leave nothing for masks to do");
        return true;
    }
    const std::string vectors = (Twine(split.step / split.width) + " x " + Twine(split.width) + " lanes").str();
    const char* became = take_rest(split, back_edges, may_wrap, shape, pads, repeats);
    if (became)
        m_report.done(where, "Remainder", Twine("vectors of ") + vectors + became + elsewhere);
    else
        m_report.left(where, "Form", "the form of what is left is not known");
    return true;
}

bool let_go(Loop& loop) {
    if (!has_property(loop, kept_property)) return false;
    remove_property(loop, kept_property);
    remove_property(loop, "llvm.loop.unroll.disable");
    return true;
}

bool work::take(Loop& loop) {
    if (!is_supported_target(*loop.getHeader()->getParent())) {
        m_report.left(loop, "Target", other_target);
        return false;
    }
    const bool kept = let_go(loop);
    m_vectoriser.prepare(loop);
    const loop_shape shape = examine(loop, m_vectoriser.evolution(), m_vectoriser.dominators(), m_vectoriser.target());
    if (shape.why_not) {
        m_report.left(loop, "Shape", shape.why_not);
        return kept;
    }
    if (shape.trip_count != 0 && is_short(shape.trip_count, shape.lanes) && (m_padded || !shape.slow_masks))
        return take_short(loop, shape) || kept;
    return take_long(loop, shape) || kept;
}

// Proved for one width of vectors, so it must not outlive them.
void work::take_back_promises() {
    for (Loop* loop : m_vectoriser.loops().getLoopsInPreorder()) remainder::forget_independence(*loop);
}

bool work::run() {
    SmallVector<Loop*, 16> innermost;
    bool changed = false;
    for (Loop* loop : m_vectoriser.loops().getLoopsInPreorder())
        if (loop->isInnermost())
            innermost.push_back(loop);
        else
            changed |= let_go(*loop);
    for (Loop* loop : innermost) changed |= take(*loop);
    if (changed) take_back_promises();
    return changed || m_vectoriser.has_prepared();
}

} // namespace

bool is_padded(const Function& function) {
    if (all_padded) return true;
    const GlobalVariable* annotations = function.getParent()->getNamedGlobal("llvm.global.annotations");
    const auto* list = annotations ? dyn_cast<ConstantArray>(annotations->getInitializer()) : nullptr;
    if (!list) return false;
    return any_of(list->operands(), [&](const Use& entry) {
        const auto* pair = dyn_cast<ConstantStruct>(entry);
        const auto* text = pair ? dyn_cast<GlobalVariable>(pair->getOperand(1)->stripPointerCasts()) : nullptr;
        const auto* characters = text && text->hasInitializer()
                                     ? dyn_cast<ConstantDataSequential>(text->getInitializer())
                                     : nullptr;
        return characters && characters->isCString() && characters->getAsCString() == "causeway_padded" &&
               pair->getOperand(0)->stripPointerCasts() == &function;
    });
}

PreservedAnalyses full_vectors::run(Function& function, FunctionAnalysisManager& manager) {
    if (function.hasOptSize() || is_for_lanes(function) || manager.getResult<LoopAnalysis>(function).empty())
        return PreservedAnalyses::all();
    return work(function, manager).run() ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace causeway::simd
