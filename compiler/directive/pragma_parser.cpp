// SPDX-License-Identifier: Apache-2.0
// The tables of directives and clauses, and the reader that Clang's preprocessor calls.
#include "pragma_parser.hpp"

#include <clang/Basic/Diagnostic.h>
#include <clang/Lex/Pragma.h>

#include <map>
#include <memory>
#include <set>

namespace directive {
namespace {

using clang::SourceLocation;
using clang::Token;
namespace tok = clang::tok;
using words = std::set<std::string>;

const words stand_alone = {"enter data", "exit data", "update", "update peer", "wait",
                           "init",       "shutdown",  "set",    "cache"};
const words declarative = {"routine", "declare"};
const words data_clauses = {"copy", "copyin", "copyout", "create", "present", "no_create", "deviceptr", "attach"};
const words compute_clauses = {"private", "firstprivate", "reduction", "async",       "wait", "if",
                               "self",    "default",      "deviceid",  "device_type", "dtype"};
const words parallel_clauses = {"num_gangs", "num_workers", "vector_length"};
const words loop_clauses = {"private",     "reduction", "gang",     "worker", "vector",      "seq",
                            "independent", "auto",      "collapse", "tile",   "device_type", "dtype"};

words joined(std::initializer_list<words> sets) {
    words all;
    for (const auto& each : sets) all.insert(each.begin(), each.end());
    return all;
}

/// The clauses of each directive.
const std::map<std::string, words> clauses_of = {
    {"parallel", joined({data_clauses, compute_clauses, parallel_clauses})},
    {"serial", joined({data_clauses, compute_clauses})},
    {"kernels", joined({data_clauses, compute_clauses, parallel_clauses})},
    {"parallel loop", joined({data_clauses, compute_clauses, parallel_clauses, loop_clauses})},
    {"serial loop", joined({data_clauses, compute_clauses, loop_clauses})},
    {"kernels loop", joined({data_clauses, compute_clauses, parallel_clauses, loop_clauses})},
    {"loop", loop_clauses},
    {"data", joined({data_clauses, {"if", "async", "wait", "default", "deviceid", "device_type"}})},
    {"host_data", {"use_device", "if", "if_present", "deviceid"}},
    {"enter data", {"copyin", "create", "attach", "if", "async", "wait", "deviceid", "device"}},
    {"exit data", {"copyout", "delete", "detach", "finalize", "if", "async", "wait", "deviceid", "device"}},
    {"update", {"host", "device", "if", "if_present", "async", "wait", "deviceid", "device_type"}},
    {"update peer", {"to", "from", "to_device", "from_device", "if", "async", "wait"}},
    {"wait", {"wait", "async", "if", "device", "deviceid"}},
    {"atomic", {"read", "write", "update", "capture", "if"}},
    {"routine", {"routine", "gang", "worker", "vector", "seq", "nohost", "bind", "device_type"}},
    {"declare", joined({data_clauses, {"device_resident", "link"}})},
    {"init", {"device_type", "device_num", "if"}},
    {"shutdown", {"device_type", "device_num", "if"}},
    {"set", {"device_type", "device_num", "default_async", "if"}},
    {"cache", {"cache"}},
};

/// Clauses whose entries are variables or sections of arrays.
const words variable_lists = {"copy",         "copyin",    "copyout",         "create", "present",
                              "no_create",    "deviceptr", "attach",          "detach", "private",
                              "firstprivate", "reduction", "delete",          "host",   "use_device",
                              "to",           "from",      "device_resident", "link",   "cache"};
/// Clauses whose argument is no expression.
const words word_clauses = {"default", "device_type", "dtype", "bind", "routine"};

/// Clauses that take one argument, and stand once in a directive.
const words single_clauses = {"num_gangs",   "num_workers", "vector_length", "async",    "if",
                              "self",        "default",     "collapse",      "deviceid", "to_device",
                              "from_device", "device_num",  "default_async"};
const words plain_words = {"seq",    "independent", "auto",  "finalize", "if_present",
                           "nohost", "read",        "write", "update",   "capture"};

std::string plain_clause(const std::string& name, const std::string& in) {
    static const std::map<std::string, std::string> spellings = {{"pcopy", "copy"},
                                                                 {"pcopyin", "copyin"},
                                                                 {"pcopyout", "copyout"},
                                                                 {"pcreate", "create"},
                                                                 {"present_or_copy", "copy"},
                                                                 {"present_or_copyin", "copyin"},
                                                                 {"present_or_copyout", "copyout"},
                                                                 {"present_or_create", "create"}};
    if (in == "update" && name == "self") return "host";
    const auto found = spellings.find(name);
    return found == spellings.end() ? name : found->second;
}

class reader final : public clang::PragmaHandler {
  public:
    explicit reader(std::deque<pragma>& pragmas) : PragmaHandler(pragma_name), m_pragmas(pragmas) {}

    void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer, Token& first) override {
        m_preprocessor = &preprocessor;
        m_tokens.clear();
        m_at = 0;
        m_failed = false;
        m_call.clear();
        m_arguments = 0;
        m_line = first.getLocation();
        Token token;
        for (preprocessor.Lex(token); token.isNot(tok::eod); preprocessor.Lex(token)) m_tokens.push_back(token);
        pragma read;
        read.location = m_line;
        read.id = static_cast<int>(m_pragmas.size());
        read.name = directive_name();
        const bool in_braces = declarative.contains(read.name) && is_in_braces(m_line);
        if (read.name == "routine" && in_braces)
            return error(m_line, "'routine' stands outside of functions, before a function or with its name");
        read.in_function = read.name == "declare" && in_braces;
        const auto known = clauses_of.find(read.name);
        if (known == clauses_of.end()) {
            error(m_tokens.empty() ? m_line : m_tokens.front().getLocation(),
                  read.name.empty() ? "expected an OpenACC directive" : "OpenACC has no directive '" + read.name + "'");
            return;
        }
        if (const auto open = at_parenthesis();
            open && (read.name == "wait" || read.name == "cache" || read.name == "routine"))
            read_clause(read, read.name, m_tokens[m_at].getLocation());
        while (m_at < m_tokens.size() && !m_failed) {
            if (m_tokens[m_at].is(tok::comma)) {
                ++m_at;
                continue;
            }
            const auto location = m_tokens[m_at].getLocation();
            const auto written = word(m_at);
            if (written.empty()) {
                error(location, "expected a clause of '" + read.name + "'");
                return;
            }
            const auto name = plain_clause(written, read.name);
            if (!known->second.contains(name)) {
                error(location, "'" + written + "' is no clause of '" + read.name + "'");
                return;
            }
            ++m_at;
            read_clause(read, name, location);
        }
        if (m_failed) return;
        if (read.name == "set" && !read.find("device_type") && !read.find("device_num") && !read.find("default_async"))
            return error(read.location,
                         "'set' needs one of the clauses 'device_type', 'device_num' and 'default_async'");
        if (!declarative.contains(read.name) || read.in_function) inject(read);
        m_pragmas.push_back(std::move(read));
    }

  private:
    std::deque<pragma>& m_pragmas;
    clang::Preprocessor* m_preprocessor = nullptr;
    std::vector<Token> m_tokens;
    std::size_t m_at = 0;
    bool m_failed = false;
    SourceLocation m_line;
    std::vector<Token> m_call; // the arguments, each after its comma
    int m_arguments = 0;
    std::deque<std::string> m_numbers;

    /// The parser has read a token ahead and does not know: after a function's end it takes that for its inside.
    bool is_in_braces(SourceLocation location) const {
        const auto& sources = m_preprocessor->getSourceManager();
        const auto [file, offset] = sources.getDecomposedLoc(location);
        const auto text = sources.getBufferData(file);
        clang::Lexer lexer(sources.getLocForStartOfFile(file), m_preprocessor->getLangOpts(), text.begin(),
                           text.begin(), text.end());
        int depth = 0;
        for (Token token; !lexer.LexFromRawLexer(token) && sources.getFileOffset(token.getLocation()) < offset;) {
            if (token.is(tok::l_brace)) ++depth;
            if (token.is(tok::r_brace)) --depth;
        }
        return depth > 0;
    }

    void error(SourceLocation location, const std::string& text) {
        auto& diagnostics = m_preprocessor->getDiagnostics();
        diagnostics.Report(location, diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0")) << text;
        m_failed = true;
    }

    std::string word(std::size_t at) const {
        if (at >= m_tokens.size() || !m_tokens[at].getIdentifierInfo()) return {};
        return m_tokens[at].getIdentifierInfo()->getName().str();
    }

    bool at_parenthesis() const { return m_at < m_tokens.size() && m_tokens[m_at].is(tok::l_paren); }

    std::string directive_name() {
        std::string name = word(m_at);
        if (!name.empty()) ++m_at;
        const auto take = [&](const char* second) {
            if (word(m_at) != second) return;
            name += std::string(" ") + second;
            ++m_at;
        };
        if (name == "enter" || name == "exit") take("data");
        if (name == "parallel" || name == "kernels" || name == "serial") take("loop");
        if (name == "update") take("peer");
        return name;
    }

    std::string text(std::size_t from, std::size_t to) const {
        std::string all;
        for (std::size_t at = from; at < to; ++at) {
            if (at > from && m_tokens[at].hasLeadingSpace()) all += ' ';
            all += m_preprocessor->getSpelling(m_tokens[at]);
        }
        return all;
    }

    Token made(tok::TokenKind kind) const {
        Token token;
        token.startToken();
        token.setKind(kind);
        token.setLocation(m_line);
        token.setLength(1);
        return token;
    }

    Token number(int value) {
        auto& spelled = m_numbers.emplace_back(std::to_string(value));
        auto token = made(tok::numeric_constant);
        token.setLiteralData(spelled.c_str());
        token.setLength(static_cast<unsigned>(spelled.size()));
        return token;
    }

    /// Adds the tokens [from, to) as an argument of the call.
    expression add_expression(std::size_t from, std::size_t to) {
        if (from >= to) return {};
        m_call.push_back(made(tok::comma));
        m_call.push_back(made(tok::l_paren));
        m_call.insert(m_call.end(), m_tokens.begin() + from, m_tokens.begin() + to);
        m_call.push_back(made(tok::r_paren));
        return {m_arguments++, text(from, to)};
    }

    /// The index behind the bracket that closes the one at `open`; 0 if none does.
    std::size_t behind_bracket(std::size_t open) const {
        int depth = 0;
        for (std::size_t at = open; at < m_tokens.size(); ++at) {
            if (m_tokens[at].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) ++depth;
            if (m_tokens[at].isOneOf(tok::r_paren, tok::r_square, tok::r_brace) && --depth == 0) return at + 1;
        }
        return 0;
    }

    /// The first token of `kind` in [from, to) outside of brackets, and of `?:` for a colon; `to` if there is none.
    std::size_t find_outside(tok::TokenKind kind, std::size_t from, std::size_t to) const {
        int depth = 0, questions = 0;
        for (std::size_t at = from; at < to; ++at) {
            if (m_tokens[at].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) ++depth;
            if (m_tokens[at].isOneOf(tok::r_paren, tok::r_square, tok::r_brace)) --depth;
            if (depth == 0 && m_tokens[at].is(tok::question)) ++questions;
            if (depth == 0 && m_tokens[at].is(kind)) {
                if (kind != tok::colon || questions == 0) return at;
                --questions;
            }
        }
        return to;
    }

    void read_clause(pragma& into, const std::string& name, SourceLocation location) {
        clause read{name, {}, location};
        if (at_parenthesis()) {
            const auto end = behind_bracket(m_at);
            if (end == 0) return error(m_tokens[m_at].getLocation(), "expected ')' to end the clause '" + name + "'");
            std::string modifier;
            for (auto from = m_at + 1; from < end;) {
                const auto to = find_outside(tok::comma, from, end - 1);
                if (name == "wait" && take_wait_prefix(read, from, to)) continue;
                if (from == to) {
                    error(m_tokens[from].getLocation(), "expected an argument of the clause '" + name + "'");
                    return;
                }
                read.items.push_back(read_item(into, name, from, to, modifier));
                if (m_failed) return;
                from = to + 1;
                if (to == end - 1) break;
            }
            m_at = end;
        } else if (!plain_words.contains(name) && name != "wait" && name != "async" && name != "gang" &&
                   name != "worker" && name != "vector" && name != "self") {
            return error(location, "the clause '" + name + "' needs an argument");
        }
        check_count(into, read);
        into.clauses.push_back(std::move(read));
    }

    void check_count(const pragma& into, const clause& read) {
        const bool single = single_clauses.contains(read.name) || (read.name == "device" && into.name != "update");
        if (plain_words.contains(read.name) && !read.items.empty())
            error(read.location, "the clause '" + read.name + "' takes no argument");
        else if (single && read.items.size() > 1)
            error(read.location, "the clause '" + read.name + "' takes one argument");
        else if (single && into.find(read.name) && !into.find("device_type") && !into.find("dtype"))
            error(read.location, "'" + into.name + "' has two clauses '" + read.name + "'");
    }

    /// Takes `devnum: n :` or `queues:` from the front of [from, to). False if neither is there.
    bool take_wait_prefix(clause& into, std::size_t& from, std::size_t to) {
        const auto colon = find_outside(tok::colon, from, to);
        if (colon != from + 1 || colon == to) return false;
        if (word(from) == "queues") {
            from = colon + 1;
            return true;
        }
        if (word(from) != "devnum") return false;
        const auto second = find_outside(tok::colon, colon + 1, to);
        item device;
        device.modifier = "devnum";
        device.location = m_tokens[from].getLocation();
        device.base = add_expression(colon + 1, second);
        into.items.push_back(std::move(device));
        from = second + 1;
        return true;
    }

    item read_item(const pragma& into, const std::string& name, std::size_t from, std::size_t to,
                   std::string& modifier) {
        item read;
        read.location = m_tokens[from].getLocation();
        // `operator:`, `readonly:` and `devnum:` hold for the entries that follow; `a ? b : c` has none.
        const auto colon = find_outside(tok::colon, from, to);
        if (colon < to) {
            modifier = text(from, colon);
            if (modifier == "devnum" || modifier == "num" || modifier == "static" || modifier == "length") {
                read.modifier = modifier;
                modifier.clear();
                if (!(to == colon + 2 && m_tokens[colon + 1].is(tok::star))) read.base = add_expression(colon + 1, to);
                return read;
            }
            if (name == "gang" || name == "worker" || name == "vector" || name == "collapse") {
                error(read.location, "not supported: '" + modifier + "' in the clause '" + name + "'");
                return read;
            }
            from = colon + 1;
        } else if (name == "reduction" && modifier.empty()) {
            error(read.location, "expected an operator and ':' in the clause 'reduction'");
            return read;
        }
        read.modifier = modifier;
        if (to == from + 1) read.word = word(from);
        if (word_clauses.contains(name)) {
            read.word = text(from, to);
            return read;
        }
        const bool variable = variable_lists.contains(name) || (name == "device" && into.name == "update");
        if (!variable) {
            if (!(to == from + 1 && m_tokens[from].is(tok::star))) read.base = add_expression(from, to);
            return read;
        }
        // The sections at the end, from the first bracket that has a colon in it or only brackets behind it.
        auto end = from;
        while (end < to && m_tokens[end].isNot(tok::l_square)) ++end;
        read.base = add_expression(from, end);
        if (!read.base) error(read.location, "expected a variable in the clause '" + name + "'");
        while (end < to && m_tokens[end].is(tok::l_square)) {
            const auto behind = behind_bracket(end);
            if (m_tokens[behind - 1].isNot(tok::r_square)) {
                error(m_tokens[end].getLocation(), "expected ']'");
                return read;
            }
            section part;
            const auto middle = find_outside(tok::colon, end + 1, behind - 1);
            part.colon = middle < behind - 1;
            part.low = add_expression(end + 1, middle);
            if (part.colon) {
                if (find_outside(tok::colon, middle + 1, behind - 1) < behind - 1) {
                    error(m_tokens[middle].getLocation(), "a section is [first:length]; it has one colon");
                    return read;
                }
                part.length = add_expression(middle + 1, behind - 1);
            }
            read.sections.push_back(std::move(part));
            end = behind;
        }
        if (end < to)
            error(m_tokens[end].getLocation(),
                  "not supported: '" + text(end, to) + "' after a section in the clause '" + name + "'");
        return read;
    }

    void inject(const pragma& read) {
        const bool alone = stand_alone.contains(read.name) || read.in_function;
        std::vector<Token> all;
        const auto name = [&](const char* spelled, tok::TokenKind kind) {
            auto token = made(kind);
            token.setIdentifierInfo(m_preprocessor->getIdentifierInfo(spelled));
            all.push_back(token);
        };
        if (!alone) {
            name("while", tok::kw_while);
            all.push_back(made(tok::l_paren));
        }
        name(call_name, tok::identifier);
        all.push_back(made(tok::l_paren));
        all.push_back(number(read.id));
        all.insert(all.end(), m_call.begin(), m_call.end());
        all.push_back(made(tok::r_paren));
        all.push_back(made(alone ? tok::semi : tok::r_paren));
        auto tokens = std::make_unique<Token[]>(all.size());
        std::copy(all.begin(), all.end(), tokens.get());
        m_preprocessor->EnterTokenStream(std::move(tokens), static_cast<unsigned>(all.size()), true, false);
    }
};

} // namespace

void add_pragma_reader(clang::Preprocessor& preprocessor, std::deque<pragma>& pragmas) {
    preprocessor.AddPragmaHandler(new reader(pragmas)); // the preprocessor deletes it
}

std::string with_renamed_pragmas(std::string text) {
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (std::size_t line = 0; line < text.size();
         line = text.find('\n', line) == std::string::npos ? text.size() : text.find('\n', line) + 1) {
        auto at = text.find_first_not_of(" \t", line);
        if (at == std::string::npos || text[at] != '#') continue;
        at = text.find_first_not_of(" \t", at + 1);
        if (at == std::string::npos || text.compare(at, 6, "pragma") != 0) continue;
        at = text.find_first_not_of(" \t", at + 6);
        if (at == std::string::npos || text.compare(at, 3, "acc") != 0) continue;
        if (at + 3 < text.size() && is_word(text[at + 3])) continue;
        text[at] = 'A';
    }
    return text;
}

} // namespace directive
