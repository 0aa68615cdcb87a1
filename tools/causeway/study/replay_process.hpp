// SPDX-License-Identifier: Apache-2.0
// A child process that replays a recorded launch, so that a crash of a variant stays there.
#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace study {

/// Environment variables that configure the driver.
using knobs = std::vector<std::pair<std::string, std::string>>;

/// Whether to wait no longer, given what is granted beyond the time for all; asked several times a second.
using patience = std::function<bool(std::chrono::seconds grace)>;

class replay_process {
  public:
    replay_process(std::filesystem::path launch, knobs environment, patience ends);
    ~replay_process();
    replay_process(const replay_process&) = delete;
    replay_process& operator=(const replay_process&) = delete;

    /// What the process says of the launch; starts it. {"error": ...} where it cannot be done again.
    nlohmann::json ready();
    /// The answer to a request; {"fault": ...} or {"error": ...} where the process ended, which is started anew for the
    /// next one. A request that takes longer than `limit` ends the process; {"given_up": ...} where patience ends.
    nlohmann::json ask(const nlohmann::json& request, std::chrono::seconds limit);

    /// A request that went well once, and is made again whenever the process has to be started anew.
    void repeat_at_start(nlohmann::json request) { m_first = std::move(request); }

  private:
    void start();
    void end();
    nlohmann::json read_answer(std::chrono::seconds limit, std::chrono::seconds grace);

    std::filesystem::path m_launch;
    knobs m_knobs;
    patience m_ends;
    pid_t m_process = 0;
    int m_to = -1, m_from = -1;
    std::string m_text; ///< read and not yet a whole line
    nlohmann::json m_ready, m_first;
};

} // namespace study
