// SPDX-License-Identifier: Apache-2.0
// Options of `causeway info`: gathers the facts of all ranks, prints them, says what is wrong.
#include "info/command.hpp"

#include "beside.hpp"
#include "info/checks.hpp"
#include "info/facts.hpp"
#include "launched.hpp"
#include "launcher.hpp"
#include "system_facts.hpp"
#include "words.hpp"

#include <causeway/causeway.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace info {

namespace {

const char* const teaching = R"(Shows what Causeway finds on this machine, or, started by mpirun, on those of all ranks: devices and
drivers, MPI and its thread level, page-locked memory, file systems, options and where each value came from; then what
is wrong, and what to do about it.

Examples:
  causeway info                       this machine
  mpirun -n 4 causeway info           the machines of four ranks
  causeway info --check               only what is wrong; exit status 1 if something stops transfers
  causeway info --options             every option, its value, where that came from, and what it does
  causeway info --directory /scratch  this file system, too
  causeway info --json                all of it for other programs

Exit status: 0, 1 if something failed or, with --check, something stops transfers, 2 for wrong arguments.)";

struct arguments {
    bool as_json = false, options = false, check = false;
    std::vector<std::string> directories;
};

std::string bytes_text(const json& value) {
    if (!value.is_number()) return value.get<std::string>();
    const auto bytes = value.get<std::uint64_t>();
    char text[32];
    std::snprintf(text, sizeof text, bytes >= (1ull << 30) ? "%.1f GiB" : "%.0f KiB",
                  static_cast<double>(bytes) / (bytes >= (1ull << 30) ? 1ull << 30 : 1ull << 10));
    return text;
}

std::string words_of(const json& value) { return value.get<std::string>(); }

void print_options(const json& options, bool all) {
    for (const auto& each : options) {
        const auto from = words_of(each.at("from"));
        if (!all) {
            if (from != "default")
                std::printf("  %-12s %-16s from %s\n", words_of(each.at("name")).c_str(), words_of(each.at("value")).c_str(),
                            words_of(each.at("environment")).c_str());
            continue;
        }
        const auto value = words_of(each.at("value"));
        std::printf("%s=%s  (%s)\n    %s\n", words_of(each.at("environment")).c_str(), value.c_str(),
                    from == "default" ? "the default" : ("from the " + from + "; default " + words_of(each.at("default"))).c_str(),
                    words_of(each.at("description")).c_str());
    }
}

void print_devices(const json& rank) {
    for (const auto& platform : rank.at("platforms")) {
        std::printf("  %s, %s\n", words_of(platform.at("name")).c_str(), words_of(platform.at("version")).c_str());
        std::size_t number = 0;
        for (const auto& device : platform.at("devices")) {
            std::printf("    %zu  %s: %s, %u units, %s%s, driver %s\n", number++, words_of(device.at("kind")).c_str(),
                        words_of(device.at("name")).c_str(), device.at("units").get<unsigned>(),
                        bytes_text(device.at("memory_bytes")).c_str(),
                        device.at("host_memory").get<bool>() ? " of the host" : "", words_of(device.at("driver")).c_str());
            if (!device.at("host_memory").get<bool>())
                std::printf("       direct links to other devices: %s\n", words_of(device.at("direct_links")).c_str());
        }
    }
}

void print(const json& facts) {
    const auto& mpi = facts.at("mpi");
    std::printf("causeway %s, %s\n", causeway_version(), words_of(facts.at("library")).c_str());
    std::printf("%s: %s; launcher %s\n", words_of(mpi.at("library")).c_str(),
                mpi.value("thread_level", "does not start").c_str(), mpi.value("launcher", "none").c_str());
    std::string last;
    for (const auto& rank : facts.at("ranks")) {
        auto same = rank;
        same.erase("rank");
        // Ranks of one machine see the same.
        if (same.dump() != last) {
            std::printf("%s: %s, %ld processors, %s; %s; page-locked memory %s\n", words_of(rank.at("host")).c_str(),
                        words_of(rank.at("processor")).c_str(), rank.at("processors").get<long>(),
                        bytes_text(rank.at("memory_bytes")).c_str(), words_of(rank.at("kernel")).c_str(),
                        bytes_text(rank.at("locked_memory_bytes")).c_str());
            print_devices(rank);
            last = same.dump();
        }
        if (facts.at("ranks").size() > 1) std::printf("  rank %d is here\n", rank.at("rank").get<int>());
    }
    for (const auto& each : facts.at("directories"))
        if (!each.contains("error"))
            std::printf("%s: %s, %s free, direct access %s\n", words_of(each.at("directory")).c_str(),
                        words_of(each.at("file_system")).c_str(), bytes_text(each.at("free_bytes")).c_str(),
                        words_of(each.at("direct")).c_str());
    const bool any = std::any_of(facts.at("options").begin(), facts.at("options").end(),
                                 [](const json& each) { return each.at("from") != "default"; });
    std::printf(any ? "options that are set:\n" : "no option is set; causeway info --options shows them all\n");
    print_options(facts.at("options"), false);
}

bool print_problems(const std::vector<problem>& problems) {
    bool stops = false;
    for (const auto& each : problems) {
        const bool is_fatal = each.how == problem::weight::stops;
        stops = stops || is_fatal;
        std::printf("%s: %s\n    %s\n", is_fatal ? "PROBLEM" : "note", each.what.c_str(), each.advice.c_str());
    }
    if (problems.empty()) std::printf("nothing is wrong\n");
    return stops;
}

/// What each rank found, at rank 0.
json gathered(const json& own, int ranks) {
    const auto text = own.dump();
    int length = static_cast<int>(text.size());
    std::vector<int> lengths(static_cast<std::size_t>(ranks)), offsets(static_cast<std::size_t>(ranks));
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] = offsets[i - 1] + lengths[i - 1];
    std::string all(static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
    MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
    json ranks_told = json::array();
    for (std::size_t i = 0; i < lengths.size() && !all.empty() && lengths[i] > 0; ++i)
        ranks_told.push_back(json::parse(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i]))));
    return ranks_told;
}

int show(const arguments& typed, const json& facts) {
    const auto problems = problems_of(facts);
    if (typed.as_json) {
        auto whole = facts;
        whole["problems"] = json::array();
        for (const auto& each : problems)
            whole["problems"].push_back({{"stops", each.how == problem::weight::stops}, {"what", each.what}, {"advice", each.advice}});
        std::printf("%s\n", whole.dump(1).c_str());
        return 0;
    }
    if (!typed.check) print(facts);
    const bool stops = (typed.check || !problems.empty()) && print_problems(problems);
    return typed.check && stops ? 1 : 0;
}

int run(arguments typed) {
    if (typed.options) {
        const auto options = facts_of_options();
        if (typed.as_json) {
            std::printf("%s\n", options.dump(1).c_str());
        } else {
            print_options(options, true);
        }
        return 0;
    }
    if (typed.directories.empty())
        typed.directories = {std::filesystem::current_path().string(), std::filesystem::temp_directory_path().string()};
    json facts{{"version", causeway_version()}, {"library", causeway_tool::library_file("libcauseway.so")}};
    const bool is_launched = causeway_tool::launched_rank().has_value();
    // Before anything else has threads: it forks.
    facts["mpi"] = is_launched ? json{{"library", causeway_tool::mpi_name()}} : facts_of_mpi();
    auto own = facts_of_process();
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
    if (const auto found = causeway_tool::find_launcher(); found) facts["mpi"]["launcher"] = found->path;
    facts["directories"] = facts_of_directories(typed.directories);
    facts["options"] = facts_of_options();
    return show(typed, facts);
}

} // namespace

std::function<int()> add_command(CLI::App& app) {
    auto* const command = app.add_subcommand("info", "show devices, MPI, memory, file systems, options, and what is wrong");
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
