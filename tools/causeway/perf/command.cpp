// SPDX-License-Identifier: Apache-2.0
// Options of `causeway perf`, and the order of things: check, measure, write, draw.
#include "perf/command.hpp"

#include "common/end_job.hpp"
#include "first_rank.hpp"
#include "perf/machine.hpp"
#include "perf/routes.hpp"
#include "words.hpp"
#include "temporary_directory.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>

namespace perf {

namespace {

using causeway_tool::usage_error;

const char* const description = "measure every route beside the limit of the machine";

const char* const teaching = R"(Measures how fast this machine moves OpenCL data: by the library, by the code that users
write otherwise (naive), and by the best that the hardware can do (limit), in turn in one run. Checks every byte that
the library and naive code move, and the bytes of limits wherever they are left in memory.

Examples:
  causeway perf --quick                    files, peers, kernels: a first look in less than half a minute
  causeway run -n 2 causeway perf --quick  messages between two ranks
  causeway perf --table --json one.json    everything in one process, 8 B to 1 GiB; takes a while
  causeway perf --routes file --directory /scratch --sizes 64M,1G --plot files.png
  causeway perf --routes file-read-cold --file /data/input.bin --sizes 1G
  causeway perf --from one.json --from two.json --plot both.svg

By default it measures a few routes at their largest sizes and prints a line for each: what the library reaches, what
code by hand does, how many times as fast that is, and the limit of the machine with the share that is reached.

Reading the table (--table): each line is one route, size, strategy and block. GB/s is the library's figure; limit
and naive are those of the same bytes by hand, measured in the same rounds; the last column is the library's per cent
of the limit. "auto" is what the library chooses by itself, followed by what it chose; the other lines force a
strategy. What the limits consist of, how good each choice was, and what was left out and why, stands below the
table.

Open MPI binds each of two ranks to one processor, which the program and the library then share: --bind-to none leaves
them free, and the heading says how many processors each may use.

Exit status: 0, 1 if something failed or data was wrong, 2 for wrong arguments.)";

constexpr std::array default_sizes = {std::size_t{8}, 256 * kib / kib, 4 * kib,  64 * kib,  256 * kib, mib,
                                      4 * mib,        16 * mib,        64 * mib, 256 * mib, gib};
constexpr std::array default_blocks = {64 * kib, 256 * kib, mib, 4 * mib, 16 * mib};
constexpr std::array quick_sizes = {std::size_t{8}, 64 * kib, mib, 16 * mib};
constexpr std::array quick_blocks = {mib};
constexpr std::array first_sizes = {std::size_t{8}, 256 * mib}, first_quick_sizes = {std::size_t{8}, 16 * mib};
constexpr int default_repetitions = 7, quick_repetitions = 3;
constexpr double default_seconds = 20, quick_seconds = 0.5;

/// Arguments as they were typed.
struct arguments {
    settings wanted;
    std::vector<std::string> sizes, blocks;
    std::vector<std::filesystem::path> from;
    std::size_t device = 0;
    const CLI::Option* device_given = nullptr;
    bool list = false;
};

void add_options(CLI::App& command, arguments& typed) {
    auto& wanted = typed.wanted;
    const auto list = [&](const char* name, auto& into, const char* sentence) {
        return command.add_option(name, into, sentence)->delimiter(',')->allow_extra_args(false)->type_name("LIST");
    };
    command.add_flag("--quick", wanted.quick, "a few sizes and blocks, in less than half a minute");
    command.add_flag("--table", wanted.table,
                     "all routes, sizes, strategies and blocks, each as a line, with the parts of the limits");
    command.add_flag("--list", typed.list, "list routes, sizes, strategies and blocks, and measure nothing");
    list("--routes", wanted.routes, "only these, by name or by its beginning: file, peer, rank-latency, ...");
    list("--sizes", typed.sizes, "bytes of a transfer, with K, M, G");
    list("--strategies", wanted.strategies, "force these beside the library's choice; \"auto\" forces none");
    list("--blocks", typed.blocks, "force these block sizes with each strategy, beside its own choice");
    command
        .add_option("--repetitions", wanted.repetitions, "rounds of large transfers; small ones get ten times as many")
        ->type_name("N")
        ->check(CLI::Range(1, 10000));
    command.add_option("--seconds", wanted.seconds, "after which a route and size ends with what it has (default: 20)")
        ->type_name("S")
        ->check(CLI::PositiveNumber);
    command.add_option("--directory", wanted.directory, "where files are made; its file system is what is measured")
        ->type_name("PATH");
    command.add_option("--file", wanted.file, "read this file instead of one that is made; it is never written")
        ->type_name("PATH");
    command.add_option("--platform", wanted.platform, "part of the OpenCL platform's name (default: the first)")
        ->type_name("NAME");
    command.add_option("--peer-platform", wanted.peer_platform, "that of the other side of peer-two-vendors")
        ->type_name("NAME");
    typed.device_given = command
                             .add_option("--device", typed.device,
                                         "the platform's device of this number, from 0, and no other")
                             ->type_name("N");
    command.add_flag("--linked-buffers", wanted.in_windows,
                     "peer and rank routes between buffers of causeway_buffer_create, which a direct link reaches");
    command.add_option("--json", wanted.json, "write all figures to FILE")->type_name("FILE");
    command.add_option("--plot", wanted.plot, "draw bandwidth over size into FILE (.png, .svg, .pdf)")
        ->type_name("FILE");
    command.add_option("--from", typed.from, "measure nothing: draw --plot from a FILE of --json; may be repeated")
        ->allow_extra_args(false)
        ->type_name("FILE");
    command.add_option("--commit", wanted.commit, "what is measured, for the heading")->type_name("TEXT");
    command.add_flag("--progress", wanted.progress, "show progress also where standard error is no terminal");
}

template <class Defaults> void read_sizes(const std::vector<std::string>& words, const char* option,
                                          const Defaults& defaults, std::vector<std::size_t>& into) {
    for (const auto& each : words) into.push_back(causeway_tool::size_from(each, option));
    if (words.empty()) into.assign(defaults.begin(), defaults.end());
    // A run that is cut short has what large transfers reach.
    std::ranges::sort(into, std::greater{});
    into.erase(std::ranges::unique(into).begin(), into.end());
}

void check_strategies(const std::vector<std::string>& wanted) {
    auto known = known_strategies();
    known.emplace_back("auto");
    for (const auto& each : wanted)
        if (std::ranges::find(known, each) == known.end())
            throw usage_error("--strategies: no strategy " + each + causeway_tool::suggestion(each, known));
}

/// Nobody wants more than the few lines.
bool is_first_look(const settings& wanted) { return !wanted.table && wanted.json.empty() && wanted.plot.empty(); }

/// All that can be known before anything is measured: nobody waits minutes for a refusal.
void complete_and_check(arguments& typed) {
    auto& wanted = typed.wanted;
    if (is_first_look(wanted)) {
        if (wanted.strategies.empty()) wanted.strategies = {"auto"};
        wanted.quick ? read_sizes(typed.sizes, "--sizes", first_quick_sizes, wanted.sizes)
                     : read_sizes(typed.sizes, "--sizes", first_sizes, wanted.sizes);
        read_sizes(typed.blocks, "--blocks", std::array<std::size_t, 0>{}, wanted.blocks);
    } else if (wanted.quick) {
        read_sizes(typed.sizes, "--sizes", quick_sizes, wanted.sizes);
        read_sizes(typed.blocks, "--blocks", quick_blocks, wanted.blocks);
    } else {
        read_sizes(typed.sizes, "--sizes", default_sizes, wanted.sizes);
        read_sizes(typed.blocks, "--blocks", default_blocks, wanted.blocks);
    }
    if (wanted.sizes.front() >= 2 * gib) throw usage_error("--sizes: at most 2047M, as MPI counts are int");
    if (wanted.repetitions == 0) wanted.repetitions = wanted.quick ? quick_repetitions : default_repetitions;
    if (wanted.seconds == 0) wanted.seconds = wanted.quick ? quick_seconds : default_seconds;
    if (!typed.device_given->empty()) wanted.device = typed.device;
    check_strategies(wanted.strategies);
    if (wanted.directory.empty()) wanted.directory = causeway_tool::temporary_directory();
    if (!std::filesystem::is_directory(wanted.directory))
        throw usage_error("--directory: no directory " + wanted.directory.string());
    if (!wanted.file.empty() && !std::filesystem::is_regular_file(wanted.file))
        throw usage_error("--file: no file " + wanted.file.string());
}

void check_outputs(const settings& wanted) {
    causeway_tool::check_writable(wanted.json);
    causeway_tool::check_writable(wanted.plot);
    if (!wanted.plot.empty()) check_plotting(wanted.plot);
}

template <class Sizes> std::string texts_of(const Sizes& sizes) {
    std::string text;
    for (const auto each : sizes) text.append(text.empty() ? "" : ", ").append(causeway_tool::size_text(each));
    return text;
}

void list() {
    const auto print = [](int ranks) {
        for (const auto& each : all_routes())
            if (each.ranks == ranks) std::printf("  %-34s %s\n", each.name.c_str(), each.sentence.c_str());
    };
    std::printf("Routes in one process (causeway perf)\n");
    print(1);
    std::printf("Routes between two ranks (causeway run -n 2 causeway perf)\n");
    print(2);
    std::printf("Strategies\n  auto");
    for (const auto& each : known_strategies()) std::printf(", %s", each.c_str());
    std::printf("\nSizes\n  %s\n  --quick: %s\nBlocks\n  %s\n  --quick: %s\n", texts_of(default_sizes).c_str(),
                texts_of(quick_sizes).c_str(), texts_of(default_blocks).c_str(), texts_of(quick_blocks).c_str());
}

devices find_devices(const settings& wanted) {
    devices found{apps::devices_of(wanted.platform), wanted.device.value_or(0), wanted.device.has_value()};
    if (found.chosen >= found.of_platform.size())
        throw usage_error("--device: the platform has " + std::to_string(found.of_platform.size()) +
                          " devices, from 0");
    return found;
}

/// The JSON that a picture is drawn from when the user wants none for himself.
class results_file {
  public:
    explicit results_file(const std::filesystem::path& wanted) : m_path(wanted) {
        if (!wanted.empty()) return;
        std::string name = causeway_tool::temporary_directory() / "causeway-perf-XXXXXX";
        const int made = mkstemp(name.data());
        if (made < 0) throw std::runtime_error("cannot make a file in the temporary directory");
        close(made);
        m_path = name;
        m_temporary = true;
    }
    ~results_file() {
        std::error_code ignored;
        if (m_temporary) std::filesystem::remove(m_path, ignored);
    }
    results_file(const results_file&) = delete;
    results_file& operator=(const results_file&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

  private:
    std::filesystem::path m_path;
    bool m_temporary = false;
};

void report_all(session& session, const std::vector<std::string>& given_routes, int ranks) {
    const auto& wanted = session.wanted();
    if (ranks == 1 && given_routes.empty())
        session.note("routes between ranks are measured by: causeway run -n 2 causeway perf");
    const auto& results = session.finish();
    wanted.table ? print_end(results) : print_summary(results);
    if (results.rows.empty()) return;
    if (wanted.json.empty() && wanted.plot.empty()) return;
    const results_file file(wanted.json);
    write_json(results, file.path());
    if (!wanted.plot.empty()) plot({file.path()}, wanted.plot);
}

/// What a first look needs to know of the machine.
facts first_facts(facts all) {
    constexpr std::array<std::string_view, 5> first = {"processor", "device", "MPI", "files in", "options"};
    std::erase_if(all, [&](const auto& each) { return std::ranges::find(first, each.first) == first.end(); });
    return all;
}

void measure(const settings& wanted, int rank, int ranks) {
    const bool is_short = is_first_look(wanted) && wanted.routes.empty();
    auto routes = is_short ? first_routes(ranks) : choose_routes(wanted.routes, ranks);
    const auto on = find_devices(wanted);
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    {
        session session(wanted, comm, std::move(routes));
        session.results().machine = machine_facts(on.first(), wanted, ranks);
        if (rank == 0) print(wanted.table ? session.results().machine : first_facts(session.results().machine));
        std::exception_ptr failed;
        try {
            run_routes(session, on);
        } catch (const wrong_data&) {
            throw;
        } catch (const std::exception&) {
            failed = std::current_exception(); // what was measured before it holds
        }
        if (rank == 0) report_all(session, wanted.routes, ranks);
        if (failed) std::rethrow_exception(failed);
        if (session.results().rows.empty()) throw std::runtime_error("nothing was measured");
    }
    causeway_mpi_comm_free(&comm);
}

int run(arguments& typed) {
    if (typed.list) {
        list();
        return 0;
    }
    complete_and_check(typed);
    if (!typed.from.empty()) {
        if (typed.wanted.plot.empty()) throw usage_error("--from needs --plot, which says where to draw");
        check_outputs(typed.wanted);
        plot(typed.from, typed.wanted.plot);
        return 0;
    }

    int provided = MPI_THREAD_SINGLE, rank = 0, ranks = 1;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int code = 0;
    try {
        if (provided < MPI_THREAD_MULTIPLE) throw std::runtime_error("this MPI does not offer MPI_THREAD_MULTIPLE");
        causeway_tool::check_on_first_rank(rank, [&] { check_outputs(typed.wanted); });
        measure(typed.wanted, rank, ranks);
    } catch (const usage_error& error) { // all ranks come here
        if (rank == 0) std::fprintf(stderr, "causeway perf: %s\n", error.what());
        code = 2;
    } catch (const std::exception& error) {
        std::fflush(stdout);
        std::fprintf(stderr, "causeway perf: %s%s\n", ranks > 1 ? ("rank " + std::to_string(rank) + ": ").c_str() : "",
                     error.what());
        if (ranks > 1) apps::end_job(1);
        code = 1;
    }
    causeway_mpi_finalize();
    return code;
}

} // namespace

std::function<int()> add_command(CLI::App& app) {
    auto* const command = app.add_subcommand("perf", description);
    command->footer(teaching);
    command->allow_extras();
    const auto typed = std::make_shared<arguments>();
    add_options(*command, *typed);
    return [typed] { return run(*typed); };
}

} // namespace perf
