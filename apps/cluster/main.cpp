// SPDX-License-Identifier: Apache-2.0
// Applications for several devices, as in SnuCL-D's table 4: ordinary OpenCL, without MPI. On Causeway's platform the
// devices may be those of a cluster.
#include "cluster/application.hpp"

#include "common/statistics.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>

namespace {

using namespace cluster;

struct entry {
    const char *name, *title;
    std::unique_ptr<application> (*make)();
    std::unique_ptr<application> made;
    CLI::App* command = nullptr;
};

struct options {
    std::string platform;
    std::size_t devices = 0;
    int rounds = 3;
    bool attach = false, verify = false;
};

/// FNV-1a, over words: any bit that differs shows.
std::uint64_t digest_of(std::span<const std::byte> bytes) {
    std::uint64_t digest = 0xcbf29ce484222325u;
    for (std::size_t at = 0; at < bytes.size(); at += sizeof digest) {
        std::uint64_t word = 0;
        std::memcpy(&word, &bytes[at], std::min(sizeof word, bytes.size() - at));
        digest = (digest ^ word) * 0x100000001b3u;
        digest ^= digest >> 32;
    }
    return digest;
}

void add_option(CLI::App& command, const setting& which, std::size_t& value) {
    command.add_option(which.name, value, which.help)
        ->check(CLI::Range(std::size_t{1}, which.most))
        ->capture_default_str();
}

void add_option(CLI::App& command, const setting& which, std::string& value) {
    command.add_option(which.name, value, which.help)->capture_default_str();
}

template <class Step> double seconds_of(const device_group& devices, Step step) {
    const auto start = std::chrono::steady_clock::now();
    step();
    devices.finish();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void run(const entry& chosen, const device_group& devices, const options& options) {
    auto& application = *chosen.made;
    application.prepare(devices);
    std::vector<double> loading, computing, reading;
    std::uint64_t digest = 0;
    // The first round is not counted: some runtimes compile a kernel when it is first used.
    for (int round = 0; round <= options.rounds; ++round) {
        const double loaded = seconds_of(devices, [&] { application.load(); });
        const double computed = seconds_of(devices, [&] { application.compute(); });
        const double read = seconds_of(devices, [&] { application.read(); });
        const std::uint64_t found = digest_of(application.result());
        if (round == 0) {
            digest = found;
            continue;
        }
        if (digest != found) throw std::runtime_error("the rounds have different results");
        loading.push_back(loaded);
        computing.push_back(computed);
        reading.push_back(read);
    }
    const auto compute = apps::quartiles_of(computing);
    const auto [operations, unit, in_a_unit] = application.work();
    std::printf("%-13s %-34s %8.4f %9.4f  (%.4f - %.4f) %8.4f %10.3f %s/s  %016llx\n", chosen.name,
                application.size().c_str(), apps::quartiles_of(loading).median, compute.median, compute.lower,
                compute.upper, apps::quartiles_of(reading).median, operations / in_a_unit / compute.median, unit,
                static_cast<unsigned long long>(digest));
    if (options.verify) std::printf("  verified: %s\n", application.verify().c_str());
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    entry entries[] = {
        {"black-scholes", "European options by the formula of Black and Scholes", make_black_scholes, {}},
        {"binomial", "American options by a binomial tree", make_binomial, {}},
        {"cp", "coulombic potential of atoms on a plane", make_coulombic_potential, {}},
        {"n-body", "bodies that attract each other; devices exchange positions each step", make_n_body, {}},
        {"matmul", "product of two square matrices", make_matrix_product, {}},
        {"ep", "the NAS benchmark EP: pairs of Gaussian deviates", make_embarrassingly_parallel, {}},
    };
    options options;
    CLI::App app("Solves problems on all devices of an OpenCL platform. Names of several problems, each with its own "
                 "options, may follow one another.");
    app.add_option("--platform", options.platform, "part of the platform's name (default: the first with a device)");
    app.add_option("--devices", options.devices, "so many of its devices (default: all)");
    app.add_option("--rounds", options.rounds, "timed runs of each problem, after one that is not")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_flag("--attach", options.attach, "say which device each buffer belongs to (Causeway's platform)");
    app.add_flag("--verify", options.verify, "compare with the host's results, or with what else is known");
    app.require_subcommand(1, std::size(entries));
    for (auto& entry : entries) {
        entry.made = entry.make();
        entry.command = app.add_subcommand(entry.name, entry.title);
        for (const auto& each : entry.made->settings())
            std::visit([&](auto* value) { add_option(*entry.command, each, *value); }, each.value);
    }
    CLI11_PARSE(app, argc, argv);
    try {
        const device_group devices(options.platform, options.devices, options.attach ? attaching::yes : attaching::no);
        const cl_device_id first = devices.devices()[0];
        std::printf("cluster_apps: %zu devices, the first is %s, %s, driver %s; medians of %d rounds\n", devices.size(),
                    apps::device_name(first).c_str(), apps::device_text(first, CL_DEVICE_VERSION).c_str(),
                    apps::device_text(first, CL_DRIVER_VERSION).c_str(), options.rounds);
        std::printf("%-13s %-34s %8s %9s  %-19s %8s %10s %-18s %s\n", "problem", "size", "load s", "compute s",
                    "(quartiles)", "read s", "rate", "", "digest of the result");
        for (const auto& entry : entries)
            if (entry.command->parsed()) run(entry, devices, options);
        return 0;
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "cluster_apps: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "cluster_apps: %s\n", error.what());
        return 1;
    }
}
