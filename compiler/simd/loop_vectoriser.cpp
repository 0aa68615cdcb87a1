// SPDX-License-Identifier: Apache-2.0
// LLVM's loop vectoriser, applied to one loop at a time.
#include "loop_vectoriser.hpp"

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
    m_pass.BFI = m_pass.PSI && m_pass.PSI->hasProfileSummary() ? &manager.getResult<BlockFrequencyAnalysis>(function)
                                                               : nullptr;
}

void loop_vectoriser::prepare(Loop& loop) {
    simplifyLoop(&loop, m_pass.DT, m_pass.LI, m_pass.SE, m_pass.AC, nullptr, false);
    formLCSSARecursively(loop, *m_pass.DT, m_pass.LI, m_pass.SE);
}

bool loop_vectoriser::vectorise(Loop& loop, epilogue rest) {
    std::optional<without_vector_epilogue> off;
    if (rest == epilogue::scalar) off.emplace();
    const bool changed = m_pass.processLoop(&loop);
    if (changed) m_pass.LAIs->clear();
    // It also interleaves scalar loops, which leaves the same mark.
    return changed && has_property(loop, "llvm.loop.isvectorized");
}

bool loop_vectoriser::vectorise(Loop& loop, unsigned width, unsigned vectors, bool masked) {
    const without_vector_epilogue off;
    remove_property(loop, "llvm.loop.isvectorized");
    force_width(loop, width, vectors, masked);
    {
        const quiet silence(loop.getHeader()->getContext());
        if (m_pass.processLoop(&loop)) m_pass.LAIs->clear();
    }
    const bool vectorised = has_property(loop, "llvm.loop.isvectorized");
    unforce_width(loop);
    return vectorised;
}

} // namespace causeway::simd
