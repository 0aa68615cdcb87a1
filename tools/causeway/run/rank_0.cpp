// SPDX-License-Identifier: Apache-2.0
// Finds out who calls, and asks the platform, which lies beside this library, for what rank 0 has.
#include "rank_0.hpp"

#include <execinfo.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace causeway_run {

namespace {

const long process = syscall(SYS_getpid);

/// Where the program's own code is in memory; the first object that the linker knows.
struct program_range {
    std::uintptr_t first = UINTPTR_MAX, last = 0;

    program_range() {
        dl_iterate_phdr(
            [](dl_phdr_info* object, std::size_t, void* data) {
                auto& range = *static_cast<program_range*>(data);
                for (int i = 0; i < object->dlpi_phnum; ++i) {
                    const auto& part = object->dlpi_phdr[i];
                    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
                    range.first = object->dlpi_addr + part.p_vaddr;
                    range.last = range.first + part.p_memsz;
                }
                return 1;
            },
            this);
    }
};

/// Of an interpreter that is a library, or of one of its extension modules.
bool is_interpreters(std::string_view path) {
    const auto name = path.substr(path.rfind('/') + 1);
    for (const std::string_view library :
         {"libpython", "libpypy", "libperl.", "libruby", "libjulia.", "libR.", "liblua", "libtcl"})
        if (name.starts_with(library)) return true;
    for (const std::string_view part : {".cpython-", ".abi3.so", ".pypy"})
        if (name.find(part) != std::string_view::npos) return true;
    return path.find("/lib-dynload/") != std::string_view::npos;
}

bool is_in_interpreter(const void* address) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE // glibc 2.35: without a lock
    dl_find_object found{};
    if (_dl_find_object(const_cast<void*>(address), &found) != 0 || found.dlfo_link_map == nullptr) return false;
    return is_interpreters(found.dlfo_link_map->l_name);
#else
    Dl_info found{};
    return dladdr(address, &found) != 0 && is_interpreters(found.dli_fname);
#endif
}

bool main_runs = false;
int (*programs_main)(int, char**, char**) = nullptr;
int begin_main(int count, char** words, char** variables) {
    main_runs = true;
    return programs_main(count, words, variables);
}

template <class Function> Function* of_platform(const char* name) {
    static void* const library = [] {
        Dl_info own{};
        dladdr(reinterpret_cast<void*>(&take_of_rank_0), &own);
        const std::string path = own.dli_fname;
        return dlopen((path.substr(0, path.rfind('/') + 1) + "libcauseway_icd.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    }();
    return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

/// Whether Python's function that takes a lock asks, by itself or by another function. It does so also where it need
/// not wait (3.11), and threads that begin take a different number of locks on each rank.
bool takes_lock(const void* caller) {
    static const auto range = [] {
        Dl_info found{};
        const ElfW(Sym)* symbol = nullptr;
        const auto* const begin = static_cast<const char*>(dlsym(RTLD_DEFAULT, "PyThread_acquire_lock_timed"));
        if (begin == nullptr ||
            dladdr1(begin, &found, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)), RTLD_DL_SYMENT) == 0 ||
            symbol == nullptr)
            return std::pair<const char*, const char*>{};
        return std::pair(begin, begin + symbol->st_size);
    }();
    std::array<void*, 8> frames{};
    const auto* const end = frames.data() + backtrace(frames.data(), static_cast<int>(frames.size()));
    const auto* const at = std::find(static_cast<void* const*>(frames.data()), static_cast<void* const*>(end), caller);
    return std::any_of(at, std::min(at + 2, static_cast<void* const*>(end)),
                       [](const void* frame) { return range.first <= frame && frame < range.second; });
}

} // namespace

const void* library_of(const void* address) {
    Dl_info found{};
    return dladdr(address, &found) == 0 ? nullptr : found.dli_fbase;
}

bool is_in_program() {
    // A child of fork() is on its own, in a first thread as well.
    return syscall(SYS_gettid) == process && dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr;
}

bool is_programs(const void* caller) {
    static const program_range range;
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    const bool is_executables = range.first <= address && address < range.last;
    return (is_executables || is_in_interpreter(caller)) && is_in_program();
}

bool waits_in_python(const void* caller) {
    static int (*holds_lock)() = nullptr;
    if (holds_lock == nullptr) holds_lock = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    if (holds_lock == nullptr) return false; // it may be loaded later
    static const void* const python = library_of(reinterpret_cast<const void*>(holds_lock));
    return library_of(caller) == python && (holds_lock() == 0 || takes_lock(caller));
}

bool has_begun() { return main_runs; }

bool is_programs_file(const void* caller) {
    static const void* const own = library_of(reinterpret_cast<const void*>(&take_of_rank_0));
    static const void* const cpp = library_of(dlsym(RTLD_DEFAULT, "__cxa_throw"));
    if (library_of(caller) != cpp) return is_programs(caller);
    if (!is_in_program()) return false;
    std::array<void*, 16> frames{};
    const auto count = static_cast<std::size_t>(backtrace(frames.data(), frames.size()));
    for (std::size_t i = 0; i < count; ++i)
        if (const auto* const in = library_of(frames[i]); in != own && in != cpp) return is_programs(frames[i]);
    return false;
}

bool is_rank_0() {
    static auto* const rank = of_platform<int()>("causeway_cluster_rank");
    return rank == nullptr || rank() == 0;
}

int agree(int code) {
    static auto* const call = of_platform<int(int)>("causeway_cluster_agree");
    return call == nullptr ? code : call(code);
}

void take_of_rank_0(void* data, std::size_t size) {
    static auto* const call = of_platform<void(void*, std::size_t)>("causeway_cluster_same");
    if (call != nullptr) call(data, size);
}

ssize_t result_of_rank_0(ssize_t result, void* bytes, std::size_t size) {
    struct {
        std::int64_t result, error;
    } told{result, errno};
    take_of_rank_0(&told, sizeof told);
    if (told.result >= 0)
        take_of_rank_0(bytes, size);
    else
        errno = static_cast<int>(told.error);
    return told.result;
}

ssize_t read_of_rank_0(int fd, void* bytes, std::size_t size) {
    struct {
        std::int64_t got = 0;
        std::int64_t error = 0;
    } told;
    if (is_rank_0()) {
        told.got = syscall(SYS_read, fd, bytes, size);
        told.error = errno;
    }
    take_of_rank_0(&told, sizeof told);
    if (told.got > 0) take_of_rank_0(bytes, static_cast<std::size_t>(told.got));
    if (told.got < 0) errno = static_cast<int>(told.error);
    return told.got;
}

} // namespace causeway_run

#pragma GCC visibility push(default)
extern "C" int __libc_start_main(int (*main)(int, char**, char**), int count, char** words, void (*begin)(),
                                 void (*end)(), void (*unload)(), void* stack) {
    static auto* const start = causeway_run::next<int(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(),
                                                      void (*)(), void*)>("__libc_start_main");
    causeway_run::programs_main = main;
    return start(causeway_run::begin_main, count, words, begin, end, unload, stack);
}
#pragma GCC visibility pop
