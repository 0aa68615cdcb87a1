// SPDX-License-Identifier: Apache-2.0
// The program behind `causeway study --paper`: measures on every OpenCL device, prints tables and verdicts.
#include "study/paper/calls.hpp"
#include "study/paper/counting.hpp"
#include "study/paper/figures.hpp"
#include "study/paper/schedule.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

std::string in_quotes(const std::string& text) {
    std::string made = "\"";
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') made += '\\';
        made += letter;
    }
    return made + "\"";
}

using judgements = std::vector<paper::judgement>;

std::string json_text(const paper::rows& all, const judgements& judged) {
    std::ostringstream text;
    text << "{\"rows\": [\n";
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& each = all[i];
        text << "{\"figure\": " << in_quotes(each.figure) << ", \"device\": " << in_quotes(each.device)
             << ", \"series\": " << in_quotes(each.series) << ", \"x\": " << in_quotes(each.x)
             << ", \"seconds\": " << each.seconds << ", \"value\": " << each.value
             << (i + 1 < all.size() ? "},\n" : "}\n");
    }
    text << "], \"tables\": [\n";
    bool is_first = true;
    for (const auto& each : paper::tables()) {
        text << (is_first ? "" : ",\n") << "{\"table\": " << in_quotes(each.table)
             << ", \"application\": " << in_quotes(each.application) << ", \"column\": " << in_quotes(each.column)
             << ", \"text\": " << in_quotes(each.text) << "}";
        is_first = false;
    }
    text << "\n], \"findings\": [\n";
    is_first = true;
    for (const auto& [device, verdicts] : judged)
        for (const auto& each : verdicts) {
            text << (is_first ? "" : ",\n") << "{\"device\": " << in_quotes(device)
                 << ", \"finding\": " << in_quotes(each.finding) << ", \"verdict\": " << in_quotes(each.word)
                 << ", \"figure\": " << in_quotes(each.figure) << "}";
            is_first = false;
        }
    text << "\n]}\n";
    return text.str();
}

void write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path);
}

/// The frame with the rows in it, which may not end the element that they are in.
std::string page_of(const std::string& frame, std::string json) {
    std::ifstream read(frame);
    std::string page{std::istreambuf_iterator<char>(read), {}};
    const std::string mark = "@PAPER@";
    const auto begin = page.find(mark);
    if (begin == std::string::npos) throw std::runtime_error("cannot read " + frame);
    for (auto at = json.find('<'); at != std::string::npos; at = json.find('<', at)) json.replace(at, 1, "\\u003c");
    return page.replace(begin, mark.size(), json);
}

bool is_of_shares(const std::string& figure) {
    return figure.starts_with("3-7") || figure == "10" || figure == "15 share" ||
           (figure.size() == 1 && figure >= "3" && figure <= "7");
}

/// Figure by figure, each series as a line.
void print(const paper::rows& all, std::size_t from) {
    std::vector<std::string> figures;
    for (std::size_t i = from; i < all.size(); ++i)
        if (std::find(figures.begin(), figures.end(), all[i].figure) == figures.end()) figures.push_back(all[i].figure);
    for (const auto& figure : figures) {
        std::printf("\n  %s%s", std::isdigit(figure.front()) != 0 ? "figure " : "", figure.c_str());
        std::string series;
        for (std::size_t i = from; i < all.size(); ++i) {
            const auto& each = all[i];
            if (each.figure != figure) continue;
            if (series.empty())
                std::printf("%s", is_of_shares(figure) ? " (shares)" : each.seconds == 0 ? " (instructions)" : "");
            if (each.series != series) std::printf("\n    %-24s", each.series.c_str());
            std::printf(each.value < 1000 ? "  %s: %.2f" : "  %s: %.0f", each.x.c_str(), each.value);
            series = each.series;
        }
    }
    std::printf("\n");
    std::fflush(stdout);
}

void print_tables() {
    std::string table, application;
    for (const auto& each : paper::tables()) {
        if (each.table != table) std::printf("\n  table %s", each.table.c_str());
        if (each.table != table || each.application != application)
            std::printf("\n    %-24s", each.application.c_str());
        if (each.table == "6")
            std::printf("  %s", each.text.c_str()); // the columns have no names
        else
            std::printf("  %s: %s", each.column.c_str(), each.text.c_str());
        table = each.table;
        application = each.application;
    }
    std::printf("\n");
}

/// Does a part without which the others have their sense.
void attempt(const char* figures, const auto& part) {
    try {
        part();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "causeway study --paper: no figures %s: %s\n", figures, error.what());
    }
}

/// The figures that were asked for; all where none was.
class wanted_figures {
  public:
    /// Numbers and ranges, as "3-7,22". Throws std::invalid_argument for others.
    explicit wanted_figures(const std::string& text) {
        std::istringstream items(text);
        for (std::string item; std::getline(items, item, ',');) {
            std::size_t used = 0;
            const auto first = std::stoi(item, &used);
            auto last = first;
            if (used < item.size() && item[used] == '-') {
                const auto rest = item.substr(used + 1);
                last = std::stoi(rest, &used);
                used += item.size() - rest.size();
            }
            if (used != item.size() || first < 3 || last > 28) throw std::invalid_argument(item);
            for (auto each = first; each <= last; ++each) m_numbers.insert(each);
        }
    }
    [[nodiscard]] bool are_all() const { return m_numbers.empty(); }
    [[nodiscard]] bool have(std::initializer_list<int> some) const {
        return are_all() ||
               std::any_of(some.begin(), some.end(), [this](int each) { return m_numbers.contains(each); });
    }
    /// Whether all are there that the verdicts need.
    [[nodiscard]] bool are_judged() const {
        constexpr std::array needed{3, 8, 11, 13, 14, 22, 28};
        return are_all() ||
               std::all_of(needed.begin(), needed.end(), [this](int each) { return m_numbers.contains(each); });
    }

  private:
    std::set<int> m_numbers;
};

int measure(const paper::effort& spent, const wanted_figures& wanted, const std::string& output,
            const std::string& page, const std::string& frame, const std::string& causeway) {
    paper::rows all;
    judgements judged;
    std::vector<std::pair<std::string, bool>> devices;
    if (wanted.are_all()) print_tables();
    // Each part is told when it is done: the whole takes minutes.
    const auto told = [&all](const auto& part) {
        const auto before = all.size();
        part();
        print(all, before);
    };
    if (wanted.have({28})) told([&] { paper::measure_affinity(spent, all); });
    const auto found = paper::all_devices();
    if (found.empty()) throw std::runtime_error("there is no OpenCL device");
    std::size_t nth = 0;
    for (const auto& each : found) {
        const auto platform = each.first;
        const auto raw = each.second;
        paper::device on(platform, raw);
        std::printf("\n%s\n", on.name().c_str());
        std::fflush(stdout);
        devices.emplace_back(on.name(), on.is_cpu());
        if (wanted.have({3, 4, 5, 6, 7})) {
            if (!causeway.empty())
                told([&] {
                    attempt("3 to 7", [&] { paper::measure_categories(causeway, platform, on.name(), spent, all); });
                });
            told([&] { paper::measure_calls(platform, raw, spent, all); });
        }
        if (wanted.have({8, 11, 13, 14, 16, 18, 20})) told([&] { paper::measure_scheduling(on, spent, all); });
        if (wanted.have({22, 23, 24, 25, 26, 27})) told([&] { paper::measure_memory(on, spent, all); });
        if (on.is_cpu() && wanted.have({28})) told([&] { paper::measure_vectors(on, spent, all); });
        if (on.is_cpu() && wanted.have({9, 10, 12, 15, 17, 19, 21}))
            told([&] { attempt("of instructions", [&] { paper::count_figures(nth, on.name(), spent, all); }); });
        ++nth;
    }
    if (!wanted.are_judged()) devices.clear();
    judgements processors;
    for (const auto& [name, is_cpu] : devices) {
        judged.emplace_back(name, paper::verdicts(name, is_cpu, all));
        if (is_cpu) processors.push_back(judged.back());
    }
    if (processors.size() > 1) judged.emplace_back("all of processors", paper::verdicts_of_all(processors));
    for (const auto& [name, verdicts] : judged) {
        std::printf("\n%s\n", name.c_str());
        for (const auto& each : verdicts)
            std::printf("  %-68s %-17s %s\n", each.finding.c_str(), each.word.c_str(), each.figure.c_str());
    }
    if (!output.empty()) write(output, json_text(all, judged));
    if (!page.empty()) write(page, page_of(frame, json_text(all, judged)));
    return 0;
}

} // namespace

int main(int count, char** words) {
    paper::effort spent;
    std::string output, page, frame, causeway, figures;
    const bool counts = count == 6 && std::strcmp(words[1], "--count") == 0;
    const bool is_program = count == 5 && std::strcmp(words[1], "--program") == 0;
    for (int i = 1; i < count && !counts && !is_program; ++i) {
        if (std::strcmp(words[i], "--seconds") == 0 && i + 1 < count) {
            spent.seconds = std::atof(words[++i]);
        } else if (std::strcmp(words[i], "--output") == 0 && i + 1 < count) {
            output = words[++i];
        } else if (std::strcmp(words[i], "--page") == 0 && i + 1 < count) {
            page = words[++i];
        } else if (std::strcmp(words[i], "--frame") == 0 && i + 1 < count) {
            frame = words[++i];
        } else if (std::strcmp(words[i], "--causeway") == 0 && i + 1 < count) {
            causeway = words[++i];
        } else if (std::strcmp(words[i], "--figures") == 0 && i + 1 < count) {
            figures = words[++i];
        } else {
            std::fprintf(stderr,
                         "usage: paper-study [--seconds S] [--figures LIST] [--output FILE] "
                         "[--page FILE --frame FILE] [--causeway PROGRAM]\nIt is started by causeway study --paper.\n");
            return 2;
        }
    }
    std::optional<wanted_figures> wanted;
    try {
        wanted.emplace(figures);
    } catch (const std::logic_error&) {
        std::fprintf(stderr, "causeway study: --figures %s: give numbers from 3 to 28, as 3-7,22\n", figures.c_str());
        return 2;
    }
    try {
        if (counts)
            return paper::count_launches(std::strtoul(words[2], nullptr, 10), std::strtoul(words[3], nullptr, 10),
                                         static_cast<unsigned>(std::atoi(words[4])), std::atoi(words[5]));
        if (is_program) return paper::run_as_program(words[2], words[3], words[4]);
        const int status = measure(spent, *wanted, output, page, frame, causeway);
        std::fflush(stdout);
        std::_Exit(status); // drivers have nothing to do any more
    } catch (const std::exception& error) {
        std::fprintf(stderr, "causeway study --paper: %s\n", error.what());
        return 1;
    }
}
