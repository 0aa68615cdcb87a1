// SPDX-License-Identifier: Apache-2.0
// Options of `causeway info`: gathers the facts of all ranks, prints them, says what is wrong.
#include "info/command.hpp"

#include "beside.hpp"
#include "info/checks.hpp"
#include "info/facts.hpp"
#include "info/report.hpp"
#include "launched.hpp"
#include "launcher.hpp"
#include "system_facts.hpp"
#include "words.hpp"
#include "temporary_directory.hpp"

#include <causeway/causeway.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace info {

namespace {

const char* const
    teaching = R"(Shows what Causeway finds on this machine, or on those of all ranks that it is started on: devices and
drivers, MPI and its thread level, page-locked memory, file systems, options and where each value came from; then what
is wrong, and what to do about it. What ranks have in common is shown once.

Examples:
  causeway info                       this machine
  causeway run -n 4 causeway info     the machines of four ranks, and where their settings differ
  causeway info --check               only what is wrong; exit status 1 if something stops transfers
  causeway info --options             every option, its value, where that came from, and what it does
  causeway info --directory /scratch  this file system, too
  causeway info --json                all of it for other programs

Exit status: 0, 1 if something failed or, with --check, something stops transfers, 2 for wrong arguments.)";

struct arguments {
    bool as_json = false, options = false, check = false;
    std::vector<std::string> directories;
};

/// What each rank found, at rank 0.
json gathered(const json& own, int ranks) {
    const auto text = as_text(own);
    int length = static_cast<int>(text.size());
    std::vector<int> lengths(static_cast<std::size_t>(ranks)), offsets(static_cast<std::size_t>(ranks));
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] = offsets[i - 1] + lengths[i - 1];
    std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
    MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
    json ranks_told = json::array();
    for (std::size_t i = 0; i < lengths.size() && !all.empty() && lengths[i] > 0; ++i)
        ranks_told.push_back(
            json::parse(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i]))));
    return ranks_told;
}

int show(const arguments& typed, const json& facts) {
    const auto problems = problems_of(facts);
    const bool is_stopped = std::ranges::any_of(problems,
                                                [](const problem& each) { return each.how == problem::weight::stops; });
    if (typed.as_json) {
        auto whole = facts;
        whole["problems"] = json::array();
        for (const auto& each : problems)
            whole["problems"].push_back(
                {{"stops", each.how == problem::weight::stops}, {"what", each.what}, {"advice", each.advice}});
        std::printf("%s\n", as_text(whole, 1).c_str());
    } else {
        if (!typed.check) print(facts);
        if (typed.check || !problems.empty()) print_problems(problems);
    }
    return typed.check && is_stopped ? 1 : 0;
}

/// Of --options on one rank the list of them, on several what each rank has.
int show_options(const arguments& typed, const json& ranks) {
    if (!typed.as_json)
        print_options(ranks);
    else
        std::printf("%s\n", as_text(ranks.size() == 1 ? ranks.front().at("options") : ranks, 1).c_str());
    return 0;
}

int run(arguments typed) {
    if (typed.directories.empty())
        typed.directories = {std::filesystem::current_path().string(), causeway_tool::temporary_directory().string()};
    json facts{{"version", causeway_version()}, {"library", causeway_tool::library_file("libcauseway.so")}};
    const bool is_launched = causeway_tool::launched_rank().has_value();
    json own{{"host", causeway_tool::host_name()}, {"options", facts_of_options()}};
    if (!typed.options) {
        // Before anything else has threads: it forks.
        facts["mpi"] = is_launched ? json{{"library", causeway_tool::mpi_name()}} : facts_of_mpi();
        own.update(facts_of_process());
        own["directories"] = facts_of_directories(typed.directories);
    }
    int rank = 0, ranks = 1;
    if (is_launched) {
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        facts["mpi"]["thread_level"] = thread_level_name(provided);
        facts["mpi"]["launched_ranks"] = causeway_tool::launched_ranks();
        facts["mpi"]["ranks"] = ranks;
    }
    own["rank"] = rank;
    facts["ranks"] = is_launched ? gathered(own, ranks) : json::array({own});
    if (is_launched) MPI_Finalize();
    if (rank != 0) return 0;
    if (typed.options) return show_options(typed, facts.at("ranks"));
    if (const auto found = causeway_tool::find_launcher(); found) facts["mpi"]["launcher"] = found->path;
    return show(typed, facts);
}

} // namespace

std::function<int()> add_command(CLI::App& app) {
    auto* const command = app.add_subcommand("info",
                                             "show devices, MPI, memory, file systems, options, and what is wrong");
    command->footer(teaching);
    command->allow_extras();
    const auto typed = std::make_shared<arguments>();
    command->add_flag("--check", typed->check, "only what is wrong, and what to do about it");
    command->add_flag("--options", typed->options, "only the options: values, where they came from, what they do");
    command->add_flag("--json", typed->as_json, "print it as JSON");
    command->add_option("--directory", typed->directories, "look at the file system of this directory; may be repeated")
        ->allow_extra_args(false)
        ->type_name("PATH");
    return [typed] { return run(*typed); };
}

} // namespace info
