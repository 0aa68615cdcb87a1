// SPDX-License-Identifier: Apache-2.0
// Reads with suspicion, writes beside the file and renames.
#include "transfer/tuner/figures_file.hpp"

#include "base/cache_file.hpp"
#include "base/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <nlohmann/json.hpp>

namespace causeway::transfer {

namespace {

using nlohmann::json;

constexpr int format_version = 1;
constexpr std::size_t most_bytes = std::size_t{1} << 20;
constexpr std::size_t most_stages = 4096, longest_place = 512;
/// Clocks of machines that share a home differ.
constexpr std::int64_t tolerated_future = 24 * 3600;

class open_file {
  public:
    explicit open_file(int number) : m_number(number) {}
    ~open_file() {
        if (m_number >= 0) ::close(m_number);
    }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;
    [[nodiscard]] int get() const { return m_number; }

  private:
    int m_number;
};

enum class content { good, none, damaged, foreign, unreadable };

struct reading {
    content found = content::none;
    std::string text; // what is wrong
    std::vector<known_stage> stages;
};

bool is_positive(const json& value) {
    return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() > 0;
}

known_stage stage_from(const json& each) {
    const auto name = each.at("operation").get<std::string>();
    const auto what = std::find(operation_names.begin(), operation_names.end(), name);
    known_stage found{each.at("place").get<std::string>()};
    const auto &times = each.at("seconds"), &gap = each.at("gap_at_once"),
               &ceiling = each.at("bytes_per_second_at_once"), &seen = each.at("seen");
    bool makes_sense = what != operation_names.end() && !found.place.empty() && found.place.size() <= longest_place &&
                       is_positive(gap) && is_positive(ceiling) && seen.is_number_integer() && times.is_array() &&
                       times.size() == stage_model::points;
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
    return found;
}

reading read(const std::string& path) {
    const open_file file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat facts {};
    if (file.get() < 0 && errno == ENOENT) return {};
    if (file.get() < 0 || ::fstat(file.get(), &facts) != 0) return {content::unreadable, errno_text(errno), {}};
    if (!S_ISREG(facts.st_mode)) return {content::unreadable, "it is no regular file", {}};
    std::string text(std::min(static_cast<std::size_t>(facts.st_size), most_bytes + 1), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const auto count = ::read(file.get(), text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return {content::unreadable, errno_text(errno), {}};
        if (count == 0) break;
        done += static_cast<std::size_t>(count);
    }
    text.resize(done);
    try {
        if (text.size() > most_bytes) throw std::invalid_argument("too large");
        const auto whole = json::parse(text);
        const auto version = whole.at("version").get<int>();
        if (version != format_version)
            return {content::foreign, "it has version " + std::to_string(version) + ", not " +
                                          std::to_string(format_version), {}};
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
    return which.seen >= now - figures_file::longest_age && which.seen <= now + tolerated_future;
}

/// Makes the folder of the file; what went wrong, or an empty text.
std::string make_folder(const std::filesystem::path& folder) {
    std::error_code failed;
    const auto parent = folder.parent_path();
    std::filesystem::create_directories(parent, failed); // mkdir says why, if so
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        return "making " + folder.string() + ": " + errno_text(errno);
    // Root with the home of somebody else would leave him files that he cannot write.
    struct stat facts {};
    if (::stat(folder.c_str(), &facts) == 0 && facts.st_uid != ::geteuid())
        return folder.string() + " belongs to another user";
    return "";
}

std::string write_in_place(const std::string& path, const std::string& text) {
    auto fresh = path + ".XXXXXX";
    const open_file file(::mkostemp(fresh.data(), O_CLOEXEC));
    if (file.get() < 0) return "writing " + path + ": " + errno_text(errno);
    std::size_t done = 0;
    int error = 0;
    while (done < text.size() && error == 0) {
        const auto count = ::write(file.get(), text.data() + done, text.size() - done);
        if (count >= 0) {
            done += static_cast<std::size_t>(count);
        } else if (errno != EINTR) {
            error = errno;
        }
    }
    if (error == 0 && ::rename(fresh.c_str(), path.c_str()) != 0) error = errno;
    if (error == 0) return "";
    ::unlink(fresh.c_str());
    return "writing " + path + ": " + errno_text(error);
}

} // namespace

std::string figures_text(const std::vector<known_stage>& stages, const std::string& file) {
    json list = json::array();
    for (const auto& each : stages)
        list.push_back({{"place", each.place},
                        {"operation", operation_names[static_cast<std::size_t>(each.what)]},
                        {"seconds", each.model.seconds_at},
                        {"gap_at_once", each.model.gap},
                        {"bytes_per_second_at_once", each.model.ceiling},
                        {"seen", each.seen}});
    // Names of devices and file systems are others' text.
    json sizes = json::array();
    for (std::size_t i = 0; i < stage_model::points; ++i)
        sizes.push_back(static_cast<std::size_t>(stage_model::size_of(i)));
    const json whole{{"version", format_version}, {"file", file}, {"sizes", sizes}, {"stages", list}};
    return whole.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

figures_file figures_file::of_user() { return figures_file(cache_file("tuner.json")); }

std::vector<known_stage> figures_file::load(std::int64_t now, std::string& problem) const {
    if (m_path.empty()) return {};
    auto found = read(m_path);
    if (found.found != content::good && found.found != content::none)
        problem = "figures in " + m_path + " are ignored: " + found.text;
    std::erase_if(found.stages, [now](const auto& each) { return !is_of_age(each, now); });
    return found.stages;
}

std::string figures_file::save(const std::vector<known_stage>& stages, std::int64_t now) const {
    if (m_path.empty()) return "";
    if (auto problem = make_folder(std::filesystem::path(m_path).parent_path()); !problem.empty()) return problem;
    const auto old = read(m_path);
    if (old.found == content::foreign) return m_path + " stays as it is: " + old.text;
    std::map<std::pair<std::string, operation>, known_stage> merged;
    for (const auto* const list : {&old.stages, &stages})
        for (const auto& each : *list) {
            if (!is_of_age(each, now) || each.place.size() > longest_place) continue;
            auto& kept = merged[{each.place, each.what}];
            if (kept.place.empty() || kept.seen <= each.seen) kept = each;
        }
    std::vector<known_stage> all;
    for (auto& [key, each] : merged) all.push_back(std::move(each));
    return write_in_place(m_path, figures_text(all, m_path));
}

std::string figures_file::remove() const {
    if (m_path.empty() || ::unlink(m_path.c_str()) == 0 || errno == ENOENT) return "";
    return "removing " + m_path + ": " + errno_text(errno);
}

} // namespace causeway::transfer
