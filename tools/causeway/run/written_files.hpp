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

/// Files are known by device and inode, and, as another node may not see a new file at once, by canonical path. Names
/// change only where the ranks meet, so that all of them say the same of a path at the same point of the program.
void remember_written(const char* path);
/// An open file; `device` and `inode` are rank 0's.
void remember_written(std::uint64_t device, std::uint64_t inode);
[[nodiscard]] bool is_written(const char* path);
/// An open file, or what stands in for it.
[[nodiscard]] bool is_written(std::uint64_t device, std::uint64_t inode);
[[nodiscard]] bool has_written_any();

/// A descriptor on every rank, or the same failure: rank 0's is the file, the others' are in memory. `open_here` opens
/// the file itself; it may choose the name. A null path is one that nobody knows. Collective.
int open_once(const char* path, int flags, const std::function<int()>& open_here, char* chosen = nullptr);
/// What a program's open() gives in all its forms. `open_here` makes the call.
int open_for(const void* caller, const char* path, int flags, const std::function<int()>& open_here);
/// `move` moves bytes from descriptor to descriptor in the kernel. A null offset is the position.
ssize_t move_for(const void* caller, int from, off64_t* from_offset, int to, off64_t* to_offset,
                 const std::function<ssize_t()>& move);

/// Text of the kernel about the machine and the process. What holds for the memory of one process alone is each rank's
/// own.
[[nodiscard]] bool is_of_system(std::string_view path);
/// Of a process that is named by a number.
[[nodiscard]] inline bool is_of_process(std::string_view path) {
    return path.size() > 6 && path.starts_with("/proc/") && path[6] >= '0' && path[6] <= '9';
}

/// Waits until rank 0 has come as far: it has closed what the program has closed. Collective.
void wait_for_rank_0();
inline void wait_for_writer(const char* path) {
    if (is_written(path)) wait_for_rank_0();
}

inline bool is_standard(int fd) { return fd >= 0 && fd <= 2; }
/// The program writes it, or has.
[[nodiscard]] bool is_written(int fd);

/// Below /proc, by the number that it has been told, the program means itself: the rank's own name for that, or `path`.
[[nodiscard]] std::string own_name(std::string_view path);

/// Keeps which of rank 0's files an open one stands in for.
void remember_stand_in(int fd, std::uint64_t device, std::uint64_t inode);
/// An open descriptor of what stands in for rank 0's file; -1 where there is none.
[[nodiscard]] int stand_in_for(std::uint64_t device, std::uint64_t inode);
/// What a call has said of an open file, and the `size` bytes that it has filled: rank 0's if the program writes it.
template <class Result> Result same_of_written(int fd, Result result, void* bytes, std::size_t size,
                                               const void* caller) {
    if (!asks_of_files(caller) || !is_written(fd)) return result;
    return static_cast<Result>(result_of_rank_0(static_cast<ssize_t>(result), bytes, size));
}
/// What a call has returned, and filled, about an open file: rank 0's if it is a standard one or the program writes it.
template <class Facts> int same_facts_of(int fd, int code, std::uint64_t device, std::uint64_t inode, Facts& facts,
                                         const void* caller) {
    if (!asks_of_files(caller)) return code;
    const bool is_same = is_standard(fd) || (code == 0 && is_written(device, inode));
    return is_same ? static_cast<int>(result_of_rank_0(code, &facts, sizeof facts)) : code;
}

/// What rank 0 alone does: its outcome on every rank, and the name that it may have chosen. Collective.
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
/// As once(), for what makes a name: the file that it names is one that the program has written, by this name as well.
template <class Act> int make_name(const void* caller, int folder, const char* path, Act act) {
    if (!is_programs_file(caller)) return act();
    const int code = once_for_all(act);
    if (code == 0) remember_written(path_in(folder, path).c_str());
    return code;
}
/// As once(), for what gives the file of a name another size, also where it is open.
int resize_for(const void* caller, const char* path, std::int64_t size, const std::function<int()>& act);

/// Asks the system about a path. Of what the program has written, rank 0 says what the call returns, and the `size`
/// bytes that it fills: rank 0 may still write, and the others would see more or less of that. Of the kernel's own
/// files it says so, too.
template <class Ask> int ask_about(const void* caller, const char* path, Ask ask, int folder = AT_FDCWD,
                                   void* facts = nullptr, std::size_t size = 0) {
    const bool is_named = path != nullptr && *path != '\0';
    const bool is_same = is_named &&
                         (is_of_system(path) || is_of_process(path) ? asks_of_files(caller)
                                                                    : has_written_any() && is_programs_file(caller) &&
                                                                          is_written(path_in(folder, path).c_str()));
    return is_same ? static_cast<int>(result_of_rank_0(is_rank_0() ? ask() : 0, facts, size)) : ask();
}

/// What a program's statx() gives in all its forms.
int stat_extended_for(const void* caller, int folder, const char* path, int flags, unsigned mask, void* facts);

} // namespace causeway_run
