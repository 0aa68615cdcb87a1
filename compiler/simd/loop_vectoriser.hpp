// SPDX-License-Identifier: Apache-2.0
// LLVM's loop vectoriser, applied to one loop at a time.
#pragma once

#include "loop_shape.hpp"

#include <llvm/Transforms/Vectorize/LoopVectorize.h>

namespace causeway::simd {

enum class epilogue { scalar, compilers_choice };

class loop_vectoriser {
  public:
    loop_vectoriser(llvm::Function& function, llvm::FunctionAnalysisManager& manager);

    /// Brings the loop into the form that the vectoriser expects.
    void prepare(llvm::Loop& loop);
    /// True if prepare() changed a loop, whether or not that loop was vectorised afterwards.
    bool has_prepared() const { return m_has_prepared; }
    /// Vectorises as the compiler decides. `rest` says if it may also vectorise the remainder. True if it made a
    /// vector loop; `loop` is then the scalar remainder.
    bool vectorise(llvm::Loop& loop, epilogue rest);
    /// Vectorises with steps of `vectors` vectors of `width` lanes. If that is impossible, the loop stays as it was,
    /// without a remark.
    bool vectorise(llvm::Loop& loop, unsigned width, unsigned vectors, bool masked);

    /// False once vectors have replaced the loop whole; only its address may be used then.
    bool is_there(const llvm::Loop& loop) const;

    llvm::LoopInfo& loops() const { return *m_pass.LI; }
    llvm::ScalarEvolution& evolution() const { return *m_pass.SE; }
    llvm::DominatorTree& dominators() const { return *m_pass.DT; }
    const llvm::TargetTransformInfo& target() const { return *m_pass.TTI; }
    llvm::LoopAccessInfoManager& accesses() const { return *m_pass.LAIs; }
    llvm::OptimizationRemarkEmitter& remarks() const { return *m_pass.ORE; }

  private:
    llvm::LoopVectorizePass m_pass;
    bool m_has_prepared = false;
};

} // namespace causeway::simd
