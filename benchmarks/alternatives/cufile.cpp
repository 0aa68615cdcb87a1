// SPDX-License-Identifier: Apache-2.0
// NVIDIA's cuFile, in the mode that works with every file system ("compatibility": read(2) and copies, by cuFile
// itself).
#include "file_problem.hpp"
#include "team.hpp"

#include <dlfcn.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <utility>

namespace alternatives {

namespace {

/// What KvikIO, the usual library above cuFile, hands to each of its threads.
constexpr std::size_t task_bytes = 4 * mib;

/// As the manual pages of cuda.h and cufile.h lay them out: neither is in a free distribution.
namespace cuda {
using address = unsigned long long;
using context = struct context_object*;
} // namespace cuda
namespace cufile {
using handle = void*;
struct error {
    int code = 0; // 0: success
    int of_cuda = 0;
};
struct description {
    int type = 1; // CU_FILE_HANDLE_TYPE_OPAQUE_FD
    union {
        int descriptor;
        void* other;
    } file{};
    const void* operations = nullptr;
};
} // namespace cufile

/// A library and what is missing of it.
class library {
  public:
    explicit library(const std::vector<std::string>& names) {
        std::string missing;
        for (const auto& each : names) {
            if (m_handle == nullptr) m_handle = dlopen(each.c_str(), RTLD_NOW);
            if (m_handle == nullptr && missing.empty()) missing = dlerror();
        }
        if (m_handle == nullptr) throw std::runtime_error(missing);
    }
    template <class Function> void find(Function& into, const char* name) const {
        into = reinterpret_cast<Function>(dlsym(m_handle, name));
        if (into == nullptr) throw std::runtime_error(std::string("there is no ") + name);
    }

  private:
    void* m_handle = nullptr; // stays: drivers want that
};

std::vector<std::string> places_of_cufile(const std::string& named) {
    if (!named.empty()) return {named};
    return {"libcufile.so.0", "libcufile.so", "/usr/local/cuda/lib64/libcufile.so.0",
            "/usr/local/cuda/targets/x86_64-linux/lib/libcufile.so.0"};
}

void check(int code, const char* call) {
    if (code != 0) throw std::runtime_error(std::string(call) + ": code " + std::to_string(code));
}

class cufile_device {
  public:
    cufile_device(file_problem& problem, unsigned threads, const std::string& named)
        : m_cuda({"libcuda.so.1"}), m_cufile(places_of_cufile(named)), m_problem(problem) {
        find();
        check(m_init(0), "cuInit");
        check(m_retain(&m_context, 0), "cuDevicePrimaryCtxRetain");
        check(m_set_current(m_context), "cuCtxSetCurrent");
        check(m_driver_open().code, "cuFileDriverOpen");
        try {
            check(m_allocate(&m_source, problem.data.whole_bytes()), "cuMemAlloc");
            check(m_allocate(&m_target, problem.bytes), "cuMemAlloc");
            check(m_copy_in(m_source, problem.data.whole(), problem.data.whole_bytes()), "cuMemcpyHtoD");
            m_input = handle_of(problem.input.get());
            m_output = handle_of(problem.output.get());
            // Is said to help; what refuses it works without.
            (void)m_register_buffer(pointer(m_source), problem.data.whole_bytes(), 0);
            (void)m_register_buffer(pointer(m_target), problem.bytes, 0);
            if (threads > 1) m_team = std::make_unique<team>(threads);
        } catch (...) {
            release();
            throw;
        }
    }
    ~cufile_device() { release(); }
    cufile_device(const cufile_device&) = delete;
    cufile_device& operator=(const cufile_device&) = delete;

    void load(std::size_t offset) {
        in_tasks([&](std::size_t at, std::size_t bytes) {
            return m_read(m_input, pointer(m_target), bytes, off_t(offset + at), off_t(at));
        });
    }
    void store(std::size_t offset) {
        in_tasks([&](std::size_t at, std::size_t bytes) {
            return m_write(m_output, pointer(m_source), bytes, off_t(at), off_t(offset + at));
        });
    }
    void fetch(std::byte* into) { check(m_copy_out(into, m_target, m_problem.bytes), "cuMemcpyDtoH"); }

  private:
    void find() {
        m_cuda.find(m_init, "cuInit");
        m_cuda.find(m_retain, "cuDevicePrimaryCtxRetain");
        m_cuda.find(m_set_current, "cuCtxSetCurrent");
        m_cuda.find(m_allocate, "cuMemAlloc_v2");
        m_cuda.find(m_free, "cuMemFree_v2");
        m_cuda.find(m_copy_in, "cuMemcpyHtoD_v2");
        m_cuda.find(m_copy_out, "cuMemcpyDtoH_v2");
        m_cufile.find(m_driver_open, "cuFileDriverOpen");
        m_cufile.find(m_register_file, "cuFileHandleRegister");
        m_cufile.find(m_deregister_file, "cuFileHandleDeregister");
        m_cufile.find(m_register_buffer, "cuFileBufRegister");
        m_cufile.find(m_deregister_buffer, "cuFileBufDeregister");
        m_cufile.find(m_read, "cuFileRead");
        m_cufile.find(m_write, "cuFileWrite");
    }

    static void* pointer(cuda::address address) { return reinterpret_cast<void*>(address); }

    cufile::handle handle_of(std::FILE* file) {
        cufile::description described;
        described.file.descriptor = fileno(file);
        cufile::handle made = nullptr;
        check(m_register_file(&made, &described).code, "cuFileHandleRegister");
        return made;
    }

    /// `move` some bytes; it may move fewer.
    template <class Move> void move_all(std::size_t at, std::size_t end, Move move) {
        while (at < end) {
            const auto some = move(at, end - at);
            if (some <= 0) throw std::runtime_error("cuFileRead or cuFileWrite: " + std::to_string(some));
            at += std::size_t(some);
        }
    }

    template <class Move> void in_tasks(Move move) {
        if (!m_team) {
            move_all(0, m_problem.bytes, move);
            return;
        }
        std::atomic<std::size_t> next = 0;
        m_team->run([&](unsigned) {
            check(m_set_current(m_context), "cuCtxSetCurrent");
            for (auto at = next.fetch_add(task_bytes); at < m_problem.bytes; at = next.fetch_add(task_bytes))
                move_all(at, std::min(at + task_bytes, m_problem.bytes), move);
        });
    }

    /// The driver of cuFile stays open: other objects use it.
    void release() noexcept {
        m_team.reset();
        for (auto* const each : {m_input, m_output})
            if (each != nullptr) m_deregister_file(each);
        for (const auto each : {m_source, m_target}) {
            if (each == 0) continue;
            (void)m_deregister_buffer(pointer(each));
            (void)m_free(each);
        }
    }

    library m_cuda, m_cufile;
    int (*m_init)(unsigned) = nullptr;
    int (*m_retain)(cuda::context*, int) = nullptr;
    int (*m_set_current)(cuda::context) = nullptr;
    int (*m_allocate)(cuda::address*, std::size_t) = nullptr;
    int (*m_free)(cuda::address) = nullptr;
    int (*m_copy_in)(cuda::address, const void*, std::size_t) = nullptr;
    int (*m_copy_out)(void*, cuda::address, std::size_t) = nullptr;
    cufile::error (*m_driver_open)() = nullptr;
    cufile::error (*m_register_file)(cufile::handle*, cufile::description*) = nullptr;
    void (*m_deregister_file)(cufile::handle) = nullptr;
    cufile::error (*m_register_buffer)(const void*, std::size_t, int) = nullptr;
    cufile::error (*m_deregister_buffer)(const void*) = nullptr;
    ssize_t (*m_read)(cufile::handle, void*, std::size_t, off_t, off_t) = nullptr;
    ssize_t (*m_write)(cufile::handle, const void*, std::size_t, off_t, off_t) = nullptr;

    file_problem& m_problem;
    cuda::context m_context = nullptr;
    cuda::address m_source = 0, m_target = 0;
    cufile::handle m_input = nullptr, m_output = nullptr;
    std::unique_ptr<team> m_team;
};

} // namespace

file_way cufile_files(file_problem& problem, unsigned threads, const std::string& library) {
    file_way made{.name = threads == 1 ? "cuFile, one call"
                                       : "cuFile, " + std::to_string(threads) + " threads of " +
                                             std::to_string(task_bytes / mib) + " MiB"};
    // Before the library is there: without nvidia-fs, and on file systems that it does not know, there is no other
    // mode.
    for (const char* const name : {"CUFILE_ALLOW_COMPAT_MODE", "CUFILE_FORCE_COMPAT_MODE"}) setenv(name, "true", 0);
    try {
        const auto device = std::make_shared<cufile_device>(problem, threads, library);
        made.load = [device](std::size_t offset) { device->load(offset); };
        made.store = [device](std::size_t offset) { device->store(offset); };
        made.fetch = [device](std::byte* into) { device->fetch(into); };
    } catch (const std::exception& error) {
        made.missing = error.what();
    }
    return made;
}

} // namespace alternatives
