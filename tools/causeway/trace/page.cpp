// SPDX-License-Identifier: Apache-2.0
// Puts the timeline into the page that lies beside the program.
#include "trace/page.hpp"

#include "beside.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace trace {

namespace {

using nlohmann::json;

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

/// A text may not end the element that it is in.
std::string embedded(const json& value) {
    auto text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    for (std::size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at + 3)) text.insert(at + 1, 1, '\\');
    return text;
}

void replace(std::string& page, const std::string& mark, const std::string& text) {
    const auto at = page.find(mark);
    if (at == std::string::npos) throw std::runtime_error("trace_page.html has no place for " + mark);
    page.replace(at, mark.size(), text);
}

} // namespace

void write_page(const timeline& shown, const std::string& path) {
    const auto frame = causeway_tool::shared_file("trace_page.html");
    std::ifstream read(frame);
    std::string page{std::istreambuf_iterator<char>(read), {}};
    if (page.empty()) throw std::runtime_error("cannot read " + frame);
    replace(page, "@SUMMARY@", embedded(summary_of(shown)));
    replace(page, "@EVENTS@", embedded(shown_events(shown.events)));
    std::ofstream file(path);
    file << page;
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path);
}

} // namespace trace
