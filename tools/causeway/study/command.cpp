// SPDX-License-Identifier: Apache-2.0
// Options of `causeway study`: runs a program on the platform Causeway, and says where its time went and what would
// save some.
#include "study/command.hpp"

#include "beside.hpp"
#include "platform_folder.hpp"
#include "study/bandwidth.hpp"
#include "study/digest.hpp"
#include "study/experiments.hpp"
#include "study/findings.hpp"
#include "study/page.hpp"
#include "study/report.hpp"
#include "study/temporary_folder.hpp"
#include "study/timeline_file.hpp"
#include "system_facts.hpp"
#include "vendors.hpp"
#include "words.hpp"

#include <causeway/causeway.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace study {

namespace {

using causeway_tool::usage_error;
using nlohmann::json;
namespace fs = std::filesystem;

const char* const teaching =
    R"(Runs PROGRAM, unchanged, on the platform Causeway and says where its time goes: in which of OpenCL's functions, in
compilation, waiting, kernels and copies, and how near these come to what the machine's memory gives. Any OpenCL program
will do, also one in Python. Each process of a program is shown by itself.

With --budget it runs the program once more, records the launches that take longest, and does them again in a process of
their own in other ways: work-group sizes, items put together, maps, memory flags, the driver's settings. Results that
differ are left out. ^C ends that early, with what is known by then.

Examples:
  causeway study -- ./program                  print where the time goes
  causeway study --budget 60s -- ./program     and what would make it faster
  causeway study --page study.html --budget 60s -- ./program
  causeway study --paper                       the experiments of Lee et al. 2015 on this machine
  causeway study -o study.json -- ./program    keep it for other programs
  causeway study --timeline t.json -- ./program && causeway trace view t.json
  causeway study --json -- ./program           print it as JSON, in place of the tables
  CAUSEWAY_DEVICES=pocl causeway study -- ./program

Exit status: that of PROGRAM, 127 if there is no such program; 1 if it called nothing of OpenCL or something failed, 2
for wrong arguments.)";

struct arguments {
    std::string output, page, timeline, budget, figures;
    unsigned launches = 3;
    double seconds = 0.2; ///< for each point of the paper's figures
    bool as_json = false, exhaustive = false, paper = false;
};

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Seconds from "60", "60s", "2m"; 0 from nothing.
double budget_from(const std::string& text) {
    if (text.empty()) return 0;
    std::size_t used = 0;
    double number = 0;
    try {
        number = std::stod(text, &used);
    } catch (const std::exception&) {
        used = 0;
    }
    const auto unit = text.substr(used);
    if (used == 0 || number <= 0 || (!unit.empty() && unit != "s" && unit != "m" && unit != "h"))
        throw usage_error("study: --budget " + text + ": give a time, as 60s or 2m");
    return number * (unit == "m" ? 60 : unit == "h" ? 3600 : 1);
}

/// The program sees the platform Causeway alone, which looks for drivers where the loader would have looked.
class platform_environment {
  public:
    platform_environment(const fs::path& folder, const fs::path& launches) {
        for (const auto& [name, value] : causeway_tool::environment_of_platform_alone()) set(name, value);
        set("CAUSEWAY_STUDY", folder.string());
        if (launches.empty()) return;
        set("CAUSEWAY_STUDY_LAUNCHES", launches.string());
        set("PYOPENCL_NO_CACHE", "1"); // else its programs come as binaries, whose source nobody has
    }
    ~platform_environment() {
        for (const auto& [name, value] : m_before)
            value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
    }
    platform_environment(const platform_environment&) = delete;
    platform_environment& operator=(const platform_environment&) = delete;

  private:
    void set(const std::string& name, const std::optional<std::string>& value) {
        const char* const before = std::getenv(name.c_str());
        m_before.emplace_back(name, before == nullptr ? "" : before);
        value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    }
    std::vector<std::pair<std::string, std::string>> m_before;
};

/// What is printed meanwhile goes nowhere: a program that runs once more has said it all.
class silence {
  public:
    silence() : m_kept(::dup(STDOUT_FILENO)) {
        std::fflush(stdout);
        const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nothing < 0) return;
        ::dup2(nothing, STDOUT_FILENO);
        ::close(nothing);
    }
    ~silence() {
        ::dup2(m_kept, STDOUT_FILENO);
        ::close(m_kept);
    }
    silence(const silence&) = delete;
    silence& operator=(const silence&) = delete;

  private:
    int m_kept;
};

void write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path);
}

/// The launches that take longest, one of each kernel: "KERNEL TIMES DIMENSIONS SIZES", as the platform reads it. Not
/// the first one where there are several, as it may find memory that nobody has touched.
std::string wanted_launches(const json& process, unsigned most) {
    std::string lines;
    unsigned count = 0;
    for (const auto& kernel : process.at("kernels")) {
        if (count == most) break;
        const auto& size = kernel.at("sizes").front();
        if (size.at("global").empty()) continue; // launches of many sizes, in one row
        const auto times = std::min<std::uint64_t>(size.at("count").get<std::uint64_t>(), 2);
        lines += kernel.at("kernel").get<std::string>() + " " + std::to_string(times) + " " +
                 std::to_string(size.at("global").size());
        for (const auto& each : size.at("global")) lines += " " + std::to_string(each.get<std::size_t>());
        for (std::size_t i = 0; i < size.at("global").size(); ++i)
            lines += " " + std::to_string(size.at("local").is_null() ? 0 : size.at("local")[i].get<std::size_t>());
        lines += "\n";
        ++count;
    }
    return lines;
}

void show_progress(const std::string& text) {
    if (::isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "\r\033[K%s", text.c_str());
}

/// Runs the program once more, and tries launches of the process that was longest on the device.
json try_launches(const json& process, const arguments& typed, double budget, const std::vector<std::string>& program) {
    const temporary_folder folder("causeway-launches");
    const auto list = folder.path() / "launches";
    write(list, wanted_launches(process, typed.launches));
    {
        const platform_environment as_platform(folder.path(), list);
        const silence quiet;
        std::fprintf(stderr,
                     "causeway study: the program runs once more, to record launches; what it prints is not shown\n");
        (void)causeway_tool::run_and_wait(program);
    }
    json told = json::array();
    const auto found = recorded_launches(folder.path());
    if (found.empty()) std::fprintf(stderr, "causeway study: no launch was recorded\n");
    const deadline all(budget > 0 ? std::chrono::duration<double>(budget) : std::chrono::hours(24));
    for (std::size_t i = 0; i < found.size() && !all.is_over(); ++i) {
        const deadline own(std::chrono::duration<double>(all.left() / static_cast<double>(found.size() - i)));
        try {
            told.push_back(try_variants(found[i], {own, typed.exhaustive, show_progress}));
        } catch (const std::exception& error) { // what the program itself did is told all the same
            std::fprintf(stderr, "causeway study: a launch cannot be tried: %s\n", error.what());
        }
    }
    show_progress("");
    return told;
}

json machine_facts() {
    const auto machine = measure_bandwidth();
    return {{"processor", causeway_tool::processor_name()},
            {"processors", causeway_tool::usable_processors()},
            {"kernel", causeway_tool::kernel_name()},
            {"read_gb_per_s", machine.read},
            {"copy_gb_per_s", machine.copy},
            {"triad_gb_per_s", machine.triad}};
}

/// The paper's experiments on this machine: a program of its own, with the drivers that are there.
[[noreturn]] void become_paper(const arguments& typed) {
    const auto program = causeway_tool::library_file("causeway/paper-study");
    if (!fs::exists(program))
        throw std::runtime_error("there is no " + program + ": Causeway was built by a compiler without OpenMP");
    std::vector<std::string> words{program, "--seconds", std::to_string(typed.seconds), "--causeway",
                                   fs::read_symlink("/proc/self/exe").string()};
    if (!typed.figures.empty()) words.insert(words.end(), {"--figures", typed.figures});
    if (!typed.output.empty()) words.insert(words.end(), {"--output", typed.output});
    if (!typed.page.empty())
        words.insert(words.end(), {"--page", typed.page, "--frame", causeway_tool::shared_file("paper_page.html")});
    causeway_tool::become(words);
}

int start(const arguments& typed, const std::vector<std::string>& program) {
    if (typed.paper && !program.empty()) throw usage_error("study: --paper takes no program: it has the paper's own");
    if (!typed.figures.empty() && !typed.paper) throw usage_error("study: --figures goes with --paper");
    if (typed.paper) become_paper(typed);
    if (program.empty()) throw usage_error("study: no program; for example: causeway study -- ./program");
    const auto budget = budget_from(typed.budget);
    causeway_tool::check_writable(typed.output);
    causeway_tool::check_writable(typed.page);
    causeway_tool::check_writable(typed.timeline);
    const temporary_folder folder("causeway-study");
    lifetime of;
    int status = 0;
    const auto input = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
    {
        const platform_environment as_platform(folder.path(), {});
        of.begin = now();
        status = causeway_tool::run_and_wait(program);
        of.end = now();
    }
    const auto processes = read_processes(folder.path());
    if (processes.empty()) {
        std::fprintf(stderr, "causeway study: nothing to say: the program %s\n",
                     status != 0
                         ? ("ended with status " + std::to_string(status) + " and left nothing").c_str()
                         : "called nothing of OpenCL, is linked with a driver itself, or does not end by exit()");
        return status != 0 ? status : 1;
    }
    if (!typed.timeline.empty()) write_timeline(processes, typed.timeline);
    json study{{"made_by", std::string("causeway ") + causeway_version()},
               {"machine", machine_facts()},
               {"status", status},
               {"processes", json::array()}};
    const auto& machine = study.at("machine");
    const bandwidth limit{machine.at("read_gb_per_s"), machine.at("copy_gb_per_s"), machine.at("triad_gb_per_s")};
    for (const auto& each : processes) study["processes"].push_back(digest(each, of, processes.size() == 1, limit));
    const bool tries = budget > 0 || typed.exhaustive;
    if (tries && input >= 0) ::lseek(STDIN_FILENO, input, SEEK_SET); // a file: the second run reads the same
    for (auto& process : study["processes"]) {
        process["launches"] = tries && &process == &study["processes"].front()
                                  ? try_launches(process, typed, budget, program)
                                  : json::array();
        process["findings"] = findings_of(process, process.at("launches"), machine);
    }
    if (!typed.output.empty()) write(typed.output, study.dump(1) + "\n");
    if (!typed.page.empty()) write_page(study, typed.page);
    if (typed.as_json)
        std::printf("%s\n", study.dump(1).c_str());
    else
        print(study);
    return status;
}

} // namespace

std::function<int(const std::vector<std::string>&)> add_command(CLI::App& app) {
    auto* const command = app.add_subcommand("study", "say where the time of an OpenCL program goes");
    command->footer(teaching);
    command->prefix_command();
    const auto typed = std::make_shared<arguments>();
    command
        ->add_option("-b,--budget", typed->budget,
                     "how long to try launches in other ways: 60s, 2m (default: not at all)")
        ->type_name("TIME");
    command->add_option("--launches", typed->launches, "how many launches to try, the longest first (default: 3)")
        ->type_name("N");
    command->add_flag("--exhaustive", typed->exhaustive, "try every work-group size first, beside the search");
    command->add_flag("--paper", typed->paper,
                      "measure the paper's kernels on every device, and judge its seven findings");
    command->add_option("--seconds", typed->seconds, "with --paper, how long each point is measured (default: 0.2)")
        ->type_name("S");
    command->add_option("--figures", typed->figures, "with --paper, these alone: 3-7,22")->type_name("LIST");
    command->add_option("-o,--output", typed->output, "keep the study as JSON in this file")->type_name("FILE");
    command->add_option("--page", typed->page, "write it as a page for any browser")->type_name("FILE");
    command->add_option("--timeline", typed->timeline, "write when each command ran; causeway trace view shows it")
        ->type_name("FILE");
    command->add_flag("--json", typed->as_json, "print JSON in place of tables");
    return [typed](const std::vector<std::string>& program) { return start(*typed, program); };
}

} // namespace study
