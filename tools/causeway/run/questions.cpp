// SPDX-License-Identifier: Apache-2.0
// What the program asks about names of files: rank 0 answers for those that the program writes and for the kernel's,
// and where links of the kernel lead.
#include "rank_0.hpp"
#include "written_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

using namespace causeway_run;

/// Goes through folders, and asks about what is there by calls that nobody can stand in front of.
template <class Walk> auto walk(const void* caller, Walk walk_here) {
    if (has_written_any() && is_programs_file(caller)) wait_for_rank_0();
    return walk_here();
}

/// Asks about a path in a folder, or, where it is empty, about the open file itself.
template <class Ask> int ask_in(const void* caller, int folder, const char* path, struct stat& facts, Ask ask) {
    if (path == nullptr || *path != '\0') return ask_about(caller, path, ask, folder, &facts, sizeof facts);
    const int code = ask();
    return same_facts_of(folder, code, facts.st_dev, facts.st_ino, facts, caller);
}

/// Links of the kernel name processes, terminals, and files in memory, which are each rank's own.
bool is_link_of_kernel(std::string_view path) {
    if (path.starts_with("/dev/fd") || path.starts_with("/dev/std")) return true;
    if (!path.starts_with("/proc/")) return false;
    for (const std::string_view same : {"/proc/self/exe", "/proc/self/cwd", "/proc/self/root"})
        if (path == same) return false;
    return true;
}
template <class Ask> ssize_t read_link(const void* caller, std::string_view path, char* room, std::size_t size,
                                       Ask ask) {
    if (!is_link_of_kernel(path) || !asks_of_files(caller)) return ask();
    const auto told = result_of_rank_0(is_rank_0() ? ask() : 0, nullptr, 0);
    if (told > 0) take_of_rank_0(room, std::min(static_cast<std::size_t>(told), size));
    return told;
}
/// `room` is null, or has PATH_MAX bytes.
template <class Ask> char* find_path(const void* caller, const char* path, char* room, Ask ask) {
    auto* const found = ask(room);
    if (path == nullptr || !is_link_of_kernel(path) || !asks_of_files(caller)) return found;
    char text[PATH_MAX] = "";
    if (found != nullptr) std::strncpy(text, found, sizeof text - 1);
    if (room == nullptr) std::free(found);
    if (result_of_rank_0(found == nullptr ? -1 : 0, text, sizeof text) < 0) return nullptr;
    return room == nullptr ? ::strdup(text) : std::strcpy(room, text);
}

} // namespace

int causeway_run::stat_extended_for(const void* caller, int folder, const char* path, int flags, unsigned mask,
                                    void* facts) {
    static auto* const ask = next<int(int, const char*, int, unsigned, void*)>("statx");
    const auto ask_here = [&] { return ask(folder, path, flags, mask, facts); };
    if (path == nullptr || *path != '\0') return ask_about(caller, path, ask_here, folder, facts, sizeof(struct statx));
    const int code = ask_here();
    auto& found = *static_cast<struct statx*>(facts);
    return same_facts_of(folder, code, makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino, found, caller);
}

#define CAUSEWAY_CALLER __builtin_return_address(0)

#pragma GCC visibility push(default)
extern "C" {

int access(const char* path, int how) noexcept {
    static auto* const ask = next<int(const char*, int)>("access");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(path, how); });
}
int euidaccess(const char* path, int how) noexcept {
    static auto* const ask = next<int(const char*, int)>("euidaccess");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(path, how); });
}
int eaccess(const char* path, int how) noexcept {
    static auto* const ask = next<int(const char*, int)>("eaccess");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(path, how); });
}
int faccessat(int folder, const char* path, int how, int flags) noexcept {
    static auto* const ask = next<int(int, const char*, int, int)>("faccessat");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(folder, path, how, flags); }, folder);
}
int stat_small(const char* path, void* facts) noexcept asm("stat");
int stat_small(const char* path, void* facts) noexcept {
    static auto* const ask = next<int(const char*, void*)>("stat");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(path, facts); }, AT_FDCWD, facts, sizeof(struct stat));
}
int stat_large(const char* path, void* facts) noexcept asm("stat64");
int stat_large(const char* path, void* facts) noexcept {
    static auto* const ask = next<int(const char*, void*)>("stat64");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(path, facts); }, AT_FDCWD, facts, sizeof(struct stat));
}
int lstat_small(const char* path, void* facts) noexcept asm("lstat");
int lstat_small(const char* path, void* facts) noexcept {
    static auto* const ask = next<int(const char*, void*)>("lstat");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(path, facts); }, AT_FDCWD, facts, sizeof(struct stat));
}
int lstat_large(const char* path, void* facts) noexcept asm("lstat64");
int lstat_large(const char* path, void* facts) noexcept {
    static auto* const ask = next<int(const char*, void*)>("lstat64");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(path, facts); }, AT_FDCWD, facts, sizeof(struct stat));
}
/// An open file, or one in a folder. By rank 0, if it is the program's.
int fstatat_small(int folder, const char* path, struct stat* facts, int flags) noexcept asm("fstatat");
int fstatat_small(int folder, const char* path, struct stat* facts, int flags) noexcept {
    static auto* const ask = next<int(int, const char*, struct stat*, int)>("fstatat");
    return ask_in(CAUSEWAY_CALLER, folder, path, *facts, [&] { return ask(folder, path, facts, flags); });
}
int fstatat_large(int folder, const char* path, struct stat* facts, int flags) noexcept asm("fstatat64");
int fstatat_large(int folder, const char* path, struct stat* facts, int flags) noexcept {
    static auto* const ask = next<int(int, const char*, struct stat*, int)>("fstatat64");
    return ask_in(CAUSEWAY_CALLER, folder, path, *facts, [&] { return ask(folder, path, facts, flags); });
}
int stat_extended(int folder, const char* path, int flags, unsigned mask, void* facts) noexcept asm("statx");
int stat_extended(int folder, const char* path, int flags, unsigned mask, void* facts) noexcept {
    return causeway_run::stat_extended_for(CAUSEWAY_CALLER, folder, path, flags, mask, facts);
}

// What programs that were compiled against a C library before 2.33 call.
int stat_versioned(int version, const char* path, void* facts) noexcept asm("__xstat");
int stat_versioned(int version, const char* path, void* facts) noexcept {
    static auto* const ask = next<int(int, const char*, void*)>("__xstat");
    return ask_about(
        CAUSEWAY_CALLER, path, [&] { return ask(version, path, facts); }, AT_FDCWD, facts, sizeof(struct stat));
}
int stat_large_versioned(int version, const char* path, void* facts) noexcept asm("__xstat64");
int stat_large_versioned(int version, const char* path, void* facts) noexcept {
    static auto* const ask = next<int(int, const char*, void*)>("__xstat64");
    return ask_about(
        CAUSEWAY_CALLER, path, [&] { return ask(version, path, facts); }, AT_FDCWD, facts, sizeof(struct stat));
}
int lstat_versioned(int version, const char* path, void* facts) noexcept asm("__lxstat");
int lstat_versioned(int version, const char* path, void* facts) noexcept {
    static auto* const ask = next<int(int, const char*, void*)>("__lxstat");
    return ask_about(
        CAUSEWAY_CALLER, path, [&] { return ask(version, path, facts); }, AT_FDCWD, facts, sizeof(struct stat));
}
int lstat_large_versioned(int version, const char* path, void* facts) noexcept asm("__lxstat64");
int lstat_large_versioned(int version, const char* path, void* facts) noexcept {
    static auto* const ask = next<int(int, const char*, void*)>("__lxstat64");
    return ask_about(
        CAUSEWAY_CALLER, path, [&] { return ask(version, path, facts); }, AT_FDCWD, facts, sizeof(struct stat));
}
int fstatat_versioned(int version, int folder, const char* path, struct stat* facts, int flags) noexcept
    asm("__fxstatat");
int fstatat_versioned(int version, int folder, const char* path, struct stat* facts, int flags) noexcept {
    static auto* const ask = next<int(int, int, const char*, struct stat*, int)>("__fxstatat");
    return ask_in(CAUSEWAY_CALLER, folder, path, *facts, [&] { return ask(version, folder, path, facts, flags); });
}
int fstatat_large_versioned(int version, int folder, const char* path, struct stat* facts, int flags) noexcept
    asm("__fxstatat64");
int fstatat_large_versioned(int version, int folder, const char* path, struct stat* facts, int flags) noexcept {
    static auto* const ask = next<int(int, int, const char*, struct stat*, int)>("__fxstatat64");
    return ask_in(CAUSEWAY_CALLER, folder, path, *facts, [&] { return ask(version, folder, path, facts, flags); });
}
int fstat_versioned(int version, int fd, struct stat* facts) noexcept asm("__fxstat");
int fstat_versioned(int version, int fd, struct stat* facts) noexcept {
    static auto* const ask = next<int(int, int, struct stat*)>("__fxstat");
    const int code = ask(version, fd, facts);
    return same_facts_of(fd, code, facts->st_dev, facts->st_ino, *facts, CAUSEWAY_CALLER);
}
int fstat_large_versioned(int version, int fd, struct stat* facts) noexcept asm("__fxstat64");
int fstat_large_versioned(int version, int fd, struct stat* facts) noexcept {
    static auto* const ask = next<int(int, int, struct stat*)>("__fxstat64");
    const int code = ask(version, fd, facts);
    return same_facts_of(fd, code, facts->st_dev, facts->st_ino, *facts, CAUSEWAY_CALLER);
}

int glob_small(const char* pattern, int flags, int (*error)(const char*, int), void* found) asm("glob");
int glob_small(const char* pattern, int flags, int (*error)(const char*, int), void* found) {
    static auto* const ask = next<int(const char*, int, int (*)(const char*, int), void*)>("glob");
    return walk(CAUSEWAY_CALLER, [&] { return ask(pattern, flags, error, found); });
}
int glob_large(const char* pattern, int flags, int (*error)(const char*, int), void* found) asm("glob64");
int glob_large(const char* pattern, int flags, int (*error)(const char*, int), void* found) {
    static auto* const ask = next<int(const char*, int, int (*)(const char*, int), void*)>("glob64");
    return walk(CAUSEWAY_CALLER, [&] { return ask(pattern, flags, error, found); });
}
int ftw_small(const char* path, void* visit, int most) asm("ftw");
int ftw_small(const char* path, void* visit, int most) {
    static auto* const ask = next<int(const char*, void*, int)>("ftw");
    return walk(CAUSEWAY_CALLER, [&] { return ask(path, visit, most); });
}
int ftw_large(const char* path, void* visit, int most) asm("ftw64");
int ftw_large(const char* path, void* visit, int most) {
    static auto* const ask = next<int(const char*, void*, int)>("ftw64");
    return walk(CAUSEWAY_CALLER, [&] { return ask(path, visit, most); });
}
int nftw_small(const char* path, void* visit, int most, int flags) asm("nftw");
int nftw_small(const char* path, void* visit, int most, int flags) {
    static auto* const ask = next<int(const char*, void*, int, int)>("nftw");
    return walk(CAUSEWAY_CALLER, [&] { return ask(path, visit, most, flags); });
}
int nftw_large(const char* path, void* visit, int most, int flags) asm("nftw64");
int nftw_large(const char* path, void* visit, int most, int flags) {
    static auto* const ask = next<int(const char*, void*, int, int)>("nftw64");
    return walk(CAUSEWAY_CALLER, [&] { return ask(path, visit, most, flags); });
}
void* fts_read_small(void* tree) asm("fts_read");
void* fts_read_small(void* tree) {
    static auto* const ask = next<void*(void*)>("fts_read");
    return walk(CAUSEWAY_CALLER, [&] { return ask(tree); });
}
void* fts_children_small(void* tree, int how) asm("fts_children");
void* fts_children_small(void* tree, int how) {
    static auto* const ask = next<void*(void*, int)>("fts_children");
    return walk(CAUSEWAY_CALLER, [&] { return ask(tree, how); });
}
void* fts_children_large(void* tree, int how) asm("fts64_children");
void* fts_children_large(void* tree, int how) {
    static auto* const ask = next<void*(void*, int)>("fts64_children");
    return walk(CAUSEWAY_CALLER, [&] { return ask(tree, how); });
}
void* fts_read_large(void* tree) asm("fts64_read");
void* fts_read_large(void* tree) {
    static auto* const ask = next<void*(void*)>("fts64_read");
    return walk(CAUSEWAY_CALLER, [&] { return ask(tree); });
}

DIR* opendir(const char* path) {
    static auto* const ask = next<DIR*(const char*)>("opendir");
    const bool is_own = is_of_process(path) && asks_of_files(CAUSEWAY_CALLER);
    return is_own ? ask(own_name(path).c_str()) : ask(path);
}

ssize_t readlink(const char* path, char* room, std::size_t size) noexcept {
    static auto* const ask = next<ssize_t(const char*, char*, std::size_t)>("readlink");
    return read_link(CAUSEWAY_CALLER, path, room, size, [&] { return ask(path, room, size); });
}
ssize_t readlinkat(int folder, const char* path, char* room, std::size_t size) noexcept {
    static auto* const ask = next<ssize_t(int, const char*, char*, std::size_t)>("readlinkat");
    return read_link(CAUSEWAY_CALLER, path, room, size, [&] { return ask(folder, path, room, size); });
}
// What headers make of these where they know how large `room` is (_FORTIFY_SOURCE).
ssize_t readlink_checked(const char* path, char* room, std::size_t size, std::size_t most) asm("__readlink_chk");
ssize_t readlink_checked(const char* path, char* room, std::size_t size, std::size_t most) {
    static auto* const ask = next<ssize_t(const char*, char*, std::size_t, std::size_t)>("__readlink_chk");
    return read_link(CAUSEWAY_CALLER, path, room, size, [&] { return ask(path, room, size, most); });
}
ssize_t readlinkat_checked(int folder, const char* path, char* room, std::size_t size,
                           std::size_t most) asm("__readlinkat_chk");
ssize_t readlinkat_checked(int folder, const char* path, char* room, std::size_t size, std::size_t most) {
    static auto* const ask = next<ssize_t(int, const char*, char*, std::size_t, std::size_t)>("__readlinkat_chk");
    return read_link(CAUSEWAY_CALLER, path, room, size, [&] { return ask(folder, path, room, size, most); });
}
char* realpath(const char* path, char* room) noexcept {
    static auto* const ask = next<char*(const char*, char*)>("realpath");
    return find_path(CAUSEWAY_CALLER, path, room, [&](char* to) { return ask(path, to); });
}
char* realpath_checked(const char* path, char* room, std::size_t most) asm("__realpath_chk");
char* realpath_checked(const char* path, char* room, std::size_t most) {
    static auto* const ask = next<char*(const char*, char*, std::size_t)>("__realpath_chk");
    return find_path(CAUSEWAY_CALLER, path, room, [&](char* to) { return ask(path, to, most); });
}
char* canonicalize_file_name(const char* path) noexcept {
    static auto* const ask = next<char*(const char*)>("canonicalize_file_name");
    return find_path(CAUSEWAY_CALLER, path, nullptr, [&](char*) { return ask(path); });
}

} // extern "C"
#pragma GCC visibility pop
