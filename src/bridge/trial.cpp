// SPDX-License-Identifier: Apache-2.0
// Starts the program of a trial, waits for its answer, and remembers it.
#include "bridge/trial.hpp"

#include "base/cache_file.hpp"
#include "base/error.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

extern char** environ;

namespace causeway::bridge {

namespace {

using nlohmann::json;

constexpr const char* works = "works";
constexpr const char* crashes = "crashes";

/// Not what somebody else has sent it.
bool is_crash(int signal) {
    return signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
}

constexpr std::size_t most_bytes = std::size_t{1} << 20;

/// Anything but an object of texts counts as empty.
json read(const std::string& file) {
    auto found = json::parse(read_cache_file(file, most_bytes).text.value_or(""), nullptr, false);
    return found.is_object() ? found : json::object();
}

std::string key_of(const trial_subject& of) {
    auto devices = of.devices;
    std::ranges::sort(devices);
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    std::string key = of.driver + ", machine " + of.machine + ", devices";
    for (const auto& device : devices) {
        key += ' ';
        for (const auto byte : device) {
            constexpr auto* digits = "0123456789abcdef";
            key += {digits[byte >> 4], digits[byte & 15]};
        }
    }
    return key;
}

/// How soon a request to end is seen.
constexpr std::chrono::milliseconds longest_look_away(20);

/// What comes until its end; what is there once time is over.
std::string read_all(const descriptor& from, std::chrono::steady_clock::time_point until, const std::stop_token& ending,
                     bool& ended) {
    std::string text;
    char part[512];
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        if (left.count() <= 0 || ending.stop_requested()) return text;
        pollfd waits{from.get(), POLLIN, 0};
        if (::poll(&waits, 1, static_cast<int>(std::min(left, longest_look_away).count())) <= 0) continue;
        const auto bytes = ::read(from.get(), part, sizeof part);
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes <= 0) break;
        text.append(part, static_cast<std::size_t>(bytes));
    }
    ended = true;
    return text;
}

} // namespace

std::string trial::answer(std::chrono::milliseconds limit, const std::stop_token& ending) const {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw transfer_error(status::out_of_resources, "a pipe to " + m_program + ": " + errno_text(errno), errno);
    const descriptor out(ends[0]);
    descriptor in(ends[1]);
    pid_t child = 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in.get(), STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    // This thread blocks every signal; the child is to end by them.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    char* const arguments[] = {const_cast<char*>(m_program.c_str()), nullptr};
    const int refused = ::posix_spawn(&child, m_program.c_str(), &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (refused != 0)
        throw transfer_error(status::out_of_resources, "starting " + m_program + ": " + errno_text(refused), refused);
    in = descriptor();
    bool ended = false;
    auto text = read_all(out, std::chrono::steady_clock::now() + limit, ending, ended);
    if (!ended) {
        ::kill(child, SIGKILL);
        // One that does not end after its answer has given one.
        if (!text.ends_with('\n'))
            text = ending.stop_requested() ? "fails: no answer before the end of the process"
                                           : "fails: no answer within " + std::to_string(limit.count()) + " ms";
    }
    int how = 0;
    pid_t waited = 0;
    while ((waited = ::waitpid(child, &how, 0)) < 0 && errno == EINTR) {}
    if (!text.empty()) return text;
    // Nobody knows how it ended where the program of the process waits for all its children, or has the system forget
    // them.
    if (waited != child) return "fails: it ended without an answer";
    if (!WIFSIGNALED(how)) return "refuses: it ended without an answer";
    return is_crash(WTERMSIG(how)) ? crashes : "fails: it was ended by signal " + std::to_string(WTERMSIG(how));
}

std::string trial::run(const trial_subject& of, std::chrono::milliseconds limit, const std::stop_token& ending) const {
    if (m_program.empty() || ::access(m_program.c_str(), X_OK) != 0) return "";
    auto known = m_memory.empty() ? json::object() : read(m_memory);
    const auto key = key_of(of);
    auto verdict = known.value(key, json());
    if (verdict != works && verdict != crashes) {
        const auto said = answer(limit, ending);
        if (said.starts_with("refuses: ")) return "";
        if (said.starts_with("fails: ")) return said.substr(0, said.find('\n'));
        if (!said.starts_with(works) && said != crashes) return "";
        verdict = said.starts_with(works) ? works : crashes;
        known[key] = verdict;
        // Who cannot write tries again next time.
        if (!m_memory.empty())
            (void)write_cache_file(m_memory, known.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
    }
    if (verdict == works) return "";
    return of.driver + " crashes where OpenCL, CUDA and Vulkan share memory" +
           (m_memory.empty() ? "" : " (remembered in " + m_memory + ")");
}

} // namespace causeway::bridge
