// SPDX-License-Identifier: Apache-2.0
// Keeps what the program has written, or begun to.
#include "written_files.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace causeway_run {

namespace {

using identity = std::pair<std::uint64_t, std::uint64_t>; // device, inode

struct written_files {
    std::set<std::string> paths;
    std::set<identity> files;
    std::map<identity, identity> stand_ins; // and whose
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

std::optional<identity> identity_of(int fd) {
    struct stat facts{};
    static auto* const ask = next<int(int, struct stat*)>("fstat");
    if (ask(fd, &facts) != 0) return std::nullopt;
    return identity{facts.st_dev, facts.st_ino};
}

} // namespace

std::string path_in(int folder, const char* path) {
    if (folder == AT_FDCWD || *path == '/') return path;
    return "/proc/self/fd/" + std::to_string(folder) + (*path == '\0' ? "" : "/") + path;
}

std::string own_name(std::string_view path) {
    if (!is_of_process(path)) return std::string(path); // MPI opens files as well, before rank 0 has told its number
    const auto told = "/proc/" + std::to_string(first_process()) + "/";
    return path.starts_with(told) ? "/proc/self/" + std::string(path.substr(told.size())) : std::string(path);
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
    const auto file = identity_of(fd);
    return file && is_written(file->first, file->second);
}

void remember_stand_in(int fd, std::uint64_t device, std::uint64_t inode) {
    const auto file = identity_of(fd);
    if (!file) return;
    written().files.insert(*file);
    written().stand_ins[*file] = {device, inode};
}

int stand_in_for(std::uint64_t device, std::uint64_t inode) {
    const identity wanted{device, inode};
    const auto& known = written().stand_ins;
    if (std::none_of(known.begin(), known.end(), [&](const auto& each) { return each.second == wanted; })) return -1;
    const std::unique_ptr<DIR, int (*)(DIR*)> open(next<DIR*(const char*)>("opendir")("/proc/self/fd"), ::closedir);
    while (const auto* const entry = open == nullptr ? nullptr : ::readdir(open.get())) {
        const int fd = std::atoi(entry->d_name); // "." gives 0
        const auto file = identity_of(fd);
        const auto found = file ? known.find(*file) : known.end();
        if (found != known.end() && found->second == wanted) return fd;
    }
    return -1;
}

int resize_for(const void* caller, const char* path, std::int64_t size, const std::function<int()>& act) {
    if (!is_programs_file(caller)) return act();
    const int code = once_for_all(act);
    if (code != 0 || !has_written_any()) return code;
    struct stat facts{};
    static auto* const ask = next<int(const char*, struct stat*)>("stat");
    identity file;
    if (is_rank_0() && ask(path, &facts) == 0) file = {facts.st_dev, facts.st_ino};
    take_of_rank_0(&file, sizeof file);
    const int open = is_rank_0() ? -1 : stand_in_for(file.first, file.second);
    return open < 0 ? code : ::ftruncate(open, size);
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
