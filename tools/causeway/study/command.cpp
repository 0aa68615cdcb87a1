// SPDX-License-Identifier: Apache-2.0
// Options of `causeway study`: runs a program on the platform Causeway, and says where its time went.
#include "study/command.hpp"

#include "beside.hpp"
#include "platform_place.hpp"
#include "study/bandwidth.hpp"
#include "study/digest.hpp"
#include "study/report.hpp"
#include "study/temporary_folder.hpp"
#include "system_facts.hpp"
#include "vendors.hpp"
#include "words.hpp"

#include <causeway/causeway.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace study {

namespace {

using causeway_tool::usage_error;
using nlohmann::json;

const char* const teaching = R"(Runs PROGRAM, unchanged, on the platform Causeway and says where its time goes: in which of OpenCL's functions, in
compilation, waiting, kernels and copies, and how near these come to what the machine's memory gives. Any OpenCL program will
do, also one of Python's; its processes are told apart.

Examples:
  causeway study -- ./program                  print where the time goes
  causeway study -o study.json -- ./program    keep it for other programs
  causeway study --json -- ./program           print it as JSON, in place of the tables
  CAUSEWAY_DEVICES=pocl causeway study -- ./program

Exit status: that of PROGRAM, 127 if there is no such program; 1 if it called nothing of OpenCL or something failed, 2 for
wrong arguments.)";

struct arguments {
    std::string output;
    bool as_json = false;
};

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The program sees the platform Causeway alone, which looks for drivers where the loader would have looked.
void set_environment(const std::filesystem::path& folder) {
    setenv("CAUSEWAY_VENDORS", causeway_tool::vendors_place().c_str(), 0);
    setenv("OCL_ICD_VENDORS", causeway_tool::platform_place().c_str(), 1);
    setenv("CAUSEWAY_STUDY", folder.c_str(), 1);
}

void write(const std::string& path, const json& study) {
    std::ofstream file(path);
    file << study.dump(1) << "\n";
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path);
}

int start(const arguments& typed, const std::vector<std::string>& program) {
    if (program.empty()) throw usage_error("study: no program; for example: causeway study -- ./program");
    causeway_tool::check_writable(typed.output);
    const temporary_folder folder("causeway-study");
    set_environment(folder.path());
    lifetime of;
    of.begin = now();
    const int status = causeway_tool::run_and_wait(program);
    of.end = now();
    const auto processes = read_processes(folder.path());
    if (processes.empty()) {
        std::fprintf(stderr, "causeway study: nothing to say: the program %s\n",
                     status != 0 ? ("ended with status " + std::to_string(status) + " and left nothing").c_str()
                                 : "called nothing of OpenCL, is linked with a driver itself, or does not end by exit()");
        return status != 0 ? status : 1;
    }
    const auto machine = measure_bandwidth();
    json study{{"made_by", std::string("causeway ") + causeway_version()},
               {"machine", {{"processor", causeway_tool::processor_name()}, {"processors", causeway_tool::usable_processors()},
                            {"kernel", causeway_tool::kernel_name()}, {"read_gb_per_s", machine.read},
                            {"copy_gb_per_s", machine.copy}, {"triad_gb_per_s", machine.triad}}},
               {"status", status}, {"processes", json::array()}};
    for (const auto& each : processes) study["processes"].push_back(digest(each, of, processes.size() == 1, machine));
    if (!typed.output.empty()) write(typed.output, study);
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
    command->add_option("-o,--output", typed->output, "keep the study as JSON in this file")->type_name("FILE");
    command->add_flag("--json", typed->as_json, "print JSON in place of tables");
    return [typed](const std::vector<std::string>& program) { return start(*typed, program); };
}

} // namespace study
