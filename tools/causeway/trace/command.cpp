// SPDX-License-Identifier: Apache-2.0
// Options of `causeway trace`: to run a program, or to show what was recorded.
#include "trace/command.hpp"

#include "beside.hpp"
#include "launched.hpp"
#include "launcher.hpp"
#include "printable.hpp"
#include "trace/page.hpp"
#include "trace/timeline.hpp"
#include "words.hpp"

#include <causeway/causeway.h>
#include <causeway/trace.h>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace trace {

namespace {

using causeway_tool::usage_error;

const char* const teaching =
    R"(Runs PROGRAM and records in one file, for all ranks, what each transfer waited for and when each of its
blocks was read, copied, sent, received and written, beside the kernels and copies of the program. These are shown also
of programs in Python, and of programs that make no transfer.

Examples:
  causeway trace -- ./program                        record causeway-trace.json
  causeway trace -o halo.json -- causeway run -n 4 ./program
  causeway trace summary halo.json                   as a table
  causeway trace view halo.json                      as a page: halo.html, for any browser
  causeway trace -- sh -c './prepare && ./solve'     both in one timeline
  CAUSEWAY_TRACE=halo.json ./program                 the same without this program, but for the kernels

The file is in the trace event format: https://ui.perfetto.dev opens it, too.

Exit status: that of PROGRAM, 127 if there is no such program; 1 if nothing was recorded or something failed, 2 for
wrong arguments.)";

const char* const teaching_view =
    R"(Makes one page of what was recorded, which needs no network: each rank's transfers, kernels and blocks in lanes over
one clock. The wheel zooms, dragging moves, a click shows all that is known of a slice and what it waited for.

Examples:
  causeway trace view halo.json                      halo.html
  causeway trace view -o /tmp/halo.html halo.json
  causeway trace view --from 2 --to 2.5 halo.json    this half second; of a long timeline a browser takes a part only
  firefox 'halo.html#from=5000&to=9000'              opens at these microseconds
  firefox 'halo.html#rank=1&transfer=12'             opens at this transfer

Exit status: 0, 1 if the file cannot be read or the page not written, 2 for wrong arguments.)";

const char* const teaching_summary =
    R"(Prints, for each rank and route, how many transfers there were, their median wait and time, their bandwidth, and its
share of what the slowest stage alone could do; and for each rank the share of communication that its kernels and copies
hid.

Examples:
  causeway trace summary halo.json
  causeway trace summary --json halo.json            for other programs

Exit status: 0, 1 if the file cannot be read, 2 for wrong arguments.)";

struct arguments {
    std::string output = "causeway-trace.json", shown, page;
    bool as_json = false;
    double from = 0, to = std::numeric_limits<double>::infinity(); // seconds
};

/// `causeway trace veiw t.json` is a program for all that CLI11 knows.
void check_program(const std::string& name) {
    static const std::vector<std::string> commands{"view", "summary"};
    if (name.find('/') != std::string::npos || !causeway_tool::on_path(name).empty()) return;
    const auto meant = causeway_tool::suggestion(name, commands);
    if (!meant.empty()) throw usage_error("trace: no command and no program " + name + meant);
}

/// Before the program runs: it may take hours, and records nothing where no file can be made.
void check_path(const std::filesystem::path& timeline) {
    const auto folder = timeline.parent_path();
    std::error_code ignored;
    if (std::filesystem::is_directory(timeline, ignored))
        throw std::runtime_error("cannot record into " + timeline.string() + ": it is a directory");
    if (std::filesystem::is_symlink(timeline, ignored) && !std::filesystem::exists(timeline, ignored))
        throw std::runtime_error("cannot record into " + timeline.string() +
                                 ": it is a link to a file that is not "
                                 "there");
    if (std::filesystem::exists(timeline, ignored) && !std::filesystem::is_regular_file(timeline, ignored))
        throw std::runtime_error("cannot record into " + timeline.string() + ": it is no regular file");
    if (std::filesystem::is_regular_file(timeline, ignored)) {
        // As the library begins every timeline; of one that was cut off there may be less.
        constexpr std::string_view first_words = R"({"displayTimeUnit":"ns","otherData":{"made_by":"causeway )";
        std::string begin(first_words.size(), '\0');
        std::ifstream file(timeline, std::ios::binary);
        file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
        begin.resize(static_cast<std::size_t>(file.gcount()));
        if (!first_words.starts_with(begin))
            throw std::runtime_error("cannot record into " + timeline.string() +
                                     ": it is there and is no timeline of Causeway; "
                                     "remove it, or name another file");
    }
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        throw std::runtime_error("cannot record into " + timeline.string() + ": " + folder.string() + ": " +
                                 std::strerror(errno));
}

int record(const arguments& typed, const std::vector<std::string>& program) {
    if (program.empty()) throw usage_error("trace: no program; for example: causeway trace -- ./program");
    check_program(program.front());
    const auto timeline = std::filesystem::absolute(typed.output).string();
    check_path(timeline);
    const auto preload = causeway_tool::library_file("causeway/libcauseway_trace.so");
    const char* const before = std::getenv("LD_PRELOAD");
    setenv("CAUSEWAY_TRACE", timeline.c_str(), 1);
    // Without it the kernels are missing, and the rest is there.
    if (std::filesystem::exists(preload))
        setenv("LD_PRELOAD", (preload + (before != nullptr ? std::string(":") + before : "")).c_str(), 1);
    // As one of many ranks there is nothing to say when it ends.
    if (causeway_tool::launched_rank()) causeway_tool::become(program);
    causeway_tool::name_job();
    std::error_code ignored;
    const auto old = std::filesystem::last_write_time(timeline, ignored);
    const bool was_there = !ignored;
    const int status = causeway_tool::run_and_wait(program);
    const auto shown = causeway_tool::printable(typed.output);
    // What killed ranks have left, and those that could not add it.
    if (causeway_trace_collect(timeline.c_str()) < 0) {
        std::fprintf(stderr,
                     "causeway trace: %s; what was not added stays in %s.*.part, and causeway trace summary %s "
                     "adds it\n",
                     causeway_tool::printable(causeway_error_last_message()).c_str(), shown.c_str(), shown.c_str());
        return status != 0 ? status : 1;
    }
    // An empty one is what a process that could not write has left.
    const bool is_there = std::filesystem::file_size(timeline, ignored) > 0 && !ignored;
    if (!is_there || (was_there && std::filesystem::last_write_time(timeline, ignored) == old)) {
        std::fprintf(
            stderr, "causeway trace: nothing was recorded: the program %s\n",
            status != 0
                ? ("ended with status " + std::to_string(status) + " before it enqueued anything").c_str()
                : "enqueued no transfer, no kernel and no copy, or it is linked statically or with another MPI");
        return status != 0 ? status : 1;
    }
    std::fprintf(stderr, "causeway trace: %s; causeway trace summary %s, causeway trace view %s\n", shown.c_str(),
                 shown.c_str(), shown.c_str());
    return status;
}

int show_page(const arguments& typed) {
    if (typed.from < 0 || typed.to <= typed.from)
        throw usage_error("trace view: --from and --to: the part ends before it begins");
    const auto page = typed.page.empty() ? std::filesystem::path(typed.shown).replace_extension(".html").string()
                                         : typed.page;
    std::error_code not_there;
    if (std::filesystem::equivalent(typed.shown, page, not_there))
        throw usage_error("trace view: the page would take the place of the timeline " + typed.shown +
                          ": name another file by -o");
    write_page(typed.shown, page, {typed.from * 1e6, typed.to * 1e6});
    std::printf("%s\n", isatty(STDOUT_FILENO) != 0 ? causeway_tool::printable(page).c_str() : page.c_str());
    return 0;
}

int show_summary(const arguments& typed) {
    const auto summary = summary_of(read_timeline(typed.shown, {}));
    if (typed.as_json) {
        std::printf("%s\n", summary.dump(1).c_str());
    } else {
        print_summary(summary);
    }
    return 0;
}

} // namespace

std::function<int(const std::vector<std::string>&)> add_command(CLI::App& app) {
    auto* const command = app.add_subcommand("trace", "record a program's timeline, or show one");
    command->footer(teaching);
    command->prefix_command();
    const auto typed = std::make_shared<arguments>();
    command->add_option("-o,--output", typed->output, "the file to record into (default: causeway-trace.json)")
        ->type_name("FILE");
    auto* const view = command->add_subcommand("view", "make one page of a timeline, for any browser");
    view->prefix_command(false);
    view->footer(teaching_view);
    view->allow_extras();
    view->add_option("timeline", typed->shown, "the file that was recorded")->required()->type_name("FILE");
    view->add_option("-o,--output", typed->page, "the page to write (default: the same name with .html)")
        ->type_name("FILE");
    view->add_option("--from", typed->from, "seconds from the begin of the timeline (default: its begin)")
        ->type_name("S");
    view->add_option("--to", typed->to, "seconds from the begin of the timeline (default: its end)")->type_name("S");
    auto* const summary = command->add_subcommand("summary", "print what transfers did as a table");
    summary->prefix_command(false);
    summary->footer(teaching_summary);
    summary->allow_extras();
    summary->add_option("timeline", typed->shown, "the file that was recorded")->required()->type_name("FILE");
    summary->add_flag("--json", typed->as_json, "print it as JSON");
    return [=](const std::vector<std::string>& program) {
        if (view->parsed()) return show_page(*typed);
        if (summary->parsed()) return show_summary(*typed);
        return record(*typed, program);
    };
}

} // namespace trace
