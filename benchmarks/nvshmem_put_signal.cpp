// SPDX-License-Identifier: Apache-2.0
// NVSHMEM's put with signal and wait on a stream, to and fro between two GPUs: the peer of `one_sided latency` by
// events. Needs two ranks of one node, a GPU each, and libnvshmem_host.so.3, which is loaded at run time: PyTorch and
// the package nvidia-nvshmem-cu12 have it. Usage: nvshmem_put_signal [path of that library]
//
// Ends with 77 and the reason where it cannot run.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct cannot_run : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class library {
  public:
    library(const char* name, int flags) : m_name(name), m_handle(dlopen(name, RTLD_NOW | flags)) {
        if (m_handle == nullptr) throw cannot_run(dlerror());
    }
    template <class Call> void find(Call*& call, const char* name) const {
        call = reinterpret_cast<Call*>(dlsym(m_handle, name));
        if (call == nullptr) throw cannot_run(m_name + " has no " + name);
    }

  private:
    std::string m_name;
    void* m_handle;
};

using stream = void*;

/// What is used of CUDA's driver interface.
struct cuda {
    explicit cuda(const library& from) {
        from.find(init, "cuInit");
        from.find(count, "cuDeviceGetCount");
        from.find(device, "cuDeviceGet");
        from.find(retain, "cuDevicePrimaryCtxRetain");
        from.find(use, "cuCtxSetCurrent");
        from.find(make_stream, "cuStreamCreate");
        from.find(synchronise, "cuStreamSynchronize");
        from.find(fill, "cuMemsetD8_v2");
        from.find(to_host, "cuMemcpyDtoH_v2");
        from.find(allocate_host, "cuMemHostAlloc");
        from.find(device_address, "cuMemHostGetDevicePointer_v2");
        from.find(wait_for_value, "cuStreamWaitValue32_v2");
    }
    int (*init)(unsigned);
    int (*count)(int*);
    int (*device)(int*, int);
    int (*retain)(void**, int);
    int (*use)(void*);
    int (*make_stream)(stream*, unsigned);
    int (*synchronise)(stream);
    int (*fill)(std::uint64_t, unsigned char, std::size_t);
    int (*to_host)(void*, std::uint64_t, std::size_t);
    int (*allocate_host)(void**, std::size_t, unsigned);
    int (*device_address)(std::uint64_t*, void*, unsigned);
    int (*wait_for_value)(stream, std::uint64_t, std::uint32_t, unsigned);
};

/// What two processes agree on, and how a process joins: as version 1 of NVSHMEM 3's structures lays them out.
struct unique_id {
    int version = (1 << 16) + 128;
    std::array<char, 124> inner{};
};
struct start_arguments {
    struct by_id {
        int version = (1 << 16) + 24;
        unique_id* id = nullptr;
        int rank = -1, ranks = -1;
    };
    struct ways {
        int version = (1 << 16) + 128;
        by_id id;
        std::array<char, 96> rest{};
    };
    int version = (1 << 16) + 144;
    void* mpi_comm = nullptr;
    ways by;
};
static_assert(sizeof(unique_id) == 128 && sizeof(start_arguments) == 144);

struct nvshmem {
    explicit nvshmem(const library& from) {
        from.find(make_id, "nvshmemx_get_uniqueid");
        from.find(set_id, "nvshmemx_set_attr_uniqueid_args");
        from.find(start, "nvshmemx_hostlib_init_attr");
        from.find(finish, "nvshmemx_hostlib_finalize");
        from.find(allocate, "nvshmem_malloc");
        from.find(free, "nvshmem_free");
        from.find(barrier, "nvshmem_barrier_all");
        from.find(put_signal, "nvshmemx_putmem_signal_on_stream");
        from.find(wait, "nvshmemx_signal_wait_until_on_stream");
    }
    static constexpr unsigned with_unique_id = 1u << 3;
    static constexpr int signal_set = 9, greater_or_equal = 5;
    int (*make_id)(unique_id*);
    int (*set_id)(int, int, const unique_id*, void*);
    int (*start)(unsigned, void*);
    void (*finish)();
    void* (*allocate)(std::size_t);
    void (*free)(void*);
    void (*barrier)();
    void (*put_signal)(void*, const void*, std::size_t, std::uint64_t*, std::uint64_t, int, int, stream);
    void (*wait)(std::uint64_t*, int, std::uint64_t, stream);
};

void check(int code, const char* what) {
    if (code != 0) throw std::runtime_error(std::string(what) + ": " + std::to_string(code));
}

std::uint64_t address(const void* of) { return reinterpret_cast<std::uintptr_t>(of); }

/// True if the bytes came.
bool to_and_fro(const cuda& device, const nvshmem& shmem, int rank, std::size_t bytes) {
    constexpr int rounds = 11;
    const int trips = bytes <= (std::size_t{1} << 20) ? 20 : 4, peer = 1 - rank;
    auto* const source = shmem.allocate(bytes);
    auto* const target = shmem.allocate(bytes);
    auto* const signal = static_cast<std::uint64_t*>(shmem.allocate(sizeof(std::uint64_t)));
    if (source == nullptr || target == nullptr || signal == nullptr) throw std::runtime_error("the heap is full");
    check(device.fill(address(source), static_cast<unsigned char>(rank + 1), bytes), "cuMemsetD8");
    check(device.fill(address(target), 0, bytes), "cuMemsetD8");
    check(device.fill(address(signal), 0, sizeof *signal), "cuMemsetD8");
    stream commands = nullptr;
    constexpr unsigned non_blocking = 1, mapped = 2, at_least = 0;
    check(device.make_stream(&commands, non_blocking), "cuStreamCreate");
    void* memory = nullptr;
    std::uint64_t gate = 0;
    check(device.allocate_host(&memory, sizeof(std::uint32_t), mapped), "cuMemHostAlloc");
    check(device.device_address(&gate, memory, 0), "cuMemHostGetDevicePointer");
    auto* const is_open = static_cast<std::uint32_t*>(memory);
    std::uint64_t count = 0;
    std::vector<double> times;
    for (int round = 0; round < rounds + 1; ++round) {
        __atomic_store_n(is_open, 0u, __ATOMIC_SEQ_CST);
        check(device.wait_for_value(commands, gate, 1, at_least), "cuStreamWaitValue32");
        for (int i = 0; i < trips; ++i) {
            ++count;
            if (rank == 0) shmem.put_signal(target, source, bytes, signal, count, nvshmem::signal_set, peer, commands);
            shmem.wait(signal, nvshmem::greater_or_equal, count, commands);
            if (rank == 1) shmem.put_signal(target, source, bytes, signal, count, nvshmem::signal_set, peer, commands);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        const auto begin = std::chrono::steady_clock::now();
        __atomic_store_n(is_open, 1u, __ATOMIC_SEQ_CST);
        check(device.synchronise(commands), "cuStreamSynchronize");
        const auto taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (round > 0) times.push_back(taken / (2 * trips)); // the first one warms up
        MPI_Barrier(MPI_COMM_WORLD);
    }
    std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
    std::vector<unsigned char> seen(bytes);
    check(device.to_host(seen.data(), address(target), bytes), "cuMemcpyDtoH");
    if (rank == 0)
        std::printf("%9zu B, one way, by NVSHMEM on a stream: put+signal+wait %9.2f us\n", bytes,
                    times[rounds / 2] * 1e6);
    shmem.barrier();
    shmem.free(signal);
    shmem.free(target);
    shmem.free(source);
    return seen == std::vector<unsigned char>(bytes, static_cast<unsigned char>(peer + 1));
}

int run(const char* path, int rank) {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2) throw cannot_run("two ranks are needed, not " + std::to_string(ranks));
    const library driver("libcuda.so.1", RTLD_GLOBAL), host(path, RTLD_GLOBAL);
    const cuda device(driver);
    const nvshmem shmem(host);
    int devices = 0, own = 0;
    check(device.init(0), "cuInit");
    check(device.count(&devices), "cuDeviceGetCount");
    if (devices < 2) throw cannot_run("two GPUs are needed, not " + std::to_string(devices));
    void* context = nullptr;
    check(device.device(&own, rank), "cuDeviceGet");
    check(device.retain(&context, own), "cuDevicePrimaryCtxRetain");
    check(device.use(context), "cuCtxSetCurrent");

    unique_id id;
    start_arguments arguments;
    if (rank == 0) check(shmem.make_id(&id), "nvshmemx_get_uniqueid");
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    check(shmem.set_id(rank, ranks, &id, &arguments), "nvshmemx_set_attr_uniqueid_args");
    check(shmem.start(nvshmem::with_unique_id, &arguments), "nvshmemx_hostlib_init_attr");
    int right = 1;
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{64} << 10, std::size_t{1} << 20, std::size_t{16} << 20})
        if (!to_and_fro(device, shmem, rank, bytes)) right = 0;
    shmem.finish();
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) std::printf("nvshmem: %s\n", right != 0 ? "data right" : "DATA WRONG");
    return right != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main(int count, char** words) {
    constexpr int skipped = 77;
    MPI_Init(&count, &words);
    int rank = 0, code = EXIT_FAILURE;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    try {
        code = run(count > 1 ? words[1] : "libnvshmem_host.so.3", rank);
    } catch (const cannot_run& why) {
        if (rank == 0) std::printf("NVSHMEM cannot be measured: %s\n", why.what());
        code = skipped;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
    return code;
}
