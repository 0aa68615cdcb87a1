// SPDX-License-Identifier: Apache-2.0
// Two pipes and poll.
#include "study/replay_process.hpp"

#include "beside.hpp"
#include "study/units.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char** environ;

namespace study {

namespace {

using nlohmann::json;

/// This process's environment with the knobs in place of what they name, where the loader finds this driver and no
/// other: Debian's takes a library for the first, Khronos' for the second.
std::vector<std::string> environment_with(knobs set, const std::string& library) {
    for (const auto* const name : {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"}) set.emplace_back(name, library);
    std::vector<std::string> all;
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string entry = *each;
        bool is_replaced = false;
        for (const auto& [name, value] : set) is_replaced = is_replaced || entry.starts_with(name + "=");
        if (!is_replaced) all.push_back(entry);
    }
    for (const auto& [name, value] : set) all.push_back(name + "=" + value);
    return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
    std::vector<char*> pointers;
    for (auto& each : words) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace

replay_process::replay_process(std::filesystem::path launch, knobs environment, patience ends)
    : m_launch(std::move(launch)), m_knobs(std::move(environment)), m_ends(std::move(ends)) {}

replay_process::~replay_process() { end(); }

void replay_process::start() {
    int to[2], from[2];
    if (::pipe2(to, O_CLOEXEC) != 0)
        throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
    if (::pipe2(from, O_CLOEXEC) != 0) {
        ::close(to[0]);
        ::close(to[1]);
        throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
    const auto program = causeway_tool::library_file("causeway/replay-launch");
    std::vector<std::string> words{program, m_launch.string()};
    const auto recorded = json::parse(std::ifstream(m_launch / "launch.json"));
    auto settings = environment_with(m_knobs, recorded.at("library"));
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t interrupt; // a terminal's ^C goes to all: this process ends with its input
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &interrupt);
    const int refused = ::posix_spawn(&m_process, program.c_str(), &actions, &attributes, pointers_to(words).data(),
                                      pointers_to(settings).data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    ::close(to[0]);
    ::close(from[1]);
    m_to = to[1];
    m_from = from[0];
    m_text.clear();
    if (refused != 0) {
        m_process = 0;
        end();
        throw std::runtime_error("cannot start " + program + ": " + std::strerror(refused));
    }
    m_ready = read_answer(std::chrono::seconds(120), std::chrono::seconds(30)); // it compiles
}

void replay_process::end() {
    for (int* const each : {&m_to, &m_from})
        if (*each >= 0) ::close(std::exchange(*each, -1));
    if (m_process == 0) return;
    // What still runs is a variant that does not end.
    for (int i = 0; i < 50; ++i) {
        if (::waitpid(m_process, nullptr, WNOHANG) == m_process) {
            m_process = 0;
            return;
        }
        ::usleep(10'000);
    }
    ::kill(m_process, SIGKILL);
    while (::waitpid(m_process, nullptr, 0) < 0 && errno == EINTR) {}
    m_process = 0;
}

json replay_process::read_answer(std::chrono::seconds limit, std::chrono::seconds grace) {
    const auto until = std::chrono::steady_clock::now() + limit;
    for (;;) {
        if (const auto end_of_line = m_text.find('\n'); end_of_line != std::string::npos) {
            const auto line = m_text.substr(0, end_of_line);
            m_text.erase(0, end_of_line + 1);
            auto answer = json::parse(line, nullptr, false);
            if (!answer.is_object()) continue;
            if (answer.contains("fault")) {
                answer["error"] = fault_text(answer);
                end();
            }
            return answer;
        }
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until -
                                                                                std::chrono::steady_clock::now())
                              .count();
        pollfd waited{m_from, POLLIN, 0};
        const int found = left > 0 ? ::poll(&waited, 1, static_cast<int>(std::min<std::int64_t>(left, 100))) : 0;
        if (found <= 0 && m_ends(grace)) {
            ::kill(m_process, SIGKILL);
            end();
            return {{"given_up", true}, {"error", "the time was over"}};
        }
        if (found == 0 && left > 100) continue;
        if (found < 0 && errno == EINTR) continue;
        if (found == 0) {
            ::kill(m_process, SIGKILL);
            end();
            return {{"error", "it did not end within " + std::to_string(limit.count()) + " seconds"},
                    {"too_long", true}};
        }
        char bytes[65536];
        const auto count = ::read(m_from, bytes, sizeof bytes);
        if (count > 0) {
            m_text.append(bytes, static_cast<std::size_t>(count));
        } else {
            end();
            return {{"error", "the process ended"}};
        }
    }
}

json replay_process::ready() {
    if (m_process == 0) start();
    return m_ready;
}

json replay_process::ask(const json& request, std::chrono::seconds limit) {
    if (m_process == 0) {
        start();
        if (m_process != 0 && !m_first.is_null()) (void)ask(m_first, limit);
        if (m_process == 0) return {{"error", "the process ended"}};
    }
    if (m_ready.contains("error")) return m_ready;
    const auto line = request.dump() + "\n";
    struct sigaction before{}, ignored{};
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignored, &before);
    const bool is_told = ::write(m_to, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    sigaction(SIGPIPE, &before, nullptr);
    if (!is_told) {
        end();
        return {{"error", "the process ended"}};
    }
    return read_answer(limit, std::chrono::seconds(1));
}

} // namespace study
