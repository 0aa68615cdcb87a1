// SPDX-License-Identifier: Apache-2.0
// A child process that replays a recorded launch, so that a variant which crashes does not end the study.
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

/// True if the study's time, extended by `grace`, is over. Asked several times a second.
using patience = std::function<bool(std::chrono::seconds grace)>;

class replay_process {
  public:
    replay_process(std::filesystem::path launch, knobs environment, patience ends);
    ~replay_process();
    replay_process(const replay_process&) = delete;
    replay_process& operator=(const replay_process&) = delete;

    /// Starts the process. Returns what it reports of the launch, or {"error": text} if the launch cannot be replayed.
    nlohmann::json ready();
    /// The answer to a request, or {"error": text}: beside it "fault" if the launch had one, "too_long" if it took
    /// longer than `limit`, and "given_up" if patience has ended. The process has ended in these; the next request
    /// starts it.
    nlohmann::json ask(const nlohmann::json& request, std::chrono::seconds limit);

    /// `request` has succeeded, and is repeated whenever the process is started anew.
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
