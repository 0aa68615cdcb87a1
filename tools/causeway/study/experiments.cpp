// SPDX-License-Identifier: Apache-2.0
// Sizes first, then coalesced items, then memory, then what drivers are told by the environment.
#include "study/experiments.hpp"

#include "beside.hpp"
#include "study/replay_process.hpp"
#include "study/size_search.hpp"
#include "study/statistics.hpp"
#include "study/units.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>

#include <csignal>

namespace study {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

volatile std::sig_atomic_t is_stopped = 0;

/// From the first ^C on nothing new begins: what is known by then is told. The second one ends all.
void stop_early_on_interrupt() {
    if (is_stopped != 0) return;
    std::signal(SIGINT, [](int signal) {
        is_stopped = 1;
        std::signal(signal, SIG_DFL);
    });
}

/// One launch and the process that does it again.
class laboratory {
  public:
    laboratory(fs::path folder, const experiment_settings& settings)
        : m_folder(std::move(folder)), m_settings(settings),
          m_recorded(json::parse(std::ifstream(m_folder / "launch.json"))), m_process(m_folder, {}, ends()),
          m_facts(m_process.ready()) {}

    json run() {
        json told{{"kernel", m_recorded.at("kernel")},
                  {"global", m_recorded.at("global")},
                  {"local", m_recorded.at("local")},
                  {"device", m_recorded.at("device")},
                  {"variants", json::array()}};
        if (m_facts.contains("error")) {
            told["error"] = m_facts;
            told["stopped_early"] = is_over();
            return told;
        }
        disturb();
        time_launch();
        told["names"] = m_facts.at("names");
        m_variants = json::array();
        try_sizes(told);
        try_coalesced();
        try_memory();
        try_knobs();
        told["variants"] = m_variants;
        told["reference"] = m_facts.at("reference"); // with what has been seen since
        told["stopped_early"] = is_over();
        return told;
    }

  private:
    /// Makes it seen that a variant writes what it should.
    void disturb() {
        const json request{{"disturb", true}};
        auto& reference = m_facts.at("reference");
        const auto answer = m_process.ask(request, longest_request());
        if (answer.contains("disturbed")) m_process.repeat_at_start(request);
        reference["disturbed"] = answer.value("disturbed", 0);
        m_is_seen = reference.at("changed").get<int>() + reference.at("disturbed").get<int>() > 0 &&
                    reference.at("repeats").get<bool>();
    }

    /// Between forbidden pages it took longer: they have to be made.
    void time_launch() {
        const json request{{"time", {json::object()}}, {"rounds", 5}, {"seconds", 0.05}, {"least", 0}};
        const auto answer = m_process.ask(request, longest_request());
        if (!answer.contains("times")) return;
        const auto times = answer.at("times")[0].at("whole").get<std::vector<double>>();
        m_facts.at("reference").at("seconds") = *std::min_element(times.begin(), times.end());
    }

    [[nodiscard]] bool is_over() const { return is_stopped != 0 || m_settings.until.is_over(); }
    [[nodiscard]] double launch_seconds() const { return m_facts.at("reference").at("seconds").get<double>(); }
    /// Such a launch is timed alone and as seldom as possible: a search of twelve sizes takes long enough.
    [[nodiscard]] bool is_long() const { return launch_seconds() > 0.05; }
    /// A kernel may wait for ever where its groups are others; a new size may have to be compiled.
    [[nodiscard]] std::chrono::seconds longest_request() const {
        return std::chrono::seconds(20 + static_cast<int>(20 * launch_seconds()));
    }
    /// For what has begun.
    [[nodiscard]] patience ends() const {
        return [&until = m_settings.until](std::chrono::seconds grace) {
            return is_stopped != 0 || until.left() < -static_cast<double>(grace.count());
        };
    }

    /// Times of the recorded launch and of another in turn; none if the process failed.
    std::optional<std::pair<std::vector<double>, std::vector<double>>>
    time(const json& base, const json& other, unsigned rounds, double seconds, unsigned least = 3) {
        const json request{{"time", {base, other}}, {"rounds", rounds}, {"seconds", seconds}, {"least", least}};
        const auto answer = m_process.ask(request, longest_request());
        if (!answer.contains("times")) return {};
        const auto& times = answer.at("times");
        return {{times[0].at("whole").get<std::vector<double>>(), times[1].at("whole").get<std::vector<double>>()}};
    }

    /// Adds what came of a variant that has been timed well.
    void add(const std::string& kind, const std::string& what, const json& request, const std::vector<double>& before,
             const std::vector<double>& after, const std::string& outcome) {
        const auto found = compare(before, after);
        const auto old = summarize(before), fresh = summarize(after);
        m_variants.push_back({{"kind", kind},
                              {"what", what},
                              {"request", request},
                              {"before", old.median},
                              {"seconds", fresh.median},
                              {"low_quartile", fresh.low},
                              {"high_quartile", fresh.high},
                              {"repetitions", fresh.count},
                              {"outliers", fresh.outliers + old.outliers},
                              {"speedup", found.speedup},
                              {"low", found.low},
                              {"high", found.high},
                              {"sure", found.sureness()},
                              {"outcome", outcome}});
    }
    void add_failure(const std::string& kind, const std::string& what, const json& request, const json& answer) {
        if (answer.contains("given_up")) return; // nothing is wrong with it
        m_variants.push_back({{"kind", kind},
                              {"what", what},
                              {"request", request},
                              {"outcome", "failed"},
                              {"why", answer.value("error", "")}});
    }

    /// "same", "rounding", "different", "overrun", or empty for one that failed, which is noted.
    std::string outcome_of(const std::string& kind, const std::string& what, const json& request) {
        return outcome_of(kind, what, request, m_process, request);
    }
    /// The same of a process in which the driver is told otherwise, where `asked` is the variant.
    std::string outcome_of(const std::string& kind, const std::string& what, const json& request,
                           replay_process& process, const json& asked) {
        const auto answer = process.ask({{"check", asked}}, longest_request());
        if (answer.contains("outcome")) {
            auto outcome = answer.at("outcome").get<std::string>();
            if (outcome == "different") confirm();
            // What differs from run to run, or was there before, cannot be compared.
            if (!m_is_seen && outcome != "overrun") outcome = "unknown";
            return outcome;
        }
        add_failure(kind, what, request, answer);
        return {};
    }

    /// The launch may differ itself, but so seldom that its first runs did not.
    void confirm() {
        if (!m_is_seen) return;
        const auto answer = m_process.ask({{"confirm", true}}, longest_request());
        if (answer.value("repeats", true)) return;
        m_facts.at("reference").at("repeats") = false;
        m_is_seen = false;
    }

    static bool is_right(const std::string& outcome) {
        return outcome == "same" || outcome == "rounding" || outcome == "unknown";
    }

    /// Checks a variant, and times it well.
    void try_one(const std::string& kind, const std::string& what, const json& request,
                 const json& base = json::object()) {
        if (is_over()) return;
        m_settings.progress(m_recorded.at("kernel").get<std::string>() + ": " + what);
        const auto outcome = outcome_of(kind, what, request);
        if (outcome.empty()) return;
        if (!is_right(outcome)) {
            m_variants.push_back({{"kind", kind}, {"what", what}, {"request", request}, {"outcome", outcome}});
            return;
        }
        if (const auto times = time(base, request, 15, 1))
            add(kind, what, request, times->first, times->second, outcome);
    }

    [[nodiscard]] size_limits limits() const {
        auto limits = m_facts.at("limits").get<shape>();
        const auto global = m_recorded.at("global").get<shape>();
        limits.resize(global.size());
        return {global, m_facts.at("largest_group").get<std::size_t>(), limits};
    }

    void try_sizes(json& told) {
        // A size that the kernel asks for is the only one.
        if (m_facts.at("required").at(0).get<std::size_t>() != 0) return;
        const auto own = m_recorded.at("local").is_null() ? shape{} : m_recorded.at("local").get<shape>();
        size_search search(limits(), own);
        auto begin = std::chrono::steady_clock::now();
        json trials = json::array();
        std::size_t wrong = 0;
        const auto measure = [&](const shape& size) -> std::optional<double> {
            const json request{{"local", size}};
            m_settings.progress(m_recorded.at("kernel").get<std::string>() + ": groups of " + shape_text(size));
            const auto outcome = outcome_of("size", "groups of " + shape_text(size), request);
            if (outcome.empty() && is_over()) return {};
            if (!is_right(outcome)) {
                ++wrong;
                return {};
            }
            // A short look: the best few get a second. In units of the recorded launch: the machine is not as fast all
            // the time. What else it does only makes times longer.
            const auto all = is_long() ? json::array({request}) : json::array({json::object(), request});
            const auto answer = m_process.ask({{"time", all}, {"rounds", 15}, {"seconds", 0.05}, {"least", 0}},
                                              longest_request());
            if (!answer.contains("times")) return {};
            const auto& times = answer.at("times");
            const auto mine = times.back().at("whole").get<std::vector<double>>();
            const auto base = is_long() ? launch_seconds() : shortest(times.front().at("whole"));
            const auto relative = shortest(mine) / base;
            trials.push_back({{"local", size}, {"relative", relative}, {"seconds", median(mine)}});
            return relative;
        };
        if (m_settings.exhaustive) {
            for (const auto& size : all_sizes(limits()))
                if (!is_over()) (void)measure(size);
            told["exhaustive"] = std::exchange(trials, json::array());
            begin = std::chrono::steady_clock::now();
        }
        while (!is_over()) {
            const auto size = search.next();
            if (!size) break;
            search.tell(*size, measure(*size));
        }
        const auto best = best_of(trials);
        told["sizes_seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (best && m_settings.exhaustive && !is_over()) compare_with_exhaustive(told, *best);
        told["sizes"] = trials;
        told["sizes_possible"] = search.possible();
        told["sizes_tried"] = search.trials();
        told["sizes_wrong"] = wrong;
        if (!own.empty()) try_one("size", "the driver's choice", {{"local", nullptr}});
        if (best && *best != own) try_one("size", "groups of " + shape_text(*best), {{"local", *best}});
    }

    static double shortest(const std::vector<double>& of) { return *std::min_element(of.begin(), of.end()); }

    /// Of sizes that were looked at shortly: the best few once more, in turn.
    std::optional<shape> best_of(const json& trials) {
        std::vector<timed_size> all;
        for (const auto& each : trials) all.emplace_back(each.at("relative"), each.at("local").get<shape>());
        if (is_long()) return best_in_rounds(all, [&](const auto& few, unsigned rounds) { return again(few, rounds); });
        std::sort(all.begin(), all.end());
        if (all.size() > 4) all.resize(4);
        if (all.size() < 2 || is_over()) return all.empty() ? std::nullopt : std::optional(all.front().second);
        json requests = json::array();
        for (const auto& [relative, size] : all) requests.push_back({{"local", size}});
        const auto answer = m_process.ask({{"time", requests}, {"rounds", 40}, {"seconds", 0.5}, {"least", 1}},
                                          longest_request());
        if (!answer.contains("times")) return all.front().second;
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i].first = summarize(answer.at("times")[i].at("whole").get<std::vector<double>>()).median;
        return std::min_element(all.begin(), all.end())->second;
    }

    /// Of a long launch, in its units: as long as that takes a quarter of the time left.
    std::optional<std::vector<double>> again(const std::vector<shape>& few, unsigned rounds) {
        const auto lasts = static_cast<double>(few.size() * rounds) * launch_seconds();
        if (is_over() || lasts > m_settings.until.left() / 4) return {};
        json requests = json::array();
        for (const auto& each : few) requests.push_back({{"local", each}});
        const json request{
            {"time", requests}, {"rounds", rounds - 1}, {"seconds", 0}, {"least", rounds - 1}, {"all_count", true}};
        const auto answer = m_process.ask(request, longest_request());
        if (!answer.contains("times")) return {};
        std::vector<double> found;
        for (const auto& each : answer.at("times")) found.push_back(shortest(each.at("whole")) / launch_seconds());
        return found;
    }

    /// How near the search came: what it found, and the best few of all, in turn.
    void compare_with_exhaustive(json& told, const shape& found) {
        const auto best = best_of(told.at("exhaustive"));
        if (!best) return;
        told["best_of_all"] = *best;
        told["found"] = found;
        const auto least = is_long() ? std::clamp(static_cast<unsigned>(8 / launch_seconds()), 5U, 20U) : 9U;
        if (*best == found) {
            told["found_of_best"] = 1.;
        } else if (const auto times = time({{"local", *best}}, {{"local", found}}, 60, 2, least)) {
            told["found_of_best"] = is_long() ? shortest(times->first) / shortest(times->second)
                                              : compare(times->first, times->second).speedup;
        }
    }

    /// The options of the program's build, for a shell.
    [[nodiscard]] std::string quoted_options() const {
        std::string text = "'";
        for (const char letter : m_recorded.at("options").get<std::string>())
            text += letter == ' ' ? "' '" : letter == '\'' ? "'\\''" : std::string(1, letter);
        return text + "'";
    }

    /// Items of the first dimension in one, by the coarsener.
    void try_coalesced() {
        const auto program = causeway_tool::library_file("causeway/coarsen");
        if (!fs::exists(program)) return;
        if (!fs::exists(m_folder / "program.cl")) {
            m_variants.push_back({{"kind", "coalesced"},
                                  {"what", "items in one"},
                                  {"outcome", "refused"},
                                  {"why", "the program came as a binary: there is no source to change"}});
            return;
        }
        const auto global = m_recorded.at("global").get<shape>();
        const auto kernel = m_recorded.at("kernel").get<std::string>();
        for (const std::string order : {"adjacent", "interleaved"})
            for (const std::size_t factor : {2, 4, 8, 16, 64, 256, 1000}) {
                if (is_over() || factor > global.front()) break;
                const auto file = "coarse-" + order + "-" + std::to_string(factor) + ".cl";
                const auto command = "'" + program + "' --kernel '" + kernel + "' --factor " + std::to_string(factor) +
                                     " --order " + order + " --items " + std::to_string(global.front()) + " '" +
                                     (m_folder / "program.cl").string() + "' -- " + quoted_options() + " > '" +
                                     (m_folder / file).string() + "' 2> '" + (m_folder / "coarsen.log").string() + "'";
                const auto what = std::to_string(factor) + " items in one, " + order;
                if (std::system(command.c_str()) != 0) {
                    std::string why;
                    std::getline(std::ifstream(m_folder / "coarsen.log"), why);
                    m_variants.push_back({{"kind", "coalesced"}, {"what", what}, {"outcome", "refused"}, {"why", why}});
                    return; // as it would for any factor
                }
                auto shorter = global;
                shorter.front() = (global.front() + factor - 1) / factor;
                try_one("coalesced", what, {{"source", file}, {"global", shorter}, {"local", nullptr}});
            }
    }

    /// How data gets there and back, and where it lies: the whole way is timed.
    void try_memory() {
        const json base{{"transfer", "copy"}};
        try_one("transfer", "map in place of read and write", {{"transfer", "map"}}, base);
        for (const std::string allocation : {"device", "host", "lent"}) {
            const auto what = allocation == "device" ? "buffers of the device"
                              : allocation == "host" ? "CL_MEM_ALLOC_HOST_PTR"
                                                     : "CL_MEM_USE_HOST_PTR, at a page";
            try_one("allocation", std::string(what) + ", copied", {{"transfer", "copy"}, {"allocation", allocation}},
                    base);
            try_one("allocation", std::string(what) + ", mapped", {{"transfer", "map"}, {"allocation", allocation}},
                    base);
        }
        for (const std::size_t off : {16, 64, 128})
            try_one("alignment", "CL_MEM_USE_HOST_PTR " + std::to_string(off) + " bytes off a page, mapped",
                    {{"transfer", "map"}, {"allocation", "lent"}, {"misaligned", off}},
                    {{"transfer", "map"}, {"allocation", "lent"}});
        try_one("access", "CL_MEM_READ_WRITE for all", {{"transfer", "copy"}, {"access", "read-write"}}, base);
        try_one("access", "CL_MEM_READ_ONLY where nothing is written", {{"transfer", "copy"}, {"access", "narrow"}},
                base);
    }

    struct told_driver {
        std::string what;
        knobs set;
        bool in_parts = false;
    };
    [[nodiscard]] std::vector<told_driver> told_drivers() const {
        const auto device = m_recorded.at("device").get<std::string>(),
                   driver = m_recorded.at("driver").get<std::string>();
        if (device.starts_with("pthread") || device.find("pocl") != std::string::npos || device.starts_with("cpu")) {
            // Binaries that it has kept do not all say how they were made.
            const auto compiled = [](const std::string& name, const std::string& value) {
                return knobs{{name, value}, {"POCL_KERNEL_CACHE", "0"}};
            };
            std::vector<told_driver> all{
                {"POCL_AFFINITY=1 (threads bound)", {{"POCL_AFFINITY", "1"}}},
                {"POCL_WORK_GROUP_METHOD=loops (not vectorised)", compiled("POCL_WORK_GROUP_METHOD", "loops")},
                {"POCL_WORK_GROUP_METHOD=cbs", compiled("POCL_WORK_GROUP_METHOD", "cbs")}};
            if (std::atof(driver.c_str()) >= 7) // the first with this variable
                for (const auto* const width : {"8", "16"})
                    all.push_back({std::string("POCL_VECTORIZER_FORCE_VECTOR_WIDTH=") + width,
                                   compiled("POCL_VECTORIZER_FORCE_VECTOR_WIDTH", width)});
            all.push_back({"a sub-device for each core, POCL_AFFINITY=1",
                           {{"POCL_AFFINITY", "1"}, {"CAUSEWAY_REPLAY_UNITS", "1"}},
                           true});
            return all;
        }
        if (device.find("Intel") == std::string::npos && !driver.starts_with("202")) return {};
        return {{"DPCPP_CPU_CU_AFFINITY=close, DPCPP_CPU_PLACES=cores (threads bound)",
                 {{"DPCPP_CPU_CU_AFFINITY", "close"}, {"DPCPP_CPU_PLACES", "cores"}}},
                {"DPCPP_CPU_SCHEDULE=static", {{"DPCPP_CPU_SCHEDULE", "static"}}},
                {"DPCPP_CPU_SCHEDULE=affinity", {{"DPCPP_CPU_SCHEDULE", "affinity"}}},
                {"CL_CONFIG_CPU_VECTORIZER_MODE=1 (not vectorised)", {{"CL_CONFIG_CPU_VECTORIZER_MODE", "1"}}},
                {"CL_CONFIG_CPU_VECTORIZER_MODE=8", {{"CL_CONFIG_CPU_VECTORIZER_MODE", "8"}}},
                {"CL_CONFIG_CPU_VECTORIZER_MODE=16", {{"CL_CONFIG_CPU_VECTORIZER_MODE", "16"}}},
                {"a sub-device for each core", {{"CAUSEWAY_REPLAY_UNITS", "1"}}, true}};
    }

    /// A process of its own for each, in turn with that of the recorded launch.
    void try_knobs() {
        const auto all = told_drivers();
        if (all.empty() || is_over()) return;
        (void)m_process.ask({{"keep", true}}, longest_request());
        for (const auto& [what, set, in_parts] : all) {
            const std::string kind = in_parts ? "bound" : "knob";
            if (is_over()) return;
            m_settings.progress(m_recorded.at("kernel").get<std::string>() + ": " + what);
            replay_process other(m_folder, set, ends());
            const auto ready = other.ready();
            const json request{{"environment", set}};
            if (ready.contains("error")) {
                add_failure(kind, what, request, ready);
                continue;
            }
            const json varied = in_parts ? json{{"parts", true}} : json::object();
            // What this process has seen of the launch, it has seen in its own environment.
            (void)other.ask({{"adopt", true}}, longest_request());
            (void)other.ask({{"disturb", true}}, longest_request());
            const auto outcome = outcome_of(kind, what, request, other, varied);
            if (outcome.empty()) continue;
            if (!is_right(outcome)) {
                m_variants.push_back({{"kind", kind}, {"what", what}, {"request", request}, {"outcome", outcome}});
                continue;
            }
            std::vector<double> before, after;
            for (int turn = 0; turn < 6; ++turn) {
                const auto once = [](const json& which) {
                    return json{{"time", {which}}, {"rounds", 4}, {"seconds", 0.2}};
                };
                const auto mine = m_process.ask(once(json::object()), longest_request()),
                           theirs = other.ask(once(varied), longest_request());
                if (!mine.contains("times") || !theirs.contains("times")) break;
                for (const auto& each : mine.at("times")[0].at("whole")) before.push_back(each);
                for (const auto& each : theirs.at("times")[0].at("whole")) after.push_back(each);
            }
            if (!after.empty()) add(kind, what, request, before, after, outcome);
        }
    }

    fs::path m_folder;
    const experiment_settings& m_settings;
    json m_recorded;
    replay_process m_process;
    json m_facts, m_variants;
    bool m_is_seen = false; ///< whether the launch changes anything, and always the same
};

} // namespace

std::vector<fs::path> recorded_launches(const fs::path& folder) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder))
        if (fs::exists(entry.path() / "launch.json")) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

json try_variants(const fs::path& launch, const experiment_settings& settings) {
    stop_early_on_interrupt();
    return laboratory(launch, settings).run();
}

} // namespace study
