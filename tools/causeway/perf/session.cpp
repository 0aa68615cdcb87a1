// SPDX-License-Identifier: Apache-2.0
// Runs comparisons in turns, forces plans, keeps to the time.
#include "perf/session.hpp"

#include "perf/bench.hpp"
#include "words.hpp"

#include <causeway/causeway.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace perf {

namespace {

using causeway_tool::size_text;
using namespace std::chrono_literals;

constexpr int fewest_rounds = 3; // even if they take long
constexpr auto quick_time = 20s;            // of a whole run; a comparison that has begun still ends
constexpr int patience = 4; // after so many times its time, a comparison ends with even fewer
/// A transfer of more blocks than this measures the cost of blocks, which smaller transfers have shown already.
constexpr std::size_t most_blocks = 4096;

std::size_t available_bytes() {
    std::ifstream information("/proc/meminfo");
    std::string name;
    std::size_t kibibytes = 0;
    for (std::string unit; information >> name >> kibibytes && std::getline(information, unit);)
        if (name == "MemAvailable:") return kibibytes * kib;
    return SIZE_MAX;
}

std::size_t largest_buffer(cl_device_id device) {
    cl_ulong bytes = 0;
    apps::check(clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof bytes, &bytes, nullptr),
                "clGetDeviceInfo");
    return bytes;
}

void set_option(const char* name, const std::string& value) {
    if (causeway_option_set(name, value.c_str()) != 0) throw std::runtime_error(causeway_error_last_message());
}

/// Forces a plan while it lives.
class forced {
  public:
    explicit forced(const forced_plan& plan) {
        set_option("strategy", plan.strategy);
        set_option("block", std::to_string(plan.block_bytes));
    }
    ~forced() {
        (void)causeway_option_set("strategy", "auto");
        (void)causeway_option_set("block", "0");
    }
    forced(const forced&) = delete;
    forced& operator=(const forced&) = delete;
};

/// Options and transfers spell a strategy with and without spaces.
bool same_strategy(std::string a, std::string b) {
    for (auto* each : {&a, &b}) std::ranges::replace_if(*each, [](char c) { return c == '_' || c == '-'; }, ' ');
    return a == b;
}

std::string text_of(const comparison& compared, const way& each) {
    const auto block = each.forced.block_bytes;
    return compared.route + ", " + size_text(compared.bytes) + ", " +
           (each.is == role::ours ? each.forced.strategy : each.name) +
           (block > 0 ? ", block " + size_text(block) : "") + ": ";
}

double run_checked(const comparison& compared, const way& each) {
    try {
        double seconds = 0;
        if (each.is == role::ours) {
            const forced hold(each.forced);
            seconds = compared.sample(each);
        } else {
            seconds = compared.sample(each);
        }
        if (each.check) each.check();
        return seconds;
    } catch (const wrong_data& error) {
        throw wrong_data(text_of(compared, each) + error.what());
    } catch (const std::exception& error) {
        throw std::runtime_error(text_of(compared, each) + error.what());
    }
}

progress::wanted progress_of(const settings& wanted, int rank) {
    if (rank != 0) return progress::wanted::never;
    return wanted.progress ? progress::wanted::always : progress::wanted::if_terminal;
}

int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

} // namespace

std::vector<std::string> known_strategies() {
    // The library's refusal names the words: "option strategy: '?' is not auto|direct|...".
    std::vector<std::string> known;
    if (causeway_option_set("strategy", "?") == 0) return known;
    const std::string text = causeway_error_last_message();
    auto from = text.rfind(' ');
    while (from != std::string::npos) {
        const auto to = text.find('|', ++from);
        auto word = text.substr(from, to == std::string::npos ? to : to - from);
        if (word != "auto") known.push_back(std::move(word));
        from = to;
    }
    return known;
}

session::session(const settings& wanted, MPI_Comm comm, std::vector<std::string> routes)
    : m_settings(wanted), m_comm(comm), m_rank(rank_in(comm)), m_strategies(wanted.strategies),
      m_routes(routes.begin(), routes.end()), m_progress(progress_of(wanted, m_rank)) {
    MPI_Comm_size(comm, &m_ranks);
    const forced from_now_on({}); // what the environment says of these options holds for no row
    if (m_strategies.empty()) m_strategies = known_strategies();
}

std::vector<std::size_t> session::sizes(cl_device_id device, std::size_t copies, std::size_t least, std::size_t most,
                                        std::size_t count) {
    std::vector<std::size_t> possible;
    const auto buffer = largest_buffer(device);
    const auto memory = available_bytes() / std::size_t(m_ranks);
    for (const auto bytes : m_settings.sizes) {
        if (bytes < least || bytes > most) continue;
        const auto whole = bytes * count;
        if (agreed(whole + mib <= buffer && whole <= memory / copies)) {
            possible.push_back(bytes);
        } else {
            note(size_text(whole) + " at once left out: it takes a buffer of that size, and the device gives at most " +
                 size_text(buffer) + ", and " + size_text(copies * whole) + " of memory in each process");
        }
    }
    return possible;
}

std::vector<forced_plan> session::plans(std::size_t bytes) const {
    std::vector<forced_plan> all{{}};
    for (const auto& strategy : m_strategies) {
        if (strategy != "auto") all.push_back({strategy, 0});
        for (const auto block : m_settings.blocks)
            if (block < bytes && bytes / block <= most_blocks) all.push_back({strategy, block});
    }
    return all;
}

void session::note(const std::string& text) {
    if (m_noted.insert(text).second) m_report.notes.push_back(text);
}

void session::begin_route(const std::string& route) {
    m_begun.insert(route);
    m_progress.route(int(m_begun.size()), int(m_routes.size()));
}

int session::rounds_for(std::size_t bytes) const {
    // Small transfers are over so soon that more of them cost nothing.
    return m_settings.repetitions * int(std::clamp<std::size_t>(32 * mib / std::max<std::size_t>(bytes, 1), 1, 10));
}

bool session::agreed(bool mine) const {
    int all = mine ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, m_comm);
    return all != 0;
}

bool session::rank_0_says(bool mine) const {
    int says = mine ? 1 : 0;
    MPI_Bcast(&says, 1, MPI_INT, 0, m_comm);
    return says != 0;
}

void session::leave_out_what_fell_back(comparison& compared) {
    std::erase_if(compared.ways, [&](const way& each) {
        if (each.is != role::ours || each.forced.strategy == "auto") return false;
        const auto used = each.used->strategy;
        if (agreed(same_strategy(used, each.forced.strategy))) return false;
        auto& sizes = m_not_possible[each.forced.strategy][compared.route];
        const auto size = size_text(compared.bytes);
        if (!sizes.ends_with(size)) sizes.append(sizes.empty() ? "" : ", ").append(size);
        return true;
    });
}

const report& session::finish() {
    for (const auto& [strategy, routes] : m_not_possible) {
        std::string names;
        for (const auto& [route, sizes] : routes) names.append(names.empty() ? "" : "; ").append(route + " " + sizes);
        note("strategy " + strategy +
             " left out where this device, route or size cannot do it, so that the library falls back to another: " +
             names);
    }
    m_not_possible.clear();
    return m_report;
}

void session::measure(comparison compared) {
    if (!wants(compared.route)) return;
    begin_route(compared.route);
    using clock = std::chrono::steady_clock;
    if (m_settings.quick && rank_0_says(clock::now() - m_start > quick_time)) {
        note(compared.route + ", " + size_text(compared.bytes) + " left out: the time of --quick was over");
        return;
    }
    m_progress.begin(compared.route + ", " + size_text(compared.bytes));
    std::vector<std::vector<double>> samples;
    try {
        samples = take_samples(compared);
    } catch (const wrong_data&) {
        throw;
    } catch (const std::exception& error) {
        if (m_ranks > 1) throw; // the others wait for what this one has left out
        m_progress.clear();
        note("left out: " + std::string(error.what()));
        return;
    }

    auto found = evaluate(compared, samples);
    if (found.naive_is_limit && (m_settings.table || !m_settings.json.empty()))
        note(compared.route + ", " + size_text(compared.bytes) +
             ": naive code was faster than what the limit's parts amount to, and is the limit");
    if (m_rank == 0 && m_settings.table) {
        if (!m_heading) print_heading();
        for (const auto& each : found.rows) print(each);
    }
    m_heading = true;
    std::ranges::move(found.rows, std::back_inserter(m_report.rows));
    std::ranges::move(found.parts, std::back_inserter(m_report.parts));
    // What took long is not lost if the rest is interrupted.
    if (m_rank == 0 && !m_settings.json.empty() && clock::now() - m_written > 10s) {
        write_json(m_report, m_settings.json);
        m_written = clock::now();
    }
}

void session::try_size(const std::string& of, std::size_t bytes, const std::function<void()>& bench) {
    try {
        bench();
    } catch (const wrong_data&) {
        throw;
    } catch (const std::exception& error) {
        m_progress.clear();
        note(size_text(bytes) + " of " + of + " left out: " + error.what());
    }
}

std::vector<std::vector<double>> session::take_samples(comparison& compared) {
    using clock = std::chrono::steady_clock;
    for (const auto& each : compared.ways) (void)run_checked(compared, each);
    leave_out_what_fell_back(compared);
    const bool several = std::ranges::count(compared.ways, role::ours, &way::is) > 1;
    std::vector<std::vector<double>> samples(compared.ways.size());
    const int rounds = rounds_for(compared.bytes);
    const std::chrono::duration<double> most(m_settings.seconds);
    const auto begun = clock::now();
    for (int round = 0; round < rounds; ++round) {
        const auto allowed = round >= fewest_rounds ? most : patience * most;
        if (round > 0 && rank_0_says(clock::now() - begun > allowed)) break;
        m_progress.round(round, rounds);
        // Behind naive code the caches hold other things, and the same plan took a tenth longer than behind itself.
        for (const auto i : order_of_round(compared.ways.size(), static_cast<std::size_t>(round))) {
            // Page-locked blocks of one size make room for those of another, which whoever comes next would pay for: so
            // no way comes behind another one.
            if (several) (void)run_checked(compared, compared.ways[i]);
            samples[i].push_back(run_checked(compared, compared.ways[i]));
        }
    }
    m_progress.clear();
    return samples;
}

} // namespace perf
