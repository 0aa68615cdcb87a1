// SPDX-License-Identifier: Apache-2.0
// All blocks of a region run one behind another, for all lanes: masks say for which of them they count.
#include "widened_body.hpp"

#include "llvm_versions.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <map>

using namespace llvm;

namespace causeway::simd {

namespace {

bool is_nothing_to_lanes(const Instruction& one) {
    return one.isDebugOrPseudoInst() || one.isLifetimeStartOrEnd() || isa<AssumeInst>(one);
}

const char* why_not_wide(const Instruction& one) {
    if (!one.getType()->isVoidTy() && !VectorType::isValidElementType(one.getType()))
        return "a value in it is neither a number nor a pointer";
    if (is_nothing_to_lanes(one)) return nullptr;
    if (const auto* call = dyn_cast<IntrinsicInst>(&one))
        return isTriviallyVectorizable(call->getIntrinsicID()) ? nullptr : "it calls a function";
    if (const auto* load = dyn_cast<LoadInst>(&one)) return load->isSimple() ? nullptr : "it accesses volatile memory";
    if (const auto* store = dyn_cast<StoreInst>(&one))
        return store->isSimple() ? nullptr : "it accesses volatile memory";
    if (isa<CallBase>(one)) return "it calls a function";
    if (isa<BinaryOperator>(one) || isa<UnaryOperator>(one) || isa<CastInst>(one) || isa<CmpInst>(one) ||
        isa<SelectInst>(one) || isa<FreezeInst>(one) || isa<PHINode>(one) || isa<GetElementPtrInst>(one) ||
        isa<BranchInst>(one) || isa<ReturnInst>(one))
        return nullptr;
    return isa<AllocaInst>(one) ? "it has an array of its own" : "it has an instruction that lanes do not have";
}

class body {
  public:
    body(Function& scalar, const LoopInfo& loops, Function& wide, unsigned lanes)
        : m_scalar(scalar), m_order(&scalar), m_loops(loops), m_wide(wide), m_lanes(lanes), m_builder(&wide.back()) {}

    void run(ArrayRef<Value*> arguments, Value* mask) {
        for (Argument& each : m_scalar.args()) m_values[&each] = arguments[each.getArgNo()];
        m_masks[&m_scalar.getEntryBlock()] = mask;
        emit_region(nullptr);
    }

  private:
    using edge = std::pair<const BasicBlock*, const BasicBlock*>;

    Type* lanes_of(Type* type) const { return type->isVoidTy() ? type : FixedVectorType::get(type, m_lanes); }

    Value* value_of(Value* scalar) {
        if (const auto found = m_values.find(scalar); found != m_values.end()) return found->second;
        return ConstantVector::getSplat(ElementCount::getFixed(m_lanes), cast<Constant>(scalar));
    }

    /// What a phi of `to` gets from `from`: of a loop's lanes, the value that each had when it left.
    Value* incoming(PHINode& phi, BasicBlock* from) {
        if (const auto left = m_left.find({{from, phi.getParent()}, &phi}); left != m_left.end()) return left->second;
        return value_of(phi.getIncomingValueForBlock(from));
    }

    void emit_region(const Loop* region) {
        for (BasicBlock* block : m_order) {
            const Loop* innermost = m_loops.getLoopFor(block);
            if (innermost == region)
                emit_block(*block, region && region->getHeader() == block);
            else if (innermost && innermost->getHeader() == block && innermost->getParentLoop() == region)
                emit_loop(*innermost);
        }
    }

    void emit_block(BasicBlock& block, bool has_phis) {
        auto& mask = m_masks[&block];
        SmallVector<BasicBlock*, 4> before(predecessors(&block));
        if (!mask)
            for (BasicBlock* each : before) {
                Value* way = m_edges.at({each, &block});
                mask = mask && mask != way ? m_builder.CreateOr(mask, way) : way;
            }
        for (Instruction& one : block) {
            if (auto* phi = dyn_cast<PHINode>(&one)) {
                if (has_phis) continue;
                Value* merged = nullptr;
                for (BasicBlock* each : before) {
                    Value* value = incoming(*phi, each);
                    merged = merged ? m_builder.CreateSelect(m_edges.at({each, &block}), value, merged) : value;
                }
                m_values[phi] = merged;
            } else if (one.isTerminator()) {
                emit_end(one, mask);
            } else if (!is_nothing_to_lanes(one)) {
                m_values[&one] = emit(one, mask);
            }
        }
    }

    void emit_end(Instruction& end, Value* mask) {
        if (auto* ret = dyn_cast<ReturnInst>(&end)) {
            ret->getReturnValue() ? m_builder.CreateRet(value_of(ret->getReturnValue())) : m_builder.CreateRetVoid();
            return;
        }
        auto& branch = cast<BranchInst>(end);
        const BasicBlock* from = branch.getParent();
        if (branch.isUnconditional() || branch.getSuccessor(0) == branch.getSuccessor(1)) {
            m_edges[{from, branch.getSuccessor(0)}] = mask;
            return;
        }
        // As a selection: what the condition is in a lane that is not here must not matter, not even as poison.
        Value* condition = value_of(branch.getCondition());
        m_edges[{from, branch.getSuccessor(0)}] = m_builder.CreateLogicalAnd(mask, condition);
        m_edges[{from, branch.getSuccessor(1)}] = m_builder.CreateLogicalAnd(mask, m_builder.CreateNot(condition));
    }

    Value* emit(Instruction& one, Value* mask) {
        if (auto* load = dyn_cast<LoadInst>(&one))
            return m_builder.CreateMaskedGather(lanes_of(load->getType()), value_of(load->getPointerOperand()),
                                                load->getAlign(), mask);
        if (auto* store = dyn_cast<StoreInst>(&one))
            return m_builder.CreateMaskedScatter(value_of(store->getValueOperand()),
                                                 value_of(store->getPointerOperand()), store->getAlign(), mask);
        if (auto* call = dyn_cast<IntrinsicInst>(&one)) return emit_call(*call);
        if (auto* cast = dyn_cast<CastInst>(&one))
            return with_flags(
                m_builder.CreateCast(cast->getOpcode(), value_of(cast->getOperand(0)), lanes_of(cast->getType())), one);
        if (auto* address = dyn_cast<GetElementPtrInst>(&one)) {
            SmallVector<Value*, 4> indices;
            for (Value* each : address->indices()) indices.push_back(isa<Constant>(each) ? each : value_of(each));
            return m_builder.CreateGEP(address->getSourceElementType(), value_of(address->getPointerOperand()),
                                       indices);
        }
        Instruction* made = one.clone();
        for (Use& use : made->operands()) use.set(value_of(use.get()));
        // A lane that is not here divides by three. Of one, the neutral number, the code generator of LLVM 19 would
        // make a division by what is in the lane, and a choice of its result.
        if (one.isIntDivRem())
            made->setOperand(1, m_builder.CreateSelect(mask, made->getOperand(1),
                                                       ConstantInt::get(made->getOperand(1)->getType(), 3)));
        made->mutateType(lanes_of(one.getType()));
        made->dropUnknownNonDebugMetadata();
        made->setDebugLoc({});
        return m_builder.Insert(made);
    }

    Value* with_flags(Value* made, const Instruction& from) {
        if (auto* instruction = dyn_cast<Instruction>(made)) instruction->copyIRFlags(&from);
        return made;
    }

    Value* emit_call(IntrinsicInst& call) {
        const auto id = call.getIntrinsicID();
        SmallVector<Value*, 4> arguments;
        SmallVector<Type*, 2> types;
        if (is_overloaded_at(id, -1)) types.push_back(lanes_of(call.getType()));
        for (unsigned at = 0; at < call.arg_size(); ++at) {
            Value* each = call.getArgOperand(at);
            arguments.push_back(is_scalar_at(id, at) ? each : value_of(each));
            if (is_overloaded_at(id, static_cast<int>(at))) types.push_back(arguments.back()->getType());
        }
        auto* declared = declaration_of(*m_wide.getParent(), id, types);
        return with_flags(m_builder.CreateCall(declared, arguments), call);
    }

    void emit_loop(const Loop& loop) {
        BasicBlock* header = loop.getHeader();
        BasicBlock* outside = loop.getLoopPreheader();
        BasicBlock* latch = loop.getLoopLatch();
        BasicBlock* from = m_builder.GetInsertBlock();
        auto* top = BasicBlock::Create(m_wide.getContext(), "lanes", &m_wide);
        m_builder.CreateBr(top);
        m_builder.SetInsertPoint(top);
        const auto carried = [&](Type* type, Value* first) {
            PHINode* made = m_builder.CreatePHI(type, 2);
            made->addIncoming(first, from);
            return made;
        };
        Value* none = Constant::getNullValue(lanes_of(m_builder.getInt1Ty()));
        PHINode* active = carried(none->getType(), m_edges.at({outside, header}));
        m_masks[header] = active;
        SmallVector<std::pair<PHINode*, PHINode*>, 4> kept;
        for (PHINode& phi : header->phis()) {
            PHINode* made = carried(lanes_of(phi.getType()), incoming(phi, outside));
            kept.emplace_back(&phi, made);
            m_values[&phi] = made;
        }
        struct exit {
            edge way;
            PHINode* mask;
            SmallVector<std::pair<PHINode*, PHINode*>, 2> values;
        };
        SmallVector<Loop::Edge, 4> ways;
        loop.getExitEdges(ways);
        SmallVector<exit, 4> exits;
        for (const auto& [inside, target] : ways) {
            exit left{{inside, target}, carried(none->getType(), none), {}};
            for (PHINode& phi : target->phis())
                left.values.emplace_back(&phi,
                                         carried(lanes_of(phi.getType()), PoisonValue::get(lanes_of(phi.getType()))));
            exits.push_back(left);
        }

        emit_region(&loop);

        BasicBlock* bottom = m_builder.GetInsertBlock();
        Value* again = m_edges.at({latch, header});
        active->addIncoming(again, bottom);
        for (auto& [phi, made] : kept) made->addIncoming(value_of(phi->getIncomingValueForBlock(latch)), bottom);
        for (auto& left : exits) {
            Value* now = m_edges.at(left.way);
            for (auto& [phi, made] : left.values) {
                Value* value = m_builder.CreateSelect(now, incoming(*phi, const_cast<BasicBlock*>(left.way.first)),
                                                      made);
                made->addIncoming(value, bottom);
                m_left[{left.way, phi}] = value;
            }
            Value* all = m_builder.CreateOr(left.mask, now);
            left.mask->addIncoming(all, bottom);
            m_edges[left.way] = all;
        }
        auto* after = BasicBlock::Create(m_wide.getContext(), "left", &m_wide);
        Value* bits = m_builder.CreateBitCast(again, m_builder.getIntNTy(m_lanes));
        m_builder.CreateCondBr(m_builder.CreateIsNotNull(bits), top, after);
        m_builder.SetInsertPoint(after);
    }

    Function& m_scalar;
    ReversePostOrderTraversal<Function*> m_order;
    const LoopInfo& m_loops;
    Function& m_wide;
    unsigned m_lanes;
    IRBuilder<> m_builder;
    DenseMap<const Value*, Value*> m_values;
    DenseMap<const BasicBlock*, Value*> m_masks;
    std::map<edge, Value*> m_edges;
    std::map<std::pair<edge, const PHINode*>, Value*> m_left;
};

} // namespace

const char* why_not_wide(Function& scalar, const LoopInfo& loops, const DominatorTree& dominators) {
    const auto is_of_lanes = [](Type* type) { return VectorType::isValidElementType(type); };
    if (!scalar.getReturnType()->isVoidTy() && !is_of_lanes(scalar.getReturnType()))
        return "its result is neither a number nor a pointer";
    for (const Argument& each : scalar.args())
        if (!is_of_lanes(each.getType()) || each.hasPassPointeeByValueCopyAttr() || each.hasStructRetAttr())
            return "an argument is neither a number nor a pointer";
    const ReversePostOrderTraversal<const Function*> order(&scalar);
    if (containsIrreducibleCFG<const BasicBlock*>(order, loops)) return "a loop in it has two beginnings";
    for (const Loop* loop : loops.getLoopsInPreorder())
        if (!loop->isLoopSimplifyForm() || !loop->isLCSSAForm(dominators)) return "a loop in it has no usual form";
    unsigned returns = 0;
    for (BasicBlock& block : scalar) {
        returns += isa<ReturnInst>(block.getTerminator());
        for (const Instruction& one : block)
            if (const char* why = why_not_wide(one)) return why;
    }
    return returns == 1 ? nullptr : "it does not return";
}

void widen(Function& scalar, const LoopInfo& loops, Function& wide, unsigned lanes, ArrayRef<Value*> arguments,
           Value* mask) {
    body(scalar, loops, wide, lanes).run(arguments, mask);
}

} // namespace causeway::simd
