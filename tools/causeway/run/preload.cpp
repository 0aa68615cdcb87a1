// SPDX-License-Identifier: Apache-2.0
// Loaded in front of a program of `causeway run --cluster`: what the program itself asks for, in its first thread, and
// every rank would answer differently, rank 0 answers for all. Libraries are left alone: drivers and MPI need the
// truth.

#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>

namespace {

/// The function that this library stands in front of.
template <class Function> Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

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

/// Whether rank 0 answers: the caller is the program, in its first thread, and uses OpenCL. A shell that starts it
/// does not.
bool is_programs(const void* caller) {
    static const program_range range;
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    return range.first <= address && address < range.last && syscall(SYS_gettid) == syscall(SYS_getpid) &&
           dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr;
}

/// What rank 0 has there comes to every rank. The platform lies beside this library.
void take_of_rank_0(void* data, std::size_t size) {
    using same = void (*)(void*, std::size_t);
    static const same call = [] {
        Dl_info own{};
        dladdr(reinterpret_cast<void*>(&take_of_rank_0), &own);
        const std::string path = own.dli_fname;
        const auto platform = path.substr(0, path.rfind('/') + 1) + "libcauseway_icd.so";
        void* const library = dlopen(platform.c_str(), RTLD_NOW | RTLD_LOCAL);
        return library == nullptr ? nullptr : reinterpret_cast<same>(dlsym(library, "causeway_cluster_same"));
    }();
    if (call != nullptr) call(data, size);
}

template <class Value> Value same(Value value, const void* caller) {
    if (is_programs(caller)) take_of_rank_0(&value, sizeof value);
    return value;
}

} // namespace

#define CAUSEWAY_CALLER __builtin_return_address(0)

extern "C" {

time_t time(time_t* place) noexcept {
    static auto* const ask = next<time_t(time_t*)>("time");
    const auto now = same(ask(nullptr), CAUSEWAY_CALLER);
    if (place != nullptr) *place = now;
    return now;
}

int gettimeofday(timeval* __restrict place, void* __restrict zone) noexcept {
    static auto* const ask = next<int(timeval*, void*)>("gettimeofday");
    const int code = ask(place, zone);
    if (code == 0) *place = same(*place, CAUSEWAY_CALLER);
    return code;
}

int clock_gettime(clockid_t which, timespec* place) noexcept {
    static auto* const ask = next<int(clockid_t, timespec*)>("clock_gettime");
    const int code = ask(which, place);
    if (code == 0) *place = same(*place, CAUSEWAY_CALLER);
    return code;
}

clock_t clock() noexcept {
    static auto* const ask = next<clock_t()>("clock");
    return same(ask(), CAUSEWAY_CALLER);
}

pid_t getpid() noexcept { return same(static_cast<pid_t>(syscall(SYS_getpid)), CAUSEWAY_CALLER); }

int gethostname(char* name, std::size_t size) noexcept {
    static auto* const ask = next<int(char*, std::size_t)>("gethostname");
    const int code = ask(name, size);
    if (code == 0 && is_programs(CAUSEWAY_CALLER)) take_of_rank_0(name, size);
    return code;
}

ssize_t getrandom(void* bytes, std::size_t size, unsigned flags) {
    static auto* const ask = next<ssize_t(void*, std::size_t, unsigned)>("getrandom");
    const auto got = ask(bytes, size, flags);
    if (got > 0 && is_programs(CAUSEWAY_CALLER)) take_of_rank_0(bytes, static_cast<std::size_t>(got));
    return got;
}

// The C++ library's, which ask from within it: std::chrono's two clocks, and std::random_device.
std::int64_t system_now() asm("_ZNSt6chrono3_V212system_clock3nowEv");
std::int64_t system_now() {
    static auto* const ask = next<std::int64_t()>("_ZNSt6chrono3_V212system_clock3nowEv");
    return same(ask(), CAUSEWAY_CALLER);
}
std::int64_t steady_now() asm("_ZNSt6chrono3_V212steady_clock3nowEv");
std::int64_t steady_now() {
    static auto* const ask = next<std::int64_t()>("_ZNSt6chrono3_V212steady_clock3nowEv");
    return same(ask(), CAUSEWAY_CALLER);
}
unsigned random_value(void* device) asm("_ZNSt13random_device9_M_getvalEv");
unsigned random_value(void* device) {
    static auto* const ask = next<unsigned(void*)>("_ZNSt13random_device9_M_getvalEv");
    return same(ask(device), CAUSEWAY_CALLER);
}

} // extern "C"
