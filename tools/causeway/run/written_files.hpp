// SPDX-License-Identifier: Apache-2.0
// Which files the program has written, by whatever name it asks for them; and what rank 0 does for all.
#pragma once

#include "rank_0.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

namespace causeway_run {

/// Resolves `path` against the folder descriptor.
[[nodiscard]] std::string path_in(int folder, const char* path);

/// Files are known by device and inode, and by canonical path, because another node may not see a new file at once. The
/// list changes only where all ranks meet, so that all give the same answer at the same point of the program.
void remember_written(const char* path);
/// An open file; `device` and `inode` are rank 0's.
void remember_written(std::uint64_t device, std::uint64_t inode);
[[nodiscard]] bool is_written(const char* path);
/// An open file, or what stands in for it.
[[nodiscard]] bool is_written(std::uint64_t device, std::uint64_t inode);
[[nodiscard]] bool has_written_any();

/// A descriptor on every rank, or the same failure: rank 0's is the file, the others' are in memory. `open_here` opens
/// the file itself; it may choose the name. A null path: the file has no known name. Collective.
int open_once(const char* path, int flags, const std::function<int()>& open_here, char* chosen = nullptr);
/// The result of the program's open(), in all its forms. `open_here` makes the call.
int open_for(const void* caller, const char* path, int flags, const std::function<int()>& open_here);
/// `move` moves bytes between descriptors in the kernel. A null offset: the descriptor's own position.
ssize_t move_for(const void* caller, int from, off64_t* from_offset, int to, off64_t* to_offset,
                 const std::function<ssize_t()>& move);

/// True for files in which the kernel describes the machine or the process. False for those about a process's memory,
/// which each rank answers for itself.
[[nodiscard]] bool is_of_system(std::string_view path);
/// True for a path below /proc/PID.
[[nodiscard]] inline bool is_of_process(std::string_view path) {
    return path.size() > 6 && path.starts_with("/proc/") && path[6] >= '0' && path[6] <= '9';
}

/// Waits until rank 0 has come this far, so that it has closed what the program has closed. Collective.
void wait_for_rank_0();
inline void wait_for_writer(const char* path) {
    if (is_written(path)) wait_for_rank_0();
}

inline bool is_standard(int fd) { return fd >= 0 && fd <= 2; }
/// True if the program writes the file or has written it.
[[nodiscard]] bool is_written(int fd);

/// `path`, with /proc/self for /proc/PID if that is rank 0's: the program was told that ID as its own.
[[nodiscard]] std::string own_name(std::string_view path);

/// Remembers that `fd` stands in for this file of rank 0.
void remember_stand_in(int fd, std::uint64_t device, std::uint64_t inode);
/// An open descriptor that stands in for rank 0's file; -1 if there is none.
[[nodiscard]] int stand_in_for(std::uint64_t device, std::uint64_t inode);
/// A call's result on an open file, and the `size` bytes that it filled: rank 0's if the program writes the file.
template <class Result> Result same_of_written(int fd, Result result, void* bytes, std::size_t size,
                                               const void* caller) {
    if (!asks_of_files(caller) || !is_written(fd)) return result;
    return static_cast<Result>(result_of_rank_0(static_cast<ssize_t>(result), bytes, size));
}
/// A call's return code and facts about an open file: rank 0's if it is a standard stream or the program writes it.
template <class Facts> int same_facts_of(int fd, int code, std::uint64_t device, std::uint64_t inode, Facts& facts,
                                         const void* caller) {
    if (!asks_of_files(caller)) return code;
    const bool is_same = is_standard(fd) || (code == 0 && is_written(device, inode));
    return is_same ? static_cast<int>(result_of_rank_0(code, &facts, sizeof facts)) : code;
}

/// Does `act` on rank 0 alone. Every rank gets its outcome, and the name that it may have chosen. Collective.
template <class Act> int once_for_all(Act act, char* chosen = nullptr) {
    struct {
        int code = 0;
        int error = 0;
    } told;
    meet(); // others may still read what is there
    if (is_rank_0()) {
        told.code = act();
        told.error = errno;
    }
    take_of_rank_0(&told, sizeof told);
    if (told.code < 0)
        errno = told.error;
    else if (chosen != nullptr)
        take_of_rank_0(chosen, std::strlen(chosen));
    return told.code;
}
template <class Act> int once(const void* caller, Act act, char* chosen = nullptr) {
    return is_programs_file(caller) ? once_for_all(act, chosen) : act();
}
/// As once(), for a call that gives a file the name `path`: the program has then written a file of that name.
template <class Act> int make_name(const void* caller, int folder, const char* path, Act act) {
    if (!is_programs_file(caller)) return act();
    const int code = once_for_all(act);
    if (code == 0) remember_written(path_in(folder, path).c_str());
    return code;
}
/// As once(), for a call that changes the size of a named file, which may be open.
int resize_for(const void* caller, const char* path, std::int64_t size, const std::function<int()>& act);

/// Asks the system about a path. If the program has written the file, or it is one of the kernel's, every rank gets
/// what the call returned and filled on rank 0. While rank 0 still writes, other ranks would see more or less of the
/// file.
template <class Ask> int ask_about(const void* caller, const char* path, Ask ask, int folder = AT_FDCWD,
                                   void* facts = nullptr, std::size_t size = 0) {
    const bool is_named = path != nullptr && *path != '\0';
    const bool is_same = is_named &&
                         (is_of_system(path) || is_of_process(path) ? asks_of_files(caller)
                                                                    : has_written_any() && is_programs_file(caller) &&
                                                                          is_written(path_in(folder, path).c_str()));
    return is_same ? static_cast<int>(result_of_rank_0(is_rank_0() ? ask() : 0, facts, size)) : ask();
}

/// The result of the program's statx(), in all its forms.
int stat_extended_for(const void* caller, int folder, const char* path, int flags, unsigned mask, void* facts);

} // namespace causeway_run
