// SPDX-License-Identifier: Apache-2.0
// Files that the program writes: rank 0 writes them, the others write into memory. A file that has been written is read
// when rank 0 has come as far.
#include "rank_0.hpp"
#include "standard_input.hpp"
#include "written_files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

using namespace causeway_run;

bool is_unnamed(int flags) { return (flags & O_TMPFILE) == O_TMPFILE; } // shares a bit with O_DIRECTORY
bool writes(int flags) {
    return (flags & O_PATH) == 0 && ((flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0);
}

int open_again(int fd, int flags) {
    const auto path = "/proc/self/fd/" + std::to_string(fd);
    return next<int(const char*, int, ...)>("open64")(path.c_str(), flags | O_CLOEXEC);
}

/// Of a file that is open, perhaps for reading alone or to append. Its position stays.
void fill(int fd, std::string_view contents) {
    if (contents.empty()) return;
    const int writing = open_again(fd, O_WRONLY);
    for (ssize_t moved = 1; moved > 0 && !contents.empty();) {
        moved = ::write(writing, contents.data(), contents.size());
        contents.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(moved, 0)));
    }
    if (writing >= 0) ::close(writing);
}

/// Of a file that is open, perhaps for writing alone.
std::string contents_of(int fd, std::size_t size) {
    std::string contents(size, '\0');
    const int reading = open_again(fd, O_RDONLY);
    for (std::size_t at = 0; at < size;) {
        const auto got = ::pread(reading, contents.data() + at, size - at, static_cast<off_t>(at));
        if (got <= 0) break;
        at += static_cast<std::size_t>(got);
    }
    if (reading >= 0) ::close(reading);
    return contents;
}

/// A file in memory; 0 or why there is none. What can only be written needs its size alone.
int make_copy(int& fd, int flags, std::int64_t size, std::string_view contents) {
    fd = memfd_create("causeway", MFD_CLOEXEC);
    if (fd < 0 || ::ftruncate(fd, size) != 0) return errno;
    fill(fd, contents);
    // With the rights that were asked for, and by the same number.
    const int opened = open_again(fd, flags & (O_ACCMODE | O_APPEND | O_NONBLOCK));
    if (opened < 0 || ::dup3(opened, fd, flags & O_CLOEXEC) < 0) return errno;
    ::close(opened);
    return 0;
}

/// The same file in memory once more, if it is open already.
bool open_stand_in_again(int& fd, int flags, std::uint64_t device, std::uint64_t inode, std::string_view contents) {
    const int known = stand_in_for(device, inode);
    if (known < 0) return false;
    const int opened = open_again(known, flags & (O_ACCMODE | O_APPEND | O_TRUNC | O_NONBLOCK));
    if (opened < 0) return false;
    fill(opened, contents);
    if ((flags & O_CLOEXEC) == 0) (void)::fcntl(opened, F_SETFD, 0);
    fd = opened;
    return true;
}

/// The descriptor that a link of the kernel names; -1 for other paths.
int descriptor_in(std::string_view path) {
    const auto own = own_name(path);
    path = own;
    for (const std::string_view folder : {"/proc/self/fd/", "/dev/fd/"}) {
        if (!path.starts_with(folder)) continue;
        const auto digits = path.substr(folder.size());
        int fd = -1;
        const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), fd).ptr;
        return end == digits.data() + digits.size() ? fd : -1;
    }
    return -1;
}

/// Such a link leads to other files on the other ranks.
bool is_link_to_open_file(std::string_view path) {
    const auto slash = path.rfind('/');
    return path.starts_with("/dev/std") ||
           ((path.starts_with("/proc/") || path.starts_with("/dev/")) && path.substr(0, slash).ends_with("/fd"));
}

/// What was in a file before it was opened for writing alone, of which a stand-in has the size: for those who open that
/// again to read.
void fill_stand_in(int fd) {
    struct {
        std::int64_t is_incomplete = 0, size = 0;
    } told;
    if (is_rank_0()) {
        struct stat facts{};
        const bool is_there = ::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
        told = {is_there && (::fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY, facts.st_size};
    }
    take_of_rank_0(&told, sizeof told);
    const auto size = static_cast<std::size_t>(told.size);
    if (told.is_incomplete == 0 || size == 0) return;
    auto contents = is_rank_0() ? contents_of(fd, size) : std::string(size, '\0');
    take_of_rank_0(contents.data(), size);
    if (!is_rank_0()) fill(fd, contents);
}

/// Memory that each rank has of its own, and opens once more.
bool is_own_memory(int fd) { return !is_written(fd) && ::fcntl(fd, F_GET_SEALS) >= 0; }

/// Before a file is opened to be read.
void await_contents(const char* path) {
    if (const int fd = descriptor_in(path); fd >= 0 && is_written(fd)) fill_stand_in(fd);
    wait_for_writer(path);
}

} // namespace

int causeway_run::open_once(const char* path, int flags, const std::function<int()>& open_here, char* chosen) {
    struct {
        std::int64_t error = 0;
        std::int64_t size = 0;
        std::uint64_t device = 0, inode = 0;
        std::int64_t is_file = 0, is_memory = 0;
    } told;
    int fd = -1;
    meet(); // others may still read what is there
    if (is_rank_0()) {
        fd = open_here();
        struct stat facts{};
        if (fd < 0)
            told.error = errno;
        else if (::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
            told = {0, facts.st_size, facts.st_dev, facts.st_ino, 1, 0};
        else if (S_ISCHR(facts.st_mode) && major(facts.st_rdev) == 1) // memory: /dev/full, /dev/zero and their like
            told.is_memory = 1;
    }
    take_of_rank_0(&told, sizeof told);
    if (told.error == 0 && chosen != nullptr) take_of_rank_0(chosen, std::strlen(chosen));
    if (told.error == 0 && told.is_file != 0) {
        remember_written(told.device, told.inode);
        if (path != nullptr && !is_unnamed(flags) && !is_link_to_open_file(path)) remember_written(path);
    }
    const auto size = static_cast<std::size_t>(told.size);
    std::string contents;
    if (told.error == 0 && (flags & O_ACCMODE) != O_WRONLY && size != 0) {
        contents = is_rank_0() ? contents_of(fd, size) : std::string(size, '\0');
        take_of_rank_0(contents.data(), size);
    }
    int error = static_cast<int>(told.error);
    const auto stand_in = [&] {
        if (told.is_file != 0) {
            if (open_stand_in_again(fd, flags, told.device, told.inode, contents)) return 0;
            const int failed = make_copy(fd, flags, told.size, contents);
            if (failed == 0) remember_stand_in(fd, told.device, told.inode);
            return failed;
        }
        static auto* const open_large = next<int(const char*, int, ...)>("open64");
        if (told.is_memory != 0) fd = open_large(path, flags & ~(O_CREAT | O_EXCL));
        if (fd < 0) fd = open_large("/dev/null", O_RDWR | (flags & O_CLOEXEC)); // for a device or a pipe
        return fd < 0 ? errno : 0;
    };
    if (error == 0) error = agree(is_rank_0() ? 0 : stand_in());
    if (error == 0) return fd;
    if (fd >= 0) ::close(fd);
    errno = error;
    return -1;
}

bool causeway_run::is_of_system(std::string_view path) {
    if (path.starts_with("/sys/")) return true;
    if (!path.starts_with("/proc/")) return false;
    for (const std::string_view own :
         {"/fd", "/exe", "/root", "/cwd", "/ns/", "maps", "/mem", "/auxv", "/pagemap", "/stack"})
        if (path.find(own, 6) != std::string_view::npos && !path.ends_with("/meminfo")) return false;
    return true;
}

namespace {

/// What rank 0 reads there, as a file in memory on every rank; -2 for what is no file.
int open_as_rank_0(const char* path, int flags) {
    struct {
        std::int64_t error = 0, size = 0, is_file = 0;
    } told;
    std::string contents;
    if (is_rank_0()) {
        const int fd = next<int(const char*, int, ...)>("open64")(path, flags);
        struct stat facts{};
        if (fd < 0)
            told.error = errno;
        else if (::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)) {
            constexpr std::size_t most = 64 << 20, step = 65536;
            for (ssize_t got = 1; got > 0 && contents.size() < most;) {
                const auto at = contents.size();
                contents.resize(at + step);
                got = ::pread(fd, contents.data() + at, step, static_cast<off_t>(at));
                contents.resize(at + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
            }
            told.is_file = 1;
            told.size = static_cast<std::int64_t>(contents.size());
        }
        if (fd >= 0) ::close(fd);
    }
    take_of_rank_0(&told, sizeof told);
    if (told.error == 0 && told.is_file == 0) return -2;
    contents.resize(static_cast<std::size_t>(told.size));
    if (told.size != 0) take_of_rank_0(contents.data(), contents.size());
    int fd = -1;
    int error = static_cast<int>(told.error);
    if (error == 0) error = agree(make_copy(fd, flags, told.size, contents));
    if (error == 0) return fd;
    if (fd >= 0) ::close(fd);
    errno = error;
    return -1;
}

} // namespace

int causeway_run::open_for(const void* caller, const char* path, int flags, const std::function<int()>& open_here) {
    if (!is_programs_file(caller)) return open_here();
    if (const int known = descriptor_in(path); writes(flags) && known >= 0 && is_own_memory(known)) return open_here();
    if (writes(flags)) return open_once(path, flags, open_here);
    if (is_of_system(path) && (flags & (O_PATH | O_DIRECTORY)) == 0 && has_begun())
        if (const int fd = open_as_rank_0(path, flags); fd != -2) return fd;
    await_contents(path);
    if (!is_of_process(path)) return open_here();
    return next<int(const char*, int, ...)>("open64")(own_name(path).c_str(), flags);
}

namespace {

using open_function = int(const char*, int, ...);
int open_file(open_function* real, const void* caller, const char* path, int flags, mode_t mode) {
    return open_for(caller, path, flags, [&] { return real(path, flags, mode); });
}

using openat_function = int(int, const char*, int, ...);
int open_file_in(openat_function* real, const void* caller, int folder, const char* path, int flags, mode_t mode) {
    const auto open_here = [&] { return real(folder, path, flags, mode); };
    return is_programs_file(caller) ? open_for(caller, path_in(folder, path).c_str(), flags, open_here) : open_here();
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
    const cookie_io_functions_t calls = {[](void* of, char* bytes, std::size_t size) {
                                             return read_of_rank_0(::fileno(static_cast<std::FILE*>(of)), bytes, size);
                                         },
                                         nullptr, nullptr,
                                         [](void* of) { return std::fclose(static_cast<std::FILE*>(of)); }};
    return fopencookie(real, "r", calls);
}

using fopen_function = std::FILE*(const char*, const char*);
std::FILE* open_stream(fopen_function* real, const void* caller, const char* path, const char* mode) {
    if (!is_programs_file(caller)) return real(path, mode);
    const auto flags = flags_of(mode);
    if (!writes(flags)) {
        if (is_of_system(path) && has_begun())
            if (const int fd = open_as_rank_0(path, flags); fd != -2) return fd < 0 ? nullptr : ::fdopen(fd, mode);
        await_contents(path);
        auto* const made = is_of_process(path) ? real(own_name(path).c_str(), mode) : real(path, mode);
        return made != nullptr && is_chance(path) && is_programs(caller) ? stream_of_rank_0(made) : made;
    }
    const int fd = open_once(path, flags, [&] { return next<open_function>("open64")(path, flags, 0666); });
    return fd < 0 ? nullptr : ::fdopen(fd, mode);
}

using freopen_function = std::FILE*(const char*, const char*, std::FILE*);
std::FILE* reopen_stream(freopen_function* real, const void* caller, const char* path, const char* mode,
                         std::FILE* of) {
    if (is_replaced_stdin(of)) {
        if (path == nullptr) return of; // is rank 0's, whatever it is called
        of = give_stdin_back(); // the C library reopens descriptors, and ours has none
    }
    if (path == nullptr || !is_programs_file(caller)) return real(path, mode, of);
    const auto flags = flags_of(mode);
    int fd = -2;
    if (writes(flags))
        fd = open_once(path, flags, [&] { return next<open_function>("open64")(path, flags, 0666); });
    else if (is_of_system(path) && has_begun())
        fd = open_as_rank_0(path, flags);
    if (fd == -2) {
        await_contents(path);
        return real(path, mode, of);
    }
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

/// mkstemp and its like: rank 0 chooses the name.
template <class Make> int make_temporary(const void* caller, char* name, int flags, Make make) {
    if (!is_programs_file(caller)) return make();
    return open_once(name, O_RDWR | O_CREAT | O_EXCL | flags, make, name);
}

mode_t mode_of(int flags, std::va_list list) {
    return (flags & O_CREAT) != 0 || is_unnamed(flags) ? va_arg(list, mode_t) : 0;
}

/// Moves `size` bytes from descriptor to descriptor, as the kernel has done on rank 0. A null offset is the position.
void move_bytes(int from, off64_t* from_offset, int to, off64_t* to_offset, std::size_t size) {
    std::array<char, 65536> room;
    while (size != 0) {
        const auto most = std::min(size, room.size());
        const auto got = from_offset != nullptr ? ::pread64(from, room.data(), most, *from_offset)
                                                : ::read(from, room.data(), most);
        if (got <= 0) return;
        const auto bytes = static_cast<std::size_t>(got);
        const auto put = to_offset != nullptr ? ::pwrite64(to, room.data(), bytes, *to_offset)
                                              : ::write(to, room.data(), bytes);
        if (put != got) return;
        if (from_offset != nullptr) *from_offset += got;
        if (to_offset != nullptr) *to_offset += got;
        size -= bytes;
    }
}

} // namespace

/// Kinds of files matter to the kernel, and the other ranks have other ones: rank 0 says how much moves.
ssize_t causeway_run::move_for(const void* caller, int from, off64_t* from_offset, int to, off64_t* to_offset,
                               const std::function<ssize_t()>& move) {
    if (!is_programs_file(caller)) return move();
    const auto moved = result_of_rank_0(is_rank_0() ? move() : 0, nullptr, 0);
    if (!is_rank_0() && moved > 0) move_bytes(from, from_offset, to, to_offset, static_cast<std::size_t>(moved));
    return moved;
}

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
int creat_large(const char* path, mode_t mode) asm("creat64");
int creat_large(const char* path, mode_t mode) {
    static auto* const ask = next<open_function>("open64");
    return open_file(ask, CAUSEWAY_CALLER, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
int openat_small(int folder, const char* path, int flags, ...) asm("openat");
int openat_small(int folder, const char* path, int flags, ...) {
    static auto* const ask = next<openat_function>("openat");
    std::va_list list;
    va_start(list, flags);
    const auto mode = mode_of(flags, list);
    va_end(list);
    return open_file_in(ask, CAUSEWAY_CALLER, folder, path, flags, mode);
}
int openat_large(int folder, const char* path, int flags, ...) asm("openat64");
int openat_large(int folder, const char* path, int flags, ...) {
    static auto* const ask = next<openat_function>("openat64");
    std::va_list list;
    va_start(list, flags);
    const auto mode = mode_of(flags, list);
    va_end(list);
    return open_file_in(ask, CAUSEWAY_CALLER, folder, path, flags, mode);
}
int openat_small_checked(int folder, const char* path, int flags) asm("__openat_2");
int openat_small_checked(int folder, const char* path, int flags) {
    static auto* const ask = next<openat_function>("openat");
    return open_file_in(ask, CAUSEWAY_CALLER, folder, path, flags, 0);
}
int openat_large_checked(int folder, const char* path, int flags) asm("__openat64_2");
int openat_large_checked(int folder, const char* path, int flags) {
    static auto* const ask = next<openat_function>("openat64");
    return open_file_in(ask, CAUSEWAY_CALLER, folder, path, flags, 0);
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
// By a handle, as servers of files do.
int handle_of(int folder, const char* path, file_handle* handle, int* mount, int flags) noexcept
    asm("name_to_handle_at");
int handle_of(int folder, const char* path, file_handle* handle, int* mount, int flags) noexcept {
    static auto* const ask = next<int(int, const char*, file_handle*, int*, int)>("name_to_handle_at");
    if (!asks_of_files(CAUSEWAY_CALLER)) return ask(folder, path, handle, mount, flags);
    const auto room = sizeof *handle + handle->handle_bytes;
    const auto code = result_of_rank_0(is_rank_0() ? ask(folder, path, handle, mount, flags) : 0, handle, room);
    take_of_rank_0(&handle->handle_bytes, sizeof handle->handle_bytes); // also how many there are, where room lacks
    take_of_rank_0(mount, sizeof *mount);
    return static_cast<int>(code);
}
int open_handle(int mount, file_handle* handle, int flags) asm("open_by_handle_at");
int open_handle(int mount, file_handle* handle, int flags) {
    static auto* const ask = next<int(int, file_handle*, int)>("open_by_handle_at");
    if (!is_programs_file(CAUSEWAY_CALLER)) return ask(mount, handle, flags);
    if (writes(flags)) return open_once(nullptr, flags, [&] { return ask(mount, handle, flags); });
    if (has_written_any()) wait_for_rank_0();
    return ask(mount, handle, flags);
}

ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, std::size_t size, unsigned flags) {
    static auto* const ask = next<decltype(copy_file_range)>("copy_file_range");
    return move_for(CAUSEWAY_CALLER, from, from_offset, to, to_offset,
                    [&] { return ask(from, from_offset, to, to_offset, size, flags); });
}
ssize_t sendfile_small(int to, int from, off64_t* offset, std::size_t size) noexcept asm("sendfile"); // off_t is as
                                                                                                      // large here
ssize_t sendfile_small(int to, int from, off64_t* offset, std::size_t size) noexcept {
    static auto* const ask = next<ssize_t(int, int, off64_t*, std::size_t)>("sendfile");
    return move_for(CAUSEWAY_CALLER, from, offset, to, nullptr, [&] { return ask(to, from, offset, size); });
}
ssize_t sendfile_large(int to, int from, off64_t* offset, std::size_t size) noexcept asm("sendfile64");
ssize_t sendfile_large(int to, int from, off64_t* offset, std::size_t size) noexcept {
    static auto* const ask = next<ssize_t(int, int, off64_t*, std::size_t)>("sendfile64");
    return move_for(CAUSEWAY_CALLER, from, offset, to, nullptr, [&] { return ask(to, from, offset, size); });
}

} // extern "C"
#pragma GCC visibility pop
