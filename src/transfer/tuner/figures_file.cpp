// SPDX-License-Identifier: Apache-2.0
// What is kept, as JSON, and what of it can be believed.
#include "transfer/tuner/figures_file.hpp"

#include "base/cache_file.hpp"
#include "base/error.hpp"
#include "base/whole_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <tuple>

#include <nlohmann/json.hpp>

namespace causeway::transfer {

namespace {

using nlohmann::json;

constexpr int format_version = 3;
constexpr std::size_t most_bytes = std::size_t{1} << 20;
constexpr std::size_t most_stages = 4096, longest_resource = 512;
/// The youngest of all machines: hosts with names of their own for each job come and go.
constexpr std::size_t most_kept = 1024;
/// Clocks of machines that share a home differ.
constexpr std::int64_t tolerated_future = 24 * 3600;

enum class content { good, none, damaged, foreign, unreadable };

struct kept_stage {
    std::string machine;
    known_stage stage;
};

struct reading {
    content found = content::none;
    std::string text; // what is wrong
    std::vector<kept_stage> stages;
};

bool is_positive(const json& value) {
    return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() > 0;
}

kept_stage stage_from(const json& each) {
    const auto name = each.at("operation").get<std::string>();
    const auto what = std::find(operation_names.begin(), operation_names.end(), name);
    known_stage found{each.at("place").get<std::string>()};
    const auto &times = each.at("seconds"), &gap = each.at("gap_at_once"),
               &ceiling = each.at("bytes_per_second_at_once"), &seen = each.at("seen");
    bool makes_sense = what != operation_names.end() && !found.resource.empty() &&
                       found.resource.size() <= longest_resource && is_positive(gap) && is_positive(ceiling) &&
                       seen.is_number_integer() && times.is_array() && times.size() == stage_model::points;
    double before = 0;
    for (std::size_t i = 0; makes_sense && i < stage_model::points; ++i) {
        makes_sense = is_positive(times[i]) && times[i].get<double>() >= before;
        if (makes_sense) before = found.model.seconds_at[i] = times[i].get<double>();
    }
    if (!makes_sense) throw std::invalid_argument("a stage without sense");
    found.what = static_cast<operation>(what - operation_names.begin());
    found.model.gap = gap.get<double>();
    found.model.ceiling = ceiling.get<double>();
    found.seen = seen.get<std::int64_t>();
    found.measured = each.value("measured", std::int64_t{0}); // files of earlier versions do not say
    return {each.at("machine").get<std::string>(), std::move(found)};
}

reading read(const std::string& path) {
    const auto kept = read_cache_file(path, most_bytes);
    if (!kept.problem.empty()) return {content::unreadable, kept.problem, {}};
    if (!kept.text) return {};
    try {
        const auto whole = json::parse(*kept.text);
        const auto& told = whole.at("version");
        if (!told.is_number_integer()) throw std::invalid_argument("a version that is no number");
        const auto version = told.get<std::int64_t>();
        if (version < format_version) return {};
        if (version != format_version)
            return {content::foreign,
                    "it has version " + std::to_string(version) + ", not " + std::to_string(format_version),
                    {}};
        reading found{content::good, "", {}};
        const auto& stages = whole.at("stages");
        if (!stages.is_array() || stages.size() > most_stages) throw std::invalid_argument("no list of stages");
        for (const auto& each : stages) found.stages.push_back(stage_from(each));
        return found;
    } catch (const std::exception&) {
        return {content::damaged, "it is damaged", {}};
    }
}

bool is_of_age(const known_stage& which, std::int64_t now) {
    return which.seen >= now - figures_file::longest_age && which.seen <= now + tolerated_future &&
           which.measured <= now + tolerated_future;
}

json json_of(const std::vector<kept_stage>& stages, const std::string& file) {
    json list = json::array();
    for (const auto& [machine, each] : stages)
        list.push_back({{"machine", machine},
                        {"place", each.resource},
                        {"operation", operation_names[static_cast<std::size_t>(each.what)]},
                        {"seconds", each.model.seconds_at},
                        {"gap_at_once", each.model.gap},
                        {"bytes_per_second_at_once", each.model.ceiling},
                        {"seen", each.seen},
                        {"measured", each.measured}});
    json sizes = json::array();
    for (std::size_t i = 0; i < stage_model::points; ++i)
        sizes.push_back(static_cast<std::size_t>(stage_model::size_of(i)));
    return {{"version", format_version}, {"file", file}, {"sizes", sizes}, {"stages", list}};
}

/// Names of devices, file systems and files are others' text.
std::string text_of(const json& whole) { return whole.dump(1, ' ', false, json::error_handler_t::replace) + "\n"; }

} // namespace

std::string machine_digits() {
    auto name = first_line_of("/etc/machine-id");
    if (name.empty()) {
        std::array<char, 256> host{};
        (void)::gethostname(host.data(), host.size() - 1);
        name = host.data();
    }
    // The identity itself is not to be told to others (machine-id(5)): FNV-1a, 32 bits of it.
    std::uint32_t hash = 2166136261U;
    for (const char each : name) hash = (hash ^ static_cast<unsigned char>(each)) * 16777619U;
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", hash);
    return digits.data();
}

std::string figures_text(const std::vector<known_stage>& stages, const std::string& file, const std::string& problem) {
    std::vector<kept_stage> all;
    for (const auto& each : stages) all.push_back({machine_digits(), each});
    auto whole = json_of(all, file);
    whole["problem"] = problem;
    return text_of(whole);
}

figures_file figures_file::of_user() { return figures_file(cache_file("tuner.json")); }

std::vector<known_stage> figures_file::load(std::int64_t now, std::string& problem) const {
    if (m_path.empty()) return {};
    auto found = read(m_path);
    if (found.found != content::good && found.found != content::none)
        problem = "figures in " + m_path + " are ignored: " + found.text;
    std::vector<known_stage> known;
    for (auto& [machine, each] : found.stages)
        if (machine == m_machine && is_of_age(each, now)) known.push_back(std::move(each));
    return known;
}

std::string figures_file::save(const std::vector<known_stage>& stages, std::int64_t now) const {
    if (m_path.empty()) return "";
    const auto old = read(m_path);
    if (old.found == content::foreign) return m_path + " stays as it is: " + old.text;
    std::map<std::tuple<std::string, std::string, operation>, known_stage> merged;
    const auto add = [&](const std::string& machine, const known_stage& each) {
        if (!is_of_age(each, now) || each.resource.size() > longest_resource) return;
        auto& kept = merged[{machine, each.resource, each.what}];
        if (kept.resource.empty() || !is_younger(kept, each)) kept = each;
    };
    for (const auto& [machine, each] : old.stages) add(machine, each);
    for (const auto& each : stages) add(m_machine, each);
    std::vector<kept_stage> all;
    for (auto& [key, each] : merged) all.push_back({std::get<0>(key), std::move(each)});
    auto text = text_of(json_of(all, m_path));
    // Of a longer file nothing could be read.
    while (all.size() > most_kept || text.size() > most_bytes) {
        std::ranges::stable_sort(all, std::greater<>(), [](const auto& each) { return each.stage.seen; });
        all.resize(std::min(all.size() * 3 / 4, most_kept));
        text = text_of(json_of(all, m_path));
    }
    return write_cache_file(m_path, text);
}

std::string figures_file::remove() const {
    if (m_path.empty() || ::unlink(m_path.c_str()) == 0 || errno == ENOENT) return "";
    return "removing " + m_path + ": " + errno_text(errno);
}

} // namespace causeway::transfer
