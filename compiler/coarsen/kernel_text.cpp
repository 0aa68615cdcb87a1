// SPDX-License-Identifier: Apache-2.0
// Asks libclang.
#include "kernel_text.hpp"

#include <clang-c/Index.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <set>
#include <string_view>

namespace coarsen {

namespace {

std::string text_of(CXString string) {
    const char* const letters = clang_getCString(string);
    std::string text = letters == nullptr ? "" : letters;
    clang_disposeString(string);
    return text;
}

/// Calls visit(child) for each child, and for theirs where it says so.
void for_each_child(CXCursor cursor, const std::function<CXChildVisitResult(CXCursor)>& visit) {
    clang_visitChildren(
        cursor,
        [](CXCursor child, CXCursor, CXClientData data) {
            return (*static_cast<const std::function<CXChildVisitResult(CXCursor)>*>(data))(child);
        },
        const_cast<std::function<CXChildVisitResult(CXCursor)>*>(&visit));
}

std::size_t offset_of(CXSourceLocation location) {
    unsigned offset = 0;
    clang_getExpansionLocation(location, nullptr, nullptr, nullptr, &offset);
    return offset;
}

/// Whether the location is in a macro, and not in the text.
bool is_in_macro(CXSourceLocation location) {
    unsigned spelled = 0, expanded = 0;
    CXFile file = nullptr, other = nullptr;
    clang_getSpellingLocation(location, &file, nullptr, nullptr, &spelled);
    clang_getExpansionLocation(location, &other, nullptr, nullptr, &expanded);
    return spelled != expanded || !clang_File_isEqual(file, other);
}

/// What ties a work-item to its group.
bool is_of_groups(std::string_view function) {
    for (const std::string_view each :
         {"barrier", "work_group_barrier", "get_local_id", "get_local_size", "get_enqueued_local_size", "get_group_id",
          "get_num_groups", "get_local_linear_id", "get_global_linear_id", "async_work_group_copy",
          "async_work_group_strided_copy", "wait_group_events", "get_sub_group_id", "get_sub_group_local_id",
          "sub_group_barrier"})
        if (function == each) return true;
    return function.starts_with("work_group_") || function.starts_with("sub_group_");
}

class checker {
  public:
    /// Throws refusal for what stands in the function or in those that it calls.
    void check(CXCursor function, bool is_kernel) {
        if (!m_seen.insert(text_of(clang_getCursorUSR(function))).second) return;
        const std::function<CXChildVisitResult(CXCursor)> visit = [&](CXCursor child) {
            const auto kind = clang_getCursorKind(child);
            const auto name = text_of(clang_getCursorSpelling(child));
            if ((kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl) &&
                text_of(clang_getTypeSpelling(clang_getCanonicalType(clang_getCursorType(child)))).find("__local") !=
                    std::string::npos)
                throw refusal("it has local memory, " + name);
            if (kind == CXCursor_CallExpr) {
                if (is_of_groups(name)) throw refusal("it calls " + name);
                if (!is_kernel && (name == "get_global_id" || name == "get_global_size" || name == "get_global_offset"))
                    throw refusal("a function that it calls asks for " + name);
                const auto definition = clang_getCursorDefinition(clang_getCursorReferenced(child));
                if (!clang_Cursor_isNull(definition)) check(definition, false);
            }
            return CXChildVisit_Recurse;
        };
        for_each_child(function, visit);
    }

  private:
    std::set<std::string> m_seen;
};

/// The parenthesis or brace that closes the one at `open`.
std::size_t closing(const std::string& source, std::size_t open,
                    const std::vector<std::pair<std::size_t, std::string>>& tokens) {
    const char opener = source[open], closer = opener == '(' ? ')' : '}';
    int depth = 0;
    for (const auto& [offset, word] : tokens) {
        if (offset < open || word.size() != 1) continue;
        if (word[0] == opener) ++depth;
        if (word[0] == closer && --depth == 0) return offset;
    }
    throw refusal("a bracket of its text is not closed");
}

std::vector<std::pair<std::size_t, std::string>> tokens_of(CXTranslationUnit unit, CXSourceRange range) {
    CXToken* tokens = nullptr;
    unsigned count = 0;
    clang_tokenize(unit, range, &tokens, &count);
    std::vector<std::pair<std::size_t, std::string>> words;
    for (unsigned i = 0; i < count; ++i) {
        if (clang_getTokenKind(tokens[i]) == CXToken_Comment) continue;
        unsigned offset = 0;
        clang_getSpellingLocation(clang_getTokenLocation(unit, tokens[i]), nullptr, nullptr, nullptr, &offset);
        words.emplace_back(offset, text_of(clang_getTokenSpelling(unit, tokens[i])));
    }
    clang_disposeTokens(unit, tokens, count);
    return words;
}

kernel_text find_text(CXTranslationUnit unit, CXCursor function, const std::string& source, const std::string& kernel) {
    const auto location = clang_getCursorLocation(function);
    if (is_in_macro(location)) throw refusal("its definition stands in a macro");
    const auto all = tokens_of(unit, clang_getCursorExtent(clang_getTranslationUnitCursor(unit)));
    kernel_text found;
    found.name = offset_of(location);
    const auto name = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == found.name; });
    if (name == all.end() || name->second != kernel) throw refusal("its name does not stand in the text");
    // Back to the end of what was before it.
    auto first = name;
    while (first != all.begin()) {
        const auto& word = std::prev(first)->second;
        if (word == ";" || word == "}") break;
        --first;
    }
    // Directives stand between functions, too: from the last __kernel on.
    auto marker = name;
    while (marker != first && marker->second != "__kernel" && marker->second != "kernel") --marker;
    if (marker->second != "__kernel" && marker->second != "kernel")
        throw refusal("__kernel does not stand in front of it");
    found.begin = marker->first;
    const auto result = std::find_if(marker, name, [](const auto& each) { return each.second == "void"; });
    if (result == name) throw refusal("void does not stand in front of its name");
    found.result = result->first;
    const auto open = std::next(name);
    if (open == all.end() || open->second != "(") throw refusal("no parameters follow its name");
    found.parameters = open->first + 1;
    found.parameters_end = closing(source, open->first, all);
    const auto body = std::find_if(
        open, all.end(), [&](const auto& each) { return each.first > found.parameters_end && each.second == "{"; });
    if (body == all.end()) throw refusal("it has no body");
    found.body = body->first;
    found.end = closing(source, found.body, all) + 1;
    return found;
}

} // namespace

kernel_text find_kernel(const std::string& file, const std::string& source, const std::string& kernel,
                        const std::vector<std::string>& options) {
    std::vector<const char*> words{"-x",
                                   "cl",
                                   "-cl-std=CL1.2",
                                   "-Xclang",
                                   "-finclude-default-header",
                                   "-target",
                                   "spir64",
                                   "-isystem",
                                   (CAUSEWAY_CLANG_RESOURCES "/include")};
    for (const auto& each : options) words.push_back(each.c_str());
    const std::unique_ptr<void, void (*)(CXIndex)> index(clang_createIndex(0, 0), clang_disposeIndex);
    CXTranslationUnit parsed = nullptr;
    if (clang_parseTranslationUnit2(index.get(), file.c_str(), words.data(), static_cast<int>(words.size()), nullptr, 0,
                                    CXTranslationUnit_None, &parsed) != CXError_Success)
        throw refusal("Clang cannot read " + file);
    const std::unique_ptr<CXTranslationUnitImpl, void (*)(CXTranslationUnit)> unit(parsed,
                                                                                   clang_disposeTranslationUnit);
    for (unsigned i = 0; i < clang_getNumDiagnostics(parsed); ++i) {
        const auto diagnostic = clang_getDiagnostic(parsed, i);
        const bool is_error = clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
        const auto text = text_of(clang_formatDiagnostic(diagnostic, clang_defaultDiagnosticDisplayOptions()));
        clang_disposeDiagnostic(diagnostic);
        if (is_error) throw refusal(text);
    }
    CXCursor function = clang_getNullCursor();
    for_each_child(clang_getTranslationUnitCursor(parsed), [&](CXCursor child) {
        if (clang_getCursorKind(child) == CXCursor_FunctionDecl && clang_isCursorDefinition(child) != 0 &&
            text_of(clang_getCursorSpelling(child)) == kernel)
            function = child;
        return CXChildVisit_Continue;
    });
    if (clang_Cursor_isNull(function)) throw refusal("there is no kernel " + kernel);
    auto found = find_text(parsed, function, source, kernel);
    const auto attributes = source.substr(found.begin, found.name - found.begin);
    if (attributes.find("reqd_work_group_size") != std::string::npos) throw refusal("it asks for a work-group size");
    checker().check(function, true);
    for (int i = 0; i < clang_Cursor_getNumArguments(function); ++i)
        found.arguments.push_back(
            text_of(clang_getCursorSpelling(clang_Cursor_getArgument(function, static_cast<unsigned>(i)))));
    return found;
}

} // namespace coarsen
