// SPDX-License-Identifier: Apache-2.0
// The few calls of CUDA's driver interface that the bridge makes, found in libcuda.so.1 at run time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace causeway::bridge {

/// As CUDA's driver interface (12 and later) lays them out; no header of CUDA is in any free distribution.
namespace cuda {

using result = int;
inline constexpr result success = 0, not_ready = 600;
using device = int;
using address = unsigned long long;
using context = struct context_object*;
using stream = struct stream_object*;
using event = struct event_object*;
using memory_handle = unsigned long long;

inline constexpr unsigned stream_non_blocking = 1, event_without_timing = 2;
inline constexpr int posix_descriptor = 1; // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

/// CUmemAccessDesc
struct access {
    int location_kind = 1; // CU_MEM_LOCATION_TYPE_DEVICE
    int location = 0;
    int flags = 3; // CU_MEM_ACCESS_FLAGS_PROT_READWRITE
};

} // namespace cuda

/// Any thread.
class cuda_calls {
  public:
    /// Throws transfer_error if the library or one of its functions is missing, or CUDA has no device.
    cuda_calls();

    /// Throws transfer_error with what CUDA says of it.
    void check(cuda::result code, const char* what) const;

    cuda::result (*driver_version)(int*) = nullptr;
    cuda::result (*device_count)(int*) = nullptr;
    cuda::result (*device_uuid)(std::uint8_t*, cuda::device) = nullptr;
    cuda::result (*can_access)(int*, cuda::device, cuda::device) = nullptr;
    cuda::result (*retain_context)(cuda::context*, cuda::device) = nullptr;
    cuda::result (*release_context)(cuda::device) = nullptr;
    cuda::result (*push_current)(cuda::context) = nullptr;
    cuda::result (*pop_current)(cuda::context*) = nullptr;
    cuda::result (*create_stream)(cuda::stream*, unsigned) = nullptr;
    cuda::result (*destroy_stream)(cuda::stream) = nullptr;
    cuda::result (*create_event)(cuda::event*, unsigned) = nullptr;
    cuda::result (*record)(cuda::event, cuda::stream) = nullptr;
    cuda::result (*query)(cuda::event) = nullptr;
    cuda::result (*finish)(cuda::stream) = nullptr;
    cuda::result (*copy)(cuda::address, cuda::address, std::size_t, cuda::stream) = nullptr;
    cuda::result (*import_memory)(cuda::memory_handle*, void*, int) = nullptr;
    cuda::result (*release_memory)(cuda::memory_handle) = nullptr;
    cuda::result (*reserve)(cuda::address*, std::size_t, std::size_t, cuda::address, unsigned long long) = nullptr;
    cuda::result (*free_reserved)(cuda::address, std::size_t) = nullptr;
    cuda::result (*map)(cuda::address, std::size_t, std::size_t, cuda::memory_handle, unsigned long long) = nullptr;
    cuda::result (*unmap)(cuda::address, std::size_t) = nullptr;
    cuda::result (*set_access)(cuda::address, std::size_t, const cuda::access*, std::size_t) = nullptr;

  private:
    cuda::result (*m_error_text)(cuda::result, const char**) = nullptr;
};

} // namespace causeway::bridge
