// SPDX-License-Identifier: Apache-2.0
// Shared by the functions that `causeway run` interposes: who calls, and what rank 0 answers.
#pragma once

#include <dlfcn.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <ctime>

namespace causeway_run {

/// The interposed function of this name.
template <class Function> Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Fills `bytes` with random numbers that are the same on all ranks, from a seed that the launcher has given out.
/// Python seeds its random numbers when it imports the module, perhaps before OpenCL's loader is there. Does nothing
/// once the loader is there, or for callers other than the program.
void fill_before_opencl(void* bytes, std::size_t size, const void* caller);

/// Where the library or executable that has the address begins; null if none has it.
[[nodiscard]] const void* library_of(const void* address);

/// Whether rank 0 answers a call: it comes from the program's first thread, and the process uses OpenCL (the shell that
/// starts it does not). An interpreter's library and extension modules count as the program.
[[nodiscard]] bool is_programs(const void* caller);
/// As is_programs(), but if the C++ library calls, its caller decides: streams belong to the program or to drivers.
/// Libraries by which programs keep their data count as well.
[[nodiscard]] bool is_programs_file(const void* caller);
/// As is_programs(), for any caller.
[[nodiscard]] bool is_in_program();
/// Whether Python asks for the time on its own account: while it waits for a lock, or in its modules for threads. How
/// often it does so differs between ranks. While it waits it does not hold its interpreter's lock, which it holds where
/// the program asks. (Names of functions do not tell, because most of those that wait are not exported.)
[[nodiscard]] bool waits_in_python(const void* caller);
/// Records that the program was given another time than its own clock's, so that its timed waits can correct for it.
void note_time(clockid_t which, std::int64_t own_ns, std::int64_t told_ns);
/// Whether main() runs: an allocator may ask for processors before that, where nobody can wait for other ranks.
[[nodiscard]] bool has_begun();
/// Whether rank 0 answers, and main() runs.
[[nodiscard]] inline bool asks(const void* caller) { return has_begun() && is_programs(caller); }

/// Whether rank 0 answers what is asked of files, and main() runs.
[[nodiscard]] inline bool asks_of_files(const void* caller) { return has_begun() && is_programs_file(caller); }

/// Whether this is rank 0, of a cluster. Joins it.
[[nodiscard]] bool is_rank_0();
/// Process ID of rank 0. It never changes, so the ranks need not ask at the same places: Python asks whenever it begins
/// a thread, and how many it begins is chance.
[[nodiscard]] int first_process();
/// Synchronises the ranks; returns the first code, in rank order, that is not 0. Collective.
int agree(int code);
inline void meet() { (void)agree(0); }
/// Broadcasts rank 0's `size` bytes at `data`. Collective.
void take_of_rank_0(void* data, std::size_t size);
/// Rank 0 reads from `fd`; every rank gets its result. Collective.
ssize_t read_of_rank_0(int fd, void* bytes, std::size_t size);

/// Gives every rank what rank 0's call returned, errno, and, if that is not negative, the `size` bytes that it filled.
/// A call that failed on another rank does not matter. Collective.
ssize_t result_of_rank_0(ssize_t result, void* bytes, std::size_t size);

template <class Value> Value same(Value value, const void* caller) {
    if (is_programs(caller)) take_of_rank_0(&value, sizeof value);
    return value;
}

} // namespace causeway_run
