// SPDX-License-Identifier: Apache-2.0
// The command causeway-cc: stands in for a C compiler, translates sources with directives and hands the rest on.
#include "command.hpp"
#include "translation.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

const char* const usage = R"(usage: causeway-cc [OPTION]... FILE...

Compiles C with OpenACC directives for OpenCL devices. Options that are not listed here go to the host's compiler.

  --keep              leave the generated host C (NAME.host.c) and OpenCL C (NAME.cl) in the current folder
  --report            say of each region what it takes along, and of each loop how it is spread, and why not
  --translate FOLDER  write host C into FOLDER, for any C compiler, and compile nothing
  --host-compiler CC  the host's compiler (default: $ACC_HOST_CC, else gcc, else cc); clang 19 makes full vectors of
                      short loops, by the plug-in causeway_simd
  --no-simd           without that plug-in
  --help              this text
)";

struct request {
    words options;           // for the host's compiler, in order, with inputs that are no C
    words sources;           // C
    std::string output;
    std::string language;    // of -x
    std::string host = "gcc";
    std::string translate_into;
    bool compile_only = false, assembly_only = false, not_for_us = false, keep = false, report = false;
    bool full_vectors = true;
    words dependencies;      // options that ask for make's rules
    bool dependency_file = false, dependency_target = false, wants_dependencies = false;
};

/// Options of compilers whose argument is the next word.
const std::set<std::string> with_argument = {
    "-I",          "-D",      "-U",         "-L",  "-l",  "-x",      "-include",  "-imacros",
    "-isystem",    "-iquote", "-idirafter", "-MF", "-MT", "-MQ",     "-Xlinker",  "-Xpreprocessor",
    "-Xassembler", "-T",      "-u",         "-z",  "-e",  "--param", "-aux-info", "-wrapper"};
const std::set<std::string> only_preprocess = {"-E",        "-M",           "-MM",          "-fsyntax-only",
                                               "--version", "-dumpversion", "-dumpmachine", "-###"};

/// What lets Clang read text that GCC has preprocessed: no macros of its own, and in place of what the headers use of
/// GCC, an attribute with arguments and names of types, what Clang has.
const words for_text_of_gcc = {"-undef",
                               "-D__malloc__(...)=",
                               "-D_Float32=float",
                               "-D_Float64=double",
                               "-D_Float32x=double",
                               "-D_Float64x=long double",
                               "-D_Float128=__float128",
                               "-Wno-unknown-warning-option"};
/// Functions of GCC's headers that Clang has built in, and so lets nobody define.
const std::set<std::string> built_into_clang = {"__rdtsc",   "_mm_clflush",  "_mm_getcsr", "_mm_lfence", "_mm_mfence",
                                                "_mm_pause", "_mm_prefetch", "_mm_setcsr", "_mm_sfence"};

bool has_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return fs::exists(name);
    const char* path = std::getenv("PATH");
    std::string folders = path ? path : "";
    for (std::size_t at = 0; at <= folders.size();) {
        const auto end = std::min(folders.find(':', at), folders.size());
        if (fs::exists(fs::path(folders.substr(at, end - at)) / name)) return true;
        at = end + 1;
    }
    return false;
}

request read(int argc, char** argv) {
    request asked;
    const char* chosen = std::getenv("ACC_HOST_CC");
    asked.host = chosen && *chosen ? chosen : has_program("gcc") ? "gcc" : "cc";
    for (int at = 1; at < argc; ++at) {
        const std::string word = argv[at];
        const auto next = [&]() -> std::string {
            if (at + 1 < argc) return argv[++at];
            std::fprintf(stderr, "causeway-cc: %s needs an argument\n", word.c_str());
            std::exit(2);
        };
        if (word == "--help") {
            std::fputs(usage, stdout);
            std::exit(0);
        } else if (word == "--keep") {
            asked.keep = true;
        } else if (word == "--report") {
            asked.report = true;
        } else if (word == "--no-simd") {
            asked.full_vectors = false;
        } else if (word == "--translate") {
            asked.translate_into = next();
        } else if (word == "--host-compiler") {
            asked.host = next();
        } else if (word == "-fopenacc") {
            // It is what this program is for.
        } else if (word == "-o") {
            asked.output = next();
        } else if (word.starts_with("-o") && word.size() > 2 && word[1] != '-') {
            asked.output = word.substr(2);
        } else if (word == "-c") {
            asked.compile_only = true;
        } else if (word == "-S") {
            asked.assembly_only = true;
        } else if (word == "-MD" || word == "-MMD" || word == "-MP") {
            asked.dependencies.push_back(word);
            asked.wants_dependencies |= word != "-MP";
        } else if (word == "-MF" || word == "-MT" || word == "-MQ") {
            asked.dependencies.push_back(word);
            asked.dependencies.push_back(next());
            (word == "-MF" ? asked.dependency_file : asked.dependency_target) = true;
        } else if (word == "-x") {
            asked.language = next();
            if (asked.language != "c" && asked.language != "none") {
                asked.options.push_back("-x");
                asked.options.push_back(asked.language);
            }
        } else if (with_argument.contains(word)) {
            asked.options.push_back(word);
            asked.options.push_back(next());
        } else if ((!word.starts_with("-") && (word.ends_with(".c") || asked.language == "c")) ||
                   (word == "-" && asked.language == "c")) {
            asked.sources.push_back(word);
            asked.options.push_back(word); // its place among the others
        } else {
            asked.not_for_us |= only_preprocess.contains(word);
            asked.options.push_back(word);
        }
    }
    // Alone it asks for the version.
    const auto is_verbose = [](const std::string& word) { return word == "-v"; };
    asked.not_for_us |= !asked.options.empty() && std::all_of(asked.options.begin(), asked.options.end(), is_verbose);
    return asked;
}

struct install_paths {
    std::string include, libraries, simd_plugin;
};

install_paths find_install_paths() {
    std::error_code error;
    const auto self = fs::read_symlink("/proc/self/exe", error).parent_path();
    install_paths found;
    const auto installed = self.parent_path() / "include" / "causeway" / "acc";
    found.include = fs::exists(installed / "openacc.h") ? installed.string() : CAUSEWAY_CC_INCLUDE;
    for (const char* folder : {CAUSEWAY_CC_LIBDIR, "lib"}) {
        const auto libraries = self.parent_path() / folder;
        if (fs::exists(libraries / "libcauseway_acc.so")) {
            found.libraries = libraries.string();
            for (const auto& plugin : {libraries / "causeway", libraries}) // installed, or built
                if (fs::exists(plugin / "libcauseway_simd.so"))
                    found.simd_plugin = (plugin / "libcauseway_simd.so").string();
            break;
        }
    }
    return found;
}

bool is_clang(const std::string& compiler) { return compiler.find("clang") != std::string::npos; }

/// The plug-in is made for one version, and link-time optimisation runs the vectoriser that it steers too late for it.
bool takes_simd_plugin(const request& asked) {
    if (!asked.full_vectors || !is_clang(asked.host)) return false;
    for (const auto& each : asked.options)
        if (each.starts_with("-flto")) return false;
    std::string version;
    return directive::run({asked.host, "--version"}, &version) == 0 &&
           version.find("clang version 19.") != std::string::npos;
}

bool is_of_preprocessor(const std::string& word) {
    return word.starts_with("-D") || word.starts_with("-U") || word.starts_with("-I") || word == "-include" ||
           word == "-imacros" || word.starts_with("-isystem") || word.starts_with("-iquote") ||
           word.starts_with("-idirafter") || word.starts_with("-Wp,");
}

class driver {
  public:
    explicit driver(request asked) : m_asked(std::move(asked)), m_paths(find_install_paths()) {
        if (m_paths.simd_plugin.empty() || !takes_simd_plugin(m_asked)) return;
        m_for_vectors = {"-fplugin=" + m_paths.simd_plugin, "-fpass-plugin=" + m_paths.simd_plugin};
        // A record is where Clang keeps lines for, also without debug information.
        if (m_asked.report)
            m_for_vectors.insert(m_for_vectors.end(),
                                 {"-mllvm", "-causeway-simd-report=-", "-fsave-optimization-record",
                                  "-foptimization-record-file=/dev/null",
                                  "-foptimization-record-passes=causeway-simd"});
    }

    int act() {
        const words ours = {"-D_OPENACC=201811", "-I" + m_paths.include};
        if (m_asked.not_for_us || m_asked.sources.empty()) return hand_on(ours);
        if (m_asked.sources.size() > 1 && !m_asked.output.empty() && (m_asked.compile_only || m_asked.assembly_only) &&
            m_asked.translate_into.empty()) {
            std::fprintf(stderr, "causeway-cc: -o names one file, and there are several sources\n");
            return 2;
        }
        words objects;
        for (const auto& source : m_asked.sources) {
            const auto status = compile(source, objects);
            if (status != 0) return status;
        }
        if (!m_asked.translate_into.empty() || m_asked.compile_only || m_asked.assembly_only) return 0;
        return link(objects);
    }

  private:
    request m_asked;
    install_paths m_paths;
    words m_for_vectors; ///< options that make the host's compiler load the plug-in
    directive::scratch_folder m_scratch;

    int hand_on(const words& ours) {
        words command = {m_asked.host};
        command.insert(command.end(), ours.begin(), ours.end());
        command.insert(command.end(), m_asked.dependencies.begin(), m_asked.dependencies.end());
        if (m_asked.language == "c") command.insert(command.end(), {"-x", "c"});
        command.insert(command.end(), m_asked.options.begin(), m_asked.options.end());
        if (!m_asked.not_for_us) add_vectors_of_cpp(command);
        if (m_asked.compile_only) command.push_back("-c");
        if (m_asked.assembly_only) command.push_back("-S");
        if (!m_asked.output.empty()) command.insert(command.end(), {"-o", m_asked.output});
        const bool links = !m_asked.not_for_us && !m_asked.compile_only && !m_asked.assembly_only;
        if (links) add_libraries(command);
        return directive::run(command);
    }

    /// Sources in C++ are none of ours, and compiled where the rest is handed on.
    void add_vectors_of_cpp(words& command) const {
        if (std::any_of(m_asked.options.begin(), m_asked.options.end(), is_cpp))
            command.insert(command.end(), m_for_vectors.begin(), m_for_vectors.end());
    }

    void add_libraries(words& command) const {
        if (!m_paths.libraries.empty())
            command.insert(command.end(), {"-L" + m_paths.libraries, "-Wl,-rpath," + m_paths.libraries});
        command.push_back("-lcauseway_acc");
    }

    words options_without_sources() const {
        words kept;
        for (const auto& each : m_asked.options)
            if (std::find(m_asked.sources.begin(), m_asked.sources.end(), each) == m_asked.sources.end())
                kept.push_back(each);
        return kept;
    }

    std::string object_of(const std::string& source) {
        const auto stem = fs::path(source).stem().string();
        if (m_asked.compile_only || m_asked.assembly_only)
            return !m_asked.output.empty() ? m_asked.output : stem + (m_asked.compile_only ? ".o" : ".s");
        return m_scratch.file(std::to_string(m_objects++) + "-" + stem + ".o");
    }
    int m_objects = 0;

    int compile(const std::string& source, words& objects) {
        const auto object = object_of(source);
        objects.push_back(object);
        std::string text;
        const auto options = options_without_sources();
        // GCC expands macros in OpenACC's pragmas, and turns _Pragma into lines; Clang does neither.
        const bool gcc_reads = is_clang(m_asked.host) && has_program("gcc");
        const std::string reader = gcc_reads ? "gcc" : m_asked.host;
        words command = {reader,
                         "-E",
                         "-fopenacc",
                         "-U_OPENACC",
                         "-D_OPENACC=201811",
                         "-DCAUSEWAY_ACC_GENERATED",
                         "-I" + m_paths.include,
                         "-include",
                         m_paths.include + "/runtime.h"};
        for (const auto& each : options)
            if (!each.starts_with("-l") && !each.starts_with("-L") && !each.starts_with("-Wl,") &&
                (each.starts_with("-") || !is_input(each)))
                command.push_back(each);
        if (m_asked.wants_dependencies) {
            command.insert(command.end(), m_asked.dependencies.begin(), m_asked.dependencies.end());
            if (!m_asked.dependency_file)
                command.insert(
                    command.end(),
                    {"-MF",
                     fs::path(m_asked.output.empty() ? source : m_asked.output).replace_extension(".d").string()});
            if (!m_asked.dependency_target) command.insert(command.end(), {"-MT", object});
        }
        command.insert(command.end(), {"-x", "c", source});
        if (const auto status = directive::run(command, &text); status != 0) return status;
        const bool ours = directive::has_directives(text);
        if (ours) {
            const auto made = directive::translate(text, source, clang_options(options));
            if (!made.succeeded) return 1;
            if (m_asked.report) std::fputs(made.report.c_str(), stderr);
            text = made.host;
        }
        const auto stem = fs::path(source).stem().string();
        if (m_asked.keep && ours && !keep(stem, text)) return 1;
        if (!m_asked.translate_into.empty()) {
            std::error_code error;
            fs::create_directories(m_asked.translate_into, error);
            return directive::write_file((fs::path(m_asked.translate_into) / (stem + ".c")).string(), text) ? 0 : 1;
        }
        const auto file = m_scratch.file(stem + ".i");
        if (!directive::write_file(file, text)) return 1;
        command = {m_asked.host};
        for (std::size_t at = 0; at < options.size(); ++at) {
            const auto& each = options[at];
            if (is_of_preprocessor(each)) {
                if (with_argument.contains(each)) ++at;
                continue;
            }
            if (each.starts_with("-l") || each.starts_with("-L") || each.starts_with("-Wl,") || is_input(each))
                continue;
            command.push_back(each);
        }
        command.insert(command.end(), m_for_vectors.begin(), m_for_vectors.end());
        if (gcc_reads) command.insert(command.end(), for_text_of_gcc.begin(), for_text_of_gcc.end());
        command.insert(command.end(),
                       {m_asked.assembly_only ? "-S" : "-c", "-x", gcc_reads ? "c" : "cpp-output", file, "-o", object});
        return directive::run(command);
    }

    static bool is_cpp(const std::string& word) {
        static const std::set<std::string> kinds = {".cpp", ".cc", ".cxx"};
        return !word.starts_with("-") && kinds.contains(fs::path(word).extension().string());
    }

    static bool is_input(const std::string& word) {
        if (word.starts_with("-")) return false;
        static const std::set<std::string> kinds = {".o",   ".a",  ".so",  ".s",   ".S", ".lo",
                                                    ".cpp", ".cc", ".cxx", ".f90", ".f"};
        return kinds.contains(fs::path(word).extension().string()) || word.find(".so.") != std::string::npos;
    }

    bool keep(const std::string& stem, const std::string& text) const {
        // The kernels stand behind the host's code as one literal.
        const std::string head = "static struct causeway_acc_program causeway_acc_this_program = {\n";
        const auto at = text.rfind(head);
        std::string kernels;
        for (std::size_t each = at + head.size(); each < text.size(); ++each) {
            if (text[each] == '\n') continue;
            if (text[each] == ',' && (each == 0 || text[each - 1] == '"')) break;
            if (text[each] == '"') continue;
            if (text[each] == '\\') {
                ++each;
                kernels += text[each] == 'n' ? '\n' : text[each];
                continue;
            }
            kernels += text[each];
        }
        return directive::write_file(stem + ".host.c", text) && directive::write_file(stem + ".cl", kernels);
    }

    words clang_options(const words& options) const {
        // Clang then counts no errors; their lines are shown all the same.
        words all = {"-x",
                     "c",
                     "-std=gnu17",
                     "-Wno-everything",
                     "-nostdinc",
                     "-fsyntax-only",
                     "-fno-caret-diagnostics",
                     "-Wno-error=implicit-function-declaration",
                     "-Wno-error=implicit-int",
                     "-Wno-error=int-conversion",
                     "-Wno-error=return-mismatch",
                     "-Wno-error=incompatible-function-pointer-types"};
        all.insert(all.end(), for_text_of_gcc.begin(), for_text_of_gcc.end());
        for (const auto& each : built_into_clang) all.push_back("-D" + each + "=causeway_" + each);
        for (const auto& each : options)
            if (each.starts_with("-std=") || each == "-m32" || each == "-funsigned-char" || each == "-ansi" ||
                each == "-w" || each == "-ffast-math" || each == "-ffinite-math-only")
                all.push_back(each);
        return all;
    }

    int link(const words& objects) {
        words command = {m_asked.host};
        std::size_t next = 0;
        for (std::size_t at = 0; at < m_asked.options.size(); ++at) {
            const auto& each = m_asked.options[at];
            if (next < m_asked.sources.size() && each == m_asked.sources[next])
                command.push_back(objects[next++]);
            else
                command.push_back(each);
        }
        add_vectors_of_cpp(command);
        command.insert(command.end(), {"-o", m_asked.output.empty() ? "a.out" : m_asked.output});
        add_libraries(command);
        return directive::run(command);
    }
};

} // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fputs(usage, stderr);
        return 2;
    }
    return driver(read(argc, argv)).act();
}
