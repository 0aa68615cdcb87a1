// SPDX-License-Identifier: Apache-2.0
// Other pages at the same addresses, with the same contents (mremap(2)).
#include "oshmem/globals.hpp"

#include "base/error.hpp"

#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <exception>

namespace causeway::oshmem {

namespace {

constexpr std::size_t page = 4096;

/// The program's own writable memory: initialised variables and those that are zero.
struct range {
    std::uintptr_t first = 0, end = 0;
};
range globals_of_program() {
    range found;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* into) {
            auto& all = *static_cast<range*>(into);
            range read_only;
            for (int i = 0; i < object->dlpi_phnum; ++i) {
                const auto& part = object->dlpi_phdr[i];
                const auto first = object->dlpi_addr + part.p_vaddr;
                if (part.p_type == PT_LOAD && (part.p_flags & PF_W) != 0) all = {first, first + part.p_memsz};
                if (part.p_type == PT_GNU_RELRO) read_only = {first, first + part.p_memsz};
            }
            // What the loader has made read-only holds no variables. The rest begins at a page.
            if (read_only.first >= all.first && read_only.end <= all.end) all.first = read_only.end;
            all.first = all.first / page * page;
            if (all.first < read_only.end) all.first = (read_only.end + page - 1) / page * page;
            all.end = (all.end + page - 1) / page * page;
            return 1; // the first is the program
        },
        &found);
    return found;
}

/// To memory that is zero, whose pages stay untouched where there are zeros.
void copy(std::uint64_t* to, std::uintptr_t first, std::size_t bytes) {
    // By words: an address sanitizer refuses memcpy between the program's variables, where it keeps room.
    const auto* const from = reinterpret_cast<const volatile std::uint64_t*>(first); // NOLINT
    for (std::size_t i = 0; i < bytes / sizeof *to; ++i)
        if (const auto word = from[i]; word != 0) to[i] = word;
}

/// False, and errno.
bool move(void* memory, const shared_globals& to) {
    auto* const target = reinterpret_cast<void*>(to.first); // NOLINT(performance-no-int-to-ptr)
    return ::mremap(memory, to.bytes, to.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) != MAP_FAILED;
}

constinit shared_globals the_globals;
// Handlers of forks by several threads may take turns.
thread_local void* copy_for_child = MAP_FAILED;

void before_fork() {
    copy_for_child = MAP_FAILED;
    if (!the_globals.memory) return;
    copy_for_child = ::mmap(nullptr, the_globals.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy_for_child == MAP_FAILED) return;
    // A look at the rest would make its pages.
    for (const auto& [first, end] : the_globals.memory->parts_with_pages())
        copy(static_cast<std::uint64_t*>(copy_for_child) + first / sizeof(std::uint64_t), the_globals.first + first,
             end - first);
}
void in_parent() {
    if (copy_for_child != MAP_FAILED) ::munmap(copy_for_child, the_globals.bytes);
}
/// Puts the copy in the place of the shared variables, or leaves them shared where there was no memory for it. Forgets
/// the parent's segment: if the child calls shmem_init, that shares the copy.
void in_child() {
    if (copy_for_child == MAP_FAILED || !move(copy_for_child, the_globals)) return;
    the_globals = {};
}

/// Before the program's own constructors. Stores of threads that run already, where the library is loaded later, might
/// be lost.
[[gnu::constructor]] void share_early() {
    struct stat threads{};
    if (::stat("/proc/self/task", &threads) != 0 || threads.st_nlink != 3) return;
    try {
        share_globals();
    } catch (const std::exception&) { // shmem_init says why
    }
}

} // namespace

shared_globals& share_globals() {
    if (the_globals.memory) return the_globals;
    const auto where = globals_of_program();
    if (where.end <= where.first) return the_globals;
    shared_globals made{where.first, where.end - where.first, nullptr};
    auto segment = comm::shared_segment::reserve(made.bytes);
    made.memory = segment.get();
    copy(reinterpret_cast<std::uint64_t*>(made.memory->memory()), made.first, made.bytes);
    if (!move(made.memory->memory(), made))
        throw transfer_error(status::out_of_host_memory, "sharing the program's variables: " + errno_text(errno),
                             errno);
    (void)segment.release();
    the_globals = made;
    static const int handled = ::pthread_atfork(before_fork, in_parent, in_child);
    (void)handled;
    return the_globals;
}

} // namespace causeway::oshmem
