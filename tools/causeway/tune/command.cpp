// SPDX-License-Identifier: Apache-2.0
// Options of `causeway tune`: what to measure, and how to show what is known.
#include "tune/command.hpp"

#include "common/end_job.hpp"
#include "common/opencl.hpp"
#include "first_rank.hpp"
#include "words.hpp"

#define CAUSEWAY_NO_MPI_MACROS
#include <CL/cl_data_transfer.h>
#include <causeway/tuner_mpi.h>

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tune {

namespace {

using causeway_tool::usage_error;
using nlohmann::json;

const char* const description = "measure what this machine's devices, file systems and messages can do";

const char* const teaching = R"(Measures how long the parts of transfers take: copies to and from the memory of each
device, reads and writes of a file system, messages to a rank. By these figures transfers choose how they move bytes.
The figures are kept below ~/.cache, and corrected by the transfers that run. A program need not ask for them: the
library measures devices by itself once a program uses them for a while.

Examples:
  causeway tune                            the devices of the first platform
  causeway tune --directory /scratch       and this file system
  causeway run -n 2 causeway tune          messages between two ranks of a node, or of two
  causeway tune --show                     what is known, without measuring
  causeway tune --clear                    forget it

CAUSEWAY_EXPLAIN=1 in front of any program says what each of its transfers chose, and why.

Exit status: 0, 1 if something failed or the figures cannot be kept, 2 for wrong arguments.)";

struct arguments {
    std::vector<std::string> directories;
    std::string platform, json_file;
    std::optional<std::size_t> device;
    bool show = false, clear = false;
};

void check(cl_int code, const std::string& what) {
    if (code != CL_SUCCESS) throw std::runtime_error(what + ": " + causeway_error_last_message());
}

json known_figures() {
    std::string text(static_cast<std::size_t>(std::max(causeway_tuner_figures(nullptr, 0), 0L)) + 4096, '\0');
    const auto length = causeway_tuner_figures(text.data(), text.size());
    if (length < 0) throw std::runtime_error(std::string("the figures: ") + causeway_error_last_message());
    text.resize(std::min(text.size(), static_cast<std::size_t>(length)));
    return json::parse(text);
}

std::string latency_text(double seconds) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f us", seconds * 1e6);
    return text.data();
}

std::string bandwidth_text(const std::string& operation, double bytes_per_second) {
    // A map copies nothing: what it takes longer for more bytes is chance. So is a copy that takes no longer for more.
    if (operation.starts_with("map") || bytes_per_second > 1e13) return "-";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", bytes_per_second / 1e9);
    return text.data();
}

std::string age_text(std::int64_t seen) {
    const auto seconds = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::time(nullptr)) - seen);
    if (seconds < 120) return std::to_string(seconds) + " s";
    if (seconds < 7200) return std::to_string(seconds / 60) + " min";
    if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + " h";
    return std::to_string(seconds / 86400) + " days";
}

void print(const json& figures) {
    std::string resource;
    const auto& stages = figures.at("stages");
    const auto sizes = figures.at("sizes").get<std::vector<double>>();
    for (const auto& each : stages) {
        const auto its = each.at("place").get<std::string>();
        if (its != resource)
            std::printf("%s%s\n  %-10s %12s %10s %10s %9s\n", resource.empty() ? "" : "\n", its.c_str(), "operation",
                        "latency", "GB/s", "at once", "age");
        resource = its;
        const auto seconds = each.at("seconds").get<std::vector<double>>();
        const auto operation = each.at("operation").get<std::string>();
        const auto last = seconds.size() - 1, before = seconds.size() - 3;
        const double slope = (sizes.at(last) - sizes.at(before)) /
                             std::max(seconds.at(last) - seconds.at(before), 1e-12);
        std::printf("  %-10s %12s %10s %10s %9s\n", operation.c_str(), latency_text(seconds.front()).c_str(),
                    bandwidth_text(operation, slope).c_str(),
                    bandwidth_text(operation, each.at("bytes_per_second_at_once")).c_str(),
                    age_text(each.at("seen")).c_str());
    }
    if (stages.empty()) std::printf("nothing is known yet\n");
    if (!figures.at("measured").empty()) std::printf("\n");
    for (const auto& each : figures.at("measured"))
        std::printf("measured in %.2f s: %s\n", each.at("seconds").get<double>(),
                    each.at("what").get<std::string>().c_str());
    const auto file = figures.at("file").get<std::string>(), problem = figures.at("problem").get<std::string>();
    std::printf("\n%s\n", !problem.empty() ? ("not kept: " + problem).c_str()
                          : file.empty()   ? "kept by this process only, as there is neither XDG_CACHE_HOME nor HOME"
                                           : ("kept in " + file).c_str());
}

/// Says on a terminal what is being measured, and adds to `taken` how long that took: {"what": ..., "seconds": ...}.
class progress {
  public:
    progress(bool speaks, json& taken) : m_speaks(speaks && isatty(STDERR_FILENO) == 1), m_taken(taken) {}
    ~progress() { clear(); }
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;
    template <class Measure> void measure(const std::string& what, Measure measure) {
        if (m_speaks) std::fprintf(stderr, "\r\033[Kmeasuring %s", what.c_str());
        const auto begun = std::chrono::steady_clock::now();
        measure();
        m_taken.push_back(
            {{"what", what},
             {"seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count()}});
    }

  private:
    void clear() const {
        if (m_speaks) std::fprintf(stderr, "\r\033[K");
    }
    bool m_speaks;
    json& m_taken;
};

std::vector<cl_device_id> devices_to_measure(const arguments& typed) {
    auto all = apps::devices_of(typed.platform);
    if (!typed.device) {
        // Devices of one kind share their figures.
        std::set<std::string> names;
        std::erase_if(all, [&](cl_device_id each) { return !names.insert(apps::device_name(each)).second; });
        return all;
    }
    if (*typed.device >= all.size())
        throw usage_error("--device: the platform has " + std::to_string(all.size()) + " devices, from 0");
    return {all[*typed.device]};
}

apps::queue make_queue(cl_device_id device, apps::context& context) {
    context = apps::create_context(device);
    return apps::create_in_order_queue(context.get(), device);
}

void measure_here(const arguments& typed, progress& said) {
    for (auto* const device : devices_to_measure(typed)) {
        apps::context context;
        const auto queue = make_queue(device, context);
        const auto name = apps::device_name(device);
        said.measure(name, [&] { check(causeway_tune_device(queue.get()), name); });
    }
    for (const auto& directory : typed.directories)
        said.measure(directory, [&] { check(causeway_tune_directory(directory.c_str()), directory); });
}

/// The first rank measures with a neighbour of its node, then with one of another node, where there are such.
void measure_ranks(const arguments& typed, int rank, int ranks, progress& said) {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int first_of_node = rank;
    MPI_Bcast(&first_of_node, 1, MPI_INT, 0, node);
    std::vector<int> nodes(static_cast<std::size_t>(ranks));
    MPI_Allgather(&first_of_node, 1, MPI_INT, nodes.data(), 1, MPI_INT, MPI_COMM_WORLD);

    // Each rank its own device, as programs do. Another node may have fewer: no usage_error, which is one of all ranks.
    const auto all = typed.device ? std::vector{apps::device_of(typed.platform, *typed.device)}
                                  : apps::devices_of(typed.platform);
    int rank_of_node = 0;
    MPI_Comm_rank(node, &rank_of_node);
    causeway_mpi_comm_free(&node);
    auto* const device = all[static_cast<std::size_t>(rank_of_node) % all.size()];
    apps::context context;
    const auto queue = make_queue(device, context);
    for (const bool on_node : {true, false}) {
        const auto is_wanted = [&](int each) { return (each == 0) == on_node; };
        const auto other = std::find_if(nodes.begin() + 1, nodes.end(), is_wanted);
        if (other == nodes.end()) continue;
        const auto peer = static_cast<int>(other - nodes.begin());
        said.measure(on_node ? "messages within a node" : "messages between nodes", [&] {
            if (rank == 0) check(causeway_tune_rank(queue.get(), peer, MPI_COMM_WORLD), "rank " + std::to_string(peer));
            if (rank == peer) check(causeway_tune_rank(queue.get(), 0, MPI_COMM_WORLD), "rank 0");
        });
    }
}

void write_json(const json& figures, const std::string& path) {
    if (path == "-") {
        std::printf("%s\n", figures.dump(1).c_str());
        return;
    }
    std::ofstream file(path);
    file << figures.dump(1) << "\n";
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path);
}

/// The exit status.
int act(const arguments& typed, int rank, int ranks) {
    // Before anything is measured, by the rank that writes.
    if (typed.json_file != "-" && !typed.clear)
        causeway_tool::check_on_first_rank(rank, [&] { causeway_tool::check_writable(typed.json_file); });
    if (typed.clear && rank == 0) check(causeway_tuner_clear(), "forgetting");
    json measured = json::array();
    if (!typed.show && !typed.clear) {
        if (ranks > 1 && !typed.directories.empty())
            throw usage_error("--directory: file systems are measured by one process, without mpirun");
        progress said(rank == 0, measured);
        ranks > 1 ? measure_ranks(typed, rank, ranks, said) : measure_here(typed, said);
    }
    if (rank != 0 || typed.clear) return 0;
    auto figures = known_figures();
    figures["measured"] = std::move(measured);
    if (typed.json_file != "-") print(figures);
    if (!typed.json_file.empty()) write_json(figures, typed.json_file);
    return figures.at("problem").get<std::string>().empty() ? 0 : 1;
}

int run(const arguments& typed) {
    if (typed.show && typed.clear) throw usage_error("--show and --clear exclude each other");
    int provided = MPI_THREAD_SINGLE, rank = 0, ranks = 1, code = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    try {
        code = act(typed, rank, ranks);
    } catch (const usage_error& error) { // all ranks come here
        if (rank == 0) std::fprintf(stderr, "causeway tune: %s\n", error.what());
        code = 2;
    } catch (const std::exception& error) {
        const auto where = ranks > 1 ? "rank " + std::to_string(rank) + ": " : "";
        std::fprintf(stderr, "causeway tune: %s%s\n", where.c_str(), error.what());
        if (ranks > 1) apps::end_job(1);
        code = 1;
    }
    causeway_mpi_finalize();
    return code;
}

} // namespace

std::function<int()> add_command(CLI::App& app) {
    auto* const command = app.add_subcommand("tune", description);
    command->footer(teaching);
    command->allow_extras();
    const auto typed = std::make_shared<arguments>();
    command->add_option("--directory", typed->directories, "measure the file system of this directory; may be repeated")
        ->allow_extra_args(false)
        ->type_name("PATH");
    command->add_option("--platform", typed->platform, "part of the OpenCL platform's name (default: the first)")
        ->type_name("NAME");
    command->add_option("--device", typed->device, "the platform's device of this number, from 0, and no other")
        ->type_name("N");
    command->add_flag("--show", typed->show, "show what is known, and measure nothing");
    command->add_flag("--clear", typed->clear, "forget what is known");
    command
        ->add_option("--json", typed->json_file, "write the figures to FILE; - is standard output, without the table")
        ->type_name("FILE");
    return [typed] { return run(*typed); };
}

} // namespace tune
