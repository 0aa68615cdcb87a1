// SPDX-License-Identifier: Apache-2.0
// Loaded before the library (LD_PRELOAD): what causeway perf meets elsewhere. One call, named by
// CAUSEWAY_TEST_WRONG_DATA, moves the bytes of another place than it was told, to see that nobody takes them for right.
// With CAUSEWAY_TEST_MOVES_ONCE only the first exchange after a barrier moves bytes.
// With CAUSEWAY_TEST_OWN_MEMORY devices say that they have memory of their own, as GPUs do.
#define CAUSEWAY_NO_MPI_MACROS
#include <CL/cl_data_transfer.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace {

constexpr std::size_t page = 4096;

template <class Function> Function* real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// How far the bytes of the call `name` are moved.
std::size_t shift_of(const char* name) {
    const char* const chosen = std::getenv("CAUSEWAY_TEST_WRONG_DATA");
    return chosen != nullptr && std::strcmp(chosen, name) == 0 ? page : 0;
}

bool has_moved = false; // since the last barrier

} // namespace

int MPI_Barrier(MPI_Comm comm) {
    has_moved = false;
    return real<decltype(MPI_Barrier)>(__func__)(comm);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void* value, size_t* size_ret) {
    const cl_int code = real<decltype(clGetDeviceInfo)>(__func__)(device, name, size, value, size_ret);
    if (code == CL_SUCCESS && name == CL_DEVICE_HOST_UNIFIED_MEMORY && value != nullptr &&
        std::getenv("CAUSEWAY_TEST_OWN_MEMORY") != nullptr)
        *static_cast<cl_bool*>(value) = CL_FALSE;
    return code;
}

cl_int clEnqueueWriteBufferFromFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                    int fd, int64_t file_offset, cl_uint count, const cl_event* list, cl_event* event) {
    return real<decltype(clEnqueueWriteBufferFromFile)>(__func__)(
        queue, buffer, blocking, offset, size, fd, file_offset + int64_t(shift_of(__func__)), count, list, event);
}

cl_int clEnqueueReadBufferToFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                                 int fd, int64_t file_offset, cl_uint count, const cl_event* list, cl_event* event) {
    return real<decltype(clEnqueueReadBufferToFile)>(__func__)(queue, buffer, blocking, offset + shift_of(__func__),
                                                               size, fd, file_offset, count, list, event);
}

cl_int clEnqueueWriteBufferFromStdioFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                         size_t size, FILE* file, cl_uint count, const cl_event* list,
                                         cl_event* event) {
    std::fseek(file, long(shift_of(__func__)), SEEK_CUR);
    return real<decltype(clEnqueueWriteBufferFromStdioFile)>(__func__)(queue, buffer, blocking, offset, size, file,
                                                                       count, list, event);
}

cl_int clEnqueueReadBufferToStdioFile(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t size, FILE* file, cl_uint count, const cl_event* list, cl_event* event) {
    return real<decltype(clEnqueueReadBufferToStdioFile)>(__func__)(
        queue, buffer, blocking, offset + shift_of(__func__), size, file, count, list, event);
}

cl_int clEnqueuePeerCopyBuffer(cl_command_queue source_queue, cl_mem source, cl_command_queue target_queue,
                               cl_mem target, cl_bool blocking, size_t source_offset, size_t target_offset, size_t size,
                               cl_uint count, const cl_event* list, cl_event* event) {
    return real<decltype(clEnqueuePeerCopyBuffer)>(__func__)(source_queue, source, target_queue, target, blocking,
                                                             source_offset + shift_of(__func__), target_offset, size,
                                                             count, list, event);
}

cl_int clEnqueueSendBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                           int dest, int tag, MPI_Comm comm, cl_uint count, const cl_event* list, cl_event* event) {
    return real<decltype(clEnqueueSendBuffer)>(__func__)(queue, buffer, blocking, offset + shift_of(__func__), size,
                                                         dest, tag, comm, count, list, event);
}

cl_int clEnqueueSendrecvBuffer(cl_command_queue queue, cl_mem send_buffer, cl_mem recv_buffer, cl_bool blocking,
                               size_t send_offset, size_t send_size, int dest, int send_tag, size_t recv_offset,
                               size_t recv_size, int source, int recv_tag, MPI_Comm comm, cl_uint count,
                               const cl_event* list, cl_event* event) {
    if (std::getenv("CAUSEWAY_TEST_MOVES_ONCE") != nullptr && std::exchange(has_moved, true)) send_size = recv_size = 0;
    return real<decltype(clEnqueueSendrecvBuffer)>(__func__)(
        queue, send_buffer, recv_buffer, blocking, send_offset + shift_of(__func__), send_size, dest, send_tag,
        recv_offset, recv_size, source, recv_tag, comm, count, list, event);
}

int causeway_mpi_send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    // Behind the data there are two pages of padding.
    return real<decltype(causeway_mpi_send)>(__func__)(static_cast<const char*>(buf) + shift_of(__func__), count, type,
                                                       dest, tag, comm);
}
