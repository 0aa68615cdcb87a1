// SPDX-License-Identifier: Apache-2.0
// LLVM's loop vectoriser, applied to one loop at a time.
#include "loop_vectoriser.hpp"

#include "llvm_versions.hpp"
#include "loop_properties.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/DemandedBits.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

using namespace llvm;

namespace causeway::simd {

namespace {

// The vectoriser has no argument for this choice, so its option is set while it runs.
class without_vector_epilogue {
  public:
    without_vector_epilogue() {
        const auto found = cl::getRegisteredOptions().find("enable-epilogue-vectorization");
        if (found == cl::getRegisteredOptions().end()) return;
        m_option = static_cast<cl::opt<bool>*>(found->second);
        m_before = *m_option;
        *m_option = false;
    }
    ~without_vector_epilogue() {
        if (m_option) *m_option = m_before;
    }
    without_vector_epilogue(const without_vector_epilogue&) = delete;
    without_vector_epilogue& operator=(const without_vector_epilogue&) = delete;

  private:
    cl::opt<bool>* m_option = nullptr;
    bool m_before = false;
};

// A forced loop that cannot be vectorised is told aloud, even to users who asked for no remarks; ours are not theirs.
class quiet_analysis : public DiagnosticHandler {
  public:
    bool handleDiagnostics(const DiagnosticInfo&) override { return true; }
};

class quiet {
  public:
    explicit quiet(LLVMContext& context) : m_context(context), m_handler(context.getDiagnosticHandler()) {
        context.setDiagnosticHandler(std::make_unique<quiet_analysis>());
    }
    ~quiet() { m_context.setDiagnosticHandler(std::move(m_handler)); }
    quiet(const quiet&) = delete;
    quiet& operator=(const quiet&) = delete;

  private:
    LLVMContext& m_context;
    std::unique_ptr<DiagnosticHandler> m_handler;
};

// A vector is addressed by its lowest lane. Where that one is masked, as in a step downwards, or in a vector of several
// that lies behind the end, the address may be outside of the array: poison, to whoever takes `inbounds` at its word.
void allow_addresses_outside(ArrayRef<BasicBlock*> blocks) {
    const SmallPtrSet<const BasicBlock*, 8> made(blocks.begin(), blocks.end());
    const auto relax = [&](Value* address) {
        for (auto* step = dyn_cast<GetElementPtrInst>(address); step && made.contains(step->getParent());
             step = dyn_cast<GetElementPtrInst>(step->getPointerOperand()))
            step->dropPoisonGeneratingFlags();
    };
    for (BasicBlock* block : blocks)
        for (Instruction& i : *block)
            if (const auto* access = dyn_cast<IntrinsicInst>(&i)) {
                const auto id = access->getIntrinsicID();
                if (id == Intrinsic::masked_load) relax(access->getArgOperand(0));
                if (id == Intrinsic::masked_store) relax(access->getArgOperand(1));
            }
}

// Pointers that are apart within each iteration, as those of an inlined function, need not be where lanes of several
// meet. Such a scope begins in the loop.
void forget_scopes_of_iterations(Loop& loop) {
    SmallPtrSet<const Metadata*, 4> begun;
    for (BasicBlock* block : loop.blocks())
        for (Instruction& i : *block)
            if (const auto* begin = dyn_cast<NoAliasScopeDeclInst>(&i))
                begun.insert(begin->getScopeList()->op_begin()->get());
    if (begun.empty()) return;
    for (BasicBlock* block : loop.blocks())
        for (Instruction& i : *block)
            for (const unsigned kind : {LLVMContext::MD_alias_scope, LLVMContext::MD_noalias}) {
                const MDNode* scopes = i.getMetadata(kind);
                if (!scopes) continue;
                SmallVector<Metadata*, 4> others;
                for (const MDOperand& scope : scopes->operands())
                    if (!begun.contains(scope.get())) others.push_back(scope.get());
                i.setMetadata(kind, others.empty() ? nullptr : MDNode::get(i.getContext(), others));
            }
}

} // namespace

loop_vectoriser::loop_vectoriser(Function& function, FunctionAnalysisManager& manager) {
    m_pass.LI = &manager.getResult<LoopAnalysis>(function);
    m_pass.SE = &manager.getResult<ScalarEvolutionAnalysis>(function);
    m_pass.TTI = &manager.getResult<TargetIRAnalysis>(function);
    m_pass.DT = &manager.getResult<DominatorTreeAnalysis>(function);
    m_pass.TLI = &manager.getResult<TargetLibraryAnalysis>(function);
    m_pass.AC = &manager.getResult<AssumptionAnalysis>(function);
    m_pass.DB = &manager.getResult<DemandedBitsAnalysis>(function);
    m_pass.ORE = &manager.getResult<OptimizationRemarkEmitterAnalysis>(function);
    m_pass.LAIs = &manager.getResult<LoopAccessAnalysis>(function);
    m_pass.PSI = manager.getResult<ModuleAnalysisManagerFunctionProxy>(function)
                     .getCachedResult<ProfileSummaryAnalysis>(*function.getParent());
#if LLVM_VERSION_MAJOR >= 22
    m_pass.GetBFI = [&]() -> BlockFrequencyInfo& { return manager.getResult<BlockFrequencyAnalysis>(function); };
#else
    m_pass.BFI = m_pass.PSI && m_pass.PSI->hasProfileSummary() ? &manager.getResult<BlockFrequencyAnalysis>(function)
                                                               : nullptr;
#endif
}

void loop_vectoriser::prepare(Loop& loop) {
    m_has_prepared |= simplifyLoop(&loop, m_pass.DT, m_pass.LI, m_pass.SE, m_pass.AC, nullptr, false);
    m_has_prepared |= formLCSSARecursively(loop, *m_pass.DT, m_pass.LI, m_pass.SE);
}

bool loop_vectoriser::is_there(const Loop& loop) const { return is_contained(m_pass.LI->getLoopsInPreorder(), &loop); }

bool loop_vectoriser::vectorise(Loop& loop, epilogue rest) {
    std::optional<without_vector_epilogue> off;
    if (rest == epilogue::scalar) off.emplace();
    forget_scopes_of_iterations(loop);
    const bool changed = m_pass.processLoop(&loop);
    if (changed) m_pass.LAIs->clear();
    // It also interleaves scalar loops, which leaves the same mark.
    return changed && (!is_there(loop) || has_property(loop, "llvm.loop.isvectorized"));
}

bool loop_vectoriser::vectorise(Loop& loop, unsigned width, unsigned vectors, bool masked) {
    const without_vector_epilogue off;
    remove_property(loop, "llvm.loop.isvectorized");
    force_width(loop, width, vectors, masked);
    forget_scopes_of_iterations(loop);
    Function& function = *loop.getHeader()->getParent();
    SmallPtrSet<const BasicBlock*, 32> before;
    for (const BasicBlock& block : function) before.insert(&block);
    {
        const quiet silence(loop.getHeader()->getContext());
        if (m_pass.processLoop(&loop)) m_pass.LAIs->clear();
    }
    const bool vectorised = !is_there(loop) || has_property(loop, "llvm.loop.isvectorized");
    if (is_there(loop)) unforce_width(loop);
    if (vectorised && masked) {
        SmallVector<BasicBlock*, 8> made;
        for (BasicBlock& block : function)
            if (!before.contains(&block)) made.push_back(&block);
        allow_addresses_outside(made);
    }
    return vectorised;
}

} // namespace causeway::simd
