// SPDX-License-Identifier: Apache-2.0
// MPI calls and file accesses of a program, shown to the timeline: where its host code waits.
#undef _FILE_OFFSET_BITS // which would turn pread into pread64, that stands here, too
// MPI's C interface alone: this library is linked with no MPI.
#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include "trace/preload.hpp"

#include <link.h>
#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>

using namespace preload;

namespace {

/// What takes less, and moves less, is of no interest.
constexpr unsigned long long least_nanoseconds = 50'000, least_bytes = 4096;

unsigned long long now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<unsigned long long>(time.tv_sec) * 1'000'000'000 + static_cast<unsigned long long>(time.tv_nsec);
}

/// The program's own code in memory, without its libraries: drivers and MPI read and write files, too.
struct program_range {
    std::uintptr_t first = UINTPTR_MAX, last = 0;

    static bool contains(const void* caller) {
        static const program_range program = find();
        const auto address = reinterpret_cast<std::uintptr_t>(caller);
        return program.first <= address && address < program.last;
    }

  private:
    static program_range find() {
        program_range found;
        dl_iterate_phdr(
            [](dl_phdr_info* object, size_t, void* into) {
                auto& program = *static_cast<program_range*>(into);
                for (int i = 0; i < object->dlpi_phnum; ++i) {
                    const auto& part = object->dlpi_phdr[i];
                    if (part.p_type != PT_LOAD) continue;
                    const auto begin = object->dlpi_addr + part.p_vaddr;
                    if (begin < program.first) program.first = begin;
                    if (begin + part.p_memsz > program.last) program.last = begin + part.p_memsz;
                }
                return 1; // the first object is the program
            },
            &found);
        return found;
    }
};

/// A call is shown once: what it calls itself is part of it, and a handler of signals may come at any point of it.
thread_local bool is_within = false;

/// Shows the call if the program itself made it, and the timeline is there.
template <class Call> auto shown(const char* kind, const char* name, bool counts, unsigned long long bytes, Call call) {
    if (is_within || !counts || !is_recording()) return call();
    is_within = true;
    const auto begin = now();
    const auto result = call();
    const int code = errno;
    const auto end = now();
    if (end - begin >= least_nanoseconds || bytes >= least_bytes) show_call(kind, name, begin, end, bytes);
    is_within = false;
    errno = code;
    return result;
}

template <class Call> int mpi(const char* name, const void* caller, unsigned long long bytes, Call call) {
    return shown("MPI", name, !is_of_library(caller), bytes, call);
}

unsigned long long bytes_of(int count, MPI_Datatype type) {
    static auto* const ask = next<decltype(PMPI_Type_size)>("PMPI_Type_size");
    int size = 0;
    if (count <= 0 || ask == nullptr || !is_recording() || ask(type, &size) != MPI_SUCCESS || size < 0) return 0;
    return static_cast<unsigned long long>(count) * static_cast<unsigned long long>(size);
}

template <class Call> auto file(const char* name, const void* caller, unsigned long long bytes, Call call) {
    return shown("files", name, program_range::contains(caller), bytes, call);
}

} // namespace

#define CALLER __builtin_return_address(0)
/// The next function of that name.
#define NEXT(function) static auto* const call = next<decltype(function)>(#function)

EXPORTED int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    NEXT(MPI_Send);
    return mpi("MPI_Send", CALLER, bytes_of(count, type), [&] { return call(data, count, type, to, tag, comm); });
}
EXPORTED int MPI_Ssend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    NEXT(MPI_Ssend);
    return mpi("MPI_Ssend", CALLER, bytes_of(count, type), [&] { return call(data, count, type, to, tag, comm); });
}
EXPORTED int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
    NEXT(MPI_Recv);
    return mpi("MPI_Recv", CALLER, bytes_of(count, type),
               [&] { return call(data, count, type, from, tag, comm, status); });
}
EXPORTED int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
                          int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
    NEXT(MPI_Sendrecv);
    return mpi("MPI_Sendrecv", CALLER, bytes_of(out_count, out_type), [&] {
        return call(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
    });
}
EXPORTED int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    NEXT(MPI_Wait);
    return mpi("MPI_Wait", CALLER, 0, [&] { return call(request, status); });
}
EXPORTED int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    NEXT(MPI_Waitall);
    return mpi("MPI_Waitall", CALLER, 0, [&] { return call(count, requests, statuses); });
}
EXPORTED int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    NEXT(MPI_Waitany);
    return mpi("MPI_Waitany", CALLER, 0, [&] { return call(count, requests, index, status); });
}
EXPORTED int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status* status) {
    NEXT(MPI_Probe);
    return mpi("MPI_Probe", CALLER, 0, [&] { return call(from, tag, comm, status); });
}
EXPORTED int MPI_Barrier(MPI_Comm comm) {
    NEXT(MPI_Barrier);
    return mpi("MPI_Barrier", CALLER, 0, [&] { return call(comm); });
}
EXPORTED int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    NEXT(MPI_Bcast);
    return mpi("MPI_Bcast", CALLER, bytes_of(count, type), [&] { return call(data, count, type, root, comm); });
}
EXPORTED int MPI_Reduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    NEXT(MPI_Reduce);
    return mpi("MPI_Reduce", CALLER, bytes_of(count, type), [&] { return call(in, out, count, type, op, root, comm); });
}
EXPORTED int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    NEXT(MPI_Allreduce);
    return mpi("MPI_Allreduce", CALLER, bytes_of(count, type), [&] { return call(in, out, count, type, op, comm); });
}
EXPORTED int MPI_Gather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                        MPI_Datatype out_type, int root, MPI_Comm comm) {
    NEXT(MPI_Gather);
    return mpi("MPI_Gather", CALLER, bytes_of(in_count, in_type),
               [&] { return call(in, in_count, in_type, out, out_count, out_type, root, comm); });
}
EXPORTED int MPI_Allgather(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                           MPI_Datatype out_type, MPI_Comm comm) {
    NEXT(MPI_Allgather);
    return mpi("MPI_Allgather", CALLER, bytes_of(in_count, in_type),
               [&] { return call(in, in_count, in_type, out, out_count, out_type, comm); });
}
EXPORTED int MPI_Scatter(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                         MPI_Datatype out_type, int root, MPI_Comm comm) {
    NEXT(MPI_Scatter);
    return mpi("MPI_Scatter", CALLER, bytes_of(out_count, out_type),
               [&] { return call(in, in_count, in_type, out, out_count, out_type, root, comm); });
}
EXPORTED int MPI_Alltoall(const void* in, int in_count, MPI_Datatype in_type, void* out, int out_count,
                          MPI_Datatype out_type, MPI_Comm comm) {
    NEXT(MPI_Alltoall);
    return mpi("MPI_Alltoall", CALLER, bytes_of(in_count, in_type),
               [&] { return call(in, in_count, in_type, out, out_count, out_type, comm); });
}

// Handlers of signals write, too, where nothing can be looked up: all are found when this library is loaded.
static decltype(read)* read_of_system;
static decltype(write)* write_of_system;
static decltype(pread)* pread_of_system;
static decltype(pread64)* pread64_of_system;
static decltype(pwrite)* pwrite_of_system;
static decltype(pwrite64)* pwrite64_of_system;
static decltype(fread)* fread_of_system;
static decltype(fwrite)* fwrite_of_system;
static decltype(fsync)* fsync_of_system;
static decltype(fdatasync)* fdatasync_of_system;
static decltype(fclose)* fclose_of_system;
static decltype(fflush)* fflush_of_system;

__attribute__((constructor)) static void find_all() {
#define FIND(function) function##_of_system = next<decltype(function)>(#function)
    FIND(read);
    FIND(write);
    FIND(pread);
    FIND(pread64);
    FIND(pwrite);
    FIND(pwrite64);
    FIND(fread);
    FIND(fwrite);
    FIND(fsync);
    FIND(fdatasync);
    FIND(fclose);
    FIND(fflush);
#undef FIND
}
/// Also before that.
#define FOUND(function)                                                                                                \
    auto* const call = function##_of_system ? function##_of_system : next<decltype(function)>(#function)

EXPORTED ssize_t read(int descriptor, void* data, size_t bytes) {
    FOUND(read);
    return file("read", CALLER, bytes, [&] { return call(descriptor, data, bytes); });
}
EXPORTED ssize_t write(int descriptor, const void* data, size_t bytes) {
    FOUND(write);
    return file("write", CALLER, bytes, [&] { return call(descriptor, data, bytes); });
}
EXPORTED ssize_t pread(int descriptor, void* data, size_t bytes, off_t offset) {
    FOUND(pread);
    return file("pread", CALLER, bytes, [&] { return call(descriptor, data, bytes, offset); });
}
EXPORTED ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
    FOUND(pwrite);
    return file("pwrite", CALLER, bytes, [&] { return call(descriptor, data, bytes, offset); });
}
EXPORTED ssize_t pread64(int descriptor, void* data, size_t bytes, off64_t offset) {
    FOUND(pread64);
    return file("pread", CALLER, bytes, [&] { return call(descriptor, data, bytes, offset); });
}
EXPORTED ssize_t pwrite64(int descriptor, const void* data, size_t bytes, off64_t offset) {
    FOUND(pwrite64);
    return file("pwrite", CALLER, bytes, [&] { return call(descriptor, data, bytes, offset); });
}
EXPORTED size_t fread(void* data, size_t size, size_t count, FILE* from) {
    FOUND(fread);
    return file("fread", CALLER, size * count, [&] { return call(data, size, count, from); });
}
EXPORTED size_t fwrite(const void* data, size_t size, size_t count, FILE* to) {
    FOUND(fwrite);
    return file("fwrite", CALLER, size * count, [&] { return call(data, size, count, to); });
}
EXPORTED int fsync(int descriptor) {
    FOUND(fsync);
    return file("fsync", CALLER, 0, [&] { return call(descriptor); });
}
EXPORTED int fdatasync(int descriptor) {
    FOUND(fdatasync);
    return file("fdatasync", CALLER, 0, [&] { return call(descriptor); });
}
EXPORTED int fclose(FILE* which) {
    FOUND(fclose);
    return file("fclose", CALLER, 0, [&] { return call(which); });
}
EXPORTED int fflush(FILE* which) {
    FOUND(fflush);
    return file("fflush", CALLER, 0, [&] { return call(which); });
}
