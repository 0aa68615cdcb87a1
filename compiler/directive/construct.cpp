// SPDX-License-Identifier: Apache-2.0
// Walks over Clang's tree.
#include "construct.hpp"

#include "pragma_parser.hpp"

#include <clang/AST/Decl.h>

#include <algorithm>
#include <set>

namespace directive {

using namespace clang;

void unit::error(SourceLocation location, const std::string& text) const {
    auto& diagnostics = context.getDiagnostics();
    diagnostics.Report(location, diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "%0")) << text;
}

void unit::note(SourceLocation location, const std::string& text) const {
    auto& diagnostics = context.getDiagnostics();
    diagnostics.Report(location, diagnostics.getCustomDiagID(DiagnosticsEngine::Note, "%0")) << text;
}

namespace {

const CallExpr* our_call(const Stmt* statement) {
    const auto* expression = dyn_cast_or_null<Expr>(statement);
    if (!expression) return nullptr;
    const auto* call = dyn_cast<CallExpr>(expression->IgnoreParenImpCasts());
    const auto* function = call ? call->getDirectCallee() : nullptr;
    return function && function->getDeclName().isIdentifier() && function->getName() == call_name ? call : nullptr;
}

void collect(const Stmt* statement, bool reads, bool writes, std::vector<access>& into);

/// The subscripts and pointers on the way to an lvalue's root, which are read.
void collect_path(const Expr* lvalue, std::vector<access>& into) {
    lvalue = lvalue->IgnoreParenCasts();
    if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(lvalue)) {
        collect(subscript->getIdx(), true, false, into);
        collect_path(subscript->getBase(), into);
    } else if (const auto* member = dyn_cast<MemberExpr>(lvalue)) {
        collect_path(member->getBase(), into);
    } else if (const auto* unary = dyn_cast<UnaryOperator>(lvalue); unary && !unary->isIncrementDecrementOp()) {
        collect_path(unary->getSubExpr(), into);
    } else if (!isa<DeclRefExpr>(lvalue)) {
        collect(lvalue, true, false, into);
    }
}

bool is_lvalue_path(const Expr* expression) {
    if (const auto* unary = dyn_cast<UnaryOperator>(expression)) return unary->getOpcode() == UO_Deref;
    return isa<ArraySubscriptExpr, MemberExpr, DeclRefExpr>(expression);
}

void collect_lvalue(const Expr* expression, bool reads, bool writes, std::vector<access>& into) {
    expression = expression->IgnoreParens();
    if (!is_lvalue_path(expression)) return collect(expression, true, writes, into);
    if (const auto* reference = dyn_cast<DeclRefExpr>(expression)) {
        if (const auto* variable = dyn_cast<VarDecl>(reference->getDecl()))
            into.push_back({variable, expression, reads, writes, false});
        return;
    }
    into.push_back({root_of(expression), expression, reads, writes, true});
    collect_path(expression, into);
}

void collect(const Stmt* statement, bool reads, bool writes, std::vector<access>& into) {
    if (!statement) return;
    if (const auto* loop = dyn_cast<WhileStmt>(statement); loop && our_call(loop->getCond()))
        return collect(loop->getBody(), true, false, into);
    if (our_call(statement)) return;
    if (const auto* declaration = dyn_cast<DeclStmt>(statement)) {
        for (const auto* each : declaration->decls())
            if (const auto* variable = dyn_cast<VarDecl>(each); variable && variable->getInit())
                collect(variable->getInit(), true, false, into);
        return;
    }
    const auto* expression = dyn_cast<Expr>(statement);
    if (!expression) {
        for (const auto* child : statement->children()) collect(child, true, false, into);
        return;
    }
    const auto* plain = expression->IgnoreParens();
    if (const auto* binary = dyn_cast<BinaryOperator>(plain); binary && binary->isAssignmentOp()) {
        collect_lvalue(binary->getLHS(), binary->isCompoundAssignmentOp(), true, into);
        return collect(binary->getRHS(), true, false, into);
    }
    if (const auto* unary = dyn_cast<UnaryOperator>(plain)) {
        if (unary->isIncrementDecrementOp()) return collect_lvalue(unary->getSubExpr(), true, true, into);
        if (unary->getOpcode() == UO_AddrOf) return collect_lvalue(unary->getSubExpr(), true, true, into);
    }
    if (isa<UnaryExprOrTypeTraitExpr>(plain)) return;
    if (const auto* call = dyn_cast<CallExpr>(plain)) {
        const auto* function = call->getDirectCallee();
        for (unsigned each = 0; each < call->getNumArgs(); ++each) {
            const auto* argument = call->getArg(each);
            if (argument->getType()->isPointerType()) {
                const bool constant = argument->getType()->getPointeeType().isConstQualified();
                into.push_back({root_of(argument), argument, true, !constant, true});
                collect_path(argument->IgnoreParenCasts(), into);
            } else {
                collect(argument, true, false, into);
            }
        }
        if (!function) collect(call->getCallee(), true, false, into);
        if (function)
            for (const auto& each : globals_of(function))
                into.push_back({each.variable, plain, each.reads, each.writes, true});
        return;
    }
    if (is_lvalue_path(plain)) return collect_lvalue(plain, reads, writes, into);
    for (const auto* child : plain->children()) collect(child, true, false, into);
}

} // namespace

found_directive directive_of(const unit& unit, const Stmt* statement) {
    const CallExpr* call = nullptr;
    const Stmt* body = nullptr;
    if (const auto* loop = dyn_cast_or_null<WhileStmt>(statement)) {
        call = our_call(loop->getCond());
        body = loop->getBody();
    } else {
        call = our_call(statement);
    }
    if (!call) return {};
    Expr::EvalResult number;
    if (!call->getArg(0)->EvaluateAsInt(number, unit.context)) return {};
    return {&unit.pragmas[static_cast<std::size_t>(number.Val.getInt().getExtValue())], call, body};
}

const Expr* tree_of(const found_directive& of, const expression& wanted) {
    if (!wanted || !of.call) return nullptr;
    return of.call->getArg(static_cast<unsigned>(wanted.argument) + 1);
}

namespace {

struct member_variable {
    const VarDecl* structure;
    std::string written;
    const VarDecl* made;
};
std::vector<member_variable> member_variables;

const member_variable* find_member(const VarDecl* made) {
    const auto found = std::find_if(member_variables.begin(), member_variables.end(),
                                    [&](const auto& each) { return each.made == made; });
    return found == member_variables.end() ? nullptr : &*found;
}

} // namespace

const VarDecl* member_pointer(const Expr* expression) {
    const auto* member = dyn_cast<MemberExpr>(expression->IgnoreParenCasts());
    if (!member || !member->getType()->isPointerType()) return nullptr;
    const auto pointee = member->getType()->getPointeeType();
    if ((pointee->isPointerType() && !has_rows(member->getType())) || pointee->isFunctionType()) return nullptr;
    const Expr* base = member;
    while (const auto* of = dyn_cast<MemberExpr>(base)) base = of->getBase()->IgnoreParenImpCasts();
    const auto* reference = dyn_cast<DeclRefExpr>(base);
    const auto* structure = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    if (!structure) return nullptr;
    structure = structure->getCanonicalDecl();
    auto& context = structure->getASTContext();
    std::string written;
    llvm::raw_string_ostream out(written);
    member->printPretty(out, nullptr, context.getPrintingPolicy());
    for (const auto& each : member_variables)
        if (each.structure == structure && each.written == written) return each.made;
    std::string name = "acc_member" + std::to_string(member_variables.size()) + "_" + written;
    for (auto& each : name)
        if (!std::isalnum(static_cast<unsigned char>(each))) each = '_';
    auto* const made = VarDecl::Create(context, const_cast<DeclContext*>(structure->getDeclContext()),
                                       member->getExprLoc(), member->getExprLoc(), &context.Idents.get(name),
                                       member->getType().getUnqualifiedType(), nullptr, SC_None);
    member_variables.push_back({structure, written, made});
    return made;
}

const VarDecl* structure_of(const VarDecl* pointer) {
    const auto* member = find_member(pointer);
    return member ? member->structure : nullptr;
}

std::string written_name(const VarDecl* variable) {
    const auto* member = find_member(variable);
    return member ? member->written : variable->getNameAsString();
}

void forget_member_pointers() { member_variables.clear(); }

const VarDecl* variable_of(const found_directive& of, const item& entry) {
    const auto* tree = tree_of(of, entry.base);
    if (!tree) return nullptr;
    if (const auto* member = member_pointer(tree)) return member;
    const auto* reference = dyn_cast<DeclRefExpr>(tree->IgnoreParenImpCasts());
    return reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
}

const VarDecl* root_of(const Expr* expression) {
    expression = expression->IgnoreParenCasts();
    if (const auto* member = member_pointer(expression)) return member;
    if (const auto* reference = dyn_cast<DeclRefExpr>(expression)) return dyn_cast<VarDecl>(reference->getDecl());
    if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(expression)) return root_of(subscript->getBase());
    if (const auto* member = dyn_cast<MemberExpr>(expression)) return root_of(member->getBase());
    if (const auto* unary = dyn_cast<UnaryOperator>(expression)) return root_of(unary->getSubExpr());
    if (const auto* binary = dyn_cast<BinaryOperator>(expression)) {
        if (binary->getLHS()->getType()->isPointerType()) return root_of(binary->getLHS());
        if (binary->getRHS()->getType()->isPointerType()) return root_of(binary->getRHS());
    }
    return nullptr;
}

namespace {

/// All variables that the value may point into.
void add_roots(const Expr* value, std::set<const VarDecl*>& into) {
    value = value->IgnoreParenCasts();
    if (const auto* choice = dyn_cast<ConditionalOperator>(value)) {
        add_roots(choice->getTrueExpr(), into);
        add_roots(choice->getFalseExpr(), into);
    } else if (const auto* either = dyn_cast<BinaryConditionalOperator>(value)) {
        add_roots(either->getCommon(), into);
        add_roots(either->getFalseExpr(), into);
    } else if (const auto* list = dyn_cast<InitListExpr>(value)) {
        for (const auto* each : list->inits()) add_roots(each, into);
    } else if (const auto* call = dyn_cast<CallExpr>(value)) {
        for (const auto* each : call->arguments())
            if (each->getType()->isPointerType()) add_roots(each, into);
    } else if (const auto* binary = dyn_cast<BinaryOperator>(value);
               binary && (binary->isAssignmentOp() || binary->getOpcode() == BO_Comma)) {
        add_roots(binary->getRHS(), into);
    } else if (const auto* root = root_of(value)) {
        into.insert(root);
    }
}

bool holds_pointer(QualType type) {
    while (const auto* array = type->getAsArrayTypeUnsafe()) type = array->getElementType();
    return type->isPointerType();
}

} // namespace

pointees::pointees(const Stmt* region) {
    walk(region, [&](const Stmt* each) {
        if (const auto* declaration = dyn_cast<DeclStmt>(each)) {
            for (const auto* one : declaration->decls())
                if (const auto* variable = dyn_cast<VarDecl>(one);
                    variable && variable->getInit() && holds_pointer(variable->getType()))
                    add_roots(variable->getInit(), m_direct[variable]);
        } else if (const auto* binary = dyn_cast<BinaryOperator>(each);
                   binary && binary->getOpcode() == BO_Assign && binary->getType()->isPointerType()) {
            if (const auto* root = root_of(binary->getLHS())) add_roots(binary->getRHS(), m_direct[root]);
        }
        return true;
    });
}

std::set<const VarDecl*> pointees::reached(const VarDecl* root) const {
    std::set<const VarDecl*> found = {root};
    std::vector<const VarDecl*> open = {root};
    while (!open.empty()) {
        const auto direct = m_direct.find(open.back());
        open.pop_back();
        if (direct == m_direct.end()) continue;
        for (const auto* each : direct->second)
            if (found.insert(each).second) open.push_back(each);
    }
    return found;
}

std::vector<global_use> globals_of(const FunctionDecl* function) {
    const FunctionDecl* definition = nullptr;
    if (!function->hasBody(definition)) return {};
    thread_local std::set<const FunctionDecl*> under_way; // those that call each other
    if (!under_way.insert(definition).second) return {};
    std::vector<global_use> all;
    for (const auto& each : accesses_in(definition->getBody())) {
        if (!each.root || !each.root->isFileVarDecl()) continue;
        const auto known = std::find_if(all.begin(), all.end(), [&](const auto& other) {
            return other.variable->getCanonicalDecl() == each.root->getCanonicalDecl();
        });
        if (known == all.end()) {
            all.push_back({each.root, each.reads, each.writes});
        } else {
            known->reads |= each.reads;
            known->writes |= each.writes;
        }
    }
    under_way.erase(definition);
    return all;
}

std::string recursion_of(const FunctionDecl* function) {
    std::map<const FunctionDecl*, const FunctionDecl*> callers; // of functions that are reached: one each
    std::vector<const FunctionDecl*> open = {function->getCanonicalDecl()};
    const auto* const own = open.front();
    const auto name = [](const FunctionDecl* one) { return "'" + one->getNameAsString() + "'"; };
    std::string text;
    while (!open.empty() && text.empty()) {
        const auto* const caller = open.back();
        open.pop_back();
        const FunctionDecl* definition = nullptr;
        if (!caller->hasBody(definition)) continue;
        walk(definition->getBody(), [&](const Stmt* each) {
            if (isa<UnaryExprOrTypeTraitExpr>(each)) return false; // `sizeof` calls nothing
            const auto* call = dyn_cast<CallExpr>(each);
            const auto* callee = call ? call->getDirectCallee() : nullptr;
            if (!callee || !text.empty()) return true;
            callee = callee->getCanonicalDecl();
            if (callee == own)
                text = "recursion: " + name(own) +
                       (caller == own ? " calls itself" : " calls itself through " + name(caller));
            else if (callers.emplace(callee, caller).second)
                open.push_back(callee);
            return true;
        });
    }
    return text;
}

const VarDecl* global_variable(const unit& unit, const std::string& name) {
    for (const auto* each : unit.context.getTranslationUnitDecl()->lookup(&unit.context.Idents.get(name)))
        if (const auto* variable = dyn_cast<VarDecl>(each)) return variable->getMostRecentDecl();
    return nullptr;
}

std::vector<access> accesses_in(const Stmt* statement) {
    std::vector<access> all;
    collect(statement, true, false, all);
    return all;
}

void walk(const Stmt* statement, const std::function<bool(const Stmt*)>& act) {
    if (!statement || our_call(statement)) return;
    if (!act(statement)) return;
    if (const auto* loop = dyn_cast<WhileStmt>(statement); loop && our_call(loop->getCond()))
        return walk(loop->getBody(), act);
    for (const auto* child : statement->children()) walk(child, act);
}

bool has_rows(QualType type) {
    type = type.getCanonicalType();
    const auto row = type->isPointerType() ? type->getPointeeType()
                     : type->isArrayType() ? type->getAsArrayTypeUnsafe()->getElementType()
                                           : QualType();
    if (row.isNull() || !row->isPointerType()) return false;
    const auto element = row->getPointeeType();
    return !element->isPointerType() && !element->isArrayType() && !element->isFunctionType() &&
           !element->isIncompleteType();
}

bool is_scalar(QualType type) {
    type = type.getCanonicalType();
    return type->isArithmeticType() || type->isEnumeralType();
}

} // namespace directive
