// SPDX-License-Identifier: Apache-2.0
// Files that the program writes: rank 0 writes them, the others write into memory. A file that has been written is read
// when rank 0 has come as far.
#include "rank_0.hpp"
#include "standard_input.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

namespace {

using namespace causeway_run;

/// In calls that may not throw.
std::string key_of(const char* path) {
    std::error_code no_folder;
    const auto whole = std::filesystem::absolute(path, no_folder);
    return (no_folder ? std::filesystem::path(path) : whole).lexically_normal().string();
}

/// What the program has written, or begun to.
std::set<std::string>& written() {
    static auto& paths = *new std::set<std::string>; // programs write while they end
    return paths;
}

bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0; }

void fill(int fd, std::string_view contents) {
    while (!contents.empty()) {
        const auto moved = ::write(fd, contents.data(), contents.size());
        if (moved <= 0) return;
        contents.remove_prefix(static_cast<std::size_t>(moved));
    }
    ::lseek(fd, 0, SEEK_SET);
}

std::string contents_of(const char* path, std::size_t size) {
    std::string contents(size, '\0');
    if (auto* const file = std::fopen(path, "r")) {
        contents.resize(std::fread(contents.data(), 1, size, file));
        std::fclose(file);
    }
    contents.resize(size);
    return contents;
}

/// A file in memory; 0 or why there is none. What can only be written needs its size alone.
int make_copy(int& fd, int flags, std::int64_t size, std::string_view contents) {
    fd = memfd_create("causeway", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
    if (fd < 0 || ::ftruncate(fd, size) != 0) return errno;
    fill(fd, contents);
    return (flags & O_APPEND) != 0 && ::fcntl(fd, F_SETFL, O_APPEND) != 0 ? errno : 0;
}

/// A descriptor on every rank, or the same failure. `open_here` opens the file itself; it may choose the name.
template <class Open> int open_once(const char* path, int flags, Open open_here, char* chosen = nullptr) {
    struct {
        std::int64_t error = 0;
        std::int64_t size = 0;
    } told;
    int fd = -1;
    meet(); // others may still read what is there
    if (is_rank_0()) {
        fd = open_here();
        struct stat facts {};
        if (fd < 0)
            told.error = errno;
        else if (::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
            told.size = facts.st_size;
    }
    take_of_rank_0(&told, sizeof told);
    if (told.error == 0 && chosen != nullptr) take_of_rank_0(chosen, std::strlen(chosen));
    if (told.error == 0) written().insert(key_of(path));
    const auto size = static_cast<std::size_t>(told.size);
    std::string contents;
    if (told.error == 0 && (flags & O_ACCMODE) != O_WRONLY && size != 0) {
        contents = is_rank_0() ? contents_of(path, size) : std::string(size, '\0');
        take_of_rank_0(contents.data(), size);
    }
    int error = static_cast<int>(told.error);
    if (error == 0) error = agree(is_rank_0() ? 0 : make_copy(fd, flags, told.size, contents));
    if (error == 0) return fd;
    if (fd >= 0) ::close(fd);
    errno = error;
    return -1;
}

/// Waits until rank 0 has closed what it has written there.
void wait_for_writer(const char* path) {
    if (written().empty() || !written().contains(key_of(path))) return;
    char nothing = 0;
    take_of_rank_0(&nothing, sizeof nothing);
}

using open_function = int(const char*, int, ...);
int open_file(open_function* real, const void* caller, const char* path, int flags, mode_t mode) {
    if (!is_programs_file(caller)) return real(path, flags, mode);
    if (writes(flags)) return open_once(path, flags, [&] { return real(path, flags, mode); });
    wait_for_writer(path);
    return real(path, flags, mode);
}

int flags_of(std::string_view mode) {
    const bool both = mode.find('+') != std::string_view::npos;
    int flags = both ? O_RDWR : mode.front() == 'r' ? O_RDONLY : O_WRONLY;
    if (mode.front() != 'r') flags |= O_CREAT; // fdopen appends
    if (mode.front() == 'w') flags |= O_TRUNC;
    if (mode.find('x') != std::string_view::npos) flags |= O_EXCL;
    if (mode.find('e') != std::string_view::npos) flags |= O_CLOEXEC;
    return flags;
}

bool is_chance(std::string_view path) { return path == "/dev/random" || path == "/dev/urandom"; }

/// The C library's own streams read by calls that nobody can stand in front of; those of C++ call read().
std::FILE* stream_of_rank_0(std::FILE* real) {
    const cookie_io_functions_t calls = {
        [](void* of, char* bytes, std::size_t size) {
            return read_of_rank_0(::fileno(static_cast<std::FILE*>(of)), bytes, size);
        },
        nullptr, nullptr, [](void* of) { return std::fclose(static_cast<std::FILE*>(of)); }};
    return fopencookie(real, "r", calls);
}

using fopen_function = std::FILE*(const char*, const char*);
std::FILE* open_stream(fopen_function* real, const void* caller, const char* path, const char* mode) {
    if (!is_programs_file(caller)) return real(path, mode);
    const auto flags = flags_of(mode);
    if (!writes(flags)) {
        wait_for_writer(path);
        auto* const made = real(path, mode);
        return made != nullptr && is_chance(path) && is_programs(caller) ? stream_of_rank_0(made) : made;
    }
    const int fd = open_once(path, flags, [&] { return next<open_function>("open64")(path, flags, 0666); });
    return fd < 0 ? nullptr : ::fdopen(fd, mode);
}

using freopen_function = std::FILE*(const char*, const char*, std::FILE*);
std::FILE* reopen_stream(freopen_function* real, const void* caller, const char* path, const char* mode, std::FILE* of) {
    if (is_replaced_stdin(of)) {
        if (path == nullptr) return of; // is rank 0's, whatever it is called
        of = give_stdin_back(); // the C library reopens descriptors, and ours has none
    }
    if (path == nullptr || !is_programs_file(caller)) return real(path, mode, of);
    const auto flags = flags_of(mode);
    if (!writes(flags)) {
        wait_for_writer(path);
        return real(path, mode, of);
    }
    const int fd = open_once(path, flags, [&] { return next<open_function>("open64")(path, flags, 0666); });
    if (fd < 0) {
        const int error = errno;
        (void)real("", "r", of); // fails and closes, but keeps the stream, which the program may still close
        errno = error;
        return nullptr;
    }
    std::string again = mode;
    std::erase(again, 'x'); // it is there now
    auto* const made = real(("/proc/self/fd/" + std::to_string(fd)).c_str(), again.c_str(), of);
    ::close(fd);
    return made;
}

/// What rank 0 alone does: its outcome on every rank, and the name that it may have chosen.
template <class Act> int once(const void* caller, Act act, char* chosen = nullptr) {
    if (!is_programs_file(caller)) return act();
    struct {
        int code = 0;
        int error = 0;
    } told;
    meet(); // as above
    if (is_rank_0()) {
        told.code = act();
        told.error = errno;
    }
    take_of_rank_0(&told, sizeof told);
    if (told.code != 0) errno = told.error;
    else if (chosen != nullptr) take_of_rank_0(chosen, std::strlen(chosen));
    return told.code;
}

/// Asks the system about a path, which the program may have written.
template <class Ask> int ask_about(const void* caller, const char* path, Ask ask, int folder = AT_FDCWD) {
    const bool is_named = path != nullptr && *path != '\0' && (folder == AT_FDCWD || *path == '/');
    if (is_named && is_programs_file(caller)) wait_for_writer(path);
    return ask();
}

/// mkstemp and its like: rank 0 chooses the name.
template <class Make> int make_temporary(const void* caller, char* name, int flags, Make make) {
    if (!is_programs_file(caller)) return make();
    return open_once(name, O_RDWR | O_CREAT | O_EXCL | flags, make, name);
}

mode_t mode_of(int flags, std::va_list list) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
}

} // namespace

#define CAUSEWAY_CALLER __builtin_return_address(0)

#pragma GCC visibility push(default)
extern "C" {

// By their names for the linker: headers may mean open64 by open.
int open_small(const char* path, int flags, ...) asm("open");
int open_small(const char* path, int flags, ...) {
    static auto* const ask = next<open_function>("open");
    std::va_list list;
    va_start(list, flags);
    const auto mode = mode_of(flags, list);
    va_end(list);
    return open_file(ask, CAUSEWAY_CALLER, path, flags, mode);
}
int open_large(const char* path, int flags, ...) asm("open64");
int open_large(const char* path, int flags, ...) {
    static auto* const ask = next<open_function>("open64");
    std::va_list list;
    va_start(list, flags);
    const auto mode = mode_of(flags, list);
    va_end(list);
    return open_file(ask, CAUSEWAY_CALLER, path, flags, mode);
}
// What headers make of open() where the flags are not known when a program is compiled (_FORTIFY_SOURCE).
int open_small_checked(const char* path, int flags) asm("__open_2");
int open_small_checked(const char* path, int flags) {
    static auto* const ask = next<open_function>("open");
    return open_file(ask, CAUSEWAY_CALLER, path, flags, 0);
}
int open_large_checked(const char* path, int flags) asm("__open64_2");
int open_large_checked(const char* path, int flags) {
    static auto* const ask = next<open_function>("open64");
    return open_file(ask, CAUSEWAY_CALLER, path, flags, 0);
}
int creat_small(const char* path, mode_t mode) asm("creat");
int creat_small(const char* path, mode_t mode) {
    static auto* const ask = next<open_function>("open");
    return open_file(ask, CAUSEWAY_CALLER, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
std::FILE* fopen_small(const char* path, const char* mode) asm("fopen");
std::FILE* fopen_small(const char* path, const char* mode) {
    static auto* const ask = next<fopen_function>("fopen");
    return open_stream(ask, CAUSEWAY_CALLER, path, mode);
}
std::FILE* fopen_large(const char* path, const char* mode) asm("fopen64");
std::FILE* fopen_large(const char* path, const char* mode) {
    static auto* const ask = next<fopen_function>("fopen64");
    return open_stream(ask, CAUSEWAY_CALLER, path, mode);
}

std::FILE* freopen_small(const char* path, const char* mode, std::FILE* of) asm("freopen");
std::FILE* freopen_small(const char* path, const char* mode, std::FILE* of) {
    static auto* const ask = next<freopen_function>("freopen");
    return reopen_stream(ask, CAUSEWAY_CALLER, path, mode, of);
}
std::FILE* freopen_large(const char* path, const char* mode, std::FILE* of) asm("freopen64");
std::FILE* freopen_large(const char* path, const char* mode, std::FILE* of) {
    static auto* const ask = next<freopen_function>("freopen64");
    return reopen_stream(ask, CAUSEWAY_CALLER, path, mode, of);
}

int access(const char* path, int how) noexcept {
    static auto* const ask = next<int(const char*, int)>("access");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(path, how); });
}
int faccessat(int folder, const char* path, int how, int flags) noexcept {
    static auto* const ask = next<int(int, const char*, int, int)>("faccessat");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(folder, path, how, flags); }, folder);
}
int stat_small(const char* path, void* facts) noexcept asm("stat");
int stat_small(const char* path, void* facts) noexcept {
    static auto* const ask = next<int(const char*, void*)>("stat");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(path, facts); });
}
int stat_large(const char* path, void* facts) noexcept asm("stat64");
int stat_large(const char* path, void* facts) noexcept {
    static auto* const ask = next<int(const char*, void*)>("stat64");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(path, facts); });
}
int lstat_small(const char* path, void* facts) noexcept asm("lstat");
int lstat_small(const char* path, void* facts) noexcept {
    static auto* const ask = next<int(const char*, void*)>("lstat");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(path, facts); });
}
int lstat_large(const char* path, void* facts) noexcept asm("lstat64");
int lstat_large(const char* path, void* facts) noexcept {
    static auto* const ask = next<int(const char*, void*)>("lstat64");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(path, facts); });
}
int fstatat_small(int folder, const char* path, void* facts, int flags) noexcept asm("fstatat");
int fstatat_small(int folder, const char* path, void* facts, int flags) noexcept {
    static auto* const ask = next<int(int, const char*, void*, int)>("fstatat");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(folder, path, facts, flags); }, folder);
}
int fstatat_large(int folder, const char* path, void* facts, int flags) noexcept asm("fstatat64");
int fstatat_large(int folder, const char* path, void* facts, int flags) noexcept {
    static auto* const ask = next<int(int, const char*, void*, int)>("fstatat64");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(folder, path, facts, flags); }, folder);
}
int stat_extended(int folder, const char* path, int flags, unsigned mask, void* facts) noexcept asm("statx");
int stat_extended(int folder, const char* path, int flags, unsigned mask, void* facts) noexcept {
    static auto* const ask = next<int(int, const char*, int, unsigned, void*)>("statx");
    return ask_about(CAUSEWAY_CALLER, path, [&] { return ask(folder, path, flags, mask, facts); }, folder);
}

int remove(const char* path) noexcept {
    static auto* const ask = next<int(const char*)>("remove");
    return once(CAUSEWAY_CALLER, [&] { return ask(path); });
}
int unlink(const char* path) noexcept {
    static auto* const ask = next<int(const char*)>("unlink");
    return once(CAUSEWAY_CALLER, [&] { return ask(path); });
}
int rmdir(const char* path) noexcept {
    static auto* const ask = next<int(const char*)>("rmdir");
    return once(CAUSEWAY_CALLER, [&] { return ask(path); });
}
int rename(const char* from, const char* to) noexcept {
    static auto* const ask = next<int(const char*, const char*)>("rename");
    return once(CAUSEWAY_CALLER, [&] { return ask(from, to); });
}
int mkdir(const char* path, mode_t mode) noexcept {
    static auto* const ask = next<int(const char*, mode_t)>("mkdir");
    return once(CAUSEWAY_CALLER, [&] { return ask(path, mode); });
}

int mkfifo(const char* path, mode_t mode) noexcept {
    static auto* const ask = next<int(const char*, mode_t)>("mkfifo");
    return once(CAUSEWAY_CALLER, [&] { return ask(path, mode); });
}
int symlink(const char* to, const char* path) noexcept {
    static auto* const ask = next<int(const char*, const char*)>("symlink");
    return once(CAUSEWAY_CALLER, [&] { return ask(to, path); });
}
int link(const char* from, const char* to) noexcept {
    static auto* const ask = next<int(const char*, const char*)>("link");
    return once(CAUSEWAY_CALLER, [&] { return ask(from, to); });
}
int truncate_small(const char* path, off_t size) noexcept asm("truncate");
int truncate_small(const char* path, off_t size) noexcept {
    static auto* const ask = next<int(const char*, off_t)>("truncate");
    return once(CAUSEWAY_CALLER, [&] { return ask(path, size); });
}
int truncate_large(const char* path, std::int64_t size) noexcept asm("truncate64");
int truncate_large(const char* path, std::int64_t size) noexcept {
    static auto* const ask = next<int(const char*, std::int64_t)>("truncate64");
    return once(CAUSEWAY_CALLER, [&] { return ask(path, size); });
}

// Names alone, which nobody holds.
char* mktemp(char* name) noexcept {
    static auto* const ask = next<char*(char*)>("mktemp");
    if (once(CAUSEWAY_CALLER, [&] { return *ask(name) == '\0' ? -1 : 0; }, name) != 0) *name = '\0';
    return name;
}
char* tmpnam(char* room) noexcept {
    static auto* const ask = next<char*(char*)>("tmpnam");
    auto* const name = ask(room);
    if (name != nullptr && is_programs_file(CAUSEWAY_CALLER)) take_of_rank_0(name, L_tmpnam);
    return name;
}

int mkstemp_small(char* name) asm("mkstemp");
int mkstemp_small(char* name) {
    static auto* const ask = next<int(char*)>("mkstemp");
    return make_temporary(CAUSEWAY_CALLER, name, 0, [&] { return ask(name); });
}
int mkstemp_large(char* name) asm("mkstemp64");
int mkstemp_large(char* name) {
    static auto* const ask = next<int(char*)>("mkstemp64");
    return make_temporary(CAUSEWAY_CALLER, name, 0, [&] { return ask(name); });
}
int mkostemp_small(char* name, int flags) asm("mkostemp");
int mkostemp_small(char* name, int flags) {
    static auto* const ask = next<int(char*, int)>("mkostemp");
    return make_temporary(CAUSEWAY_CALLER, name, flags, [&] { return ask(name, flags); });
}
int mkostemp_large(char* name, int flags) asm("mkostemp64");
int mkostemp_large(char* name, int flags) {
    static auto* const ask = next<int(char*, int)>("mkostemp64");
    return make_temporary(CAUSEWAY_CALLER, name, flags, [&] { return ask(name, flags); });
}
int mkstemps_small(char* name, int suffix) asm("mkstemps");
int mkstemps_small(char* name, int suffix) {
    static auto* const ask = next<int(char*, int)>("mkstemps");
    return make_temporary(CAUSEWAY_CALLER, name, 0, [&] { return ask(name, suffix); });
}
int mkstemps_large(char* name, int suffix) asm("mkstemps64");
int mkstemps_large(char* name, int suffix) {
    static auto* const ask = next<int(char*, int)>("mkstemps64");
    return make_temporary(CAUSEWAY_CALLER, name, 0, [&] { return ask(name, suffix); });
}
int mkostemps_small(char* name, int suffix, int flags) asm("mkostemps");
int mkostemps_small(char* name, int suffix, int flags) {
    static auto* const ask = next<int(char*, int, int)>("mkostemps");
    return make_temporary(CAUSEWAY_CALLER, name, flags, [&] { return ask(name, suffix, flags); });
}
int mkostemps_large(char* name, int suffix, int flags) asm("mkostemps64");
int mkostemps_large(char* name, int suffix, int flags) {
    static auto* const ask = next<int(char*, int, int)>("mkostemps64");
    return make_temporary(CAUSEWAY_CALLER, name, flags, [&] { return ask(name, suffix, flags); });
}
char* mkdtemp(char* name) noexcept {
    static auto* const ask = next<char*(char*)>("mkdtemp");
    return once(CAUSEWAY_CALLER, [&] { return ask(name) == nullptr ? -1 : 0; }, name) == 0 ? name : nullptr;
}

} // extern "C"
#pragma GCC visibility pop
