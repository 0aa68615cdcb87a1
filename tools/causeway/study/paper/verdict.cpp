// SPDX-License-Identifier: Apache-2.0
#include "study/paper/verdict.hpp"

#include <algorithm>
#include <cstdlib>

namespace paper {

bool is_of_many_elements(const std::string& application) {
    const auto last = application.substr(application.rfind(' ') + 1); // the whole name where it is one word
    return std::strtoull(last.c_str(), nullptr, 10) >= 1'000'000;
}

double best_as_confirmed(const std::vector<measured_twice>& ways) {
    const auto best = std::max_element(ways.begin(), ways.end(),
                                       [](const auto& a, const auto& b) { return a.first < b.first; });
    return best == ways.end() ? 0 : best->second;
}

std::vector<verdict> verdicts_of_all(const std::vector<judgement>& devices) {
    std::vector<verdict> all;
    for (const auto& [device, verdicts] : devices)
        for (std::size_t i = 0; i < verdicts.size(); ++i) {
            const auto& each = verdicts[i];
            if (i == all.size()) all.push_back({each.finding, each.word, ""});
            if (all[i].word != each.word) all[i].word = "differs by driver";
            all[i].figure += (all[i].figure.empty() ? "" : "; ") + device + ": " + each.word;
        }
    return all;
}

} // namespace paper
