// SPDX-License-Identifier: Apache-2.0
// The program behind `causeway study --paper`: measures on every OpenCL device, prints tables and verdicts.
#include "study/paper/figures.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>

namespace {

std::string quoted(const std::string& text) {
    std::string made = "\"";
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') made += '\\';
        made += letter;
    }
    return made + "\"";
}

void write(const std::string& path, const paper::rows& all,
           const std::vector<std::pair<std::string, std::vector<paper::verdict>>>& judged) {
    std::ofstream file(path);
    file << "{\"rows\": [\n";
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& each = all[i];
        file << "{\"figure\": " << quoted(each.figure) << ", \"device\": " << quoted(each.device)
             << ", \"series\": " << quoted(each.series) << ", \"x\": " << quoted(each.x)
             << ", \"seconds\": " << each.seconds << ", \"value\": " << each.value
             << (i + 1 < all.size() ? "},\n" : "}\n");
    }
    file << "], \"findings\": [\n";
    bool is_first = true;
    for (const auto& [device, verdicts] : judged)
        for (const auto& each : verdicts) {
            file << (is_first ? "" : ",\n") << "{\"device\": " << quoted(device)
                 << ", \"finding\": " << quoted(each.finding) << ", \"verdict\": " << quoted(each.word)
                 << ", \"figure\": " << quoted(each.figure) << "}";
            is_first = false;
        }
    file << "\n]}\n";
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path);
}

/// Series as lines, the points of one behind each other.
void print(const paper::rows& all, std::size_t from) {
    std::string figure, series;
    for (std::size_t i = from; i < all.size(); ++i) {
        const auto& each = all[i];
        if (each.figure != figure)
            std::printf("\n  figure %s%s", each.figure.c_str(), each.figure.starts_with("3-7") ? " (shares)" : "");
        if (each.figure != figure || each.series != series) std::printf("\n    %-24s", each.series.c_str());
        std::printf("  %s: %.2f", each.x.c_str(), each.value);
        figure = each.figure;
        series = each.series;
    }
    std::printf("\n");
    std::fflush(stdout);
}

int measure(const paper::effort& spent, const std::string& output) {
    paper::rows all;
    std::vector<std::pair<std::string, std::vector<paper::verdict>>> judged;
    std::vector<std::pair<std::string, bool>> devices;
    paper::measure_affinity(spent, all);
    print(all, 0);
    const auto found = paper::all_devices();
    if (found.empty()) throw std::runtime_error("there is no OpenCL device");
    for (const auto& [platform, raw] : found) {
        const auto before = all.size();
        paper::device on(platform, raw);
        std::printf("\n%s\n", on.name().c_str());
        devices.emplace_back(on.name(), on.is_cpu());
        paper::measure_calls(platform, raw, spent, all);
        paper::measure_scheduling(on, spent, all);
        paper::measure_memory(on, spent, all);
        if (on.is_cpu()) paper::measure_vectors(on, spent, all);
        print(all, before);
    }
    for (const auto& [name, is_cpu] : devices) {
        judged.emplace_back(name, paper::verdicts(name, is_cpu, all));
        std::printf("\n%s\n", name.c_str());
        for (const auto& each : judged.back().second)
            std::printf("  %-68s %-14s %s\n", each.finding.c_str(), each.word.c_str(), each.figure.c_str());
    }
    if (!output.empty()) write(output, all, judged);
    return 0;
}

} // namespace

int main(int count, char** words) {
    paper::effort spent;
    std::string output;
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(words[i], "--seconds") == 0 && i + 1 < count) {
            spent.seconds = std::atof(words[++i]);
        } else if (std::strcmp(words[i], "--output") == 0 && i + 1 < count) {
            output = words[++i];
        } else {
            std::fprintf(
                stderr, "usage: paper-study [--seconds S] [--output FILE]\nIt is started by causeway study --paper.\n");
            return 2;
        }
    }
    try {
        const int status = measure(spent, output);
        std::fflush(stdout);
        std::_Exit(status); // drivers have nothing to do any more
    } catch (const std::exception& error) {
        std::fprintf(stderr, "causeway study --paper: %s\n", error.what());
        return 1;
    }
}
