// SPDX-License-Identifier: Apache-2.0
#include "translation.hpp"

#include "checks.hpp"
#include "host_rewriter.hpp"
#include "pragma_parser.hpp"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/Decl.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/Process.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <algorithm>
#include <cstdio>
#include <set>

namespace directive {

using namespace clang;

namespace {

class consumer final : public ASTConsumer {
  public:
    consumer(std::deque<pragma>& pragmas, const std::string& text, translation& into)
        : m_pragmas(pragmas), m_text(text), m_into(into) {}

    void HandleTranslationUnit(ASTContext& context) override {
        if (context.getDiagnostics().hasErrorOccurred()) return;
        unit unit{context, m_pragmas};
        forget_member_pointers();
        for (const auto& each : m_pragmas)
            if (each.name == "declare" && !each.in_function)
                declare(unit, each);
            else if (each.name == "routine")
                routine(unit, each);
        host_rewriter rewriter(unit, m_text, &m_into.report);
        for (const auto* each : context.getTranslationUnitDecl()->decls())
            if (const auto* function = dyn_cast<FunctionDecl>(each);
                function && function->doesThisDeclarationHaveABody()) {
                check_directives(unit, function);
                rewriter.function(function);
            }
        if (context.getDiagnostics().hasErrorOccurred()) return;
        m_into.host = rewriter.finish();
        m_into.succeeded = true;
    }

    /// GCC's own headers use built-in functions that Clang lacks, as those of vector instructions do.
    bool shouldSkipFunctionBody(Decl* declaration) override {
        const auto& sources = declaration->getASTContext().getSourceManager();
        const StringRef file = sources.getPresumedLoc(declaration->getLocation()).getFilename();
        return file.contains("/lib/gcc/") || file.contains("/lib64/gcc/");
    }

  private:
    std::deque<pragma>& m_pragmas;
    const std::string& m_text;
    translation& m_into;

    static void routine(unit& unit, const pragma& directive) {
        const auto& sources = unit.context.getSourceManager();
        const auto* const named = directive.find("routine");
        std::string level = "seq";
        for (const char* each : {"gang", "worker", "vector"})
            if (directive.find(each)) level = each;
        for (const auto* each : unit.context.getTranslationUnitDecl()->decls()) {
            const auto* function = dyn_cast<FunctionDecl>(each);
            if (!function) continue;
            if (named && std::any_of(named->items.begin(), named->items.end(),
                                     [&](const item& entry) { return entry.word == function->getNameAsString(); })) {
                unit.routines.emplace(function->getCanonicalDecl(), level);
            } else if (!named && sources.isBeforeInTranslationUnit(directive.location, function->getBeginLoc())) {
                unit.routines.emplace(function->getCanonicalDecl(), level);
                return;
            }
        }
    }

    /// Outside of functions.
    static void declare(unit& unit, const pragma& directive) {
        static const std::set<std::string> clauses = {"create", "copyin", "device_resident", "link"};
        for (const auto& clause : directive.clauses) {
            if (!clauses.contains(clause.name)) {
                unit.error(clause.location, "'" + clause.name + "' of 'declare' belongs into a function");
                continue;
            }
            for (const auto& entry : clause.items) {
                const auto& name = entry.base.text;
                const auto* variable = global_variable(unit, name);
                if (!variable)
                    unit.error(entry.location,
                               "'declare' is outside of functions, where there is no variable '" + name + "'");
                else if (!entry.sections.empty())
                    unit.error(entry.location, "not supported: a section in 'declare' outside of functions");
                else if (variable->getType()->isIncompleteType() && clause.name != "link")
                    unit.error(entry.location,
                               "not supported: 'declare' of '" + name + "', whose size is not known here");
                else if (!unit.declared.emplace(variable->getCanonicalDecl(), clause.name).second)
                    unit.error(entry.location, "'" + name + "' is in two clauses of 'declare'");
            }
        }
    }
};

class action final : public ASTFrontendAction {
  public:
    action(const std::string& text, translation& into) : m_text(text), m_into(into) {}

    std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& instance, StringRef) override {
        instance.getFrontendOpts().SkipFunctionBodies = true;
        auto& preprocessor = instance.getPreprocessor();
        add_pragma_reader(preprocessor, m_pragmas);
        preprocessor.setPredefines(preprocessor.getPredefines() + "\nint " + call_name + "(int, ...);\n");
        return std::make_unique<consumer>(m_pragmas, m_text, m_into);
    }

  private:
    const std::string& m_text;
    translation& m_into;
    std::deque<pragma> m_pragmas;
};

} // namespace

namespace {

/// Takes from GCC's line markers what Clang reads in another way: line 0, and which header is entered and left. Keeps
/// all places.
std::string with_plain_markers(std::string text) {
    for (std::size_t line = 0; line < text.size(); ++line) {
        const auto end = std::min(text.find('\n', line), text.size());
        if (text.compare(line, 2, "# ") == 0) {
            if (text.compare(line + 2, 2, "0 ") == 0) text[line + 2] = '1';
            const auto quote = text.rfind('"', end);
            if (quote != std::string::npos && quote > line)
                std::fill(text.begin() + static_cast<long>(quote) + 1, text.begin() + static_cast<long>(end), ' ');
        }
        line = end;
    }
    return text;
}

} // namespace

bool has_directives(const std::string& text) { return with_renamed_pragmas(text) != text; }

translation translate(const std::string& text, const std::string& file, const std::vector<std::string>& arguments) {
    translation made;
    const auto renamed = with_renamed_pragmas(text), read = with_plain_markers(renamed);
    // What is said of a line shows it as it was written.
    std::string said;
    llvm::raw_string_ostream stream(said);
    llvm::IntrusiveRefCntPtr<DiagnosticOptions> options(new DiagnosticOptions);
    options->ShowPresumedLoc = true;
    options->ShowColors = llvm::sys::Process::StandardErrHasColors();
    TextDiagnosticPrinter printer(stream, options.get());
    llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> files(
        new llvm::vfs::OverlayFileSystem(llvm::vfs::getRealFileSystem()));
    llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> memory(new llvm::vfs::InMemoryFileSystem);
    files->pushOverlay(memory);
    llvm::IntrusiveRefCntPtr<FileManager> manager(new FileManager(FileSystemOptions(), files));
    memory->addFile(file, 0, llvm::MemoryBuffer::getMemBuffer(read));
    std::vector<std::string> command = {"causeway-cc"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    command.push_back(file);
    tooling::ToolInvocation invocation(command, std::make_unique<action>(renamed, made), manager.get());
    invocation.setDiagnosticConsumer(&printer);
    const bool ran = invocation.run();
    stream.flush();
    for (std::size_t at = 0; (at = said.find("pragma Acc", at)) != std::string::npos;) said[at + 7] = 'a';
    std::fputs(said.c_str(), stderr);
    made.succeeded = made.succeeded && ran;
    return made;
}

} // namespace directive
