// SPDX-License-Identifier: Apache-2.0
// Puts the timeline into the page that lies beside the program.
#include "trace/page.hpp"

#include "beside.hpp"
#include "words.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace trace {

namespace {

using nlohmann::json;

/// Browsers end a page whose text is not much longer.
constexpr std::size_t most_bytes = std::size_t{200} << 20;

std::string length_of(const span& whole) {
    std::array<char, 32> seconds{};
    std::snprintf(seconds.data(), seconds.size(), "%.3f seconds", (whole.end - whole.begin) / 1e6);
    return seconds.data();
}

[[noreturn]] void refuse(const std::string& timeline, const span& whole) {
    throw std::runtime_error("no browser opens a page of so much as there is in " + timeline + ": show a part of its " +
                             length_of(whole) + " by --from and --to, or all of it by https://ui.perfetto.dev");
}

void require_slices(const std::string& timeline, const span& whole, const span& between) {
    if (whole.end < whole.begin)
        throw std::runtime_error(timeline + " has nothing to show: no transfer, kernel or copy has ended");
    if (between.begin > whole.end - whole.begin)
        throw causeway_tool::usage_error("trace view: --from lies behind the end: " + timeline + " has " +
                                         length_of(whole));
}

/// What the page draws, without what only other viewers need.
json shown_events(const json& events) {
    json shown = json::array();
    for (const auto& each : events) {
        const auto& phase = each.at("ph").get_ref<const std::string&>();
        const auto& name = each.at("name").get_ref<const std::string&>();
        if (phase == "M" && name != "thread_name") continue;
        shown.push_back(each);
    }
    return shown;
}

/// A text may neither end the element that it is in nor begin a comment there, which hides the element's end.
std::string embedded(const json& value) {
    auto text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    for (auto at = text.find('<'); at != std::string::npos; at = text.find('<', at)) text.replace(at, 1, "\\u003c");
    return text;
}

/// What is not ours stays: the page of halo.json may have the name of another, halo.html. An empty file is anyone's.
void require_page(const std::string& path) {
    constexpr std::string_view
        first_words = "<!DOCTYPE html>\n<!-- SPDX-License-Identifier: Apache-2.0 -->\n<!-- A timeline in a browser";
    std::error_code ignored;
    // Opening a pipe would wait for its other end.
    if (!std::filesystem::is_regular_file(path, ignored) || std::filesystem::file_size(path, ignored) == 0) return;
    std::string begin(first_words.size(), '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<std::size_t>(file.gcount()));
    // Of one that was cut off there may be less.
    if (begin.empty() || !first_words.starts_with(begin))
        throw std::runtime_error("the file " + path +
                                 " is there and is no page of a timeline; remove it, or name "
                                 "another by -o");
}

/// The page up to each mark, and what stands for the mark; what is put in is not looked at again, as it may have the
/// marks in it.
std::string filled(const std::string& page, const std::vector<std::pair<std::string, std::string>>& marks) {
    std::string text;
    std::size_t done = 0;
    for (const auto& [mark, stands] : marks) {
        const auto at = page.find(mark, done);
        if (at == std::string::npos) throw std::runtime_error("trace_page.html has no place for " + mark);
        text.append(page, done, at - done).append(stands);
        done = at + mark.size();
    }
    return text.append(page, done);
}

} // namespace

void write_page(const std::string& timeline, const std::string& path, const span& between) {
    require_page(path);
    const bool is_all = between.begin <= 0 && std::isinf(between.end);
    // Events take ten times as much memory as in the file.
    if (is_all && std::filesystem::exists(timeline) && std::filesystem::file_size(timeline) > most_bytes)
        refuse(timeline, read_timeline(timeline, {}).whole);
    const auto shown = read_timeline(timeline, {true, between});
    require_slices(timeline, shown.whole, between);
    auto summary = summary_of(shown);
    summary["begin_us"] = shown.whole.begin;
    auto events = embedded(shown_events(shown.events));
    if (events.size() > most_bytes) refuse(timeline, shown.whole);
    const auto frame = causeway_tool::shared_file("trace_page.html");
    std::ifstream read(frame);
    const std::string page{std::istreambuf_iterator<char>(read), {}};
    if (page.empty()) throw std::runtime_error("cannot read " + frame);
    const auto text = filled(page, {{"@SUMMARY@", embedded(summary)}, {"@EVENTS@", events}});
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path);
}

} // namespace trace
