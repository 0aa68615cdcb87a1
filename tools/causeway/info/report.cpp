// SPDX-License-Identifier: Apache-2.0
// Lays the facts out, and finds what ranks have in common.
#include "info/report.hpp"

#include "printable.hpp"

#include <causeway/causeway.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace info {

namespace {

using nlohmann::json;

std::string bytes_text(const json& value) {
    if (!value.is_number()) return value.get<std::string>();
    const auto bytes = value.get<std::uint64_t>();
    char text[32];
    std::snprintf(text, sizeof text, bytes >= (1ull << 30) ? "%.1f GiB" : "%.0f KiB",
                  static_cast<double>(bytes) / (bytes >= (1ull << 30) ? 1ull << 30 : 1ull << 10));
    return text;
}

std::string words_of(const json& value) { return value.get<std::string>(); }

std::string padded(const std::string& text, std::size_t width) {
    return text + std::string(width - std::min(width, text.size()), ' ');
}

std::string host_text(const json& rank) {
    std::string text = words_of(rank.at("host")) + ": " + words_of(rank.at("processor")) + ", " +
                       rank.at("processors").dump() + " processors, " + rank.at("usable_processors").dump() +
                       " for each rank, " + bytes_text(rank.at("memory_bytes")) + "; " + words_of(rank.at("kernel")) +
                       "; page-locked memory " + bytes_text(rank.at("locked_memory_bytes")) + "\n";
    for (const auto& platform : rank.at("platforms")) {
        text += "  " + words_of(platform.at("name")) + ", " + words_of(platform.at("version")) + "\n";
        std::size_t number = 0;
        for (const auto& device : platform.at("devices")) {
            const bool of_host = device.at("host_memory").get<bool>();
            text += "    " + std::to_string(number++) + "  " + words_of(device.at("kind")) + ": " +
                    words_of(device.at("name")) + ", " + device.at("units").dump() + " units, " +
                    bytes_text(device.at("memory_bytes")) + (of_host ? " of the host" : "") + ", driver " +
                    words_of(device.at("driver")) + "\n";
            if (!of_host) text += "       direct links to other devices: " + words_of(device.at("direct_links")) + "\n";
        }
    }
    return text;
}

std::string directories_text(const json& rank) {
    std::string text;
    for (const auto& each : rank.at("directories"))
        if (!each.contains("error"))
            text += words_of(each.at("directory")) + ": " + words_of(each.at("file_system")) + ", " +
                    bytes_text(each.at("free_bytes")) + " free, direct access " + words_of(each.at("direct")) + "\n";
    return text;
}

std::string set_options_text(const json& rank) {
    std::string text;
    for (const auto& each : rank.at("options"))
        if (each.at("from") != "default")
            text += "  " + padded(words_of(each.at("name")), 12) + " " + padded(words_of(each.at("value")), 16) +
                    " from " + words_of(each.at("environment")) + "\n";
    return text.empty() ? "no option is set; causeway info --options shows them all\n"
                        : "options that are set:\n" + text;
}

std::string all_options_text(const json& rank) {
    std::string text;
    for (const auto& each : rank.at("options")) {
        const auto from = words_of(each.at("from"));
        text += words_of(each.at("environment")) + "=" + words_of(each.at("value")) + "  (" +
                (from == "default" ? "the default" : "from the " + from + "; default " + words_of(each.at("default"))) +
                ")\n    " + words_of(each.at("description")) + "\n";
    }
    return text;
}

/// "rank 3 on a", "ranks 0, 1 on a and 2, 3 on b"
std::string names_of(const std::vector<const json*>& ranks) {
    std::vector<std::pair<std::string, std::string>> numbers_by_host;
    for (const auto* each : ranks) {
        const auto host = words_of(each->at("host")), number = each->at("rank").dump();
        if (numbers_by_host.empty() || numbers_by_host.back().first != host)
            numbers_by_host.emplace_back(host, number);
        else
            numbers_by_host.back().second += ", " + number;
    }
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (const auto& [host, numbers] : numbers_by_host)
        text += (text.back() == ' ' ? "" : " and ") + numbers + " on " + host;
    return text;
}

/// Each different text once, below the names of the ranks whose it is if it is not everyone's.
void print_by_rank(const json& ranks, const std::function<std::string(const json&)>& text_of) {
    std::vector<std::pair<std::string, std::vector<const json*>>> texts;
    for (const auto& rank : ranks) {
        const auto text = text_of(rank);
        const auto known = std::find_if(texts.begin(), texts.end(),
                                        [&](const auto& each) { return each.first == text; });
        if (known == texts.end())
            texts.push_back({text, {&rank}});
        else
            known->second.push_back(&rank);
    }
    for (const auto& [text, whose] : texts) {
        if (texts.size() > 1) std::printf("%s:\n", names_of(whose).c_str());
        std::fputs(causeway_tool::printable(text, "\n").c_str(), stdout);
    }
}

/// Ranks of one host ask for the free bytes of one file system one after the other, while others write there.
void agree_on_free_bytes(json& ranks) {
    std::map<std::tuple<json, json, json>, json> first;
    for (auto& rank : ranks)
        for (auto& each : rank.at("directories"))
            if (each.contains("free_bytes"))
                each["free_bytes"] = first
                                         .try_emplace({rank.at("host"), each.at("directory"), each.at("file_system")},
                                                      each.at("free_bytes"))
                                         .first->second;
}

} // namespace

void print(const json& facts) {
    const auto& mpi = facts.at("mpi");
    std::printf("causeway %s, %s\n", causeway_version(), words_of(facts.at("library")).c_str());
    const auto count = facts.at("ranks").size();
    std::printf("%s: %s, %zu rank%s; launcher %s\n", words_of(mpi.at("library")).c_str(),
                mpi.value("thread_level", "does not start").c_str(), count, count == 1 ? "" : "s",
                mpi.value("launcher", "none").c_str());
    auto ranks = facts.at("ranks");
    agree_on_free_bytes(ranks);
    for (const auto& text_of : {host_text, directories_text, set_options_text}) print_by_rank(ranks, text_of);
}

void print_options(const json& ranks) { print_by_rank(ranks, all_options_text); }

void print_problems(const std::vector<problem>& problems) {
    for (const auto& each : problems)
        std::printf("%s: %s\n    %s\n", each.how == problem::weight::stops ? "PROBLEM" : "note",
                    causeway_tool::printable(each.what, "\n").c_str(),
                    causeway_tool::printable(each.advice, "\n").c_str());
    if (problems.empty()) std::printf("nothing is wrong\n");
}

} // namespace info
