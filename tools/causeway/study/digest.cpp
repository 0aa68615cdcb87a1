// SPDX-License-Identifier: Apache-2.0
// Sums by category, kernel and direction.
#include "study/digest.hpp"

#include "study/categories.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>

namespace study {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Functions by category, the longest first.
json by_category(const json& calls, double wall) {
    json told = json::array();
    for (const auto name : categories) {
        json functions = json::array();
        double total = 0, others = 0;
        std::uint64_t count = 0;
        for (const auto& call : calls) {
            if (category_of(call.at("function").get_ref<const std::string&>()) != name) continue;
            functions.push_back(call);
            total += call.at("seconds").get<double>();
            others += call.at("seconds_in_other_threads").get<double>();
            count += call.at("count").get<std::uint64_t>();
        }
        std::sort(functions.begin(), functions.end(),
                  [](const json& a, const json& b) { return a.at("seconds") > b.at("seconds"); });
        told.push_back({{"category", name},
                        {"calls", count},
                        {"seconds", total},
                        {"seconds_in_other_threads", others},
                        {"share", ratio(total, wall)},
                        {"functions", functions}});
    }
    return told;
}

/// A command's row, with what follows from its times.
json one_size(const json& command, const bandwidth& machine) {
    const auto timed = command.at("timed").get<double>();
    const auto count = command.at("count").get<double>();
    const auto seconds = command.at("seconds").get<double>();
    const auto bytes = command.at("bytes_read").get<double>() +
                       (command.contains("kernel") ? command.at("bytes_written").get<double>() : 0.);
    // Of those that have times; all are alike.
    const auto rate = ratio(bytes * ratio(timed, count), seconds) / 1e9;
    json told{{"count", command.at("count")},
              {"timed", command.at("timed")},
              {"failed", command.at("failed")},
              {"blocking", command.at("blocking")},
              {"seconds", seconds},
              {"mean", ratio(seconds, timed)},
              {"shortest", command.at("shortest")},
              {"longest", command.at("longest")},
              {"bytes", bytes},
              {"bytes_each", ratio(bytes, count)},
              {"gb_per_s", rate},
              {"of_machine", ratio(rate, machine.best())},
              {"in_call_mean", ratio(command.at("in_call").get<double>(), count)},
              {"to_start_mean", ratio(command.at("to_start").get<double>(), timed)},
              {"first", command.at("first")},
              {"device", command.at("device")}};
    if (command.contains("kernel")) {
        told["global"] = command.at("global");
        told["local"] = command.at("local");
    }
    return told;
}

/// What a first launch took longer than the others: drivers that compile late do it there.
double late_compilation(const json& size) {
    const auto count = size.at("count").get<double>();
    if (count < 2) return 0;
    const auto first = size.at("first").at("in_call").get<double>() + size.at("first").at("to_start").get<double>();
    const auto all = (size.at("in_call_mean").get<double>() + size.at("to_start_mean").get<double>()) * count;
    return std::max(0., first - (all - first) / (count - 1));
}

json by_kernel(const json& commands, const bandwidth& machine) {
    std::map<std::string, json> kernels;
    for (const auto& command : commands) {
        if (!command.contains("kernel")) continue;
        auto& of = kernels[command.at("kernel")];
        if (of.is_null())
            of = {{"kernel", command.at("kernel")},
                  {"count", 0},
                  {"seconds", 0.},
                  {"bytes", 0.},
                  {"sizes", json::array()}};
        const auto size = one_size(command, machine);
        of["count"] = of["count"].get<std::uint64_t>() + size.at("count").get<std::uint64_t>();
        of["seconds"] = of["seconds"].get<double>() + size.at("seconds").get<double>();
        of["bytes"] = of["bytes"].get<double>() + size.at("bytes").get<double>();
        of["sizes"].push_back(size);
    }
    json told = json::array();
    for (auto& [name, of] : kernels) {
        auto& all = of["sizes"];
        std::sort(all.begin(), all.end(),
                  [](const json& a, const json& b) { return a.at("seconds") > b.at("seconds"); });
        of["late_compilation"] = late_compilation(all.front());
        of["gb_per_s"] = ratio(of["bytes"].get<double>(), of["seconds"].get<double>()) / 1e9;
        of["of_machine"] = ratio(of["gb_per_s"].get<double>(), machine.best());
        told.push_back(std::move(of));
    }
    std::sort(told.begin(), told.end(), [](const json& a, const json& b) { return a.at("seconds") > b.at("seconds"); });
    return told;
}

json by_copy(const json& commands, const bandwidth& machine) {
    json told = json::array();
    for (const auto& command : commands) {
        if (command.contains("kernel")) continue;
        auto size = one_size(command, machine);
        size["function"] = command.at("function");
        told.push_back(std::move(size));
    }
    std::sort(told.begin(), told.end(), [](const json& a, const json& b) { return a.at("seconds") > b.at("seconds"); });
    return told;
}

double sum_of(const json& rows, const char* what) {
    double sum = 0;
    for (const auto& each : rows) sum += each.at(what).get<double>();
    return sum;
}

} // namespace

std::vector<json> read_processes(const fs::path& folder) {
    std::vector<json> all;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".json") continue;
        std::ifstream file(entry.path());
        try {
            all.push_back(json::parse(file));
        } catch (const json::exception& error) {
            throw std::runtime_error("cannot read " + entry.path().string() + ": " + error.what());
        }
    }
    std::sort(all.begin(), all.end(),
              [](const json& a, const json& b) { return a.at("first_call") < b.at("first_call"); });
    return all;
}

json digest(const json& process, const lifetime& of, bool alone, const bandwidth& machine) {
    const auto at = [&](const char* what) { return process.at(what).get<std::int64_t>(); };
    const auto begin = alone ? of.begin : std::min(at("loaded"), at("first_call")), end = alone ? of.end : at("ended");
    const auto seconds = [](std::int64_t from, std::int64_t to) { return static_cast<double>(to - from) / 1e9; };
    const auto wall = seconds(begin, end);
    const auto& calls = process.at("calls");
    const auto& commands = process.at("commands");
    double compilation = 0, waits_alone = 0, other_calls = 0;
    for (const auto& call : calls) {
        const auto& name = call.at("function").get_ref<const std::string&>();
        const auto time = call.at("seconds").get<double>();
        (compiles(name) ? compilation : waits(name) ? waits_alone : other_calls) += time;
    }
    const auto blocked = std::min(sum_of(commands, "blocked"), other_calls); // they wait for the device, or copy
    const auto in_calls = compilation + waits_alone + other_calls;
    auto kernels = by_kernel(commands, machine);
    auto copies = by_copy(commands, machine);
    const auto start_up = seconds(begin, at("first_call")), after = seconds(at("last_call"), end);
    const json parts{
        {{"part", "start-up, before the first call"}, {"seconds", start_up}},
        {{"part", "compiling kernels"}, {"seconds", compilation}},
        {{"part", "waiting for the device"}, {"seconds", waits_alone}},
        {{"part", "blocking commands"}, {"seconds", blocked}},
        {{"part", "all other calls"}, {"seconds", other_calls - blocked}},
        {{"part", "the program itself, between calls"}, {"seconds", std::max(0., wall - start_up - after - in_calls)}},
        {{"part", "after the last call"}, {"seconds", after}}};
    auto observer = process.at("observer");
    observer["share"] = ratio(observer.at("seconds").get<double>(), wall);
    return {{"program", process.at("program")},
            {"process", process.at("process")},
            {"wall", wall},
            {"parts", parts},
            {"categories", by_category(calls, wall)},
            {"devices", process.at("devices")},
            {"busy", process.at("busy")},
            {"kernel_seconds", sum_of(kernels, "seconds")},
            {"copy_seconds", sum_of(copies, "seconds")},
            {"compilation", compilation},
            {"waiting", waits_alone + blocked},
            {"in_calls", in_calls},
            {"kernels", kernels},
            {"copies", copies},
            {"still_running", process.at("still_running")},
            {"observer", observer}};
}

} // namespace study
