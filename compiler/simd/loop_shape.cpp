// SPDX-License-Identifier: Apache-2.0
// Whether a loop's iterations can run as lanes of a vector of which some are masked.
#include "loop_shape.hpp"

#include "llvm_versions.hpp"
#include "loop_properties.hpp"
#include "supported_target.hpp"

#include <llvm/Analysis/IVDescriptors.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

using namespace llvm;

namespace causeway::simd {

namespace {

/// Reads what each instruction means for masked lanes.
class reader {
  public:
    reader(Loop& loop, ScalarEvolution& evolution, DominatorTree& dominators, const TargetTransformInfo& target)
        : m_loop(loop), m_evolution(evolution), m_dominators(dominators), m_target(target),
          m_layout(loop.getHeader()->getModule()->getDataLayout()) {}

    loop_shape read();

  private:
    const char* form();
    const char* carried(PHINode& phi);
    const char* instruction(Instruction& instruction);
    const char* access(Type* type, Value* address, bool stores);
    const char* call(CallBase& call);

    Loop& m_loop;
    ScalarEvolution& m_evolution;
    DominatorTree& m_dominators;
    const TargetTransformInfo& m_target;
    const DataLayout& m_layout;
    loop_shape m_shape;
    unsigned m_widest_bits = 0;
    SmallPtrSet<const Value*, 8> m_reduced; // may be used after the loop
    SmallPtrSet<const SCEV*, 8> m_stored, m_loaded;
};

const char* reader::form() {
    if (!is_supported_target(*m_loop.getHeader()->getParent())) return other_target;
    if (!m_loop.isInnermost()) return "it has loops inside";
    if (!m_loop.isLoopSimplifyForm()) return "its form is irregular";
    if (m_loop.getExitingBlock() != m_loop.getLoopLatch() || !m_loop.getExitBlock()) return "it may end early";
    if (has_property(m_loop, "llvm.loop.isvectorized")) return "it is vectorised already";
    // `omp simd` only says that iterations may run at once.
    const bool is_simd = m_loop.isAnnotatedParallel() && getBooleanLoopAttribute(&m_loop, "llvm.loop.vectorize.enable");
    if (!is_simd && has_property(m_loop, "llvm.loop.vectorize.enable")) return "the program gives hints of its own";
    for (const char* hint : {"llvm.loop.vectorize.width", "llvm.loop.interleave.count", "llvm.loop.disable_nonforced"})
        if (has_property(m_loop, hint)) return "the program gives hints of its own";
    if (!m_evolution.hasLoopInvariantBackedgeTakenCount(&m_loop))
        return "the number of iterations is not known before it";
    return nullptr;
}

// Sums, products, bit operations, minima and maxima.
bool is_plain_reduction(RecurKind kind) {
    switch (kind) {
    case RecurKind::Add:
    case RecurKind::Mul:
    case RecurKind::Or:
    case RecurKind::And:
    case RecurKind::Xor:
    case RecurKind::SMin:
    case RecurKind::SMax:
    case RecurKind::UMin:
    case RecurKind::UMax:
    case RecurKind::FAdd:
    case RecurKind::FMul:
    case RecurKind::FMin:
    case RecurKind::FMax:
    case RecurKind::FMulAdd: return true;
    default: return false;
    }
}

const char* reader::carried(PHINode& phi) {
    InductionDescriptor induction;
    if (InductionDescriptor::isInductionPHI(&phi, &m_loop, &m_evolution, induction))
        return induction.getKind() == InductionDescriptor::IK_FpInduction ? "a floating-point value is counted up"
                                                                          : nullptr;
    RecurrenceDescriptor reduction;
    if (!RecurrenceDescriptor::isReductionPHI(&phi, &m_loop, reduction, nullptr, nullptr, &m_dominators,
                                              &m_evolution) ||
        !is_plain_reduction(reduction.getRecurrenceKind()))
        return "an iteration uses a value of the one before";
    if (reduction.getExactFPMathInst() || reduction.isOrdered())
        return "strict floating point fixes the order of a sum (-fassociative-math, with -fno-signed-zeros "
               "-fno-trapping-math -fno-math-errno, frees it)";
    // A store of the running value inside the loop is the vectoriser's special case, not ours.
    if (reduction.IntermediateStore) return "a running value is stored";
    m_widest_bits = std::max(m_widest_bits, static_cast<unsigned>(m_layout.getTypeSizeInBits(phi.getType())));
    m_reduced.insert(reduction.getLoopExitInstr());
    m_shape.reduces = true;
    return nullptr;
}

const char* reader::access(Type* type, Value* address, bool stores) {
    if (!type->isIntegerTy() && !type->isFloatTy() && !type->isDoubleTy() && !type->isPointerTy() && !type->isHalfTy())
        return "an element is neither a number nor a pointer";
    m_widest_bits = std::max(m_widest_bits, static_cast<unsigned>(m_layout.getTypeSizeInBits(type)));
    const Align alignment = m_layout.getABITypeAlign(type);
    if (!has_masked_access(m_target, type, alignment, stores))
        return "the target has no masked access for the type of an element";
    const SCEV* pointer = m_evolution.getSCEV(address);
    if (m_evolution.isLoopInvariant(pointer, &m_loop))
        return stores ? "every iteration stores to one address" : nullptr;
    const auto* walk = dyn_cast<SCEVAddRecExpr>(pointer);
    const auto* step = walk && walk->getLoop() == &m_loop && walk->isAffine()
                           ? dyn_cast<SCEVConstant>(walk->getStepRecurrence(m_evolution))
                           : nullptr;
    const int64_t size = static_cast<int64_t>(m_layout.getTypeStoreSize(type));
    const auto casts = [](const SCEV* part) { return isa<SCEVIntegralCastExpr>(part); };
    if (!walk && SCEVExprContains(pointer, casts))
        return "an access's index may wrap around, or not walk from element to element (one of 64 bits does not wrap)";
    if (!step || (step->getAPInt() != size && step->getAPInt() != -size))
        return "an access does not walk from element to element";
    m_shape.backwards |= step->getAPInt().isNegative();
    (stores ? m_stored : m_loaded).insert(pointer);
    return nullptr;
}

/// A function that is there for the lanes of a mask, and leaves memory alone.
bool has_masked_variant(const CallBase& call) {
    const auto* plain = dyn_cast<CallInst>(&call);
    return plain && plain->doesNotAccessMemory() &&
           any_of(VFDatabase::getMappings(*plain), [](const VFInfo& each) { return each.isMasked(); });
}

const char* reader::call(CallBase& call) {
    const auto* intrinsic = dyn_cast<IntrinsicInst>(&call);
    if (!intrinsic) return has_masked_variant(call) ? nullptr : "it calls a function";
    if (intrinsic->isAssumeLikeIntrinsic() || isa<DbgInfoIntrinsic>(intrinsic)) return nullptr;
    if (!isTriviallyVectorizable(intrinsic->getIntrinsicID()) || call.mayReadOrWriteMemory())
        return "it calls a function";
    return nullptr;
}

const char* reader::instruction(Instruction& instruction) {
    if (instruction.getType()->isVectorTy()) return "it is written with vectors";
    if (auto* phi = dyn_cast<PHINode>(&instruction); phi && phi->getParent() == m_loop.getHeader())
        return carried(*phi);
    if (auto* load = dyn_cast<LoadInst>(&instruction))
        return load->isSimple() ? access(load->getType(), load->getPointerOperand(), false)
                                : "an access is volatile or atomic";
    if (auto* store = dyn_cast<StoreInst>(&instruction)) {
        m_shape.stores = true;
        if (!store->isSimple()) return "an access is volatile or atomic";
        return access(store->getValueOperand()->getType(), store->getPointerOperand(), true);
    }
    if (auto* c = dyn_cast<CallBase>(&instruction)) return call(*c);
    if (instruction.mayReadOrWriteMemory()) return "an access is volatile or atomic";
    if (instruction.isIntDivRem()) return "it divides integers, which no vector does";
    if (instruction.isTerminator() && !isa<BranchInst>(&instruction)) return "it branches many ways";
    return nullptr;
}

// Zen processors take AVX2's masked store apart, which takes some 12 cycles. Those of AVX-512 are as fast as others.
bool has_slow_masked_stores(const Function& function) {
    if (function.getFnAttribute("target-features").getValueAsString().contains("+avx512f")) return false;
    const StringRef tuned_for = function.getFnAttribute("tune-cpu").getValueAsString();
    const StringRef processor = tuned_for.empty() ? function.getFnAttribute("target-cpu").getValueAsString()
                                                  : tuned_for;
    return processor.empty() || processor.starts_with("znver") || processor.starts_with("bdver") ||
           processor.starts_with("x86-64") || processor == "generic";
}

loop_shape reader::read() {
    if ((m_shape.why_not = form())) return m_shape;
    for (BasicBlock* block : m_loop.blocks())
        for (Instruction& i : *block)
            if ((m_shape.why_not = instruction(i))) return m_shape;
    for (BasicBlock* block : m_loop.blocks())
        for (Instruction& i : *block)
            for (const User* user : i.users())
                if (!m_loop.contains(cast<Instruction>(user)) && !m_reduced.contains(&i)) {
                    m_shape.why_not = "a value of its last iteration is used after it";
                    return m_shape;
                }
    const unsigned register_bits = m_target.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector)
                                       .getFixedValue();
    m_shape.lanes = m_widest_bits ? register_bits / m_widest_bits : 0;
    if (!m_shape.stores && !m_shape.reduces)
        m_shape.why_not = "it stores nothing";
    else if (m_shape.lanes < 4)
        m_shape.why_not = "a vector of the target has fewer than four of its elements";
    m_shape.in_place = any_of(m_stored, [&](const SCEV* pointer) { return m_loaded.contains(pointer); });
    m_shape.trip_count = m_evolution.getSmallConstantTripCount(&m_loop);
    m_shape.slow_masks = m_shape.stores && has_slow_masked_stores(*m_loop.getHeader()->getParent());
    return m_shape;
}

} // namespace

loop_shape examine(Loop& loop, ScalarEvolution& evolution, DominatorTree& dominators,
                   const TargetTransformInfo& target) {
    return reader(loop, evolution, dominators, target).read();
}

unsigned sufficient_width(unsigned trip_count, unsigned lanes) {
    unsigned width = lanes;
    while (width > 2 && trip_count <= width / 2) width /= 2;
    return width;
}

} // namespace causeway::simd
