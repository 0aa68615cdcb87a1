// SPDX-License-Identifier: Apache-2.0
// Starts programs and waits for them, but not for ever.
#include "support/processes.hpp"

#include "support/events.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>

extern char** environ;

namespace support {

std::optional<ending> run_program(const std::string& path, const std::vector<std::string>& arguments,
                                  const std::vector<std::string>& changes) {
    const auto raw = [](const std::string& text) { return const_cast<char*>(text.c_str()); }; // posix_spawn's type
    std::vector<char*> words{raw(path)};
    for (const std::string& each : arguments) {
        words.push_back(raw(each));
    }
    words.push_back(nullptr);
    std::vector<char*> environment;
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string variable = *each;
        const auto changed = [&](const std::string& change) {
            return variable.starts_with(change.substr(0, change.find('=') + 1));
        };
        if (std::none_of(changes.begin(), changes.end(), changed)) {
            environment.push_back(*each);
        }
    }
    for (const std::string& each : changes) {
        environment.push_back(raw(each));
    }
    environment.push_back(nullptr);

    const auto begin = std::chrono::steady_clock::now();
    pid_t child = 0;
    if (posix_spawn(&child, path.c_str(), nullptr, nullptr, words.data(), environment.data()) != 0) {
        throw std::runtime_error(path + " cannot be run");
    }
    int status = 0;
    if (!eventually([&] { return waitpid(child, &status, WNOHANG) == child; })) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return std::nullopt;
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    return ending{WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), took};
}

std::string index_of(const device_under_test& device) {
    const auto& all = all_devices();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& each) { return each.device == device.device; });
    return std::to_string(found - all.begin());
}

} // namespace support
