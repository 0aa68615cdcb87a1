// SPDX-License-Identifier: Apache-2.0
// Finds out who calls, and asks the platform, which lies beside this library, for what rank 0 has.
#include "rank_0.hpp"

#include <execinfo.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>

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

const void* library_of(const void* address) {
    Dl_info found{};
    return dladdr(address, &found) == 0 ? nullptr : found.dli_fbase;
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

} // namespace

bool is_in_program() {
    // A child of fork() is on its own, in a first thread as well.
    return syscall(SYS_gettid) == process && dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr;
}

bool is_programs(const void* caller) {
    static const program_range range;
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    return range.first <= address && address < range.last && is_in_program();
}

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
