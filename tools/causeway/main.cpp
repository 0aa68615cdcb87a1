// SPDX-License-Identifier: Apache-2.0
// The program `causeway`: finds the subcommand and hands over to it.
#include "beside.hpp"
#include "cc/command.hpp"
#include "command_line.hpp"
#include "completion.hpp"
#include "info/command.hpp"
#include "launched.hpp"
#include "man_page.hpp"
#include "perf/command.hpp"
#include "printable.hpp"
#include "run/command.hpp"
#include "study/command.hpp"
#if CAUSEWAY_HAS_TASKS
#include "tasks/command.hpp"
#endif
#include "trace/command.hpp"
#include "tune/command.hpp"
#include "words.hpp"

#include <causeway/causeway.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace {

using causeway_tool::is_first_rank;
using causeway_tool::usage_error;

// UCX, which MPICH brings, takes hangups for itself when it is loaded. Who starts a program as nohup does is asked
// before that: this section comes before all libraries, and those of sanitizers are not ready for it.
bool ignores_hangups = false;
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
void look_before_libraries() {
    struct sigaction now{};
    ignores_hangups = sigaction(SIGHUP, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}
__attribute__((section(".preinit_array"), used)) void (*const before_libraries)() = look_before_libraries;
#endif

const char* const teaching = R"(Examples:
  causeway info --check                           is this machine set up, and if not, what to do
  causeway run -n 2 ./program                     start a program on two ranks
  causeway trace -- causeway run -n 2 ./program   record what its transfers did, and when
  causeway trace view causeway-trace.json         look at that in a browser
  causeway study -- ./program                     where does the time of an OpenCL program go?
  causeway perf --quick                           how fast is it here?
  causeway cc -O2 program.c -o program            compile C with OpenACC for OpenCL devices

causeway COMMAND --help says more, and man causeway says it all.

Exit status: 0, 1 if something failed, 2 for wrong arguments; run, study and trace end with that of their program.)";

/// Names the program that `causeway run` and `causeway trace` take, which CLI11 does not know of.
class formatter final : public CLI::Formatter {
  public:
    std::string make_usage(const CLI::App* app, std::string name) const override {
        auto text = CLI::Formatter::make_usage(app, name);
        if (app->get_prefix_command()) text.insert(text.find_last_not_of('\n') + 1, " [--] PROGRAM [ARGUMENT]...");
        return text;
    }
};

/// CLI11 says which words it did not expect; this says which ones they should have been.
[[noreturn]] void refuse(const CLI::App& app, const std::string& word) {
    std::vector<std::string> known;
    if (word.starts_with("-")) {
        known = causeway_tool::options_of(app);
    } else {
        for (const auto* each : app.get_subcommands({})) known.push_back(each->get_name());
    }
    const std::string kind = word.starts_with("-") ? "no option " : known.empty() ? "unexpected word " : "no command ";
    throw usage_error(kind + word + causeway_tool::suggestion(word.substr(0, word.find('=')), known));
}

/// Words that nobody expected, of the innermost command first.
void check_words(const CLI::App& app) {
    const auto chosen = app.get_subcommands();
    for (const auto* each : chosen) check_words(*each);
    // A command without arguments hands what stands behind a -- to the one that it belongs to.
    for (const auto& word : app.remaining())
        if (word != "--") refuse(chosen.empty() ? app : *chosen.front(), word);
}

int act(int argc, char** argv) {
    CLI::App app("Causeway makes every movement of data an OpenCL command; this program measures, tunes and shows it.",
                 "causeway");
    app.set_version_flag("--version", std::string("causeway ") + causeway_version());
    app.formatter(std::make_shared<formatter>());
    app.get_formatter()->column_width(28);
    app.allow_extras();
    app.require_subcommand(0, 1);
    app.footer(teaching);
    const auto run_info = info::add_command(app);
    const auto run_run = run::add_command(app);
    const auto run_perf = perf::add_command(app);
    const auto run_tune = tune::add_command(app);
    const auto run_study = study::add_command(app);
    const auto run_trace = trace::add_command(app);
#if CAUSEWAY_HAS_TASKS
    const auto run_tasks = tasks::add_command(app);
#endif
    const auto run_completion = completion::add_command(app);
    const auto run_man_page = man_page::add_command(app);

    const auto typed = causeway_tool::split(app, {argv + 1, argv + argc});
    try {
        app.parse(std::vector<std::string>(typed.own.rbegin(), typed.own.rend())); // the first comes last, as CLI11 has
                                                                                   // it
    } catch (const CLI::Success& asked) { // --help and --version
        return is_first_rank() ? app.exit(asked) : 0;
    } catch (const CLI::ConversionError& error) {
        // "Could not convert: --ranks = two"
        const std::string said = error.what();
        const auto name = said.find("--"), equals = said.find(" = ");
        if (name == std::string::npos || equals == std::string::npos || equals < name) throw usage_error(said);
        const auto option = said.substr(name, equals - name), value = said.substr(equals + 3);
        throw usage_error(option + " takes a number in digits, as in " + option + " 2; '" + value + "' is none");
    } catch (const CLI::ParseError& error) {
        throw usage_error(error.what());
    }
    check_words(app);
    if (app.got_subcommand("info")) return run_info();
    if (app.got_subcommand("run")) return run_run(typed.program);
    if (app.got_subcommand("perf")) return run_perf();
    if (app.got_subcommand("tune")) return run_tune();
    if (app.got_subcommand("study")) return run_study(typed.program);
    if (app.got_subcommand("trace")) return run_trace(typed.program);
#if CAUSEWAY_HAS_TASKS
    if (app.got_subcommand("tasks")) return run_tasks();
#endif
    if (app.got_subcommand("completion")) return run_completion();
    if (app.got_subcommand("man-page")) return run_man_page();
    if (is_first_rank()) std::fprintf(stderr, "%s", app.help().c_str());
    return 2;
}

/// What act() gives, or what stands for the error that ended it.
int status_of(int argc, char** argv) {
    try {
        return act(argc, argv);
    } catch (const usage_error& error) {
        if (is_first_rank())
            std::fprintf(stderr, "causeway: %s\ncauseway --help and causeway COMMAND --help say what there is.\n",
                         causeway_tool::printable(error.what(), "\n\t").c_str());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "causeway: %s\n", causeway_tool::printable(error.what(), "\n\t").c_str());
        return 1;
    }
}

/// Of standard input, output and error those that are closed: what is opened next would take their place, and get what
/// is printed. What stands in for them fails as they do, and programs that this one starts find them closed.
void keep_closed_ones_apart() {
    for (int each = 0; each <= STDERR_FILENO; ++each)
        if (fcntl(each, F_GETFD) < 0) (void)!open("/dev/null", (each == 0 ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

} // namespace

int main(int argc, char** argv) {
    keep_closed_ones_apart();
    if (ignores_hangups) std::signal(SIGHUP, SIG_IGN);
    if (cc::is_asked(argc, argv)) return cc::become_compiler(argc, argv);
    const int status = status_of(argc, argv);
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    const std::string reason = errno != 0 ? std::strerror(errno) : "not all of it was written";
    std::fprintf(stderr, "causeway: standard output: %s\n", reason.c_str());
    return status != 0 ? status : 1;
}
