// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace directive {
namespace {

[[noreturn]] void replace_process(const std::vector<std::string>& arguments) {
    std::vector<char*> words;
    words.reserve(arguments.size() + 1);
    for (const auto& each : arguments) words.push_back(const_cast<char*>(each.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    std::fprintf(stderr, "causeway-cc: %s: %s\n", words[0], std::strerror(errno));
    _exit(127);
}

} // namespace

int run(const std::vector<std::string>& arguments, std::string* output) {
    int ends[2] = {-1, -1};
    if (output && pipe(ends) != 0) return 127;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        if (output) {
            dup2(ends[1], 1);
            close(ends[0]);
            close(ends[1]);
        }
        replace_process(arguments);
    }
    if (output) {
        close(ends[1]);
        char block[65536];
        for (ssize_t got; (got = read(ends[0], block, sizeof block)) != 0;) {
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) break;
            output->append(block, static_cast<std::size_t>(got));
        }
        close(ends[0]);
    }
    if (child < 0) return 127;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int become(const std::vector<std::string>& arguments) {
    std::fflush(nullptr);
    replace_process(arguments);
}

scratch_folder::scratch_folder() {
    const char* folder = std::getenv("TMPDIR");
    m_path = std::string(folder && *folder ? folder : "/tmp") + "/causeway-cc-XXXXXX";
    if (!mkdtemp(m_path.data())) {
        std::fprintf(stderr, "causeway-cc: a folder for intermediate files, %s: %s\n", m_path.c_str(),
                     std::strerror(errno));
        std::exit(1);
    }
}

scratch_folder::~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

bool write_file(const std::string& path, const std::string& content) {
    std::ofstream file(path, std::ios::binary);
    file << content;
    file.close();
    if (file) return true;
    std::fprintf(stderr, "causeway-cc: %s: %s\n", path.c_str(), std::strerror(errno));
    return false;
}

} // namespace directive
