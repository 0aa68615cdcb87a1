// SPDX-License-Identifier: Apache-2.0
// One run of `causeway perf`: what is wanted, what time is left, and what has been measured.
#pragma once

#include "perf/measurement.hpp"
#include "perf/progress.hpp"
#include "perf/report.hpp"
#include "perf/settings.hpp"

// Raw MPI is part of the limit, so MPI calls must not go through our macros.
#define CAUSEWAY_NO_MPI_MACROS
#include <CL/cl_data_transfer.h>

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace perf {

/// Collective over the ranks of `comm`: all measure the same comparisons in the same order. Rank 0 prints.
class session {
  public:
    /// `routes` are the names of those that run.
    session(const settings& wanted, MPI_Comm comm, std::vector<std::string> routes);

    [[nodiscard]] const settings& wanted() const { return m_settings; }
    [[nodiscard]] MPI_Comm comm() const { return m_comm; }
    [[nodiscard]] int rank() const { return m_rank; }

    [[nodiscard]] bool wants(const std::string& route) const { return m_routes.contains(route); }

    /// The sizes to measure between `least` and `most` for which this machine has memory. With `count` transfers at
    /// once, a route needs `copies` in each process and one buffer on `device`.
    std::vector<std::size_t> sizes(cl_device_id device, std::size_t copies, std::size_t least = 1,
                                   std::size_t most = 2047 * mib, std::size_t count = 1);

    /// Plans for transfers of `bytes`: the library's own choice first, then all forced ones.
    [[nodiscard]] std::vector<forced_plan> plans(std::size_t bytes) const;

    /// Kind of buffers of the routes between devices.
    [[nodiscard]] buffer_kind buffers() const {
        return m_settings.in_windows ? buffer_kind::linked : buffer_kind::ordinary;
    }

    /// Adds a note, once.
    void note(const std::string& text);

    /// Updates the progress display only.
    void begin_route(const std::string& route);

    /// Runs every way once to warm up, then in rounds, each in another order. If the library has several ways, each way
    /// runs twice in a row and the second run counts. Checks the data after each run. Leaves out strategies that the
    /// library did not use although they were forced. Prints the rows. Does nothing if the route is not wanted, or if
    /// --quick's time is over. Throws wrong_data. Any other failure of a single process becomes a note, with route,
    /// size and way; ranks cannot go on.
    void measure(comparison compared);

    /// Measures the routes named `of`, all of a single process, at one size: `bench` makes what they need, and
    /// measures. If it fails, that becomes a note, and measuring goes on. Throws wrong_data.
    void try_size(const std::string& of, std::size_t bytes, const std::function<void()>& bench);

    [[nodiscard]] report& results() { return m_report; }

    /// The results, with all notes.
    const report& finish();

  private:
    /// The seconds of each way. Throws with route, size and way.
    [[nodiscard]] std::vector<std::vector<double>> take_samples(comparison& compared);
    [[nodiscard]] int rounds_for(std::size_t bytes) const;
    [[nodiscard]] bool agreed(bool mine) const;
    [[nodiscard]] bool rank_0_says(bool mine) const;
    void leave_out_what_fell_back(comparison& compared);

    const settings& m_settings;
    MPI_Comm m_comm;
    int m_rank = 0, m_ranks = 1;
    std::vector<std::string> m_strategies;
    std::set<std::string> m_routes, m_begun, m_noted;
    std::map<std::string, std::map<std::string, std::string>> m_not_possible; // the sizes of each route of a strategy
    progress m_progress;
    report m_report;
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now(), m_written = m_start;
    bool m_heading = false;
};

/// The words that the library's option `strategy` takes, without "auto".
std::vector<std::string> known_strategies();

} // namespace perf
