// SPDX-License-Identifier: Apache-2.0
// Keeps what the program has written, or begun to.
#include "written_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <set>
#include <utility>

namespace causeway_run {

namespace {

using identity = std::pair<std::uint64_t, std::uint64_t>; // device, inode

struct written_files {
    std::set<std::string> paths;
    std::set<identity> files;
};

written_files& written() {
    static auto& all = *new written_files; // programs write while they end
    return all;
}

std::string resolved(const std::string& path) {
    char room[PATH_MAX];
    return ::realpath(path.c_str(), room) == nullptr ? std::string() : room;
}

/// Without links, also of a file that is not there. The C library's own functions, as the C++ library's are in front of
/// us.
std::string canonical(const std::string& path) {
    if (auto whole = resolved(path); !whole.empty()) return whole;
    const auto slash = path.rfind('/');
    const auto folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    const auto name = slash == std::string::npos ? path : path.substr(slash + 1);
    const auto above = resolved(folder);
    return above.empty() ? path : above + "/" + name;
}

} // namespace

std::string path_in(int folder, const char* path) {
    if (folder == AT_FDCWD || *path == '/') return path;
    return "/proc/self/fd/" + std::to_string(folder) + (*path == '\0' ? "" : "/") + path;
}

void remember_written(const char* path) {
    written().paths.insert(canonical(path));
    struct stat facts{};
    static auto* const ask = next<int(const char*, struct stat*)>("stat");
    if (ask(path, &facts) == 0) remember_written(facts.st_dev, facts.st_ino);
}

void remember_written(std::uint64_t device, std::uint64_t inode) { written().files.emplace(device, inode); }

bool is_written(std::uint64_t device, std::uint64_t inode) { return written().files.contains({device, inode}); }

bool is_written(int fd) {
    struct stat facts{};
    static auto* const ask = next<int(int, struct stat*)>("fstat");
    return ask(fd, &facts) == 0 && is_written(facts.st_dev, facts.st_ino);
}

bool has_written_any() { return !written().paths.empty() || !written().files.empty(); }

bool is_written(const char* path) {
    if (!has_written_any()) return false;
    struct stat facts{};
    static auto* const ask = next<int(const char*, struct stat*)>("stat");
    if (ask(path, &facts) == 0 && is_written(facts.st_dev, facts.st_ino)) return true;
    return written().paths.contains(canonical(path));
}

void wait_for_rank_0() {
    char nothing = 0;
    take_of_rank_0(&nothing, sizeof nothing);
}

} // namespace causeway_run
