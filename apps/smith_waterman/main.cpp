// SPDX-License-Identifier: Apache-2.0
// Makes databases, searches them in three ways, and says how fast.
#include "smith_waterman/fasta.hpp"
#include "smith_waterman/problem.hpp"

#include "common/program.hpp"
#include "common/statistics.hpp"

#include <getopt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

namespace {

using namespace smith_waterman;

constexpr const char* usage =
    "usage: smith_waterman generate FASTA RESIDUES [SEED]   a database of random proteins, as large as you like\n"
    "       smith_waterman pack FASTA DATABASE [CHUNK]      the form that is searched, CHUNK (4194304) bytes at once\n"
    "       smith_waterman search QUERIES DATABASE [options]\n"
    "  --version NAME       plain, hand, causeway or all (default); all must find the same\n"
    "  --rounds N           timed searches of each version, taken in turn (default 1); from 3 on it is measured, too,\n"
    "                       what transfers and computation take alone, and what is hidden of the transfers\n"
    "  --hits N             best hits of each query (default 10)\n"
    "  --gap-open N         a gap of n residues costs open + n * extend (default 11)\n"
    "  --gap-extend N       (default 1)\n"
    "  --kernel NAME        vectors (processors), registers (graphics processors) or automatic (default)\n"
    "  --transfers-only     bring the database to the device, and search nothing\n"
    "  --cold               send the database out of the page cache before each search\n"
    "  --progress           show progress also where standard error is no terminal\n"
    "  --platform NAME      part of the OpenCL platform's name (default: the first with a device)\n"
    "  --device INDEX       device of the platform (default 0)\n";

struct options {
    std::string queries, database, version = "all", platform;
    int rounds = 1;
    std::size_t hits = 10, device = 0;
    gaps gap;
    kernel_form kernel = kernel_form::automatic;
    bool transfers_only = false, cold = false, progress = false;
};

kernel_form kernel_named(const std::string& name) {
    if (name == "automatic") return kernel_form::automatic;
    if (name == "vectors") return kernel_form::vectors;
    if (name == "registers") return kernel_form::registers;
    throw std::invalid_argument("no kernel \"" + name + "\"");
}

options parse(int argc, char** argv) {
    const option names[] = {
        {"version", required_argument, nullptr, 'v'},    {"rounds", required_argument, nullptr, 'r'},
        {"hits", required_argument, nullptr, 'n'},       {"gap-open", required_argument, nullptr, 'o'},
        {"gap-extend", required_argument, nullptr, 'e'}, {"kernel", required_argument, nullptr, 'k'},
        {"transfers-only", no_argument, nullptr, 't'},   {"cold", no_argument, nullptr, 'c'},
        {"progress", no_argument, nullptr, 's'},         {"platform", required_argument, nullptr, 'p'},
        {"device", required_argument, nullptr, 'd'},     {}};
    options parsed;
    opterr = 0;
    for (int name; (name = getopt_long(argc, argv, "", names, nullptr)) != -1;) switch (name) {
        case 'v': parsed.version = optarg; break;
        case 'r': parsed.rounds = apps::number<int>(optarg, 1); break;
        case 'n': parsed.hits = apps::number<std::size_t>(optarg, 1); break;
        case 'o': parsed.gap.open = apps::number<int>(optarg, 0); break;
        case 'e': parsed.gap.extend = apps::number<int>(optarg, 1); break;
        case 'k': parsed.kernel = kernel_named(optarg); break;
        case 't': parsed.transfers_only = true; break;
        case 'c': parsed.cold = true; break;
        case 's': parsed.progress = true; break;
        case 'p': parsed.platform = optarg; break;
        case 'd': parsed.device = apps::number<std::size_t>(optarg, 0); break;
        default: throw std::invalid_argument(std::string("unknown or incomplete option: ") + argv[optind - 1]);
        }
    if (argc - optind != 3) throw std::invalid_argument("search takes a file of queries and a database");
    parsed.queries = argv[optind + 1];
    parsed.database = argv[optind + 2];
    if (parsed.version != "all" && parsed.version != "plain" && parsed.version != "hand" &&
        parsed.version != "causeway")
        throw std::invalid_argument("no version \"" + parsed.version + "\"");
    // A few hundred are subtracted from scores of 16 bits.
    if (parsed.gap.open > 1000 - parsed.gap.extend)
        throw std::invalid_argument("gaps that cost so much are never opened");
    return parsed;
}

/// A version with what its searches have shown so far.
struct contender {
    const char* name;
    std::unique_ptr<searcher> way;
    std::vector<double> seconds;
};

double timed_run(problem& problem, searcher& way, parts wanted, const options& options) {
    problem.reset(wanted);
    if (options.cold) problem.database().leave_page_cache();
    apps::progress_line progress(options.progress ? apps::progress_line::when::always
                                                  : apps::progress_line::when::on_terminals);
    const auto start = std::chrono::steady_clock::now();
    const auto passed = [start] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    progress.repeat([&] {
        const double share = double(problem.collected()) / double(problem.database().chunks().size());
        char text[64];
        std::snprintf(text, sizeof text, "%.0f %%, %.2f GCUPS", 100 * share, problem.cells() * share / passed() / 1e9);
        return std::string(text);
    });
    way.run();
    return passed() - way.uncounted();
}

std::vector<std::vector<hit>> all_hits(const problem& problem, std::size_t queries) {
    std::vector<std::vector<hit>> all;
    for (std::size_t query = 0; query < queries; ++query) all.push_back(problem.hits(query));
    return all;
}

void print_hits(const database& database, const std::vector<sequence>& queries,
                const std::vector<std::vector<hit>>& hits) {
    for (std::size_t query = 0; query < queries.size(); ++query) {
        std::printf("\nquery %s (%zu residues)\n", queries[query].name.c_str(), queries[query].residues.size());
        for (const hit& hit : hits[query]) std::printf("%6d  %s\n", hit.score, database.name_of(hit.sequence).c_str());
    }
}

double spread(const std::vector<double>& times) {
    const auto quartiles = apps::quartiles_of(times);
    return quartiles.upper - quartiles.lower;
}

// Of fewer rounds nobody knows how much they vary.
constexpr int least_rounds = 3;

/// What a search takes beyond its kernels alone, as a share of its transfers alone, is what shows of them; the rest
/// is hidden. "-" if searches vary more than transfers take: it would tell of that noise.
std::string hidden_share(const contender& contender, const std::vector<double>& computation,
                         const std::vector<double>& transfers) {
    if (computation.size() < least_rounds ||
        std::max(spread(contender.seconds), spread(computation)) > apps::quartiles_of(transfers).median)
        return "-";
    std::vector<double> shares;
    for (std::size_t round = 0; round < computation.size(); ++round)
        shares.push_back(1 - (contender.seconds[round] - computation[round]) / transfers[round]);
    return std::to_string(std::lround(100 * std::clamp(apps::quartiles_of(shares).median, 0.0, 1.0))) + " %";
}

/// Whether all versions found the same.
bool search(const options& options) {
    const auto queries = read_fasta(options.queries);
    const database database(options.database);
    const cl_device_id device = apps::device_of(options.platform, options.device);
    problem problem(database, queries, options.gap, options.hits, options.kernel, device);
    std::printf("%llu sequences, %llu residues in %zu chunks of %zu bytes; %zu quer%s; %s\n",
                static_cast<unsigned long long>(database.sequences()),
                static_cast<unsigned long long>(database.residues()), database.chunks().size(), database.chunk_size(),
                queries.size(), queries.size() == 1 ? "y" : "ies", apps::device_name(device).c_str());

    const auto wanted = [&](const char* name) { return options.version == "all" || options.version == name; };
    std::vector<contender> contenders;
    if (wanted("plain")) contenders.push_back({"plain", make_plain(problem), {}});
    if (wanted("hand")) contenders.push_back({"hand", make_hand_optimised(problem), {}});
    if (wanted("causeway")) contenders.push_back({"causeway", make_causeway(problem), {}});
    const auto alone = make_plain(problem);

    const parts part = options.transfers_only ? parts::transfers : parts::both;
    std::vector<double> computation, transfers;
    std::vector<std::vector<hit>> expected;
    bool agree = true;
    for (int round = 0; round < options.rounds; ++round) {
        for (contender& contender : contenders) {
            contender.seconds.push_back(timed_run(problem, *contender.way, part, options));
            const auto found = all_hits(problem, queries.size());
            if (expected.empty()) expected = found;
            if (found != expected) {
                std::printf("the version %s found something else\n", contender.name);
                agree = false;
            }
        }
        // A single search of a large database does not become three.
        if (options.rounds < least_rounds) continue;
        transfers.push_back(timed_run(problem, *alone, parts::transfers, options));
        if (!options.transfers_only) computation.push_back(timed_run(problem, *alone, parts::computation, options));
    }

    const double gigabytes = double(database.chunks().size() * database.chunk_size()) / 1e9;
    std::printf("\n%-10s %10s %10s %10s %8s\n", "version", "seconds", "GCUPS", "GB/s", "hidden");
    for (const contender& contender : contenders) {
        const double seconds = apps::quartiles_of(contender.seconds).median;
        char gcups[16] = "-";
        if (!options.transfers_only) std::snprintf(gcups, sizeof gcups, "%.3f", problem.cells() / seconds / 1e9);
        std::printf("%-10s %10.4f %10s %10.3f %8s\n", contender.name, seconds, gcups, gigabytes / seconds,
                    hidden_share(contender, computation, transfers).c_str());
    }
    if (!transfers.empty()) std::printf("transfers alone (as plain) %.4f s", apps::quartiles_of(transfers).median);
    if (!computation.empty()) std::printf(", computation alone %.4f s", apps::quartiles_of(computation).median);
    std::printf(transfers.empty() ? "" : "\n");
    if (!options.transfers_only) print_hits(database, queries, expected);
    return agree;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const std::string command = argc > 1 ? argv[1] : "";
        if (command == "--help" || command == "help") {
            std::printf("%s", usage);
            return 0;
        }
        if (command == "generate" && (argc == 4 || argc == 5)) {
            generate_fasta(argv[2], apps::number<std::uint64_t>(argv[3], 1),
                           argc == 5 ? apps::number<std::uint64_t>(argv[4], 0) : 1);
            return 0;
        }
        if (command == "pack" && (argc == 4 || argc == 5)) {
            pack(argv[2], argv[3], argc == 5 ? apps::number<std::size_t>(argv[4], 4096) : std::size_t(4) << 20);
            return 0;
        }
        if (command == "search") return search(parse(argc, argv)) ? 0 : 1;
        throw std::invalid_argument(command.empty() ? "no command"
                                                    : "no command \"" + command + "\" with so many words");
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "smith_waterman: %s\n%s", error.what(), usage);
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "smith_waterman: %s\n", error.what());
        return 1;
    }
}
