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
#include <cstdlib>
#include <optional>
#include <random>
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

bool is_of_data(std::string_view path) {
    const auto name = path.substr(path.rfind('/') + 1);
    for (const std::string_view library : {"libsqlite3",
                                           "libhdf5",
                                           "libnetcdf",
                                           "libtiff",
                                           "libgdbm",
                                           "libdb-",
                                           "libarchive",
                                           "libzip",
                                           "libcfitsio",
                                           "libsndfile",
                                           "libavformat",
                                           "libopencv_",
                                           "libboost_filesystem",
                                           "libboost_iostreams",
                                           "libz.",
                                           "libbz2",
                                           "libgfortran",
                                           "libfftw3",
                                           "libtinyxml",
                                           "libjansson",
                                           "libfreeimage"})
        if (name.starts_with(library)) return true;
    return false;
}

template <class Judge> bool library_is(const void* address, Judge judge) {
#ifdef DLFO_STRUCT_HAS_EH_DBASE // glibc 2.35: without a lock
    dl_find_object found{};
    if (_dl_find_object(const_cast<void*>(address), &found) != 0 || found.dlfo_link_map == nullptr) return false;
    return judge(found.dlfo_link_map->l_name);
#else
    Dl_info found{};
    return dladdr(address, &found) != 0 && judge(found.dli_fname);
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

/// A function of Python, wherever it is; null in programs that are none.
template <class Function> Function* of_python(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
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

bool has_opencl() { return dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr; }
/// A child of fork() is on its own, in a first thread as well.
bool is_first_thread() { return syscall(SYS_gettid) == process; }

bool is_programs_code(const void* caller) {
    static const program_range range;
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    return (range.first <= address && address < range.last) || library_is(caller, is_interpreters);
}

/// Of Python alone, and not of what it starts, which has to have other ones.
std::optional<std::mt19937_64> numbers_of_job() {
    const char* const text = std::getenv("_CAUSEWAY_CHANCE");
    if (text == nullptr || of_python<void*()>("PyEval_GetFrame") == nullptr) return std::nullopt;
    const std::string seed = text;
    std::seed_seq all(seed.begin(), seed.end());
    unsetenv("_CAUSEWAY_CHANCE");
    return std::mt19937_64(all);
}

/// Whether the Python function that runs belongs to the modules for threads: what a pool of them asks depends on how
/// fast they are.
bool is_in_threads_module() {
    static auto* const frame_of = of_python<void*()>("PyEval_GetFrame");
    static auto* const code_of = of_python<void*(void*)>("PyFrame_GetCode"); // since 3.9
    static auto* const attribute_of = of_python<void*(void*, const char*)>("PyObject_GetAttrString");
    static auto* const text_of = of_python<const char*(void*)>("PyUnicode_AsUTF8");
    static auto* const release = of_python<void(void*)>("Py_DecRef");
    if (frame_of == nullptr || code_of == nullptr || attribute_of == nullptr || text_of == nullptr) return false;
    auto* const frame = frame_of();
    if (frame == nullptr) return false;
    auto* const code = code_of(frame);
    auto* const file = attribute_of(code, "co_filename");
    const char* const text = file == nullptr ? nullptr : text_of(file);
    bool is = false;
    for (const std::string_view module : {"/threading.py", "/queue.py", "/concurrent/futures/", "/multiprocessing/"})
        is |= text != nullptr && std::string_view(text).find(module) != std::string_view::npos;
    if (file != nullptr) release(file);
    release(code);
    return is;
}

} // namespace

const void* library_of(const void* address) {
    Dl_info found{};
    return dladdr(address, &found) == 0 ? nullptr : found.dli_fbase;
}

bool is_in_program() { return is_first_thread() && has_opencl(); }

bool is_programs(const void* caller) { return is_programs_code(caller) && is_in_program(); }

void fill_before_opencl(void* bytes, std::size_t size, const void* caller) {
    static std::optional<std::mt19937_64> numbers = numbers_of_job();
    if (!numbers || has_opencl() || !is_programs_code(caller) || !is_first_thread()) return;
    auto* const to = static_cast<unsigned char*>(bytes);
    std::generate(to, to + size, [] { return static_cast<unsigned char>((*numbers)() >> 32); });
}

bool waits_in_python(const void* caller) {
    static int (*holds_lock)() = nullptr;
    if (holds_lock == nullptr) holds_lock = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    if (holds_lock == nullptr) return false; // it may be loaded later
    static const void* const python = library_of(reinterpret_cast<const void*>(holds_lock));
    return library_of(caller) == python && (holds_lock() == 0 || takes_lock(caller) || is_in_threads_module());
}

bool has_begun() { return main_runs; }

bool is_programs_file(const void* caller) {
    static const void* const own = library_of(reinterpret_cast<const void*>(&take_of_rank_0));
    static const void* const cpp = library_of(dlsym(RTLD_DEFAULT, "__cxa_throw"));
    if (library_of(caller) != cpp) return is_programs(caller) || (library_is(caller, is_of_data) && is_in_program());
    if (!is_in_program()) return false;
    std::array<void*, 16> frames{};
    const auto count = static_cast<std::size_t>(backtrace(frames.data(), frames.size()));
    for (std::size_t i = 0; i < count; ++i)
        if (const auto* const in = library_of(frames[i]); in != own && in != cpp)
            return is_programs(frames[i]) || library_is(frames[i], is_of_data);
    return false;
}

bool is_rank_0() {
    static auto* const rank = of_platform<int()>("causeway_cluster_rank");
    return rank == nullptr || rank() == 0;
}

int first_process() {
    static auto* const number = of_platform<int()>("causeway_cluster_process");
    const int told = number == nullptr ? 0 : number();
    return told != 0 ? told : static_cast<int>(process);
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
