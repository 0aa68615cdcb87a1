// SPDX-License-Identifier: Apache-2.0
// Calls that change names of files, or what is known of them, in all their forms: rank 0 makes them, for all.
#include "rank_0.hpp"
#include "written_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <ctime>

using namespace causeway_run;

#define CAUSEWAY_CALLER __builtin_return_address(0)
#define CAUSEWAY_NEXT(name) static auto* const ask = next<decltype(name)>(#name)

#pragma GCC visibility push(default)
extern "C" {

int remove(const char* path) noexcept {
    CAUSEWAY_NEXT(remove);
    return once(CAUSEWAY_CALLER, [&] { return ask(path); });
}
int unlink(const char* path) noexcept {
    CAUSEWAY_NEXT(unlink);
    return once(CAUSEWAY_CALLER, [&] { return ask(path); });
}
int unlinkat(int folder, const char* path, int flags) noexcept {
    CAUSEWAY_NEXT(unlinkat);
    return once(CAUSEWAY_CALLER, [&] { return ask(folder, path, flags); });
}
int rmdir(const char* path) noexcept {
    CAUSEWAY_NEXT(rmdir);
    return once(CAUSEWAY_CALLER, [&] { return ask(path); });
}

int rename(const char* from, const char* to) noexcept {
    CAUSEWAY_NEXT(rename);
    return make_name(CAUSEWAY_CALLER, AT_FDCWD, to, [&] { return ask(from, to); });
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
    CAUSEWAY_NEXT(renameat);
    return make_name(CAUSEWAY_CALLER, to_folder, to, [&] { return ask(from_folder, from, to_folder, to); });
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
    CAUSEWAY_NEXT(renameat2);
    return make_name(CAUSEWAY_CALLER, to_folder, to, [&] { return ask(from_folder, from, to_folder, to, flags); });
}
int link(const char* from, const char* to) noexcept {
    CAUSEWAY_NEXT(link);
    return make_name(CAUSEWAY_CALLER, AT_FDCWD, to, [&] { return ask(from, to); });
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
    CAUSEWAY_NEXT(linkat);
    return make_name(CAUSEWAY_CALLER, to_folder, to, [&] { return ask(from_folder, from, to_folder, to, flags); });
}
int symlink(const char* to, const char* path) noexcept {
    CAUSEWAY_NEXT(symlink);
    return once(CAUSEWAY_CALLER, [&] { return ask(to, path); });
}
int symlinkat(const char* to, int folder, const char* path) noexcept {
    CAUSEWAY_NEXT(symlinkat);
    return once(CAUSEWAY_CALLER, [&] { return ask(to, folder, path); });
}

int mkdir(const char* path, mode_t mode) noexcept {
    CAUSEWAY_NEXT(mkdir);
    return once(CAUSEWAY_CALLER, [&] { return ask(path, mode); });
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
    CAUSEWAY_NEXT(mkdirat);
    return once(CAUSEWAY_CALLER, [&] { return ask(folder, path, mode); });
}
int mkfifo(const char* path, mode_t mode) noexcept {
    CAUSEWAY_NEXT(mkfifo);
    return once(CAUSEWAY_CALLER, [&] { return ask(path, mode); });
}
int mkfifoat(int folder, const char* path, mode_t mode) noexcept {
    CAUSEWAY_NEXT(mkfifoat);
    return once(CAUSEWAY_CALLER, [&] { return ask(folder, path, mode); });
}
int mknod(const char* path, mode_t mode, dev_t device) noexcept {
    CAUSEWAY_NEXT(mknod);
    return once(CAUSEWAY_CALLER, [&] { return ask(path, mode, device); });
}
int mknodat(int folder, const char* path, mode_t mode, dev_t device) noexcept {
    CAUSEWAY_NEXT(mknodat);
    return once(CAUSEWAY_CALLER, [&] { return ask(folder, path, mode, device); });
}

// By their names for the linker: headers may mean truncate64 by truncate.
int truncate_small(const char* path, off_t size) noexcept asm("truncate");
int truncate_small(const char* path, off_t size) noexcept {
    static auto* const ask = next<int(const char*, off_t)>("truncate");
    return resize_for(CAUSEWAY_CALLER, path, size, [&] { return ask(path, size); });
}
int truncate_large(const char* path, std::int64_t size) noexcept asm("truncate64");
int truncate_large(const char* path, std::int64_t size) noexcept {
    static auto* const ask = next<int(const char*, std::int64_t)>("truncate64");
    return resize_for(CAUSEWAY_CALLER, path, size, [&] { return ask(path, size); });
}

int chmod(const char* path, mode_t mode) noexcept {
    CAUSEWAY_NEXT(chmod);
    return once(CAUSEWAY_CALLER, [&] { return ask(path, mode); });
}
int fchmod(int fd, mode_t mode) noexcept {
    CAUSEWAY_NEXT(fchmod);
    return once(CAUSEWAY_CALLER, [&] { return ask(fd, mode); });
}
int fchmodat(int folder, const char* path, mode_t mode, int flags) noexcept {
    CAUSEWAY_NEXT(fchmodat);
    return once(CAUSEWAY_CALLER, [&] { return ask(folder, path, mode, flags); });
}
int chown(const char* path, uid_t user, gid_t group) noexcept {
    CAUSEWAY_NEXT(chown);
    return once(CAUSEWAY_CALLER, [&] { return ask(path, user, group); });
}
int lchown(const char* path, uid_t user, gid_t group) noexcept {
    CAUSEWAY_NEXT(lchown);
    return once(CAUSEWAY_CALLER, [&] { return ask(path, user, group); });
}
int fchown(int fd, uid_t user, gid_t group) noexcept {
    CAUSEWAY_NEXT(fchown);
    return once(CAUSEWAY_CALLER, [&] { return ask(fd, user, group); });
}
int fchownat(int folder, const char* path, uid_t user, gid_t group, int flags) noexcept {
    CAUSEWAY_NEXT(fchownat);
    return once(CAUSEWAY_CALLER, [&] { return ask(folder, path, user, group, flags); });
}

// Times. Structures by their names for the linker, as headers have some of them under other ones.
int set_times_old(const char* path, const void* times) noexcept asm("utime");
int set_times_old(const char* path, const void* times) noexcept {
    static auto* const ask = next<int(const char*, const void*)>("utime");
    return once(CAUSEWAY_CALLER, [&] { return ask(path, times); });
}
int set_times(const char* path, const void* times) noexcept asm("utimes");
int set_times(const char* path, const void* times) noexcept {
    static auto* const ask = next<int(const char*, const void*)>("utimes");
    return once(CAUSEWAY_CALLER, [&] { return ask(path, times); });
}
int set_times_of_link(const char* path, const void* times) noexcept asm("lutimes");
int set_times_of_link(const char* path, const void* times) noexcept {
    static auto* const ask = next<int(const char*, const void*)>("lutimes");
    return once(CAUSEWAY_CALLER, [&] { return ask(path, times); });
}
int set_times_at(int folder, const char* path, const void* times) noexcept asm("futimesat");
int set_times_at(int folder, const char* path, const void* times) noexcept {
    static auto* const ask = next<int(int, const char*, const void*)>("futimesat");
    return once(CAUSEWAY_CALLER, [&] { return ask(folder, path, times); });
}
int set_times_exactly(int folder, const char* path, const void* times, int flags) noexcept asm("utimensat");
int set_times_exactly(int folder, const char* path, const void* times, int flags) noexcept {
    static auto* const ask = next<int(int, const char*, const void*, int)>("utimensat");
    return once(CAUSEWAY_CALLER, [&] { return ask(folder, path, times, flags); });
}
int set_times_of_open(int fd, const void* times) noexcept asm("futimens");
int set_times_of_open(int fd, const void* times) noexcept {
    static auto* const ask = next<int(int, const void*)>("futimens");
    return once(CAUSEWAY_CALLER, [&] { return ask(fd, times); });
}
int set_times_of_open_old(int fd, const void* times) noexcept asm("futimes");
int set_times_of_open_old(int fd, const void* times) noexcept {
    static auto* const ask = next<int(int, const void*)>("futimes");
    return once(CAUSEWAY_CALLER, [&] { return ask(fd, times); });
}

int set_attribute(const char* path, const char* name, const void* value, std::size_t size, int flags) noexcept
    asm("setxattr");
int set_attribute(const char* path, const char* name, const void* value, std::size_t size, int flags) noexcept {
    static auto* const ask = next<int(const char*, const char*, const void*, std::size_t, int)>("setxattr");
    return once(CAUSEWAY_CALLER, [&] { return ask(path, name, value, size, flags); });
}
int set_attribute_of_link(const char* path, const char* name, const void* value, std::size_t size, int flags) noexcept
    asm("lsetxattr");
int set_attribute_of_link(const char* path, const char* name, const void* value, std::size_t size, int flags) noexcept {
    static auto* const ask = next<int(const char*, const char*, const void*, std::size_t, int)>("lsetxattr");
    return once(CAUSEWAY_CALLER, [&] { return ask(path, name, value, size, flags); });
}
int set_attribute_of_open(int fd, const char* name, const void* value, std::size_t size, int flags) noexcept
    asm("fsetxattr");
int set_attribute_of_open(int fd, const char* name, const void* value, std::size_t size, int flags) noexcept {
    static auto* const ask = next<int(int, const char*, const void*, std::size_t, int)>("fsetxattr");
    return once(CAUSEWAY_CALLER, [&] { return ask(fd, name, value, size, flags); });
}
int remove_attribute(const char* path, const char* name) noexcept asm("removexattr");
int remove_attribute(const char* path, const char* name) noexcept {
    static auto* const ask = next<int(const char*, const char*)>("removexattr");
    return once(CAUSEWAY_CALLER, [&] { return ask(path, name); });
}
int remove_attribute_of_link(const char* path, const char* name) noexcept asm("lremovexattr");
int remove_attribute_of_link(const char* path, const char* name) noexcept {
    static auto* const ask = next<int(const char*, const char*)>("lremovexattr");
    return once(CAUSEWAY_CALLER, [&] { return ask(path, name); });
}
int remove_attribute_of_open(int fd, const char* name) noexcept asm("fremovexattr");
int remove_attribute_of_open(int fd, const char* name) noexcept {
    static auto* const ask = next<int(int, const char*)>("fremovexattr");
    return once(CAUSEWAY_CALLER, [&] { return ask(fd, name); });
}

// Names alone, which nobody holds.
char* mktemp(char* name) noexcept {
    CAUSEWAY_NEXT(mktemp);
    if (once(CAUSEWAY_CALLER, [&] { return *ask(name) == '\0' ? -1 : 0; }, name) != 0) *name = '\0';
    return name;
}
char* tmpnam(char* room) noexcept {
    CAUSEWAY_NEXT(tmpnam);
    auto* const name = ask(room);
    if (name != nullptr && is_programs_file(CAUSEWAY_CALLER)) take_of_rank_0(name, L_tmpnam);
    return name;
}
char* tempnam(const char* folder, const char* prefix) noexcept {
    CAUSEWAY_NEXT(tempnam);
    auto* const name = ask(folder, prefix);
    if (name != nullptr && is_programs_file(CAUSEWAY_CALLER)) take_of_rank_0(name, std::strlen(name));
    return name;
}
char* mkdtemp(char* name) noexcept {
    CAUSEWAY_NEXT(mkdtemp);
    return once(CAUSEWAY_CALLER, [&] { return ask(name) == nullptr ? -1 : 0; }, name) == 0 ? name : nullptr;
}

} // extern "C"
#pragma GCC visibility pop
