// SPDX-License-Identifier: Apache-2.0
// Tables 3 to 6 of the paper.
#include "study/paper/schedule.hpp"

#include <algorithm>

namespace paper {

namespace {

std::string shape_text(const shape& sizes) {
    if (sizes.empty()) return "NULL";
    auto text = std::to_string(sizes.front());
    for (std::size_t i = 1; i < sizes.size(); ++i) text.append("x").append(std::to_string(sizes[i]));
    return text;
}

bool divides(const shape& global, const shape& local) {
    for (std::size_t i = 0; i < local.size(); ++i)
        if (global[i] % local[i] != 0) return false;
    return true;
}

struct grouped {
    std::string figure;
    std::vector<std::string> applications; ///< with those sizes that are small enough to be stepped through
    std::vector<shape> locals;
};

const std::vector<grouped>& groups() {
    static const std::vector<shape> lines{{}, {1}, {10}, {100}, {1000}};
    static const std::vector<grouped> all{
        {"14",
         {"Square 100000", "Square 1000000", "Vectoraddition 1100000", "Square 2000", "Vectoraddition 2000"},
         lines},
        {"14", {"Matrixmul(naive) 256", "Matrixmul(naive) 16"}, {{16, 16}, {1, 1}, {2, 2}, {4, 4}, {8, 8}, {}}},
        {"16", {"Matrixmul 256", "Matrixmul 16"}, {{16, 16}, {1, 1}, {2, 2}, {4, 4}, {8, 8}}},
        {"18", {"Blackscholes 1638400", "Blackscholes 256"}, {{256}, {1}, {2}, {4}, {8}, {}}},
        {"20", {"CP"}, {{16, 8}, {1, 8}, {2, 8}, {4, 8}, {8, 8}, {16, 1}, {16, 2}, {16, 4}, {16, 16}, {}}},
        {"20", {"MRI-Q computePhiMag", "MRI-FHD RhoPhi"}, {{512}, {32}, {64}, {128}, {256}, {}}},
        {"20", {"MRI-Q computeQ", "MRI-FHD computeFHD"}, {{256}, {16}, {32}, {64}, {128}, {}}}};
    return all;
}

} // namespace

bool is_parboil(const application& of) { return of.name.starts_with("CP") || of.name.starts_with("MRI"); }

std::vector<scheduled> schedule(const std::vector<application>& all) {
    std::vector<scheduled> made;
    for (const auto& of : all) {
        if (of.per_item == 1 || of.name == "Chain") continue;
        for (const unsigned per_item :
             is_parboil(of) ? std::vector<unsigned>{1, 2, 4} : std::vector<unsigned>{1, 10, 100, 1000}) {
            if (per_item > of.per_item || of.global.front() % per_item != 0) continue;
            auto global = of.global, local = of.local;
            global.front() /= per_item;
            if (!divides(global, local)) local.clear();
            made.push_back({is_parboil(of) ? "11" : "8", std::to_string(per_item), of, global, local,
                            "-D PER_ITEM=" + std::to_string(per_item)});
        }
    }
    for (const auto& of : all)
        if (of.kernel == "ilp")
            for (const unsigned chains : {1, 2, 3, 4, 5, 6, 8})
                made.push_back(
                    {"13", std::to_string(chains), of, of.global, of.local, "-D ILP=" + std::to_string(chains)});
    for (const auto& each : groups())
        for (const auto& of : all) {
            if (std::find(each.applications.begin(), each.applications.end(), of.name) == each.applications.end())
                continue;
            for (const auto& local : each.locals)
                if (divides(of.global, local))
                    made.push_back({each.figure, shape_text(local), of, of.global, local,
                                    of.kernel == "matrixmul" ? "-D TILE=" + std::to_string(local.front()) : ""});
        }
    return made;
}

std::vector<entry> tables() {
    std::vector<entry> made;
    const auto all = applications();
    for (const auto& of : all) {
        if (of.name == "ILP" || of.name == "Chain") continue; // the paper has them in figures alone
        const auto* const table = is_parboil(of) ? "4" : "3";
        made.push_back({table, of.name, "kernel", of.kernel});
        made.push_back({table, of.name, "global", shape_text(of.global)});
        made.push_back({table, of.name, "local", shape_text(of.local)});
    }
    for (const auto& one : schedule(all)) {
        if (one.figure == "13") continue;
        if (one.is_of_items())
            made.push_back({"5", one.of.name, one.x == "1" ? "base" : one.x + "x", shape_text(one.global)});
        else
            made.push_back({"6", one.of.name, "local", one.x});
    }
    std::stable_sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.table < b.table; });
    return made;
}

} // namespace paper
