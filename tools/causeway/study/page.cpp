// SPDX-License-Identifier: Apache-2.0
// Puts the study into the page that lies beside the program.
#include "study/page.hpp"

#include "beside.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace study {

void write_page(const nlohmann::json& study, const std::string& path) {
    const auto frame = causeway_tool::shared_file("study_page.html");
    std::ifstream read(frame);
    std::string page{std::istreambuf_iterator<char>(read), {}};
    constexpr const char* mark = "@STUDY@";
    const auto begin = page.find(mark);
    if (begin == std::string::npos) throw std::runtime_error("cannot read " + frame);
    // A text may neither end the element that it is in nor begin a comment there.
    auto text = study.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    for (auto at = text.find('<'); at != std::string::npos; at = text.find('<', at)) text.replace(at, 1, "\\u003c");
    page.replace(begin, std::string(mark).size(), text);
    std::ofstream file(path);
    file << page;
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path);
}

} // namespace study
