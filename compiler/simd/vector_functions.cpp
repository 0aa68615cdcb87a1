// SPDX-License-Identifier: Apache-2.0
// The compiler knows names and arguments of a function's variants for lanes (the vector ABI of x86), and calls them; it
// makes none of their bodies.
#include "vector_functions.hpp"

#include "loop_properties.hpp"
#include "report.hpp"
#include "widened_body.hpp"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/InlineCost.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/VFABIDemangler.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>

#include <algorithm>
#include <map>

using namespace llvm;

namespace causeway::simd {

namespace {

constexpr const char* kept_mark = "causeway-simd-kept"; ///< of a call
constexpr const char* not_inlined_mark = "causeway-simd-not-inlined"; ///< of one that is not for our sake
constexpr const char* callee_mark = "causeway-simd-called-kept"; ///< of a function that such calls name
constexpr const char* made_mark = "causeway-simd-made";

/// "_ZGVeN16vu_name" and the like, as Clang writes them for `omp declare simd`.
SmallVector<StringRef, 8> variant_names(const Function& function) {
    SmallVector<StringRef, 8> names;
    for (const Attribute& each : function.getAttributes().getFnAttrs())
        if (each.isStringAttribute() && each.getKindAsString().starts_with("_ZGV"))
            names.push_back(each.getKindAsString());
    // Those without a mask first: the caller takes the first that fits.
    std::stable_partition(names.begin(), names.end(), [](StringRef name) { return name.size() > 5 && name[5] == 'N'; });
    return names;
}

/// The letter of the vectors that the caller's loops use: e is AVX-512, d AVX2; 0 for others.
char vectors_of(const Function& caller) {
    const StringRef features = caller.getFnAttribute("target-features").getValueAsString();
    const StringRef preferred = caller.getFnAttribute("prefer-vector-width").getValueAsString();
    if (features.contains("+avx512vl") && preferred == "512") return 'e';
    return features.contains("+avx2") ? 'd' : 0;
}

Function* callee_with_variants(const CallInst& call) {
    Function* callee = call.getCalledFunction();
    return callee && !callee->isDeclaration() && !callee->isInterposable() && !variant_names(*callee).empty() ? callee
                                                                                                              : nullptr;
}

/// A function for lanes with an empty body, which takes what the variant says.
Function& declare(const VFInfo& variant, Function& scalar, unsigned lanes) {
    SmallVector<Type*, 8> types;
    for (const VFParameter& each : variant.Shape.Parameters) {
        if (each.ParamKind == VFParamKind::GlobalPredicate) {
            types.push_back(FixedVectorType::get(Type::getInt1Ty(scalar.getContext()), lanes));
            continue;
        }
        Type* type = scalar.getArg(each.ParamPos)->getType();
        types.push_back(each.ParamKind == VFParamKind::Vector ? FixedVectorType::get(type, lanes) : type);
    }
    Type* result = scalar.getReturnType();
    if (!result->isVoidTy()) result = FixedVectorType::get(result, lanes);
    auto* made = Function::Create(FunctionType::get(result, types, false), GlobalValue::InternalLinkage,
                                  (scalar.getName() + ".lanes").str(), scalar.getParent());
    return *made;
}

void forget_used(Module& module, StringRef mark) {
    removeFromUsedLists(module, [mark](Constant* each) {
        const auto* function = dyn_cast<Function>(each->stripPointerCasts());
        return function && function->hasFnAttribute(mark);
    });
}

class variants {
  public:
    variants(Module& module, FunctionAnalysisManager& manager) : m_module(module), m_manager(manager) {}

    /// Names of those of `scalar` for the letter; made when they are asked for first. Why there are none, else.
    ArrayRef<std::string> of(Function& scalar, char letter, const char*& why) {
        auto& known = m_known[{&scalar, letter}];
        if (!known.is_made) {
            known.is_made = true;
            make(scalar, letter, known.names, known.why);
        }
        why = known.why;
        return known.names;
    }

  private:
    void make(Function& scalar, char letter, std::vector<std::string>& names, const char*& why) {
        ValueToValueMapTy map;
        Function* copy = CloneFunction(&scalar, map);
        removeUnreachableBlocks(*copy);
        FunctionPassManager usual_form;
        usual_form.addPass(LowerSwitchPass());
        usual_form.addPass(UnifyFunctionExitNodesPass());
        usual_form.addPass(LoopSimplifyPass());
        usual_form.addPass(LCSSAPass());
        usual_form.run(*copy, m_manager);
        m_manager.invalidate(*copy, PreservedAnalyses::none());
        const LoopInfo& loops = m_manager.getResult<LoopAnalysis>(*copy);
        why = why_not_wide(*copy, loops, m_manager.getResult<DominatorTreeAnalysis>(*copy));
        if (!why)
            for (const StringRef name : variant_names(scalar)) {
                if (name.size() < 6 || name[4] != letter) continue;
                // The name of one of the compiler's own, with the function's in brackets.
                const auto own = ("_ZGV_LLVM_" + name.substr(5)).str();
                const auto variant = VFABI::tryDemangleForVFABI(own + "(unnamed)", scalar.getFunctionType());
                if (!variant || variant->Shape.VF.isScalable()) continue;
                if (const auto made = make_body(*variant, *copy, loops, scalar))
                    names.push_back(own + "(" + made->getName().str() + ")");
            }
        if (!why && names.empty()) why = "its arguments are in no form that lanes have";
        m_manager.clear(*copy, copy->getName());
        copy->eraseFromParent();
    }

    Function* make_body(const VFInfo& variant, Function& copy, const LoopInfo& loops, Function& scalar) {
        const unsigned lanes = variant.Shape.VF.getFixedValue();
        for (const VFParameter& each : variant.Shape.Parameters)
            if (each.ParamKind != VFParamKind::Vector && each.ParamKind != VFParamKind::OMP_Uniform &&
                each.ParamKind != VFParamKind::GlobalPredicate &&
                (each.ParamKind != VFParamKind::OMP_Linear || !scalar.getArg(each.ParamPos)->getType()->isIntegerTy()))
                return nullptr;
        Function& wide = declare(variant, scalar, lanes);
        AttrBuilder attributes(scalar.getContext(), scalar.getAttributes().getFnAttrs());
        for (const StringRef name : variant_names(scalar)) attributes.removeAttribute(name);
        attributes.removeAttribute(callee_mark);
        attributes.addAttribute("min-legal-vector-width", std::to_string(lanes * 64));
        attributes.addAttribute(made_mark);
        wide.addFnAttrs(attributes);
        IRBuilder<> builder(BasicBlock::Create(wide.getContext(), "entry", &wide));
        SmallVector<Value*, 8> arguments;
        Value* mask = ConstantInt::getTrue(FixedVectorType::get(builder.getInt1Ty(), lanes));
        for (const VFParameter& each : variant.Shape.Parameters) {
            Value* given = wide.getArg(each.ParamPos);
            if (each.ParamKind == VFParamKind::GlobalPredicate) {
                mask = given;
            } else if (each.ParamKind == VFParamKind::Vector) {
                arguments.push_back(given);
            } else {
                Value* all = builder.CreateVectorSplat(lanes, given);
                if (each.ParamKind == VFParamKind::OMP_Linear)
                    all = builder.CreateAdd(
                        all, builder.CreateMul(builder.CreateStepVector(all->getType()),
                                               ConstantInt::getSigned(all->getType(), each.LinearStepOrPos)));
                arguments.push_back(all);
            }
        }
        widen(copy, loops, wide, lanes, arguments, mask);
        if (verifyFunction(wide)) { // a build never breaks
            wide.eraseFromParent();
            return nullptr;
        }
        appendToCompilerUsed(m_module, {&wide}); // until loops are vectors nobody calls it
        return &wide;
    }

    struct known_variants {
        bool is_made = false;
        std::vector<std::string> names;
        const char* why = nullptr;
    };
    Module& m_module;
    FunctionAnalysisManager& m_manager;
    std::map<std::pair<Function*, char>, known_variants> m_known;
};

// As the compiler would have done, had the call not been kept.
void inline_if_cheap(CallInst& call, FunctionAnalysisManager& manager) {
    if (!call.hasFnAttr(not_inlined_mark)) return;
    call.removeFnAttr(not_inlined_mark);
    call.removeFnAttr(Attribute::NoInline);
    Function& caller = *call.getFunction();
    Function& callee = *call.getCalledFunction();
    if (&caller == &callee) return;
    const auto assumptions = [&](Function& of) -> AssumptionCache& {
        return manager.getResult<AssumptionAnalysis>(of);
    };
    const auto libraries = [&](Function& of) -> const TargetLibraryInfo& {
        return manager.getResult<TargetLibraryAnalysis>(of);
    };
    if (!getInlineCost(call, getInlineParams(), manager.getResult<TargetIRAnalysis>(callee), assumptions, libraries))
        return;
    InlineFunctionInfo information(assumptions);
    if (InlineFunction(call, information).isSuccess()) manager.invalidate(caller, PreservedAnalyses::none());
}

} // namespace

bool is_for_lanes(const Function& function) { return function.hasFnAttribute(made_mark); }

PreservedAnalyses kept_calls::run(Module& module, ModuleAnalysisManager& manager) {
    auto& functions = manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    bool changed = false;
    for (Function& caller : module) {
        if (caller.isDeclaration() || caller.hasOptSize() || !vectors_of(caller)) continue;
        for (Instruction& one : instructions(caller)) {
            auto* call = dyn_cast<CallInst>(&one);
            Function* callee = call ? callee_with_variants(*call) : nullptr;
            if (!callee || callee->hasFnAttribute(Attribute::AlwaysInline)) continue;
            const Loop* loop = functions.getResult<LoopAnalysis>(caller).getLoopFor(call->getParent());
            if (!loop || !has_property(*loop, "llvm.loop.vectorize.enable") ||
                functions.getResult<LoopAnalysis>(*callee).empty())
                continue;
            // A use that is no call: nobody may change the arguments, which the variants' names tell.
            if (!callee->hasFnAttribute(callee_mark)) {
                callee->addFnAttr(callee_mark);
                appendToCompilerUsed(module, {callee});
            }
            if (!call->isNoInline()) call->addFnAttr(Attribute::get(module.getContext(), not_inlined_mark));
            call->setIsNoInline();
            call->addFnAttr(Attribute::get(module.getContext(), kept_mark));
            changed = true;
        }
    }
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

PreservedAnalyses vector_functions::run(Module& module, ModuleAnalysisManager& manager) {
    auto& functions = manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    SmallVector<CallInst*, 8> calls;
    for (Function& caller : module)
        for (Instruction& one : instructions(caller))
            if (auto* call = dyn_cast<CallInst>(&one); call && call->hasFnAttr(kept_mark)) calls.push_back(call);
    if (calls.empty()) return PreservedAnalyses::all();
    forget_used(module, callee_mark);
    variants made(module, functions);
    SmallVector<CallInst*, 8> refused;
    for (CallInst* call : calls) {
        call->removeFnAttr(kept_mark);
        Function* callee = callee_with_variants(*call);
        const Loop* loop = functions.getResult<LoopAnalysis>(*call->getFunction()).getLoopFor(call->getParent());
        if (!callee) continue;
        if (!loop) {
            refused.push_back(call);
            continue;
        }
        report told(functions.getResult<OptimizationRemarkEmitterAnalysis>(*call->getFunction()));
        const char* why = nullptr;
        const auto names = made.of(*callee, vectors_of(*call->getFunction()), why);
        if (why) {
            told.left(*loop, "Function", Twine("its function ") + callee->getName() + " has no form for lanes: " + why);
            refused.push_back(call);
            continue;
        }
        VFABI::setVectorVariantNames(call, names);
        told.done(*loop, "Function",
                  Twine("its function ") + callee->getName() + " is there for lanes, whose branches are masks");
    }
    for (CallInst* call : refused) inline_if_cheap(*call, functions);
    return PreservedAnalyses::none();
}

PreservedAnalyses spare_functions::run(Module& module, ModuleAnalysisManager& manager) {
    SmallVector<Function*, 8> made;
    for (Function& each : module)
        if (each.hasFnAttribute(made_mark)) made.push_back(&each);
    if (made.empty()) return PreservedAnalyses::all();
    forget_used(module, made_mark);
    for (Function* each : made)
        if (each->use_empty()) each->eraseFromParent();
    // The scalar iterations that a loop of vectors leaves may call the function.
    auto& functions = manager.getResult<FunctionAnalysisManagerModuleProxy>(module).getManager();
    SmallVector<CallInst*, 8> refused;
    for (Function& caller : module)
        for (Instruction& one : instructions(caller)) {
            auto* call = dyn_cast<CallInst>(&one);
            if (!call || !call->hasFnAttr(not_inlined_mark)) continue;
            const Loop* loop = functions.getResult<LoopAnalysis>(caller).getLoopFor(call->getParent());
            if (loop && !has_property(*loop, "llvm.loop.isvectorized")) refused.push_back(call);
        }
    for (CallInst* call : refused) inline_if_cheap(*call, functions);
    return PreservedAnalyses::none();
}

} // namespace causeway::simd
