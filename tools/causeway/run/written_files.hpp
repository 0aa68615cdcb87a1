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

namespace causeway_run {

/// A path that means the same without the folder's descriptor.
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
/// the file itself; it may choose the name. Collective.
int open_once(const char* path, int flags, const std::function<int()>& open_here, char* chosen = nullptr);

/// Waits until rank 0 has come as far: it has closed what the program has closed. Collective.
void wait_for_rank_0();
inline void wait_for_writer(const char* path) {
    if (is_written(path)) wait_for_rank_0();
}

inline bool is_standard(int fd) { return fd >= 0 && fd <= 2; }
/// The program writes it, or has.
[[nodiscard]] bool is_written(int fd);
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

} // namespace causeway_run
